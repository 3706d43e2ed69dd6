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
MEANING = 0.75
FEEDBACK = 1.0
#: Records that speak along, and the difference in score that makes one of them e times quieter than another.
SPEAKERS = 10
_QUIETER = 0.05
_DEPTH = 200
#: How much deeper than asked the ranking is read, and how many passages of one record come before those of others.
DEEPER, PER_RECORD = 5, 3


class Ranked(NamedTuple):
    """A passage's place in the index with its scores, each 0–1, higher is better."""

    place: int
    score: float
    cosine: float
    lexical: float


def rank(
    vectors: np.ndarray, owners: np.ndarray, question: np.ndarray, lexical: np.ndarray, k: int, *,
    meaning: float = MEANING, feedback: float = FEEDBACK,
) -> list[Ranked]:
    """The best `k` passages.

    `vectors` are unit rows, one per passage; `owners` says which record each is of; `lexical` scores the records.
    """
    cosine = vectors @ question
    words = lexical[owners]
    score = meaning * cosine + (1 - meaning) * words
    front = _best(score, max(_DEPTH, k))
    cosine, words, score = cosine[front], words[front], score[front]
    if feedback:
        speech = _speech(vectors[front], owners[front], score)
        heard = (cosine + feedback * speech) / (1 + feedback)
        score = meaning * heard + (1 - meaning) * words
    order = np.lexsort((front, -score))[:k]
    columns = (np.clip(values[order], 0.0, 1.0).tolist() for values in (score, cosine, words))
    return [Ranked(*row) for row in zip(front[order].tolist(), *columns, strict=True)]


def _best(score: np.ndarray, depth: int) -> np.ndarray:
    """Places of the `depth` highest scores, best first, the earlier place first among equals."""
    places = np.arange(len(score)) if depth >= len(score) else np.argpartition(-score, depth - 1)[:depth]
    ordered: np.ndarray = places[np.lexsort((places, -score[places]))]
    return ordered


def _speech(vectors: np.ndarray, owners: np.ndarray, score: np.ndarray) -> np.ndarray:
    """How much each passage resembles the first records, by the best passage of each; rows are best first."""
    _, firsts = np.unique(owners, return_index=True)
    speakers = np.sort(firsts)[:SPEAKERS]
    loud = np.exp((score[speakers] - score[speakers[0]]) / _QUIETER)
    # Weighed by the score itself: where nothing fits the question, nobody speaks.
    loud *= np.clip(score[speakers], 0.0, 1.0) / loud.sum()
    resemblance: np.ndarray = vectors @ (loud @ vectors[speakers])
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
    chosen = (first + later)[:k]
    return sorted(chosen, key=lambda one: -one.score)
