"""Names, keys, the offline switch, what leaves the machine, and testing a connection."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from fakes import anthropic_server, openai_server
from fakes.anthropic_server import AnthropicServer
from fakes.loopback import Hang, Status
from fakes.openai_server import OpenAIServer
from llm.conftest import CLAIM, TEXT, answer, judged

from litrag.config import PROJECT, Settings
from litrag.errors import InputError, ModelUnavailableError
from litrag.llm import open_llm_generator, open_llm_judge
from litrag.llm.capabilities import takes_forced_tool, takes_temperature
from litrag.llm.choice import Choice
from litrag.llm.probe import probe
from litrag.llm.retry import retry_after
from litrag.llm.specs import endpoint, what_leaves
from litrag.models import Hit, Record

SONNET = "anthropic:claude-sonnet-4-6"


# --- names and keys
def test_a_models_name_may_hold_colons(settings_for: Callable[..., Settings]) -> None:
    place = endpoint("server:llama3.1:8b", settings_for())
    assert (place.provider, place.model) == ("server", "llama3.1:8b")


@pytest.mark.parametrize("spec", ["mistral:large", "anthropic:", "gpt-4", "", ":x"])
def test_an_unknown_provider_says_which_there_are(settings_for: Callable[..., Settings], spec: str) -> None:
    with pytest.raises(InputError, match="anthropic, anthropic-citations, openai, server"):
        endpoint(spec, settings_for())


@pytest.mark.parametrize(("spec", "key"), [
    (SONNET, "ANTHROPIC_API_KEY"), ("anthropic-citations:claude-sonnet-4-6", "ANTHROPIC_API_KEY"),
    ("openai:gpt-6.1-sol", "OPENAI_API_KEY"),
])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_its_setting(
    settings_for: Callable[..., Settings], spec: str, key: str, value: str | None
) -> None:
    settings = settings_for(anthropic_api_key=value, openai_api_key=value)
    with pytest.raises(ModelUnavailableError, match=key):
        open_llm_generator(spec, settings)


def test_settings_read_the_providers_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "ANTHROPIC_API_KEY": "sk-ant-a", "OPENAI_API_KEY": "sk-o", "LITRAG_BUDGET_USD": "none", "LITRAG_OFFLINE": "1",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "LITRAG_SERVER_URL": "http://127.0.0.1:2/v1",
    }.items():
        monkeypatch.setenv(name, value)
    settings = Settings(_env_file=None)
    assert settings.anthropic_api_key is not None
    assert settings.anthropic_api_key.get_secret_value() == "sk-ant-a"
    assert (settings.budget_usd, settings.offline) == (None, True)
    assert (settings.openai_url, settings.server_url) == ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1")


def test_no_key_is_shown_anywhere(
    claude: AnthropicServer, gpt: OpenAIServer, settings_for: Callable[..., Settings], hits: list[Hit], record: Record,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = settings_for(claude, gpt)
    claude.reply = judged()
    gpt.reply = openai_server.says(answer(("A claim.", "p1", "a quote")))
    judge = open_llm_judge(SONNET, settings)
    generator = open_llm_generator("openai:gpt-6.1-sol", settings)
    shown: list[Any] = [
        settings, judge, generator, vars(judge), judge.judge(CLAIM, TEXT).model_dump_json(),
        generator.generate("Why?", hits, {"r1": record}).model_dump_json(), what_leaves(SONNET, SONNET, settings),
    ]
    claude.fault_for = lambda number, body: Status(400, message=f"no key {anthropic_server.KEY} here")
    shown.append(judge.judge("Another claim.", TEXT).unjudged_reason)
    text = "\n".join([*map(repr, shown), *map(str, shown), caplog.text])
    for key in (anthropic_server.KEY, openai_server.KEY):
        assert key not in text
    assert "no key … here" in str(shown[-1])


def test_a_password_in_a_servers_address_isnt_shown(settings_for: Callable[..., Settings]) -> None:
    settings = settings_for(server_url="http://me:hunter2-secret@127.0.0.1:9/v1", llm_retries=0)
    reason = open_llm_judge("server:m", settings).judge(CLAIM, TEXT).unjudged_reason or ""
    assert "127.0.0.1:9" in reason
    assert "LITRAG_SERVER_URL" in reason
    assert "hunter2" not in reason


# --- offline and what leaves
def test_what_leaves_is_one_plain_sentence(settings_for: Callable[..., Settings]) -> None:
    settings = settings_for(server_url="http://127.0.0.1:11434/v1")
    assert what_leaves("extractive", "local", settings).startswith("Nothing leaves this machine")
    assert what_leaves("extractive", "hf:some/model", settings).startswith("Nothing leaves this machine")
    both = what_leaves("openai:gpt-6.1-sol", "local>anthropic:claude-sonnet-4-6+server:m*3", settings)
    assert both.startswith("The question and the retrieved passages go to 127.0.0.1 (gpt-6.1-sol)")
    assert "claims, quotes and the abstracts they cite go to" in both
    assert "(claude-sonnet-4-6)" in both
    watched = settings.model_copy(update={"langfuse": True, "langfuse_url": "https://traces.example", "log_texts": True})
    said = what_leaves("extractive", "local", watched)
    assert said.startswith("Counts, scores and ids of runs with questions and claims go to traces.example")
    assert "Nothing leaves" in what_leaves("extractive", "local", watched.model_copy(update={"offline": True}))
    offline = settings.model_copy(update={"offline": True})
    assert "offline switch" in what_leaves(SONNET, SONNET, offline)


def test_a_choice_cant_turn_off_the_settings_offline_switch(settings_for: Callable[..., Settings]) -> None:
    settings = settings_for(offline=True)
    assert Choice(SONNET, "local", offline=False).within(settings).offline
    assert Choice(SONNET, "local", offline=True).within(settings_for()).offline


def test_a_choice_opens_what_it_names(claude: AnthropicServer, settings_for: Callable[..., Settings]) -> None:
    choice = Choice(SONNET, f"checks>{SONNET}+openai:gpt-6.1-sol")
    settings = settings_for(claude)
    assert choice.open_judge(settings).judge_id == f"checks>{SONNET}+openai:gpt-6.1-sol"
    assert choice.models() == [SONNET, "openai:gpt-6.1-sol"]
    assert Choice("extractive", "checks").open_judge(settings).judge_id == "checks"


# --- testing a connection
def test_a_connection_that_works_says_so(
    claude: AnthropicServer, gpt: OpenAIServer, settings_for: Callable[..., Settings]
) -> None:
    settings = settings_for(claude, gpt)
    for spec in (SONNET, "openai:gpt-6.1-sol"):
        found = probe(spec, settings)
        assert found.ok, found.message
        assert "answers and knows" in found.message
    assert all(asked.raw == b"" for asked in claude.asked + gpt.asked), "no text is sent"


@pytest.mark.parametrize(("spec", "options", "named"), [
    (SONNET, {"anthropic_api_key": "sk-ant-wrong-1234567"}, "ANTHROPIC_API_KEY"),
    (SONNET, {"anthropic_api_key": None}, "ANTHROPIC_API_KEY"),
    ("anthropic:claude-imaginary", {}, "claude-imaginary"),
    ("openai:gpt-imaginary", {}, "doesn't list 'gpt-imaginary'"),
    ("server:anything", {}, "LITRAG_SERVER_URL"),
    (SONNET, {"offline": True}, "LITRAG_OFFLINE"),
    ("nonsense", {}, "no model is called"),
])
def test_a_connection_that_fails_says_what_to_change(
    claude: AnthropicServer, gpt: OpenAIServer, settings_for: Callable[..., Settings], spec: str,
    options: dict[str, Any], named: str,
) -> None:
    found = probe(spec, settings_for(claude, gpt, **options))
    assert not found.ok
    assert named in found.message
    assert "sk-ant" not in found.message


def test_a_silent_server_is_given_up_soon(claude: AnthropicServer, settings_for: Callable[..., Settings]) -> None:
    claude.faults.append(Hang(1.0))
    found = probe(SONNET, settings_for(claude, llm_timeout=0.3))
    assert not found.ok
    assert "in time" in found.message
    assert len(claude.asked) == 1


# --- what models take
def test_the_table_of_models_agrees_with_langchains_profiles() -> None:
    from langchain_anthropic import ChatAnthropic
    from langchain_openai import ChatOpenAI

    names = ["claude-haiku-4-5", "claude-haiku-5-5", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-sonnet-5",
             "claude-sonnet-5-5", "claude-opus-4-5", "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8",
             "claude-opus-5", "claude-opus-5-5", "claude-fable-5", "claude-fable-5-1"]
    for name in names:
        profile = ChatAnthropic(model=name, api_key="none").profile or {}
        assert takes_temperature("anthropic", name) == profile["temperature"], name
    for name in ("gpt-4.1-mini", "gpt-4o", "gpt-6.1-sol", "gpt-6-luna", "gpt-5.6-luna"):
        profile = ChatOpenAI(model=name, api_key="none").profile or {}
        assert takes_temperature("openai", name) == profile["temperature"], name


@pytest.mark.parametrize(("model", "forced"), [
    ("claude-sonnet-4-6", True), ("claude-haiku-4-5-20251001", True), ("claude-opus-4-8", True),
    ("claude-opus-5", True), ("claude-sonnet-5", True), ("claude-opus-5-5", False), ("claude-sonnet-5-5", False),
    ("claude-fable-5-1", False), ("claude-epic-7", False),
])
def test_newer_models_arent_forced_to_call_a_tool(model: str, forced: bool) -> None:
    assert takes_forced_tool(model) == forced


@pytest.mark.parametrize(("headers", "seconds"), [
    ({"retry-after": "3"}, 3.0), ({"retry-after": "0.5"}, 0.5), ({"retry-after-ms": "250"}, 0.25), ({}, None),
    ({"retry-after": "-4"}, 0.0), ({"retry-after": "soon"}, None),
    ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
])
def test_a_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_no_provider_is_imported_before_a_model_is_opened() -> None:
    code = ("import sys, litrag.llm; from litrag.llm import open_llm_judge; "
            "print([m for m in ('anthropic', 'openai', 'langchain', 'langchain_anthropic', 'streamlit') "
            "if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert done.stdout.strip() == "[]"
