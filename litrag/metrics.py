"""Scores of answers: an `AuditedAnswer` goes in, counts and shares come out; pure.

A share whose denominator is 0 is undefined (None), never 0 or 1. Abstentions and answers without a claim have no
shares and are counted apart, so that declining can't raise a mean; an uncited statement stays in every denominator.
Unjudged claims are in no share but coverage, and their number stands beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import computed_field

from litrag.models import AuditedAnswer, AuditedClaim, MatchKind, Model, Verdict

#: Whether the citations of one statement, taken together, entail it: ALCE's φ, given their positions.
Entails = Callable[[frozenset[int]], bool]


class Share(Model):
    """A proportion with its counts."""

    hits: int = 0
    of: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def value(self) -> float | None:
        return round(self.hits / self.of, 6) if self.of else None

    def __add__(self, other: Share) -> Share:
        return Share(hits=self.hits + other.hits, of=self.of + other.of)


class Scores(Model):
    """One answer, or several pooled claim by claim.

    `attributed`: supported by the very source cited. `faithful`: supported by that or by another retrieved source.
    Both over all statements that aren't unjudged, uncited ones included.
    """

    answers: int = 0
    abstained: int = 0
    empty: int = 0
    claims: int = 0
    coverage: Share = Share()
    citation_recall: Share = Share()
    citation_precision: Share = Share()
    attributed: Share = Share()
    faithful: Share = Share()
    supports: int = 0
    partial: int = 0
    contradicts: int = 0
    not_found: int = 0
    hallucinated_quote: int = 0
    uncited: int = 0
    unjudged: int = 0
    altered: int = 0
    misattributed: int = 0
    conflicts: int = 0

    def __add__(self, other: Scores) -> Scores:
        return Scores(**{name: getattr(self, name) + getattr(other, name) for name in Scores.model_fields})


#: Shares by the name that a reader sees; more is better for each.
SHARES = {
    "coverage": "Citation coverage", "citation_recall": "Citation recall (ALCE)",
    "citation_precision": "Citation precision (ALCE)", "attributed": "Attributed", "faithful": "Faithful",
}
COUNTS = ("claims", "supports", "partial", "contradicts", "not_found", "hallucinated_quote", "uncited", "unjudged",
          "altered", "misattributed", "conflicts")


def citation_quality(citations: int, entails: Entails) -> tuple[bool, list[bool]]:
    """Citation recall of one statement and the precision of each of its citations, by ALCE's definitions.

    Recall is 1 when there is a citation and all together entail the statement. A citation is precise when recall is 1
    and it isn't irrelevant; it is irrelevant when alone it doesn't entail the statement and the others still do.
    Source: Gao, Yen, Yu and Chen, "Enabling Large Language Models to Generate Text with Citations", EMNLP 2023,
    section 4 ("Citation quality").
    """
    every = frozenset(range(citations))
    recall = citations > 0 and entails(every)
    if not recall:
        return False, [False] * citations
    return True, [
        entails(frozenset({one})) or citations == 1 or not entails(every - {one}) for one in range(citations)
    ]


def by_verdict(claim: AuditedClaim) -> Entails:
    """φ from the verdicts on single citations: together they entail what one of them supports.

    Stricter than a model that reads them joined, since two halves aren't added up.
    """
    supporting = {k for k, citation in enumerate(claim.citations) if citation.verdict is Verdict.SUPPORTS}
    return lambda chosen: bool(supporting & chosen)


def scores_of(answer: AuditedAnswer, entails: Callable[[AuditedClaim], Entails] = by_verdict) -> Scores:
    """The scores of one answer; an abstention is counted and nothing else of it."""
    if answer.abstained:
        return Scores(answers=1, abstained=1)
    if not answer.claims:
        return Scores(answers=1, empty=1)
    total = Scores(answers=1)
    for claim in answer.claims:
        total += _claim_scores(claim, entails(claim))
    return total


def _claim_scores(claim: AuditedClaim, entails: Entails) -> Scores:
    matches = [citation.location.match for citation in claim.citations]
    unjudged = claim.state == "unjudged"
    recall, precise = citation_quality(len(claim.citations), entails)
    judged = [p for p, citation in zip(precise, claim.citations, strict=True) if citation.verdict is not None]
    supported = claim.verdict is Verdict.SUPPORTS
    return Scores(
        claims=1,
        coverage=Share(hits=any(citation.location.found for citation in claim.citations), of=1),
        citation_recall=Share(hits=recall, of=0 if unjudged else 1),
        citation_precision=Share(hits=sum(judged), of=len(judged)),
        attributed=Share(hits=supported, of=0 if unjudged else 1),
        faithful=Share(hits=not unjudged and (supported or claim.reanchor is not None), of=0 if unjudged else 1),
        altered=matches.count(MatchKind.ALTERED), misattributed=matches.count(MatchKind.MISATTRIBUTED),
        conflicts=bool(claim.conflicts), **{claim.state: 1},
    )


def pooled(scores: Sequence[Scores]) -> Scores:
    """All answers as one, each claim counting the same."""
    return sum(scores, Scores())


def macro(scores: Sequence[Scores]) -> dict[str, float | None]:
    """Mean of each share over the answers in which it is defined, each answer counting the same."""
    found: dict[str, float | None] = {}
    for name in SHARES:
        values = [share.value for one in scores if (share := getattr(one, name)).value is not None]
        found[name] = round(sum(values) / len(values), 6) if values else None
    return found


class AbstentionScores(Model):
    """Declining by whether the question could be answered: a system that declines everything is found out here."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    answered: int = 0
    unknown: int = 0


def abstention_scores(declined: Mapping[str, bool], answerable: Mapping[str, bool]) -> AbstentionScores:
    """Count declined questions against what is known of them; questions of which nothing is known apart."""
    found = {"right": 0, "wrong": 0, "missed": 0, "answered": 0, "unknown": 0}
    for question, gave_up in declined.items():
        if question not in answerable:
            found["unknown"] += 1
        elif answerable[question]:
            found["wrong" if gave_up else "answered"] += 1
        else:
            found["right" if gave_up else "missed"] += 1
    return AbstentionScores(**found)
