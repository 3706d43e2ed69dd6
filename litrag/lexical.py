"""Words of records, stemmed and indexed by BM25.

In: texts, then questions. Out: a score for every text, higher is better, 0 when no word is shared. A text of usual
length that has every word of the question once scores about 1, so scores of different questions are comparable.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

K1 = 1.2
B = 0.75

STOPWORDS = frozenset(re.findall(r"\w+", """
    a about after all also an and any are as at be been being between both but by can could did do does
    doing during each for from further had has have having he her here him his how if in into is it its
    itself more most of on or other our out over own she should so some such than that the their them then
    there these they this those through to too under until up very was we were what when where which while
    who whom why will with would you your i me my us may might
"""))

_WORD = re.compile(r"[^\W_]+(?:[.,·]\d+)*")
_stemmer = Stemmer.Stemmer("english")


def words(text: str) -> list[str]:
    """The stemmed words of `text` without stop words; accents and case are folded, figures stay whole."""
    plain = text.lower()
    if not plain.isascii():
        plain = "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))
    return [_stem(word) for word in _WORD.findall(plain) if word not in STOPWORDS]


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word))


class LexicalIndex:
    """BM25 over a list of texts, which are known by their place in it."""

    def __init__(self, bm25: bm25s.BM25, idf: np.ndarray) -> None:
        self._bm25 = bm25
        self._idf = idf

    @classmethod
    def build(cls, texts: Sequence[str]) -> LexicalIndex:
        bm25 = bm25s.BM25(k1=K1, b=B, method="lucene")
        bm25.index([words(text) for text in texts], show_progress=False)
        return cls(bm25, _idf(bm25))

    @classmethod
    def load(cls, folder: Path) -> LexicalIndex:
        bm25 = bm25s.BM25.load(folder, show_progress=False)
        return cls(bm25, _idf(bm25))

    def save(self, folder: Path) -> None:
        self._bm25.save(folder, show_progress=False)

    def __len__(self) -> int:
        return int(self._bm25.scores["num_docs"])

    def scores(self, question: str) -> np.ndarray:
        """A score for every text; words of the question that no text has count against all of them."""
        asked = list(dict.fromkeys(words(question)))
        ids = self._bm25.get_tokens_ids(asked)
        if not ids:
            return np.zeros(len(self), dtype=np.float32)
        unknown = (len(asked) - len(ids)) * math.log(1 + (len(self) + 0.5) / 0.5)
        usual = (self._idf[ids].sum() + unknown) / (1 + K1)
        data, holders, starts = (self._bm25.scores[name] for name in ("data", "indices", "indptr"))
        spans = [slice(*span) for span in zip(starts[ids].tolist(), starts[np.add(ids, 1)].tolist(), strict=True)]
        # Quicker than bm25s' own sum, which makes an array of all texts for every word.
        found, gains = (np.concatenate([column[span] for span in spans]) for column in (holders, data))
        scores: np.ndarray = (np.bincount(found, gains, len(self)) / usual).astype(np.float32)
        return scores


def _idf(bm25: bm25s.BM25) -> np.ndarray:
    """Weight of each word by its rarity, as BM25 (Lucene) defines it."""
    holders = np.diff(bm25.scores["indptr"]).astype(np.float32)
    idf: np.ndarray = np.log(1 + (bm25.scores["num_docs"] - holders + 0.5) / (holders + 0.5))
    return idf
