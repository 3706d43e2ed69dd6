"""The Messages API as documented, strictly: what the real service refuses is refused here with the same status.

Fields, block order, forced tools, thinking, sampling, citations, structured output and cache breakpoints are
checked per model and API version. Prompt caching is imitated: a prefix that was seen before is reported as read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fakes.loopback import Asked, LoopbackServer, WireError

KEY = "sk-ant-test-0123456789abcdef"

#: The versions in use. The newer one refuses sampling parameters whatever the model and their value.
VERSIONS = ("2023-06-01", "2026-10-21")


@dataclass(frozen=True)
class Facts:
    """What the documentation says of a model."""

    temperature: bool = True
    forced_tool: bool = True
    prefill: bool = False
    max_output: int = 64_000


MODELS = {
    "claude-sonnet-4-6": Facts(max_output=128_000),
    "claude-haiku-4-5": Facts(prefill=True),
    "claude-opus-4-8": Facts(temperature=False, max_output=128_000),
    "claude-opus-5-5": Facts(temperature=False, forced_tool=False, max_output=128_000),
    "claude-sonnet-5-5": Facts(temperature=False, forced_tool=False, max_output=128_000),
    "claude-next-9": Facts(temperature=False, forced_tool=False, max_output=128_000),
}

TOP = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "temperature", "top_k", "top_p",
    "stop_sequences", "stream", "metadata", "thinking", "output_config", "service_tier", "cache_control",
    "container", "inference_geo", "diagnostics", "speed",
}
BLOCKS = {
    "text": {"type", "text", "cache_control", "citations"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
}
UNSUPPORTED_KEYWORDS = {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "uniqueItems", "default", "oneOf",
}


@dataclass
class Reply:
    """What the model says: content blocks and why it stopped."""

    content: list[dict[str, Any]]
    stop_reason: str = "end_turn"
    output_tokens: int = 80
    stop_details: dict[str, Any] | None = None


def says(text: str, **options: Any) -> Reply:
    return Reply([{"type": "text", "text": text}], **options)


def calls(name: str, arguments: Any, **options: Any) -> Reply:
    block = {"type": "tool_use", "id": "toolu_01", "name": name, "input": arguments}
    return Reply([block], **{"stop_reason": "tool_use", **options})


def refuses() -> Reply:
    return Reply([], stop_reason="refusal", output_tokens=1,
                 stop_details={"type": "refusal", "category": "cyber", "explanation": None})


@dataclass
class _Checker:
    """Walks one request and raises at the first thing that the documentation rules out."""

    body: dict[str, Any]
    facts: Facts
    version: str
    breakpoints: list[str] = field(default_factory=list)

    def check(self) -> None:
        self._fields(self.body, TOP, "request")
        for name in ("model", "max_tokens", "messages"):
            self._need(name in self.body, f"{name}: Field required")
        limit = self.body["max_tokens"]
        self._need(isinstance(limit, int) and 1 <= limit <= self.facts.max_output,
                   f"max_tokens: {limit} > {self.facts.max_output}, the maximum for this model")
        self._tools()
        self._system()
        self._messages()
        self._sampling()
        self._thinking()
        self._output()
        if "cache_control" in self.body:
            self._breakpoint(self.body, "request")
        self._need(len(self.breakpoints) <= 4,
                   f"A maximum of 4 blocks with cache_control may be provided. Found {len(self.breakpoints)}.")

    @staticmethod
    def _need(condition: bool, message: str) -> None:
        if not condition:
            raise WireError(message)

    def _fields(self, value: dict[str, Any], allowed: set[str], where: str) -> None:
        for name in value:
            self._need(name in allowed, f"{where}.{name}: Extra inputs are not permitted")

    def _breakpoint(self, block: dict[str, Any], where: str) -> None:
        control = block.get("cache_control")
        if control is None:
            return
        self._fields(control, {"type", "ttl"}, f"{where}.cache_control")
        self._need(control.get("type") == "ephemeral", f"{where}.cache_control.type: must be 'ephemeral'")
        ttl = control.get("ttl", "5m")
        self._need(ttl in ("5m", "1h"), f"{where}.cache_control.ttl: {ttl!r}")
        self._need(not (ttl == "1h" and "5m" in self.breakpoints),
                   f"{where}: a ttl='1h' block must not come after a ttl='5m' block")
        self.breakpoints.append(ttl)

    def _tools(self) -> None:
        tools, choice = self.body.get("tools", []), self.body.get("tool_choice")
        for number, tool in enumerate(tools):
            self._fields(tool, {"name", "description", "input_schema", "strict", "cache_control", "type"},
                         f"tools.{number}")
            schema = tool.get("input_schema", {})
            self._need(schema.get("type") == "object", f"tools.{number}.input_schema.type: Field required")
            self._breakpoint(tool, f"tools.{number}")
        if choice is None:
            return
        self._need(bool(tools), "tool_choice: may only be specified while providing tools")
        kind = choice.get("type")
        allowed = {"type", "disable_parallel_tool_use"} | ({"name"} if kind == "tool" else set())
        self._fields(choice, allowed, "tool_choice")
        self._need(kind in ("auto", "any", "tool", "none"), f"tool_choice.type: {kind!r}")
        if kind == "tool":
            names = [tool["name"] for tool in tools]
            self._need(choice.get("name") in names, f"Tool '{choice.get('name')}' not found in provided tools")
        if kind in ("any", "tool"):
            self._need(self.facts.forced_tool,
                       'tool_choice: types "any" and "tool" are not supported for this model')

    def _system(self) -> None:
        system = self.body.get("system")
        if isinstance(system, list):
            for number, block in enumerate(system):
                self._need(block.get("type") == "text", f"system.{number}.type: must be 'text'")
                self._block(block, f"system.{number}")
        else:
            self._need(system is None or isinstance(system, str), "system: must be text or a list of blocks")

    def _messages(self) -> None:
        messages = self.body["messages"]
        self._need(bool(messages), "messages: at least one message is required")
        self._need(messages[0].get("role") == "user", "messages: first message must use the user role")
        self._need(self.facts.prefill or messages[-1]["role"] == "user",
                   "This model does not support assistant message prefill.")
        for number, message in enumerate(messages):
            where = f"messages.{number}"
            self._fields(message, {"role", "content"}, where)
            self._need(message["role"] in ("user", "assistant"), f"{where}.role: {message['role']!r}")
            content = message["content"]
            if isinstance(content, str):
                self._need(bool(content.strip()), f"{where}: text content blocks must be non-empty")
                continue
            self._need(bool(content), f"{where}.content: must not be empty")
            for place, block in enumerate(content):
                self._block(block, f"{where}.content.{place}")
            self._order(message["role"], [block["type"] for block in content], where)

    def _order(self, role: str, kinds: list[str], where: str) -> None:
        if role == "user":
            results = [place for place, kind in enumerate(kinds) if kind == "tool_result"]
            self._need(results == list(range(len(results))),
                       f"{where}: tool_result blocks must come before any other content")
        if "thinking" in kinds:
            self._need(role == "assistant" and kinds[0] == "thinking",
                       f"{where}: a final assistant message must start with a thinking block")

    def _block(self, block: dict[str, Any], where: str) -> None:
        kind = block.get("type", "")
        self._need(kind in BLOCKS, f"{where}.type: {kind!r} is not a content block")
        self._fields(block, BLOCKS[kind], where)
        if kind == "text":
            self._need(bool(block.get("text", "").strip()), f"{where}: text content blocks must be non-empty")
            self._need(self.version == "2023-06-01" or not block.get("citations"),
                       f"{where}.citations: not permitted on a text block of a user message")
        if kind == "document":
            source = block.get("source", {})
            self._fields(source, {"type", "media_type", "data"}, f"{where}.source")
            self._need(source.get("type") == "text" and source.get("media_type") == "text/plain",
                       f"{where}.source: only plain text documents are served here")
            self._need(bool(source.get("data", "").strip()), f"{where}.source.data: must not be empty")
            self._fields(block.get("citations") or {}, {"enabled"}, f"{where}.citations")
        self._breakpoint(block, where)

    def _sampling(self) -> None:
        if self.version != "2023-06-01":
            for name in ("temperature", "top_p", "top_k"):
                self._need(name not in self.body, f"{name}: Extra inputs are not permitted")
        temperature = self.body.get("temperature")
        if temperature is None:
            return
        self._need(0 <= temperature <= 1, f"temperature: {temperature}: must be between 0 and 1")
        self._need(self.facts.temperature or temperature == 1, "temperature: not supported for this model")

    def _thinking(self) -> None:
        thinking = self.body.get("thinking")
        if not thinking or thinking.get("type") not in ("enabled", "adaptive"):
            return
        self._need(self.body.get("tool_choice", {}).get("type") not in ("any", "tool"),
                   "Thinking may not be enabled when tool_choice forces tool use.")
        self._need(self.body.get("temperature") in (None, 1),
                   "`temperature` may only be set to 1 when thinking is enabled.")

    def _output(self) -> None:
        config = self.body.get("output_config")
        documents = self._documents()
        enabled = [bool((block.get("citations") or {}).get("enabled")) for block in documents]
        self._need(all(enabled) or not any(enabled),
                   "citations must be enabled on all documents or on none of them")
        if config is None:
            return
        self._fields(config, {"effort", "format"}, "output_config")
        if "format" in config:
            self._need(not any(enabled), "output_config.format: Citations are not supported with it")
            self._fields(config["format"], {"type", "schema"}, "output_config.format")
            self._need(config["format"].get("type") == "json_schema", "output_config.format.type")
            self._schema(config["format"]["schema"], "output_config.format.schema")

    def _documents(self) -> list[dict[str, Any]]:
        contents = [message["content"] for message in self.body["messages"]]
        return [block for content in contents if isinstance(content, list) for block in content
                if block["type"] == "document"]

    def _schema(self, schema: Any, where: str) -> None:
        if isinstance(schema, list):
            for number, part in enumerate(schema):
                self._schema(part, f"{where}.{number}")
        if not isinstance(schema, dict):
            return
        if schema.get("type") == "object":
            self._need(schema.get("additionalProperties") is False,
                       f"{where}: 'additionalProperties' must be explicitly set to false")
        for name, part in schema.items():
            self._need(name not in UNSUPPORTED_KEYWORDS, f"{where}: property '{name}' is not supported")
            if name in ("properties", "$defs"):
                for key, value in part.items():
                    self._schema(value, f"{where}.{key}")
            elif name in ("items", "anyOf", "allOf"):
                self._schema(part, f"{where}.{name}")


class AnthropicServer(LoopbackServer):
    """`reply` decides what the model says to a request that the format allows."""

    def __init__(self, reply: Callable[[dict[str, Any]], Reply] | Reply | None = None) -> None:
        super().__init__()
        self.reply = reply if reply is not None else says("Hello.")
        self._seen: set[str] = set()

    def check(self, asked: Asked) -> None:
        bearer = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if asked.headers.get("x-api-key", bearer) != KEY:
            raise WireError("invalid x-api-key", 401, "authentication_error")
        version = asked.headers.get("anthropic-version", "")
        if version not in VERSIONS:
            raise WireError(f"anthropic-version: {version!r} is not a valid version")
        if asked.path.startswith("/v1/models"):
            self._known(asked.path.removeprefix("/v1/models").strip("/").split("?")[0] or "claude-sonnet-4-6")
            return
        if asked.path.split("?")[0] != "/v1/messages":
            raise WireError(f"Not found: {asked.path}", 404, "not_found_error")
        _Checker(asked.body, self._known(asked.body.get("model", "")), version).check()

    @staticmethod
    def _known(model: str) -> Facts:
        if model not in MODELS:
            raise WireError(f"model: {model}", 404, "not_found_error")
        return MODELS[model]

    def error_body(self, kind: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    def answer(self, asked: Asked) -> dict[str, Any]:
        if asked.path.startswith("/v1/models/"):
            model = asked.path.removeprefix("/v1/models/")
            return {"type": "model", "id": model, "display_name": model, "created_at": "2026-01-01T00:00:00Z"}
        reply = self.reply(asked.body) if callable(self.reply) else self.reply
        return {
            "id": f"msg_{len(self.asked)}", "type": "message", "role": "assistant",
            "model": asked.body["model"], "content": reply.content, "stop_reason": reply.stop_reason,
            "stop_sequence": None, "stop_details": reply.stop_details,
            "usage": {**self._input_usage(asked.body), "output_tokens": reply.output_tokens},
        }

    def _input_usage(self, body: dict[str, Any]) -> dict[str, int]:
        """Tokens (a quarter of the characters) split into fresh, written to and read from the cache."""
        parts = [*body.get("tools", []), *_blocks(body.get("system")),
                 *(block for message in body["messages"] for block in _blocks(message["content"]))]
        prefix, total, read, written = hashlib.sha256(), 0, 0, 0
        for part in parts:
            bare = json.dumps({k: v for k, v in part.items() if k != "cache_control"}, sort_keys=True)
            prefix.update(bare.encode())
            total += len(bare) // 4
            if "cache_control" in part:
                if prefix.hexdigest() in self._seen:
                    read = total
                self._seen.add(prefix.hexdigest())
                written = total - read
        return {"input_tokens": total - read - written, "cache_read_input_tokens": read,
                "cache_creation_input_tokens": written}

    def events(self, asked: Asked, answer: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        usage = answer["usage"]
        start = {**answer, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        yield "message_start", {"type": "message_start", "message": start}
        for index, block in enumerate(answer["content"]):
            opened = {**block, **({"text": ""} if block["type"] == "text" else {}),
                      **({"input": {}} if block["type"] == "tool_use" else {})}
            opened.pop("citations", None)
            yield "content_block_start", {
                "type": "content_block_start", "index": index, "content_block": opened}
            for delta in _deltas(block):
                yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
            yield "content_block_stop", {"type": "content_block_stop", "index": index}
        delta = {"stop_reason": answer["stop_reason"], "stop_sequence": None,
                 "stop_details": answer["stop_details"]}
        yield "message_delta", {"type": "message_delta", "delta": delta,
                                "usage": usage}
        yield "message_stop", {"type": "message_stop"}


def _blocks(content: Any) -> list[dict[str, Any]]:
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "tool_use":
        written = json.dumps(block["input"])
        for start in range(0, len(written), 24):
            yield {"type": "input_json_delta", "partial_json": written[start : start + 24]}
        return
    for citation in block.get("citations") or []:
        yield {"type": "citations_delta", "citation": citation}
    for start in range(0, len(block["text"]), 24):
        yield {"type": "text_delta", "text": block["text"][start : start + 24]}
