"""The tables of the store as SQLAlchemy sees them; the DDL that made them stands in `migrations.py`.

Runs, items, judgements, events and adjudications are only ever added to: triggers refuse UPDATE and DELETE.
`assignments` holds the seats of an item (one row per reviewer it may have), and `labels` what the events of one
reviewer on one item add up to; it can be rebuilt from `events` at any time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from sqlalchemy import Boolean, Column, Dialect, Float, Integer, MetaData, Table, Text
from sqlalchemy.types import TypeDecorator

_ESCAPE = "\x1a"
_ESCAPED = re.compile(_ESCAPE + "([0s])")


class AnyText(TypeDecorator[str]):
    """Text or an enum of text. It may hold NUL, which PostgreSQL can't store: NUL is kept as SUB + "0"."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or ("\x00" not in value and _ESCAPE not in value):
            return None if value is None else str(value)
        return value.replace(_ESCAPE, _ESCAPE + "s").replace("\x00", _ESCAPE + "0")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or _ESCAPE not in value:
            return value
        return _ESCAPED.sub(lambda found: "\x00" if found[1] == "0" else _ESCAPE, value)


def now() -> str:
    """The time as stored: ISO-8601, UTC, microseconds, so that text order is time order."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


metadata = MetaData()

runs = Table(
    "runs", metadata,
    Column("run_id", AnyText, primary_key=True),
    Column("kind", AnyText), Column("question_id", AnyText), Column("question", AnyText),
    Column("created_at", AnyText), Column("stored_at", AnyText),
    Column("abstained", Boolean), Column("claims", Integer), Column("flagged", Integer),
    Column("corpus", AnyText), Column("corpus_hash", AnyText), Column("settings", AnyText),
    Column("answer", AnyText), Column("digest", AnyText),
)

items = Table(
    "items", metadata,
    Column("seq", Integer, primary_key=True), Column("item_id", AnyText),
    Column("run_id", AnyText), Column("question_id", AnyText), Column("question", AnyText),
    Column("claim_id", AnyText), Column("claim_index", Integer), Column("claim_text", AnyText),
    Column("citation_n", Integer), Column("record_id", AnyText), Column("pmid", AnyText),
    Column("passage_id", AnyText), Column("passage_text", AnyText),
    Column("quote_text", AnyText), Column("quote_match", AnyText), Column("quote_spans", AnyText),
    Column("study", AnyText), Column("needed", Integer),
    Column("quote_given", Boolean),
    Column("sampling_stratum", AnyText), Column("sampling_prob", Float), Column("split", AnyText),
    Column("created_at", AnyText),
)

judgements = Table(
    "judgements", metadata,
    Column("judgement_id", Integer, primary_key=True), Column("item_id", AnyText),
    Column("verdict", AnyText), Column("confidence", Float), Column("rationale", AnyText),
    Column("judge", AnyText), Column("model", AnyText), Column("version", AnyText),
    Column("unjudged_reason", AnyText), Column("body", AnyText), Column("created_at", AnyText),
)

reviewers = Table(
    "reviewers", metadata,
    Column("reviewer_id", AnyText, primary_key=True), Column("login", AnyText),
    Column("role", AnyText), Column("active", Boolean), Column("created_at", AnyText),
)

assignments = Table(
    "assignments", metadata,
    Column("item_id", AnyText, primary_key=True), Column("slot", Integer, primary_key=True),
    Column("seq", Integer), Column("reviewer_id", AnyText),
    Column("leased_by", AnyText), Column("leased_until", AnyText),
)

events = Table(
    "events", metadata,
    Column("event_id", Integer, primary_key=True), Column("item_id", AnyText), Column("reviewer_id", AnyText),
    Column("revision", Integer), Column("kind", AnyText), Column("slot", Integer),
    Column("verdict", AnyText), Column("confidence", AnyText), Column("reason_code", AnyText),
    Column("comment", AnyText),
    Column("blind", Boolean), Column("judgement_id", Integer), Column("undoes", Integer),
    Column("seconds", Float), Column("role", AnyText), Column("origin", AnyText), Column("actor", AnyText),
    Column("created_at", AnyText), Column("key", AnyText),
)

adjudications = Table(
    "adjudications", metadata,
    Column("adjudication_id", Integer, primary_key=True), Column("item_id", AnyText),
    Column("adjudicator_id", AnyText), Column("verdict", AnyText), Column("comment", AnyText),
    Column("created_at", AnyText), Column("key", AnyText),
)

labels = Table(
    "labels", metadata,
    Column("item_id", AnyText, primary_key=True), Column("reviewer_id", AnyText, primary_key=True),
    Column("seq", Integer), Column("revision", Integer), Column("status", AnyText),
    Column("verdict", AnyText), Column("blind_verdict", AnyText), Column("confidence", AnyText),
    Column("reason_code", AnyText), Column("comment", AnyText), Column("flagged", Boolean),
    Column("revealed", Boolean), Column("role", AnyText), Column("seconds", Float), Column("reviewed_at", AnyText),
)
