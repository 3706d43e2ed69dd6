"""Joining the two searches: by meaning (cosine) and by words (BM25).

In: vectors, a question's vector and its lexical scores. Out: places of passages with their scores, best first.
Both scores mean the same for every question, so they are added, not their ranks: a near miss stays near.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: Chosen on the training questions of `benchmarks/retrieval.py`, where 0.6 to 0.75 are equally good.
MEANING = 0.65
_DEPTH = 200


class Ranked(NamedTuple):
    """A passage's place in the index with its scores, each 0–1, higher is better."""

    place: int
    score: float
    cosine: float
    lexical: float


def rank(vectors: Any, question: np.ndarray, lexical: np.ndarray, k: int) -> list[Ranked]:
    """The best `k` of the passages that either search puts in front."""
    depth = min(max(_DEPTH, k), vectors.ntotal)
    _, nearest = vectors.search(question[None, :], depth)
    by_words = np.argpartition(lexical, -depth)[-depth:]
    places = np.unique(np.concatenate([nearest[0], by_words[lexical[by_words] > 0]]))
    places = places[places >= 0]
    cosine = vectors.reconstruct_batch(places) @ question
    score = MEANING * cosine + (1 - MEANING) * lexical[places]
    order = np.lexsort((places, -score))[:k]
    columns = (np.clip(values[order], 0.0, 1.0).tolist() for values in (score, cosine, lexical[places]))
    return [Ranked(*row) for row in zip(places[order].tolist(), *columns, strict=True)]
