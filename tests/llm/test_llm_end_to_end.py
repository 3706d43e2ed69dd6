"""The command line and the page ask the same models the same things and show the same result."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from fakes import anthropic_server
from fakes.anthropic_server import AnthropicServer, says
from fakes.loopback import Cut, ErrorEvent, Status
from llm.conftest import answer, judged

from litrag.cli import main
from litrag.config import Settings, settings
from litrag.errors import GenerationError, OfflineError
from litrag.index import Index
from litrag.llm.choice import Choice
from litrag.models import AuditedAnswer
from litrag.pipeline import ask
from litrag.sentences import split
from litrag.ui.workbench import Workbench

SONNET = "anthropic:claude-sonnet-4-6"
QUESTION = "How much weight do adults without diabetes lose on semaglutide 2.4 mg?"
QUOTES = ("−14.9%", "−2.4%")


def model(body: dict[str, Any]) -> anthropic_server.Reply:
    """Quotes the passage that holds the figures, invents a second quote, and judges by the quoted figure."""
    if "tools" not in body:
        number, passage = next(
            (n, text) for n, text in re.findall(
                r'id="p(\d+)">\n(.*?)\n</passage', body["messages"][0]["content"], re.DOTALL)
            if QUOTES[0] in text)
        text = passage.split("\n\n", 1)[1]
        line = next(text[start:end] for start, end in split(text) if QUOTES[0] in text[start:end])
        return says(answer((f"In STEP 1, {line}", f"p{number}", line),
                           ("Semaglutide cures obesity.", f"p{number}", "semaglutide cured every participant")))
    passage = body["messages"][0]["content"][0]["text"]
    at = passage.index(QUOTES[0])
    return judged("supports", passage[at - 20 : at + 6])


@pytest.fixture
def served(claude: AnthropicServer, sample_index: Index, monkeypatch: pytest.MonkeyPatch) -> AnthropicServer:
    claude.reply = model
    for name, value in {
        "ANTHROPIC_API_KEY": anthropic_server.KEY, "LITRAG_ANTHROPIC_URL": claude.url, "LITRAG_GENERATOR": SONNET,
        "LITRAG_JUDGE": SONNET, "LITRAG_LLM_FIRST_WAIT": "0.01",
    }.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    monkeypatch.setattr("litrag.index.open_index", lambda *_, **__: sample_index)
    monkeypatch.setattr(Workbench, "index", lambda *_, **__: sample_index)
    return claude


def content(answered: dict[str, Any]) -> dict[str, Any]:
    """An answer without what differs from run to run, and without what the second run had for nothing."""
    text = json.dumps({key: answered[key] for key in (
        "question", "claims", "sources", "abstention", "generator", "judge", "judge_version", "corpus_hash", "notes")})
    parts = r'"(seconds|cost_usd|input_tokens|cached_tokens|output_tokens)": [-0-9.e]+'
    return dict(json.loads(re.sub(parts, r'"\1": 0', text)))


def test_the_command_line_and_the_page_give_the_same_result(
    served: AnthropicServer, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ask", QUESTION, "--generator", SONNET, "--judge", SONNET, "--json"])
    printed = json.loads(capsys.readouterr().out)
    bench = Workbench(settings())
    bench.ask("run1", QUESTION, "sample").future.result(timeout=60)
    stored = bench.store.run("run1")
    assert stored is not None
    assert content(printed) == content(stored.model_dump(mode="json"))
    assert [claim["state"] for claim in printed["claims"]] == ["supports", "hallucinated_quote"]
    assert printed["cost_usd"] > 0
    assert served.rejected == []


def test_an_answer_that_fails_isnt_stored_and_says_why(served: AnthropicServer) -> None:
    served.fault_for = lambda number, body: Status(400, message="prompt is too long")
    bench = Workbench(settings())
    job = bench.ask("run2", QUESTION, "sample")
    with pytest.raises(GenerationError, match="prompt is too long"):
        job.future.result(timeout=60)
    assert bench.store.run("run2") is None


def test_claims_whose_judge_fails_are_kept_as_unjudged(served: AnthropicServer, sample_index: Index) -> None:
    served.fault_for = lambda number, body: Status(400, message="odd") if "tools" in body else None
    choice = Choice(SONNET, SONNET)
    answered: AuditedAnswer = ask(
        QUESTION, index=sample_index, generator=choice.open_generator(settings(), sample_index.embeddings),
        judge=choice.open_judge(settings()))
    assert [claim.state for claim in answered.claims] == ["unjudged", "hallucinated_quote"]
    assert "odd" in str(answered.claims[0].judgement)


def test_an_overload_in_mid_stream_is_survived(served: AnthropicServer, sample_index: Index) -> None:
    served.faults.append(ErrorEvent(5))
    choice = Choice(SONNET, "checks")
    generator = choice.open_generator(settings(), sample_index.embeddings)
    assert len(ask(QUESTION, index=sample_index, generator=generator, judge=choice.open_judge(settings())).claims) == 2


def test_one_budget_covers_a_whole_answer(
    served: AnthropicServer, sample_index: Index, monkeypatch: pytest.MonkeyPatch,
    settings_for: Callable[..., Settings],
) -> None:
    monkeypatch.setenv("LITRAG_BUDGET_USD", "0.15")
    settings.cache_clear()
    served.reply = lambda body: _long(model(body)) if "tools" not in body else model(body)
    choice = Choice(SONNET, SONNET)
    answered = ask(QUESTION, index=sample_index, generator=choice.open_generator(settings(), sample_index.embeddings),
                   judge=choice.open_judge(settings()))
    assert answered.claims[0].state == "unjudged"
    assert "LITRAG_BUDGET_USD" in str(answered.claims[0].judgement)
    assert answered.cost_usd is not None
    assert answered.cost_usd <= 0.15


def _long(reply: anthropic_server.Reply) -> anthropic_server.Reply:
    reply.output_tokens = 7900
    return reply


def test_an_answer_that_broke_off_is_shown_as_interrupted_and_can_be_tried_again(served: AnthropicServer) -> None:
    broken = Cut(12)
    served.fault_for = lambda number, body: broken
    bench = Workbench(settings())
    job = bench.ask("run3", QUESTION, "sample")
    with pytest.raises(GenerationError, match="broke off") as caught:
        job.future.result(timeout=60)
    assert caught.value.partial
    assert job.partial == caught.value.partial
    assert bench.store.run("run3") is None
    served.fault_for = lambda number, body: None
    bench.retry("run3")
    again = bench.job("run3")
    assert again is not None
    assert again is not job
    again.future.result(timeout=60)
    stored = bench.store.run("run3")
    assert stored is not None
    assert len(stored.claims) == 2
    assert again.partial[-1] == stored.claims[-1].text


def test_a_session_s_choice_of_models_is_used_for_its_runs(
    served: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITRAG_GENERATOR", "extractive")
    monkeypatch.setenv("LITRAG_JUDGE", "checks")
    settings.cache_clear()
    bench = Workbench(settings())
    bench.ask("plain", QUESTION, "sample").future.result(timeout=60)
    assert served.asked == []
    bench.ask("chosen", QUESTION, "sample", Choice(SONNET, "checks")).future.result(timeout=60)
    stored = bench.store.run("chosen")
    assert stored is not None
    assert (stored.generator.partition(" ")[0], stored.judge) == (SONNET, "checks")
    refused = bench.ask("offline", QUESTION, "sample", Choice(SONNET, "checks", offline=True))
    with pytest.raises(OfflineError):
        refused.future.result(timeout=60)
