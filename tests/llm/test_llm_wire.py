"""The loopback servers refuse what the real services refuse; otherwise the other tests would prove nothing."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest
from fakes import anthropic_server, openai_server
from fakes.anthropic_server import AnthropicServer
from fakes.openai_server import OpenAIServer

HELLO = [{"role": "user", "content": "Hello"}]
TOOL = {"name": "record", "input_schema": {"type": "object", "properties": {}}}
FORCED = {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "record"}}
MARK = {"type": "ephemeral"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def document(enabled: bool = True) -> dict[str, Any]:
    return {"type": "document", "citations": {"enabled": enabled},
            "source": {"type": "text", "media_type": "text/plain", "data": "Grass is green."}}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def text(words: str = "Hello", **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def output(schema: dict[str, Any]) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


OFF_FORMAT = {
    "an unknown field": {"extra_body": {"cite": True}},
    "a sampling parameter under the current version": {"extra_body": {"temperature": 0}},
    "a temperature on a model without one": {
        "model": "claude-opus-4-8", "extra_body": {"temperature": 0},
        "extra_headers": {"anthropic-version": "2023-06-01"}},
    "a forced tool with thinking": {
        **FORCED, "thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000},
    "a forced tool on a model that refuses it": {**FORCED, "model": "claude-opus-5-5"},
    "a forced tool that isn't there": {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}},
    "a tool choice without tools": {"tool_choice": {"type": "auto"}},
    "citations with structured output": {**user(document(), text()), **output(SCHEMA)},
    "citations on some documents only": user(document(), document(False), text()),
    "a cache mark inside a source": user(
        {**document(), "source": {**document()["source"], "cache_control": MARK}}, text()),
    "a cache mark on a message": {"messages": [{"role": "user", "content": "Hello", "cache_control": MARK}]},
    "a cache mark on an empty text": user(text("", cache_control=MARK)),
    "five cache marks": user(*[text(cache_control=MARK) for _ in range(5)]),
    "a long-lived cache mark after a short one": user(
        text(cache_control=MARK), text(cache_control={"type": "ephemeral", "ttl": "1h"})),
    "a tool result after text": user(
        text(), {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}),
    "citations on a user's text": user(text(citations=[{"type": "char_location"}])),
    "a prefilled reply": {"messages": [*HELLO, {"role": "assistant", "content": "{"}]},
    "an open schema": output({"type": "object", "properties": {"a": {"type": "string"}}}),
    "a schema with limits": output({**SCHEMA, "properties": {"a": {"type": "number", "minimum": 0}}}),
    "more tokens than the model has": {"max_tokens": 999_999, "stream": True},
}


@pytest.mark.parametrize("request_", OFF_FORMAT.values(), ids=OFF_FORMAT.keys())
def test_the_claude_server_refuses(claude: AnthropicServer, request_: dict[str, Any]) -> None:
    client = anthropic.Anthropic(api_key=anthropic_server.KEY, base_url=claude.url, max_retries=0)
    options = {"model": "claude-sonnet-4-6", "max_tokens": 100, "messages": HELLO, **request_}
    with pytest.raises(anthropic.BadRequestError):
        client.messages.create(**options)
    assert len(claude.rejected) == 1


def test_the_claude_server_takes_what_is_documented(claude: AnthropicServer) -> None:
    client = anthropic.Anthropic(api_key=anthropic_server.KEY, base_url=claude.url, max_retries=0)
    sampled = {"extra_body": {"temperature": 0}, "extra_headers": {"anthropic-version": "2023-06-01"}}
    for options in ({**FORCED, **sampled}, output(SCHEMA), user(document(), text(cache_control=MARK))):
        client.messages.create(**{"model": "claude-sonnet-4-6", "max_tokens": 100, "messages": HELLO, **options})
    assert claude.rejected == []


def test_the_claude_server_knows_its_key_and_its_models(claude: AnthropicServer) -> None:
    stranger = anthropic.Anthropic(api_key="sk-ant-wrong", base_url=claude.url, max_retries=0)
    with pytest.raises(anthropic.AuthenticationError):
        stranger.messages.create(model="claude-sonnet-4-6", max_tokens=10, messages=HELLO)
    client = anthropic.Anthropic(api_key=anthropic_server.KEY, base_url=claude.url, max_retries=0)
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(model="claude-imaginary", max_tokens=10, messages=HELLO)


def test_the_claude_server_reports_a_prefix_it_has_seen_as_read(claude: AnthropicServer) -> None:
    client = anthropic.Anthropic(api_key=anthropic_server.KEY, base_url=claude.url, max_retries=0)

    def ask(question: str) -> Any:
        content = [text("A long passage. " * 50, cache_control=MARK), text(question)]
        return client.messages.create(
            model="claude-sonnet-4-6", max_tokens=10, messages=[{"role": "user", "content": content}]).usage

    first, second = ask("One?"), ask("Two?")
    assert (first.cache_read_input_tokens, second.cache_creation_input_tokens) == (0, 0)
    assert first.cache_creation_input_tokens == second.cache_read_input_tokens > 0


CLOSED = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "strict": True}}
OFF_FORMAT_GPT = {
    "an unknown field": {"extra_body": {"cache_control": MARK}},
    "a temperature on a reasoning model": {"model": "gpt-6.1-sol", "temperature": 0},
    "the old token limit on a reasoning model": {"model": "gpt-6.1-sol", "max_tokens": 10},
    "both token limits": {"max_tokens": 10, "max_completion_tokens": 10},
    "an unknown role": {"messages": [{"role": "judge", "content": "Hello"}]},
    "an unknown field in a message": {"messages": [{"role": "user", "content": "Hello", "cache_control": MARK}]},
    "a tool choice without tools": {"tool_choice": "auto"},
    "a schema with an optional field": {"response_format": {
        "type": "json_schema", "json_schema": {"name": "a", "schema": {**SCHEMA, "required": []}, "strict": True}}},
    "an open schema": {"response_format": {"type": "json_schema", "json_schema": {
        "name": "a", "strict": True, "schema": {k: v for k, v in SCHEMA.items() if k != "additionalProperties"}}}},
}


@pytest.mark.parametrize("request_", OFF_FORMAT_GPT.values(), ids=OFF_FORMAT_GPT.keys())
def test_the_openai_server_refuses(gpt: OpenAIServer, request_: dict[str, Any]) -> None:
    client = openai.OpenAI(api_key=openai_server.KEY, base_url=gpt.url, max_retries=0)
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(**{"model": "gpt-4.1-mini", "messages": HELLO, **request_})
    assert len(gpt.rejected) == 1


def test_the_openai_server_takes_what_is_documented(gpt: OpenAIServer) -> None:
    client = openai.OpenAI(api_key=openai_server.KEY, base_url=gpt.url, max_retries=0)
    client.chat.completions.create(
        model="gpt-4.1-mini", messages=HELLO, temperature=0, max_completion_tokens=10, response_format=CLOSED)
    assert gpt.rejected == []
