"""Judging by Claude and by other chat models: what a reply means, and what every failure ends as."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fakes import anthropic_server, openai_server
from fakes.anthropic_server import AnthropicServer, refuses, says
from fakes.loopback import Asked, Body, Cut, Drop, Fault, Hang, Status
from fakes.openai_server import OpenAIServer
from llm.conftest import CLAIM, PHRASE, TEXT, judged, verdict

from litrag.config import Settings
from litrag.errors import OfflineError
from litrag.llm import open_llm_judge
from litrag.models import Judge, Judgement, Verdict

SONNET = "anthropic:claude-sonnet-4-6"


@pytest.fixture
def judge(claude: AnthropicServer, settings_for: Callable[..., Settings]) -> Judge:
    claude.reply = judged()
    return open_llm_judge(SONNET, settings_for(claude))


# --- what is said
def test_a_judgement_says_who_judged_how_surely_why_and_where(judge: Judge) -> None:
    judgement = judge.judge(CLAIM, TEXT)
    assert (judgement.verdict, judgement.confidence, judgement.unsure) == (Verdict.SUPPORTS, 0.9, False)
    assert [TEXT[start:end] for start, end in judgement.spans] == [PHRASE]
    assert (judgement.judge, judgement.model, judgement.version) == (SONNET, "claude-sonnet-4-6", "judge-1")
    assert judgement.input_tokens > judgement.output_tokens > 0
    assert judgement.cost_usd is not None


@pytest.mark.parametrize("value", ["supports", "partial", "contradicts", "not_found"])
def test_each_offered_verdict_is_read(claude: AnthropicServer, judge: Judge, value: str) -> None:
    claude.reply = judged(value)
    assert judge.judge(CLAIM, TEXT).verdict == value


def test_a_deciding_phrase_that_the_source_lacks_is_no_proof(claude: AnthropicServer, judge: Judge) -> None:
    claude.reply = judged("supports", "stones never recurred with drug Z in any participant")
    judgement = judge.judge(CLAIM, TEXT)
    assert judgement.unsure
    assert judgement.spans == ()
    assert "doesn't stand in the source" in judgement.rationale


def test_support_without_a_deciding_phrase_is_no_proof(claude: AnthropicServer, judge: Judge) -> None:
    claude.reply = judged("supports", "")
    assert judge.judge(CLAIM, TEXT).unsure


def test_support_of_another_figure_than_the_source_has_is_unsure(claude: AnthropicServer, judge: Judge) -> None:
    judgement = judge.judge("Stones recurred in 21.1% of adults with drug Z and in 19.4% with placebo.", TEXT)
    assert judgement.unsure
    assert judgement.findings


# --- what is asked
def test_claude_is_forced_to_call_the_tool_at_temperature_zero(claude: AnthropicServer, judge: Judge) -> None:
    judge.judge(CLAIM, TEXT)
    body = claude.asked[0].body
    assert body["tool_choice"] == {
        "type": "tool", "name": "record_judgement", "disable_parallel_tool_use": True}
    assert body["temperature"] == 0
    assert claude.rejected == []


def test_a_model_that_refuses_forced_tools_is_asked_for_a_schema(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    claude.reply = says(json.dumps(verdict()))
    judgement = open_llm_judge("anthropic:claude-opus-5-5", settings_for(claude)).judge(CLAIM, TEXT)
    assert judgement.verdict is Verdict.SUPPORTS
    body = claude.asked[0].body
    assert "tools" not in body
    assert "temperature" not in body
    assert body["output_config"]["format"]["type"] == "json_schema"


def test_a_model_that_is_newer_than_the_table_is_asked_as_the_newest_are(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    claude.reply = says(json.dumps(verdict()))
    judge = open_llm_judge("anthropic:claude-next-9", settings_for(claude, budget_usd=None))
    assert judge.judge(CLAIM, TEXT).verdict is Verdict.SUPPORTS
    assert claude.rejected == []


def test_a_refused_tool_choice_is_learnt_from_once(
    claude: AnthropicServer, settings_for: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    claude.reply = says(json.dumps(verdict()))
    monkeypatch.setattr("litrag.llm.judges.takes_forced_tool", lambda model: True)
    monkeypatch.setattr("litrag.llm.judges.takes_temperature", lambda provider, model: True)
    judge = open_llm_judge("anthropic:claude-opus-5-5", settings_for(claude))
    assert judge.judge(CLAIM, TEXT).verdict is Verdict.SUPPORTS
    assert judge.judge("Another claim.", TEXT).verdict is Verdict.SUPPORTS
    assert len(claude.rejected) == 2
    assert len(claude.asked) == 4


def test_claims_on_one_abstract_share_a_byte_identical_prefix_and_read_it_from_the_cache(
    claude: AnthropicServer, judge: Judge
) -> None:
    claims = [f"Claim number {number} about drug Z." for number in range(6)]
    judgements = judge.judge_many([(claim, TEXT, None) for claim in claims])
    assert len(claude.asked) == 6
    assert len({_without_claim(asked) for asked in claude.asked}) == 1
    assert [j.cached_tokens > 0 for j in judgements].count(True) == 5
    body = claude.asked[0].body
    content = body["messages"][0]["content"]
    assert ["cache_control" in block for block in (*body["system"], *content)] == [True, True, False]
    assert TEXT in content[0]["text"]


def _without_claim(asked: Asked) -> bytes:
    """The request byte for byte, but for the last block, which holds the claim."""
    claim = json.dumps(asked.body["messages"][0]["content"][-1]["text"], ensure_ascii=False).encode()
    assert asked.raw.count(claim) == 1
    return asked.raw.replace(claim, b"")


def test_the_same_question_is_put_once_and_answers_keep_their_order(claude: AnthropicServer, judge: Judge) -> None:
    def reply(body: dict[str, Any]) -> anthropic_server.Reply:
        return judged("contradicts" if "worse" in body["messages"][0]["content"][1]["text"] else "supports")

    claude.reply = reply
    pairs = [(CLAIM, TEXT, None), ("Drug Z was worse.", TEXT, None), (CLAIM, TEXT, None)]
    judgements = judge.judge_many(pairs)
    assert [j.verdict for j in judgements] == ["supports", "contradicts", "supports"]
    assert len(claude.asked) == 2


def test_claims_are_judged_at_the_same_time_but_no_more_than_allowed(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    claude.reply, claude.delay = judged(), 0.05
    judge = open_llm_judge(SONNET, settings_for(claude, llm_concurrency=3))
    judge.judge_many([(CLAIM, f"{TEXT} Site {number}.", None) for number in range(12)])
    assert claude.busiest == 3


# --- failures
PASSING: dict[str, Fault] = {
    "a request timeout": Status(408, "timeout_error"), "a conflict": Status(409, "conflict_error"),
    "a rate limit": Status(429, "rate_limit_error", headers={"retry-after": "0.1"}),
    "a rate limit in milliseconds": Status(429, "rate_limit_error", headers={"retry-after-ms": "20"}),
    "a server error": Status(500), "an overload": Status(529, "overloaded_error"),
    "a dropped connection": Drop(), "a reply that breaks off": Cut(), "silence": Hang(1.0),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_a_passing_failure_is_tried_again(
    claude: AnthropicServer, settings_for: Callable[..., Settings], fault: Fault
) -> None:
    claude.reply = judged()
    claude.faults.extend([fault, fault])
    judge = open_llm_judge(SONNET, settings_for(claude, llm_timeout=0.5))
    assert judge.judge(CLAIM, TEXT).verdict is Verdict.SUPPORTS
    assert len(claude.asked) == 3


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_a_failure_that_stays_ends_unjudged_after_bounded_tries(
    claude: AnthropicServer, settings_for: Callable[..., Settings], fault: Fault
) -> None:
    claude.fault_for = lambda number, body: fault
    judge = open_llm_judge(SONNET, settings_for(claude, llm_timeout=0.3, llm_retries=2))
    judgement = judge.judge(CLAIM, TEXT)
    assert judgement.verdict is None
    assert "tried 3 times" in (judgement.unjudged_reason or "")
    assert len(claude.asked) == 3


def test_a_wait_longer_than_allowed_isnt_waited_for(claude: AnthropicServer, judge: Judge) -> None:
    claude.faults.append(Status(429, "rate_limit_error", headers={"retry-after": "3600"}))
    judgement = judge.judge(CLAIM, TEXT)
    assert judgement.verdict is None
    assert "LITRAG_LLM_LONGEST_WAIT" in (judgement.unjudged_reason or "")
    assert len(claude.asked) == 1


FINAL: dict[str, tuple[Any, str]] = {
    "a refusal": (refuses(), "declined"),
    "a cut reply": (judged("supports"), "LITRAG_JUDGE_MAX_TOKENS"),
    "an empty tool call": (anthropic_server.calls("record_judgement", {}), "without filling it in"),
    "an empty turn": (anthropic_server.Reply([]), "nothing"),
    "plain words instead": (says("I cannot help with overdose questions."), "overdose"),
    "a verdict outside the set": (judged("probably"), "probably"),
    "a verdict that isn't offered": (judged("hallucinated_quote"), "hallucinated_quote"),
    "a tool call without a verdict": (anthropic_server.calls("record_judgement", {"rationale": "Hm."}), "Hm."),
}
FINAL["a cut reply"][0].stop_reason = "max_tokens"


@pytest.mark.parametrize(("reply", "reason"), FINAL.values(), ids=FINAL.keys())
def test_a_reply_that_is_no_judgement_ends_unjudged_at_once_and_is_paid_for(
    claude: AnthropicServer, judge: Judge, reply: anthropic_server.Reply, reason: str
) -> None:
    claude.reply = reply
    judgement = judge.judge(CLAIM, TEXT)
    assert judgement.verdict is None
    assert reason in (judgement.unjudged_reason or "")
    assert len(claude.asked) == 1
    assert judgement.cost_usd
    claude.reply = judged()
    assert judge.judge(CLAIM, TEXT).verdict is Verdict.SUPPORTS, "a failure must not be cached"


def test_a_body_that_isnt_json_ends_unjudged(claude: AnthropicServer, judge: Judge) -> None:
    claude.faults.append(Body("<html>Welcome to the proxy</html>"))
    assert "isn't a reply" in (judge.judge(CLAIM, TEXT).unjudged_reason or "")


WRONG_SETTINGS = {
    "a wrong key": (Status(401, "authentication_error"), "ANTHROPIC_API_KEY"),
    "a key without permission": (Status(403, "permission_error"), "ANTHROPIC_API_KEY"),
    "an unknown model": (Status(404, "not_found_error"), "LITRAG_JUDGE"),
    "an account without credit": (
        Status(400, "invalid_request_error", "Your credit balance is too low."), "no credit"),
    "a billing error": (Status(402, "billing_error"), "no credit"),
}


@pytest.mark.parametrize(("fault", "named"), WRONG_SETTINGS.values(), ids=WRONG_SETTINGS.keys())
def test_a_wrong_setting_is_named_and_met_once(
    claude: AnthropicServer, settings_for: Callable[..., Settings], fault: Fault, named: str
) -> None:
    claude.fault_for = lambda number, body: fault
    judge = open_llm_judge(SONNET, settings_for(claude, llm_concurrency=1))
    judgements = judge.judge_many([(f"Claim {n}.", TEXT, None) for n in range(5)])
    assert all(j.verdict is None and named in (j.unjudged_reason or "") for j in judgements)
    assert len(claude.asked) == 1


def test_one_failing_claim_leaves_its_neighbours_judged(claude: AnthropicServer, judge: Judge) -> None:
    claude.fault_for = lambda number, body: (
        Status(400, message="odd") if "second" in str(body["messages"]) else None)
    first, second, third = judge.judge_many([(f"The {n} claim.", TEXT, None) for n in ("first", "second", "third")])
    assert (first.verdict, second.verdict, third.verdict) == ("supports", None, "supports")


def test_nothing_is_asked_for_an_empty_claim_or_passage(claude: AnthropicServer, judge: Judge) -> None:
    assert [j.unjudged_reason for j in judge.judge_many([(" ", TEXT, None), (CLAIM, "", None)])] == [
        "there is no claim", "there is no text"]
    assert claude.asked == []


def test_the_offline_switch_makes_a_call_an_error_before_a_socket_is_opened(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    judge = open_llm_judge(SONNET, settings_for(claude, offline=True))
    with pytest.raises(OfflineError, match="LITRAG_OFFLINE"):
        judge.judge(CLAIM, TEXT)
    assert claude.asked == []


# --- any chat model
@pytest.mark.parametrize("model", ["gpt-4.1-mini", "gpt-6.1-sol"])
def test_an_openai_model_judges_by_the_same_rubric(
    gpt: OpenAIServer, settings_for: Callable[..., Settings], model: str
) -> None:
    gpt.reply = openai_server.says(json.dumps(verdict("partial")))
    judgement = open_llm_judge(f"openai:{model}", settings_for(gpt=gpt, budget_usd=None)).judge(CLAIM, TEXT, PHRASE)
    assert (judgement.verdict, judgement.unsure) == (Verdict.PARTIAL, False)
    assert judgement.spans
    assert gpt.rejected == []
    assert ("temperature" in gpt.asked[0].body) == (model == "gpt-4.1-mini")


def judge_text(own: OpenAIServer, settings: Settings, reply: str) -> Judgement:
    own.reply = openai_server.says(reply)
    return open_llm_judge("server:small-model", settings).judge(CLAIM, TEXT)


LOOSE = {
    "Partially Supported": Verdict.PARTIAL,
    "SUPPORTED (with caveats)": Verdict.SUPPORTS,
    '```json\n{"verdict":"supported"}\n```\nNote: the sample is small.': Verdict.SUPPORTS,
    '{"verdict":"supported","reason":"uses ``` marks ``` inside"}': Verdict.SUPPORTS,
    "**contradicts**": Verdict.CONTRADICTS,
    "-1": None, "": None, "yes": None, "I think it is not supported": None, "not supported": None,
    "unsupported": None, '{"verdict": "hallucinated_quote"}': None, '{"verdict": ["supports"]}': None,
    '{"label": "supports"}': None, "supports-ish": None, '{"verdict": "supports"': None,
}


@pytest.mark.parametrize(("reply", "expected"), LOOSE.items(), ids=[repr(reply) for reply in LOOSE])
def test_a_free_reply_is_read_only_as_what_it_plainly_says(
    own_server: OpenAIServer, settings_for: Callable[..., Settings], reply: str, expected: Verdict | None
) -> None:
    judgement = judge_text(own_server, settings_for(own=own_server), reply)
    assert judgement.verdict == expected
    if expected is None:
        assert (reply or "nothing") in (judgement.unjudged_reason or "")
    if expected is Verdict.SUPPORTS:
        assert judgement.unsure, "without a deciding phrase nothing is shown as proven"


FINAL_GPT = {
    "a refusal": (openai_server.refuses("I can't help with that."), "I can't help with that."),
    "a content filter": (openai_server.Reply("", finish_reason="content_filter"), "declined"),
    "a cut reply": (openai_server.Reply('{"verdict"', finish_reason="length"), "token limit"),
    "no content at all": (openai_server.Reply(None), "nothing"),
}


@pytest.mark.parametrize(("reply", "reason"), FINAL_GPT.values(), ids=FINAL_GPT.keys())
def test_an_openai_reply_that_is_no_judgement_ends_unjudged_at_once(
    gpt: OpenAIServer, settings_for: Callable[..., Settings], reply: openai_server.Reply, reason: str
) -> None:
    gpt.reply = reply
    judgement = open_llm_judge("openai:gpt-6.1-sol", settings_for(gpt=gpt)).judge(CLAIM, TEXT)
    assert judgement.verdict is None
    assert reason in (judgement.unjudged_reason or "")
    assert len(gpt.asked) == 1


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_a_passing_failure_of_an_openai_server_is_tried_again(
    gpt: OpenAIServer, settings_for: Callable[..., Settings], fault: Fault
) -> None:
    gpt.reply = openai_server.says(json.dumps(verdict()))
    gpt.faults.append(fault)
    judge = open_llm_judge("openai:gpt-6.1-sol", settings_for(gpt=gpt, llm_timeout=0.5))
    assert judge.judge(CLAIM, TEXT).verdict is Verdict.SUPPORTS
    assert len(gpt.asked) == 2


def test_a_wrong_openai_key_is_named_without_being_shown(
    gpt: OpenAIServer, settings_for: Callable[..., Settings]
) -> None:
    judge = open_llm_judge("openai:gpt-6.1-sol", settings_for(gpt=gpt, openai_api_key="sk-proj-wrong-9876543210"))
    reason = judge.judge(CLAIM, TEXT).unjudged_reason or ""
    assert "OPENAI_API_KEY" in reason
    assert "sk-proj" not in reason
    assert "3210" not in reason
