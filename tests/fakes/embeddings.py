"""An embedding model in a few lines: a text's vector counts its words, so shared words mean similarity."""

import zlib
from collections.abc import Sequence

import numpy as np

from litrag.embeddings import Counter, PassageEmbeddings


class WordEmbeddings(PassageEmbeddings):
    def __init__(self, *, model_id: str = "words:1", dimension: int = 512, max_tokens: int = 64) -> None:
        self._model_id, self._dimension, self._max_tokens = model_id, dimension, max_tokens
        self.embedded: list[str] = []

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str], counter: Counter | None = None) -> np.ndarray:
        self.embedded.extend(texts)
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").split():
                row[zlib.crc32(word.encode()) % self._dimension] += 1
            row /= max(float(np.linalg.norm(row)), 1e-9)
        if counter:
            counter(len(texts), len(texts))
        return rows

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.embed([text])[0].tolist()
