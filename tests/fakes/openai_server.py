"""Chat completions as documented, strictly: what the real service refuses is refused here with the same status.

`compatible=True` plays a server of one's own (no key, any model, older fields too); the format is checked alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fakes.loopback import Asked, LoopbackServer, WireError

KEY = "sk-proj-test-0123456789abcdef"

#: Models that are known, and whether they take a temperature.
MODELS = {"gpt-4.1-mini": True, "gpt-6.1-sol": False}

TOP = {
    "model", "messages", "temperature", "top_p", "n", "stream", "stream_options", "stop", "max_tokens",
    "max_completion_tokens", "presence_penalty", "frequency_penalty", "logit_bias", "user", "seed", "tools",
    "tool_choice", "parallel_tool_calls", "response_format", "metadata", "store", "reasoning_effort",
    "service_tier", "logprobs", "top_logprobs", "prompt_cache_key", "verbosity",
}
MESSAGE = {
    "system": {"role", "content", "name"}, "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"}, "assistant": {"role", "content", "refusal", "tool_calls", "name"},
    "tool": {"role", "content", "tool_call_id"},
}


@dataclass
class Reply:
    """What the model says and why it stopped."""

    content: str | None
    finish_reason: str = "stop"
    refusal: str | None = None
    tool_call: tuple[str, Any] | None = None
    completion_tokens: int = 60


def says(text: str, **options: Any) -> Reply:
    return Reply(text, **options)


def refuses(text: str = "I can't help with that.") -> Reply:
    return Reply(None, refusal=text)


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise WireError(message)


def _fields(value: dict[str, Any], allowed: set[str], where: str) -> None:
    for name in value:
        _need(name in allowed, f"Unrecognized request argument supplied: {where}{name}")


def _strict_schema(schema: Any, where: str) -> None:
    """Strict structured outputs: closed objects in which every property is required."""
    if isinstance(schema, list):
        for part in schema:
            _strict_schema(part, where)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        _need(schema.get("additionalProperties") is False,
              f"Invalid schema: In context={where}, 'additionalProperties' is required to be false")
        _need(set(schema.get("required", [])) == set(schema.get("properties", {})),
              f"Invalid schema: In context={where}, 'required' must include every key in properties")
    _need("default" not in schema, f"Invalid schema: In context={where}, 'default' is not permitted")
    for name in ("properties", "$defs"):
        for key, part in schema.get(name, {}).items():
            _strict_schema(part, f"{where}.{key}")
    for name in ("items", "anyOf"):
        _strict_schema(schema.get(name), f"{where}.{name}")


class OpenAIServer(LoopbackServer):
    """`reply` decides what the model says to a request that the format allows."""

    def __init__(
        self, reply: Callable[[dict[str, Any]], Reply] | Reply | None = None, *, compatible: bool = False
    ) -> None:
        super().__init__()
        self.reply = reply if reply is not None else says("Hello.")
        self.compatible = compatible

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    def check(self, asked: Asked) -> None:
        key = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if not self.compatible and key != KEY:
            shown = f"{key[:7]}***{key[-4:]}"
            raise WireError(f"Incorrect API key provided: {shown}.", 401, "invalid_request_error")
        if asked.path == "/v1/models":
            return
        if asked.path != "/v1/chat/completions":
            raise WireError(f"Invalid URL ({asked.path})", 404)
        body = asked.body
        _fields(body, TOP, "")
        model = body.get("model")
        if model not in MODELS and not self.compatible:
            raise WireError(f"The model `{model}` does not exist or you do not have access to it.", 404)
        self._messages(body)
        self._sampling(body)
        self._shape(body)

    def _messages(self, body: dict[str, Any]) -> None:
        messages = body.get("messages")
        _need(bool(messages), "Invalid 'messages': empty array")
        for number, message in enumerate(messages):
            role = message.get("role")
            _need(role in MESSAGE, f"Invalid value: {role!r} for messages[{number}].role")
            _fields(message, MESSAGE[role], f"messages[{number}].")
            if isinstance(message.get("content"), list):
                for part in message["content"]:
                    _need(part.get("type") in ("text", "image_url"), f"messages[{number}].content: {part}")
                    _fields(part, {"type", "text", "image_url"}, f"messages[{number}].content.")

    def _sampling(self, body: dict[str, Any]) -> None:
        reasoning = not self.compatible and not MODELS[body["model"]]
        if reasoning:
            _need("max_tokens" not in body, "'max_tokens' is not supported with this model.")
            _need(body.get("temperature") in (None, 1), "'temperature' does not support values other than 1.")
        _need(self.compatible or not {"max_tokens", "max_completion_tokens"} <= set(body),
              "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
        if "stream_options" in body:
            _need(body.get("stream") is True, "'stream_options' is only allowed when 'stream' is enabled")

    def _shape(self, body: dict[str, Any]) -> None:
        if "tool_choice" in body:
            _need(bool(body.get("tools")), "'tool_choice' is only allowed when 'tools' are specified")
        for tool in body.get("tools", []):
            _fields(tool, {"type", "function"}, "tools.")
            _fields(tool["function"], {"name", "description", "parameters", "strict"}, "tools.function.")
        shape = body.get("response_format")
        if shape is None:
            return
        _need(shape.get("type") in ("text", "json_object", "json_schema"), f"response_format.type: {shape}")
        if shape["type"] == "json_schema":
            _fields(shape, {"type", "json_schema"}, "response_format.")
            inner = shape["json_schema"]
            _fields(inner, {"name", "description", "schema", "strict"}, "response_format.json_schema.")
            _need(inner.get("strict") is True, "response_format.json_schema.strict: must be true here")
            _strict_schema(inner["schema"], "()")

    def error_body(self, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def answer(self, asked: Asked) -> dict[str, Any]:
        if asked.path == "/v1/models":
            data = [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in MODELS]
            return {"object": "list", "data": data}
        reply = self.reply(asked.body) if callable(self.reply) else self.reply
        message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
        if reply.tool_call:
            name, arguments = reply.tool_call
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            message["tool_calls"] = [
                {"id": "call_1", "type": "function", "function": {"name": name, "arguments": written}}]
        prompt = len(json.dumps(asked.body["messages"])) // 4
        usage = {"prompt_tokens": prompt, "completion_tokens": reply.completion_tokens,
                 "total_tokens": prompt + reply.completion_tokens,
                 "prompt_tokens_details": {"cached_tokens": 0}}
        return {
            "id": f"chatcmpl-{len(self.asked)}", "object": "chat.completion", "created": 1,
            "model": asked.body["model"], "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason,
                         "logprobs": None}],
        }

    error_event = ""

    def events(self, asked: Asked, answer: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        base = {"id": answer["id"], "object": "chat.completion.chunk", "created": 1, "model": answer["model"]}
        choice = answer["choices"][0]
        message = choice["message"]

        def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[None, dict[str, Any]]:
            return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        yield chunk({"role": "assistant", "content": ""})
        if message["refusal"]:
            yield chunk({"refusal": message["refusal"]})
        text = message["content"] or ""
        for start in range(0, len(text), 24):
            yield chunk({"content": text[start : start + 24]})
        for number, call in enumerate(message.get("tool_calls", [])):
            yield chunk({"tool_calls": [{**call, "index": number}]})
        yield chunk({}, choice["finish_reason"])
        if (asked.body.get("stream_options") or {}).get("include_usage"):
            yield None, {**base, "choices": [], "usage": answer["usage"]}
        yield None, "[DONE]"
