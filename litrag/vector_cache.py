"""Vectors kept on disk by the hash of model and text, so that nothing is embedded twice.

A SQLite file that may be deleted at any time; several processes may use it at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

_AT_ONCE = 500


class VectorCache:
    """A map from 32-byte keys to float32 vectors."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        """The vectors of those keys that are known."""
        found: dict[bytes, np.ndarray] = {}
        if not self._file.exists():
            return found
        with self._open() as db:
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start:start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
                found.update((bytes(key), np.frombuffer(vector, dtype=np.float32)) for key, vector in rows)
        return found

    def put_many(self, vectors: Mapping[bytes, np.ndarray]) -> None:
        if not vectors:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        rows = [(key, np.asarray(vector, dtype=np.float32).tobytes()) for key, vector in vectors.items()]
        with self._open() as db:
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self._file, timeout=30)
        try:
            db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
            with db:
                yield db
        finally:
            db.close()
