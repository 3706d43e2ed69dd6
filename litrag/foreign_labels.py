"""Labelled tables from elsewhere: a mapping of their columns makes them runs, items and labels of this store.

The mapping names, for our fields, the columns of the table. Each distinct claim and passage becomes one item; each
row becomes one reviewer's label. Reading the same table again adds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from .errors import InputError
from .label_import import Change, Outcome, Problem, TableRow
from .labels import Kind
from .models import (
    PMID_PATTERN,
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Judgement,
    Location,
    MatchKind,
    Model,
    Record,
    Source,
    Verdict,
)
from .reviews import Action, Store, check_comment, item_id_of

#: Our fields that a mapping may name; the first three it must.
FIELDS = ("claim_text", "passage_text", "human_verdict", "question", "quote_text", "pmid", "reviewer_id", "comment")
NEEDED = FIELDS[:3]


class Mapped(Model):
    """How a foreign table is read: field → column, their label → ours, and what holds for all rows."""

    columns: dict[str, str]
    values: dict[str, Verdict] = Field(default_factory=dict)
    reviewer_id: str = "imported"
    blind: bool = False


class _Row(NamedTuple):
    line: int
    question: str
    claim: str
    passage: str
    quote: str
    pmid: str | None
    reviewer_id: str
    verdict: Verdict
    comment: str


def import_foreign(store: Store, rows: Sequence[TableRow], mapped: Mapped, *, dry_run: bool = False) -> Outcome:
    """Take in a foreign table, all rows or none. `mapped.blind` is your word that no verdict was shown."""
    read, problems = _read_all(rows, mapped)
    changes = tuple(
        Change(line=r.line, item_id=r.claim[:80], reviewer_id=r.reviewer_id, before="no label", after=r.verdict)
        for r in read
    )
    outcome = Outcome(changes=changes, problems=tuple(problems))
    if problems or dry_run:
        return outcome
    return _save(store, read, mapped, outcome)


def _read_all(rows: Sequence[TableRow], mapped: Mapped) -> tuple[list[_Row], list[Problem]]:
    _check_mapping(rows, mapped)
    read, problems = [], []
    seen: dict[tuple[str, ...], int] = {}
    for row in rows:
        found = _read(row, mapped)
        if isinstance(found, _Row):
            key = (found.question, found.claim, found.passage, found.reviewer_id)
            if key in seen:
                found = _problem(row, mapped, "claim_text", f"the same claim, text and reviewer as line {seen[key]}")
            seen[key] = row.line
        if isinstance(found, _Row):
            read.append(found)
        else:
            problems.append(found)
    return read, problems


def _check_mapping(rows: Sequence[TableRow], mapped: Mapped) -> None:
    missing = [field for field in NEEDED if field not in mapped.columns]
    unknown = sorted(set(mapped.columns) - set(FIELDS))
    if missing or unknown:
        wrong = f"{unknown[0]!r} is no field" if unknown else f"{missing[0]!r} is mapped to no column"
        raise InputError(f"{wrong}: map {', '.join(FIELDS)}")
    absent = [column for column in mapped.columns.values() if not rows or column not in rows[0].cells]
    if absent:
        raise InputError(f"the table has no column {absent[0]!r}")


def _read(row: TableRow, mapped: Mapped) -> _Row | Problem:
    cells = {field: row.cells.get(column, "") for field, column in mapped.columns.items()}
    empty = [field for field in NEEDED if not cells[field].strip()]
    if empty:
        return _problem(row, mapped, empty[0], "is empty")
    label = cells["human_verdict"].strip()
    verdict = mapped.values.get(label) or _verdict(label)
    if verdict is None:
        return _problem(row, mapped, "human_verdict", f"{label!r} is none of {', '.join(Verdict)}: give its meaning")
    pmid = cells.get("pmid", "").strip().removesuffix(".0") or None
    if pmid and not PMID_PATTERN.fullmatch(pmid):
        return _problem(row, mapped, "pmid", f"PMID must be 1–8 digits without a leading zero, got {pmid!r}")
    try:
        check_comment(cells.get("comment"))
    except InputError as error:
        return _problem(row, mapped, "comment", str(error))
    reviewer = cells.get("reviewer_id", "").strip() or mapped.reviewer_id
    return _Row(
        row.line, cells.get("question", ""), cells["claim_text"], cells["passage_text"], cells.get("quote_text", ""),
        pmid, reviewer, verdict, cells.get("comment", ""),
    )


def _verdict(label: str) -> Verdict | None:
    word = "_".join(label.casefold().split())
    return Verdict(word) if word in list(Verdict) else None


def _problem(row: TableRow, mapped: Mapped, field: str, message: str) -> Problem:
    return Problem(line=row.line, column=mapped.columns.get(field, field), message=message)


# --- saving
def _save(store: Store, rows: Sequence[_Row], mapped: Mapped, outcome: Outcome) -> Outcome:
    reviewers = list(dict.fromkeys(row.reviewer_id for row in rows))
    for name in reviewers:
        store.add_reviewer(name)
    item_ids: dict[tuple[str, str, str], str] = {}
    for question in dict.fromkeys(row.question for row in rows):
        item_ids |= _queue(store, question, [r for r in rows if r.question == question], len(reviewers))
    with store.writing() as connection:
        for row in rows:
            item_id = item_ids[row.question, row.claim, row.passage]
            action = Action(
                kind=Kind.LABEL, verdict=row.verdict, comment=row.comment or None, blind=mapped.blind,
                origin="foreign", actor="operator", key=f"foreign:{item_id}:{row.reviewer_id}",
            )
            store.act_within(connection, item_id, row.reviewer_id, action)
    return outcome.model_copy(update={"saved": True})


def _queue(
    store: Store, question: str, rows: Sequence[_Row], reviewers: int,
) -> dict[tuple[str, str, str], str]:
    """Store the rows of one question as a run and queue its claims; says which item each row is about."""
    answer = _as_answer(question, rows)
    if store.run(answer.run_id) is None:
        store.save_run(answer)
    store.send_to_review(answer.run_id, needed=reviewers)
    pairs = dict.fromkeys((row.claim, row.passage) for row in rows)
    return {
        (question, claim, passage): item_id_of(answer.run_id, f"c{place + 1}", 0)
        for place, (claim, passage) in enumerate(pairs)
    }


def _as_answer(question: str, rows: Sequence[_Row]) -> AuditedAnswer:
    pairs = {(row.claim, row.passage): row for row in rows}
    passages: dict[str, tuple[int, str | None]] = {}
    for row in rows:
        passages.setdefault(row.passage, (len(passages) + 1, row.pmid))
    content = "\x00".join([question, *(text for pair in pairs for text in pair)])
    return AuditedAnswer(
        run_id="foreign-" + hashlib.sha256(content.encode()).hexdigest()[:16], kind="verify", question=question,
        claims=tuple(
            AuditedClaim(claim_id=f"c{i + 1}", text=row.claim, citations=(_citation(row, passages[row.passage][0]),))
            for i, row in enumerate(pairs.values())
        ),
        sources=tuple(
            Source(n=n, record=Record(record_id=f"row-{n}", pmid=pmid, title="", text=text))
            for text, (n, pmid) in passages.items()
        ),
        notes=("imported from a labelled table",),
    )


def _citation(row: _Row, n: int) -> CheckedCitation:
    start = row.passage.find(row.quote) if row.quote else -1
    location = Location(match=MatchKind.ABSENT) if start < 0 else Location(
        match=MatchKind.EXACT, spans=((start, start + len(row.quote)),), score=100.0, occurrences=1,
    )
    return CheckedCitation(
        n=n, record_id=f"row-{n}", pmid=row.pmid, quote=row.quote, quote_given=bool(row.quote),
        location=location, judgement=Judgement.unjudged("imported without a judgement"),
    )


def parse_mapping(texts: Sequence[str]) -> dict[str, str]:
    """`field=column` arguments as a dictionary."""
    pairs = [text.partition("=") for text in texts]
    wrong = [text for text, (name, sign, value) in zip(texts, pairs, strict=True) if not (name and sign and value)]
    if wrong:
        raise InputError(f"{wrong[0]!r} isn't of the form name=value")
    return {name: value for name, _, value in pairs}


def parse_values(texts: Sequence[str]) -> Mapping[str, Verdict]:
    """`their label=our verdict` arguments as a dictionary."""
    found = {}
    for theirs, ours in parse_mapping(texts).items():
        verdict = _verdict(ours)
        if verdict is None:
            raise InputError(f"{ours!r} is none of {', '.join(Verdict)}")
        found[theirs] = verdict
    return found
