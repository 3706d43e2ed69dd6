"""Which claims reviewers see: half a uniform sample, half chosen for uncertainty and for rare verdicts.

Only the uniform half may be used for rates; the other half is for finding errors. What comes out carries its stratum
and the probability with which it was drawn there. Splits follow the question, so that claims on one question never
stand on both sides of a comparison.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from .models import Model


class Stratum(StrEnum):
    """Why an item is in the queue. `chosen` items were picked by hand and have no probability."""

    UNIFORM = "uniform"
    UNCERTAIN = "uncertain"
    RARE = "rare"
    CHOSEN = "chosen"


class Split(StrEnum):
    FEW_SHOT = "few_shot"
    DEV = "dev"
    TEST = "test"


#: Upper ends of the share of questions that go to each split.
_SHARES = ((0.1, Split.FEW_SHOT), (0.5, Split.DEV), (1.0, Split.TEST))


class Candidate(Model):
    """A claim that could be sent to review; `verdict` is the judge's, or `unjudged`."""

    key: str
    uncertainty: float
    verdict: str


class Drawn(Model):
    """A claim that was drawn. For the strata after `uniform` the probability holds given that it was still there."""

    key: str
    stratum: Stratum
    probability: float


def question_id(question: str, run_id: str) -> str:
    """The same for questions that differ only in case, spacing and punctuation; per run when there is no question."""
    words = " ".join(re.findall(r"\w+", question.casefold()))
    return "q-" + hashlib.sha256((words or f"run {run_id}").encode()).hexdigest()[:12]


def split_of(question: str) -> Split:
    """Split of a question id: a tenth few-shot, four tenths dev, half test; never changes for a question."""
    place = int(hashlib.sha256(f"split {question}".encode()).hexdigest()[:8], 16) / 2**32
    return next(split for end, split in _SHARES if place < end)


def draw(candidates: Sequence[Candidate], size: int, *, seed: int) -> list[Drawn]:
    """Draw `size` candidates, in random order; all of them, uniformly, when there are no more than that."""
    rng = random.Random(seed)
    if size >= len(candidates):
        everything = [Drawn(key=c.key, stratum=Stratum.UNIFORM, probability=1.0) for c in candidates]
        return rng.sample(everything, len(everything))
    uniform = -(-size // 2)
    uncertain = (size - uniform + 1) // 2
    chosen = {c.key for c in rng.sample(list(candidates), uniform)}
    drawn = [
        Drawn(key=c.key, stratum=Stratum.UNIFORM, probability=uniform / len(candidates))
        for c in candidates if c.key in chosen
    ]
    frequency = Counter(c.verdict for c in candidates)
    rest = [c for c in candidates if c.key not in chosen]
    drawn += _weighted(rest, [c.uncertainty for c in rest], uncertain, Stratum.UNCERTAIN, rng)
    chosen = {d.key for d in drawn}
    rest = [c for c in rest if c.key not in chosen]
    drawn += _weighted(rest, [1 / frequency[c.verdict] for c in rest], size - len(drawn), Stratum.RARE, rng)
    return rng.sample(drawn, len(drawn))


def _weighted(
    candidates: Sequence[Candidate], weights: Sequence[float], size: int, stratum: Stratum, rng: random.Random,
) -> list[Drawn]:
    """`size` candidates with probability in proportion to weight: systematic sampling in random order."""
    order = rng.sample(range(len(candidates)), len(candidates))
    chances = inclusion([max(weights[i], 1e-6) for i in order], size)
    point, reached = rng.random(), 0.0
    drawn: list[Drawn] = []
    for place, chance in zip(order, chances, strict=True):
        reached += chance
        if reached > point and len(drawn) < size:
            drawn.append(Drawn(key=candidates[place].key, stratum=stratum, probability=min(chance, 1.0)))
            point += 1
    return drawn


def inclusion(weights: Sequence[float], size: int) -> list[float]:
    """Inclusion probabilities that sum to `size`, in proportion to weight, none above 1."""
    certain: set[int] = set()
    while True:
        left = size - len(certain)
        total = sum(w for i, w in enumerate(weights) if i not in certain)
        above = {i for i, w in enumerate(weights) if i not in certain and left * w >= total}
        if not above or left <= 0:
            break
        certain |= above
    return [1.0 if i in certain else max(left, 0) * w / total for i, w in enumerate(weights)]
