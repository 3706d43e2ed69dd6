"""Labels that come back: an exported CSV edited in a spreadsheet, or somebody else's labelled table.

A file goes in, an `Outcome` comes out: what changes, what was left alone, and each problem by line and column.
Nothing is written unless every row can be; a preview does the same work and takes it back. Frozen columns are never
taken from a file: where one that identifies the item differs, the row is refused, elsewhere it is noted.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.etree.ElementTree import ParseError

from openpyxl import load_workbook
from sqlalchemy import Connection, select

from .cells import restore
from .errors import InputError, StoreError
from .exchange import CSV_VERSION
from .labels import Confidence, Kind, Label, Reason
from .models import Model, Verdict
from .reviews import Action, Store
from .tables import items, reviewers

#: Columns without which a file is not a LitRAG export.
REQUIRED = ("item_id", "reviewer_id", "human_verdict")

#: Columns that say which item a row is about; a different value means that the spreadsheet changed the row.
IDENTITY = ("run_id", "question_id", "claim_index", "citation_n", "pmid")

#: Frozen columns of text; a different value is noted and left alone.
FROZEN = ("question", "claim_text", "passage_text", "quote_text")

_LONGEST_CELL = 2**24

_Word = TypeVar("_Word", Verdict, Confidence, Reason)


class TableRow(NamedTuple):
    """One row of a file: the line on which it begins, and its cells by column name."""

    line: int
    cells: dict[str, str]


class Problem(Model):
    """Why a row can't be imported."""

    line: int
    column: str
    message: str

    def in_words(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


class Change(Model):
    """What a row does to a label."""

    line: int
    item_id: str
    reviewer_id: str
    before: str
    after: str


class Outcome(Model):
    """What an import does, or would do."""

    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    saved: bool = False


class _TakeBackError(Exception):
    """Ends a transaction without keeping it."""


# --- reading tables
def read_table(data: bytes, name: str) -> list[TableRow]:
    """The rows of a CSV or XLSX file, cells as they were before export."""
    if Path(name).suffix.casefold() == ".xlsx":
        return _named_rows(_xlsx_lines(data, name), name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} isn't UTF-8 (byte {error.start}): save it as “CSV UTF-8”") from None
    return _named_rows(_csv_lines(text), name)


def _csv_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    begins = 1
    for cells in reader:
        yield begins, cells
        begins = reader.line_num + 1


def _xlsx_lines(data: bytes, name: str) -> Iterator[tuple[int, list[str]]]:
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except (zipfile.BadZipFile, ParseError, KeyError, ValueError) as error:
        raise InputError(f"{name} isn't a readable XLSX file: {error}") from error
    for number, cells in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1):
        yield number, ["" if value is None else str(value) for value in cells]


def _named_rows(lines: Iterator[tuple[int, list[str]]], name: str) -> list[TableRow]:
    _, header = next(lines, (1, []))
    names = [cell.strip() for cell in header]
    repeated = [column for column, times in Counter(filter(None, names)).items() if times > 1]
    if repeated:
        raise InputError(f"{name} has the column {repeated[0]!r} twice: rename one")
    rows = []
    for line, cells in lines:
        if len(cells) > len(names) and any(cells[len(names):]):
            raise InputError(f"{name}, line {line}: {len(cells)} cells under {len(names)} column names")
        if any(cells):
            rows.append(TableRow(line, {n: restore(c) for n, c in zip(names, cells, strict=False) if n}))
    return rows


# --- importing an edited export
def import_labels(
    store: Store, rows: Sequence[TableRow], *, adjudicator: str | None = None, dry_run: bool = False,
) -> Outcome:
    """Bring edited labels back in, all or none; with `dry_run` only say what would change.

    `adjudicator` must hold that role; None is the operator of the machine.
    """
    missing = [name for name in REQUIRED if not rows or name not in rows[0].cells]
    if missing:
        raise InputError(f"column {missing[0]!r} is missing: export with LitRAG first, or map the columns")
    outcome = Outcome()
    try:
        with store.writing() as connection:
            _check_adjudicator(connection, adjudicator)
            outcome = _import_rows(store, connection, rows, adjudicator or "operator")
            if dry_run or outcome.problems:
                raise _TakeBackError
    except _TakeBackError:
        return outcome
    return outcome.model_copy(update={"saved": True})


def _check_adjudicator(connection: Connection, adjudicator: str | None) -> None:
    query = select(reviewers.c.role).where(reviewers.c.reviewer_id == adjudicator, reviewers.c.active)
    if adjudicator is not None and connection.execute(query).scalar() != "adjudicator":
        raise StoreError(f"{adjudicator!r} may not import labels: ask an adjudicator")


def _import_rows(store: Store, connection: Connection, rows: Sequence[TableRow], actor: str) -> Outcome:
    changes, problems, unchanged = [], [], 0
    notes: Counter[str] = Counter()
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        try:
            _check_repeated(row, seen)
            item = _item_of(connection, row)
            notes.update(_altered_texts(row, item))
            change = _import_row(store, connection, row, actor)
        except _RowError as error:
            problems.append(Problem(line=row.line, column=error.column, message=str(error)))
            continue
        if change is None:
            unchanged += 1
        else:
            changes.append(change)
    words = [f"{column} was changed in {count} rows and is left alone" for column, count in sorted(notes.items())]
    return Outcome(
        changes=tuple(changes), unchanged=unchanged, problems=tuple(problems), notes=tuple(words),
    )


