"""What a model takes on the wire, by its name: forced tools, a temperature.

Names that are newer than this table are treated as the newest models are. The judge learns from a 400 that says
otherwise, so a wrong guess costs one call.
"""

from __future__ import annotations

#: Claude models that refuse `tool_choice` of type `any` or `tool`; they are asked for a JSON schema instead.
_NO_FORCED_TOOL = (
    "claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-mythos-5-2", "claude-opus-5-5",
    "claude-sonnet-5-5",
)
_FORCED_TOOL = ("claude-3", "claude-haiku-", "claude-sonnet-4", "claude-sonnet-5", "claude-opus-4", "claude-opus-5",
                "claude-fable-5", "claude-mythos-5")

#: Models that still take a temperature. Claude only does under the older API version.
_TEMPERATURE = {
    "anthropic": ("claude-3", "claude-haiku-4", "claude-sonnet-4", "claude-opus-4-1", "claude-opus-4-5",
                  "claude-opus-4-6"),
    "openai": ("gpt-3.5", "gpt-4"),
}
SAMPLING_VERSION = {"anthropic-version": "2023-06-01"}


def takes_forced_tool(model: str) -> bool:
    """Whether a Claude model can be made to call a tool."""
    return model.startswith(_FORCED_TOOL) and not model.startswith(_NO_FORCED_TOOL)


def takes_temperature(provider: str, model: str) -> bool:
    """Whether a temperature may be sent; a server of one's own takes one."""
    if provider == "server":
        return True
    return model.startswith(_TEMPERATURE[provider.partition("-")[0]])
