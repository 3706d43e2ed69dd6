"""Claims and the records they cite: located, short-circuited, judged, and re-anchored."""

import pytest

from litrag.errors import InputError
from litrag.grounding import ClaimInput, ground_claims, number_sources
from litrag.models import Judgement, MatchKind, Record, Verdict

A = Record(record_id="a", pmid="11", title="Trial A", study="TRIAL A",
           text="Relapse was 12% with drug A at one year. The dose was 5 mg daily throughout the study.")
B = Record(record_id="b", pmid="22", title="Trial B", study="TRIAL B",
           text="Relapse was 20% with drug B at one year. Nausea was the most frequent adverse event.")
RECORDS = {"a": A, "b": B}


def _ground(judge, text, *citations, **options):
    [claim] = ground_claims([ClaimInput(claim_id="c1", text=text, citations=citations)], RECORDS, judge, **options)
    return claim


def test_a_quote_is_located_in_the_stored_text_and_then_judged(judge):
    claim = _ground(judge, "Relapse was 12%.", ("a", "Relapse was 12% with drug A at one year."))
    [(start, end)] = claim.citation.location.spans
    assert A.text[start:end] == "Relapse was 12% with drug A at one year."
    assert claim.verdict is Verdict.SUPPORTS
    assert len(judge.calls) == 1


@pytest.mark.parametrize(
    ("quote", "match"),
    [("Relapse was 21% with drug A at one year.", MatchKind.ALTERED),
     ("All patients recovered fully within a week.", MatchKind.ABSENT)],
)
def test_a_hallucinated_quote_skips_the_judge(judge, quote, match):
    claim = _ground(judge, "Relapse was low.", ("a", quote))
    assert claim.verdict is Verdict.HALLUCINATED_QUOTE
    assert claim.location.match is match
    assert judge.calls == []


def test_a_second_look_tells_an_invented_quote_from_a_false_claim(judge):
    judge.enqueue(Verdict.SUPPORTS)
    claim = _ground(judge, "Relapse was 12%.", ("a", "All patients recovered fully within a week."), second_look=True)
    assert claim.verdict is Verdict.HALLUCINATED_QUOTE
    assert claim.without_quote.verdict is Verdict.SUPPORTS
    assert judge.calls == [("Relapse was 12%.", A.text, None)]


def test_a_quote_from_another_record_is_misattributed_and_its_place_is_offered(judge):
    judge.enqueue(Verdict.NOT_FOUND, Verdict.SUPPORTS)
    claim = _ground(judge, "Nausea was frequent.", ("a", "Nausea was the most frequent adverse event."))
    assert claim.location.match is MatchKind.MISATTRIBUTED
    assert claim.verdict is Verdict.NOT_FOUND
    assert (claim.reanchor.record_id, claim.reanchor.pmid) == ("b", "22")
    [(start, end)] = claim.reanchor.spans
    assert B.text[start:end] == "Nausea was the most frequent adverse event."


def test_without_a_quote_the_sentences_that_fit_are_shown(judge):
    claim = _ground(judge, "The dose was 5 mg daily.", ("a", None))
    assert not claim.citation.quote_given
    assert "The dose was 5 mg daily" in claim.citation.quote
    assert judge.calls[0][2] is None


def test_a_claim_without_citation_stays_visible_as_uncited(judge):
    claim = _ground(judge, "Everyone knows this.")
    assert claim.state == "uncited"
    assert claim.verdict is None
    assert judge.calls == []


def test_a_failed_judge_call_is_unjudged_and_no_verdict(judge):
    judge.enqueue(Judgement.unjudged("the call timed out"))
    claim = _ground(judge, "Relapse was 12%.", ("a", None))
    assert claim.state == "unjudged"
    assert claim.judgement.unjudged_reason == "the call timed out"


def test_sources_are_numbered_in_order_of_first_use_and_once_each():
    items = [
        ClaimInput(claim_id="1", text="x", citations=(("b", None),)),
        ClaimInput(claim_id="2", text="y", citations=(("a", None), ("b", None))),
    ]
    assert number_sources(items, RECORDS) == {"b": 1, "a": 2}


def test_a_citation_of_an_unknown_record_names_the_claim_and_the_record(judge):
    with pytest.raises(InputError, match=r"claim 'c1' cites record 'zzz'"):
        _ground(judge, "x", ("zzz", None))


def test_a_contradicting_source_speaks_for_a_claim_with_several_citations(judge):
    judge.enqueue(Verdict.SUPPORTS, Verdict.CONTRADICTS)
    claim = _ground(judge, "Relapse was 12%.", ("a", None), ("b", None))
    assert claim.verdict is Verdict.CONTRADICTS
    assert claim.citation.record_id == "b"


def test_the_same_question_is_asked_of_the_judge_once(judge):
    _ground(judge, "Relapse was 12%.", ("a", None), ("a", None))
    assert len(judge.calls) == 1


def test_progress_names_both_stages_to_the_end(judge):
    seen = []
    items = [ClaimInput(claim_id=str(i), text="Relapse was 12%.", citations=(("a", None),)) for i in range(11)]
    ground_claims(items, RECORDS, judge, progress=lambda *step: seen.append(step))
    assert ("locating", 11, 11) in seen
    assert seen[-1] == ("judging", 11, 11)
