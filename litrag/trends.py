"""Scores over time: stored answers go in, one row per day, kind and judge version comes out."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import date

from litrag.metrics import SHARES, Scores, scores_of
from litrag.models import AuditedAnswer, Model
from litrag.observability import AnswerFinished
from litrag.stored_events import StoredEvents


class TrendRow(Model):
    """All answers of a day that were judged by one version of a judge; `judge_version` is empty where none judged."""

    day: date
    kind: str
    judge_version: str
    scores: Scores


class Trends:
    """Rows that grow with the store; reading again counts only what is new."""

    def __init__(self, stored: StoredEvents) -> None:
        self._stored = stored
        self._lock = threading.Lock()
        self._rows: dict[tuple[date, str, str], Scores] = {}

    def rows(self) -> list[TrendRow]:
        """Oldest first."""
        with self._lock:
            fresh = [event.answer for event in self._stored.fresh() if isinstance(event, AnswerFinished)]
            for row in by_day(fresh):
                key = (row.day, row.kind, row.judge_version)
                self._rows[key] = self._rows.get(key, Scores()) + row.scores
            return [_row(*key, scores) for key, scores in sorted(self._rows.items())]


def by_day(answers: Iterable[AuditedAnswer]) -> list[TrendRow]:
    """Answers pooled by the day (UTC) of their making, their kind and the judge's version."""
    found: dict[tuple[date, str, str], Scores] = {}
    for answer in answers:
        key = (answer.created_at.date(), answer.kind, answer.judge_version)
        found[key] = found.get(key, Scores()) + scores_of(answer)
    return [_row(*key, scores) for key, scores in sorted(found.items())]


def _row(day: date, kind: str, judge_version: str, scores: Scores) -> TrendRow:
    return TrendRow(day=day, kind=kind, judge_version=judge_version, scores=scores)


def table(rows: Iterable[TrendRow]) -> list[dict[str, object]]:
    """Rows for a chart or a table: a share that is undefined is None, and its number of claims stands beside."""
    return [
        {
            "day": row.day.isoformat(), "kind": row.kind, "judge version": row.judge_version or "none asked",
            "answers": row.scores.answers, "abstained": row.scores.abstained, "claims": row.scores.claims,
            "unjudged": row.scores.unjudged, "conflicts": row.scores.conflicts,
            **{label: getattr(row.scores, name).value for name, label in SHARES.items()},
        }
        for row in rows
    ]
