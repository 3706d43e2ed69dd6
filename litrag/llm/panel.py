"""Several judges on the same claims: a panel votes, an escalation asks the second where the first is unsure.

Disagreement is never smoothed over: without a majority a claim is *unjudged* with the votes as its reason, with one
it is marked unsure. Both go to review.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from litrag.errors import InputError
from litrag.models import Judge, Judgement, Passage, Verdict

Pair = tuple[str, str | Passage, str | None]

UNJUDGED = "unjudged"


class Panel:
    """Judges who vote; the same judge several times is self-consistency."""

    def __init__(self, judges: Sequence[Judge], *, judge_id: str) -> None:
        if len(judges) < 2:
            raise InputError(f"a panel needs two votes or more, {judge_id!r} has {len(judges)}")
        self._judges = list(judges)
        self._judge_id = judge_id

    @property
    def judge_id(self) -> str:
        return self._judge_id

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        """Judge one claim; see `judge_many`."""
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Every judge judges every claim; the votes are counted claim by claim."""
        ballots = [judge.judge_many(pairs) for judge in self._judges]
        return [self._count(list(votes)) for votes in zip(*ballots, strict=True)]

    def _count(self, votes: list[Judgement]) -> Judgement:
        counted = Counter(vote.verdict.value if vote.verdict else UNJUDGED for vote in votes)
        said = _in_words(counted, len(votes))
        shared = {
            "judge": self._judge_id, "model": " + ".join(dict.fromkeys(vote.model for vote in votes)),
            "version": " + ".join(dict.fromkeys(vote.version for vote in votes)), "votes": dict(counted),
            "seconds": sum(vote.seconds for vote in votes), **_spent(votes),
        }
        winner, most = max(((v, n) for v, n in counted.items() if v != UNJUDGED), key=lambda x: x[1], default=("", 0))
        judged = len(votes) - counted[UNJUDGED]
        if not most or most * 2 <= judged:
            reasons = "; ".join(dict.fromkeys(v.unjudged_reason for v in votes if v.unjudged_reason))
            return Judgement.unjudged(f"{said}{f' ({reasons})' if reasons else ''}").model_copy(update=shared)
        speaker = max((v for v in votes if v.verdict == Verdict(winner)), key=lambda v: v.confidence or 0.0)
        agreed = most == len(votes)
        return speaker.model_copy(update={
            **shared, "unsure": not agreed or speaker.unsure, "confidence": _confidence(votes, Verdict(winner)),
            "rationale": f"{speaker.rationale} ({said}.)".strip(),
        })


def _in_words(counted: Counter[str], votes: int) -> str:
    if len(counted) == 1:
        return f"all {votes} votes say {next(iter(counted))}"
    parts = (f"{n} {'says' if n == 1 else 'say'} {verdict}" for verdict, n in counted.most_common())
    return f"the judges disagree: of {votes} votes {', '.join(parts)}"


def _confidence(votes: Sequence[Judgement], winner: Verdict) -> float:
    """Share of the votes for the winner, each weighted by its own confidence where it gives one."""
    weight = sum(v.confidence if v.confidence is not None else 1.0 for v in votes if v.verdict is winner)
    return round(weight / len(votes), 4)


def _spent(judgements: Sequence[Judgement]) -> dict[str, float | int | None]:
    costs = [j.cost_usd for j in judgements if j.cost_usd is not None]
    return {
        "input_tokens": sum(j.input_tokens for j in judgements),
        "cached_tokens": sum(j.cached_tokens for j in judgements),
        "output_tokens": sum(j.output_tokens for j in judgements),
        "cost_usd": sum(costs) if costs else None,
    }


class Escalation:
    """A first judge for all claims, a second for those where the first is unsure."""

    def __init__(self, first: Judge, second: Judge, *, below: float) -> None:
        self._first = first
        self._second = second
        self._below = below

    @property
    def judge_id(self) -> str:
        return f"{self._first.judge_id}>{self._second.judge_id}"

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        """Judge one claim; see `judge_many`."""
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """The first judge's word where it is sure, else the second's; each says which of them spoke."""
        judgements = self._first.judge_many(pairs)
        places = [place for place, judgement in enumerate(judgements) if self._open(judgement)]
        if places:
            for place, second in zip(places, self._second.judge_many([pairs[p] for p in places]), strict=True):
                judgements[place] = _settled(judgements[place], second)
        return judgements

    def _open(self, judgement: Judgement) -> bool:
        confidence = judgement.confidence
        return judgement.verdict is None or judgement.unsure or (confidence is not None and confidence < self._below)


def _settled(first: Judgement, second: Judgement) -> Judgement:
    """The second judge's word; if it gives none, the first's stays, marked unsure."""
    spent = _spent([first, second])
    if second.verdict is None:
        note = f"({second.judge} was asked and gave no verdict: {second.unjudged_reason}.)"
        return first.model_copy(update={
            **spent, "unsure": True, "rationale": f"{first.rationale} {note}".strip(),
            "unjudged_reason": first.unjudged_reason and f"{first.unjudged_reason} {note}",
        })
    before = first.verdict.value if first.verdict else UNJUDGED
    sure = f" at {first.confidence:.2f}" if first.confidence is not None else ""
    return second.model_copy(update={
        **spent, "rationale": f"{second.rationale} ({first.judge} had said {before}{sure}.)".strip(),
    })
