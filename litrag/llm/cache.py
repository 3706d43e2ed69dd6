"""Judgements kept on disk: the same claim, quote and passage are judged once by the same judge and version.

Only verdicts are kept. A failure is never stored, so that the next run asks again. What is read back carries no
tokens and no cost: this run didn't pay for it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from pathlib import Path

from litrag.errors import StoreError
from litrag.models import Judgement


class JudgementCache:
    """One SQLite file, shared by threads and processes; opened when first used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    @staticmethod
    def key(*parts: str | None) -> str:
        """Hash of everything that a judgement depends on, in order."""
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, key: str) -> Judgement | None:
        with self._lock:
            row = self._run("SELECT judgement FROM judgements WHERE key = ?", key).fetchone()
        if row is None:
            return None
        kept = Judgement.model_validate_json(row[0])
        return kept.model_copy(update={
            "seconds": 0.0, "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
            "cost_usd": None if kept.cost_usd is None else 0.0,
        })

    def put(self, key: str, judgement: Judgement) -> None:
        """Keep a verdict; anything unjudged is let go."""
        if judgement.verdict is None:
            return
        with self._lock:
            self._run("INSERT OR REPLACE INTO judgements VALUES (?, ?)", key, judgement.model_dump_json())

    def _run(self, statement: str, *values: str) -> sqlite3.Cursor:
        try:
            return self._open().execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(
                f"the judgement cache {self._path} can't be used ({error}); delete the file to start afresh"
            ) from error

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                self._path, timeout=30, check_same_thread=False, isolation_level=None,
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("CREATE TABLE IF NOT EXISTS judgements (key TEXT PRIMARY KEY, judgement TEXT)")
        return self._database

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None
