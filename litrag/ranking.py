"""Joining the two searches: by meaning (cosine) and by words (BM25).

In: vectors, a question's vector and its lexical scores. Out: places of passages with their scores, best first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

DENSE_WEIGHT = 0.5
_DEPTH = 200


@dataclass(frozen=True)
class Candidates:
    """The passages that either search put in front, with both scores of each."""

    places: np.ndarray
    cosine: np.ndarray
    lexical: np.ndarray

    @classmethod
    def gather(cls, vectors: Any, question: np.ndarray, lexical: np.ndarray) -> Candidates:
        depth = min(_DEPTH, vectors.ntotal)
        _, nearest = vectors.search(question, depth)
        by_words = np.argpartition(-lexical, depth - 1)[:depth]
        places = np.union1d(nearest[0], by_words[lexical[by_words] > 0])
        places = places[places >= 0]
        cosine = np.array([vectors.reconstruct(int(place)) for place in places]) @ question[0]
        return cls(places, cosine, lexical[places])


def fuse(found: Candidates) -> list[tuple[int, float, float, float]]:
    """(place, score, cosine, lexical) by falling score."""
    cosine = np.clip(found.cosine, 0.0, 1.0)
    lexical = np.clip(found.lexical, 0.0, 1.0)
    score = DENSE_WEIGHT * found.cosine + (1 - DENSE_WEIGHT) * found.lexical
    order = np.lexsort((found.places, -score))
    return [(int(found.places[i]), float(np.clip(score[i], 0.0, 1.0)), float(cosine[i]), float(lexical[i]))
            for i in order]
