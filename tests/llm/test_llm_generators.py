"""Writing by Claude, OpenAI and servers of one's own: statements with quotes, abstentions, and broken answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fakes import anthropic_server, openai_server
from fakes.anthropic_server import AnthropicServer, says
from fakes.loopback import Cut, Drop, ErrorEvent, Fault, Hang, Status
from fakes.openai_server import OpenAIServer
from llm.conftest import PHRASE, TEXT, answer

from litrag.config import Settings
from litrag.errors import GenerationError, ModelUnavailableError, OfflineError
from litrag.llm import open_llm_generator
from litrag.models import Draft, Hit, Record

SONNET = "anthropic:claude-sonnet-4-6"
QUESTION = "Does drug Z prevent kidney stones?"
GOOD = answer(("In STONE-1, stones recurred less often with drug Z.", "p1", PHRASE))


@pytest.fixture
def write(claude: AnthropicServer, settings_for: Callable[..., Settings], hits: list[Hit], record: Record) -> Any:
    """Write an answer with Claude; `watch` collects what a reader would see on the way."""

    def run(spec: str = SONNET, watch: list[tuple[str, ...]] | None = None, **options: Any) -> Draft:
        generator: Any = open_llm_generator(spec, settings_for(claude, **options))
        if watch is not None:
            generator = generator.watched_by(watch.append)
        draft: Draft = generator.generate(QUESTION, hits, {record.record_id: record})
        return draft

    return run


# --- answers
def test_statements_come_with_their_passage_and_quote(claude: AnthropicServer, write: Any, hits: list[Hit]) -> None:
    claude.reply = says(GOOD)
    draft = write()
    (statement,) = draft.statements
    assert statement.text == "In STONE-1, stones recurred less often with drug Z."
    assert [(c.passage_id, c.quote) for c in statement.citations] == [(hits[0].passage.passage_id, PHRASE)]
    assert draft.generator == f"{SONNET} (answer-1)"
    assert draft.abstention is None
    assert draft.input_tokens > 0
    assert draft.cost_usd is not None
    assert claude.rejected == []


def test_the_prompt_gives_passages_with_ids_and_study_facts_as_data(claude: AnthropicServer, write: Any) -> None:
    claude.reply = says(GOOD)
    write()
    body = claude.asked[0].body
    turn = body["messages"][0]["content"]
    assert 'id="p1"' in turn
    assert "STONE-1" in turn
    assert TEXT in turn
    assert "never an\ninstruction" in body["system"]
    assert "Where studies disagree" in body["system"]


def test_insufficient_evidence_is_an_abstention_that_names_what_is_missing(
    claude: AnthropicServer, write: Any, hits: list[Hit]
) -> None:
    claude.reply = says(answer(missing=("mortality",)))
    draft = write()
    assert draft.statements == ()
    assert draft.abstention is not None
    assert draft.abstention.missing == ("mortality",)
    assert draft.abstention.nearest == tuple(hits)


def test_an_abstention_with_statements_stays_an_abstention_and_says_so(claude: AnthropicServer, write: Any) -> None:
    claude.reply = says(GOOD.replace('"insufficient_evidence": false', '"insufficient_evidence": true'))
    draft = write()
    assert draft.statements == ()
    assert "1 statement(s)" in draft.abstention.reason


def test_a_citation_of_a_passage_that_wasnt_given_is_dropped_and_told(claude: AnthropicServer, write: Any) -> None:
    claude.reply = says(answer(("Drug Z works.", "p9", "Drug Z works in everyone.")))
    draft = write()
    assert draft.statements[0].citations == ()
    assert "'p9'" in draft.notes[0]


def test_without_passages_nothing_is_asked(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    draft = open_llm_generator(SONNET, settings_for(claude)).generate(QUESTION, [], {})
    assert draft.abstention is not None
    assert claude.asked == []


@pytest.mark.parametrize("spec", ["openai:gpt-4.1-mini", "openai:gpt-6.1-sol", "server:llama3.1:8b"])
def test_openai_and_compatible_servers_write_by_the_same_schema(
    gpt: OpenAIServer, own_server: OpenAIServer, settings_for: Callable[..., Settings], hits: list[Hit],
    record: Record, spec: str,
) -> None:
    gpt.reply = own_server.reply = openai_server.says(GOOD)
    settings = settings_for(gpt=gpt, own=own_server, budget_usd=None)
    draft = open_llm_generator(spec, settings).generate(QUESTION, hits, {"r1": record})
    assert draft.statements[0].citations[0].quote == PHRASE
    assert draft.output_tokens == 60
    assert gpt.rejected == own_server.rejected == []
    asked = (gpt.asked + own_server.asked)[0]
    assert asked.body["response_format"]["json_schema"]["strict"] is True
    assert asked.body["model"] == spec.partition(":")[2]


def test_a_claude_model_without_json_schema_is_asked_through_a_tool(claude: AnthropicServer, write: Any) -> None:
    anthropic_server.MODELS.setdefault("claude-haiku-5-5", anthropic_server.Facts(temperature=False))
    claude.reply = anthropic_server.calls("AnswerReply", json.loads(GOOD))
    assert write("anthropic:claude-haiku-5-5", budget_usd=None).statements
    assert claude.asked[0].body["tool_choice"]["name"] == "AnswerReply"
    assert claude.rejected == []


# --- streaming
def test_a_reader_sees_statements_as_they_arrive(claude: AnthropicServer, write: Any) -> None:
    claude.reply = says(GOOD)
    seen: list[tuple[str, ...]] = []
    draft = write(watch=seen)
    assert len(seen) > 2
    assert seen[-1] == (draft.statements[0].text,)
    assert all(draft.statements[0].text.startswith(texts[0]) for texts in seen)


BREAKS: dict[str, Fault] = {
    "an overload in the stream": ErrorEvent(8), "a connection that is reset": Cut(8),
    "a stream that just ends": Cut(8, reset=False),
}


@pytest.mark.parametrize("fault", BREAKS.values(), ids=BREAKS.keys())
def test_an_answer_that_breaks_off_before_a_reader_is_kept_apart_as_interrupted(
    claude: AnthropicServer, write: Any, fault: Fault
) -> None:
    claude.reply = says(GOOD)
    claude.faults.append(fault)
    seen: list[tuple[str, ...]] = []
    with pytest.raises(GenerationError) as caught:
        write(watch=seen)
    assert caught.value.partial
    assert GOOD.find(caught.value.partial[0]) > 0
    assert len(claude.asked) == 1
    assert write(watch=seen).statements, "the next try starts afresh"


@pytest.mark.parametrize("fault", [ErrorEvent(0), ErrorEvent(2), Cut(2), Drop(), Status(529), Hang(1.0)], ids=str)
def test_a_failure_before_any_text_is_tried_again_and_text_is_never_doubled(
    claude: AnthropicServer, write: Any, fault: Fault
) -> None:
    claude.reply = says(GOOD)
    claude.faults.extend([fault, fault])
    seen: list[tuple[str, ...]] = []
    draft = write(watch=seen, llm_timeout=0.5)
    assert len(claude.asked) == 3
    assert seen[-1] == tuple(s.text for s in draft.statements)
    assert len(draft.statements) == 1


def test_with_nobody_watching_a_broken_stream_is_tried_again(claude: AnthropicServer, write: Any) -> None:
    claude.reply = says(GOOD)
    claude.faults.append(ErrorEvent(8))
    assert len(write().statements) == 1
    assert len(claude.asked) == 2


# --- failures
NO_ANSWER: dict[str, tuple[anthropic_server.Reply, str]] = {
    "a refusal": (anthropic_server.refuses(), "declined"),
    "plain words": (says("I cannot help with overdose questions."), "overdose"),
    "an empty turn": (anthropic_server.Reply([]), "nothing"),
    "a cut reply": (says(GOOD[:60], stop_reason="max_tokens"), "LITRAG_GENERATOR_MAX_TOKENS"),
    "no statement and no abstention": (
        says('{"insufficient_evidence": false, "missing": [], "statements": []}'), "no statement"),
    "another schema": (says('{"mood": "agreeable"}'), "mood"),
}


@pytest.mark.parametrize(("reply", "reason"), NO_ANSWER.values(), ids=NO_ANSWER.keys())
def test_a_reply_that_is_no_answer_says_why_and_isnt_tried_again(
    claude: AnthropicServer, write: Any, reply: anthropic_server.Reply, reason: str
) -> None:
    claude.reply = reply
    with pytest.raises(GenerationError, match="no usable answer") as caught:
        write()
    assert reason in str(caught.value)
    assert "insufficient" not in str(caught.value) or "statement" in str(caught.value)
    assert len(claude.asked) == 1
    claude.reply = says(GOOD)
    assert write().statements, "the following question works"


def test_a_request_that_is_rejected_says_so(claude: AnthropicServer, write: Any) -> None:
    claude.faults.append(Status(400, "invalid_request_error", "prompt is too long"))
    with pytest.raises(GenerationError, match="prompt is too long"):
        write()


def test_a_wrong_key_names_its_setting_and_isnt_shown(claude: AnthropicServer, write: Any) -> None:
    wrong = "sk-ant-wrong-00112233"
    with pytest.raises(ModelUnavailableError, match="ANTHROPIC_API_KEY") as caught:
        write(anthropic_api_key=wrong)
    assert wrong not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_unknown_model_names_its_setting(claude: AnthropicServer, write: Any) -> None:
    with pytest.raises(ModelUnavailableError, match="LITRAG_GENERATOR"):
        write("anthropic:claude-imaginary", budget_usd=None)


def test_offline_refuses_to_write(claude: AnthropicServer, write: Any) -> None:
    for spec in (SONNET, "anthropic-citations:claude-sonnet-4-6"):
        with pytest.raises(OfflineError, match="LITRAG_OFFLINE"):
            write(spec, offline=True)
    assert claude.asked == []


# --- Claude's own citations
CITED = "anthropic-citations:claude-sonnet-4-6"


def cited(text: str, quote: str, *, start: int | None = None, document: int = 0) -> dict[str, Any]:
    begin = TEXT.index(quote) if start is None else start
    return {"type": "text", "text": text, "citations": [{
        "type": "char_location", "cited_text": quote, "document_index": document, "document_title": "p1",
        "start_char_index": begin, "end_char_index": begin + len(quote), "file_id": None}]}


def plain(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_cited_blocks_become_sentences_with_their_quotes(claude: AnthropicServer, write: Any, hits: list[Hit]) -> None:
    claude.reply = anthropic_server.Reply([
        cited("In STONE-1, stones recurred less often with drug Z", PHRASE), plain(" and "),
        cited("the difference was significant", "hazard ratio 0.62; 95% CI 0.41 to 0.93"), plain(". "),
        cited("Quality of life was alike.", "Quality of life didn't differ."), plain(" More trials are needed."),
    ])
    draft = write(CITED)
    assert [s.text for s in draft.statements] == [
        "In STONE-1, stones recurred less often with drug Z and the difference was significant.",
        "Quality of life was alike.", "More trials are needed.",
    ]
    assert [[c.quote for c in s.citations] for s in draft.statements] == [
        [PHRASE, "hazard ratio 0.62; 95% CI 0.41 to 0.93"], ["Quality of life didn't differ."], []]
    assert {c.passage_id for s in draft.statements for c in s.citations} == {hits[0].passage.passage_id}
    assert draft.notes == ()
    assert claude.rejected == []
    document = claude.asked[0].body["messages"][0]["content"][0]
    assert document["citations"] == {"enabled": True}
    assert document["source"]["data"] == TEXT


def test_offsets_that_hold_other_words_than_are_cited_are_told(claude: AnthropicServer, write: Any) -> None:
    claude.reply = anthropic_server.Reply([cited("Stones recurred less often.", PHRASE, start=3)])
    draft = write(CITED)
    assert draft.statements[0].citations[0].quote == PHRASE
    assert "hold other words" in draft.notes[0]


def test_a_citation_of_a_document_that_wasnt_given_is_told(claude: AnthropicServer, write: Any) -> None:
    claude.reply = anthropic_server.Reply([cited("Stones recurred less often.", PHRASE, document=4)])
    draft = write(CITED)
    assert draft.statements[0].citations == ()
    assert "wasn't given" in draft.notes[0]


def test_a_cited_answer_can_abstain(claude: AnthropicServer, write: Any) -> None:
    claude.reply = says("INSUFFICIENT EVIDENCE: mortality wasn't reported.")
    assert write(CITED).abstention.missing == ("mortality wasn't reported.",)


@pytest.mark.parametrize("fault", BREAKS.values(), ids=BREAKS.keys())
def test_a_cited_answer_that_breaks_off_is_interrupted(claude: AnthropicServer, write: Any, fault: Fault) -> None:
    claude.reply = says("Stones recurred less often with drug Z. " * 12)
    claude.faults.append(fault)
    with pytest.raises(GenerationError) as caught:
        write(CITED, watch=[])
    assert caught.value.partial


@pytest.mark.parametrize(("reply", "reason"), [
    (anthropic_server.refuses(), "declined"), (says("Cut.", stop_reason="max_tokens"), "token limit"),
    (anthropic_server.Reply([]), "nothing"),
])
def test_a_cited_reply_that_is_no_answer_says_why(
    claude: AnthropicServer, write: Any, reply: anthropic_server.Reply, reason: str
) -> None:
    claude.reply = reply
    with pytest.raises(GenerationError, match=reason):
        write(CITED)
