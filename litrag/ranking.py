"""Joining the two searches: by meaning (cosine) and by words (BM25), and listening to what they found.

In: vectors, a question's vector and its lexical scores. Out: places of passages with their scores, best first.
Meaning belongs to the passage, words to the whole record. Both scores mean the same for every question, so they are
added, not their ranks: a near miss stays near. The records in front then speak along, each as loudly as it fits
(feedback after Rocchio, 1971): what resembles them moves up, which helps questions of one or two words most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: Chosen on the training questions of `benchmarks/retrieval.py`; its tables show the ranking without each of them.
MEANING = 0.8
FEEDBACK = 1.5
#: Records that speak along, and the difference in score that makes one of them e times quieter than another.
SPEAKERS = 10
_QUIETER = 0.05
#: Passages that are ranked in full; the others are passed over by their words and the signs of their vectors.
FRONT = 400
#: How much deeper than asked the ranking is read, and how many passages of one record come before those of others.
DEEPER, PER_RECORD = 5, 3


class Ranked(NamedTuple):
    """A passage's place in the index with its scores, each 0–1, higher is better."""

    place: int
    score: float
    cosine: float
    lexical: float


class Signs:
    """Vectors by the sign of each number: one bit where they take 32, enough to tell the near from the far.

    The share of signs in which two vectors differ estimates their angle (Charikar, 2002).
    """

    def __init__(self, vectors: np.ndarray) -> None:
        self._codes = np.ascontiguousarray(_signs(vectors).T)
        self._cosine = np.cos(np.pi * np.arange(vectors.shape[1] + 1) / vectors.shape[1]).astype(np.float32)

    def cosines(self, question: np.ndarray) -> np.ndarray:
        """About the cosine of each vector with `question`; a standard error of 0.08 for 384 numbers."""
        differing = np.bitwise_count(self._codes ^ _signs(question[None]).T).sum(axis=0, dtype=np.uint16)
        cosines: np.ndarray = self._cosine[differing]
        return cosines


def _signs(vectors: np.ndarray) -> np.ndarray:
    """Rows of 64-bit words; the last is filled up with bits that never differ."""
    packed = np.packbits(vectors > 0, axis=1)
    if missing := -packed.shape[1] % 8:
        packed = np.pad(packed, ((0, 0), (0, missing)))
    return packed.view(np.uint64)


def rank(
    vectors: np.ndarray, owners: np.ndarray, question: np.ndarray, lexical: np.ndarray, k: int, *,
    signs: Signs | None = None, meaning: float = MEANING, feedback: float = FEEDBACK,
) -> list[Ranked]:
    """The best `k` passages.

    `vectors` are unit rows, one per passage; `owners` says which record each is of; `lexical` scores the records.
    With `signs` of the same rows only those that these let through are compared number by number.
    """
    front = _front(vectors, owners, question, lexical, max(FRONT, k), signs, meaning)
    near, owner = vectors.take(front, axis=0), owners[front]
    cosine, words = near @ question, lexical[owner]
    score = meaning * cosine + (1 - meaning) * words
    if feedback:
        heard = (cosine + feedback * _speech(near, owner, score)) / (1 + feedback)
        score = meaning * heard + (1 - meaning) * words
    # The front is in the order of the index, which decides among equals.
    order = np.argsort(-score, kind="stable")[:k]
    scores = np.array([score, cosine, words])[:, order].clip(0.0, 1.0).tolist()
    return list(map(Ranked, front[order].tolist(), *scores))


def _front(
    vectors: np.ndarray, owners: np.ndarray, question: np.ndarray, lexical: np.ndarray, depth: int,
    signs: Signs | None, meaning: float,
) -> np.ndarray:
    """Places of about the `depth` best passages before anyone speaks, in the order of the index."""
    if depth >= len(vectors):
        return np.arange(len(vectors))
    cosine = vectors @ question if signs is None else signs.cosines(question)
    score = meaning * cosine + (1 - meaning) * lexical[owners]
    places = np.argpartition(score, len(score) - depth)[-depth:]
    places.sort()
    return places


def _speech(vectors: np.ndarray, owners: np.ndarray, score: np.ndarray) -> np.ndarray:
    """How much each passage resembles the first records, by the best passage of each."""
    first: dict[int, int] = {}
    for row in np.argsort(-score, kind="stable"):
        first.setdefault(int(owners[row]), int(row))
        if len(first) == SPEAKERS:
            break
    speakers = list(first.values())
    fit = score[speakers]
    loud = np.exp((fit - fit[0]) / _QUIETER)
    # Weighed by the score itself: where nothing fits the question, nobody speaks.
    loud *= fit.clip(0.0, 1.0) / loud.sum()
    resemblance: np.ndarray = vectors @ (loud @ vectors[speakers]).astype(vectors.dtype)
    return resemblance


def several_records(ranked: Sequence[Ranked], owners: np.ndarray, k: int) -> list[Ranked]:
    """The first `k`, passages of a record beyond its first PER_RECORD only where too few others are left.

    A question is answered from studies, not from one abstract cut in five; a dispute shows only if both sides are read.
    """
    seen: Counter[int] = Counter()
    first: list[Ranked] = []
    later: list[Ranked] = []
    for one in ranked:
        owner = int(owners[one.place])
        seen[owner] += 1
        (first if seen[owner] <= PER_RECORD else later).append(one)
        if len(first) == k:
            return first
    chosen = (first + later)[:k]
    return sorted(chosen, key=lambda one: -one.score)