class _RowError(Exception):
    """A row that can't be imported, and the column at fault."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


def _check_repeated(row: TableRow, seen: dict[tuple[str, str], int]) -> None:
    key = (row.cells["item_id"], row.cells["reviewer_id"])
    if key in seen:
        raise _RowError("item_id", f"the same item and reviewer stand on line {seen[key]}")
    seen[key] = row.line


def _item_of(connection: Connection, row: TableRow) -> Mapping[str, Any]:
    """The stored item of a row, if the row still says the same about it."""
    item_id = row.cells["item_id"].strip()
    found = connection.execute(select(items).where(items.c.item_id == item_id)).mappings().first()
    if found is None:
        raise _RowError("item_id", f"{item_id!r} isn't in this store")
    version = row.cells.get("schema_version", "")
    if version and not _same(version, CSV_VERSION):
        raise _RowError("schema_version", f"{version!r} is not {CSV_VERSION}: export again with this LitRAG")
    for name in IDENTITY:
        if name in row.cells and not _same(row.cells[name], found[name]):
            raise _RowError(
                name, f"{row.cells[name]!r} is {found[name]!r} in the store: a spreadsheet may have changed it;"
                " restore the cell, or import the column as text",
            )
    return dict(found)


def _same(cell: str, stored: object) -> bool:
    """Equal as text, or the same plain number however it is written: `7`, `7.0`."""
    text = "" if stored is None else str(stored)
    return cell.strip() == text.strip() or (_number(cell) is not None and _number(cell) == _number(text))


def _number(text: str) -> float | None:
    """A number, unless its zeros say that it is a name: 7 and 7.0 are, 007 is not."""
    bare = text.strip()
    if bare[:1] == "0" and bare[1:2].isdigit():
        return None
    try:
        return float(bare)
    except ValueError:
        return None


def _altered_texts(row: TableRow, item: Mapping[str, Any]) -> list[str]:
    return [name for name in FROZEN if name in row.cells and not _same(row.cells[name], item[name])]


class _Given(NamedTuple):
    """What a row says about a label."""

    verdict: Verdict | None
    confidence: Confidence | None
    reason: Reason | None
    comment: str


def _import_row(store: Store, connection: Connection, row: TableRow, actor: str) -> Change | None:
    """Do what a row says; None when it says nothing new."""
    given = _given(row)
    reviewer_id = row.cells["reviewer_id"].strip()
    item_id = row.cells["item_id"].strip()
    if not reviewer_id:
        if given.verdict is not None:
            raise _RowError("reviewer_id", "is empty beside a label: name the reviewer who gave it")
        return None
    label = store.label_within(connection, item_id, reviewer_id)
    _check_untouchable(row, label, store, connection)
    if _says(given, label):
        return None
    if label.verdict is not None and given.verdict is None:
        raise _RowError("human_verdict", f"is empty, but {reviewer_id} labelled {label.verdict}: withdraw it by undo")
    if given.verdict is None:
        raise _RowError("human_verdict", "is empty beside a comment, reason or confidence: give the label as well")
    if not _same(row.cells.get("revision", str(label.revision)), label.revision):
        raise _RowError("revision", f"the label was changed since the export ({label.revision} now): export again")
    action = Action(
        kind=Kind.IMPORT, verdict=given.verdict, confidence=given.confidence, reason_code=given.reason,
        comment=given.comment, origin="import", actor=actor,
    )
    try:
        after = store.act_within(connection, item_id, reviewer_id, action)
    except (StoreError, InputError) as error:
        raise _RowError("comment" if isinstance(error, InputError) else "reviewer_id", str(error)) from error
    return Change(
        line=row.line, item_id=item_id, reviewer_id=reviewer_id, before=_in_words(label), after=_in_words(after),
    )


def _given(row: TableRow) -> _Given:
    return _Given(
        _one_of(row, "human_verdict", Verdict), _one_of(row, "human_confidence", Confidence),
        _one_of(row, "reason_code", Reason), row.cells.get("comment", ""),
    )


def _one_of(row: TableRow, column: str, words: type[_Word]) -> _Word | None:
    cell = "_".join(row.cells.get(column, "").casefold().split())
    if not cell:
        return None
    if cell not in list(words):
        raise _RowError(column, f"{row.cells[column]!r} is none of {', '.join(words)}")
    return words(cell)


def _check_untouchable(row: TableRow, label: Label, store: Store, connection: Connection) -> None:
    """A blind label is history and a gold one is an adjudicator's: neither comes from a file."""
    blind = row.cells.get("human_verdict_blind")
    if blind is not None and not _same(blind.casefold(), label.blind_verdict):
        stored = label.blind_verdict or "empty"
        raise _RowError("human_verdict_blind", f"{blind!r} is {stored} in the store and can't be changed")
    gold = row.cells.get("gold_verdict")
    stored_gold = store.gold_within(connection, label.item_id)
    if gold is not None and not _same(gold.casefold(), stored_gold):
        raise _RowError("gold_verdict", f"{gold!r} is {stored_gold or 'empty'} in the store: adjudicate on the page")


def _says(given: _Given, label: Label) -> bool:
    """Whether the label says all of it already."""
    return (given.verdict, given.confidence, given.reason) == (
        label.verdict, label.confidence, label.reason_code,
    ) and _same(given.comment, label.comment)


def _in_words(label: Label) -> str:
    parts = [label.verdict, label.confidence, label.reason_code, f"“{label.comment}”" if label.comment else None]
    return ", ".join(part for part in parts if part) or "no label"
