"""From a question to a checked answer over the sample corpus, and from someone's text to a report."""

import pytest

from litrag.errors import InputError
from litrag.extractive import ExtractiveGenerator
from litrag.grounding import ClaimInput
from litrag.judges import open_judge
from litrag.models import AuditedAnswer, Citation, Draft, Statement, Verdict
from litrag.pipeline import Stopped, ask, verify

QUESTION = "How much weight do adults without diabetes lose on semaglutide 2.4 mg?"


def _ask(sample_index, question=QUESTION, **options):
    options.setdefault("judge", open_judge("checks"))
    return ask(question, index=sample_index, generator=ExtractiveGenerator(sample_index.embeddings), **options)


def test_a_question_gets_an_answer_whose_every_claim_is_quoted_located_and_judged(sample_index):
    answer = _ask(sample_index)
    assert not answer.abstained
    text = " ".join(claim.text for claim in answer.claims)
    assert "−14.9%" in text
    assert "−2.4%" in text
    for claim in answer.claims:
        source = answer.source(claim.citation.n)
        [(start, end), *_] = claim.location.spans
        assert source.record.text[start:end] == claim.citation.quote
        assert claim.verdict is Verdict.SUPPORTS
    assert answer.coverage == 1.0


def test_a_question_that_the_corpus_is_silent_on_is_declined_with_what_is_missing(sample_index):
    answer = _ask(sample_index, "Does semaglutide slow Alzheimer's disease or dementia?")
    assert answer.abstained
    assert answer.claims == ()
    assert "dementia" in answer.abstention.missing
    assert "dementia" in answer.abstention.pubmed_query
    assert answer.abstention.nearest


def test_an_answer_survives_json_unchanged(sample_index):
    answer = _ask(sample_index)
    assert AuditedAnswer.from_json(answer.to_json()) == answer


def test_retrieval_happens_once_per_question(sample_index, monkeypatch):
    calls = []
    hits = type(sample_index).hits

    def counted(self, *arguments, **options):
        calls.append(arguments)
        return hits(self, *arguments, **options)

    monkeypatch.setattr(type(sample_index), "hits", counted)
    _ask(sample_index)
    assert len(calls) == 1


def test_progress_can_stop_a_run(sample_index, judge):
    def stop(stage, done, total):
        if stage == "judging":
            raise Stopped("stopped by the reader")

    with pytest.raises(Stopped):
        _ask(sample_index, progress=stop, judge=judge)


@pytest.mark.parametrize(("question", "message"), [("  ", "question is empty"), ("x" * 2001, "2001 characters")])
def test_a_question_that_cannot_be_asked_says_why(sample_index, question, message):
    with pytest.raises(InputError, match=message):
        _ask(sample_index, question)


class ScriptedGenerator:
    generator_id = "scripted"

    def __init__(self, *statements: Statement) -> None:
        self.statements = statements

    def generate(self, question, hits, records):
        named = {"first": hits[0].passage.passage_id}
        return Draft(statements=tuple(
            s.model_copy(update={"citations": tuple(
                c.model_copy(update={"passage_id": named.get(c.passage_id, c.passage_id)}) for c in s.citations
            )}) for s in self.statements
        ))


def test_a_citation_of_a_passage_that_was_not_retrieved_is_no_citation(sample_index, judge):
    generator = ScriptedGenerator(Statement(text="Made up.", citations=(Citation(passage_id="nope", quote="x"),)))
    answer = ask(QUESTION, index=sample_index, generator=generator, judge=judge)
    assert [claim.state for claim in answer.claims] == ["uncited"]
    assert judge.calls == []


def test_numbers_in_brackets_inside_a_claim_are_text(sample_index, judge):
    generator = ScriptedGenerator(Statement(text="The interval was [2, 6] and see [9].", citations=()))
    [claim] = ask(QUESTION, index=sample_index, generator=generator, judge=judge).claims
    assert claim.text == "The interval was [2, 6] and see [9]."
    assert claim.citations == ()


def test_a_text_with_references_is_split_resolved_and_judged(sample_index):
    text = (
        "STEP 1 lasted 68 weeks [1]. In SOUL, major kidney disease events were significantly reduced [2].\n\n"
        "References\n1. Wilding JPH. N Engl J Med 2021. PMID: 33567185\n2. McGuire DK. N Engl J Med 2025. PMID 40162642\n"
    )
    report = verify(text, index=sample_index, judge=open_judge("checks"))
    assert report.kind == "verify"
    assert [claim.citation.pmid for claim in report.claims] == ["33567185", "40162642"]
    assert report.claims[1].verdict is Verdict.CONTRADICTS


def test_a_cited_record_that_the_corpus_lacks_is_named_with_how_to_get_it(sample_index, judge):
    report = verify("Aspirin prevents stroke (PMID 12345678).", index=sample_index, judge=judge)
    [claim] = report.claims
    assert claim.state == "uncited"
    assert "PMID 12345678" in claim.note
    assert "litrag ingest" in claim.note


def test_a_text_without_statements_says_what_to_paste(sample_index, judge):
    with pytest.raises(InputError, match="no statement to verify"):
        verify("   ", index=sample_index, judge=judge)


def test_a_claim_that_another_source_supports_is_offered_that_source(sample_index, by_study, judge):
    judge.enqueue(Verdict.NOT_FOUND)
    items = [ClaimInput(claim_id="c", text="Diabetic retinopathy complications were more frequent with semaglutide.",
                        citations=((by_study["STEP 1"].record_id, None),))]
    [claim] = verify(items, index=sample_index, judge=judge).claims
    assert claim.verdict is Verdict.NOT_FOUND
    assert claim.reanchor is not None
    assert claim.reanchor.n >= 2
