"""LangChain chat models: a named model goes in, an opened one and a way to ask it for a schema come out.

Also says why a message is no usable reply (refused, cut, empty), in one place for writing and judging.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from litrag.config import Settings
from litrag.llm.capabilities import SAMPLING_VERSION, takes_temperature
from litrag.llm.prices import Usage
from litrag.llm.specs import Endpoint
from litrag.prompts import PLAIN_JSON, Reply

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import Runnable


@dataclass(frozen=True)
class Unusable:
    """Why a message that arrived in full is no reply."""

    reason: str


def open_chat_model(
    place: Endpoint, settings: Settings, *, max_tokens: int, temperature: float
) -> BaseChatModel:
    """The chat model of an endpoint; its own retries are off, a temperature is sent where it is taken."""
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"max_tokens": max_tokens, "timeout": settings.llm_timeout, "max_retries": 0}
    if place.anthropic:
        provider = "anthropic"
    else:
        provider = "openai"
        options["stream_usage"] = True
    if place.provider == "server":
        options |= {"extra_body": {"max_tokens": max_tokens}, "use_responses_api": False}
    if takes_temperature(place.provider, place.model):
        options["temperature"] = temperature
        if place.anthropic:
            options["default_headers"] = SAMPLING_VERSION
    key = place.key.get_secret_value() if place.key else "none"
    model: BaseChatModel = init_chat_model(
        place.model, model_provider=provider, api_key=key, base_url=place.url, **options
    )
    return model


def asking_for(
    schema: type[Reply], model: BaseChatModel, place: Endpoint, *, include_raw: bool
) -> Runnable[Any, Any]:
    """`model` bound to reply with `schema`; with `include_raw` the message comes along, whatever becomes of it.

    The schema is passed as a dict: given a class, OpenAI's client parses the reply itself and loses a text that
    doesn't parse.
    """
    described = schema.model_json_schema()
    if not place.anthropic:
        return model.with_structured_output(described, method="json_schema", strict=True, include_raw=include_raw)
    profile = model.profile or {}
    schema_first = profile.get("structured_output", True)
    method = "json_schema" if schema_first else "function_calling"
    return model.with_structured_output(described, method=method, include_raw=include_raw)


def system_prompt(text: str, schema: type[Reply], place: Endpoint) -> str:
    """The system prompt; a server of one's own may ignore the schema, so it is told in words as well."""
    if place.provider != "server":
        return text
    return f"{text}\n\n{PLAIN_JSON.format(fields=', '.join(schema.model_fields))}"


def reply_of(message: AIMessage, limit_setting: str) -> str | dict[str, Any] | Unusable:
    """What a model replied: arguments or text, or why neither is usable."""
    metadata = message.response_metadata
    stopped = metadata.get("stop_reason") or metadata.get("finish_reason")
    refusal = _refusal(message)
    if refusal or stopped in ("refusal", "content_filter"):
        return Unusable(f"the model declined ({refusal or stopped})")
    if stopped in ("max_tokens", "length"):
        return Unusable(f"the reply was cut at the token limit; raise {limit_setting}")
    if stopped == "model_context_window_exceeded":
        return Unusable("the request and the reply don't fit the model's context")
    if stopped is None:
        return Unusable("the reply broke off before its end")
    if message.tool_calls:
        arguments = message.tool_calls[0]["args"]
        return arguments or Unusable("the model filled in nothing")
    if message.invalid_tool_calls:
        return str(message.invalid_tool_calls[0].get("args") or "")
    return message.text


def _refusal(message: AIMessage) -> str:
    """What a refusing model said, or that it refused; empty when it didn't."""
    for block in message.content_blocks:
        if block["type"] == "refusal":
            return block.get("refusal") or "refusal"
    said = message.additional_kwargs.get("refusal")
    return said if isinstance(said, str) else ""


def usage_of(message: AIMessage) -> Usage:
    """Tokens of a message, as LangChain counts them: input includes what the prompt cache held."""
    usage = message.usage_metadata
    if usage is None:
        return Usage()
    details = usage.get("input_token_details") or {}
    read, written = details.get("cache_read") or 0, details.get("cache_creation") or 0
    return Usage(max(usage["input_tokens"] - read - written, 0), read, written, usage["output_tokens"])
