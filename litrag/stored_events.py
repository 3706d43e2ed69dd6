"""What the store holds, as the events that the runs told when they ended: for metrics of every process that shares it.

Each call of `fresh` gives what came since the last one, each run and label once.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select

from litrag.models import AuditedAnswer
from litrag.observability import AnswerFinished, Event, LabelGiven
from litrag.reviews import Store
from litrag.tables import assignments, events, items, judgements, runs


class StoredEvents:
    """A place in the store from which reading goes on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stored_at = ""
        self._seen: set[str] = set()
        self._event_id = 0

    def fresh(self) -> list[Event]:
        """Runs and labels since the last call, oldest first."""
        return [*self._runs(), *self._labels()]

    def _runs(self) -> list[Event]:
        # Two runs may be stored in the same microsecond, so the last moment is read again and known ids are left out.
        query = select(runs.c.run_id, runs.c.stored_at, runs.c.answer).where(runs.c.stored_at >= self._stored_at)
        with self._store.reading() as connection:
            rows = [row for row in connection.execute(query.order_by(runs.c.stored_at)) if row.run_id not in self._seen]
        found: list[Event] = []
        for row in rows:
            if row.stored_at != self._stored_at:
                self._seen.clear()
                self._stored_at = row.stored_at
            self._seen.add(row.run_id)
            answer = AuditedAnswer.from_json(row.answer)
            found.append(AnswerFinished(answer, sum(answer.seconds.values()), answer.created_at.timestamp()))
        return found

    def _labels(self) -> list[Event]:
        columns = (
            events.c.event_id, events.c.item_id, events.c.verdict, events.c.created_at, items.c.run_id, items.c.claim_id,
            items.c.created_at.label("queued_at"), judgements.c.verdict.label("judged"),
        )
        joined = events.join(items, items.c.item_id == events.c.item_id).outerjoin(
            judgements, judgements.c.judgement_id == events.c.judgement_id)
        query = select(*columns).select_from(joined).where(
            events.c.event_id > self._event_id, events.c.kind.in_(("label", "revise")), events.c.verdict.is_not(None),
        ).order_by(events.c.event_id)
        with self._store.reading() as connection:
            rows = connection.execute(query).all()
        self._event_id = max([self._event_id, *(row.event_id for row in rows)])
        return [
            LabelGiven(
                row.run_id, row.item_id, row.claim_id, row.verdict, row.judged or "",
                (datetime.fromisoformat(row.created_at) - datetime.fromisoformat(row.queued_at)).total_seconds(),
                datetime.fromisoformat(row.created_at).timestamp(),
            )
            for row in rows
        ]

    def queue_length(self) -> int:
        """Seats at citations that no reviewer has taken by a label."""
        query = select(func.count()).select_from(assignments).where(assignments.c.reviewer_id.is_(None))
        with self._store.reading() as connection:
            return int(connection.execute(query).scalar_one())
