"""Scores beside answers worked out by hand; ALCE's definitions; what must never raise a score."""

import pytest

from litrag.metrics import Scores, Share, abstention_scores, citation_quality, macro, pooled, scores_of
from litrag.models import (
    Abstention,
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Conflict,
    Judgement,
    Location,
    MatchKind,
    Reanchor,
    Verdict,
)

S, P, C, N, H = (Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS, Verdict.NOT_FOUND, Verdict.HALLUCINATED_QUOTE)


def citation(verdict, match=MatchKind.EXACT, n=1):
    judgement = Judgement(verdict=verdict) if verdict else Judgement.unjudged("the call failed")
    return CheckedCitation(n=n, record_id=f"r{n}", location=Location(match=match), judgement=judgement)


def claim(*citations, **fields):
    return AuditedClaim(claim_id="c", text="A claim.", citations=citations, **fields)


def answer(*claims, **fields):
    return AuditedAnswer(run_id="r", claims=claims, **fields)


ABSTAINED = answer(abstention=Abstention(reason="nothing found"))
#: Five statements: supported; supported by the second of two; altered quote; misattributed; uncited but re-anchored.
MIXED = answer(
    claim(citation(S), conflicts=(Conflict(n=2, record_id="r2"),)),
    claim(citation(N, n=1), citation(S, n=2)),
    claim(citation(H, MatchKind.ALTERED)),
    claim(citation(N, MatchKind.MISATTRIBUTED)),
    claim(reanchor=Reanchor(n=3, record_id="r3")),
)


def test_an_answer_worked_by_hand():
    found = scores_of(MIXED)
    assert (found.claims, found.answers, found.abstained, found.empty) == (5, 1, 0, 0)
    assert found.coverage == Share(hits=2, of=5)
    assert found.citation_recall == Share(hits=2, of=5)
    assert found.citation_precision == Share(hits=2, of=5)  # five citations, two of them support
    assert found.attributed == Share(hits=2, of=5)
    assert found.faithful == Share(hits=3, of=5)
    assert (found.supports, found.not_found, found.hallucinated_quote, found.uncited) == (2, 1, 1, 1)
    assert (found.altered, found.misattributed, found.conflicts, found.unjudged) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("citations", "sufficient", "recall", "precise"),
    [
        (0, [], False, []),
        (1, [{0}], True, [True]),
        (1, [], False, [False]),
        (2, [{0}], True, [True, False]),              # the second is irrelevant: alone nothing, the first suffices
        (2, [{0}, {1}], True, [True, True]),          # each suffices alone: neither is irrelevant
        (2, [{0, 1}], True, [True, True]),            # only together: removing either breaks it
        (3, [{0, 1}], True, [True, True, False]),     # two needed, the third irrelevant
        (3, [{0, 1}, {2}], True, [False, False, True]),  # the third suffices: either half can go
        (2, [], False, [False, False]),               # recall 0 makes every citation imprecise
    ],
)
def test_recall_and_precision_are_alces(citations, sufficient, recall, precise):
    assert citation_quality(citations, lambda chosen: any(need <= chosen for need in sufficient)) == (recall, precise)


def test_an_abstention_and_an_empty_answer_have_no_shares():
    for one, field in ((ABSTAINED, "abstained"), (answer(), "empty")):
        found = scores_of(one)
        assert getattr(found, field) == 1
        assert all(getattr(found, name).value is None for name in ("coverage", "attributed", "faithful"))


def test_abstaining_never_raises_a_score():
    answered = [scores_of(answer(claim(citation(S)), claim(citation(S)))), scores_of(MIXED)]
    declined = [*answered, *[scores_of(ABSTAINED)] * 20, scores_of(answer())]
    assert macro(declined) == macro(answered)
    before, after = pooled(answered), pooled(declined)
    assert (after.attributed, after.coverage, after.faithful) == (before.attributed, before.coverage, before.faithful)
    assert (after.answers, after.abstained, after.empty) == (23, 20, 1)


def test_a_run_of_nothing_but_abstentions_is_undefined_and_not_perfect():
    assert set(macro([scores_of(ABSTAINED)]).values()) == {None}
    assert pooled([]) == Scores()


def test_an_uncited_statement_lowers_every_share_but_precision():
    without, with_it = scores_of(answer(claim(citation(S)))), scores_of(answer(claim(citation(S)), claim()))
    for name in ("coverage", "citation_recall", "attributed", "faithful"):
        assert getattr(with_it, name).value == 0.5 < getattr(without, name).value
    assert with_it.citation_precision == without.citation_precision


def test_an_unjudged_claim_is_counted_and_decides_no_share():
    found = scores_of(answer(claim(citation(S)), claim(citation(None))))
    assert found.unjudged == 1
    assert found.attributed == Share(hits=1, of=1)
    assert found.citation_precision == Share(hits=1, of=1)
    assert found.coverage == Share(hits=2, of=2)


def test_a_contradiction_outweighs_a_supporting_citation_in_attribution_but_not_in_recall():
    found = scores_of(answer(claim(citation(S), citation(C, n=2))))
    assert found.contradicts == 1
    assert found.attributed == Share(hits=0, of=1)
    assert found.citation_recall == Share(hits=1, of=1)


def test_declining_is_scored_against_what_could_be_answered():
    declined = {"a": True, "b": True, "c": False, "d": False, "e": True}
    found = abstention_scores(declined, {"a": False, "b": True, "c": False, "d": True})
    assert (found.right, found.wrong, found.missed, found.answered, found.unknown) == (1, 1, 1, 1, 1)


def test_partial_support_is_no_support():
    assert scores_of(answer(claim(citation(P)))).attributed == Share(hits=0, of=1)
