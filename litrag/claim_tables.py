"""Claims from a table: CSV, TSV, JSONL or a JSON list with a claim, perhaps a quote, and PMIDs or DOIs.

In: a path or the bytes of a file. Out: a `ClaimTable` of rows in file order and, for every row that can't be used,
a problem with its line and column. Nothing is guessed about a damaged row and nothing is dropped unsaid; a file that
can't be read at all raises InputError.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from litrag.cells import restore
from litrag.errors import InputError
from litrag.identifiers import normal_doi, normal_pmid
from litrag.models import Model

#: Headers that are understood, the likeliest first; compared in lower case without punctuation.
HEADERS: dict[str, tuple[str, ...]] = {
    "claim": ("claim", "claim text", "statement", "assertion", "sentence", "hypothesis", "text", "answer"),
    "quote": ("quote", "quotation", "quoted text", "supporting text", "supporting quote", "excerpt", "snippet", "evidence"),
    "pmid": ("pmid", "pmids", "pubmed id", "pubmedid", "pubmed", "source pmid", "cited pmid", "source", "reference"),
    "doi": ("doi", "dois", "doi url", "source doi"),
    "claim_id": ("claim id", "id", "key", "row id", "no"),
}
LONGEST_CLAIM = 5000
LONGEST_QUOTE = 20_000
_SAMPLE = 50
_SHORTENED = re.compile(r"[0-9](?:[.,][0-9]+)?[eE]\+?[0-9]+")


class ClaimRow(Model):
    """A claim of the table; `line` is where its row begins in the file (for a JSON list: its place)."""

    claim_id: str
    line: int
    claim: str
    quote: str | None = None
    pmids: tuple[str, ...] = ()
    dois: tuple[str, ...] = ()


class RowProblem(Model):
    """Why a row can't be used."""

    line: int
    column: str = ""
    message: str

    def in_words(self) -> str:
        return f"line {self.line}{f', column {self.column}' if self.column else ''}: {self.message}"


class ClaimTable(Model):
    """Usable rows, unusable ones with the reason, and how the file was read."""

    rows: tuple[ClaimRow, ...] = ()
    problems: tuple[RowProblem, ...] = ()
    columns: dict[str, str] = Field(default_factory=dict)
    format: str = ""
    notes: tuple[str, ...] = ()


class _Raw(NamedTuple):
    """A row before it is understood: its line and its cells by role."""

    line: int
    cells: Mapping[str, Any]


class _BadRow(Exception):
    """A row that can't be used: column and reason."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


def read_claims(path_or_bytes: str | Path | bytes, *, name: str = "") -> ClaimTable:
    """Read a table of claims; `name` tells the format of bytes by its ending.

    Raises InputError when there is no such file, no claim column or nothing to check.
    """
    if isinstance(path_or_bytes, bytes):
        content, name = path_or_bytes, name or "the table"
    else:
        name = name or str(path_or_bytes)
        try:
            content = Path(path_or_bytes).read_bytes()
        except OSError as error:
            raise InputError(f"can't read {name!r}: {error.strerror or error}; give a CSV, TSV or JSONL file") from error
    text, notes = _decoded(content, name)
    if not text.strip():
        raise InputError(f"{name} is empty; a table of claims needs the columns claim and pmid or doi")
    kind = _format(name, text)
    columns, raw, problems = _json(text, name, kind) if kind in ("json", "jsonl") else _delimited(text, name, kind)
    rows: dict[str, ClaimRow] = {}
    for item in raw:
        try:
            row = _row(item)
            if row.claim_id in rows:
                raise _BadRow("claim_id", f"{row.claim_id!r} stands in line {rows[row.claim_id].line} already")
            rows[row.claim_id] = row
        except _BadRow as error:
            problems.append(RowProblem(line=item.line, column=columns.get(error.column, error.column), message=str(error)))
    if not rows and not problems:
        raise InputError(f"{name} holds no claim; a table of claims needs rows below its header")
    problems.sort(key=lambda problem: problem.line)
    return ClaimTable(rows=tuple(rows.values()), problems=tuple(problems), columns=columns, format=kind, notes=notes)


def _decoded(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding), ()
    except UnicodeDecodeError:
        if b"\x00" in content[:1000]:
            raise InputError(f"{name} isn't a text file; save the table as CSV (UTF-8) or JSONL") from None
        return content.decode("cp1252", "replace"), (f"{name} isn't UTF-8; it was read as Windows-1252",)


def _format(name: str, text: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return "jsonl"
    start = text.lstrip()[:1]
    if suffix == ".json" or start in ("[", "{"):
        return "json" if start == "[" else "jsonl"
    return "tsv" if suffix in (".tsv", ".tab") else "csv"


# --- delimited text
def _delimited(text: str, name: str, kind: str) -> tuple[dict[str, str], list[_Raw], list[RowProblem]]:
    delimiter = "\t" if kind == "tsv" else _delimiter(text)
    lines, problems = _cells(text, delimiter)
    if not lines:
        return {}, [], problems
    header = [_plain(cell) for cell in lines[0][1]]
    places = _roles(header)
    columns = {role: lines[0][1][place].strip() for role, place in places.items()}
    if places:
        width = len(header)
        body = lines[1:]
    else:
        places = _guessed([cells for _, cells in lines[:_SAMPLE]])
        columns = {role: f"column {place + 1}" for role, place in places.items()}
        width = max(len(cells) for _, cells in lines[:_SAMPLE])
        body = lines
    _require(places, name, [cell.strip() for cell in lines[0][1]])
    raw: list[_Raw] = []
    for line, cells in body:
        if len(cells) > width and any(cell.strip() for cell in cells[width:]):
            message = f"the row has {len(cells)} cells, {width} are expected; put texts that hold a {delimiter!r} in quotes"
            problems.append(RowProblem(line=line, message=message))
        else:
            raw.append(_Raw(line, {role: cells[place] if place < len(cells) else "" for role, place in places.items()}))
    return columns, raw, problems


def _delimiter(text: str) -> str:
    """The separator that the first line uses most, outside quotes."""
    first = re.sub(r'"[^"]*"', "", text.lstrip().split("\n", 1)[0])
    return max(",\t;|", key=first.count)


def _cells(text: str, delimiter: str) -> tuple[list[tuple[int, list[str]]], list[RowProblem]]:
    """(line, cells) of every row that isn't blank; a broken quotation ends the reading with a problem."""
    unquoted = delimiter == "\t" and text.count('"') % 2 == 1
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True,
        quoting=csv.QUOTE_NONE if unquoted else csv.QUOTE_MINIMAL,
    )
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((line, [restore(cell) for cell in cells]))
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"{error}; a quotation mark is missing, and nothing from this line on could be read"
        return rows, [RowProblem(line=line, message=message)]
    return rows, []


def _plain(header: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", header.lower()))


def _roles(header: Sequence[str]) -> dict[str, int]:
    """Which column plays which role, by its name."""
    places: dict[str, int] = {}
    for role, names in HEADERS.items():
        place = next((header.index(name) for name in names if name in header), None)
        if place is not None and place not in places.values():
            places[role] = place
    return places if "claim" in places or "pmid" in places or "doi" in places else {}


def _guessed(rows: Sequence[Sequence[str]]) -> dict[str, int]:
    """Roles by content, for a table without a header."""
    width = max(len(cells) for cells in rows)
    columns = [[cells[place] for cells in rows if place < len(cells)] for place in range(width)]
    places: dict[str, int] = {}
    texts: list[int] = []
    for place, cells in enumerate(columns):
        filled = [cell for cell in cells if cell.strip()]
        if not filled:
            continue
        if 2 * sum(normal_pmid(cell) is not None for cell in filled) > len(filled):
            places.setdefault("pmid", place)
        elif 2 * sum(normal_doi(cell) is not None for cell in filled) > len(filled):
            places.setdefault("doi", place)
        elif sum(map(len, filled)) > 15 * len(filled):
            texts.append(place)
    return {**places, **dict(zip(("claim", "quote"), texts, strict=False))}


def _require(places: Mapping[str, int], name: str, header: Sequence[str]) -> None:
    shown = ", ".join(repr(cell[:40]) for cell in header[:12])
    if "claim" not in places:
        raise InputError(f"{name} has no claim column; its first line holds {shown}; name one column 'claim'")
    if "pmid" not in places and "doi" not in places:
        raise InputError(f"{name} has no column with PMIDs or DOIs; its first line holds {shown}; name one 'pmid' or 'doi'")


# --- JSON
def _json(text: str, name: str, kind: str) -> tuple[dict[str, str], list[_Raw], list[RowProblem]]:
    raw: list[_Raw] = []
    problems: list[RowProblem] = []
    columns: dict[str, str] = {}
    for line, item, problem in _json_list(text, name) if kind == "json" else _json_lines(text):
        if problem or not isinstance(item, Mapping):
            problems.append(RowProblem(line=line, message=problem or 'must be an object such as {"claim": …, "pmid": …}'))
            continue
        keys = list(item)
        places = _roles([_plain(str(key)) for key in keys])
        columns = {role: str(keys[place]) for role, place in places.items()} | columns
        raw.append(_Raw(line, {role: item[keys[place]] for role, place in places.items()}))
    return columns, raw, problems


def _json_lines(text: str) -> Iterator[tuple[int, Any, str]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            try:
                yield line, json.loads(content), ""
            except json.JSONDecodeError as error:
                yield line, None, f"isn't JSON: {error.msg} at character {error.pos + 1}"
            except RecursionError:
                yield line, None, "isn't usable JSON: nested too deeply"


def _json_list(text: str, name: str) -> Iterator[tuple[int, Any, str]]:
    try:
        items = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{name} isn't JSON: {error}; give a list of objects, or one object a line as .jsonl") from error
    for place, item in enumerate(items, start=1):
        yield place, item, ""


# --- one row
def _row(raw: _Raw) -> ClaimRow:
    claim = _text(raw.cells.get("claim"), "claim", LONGEST_CLAIM)
    if not claim:
        raise _BadRow("claim", "is empty; write the statement to be checked")
    return ClaimRow(
        claim_id=_text(raw.cells.get("claim_id"), "claim_id", 200) or f"r{raw.line}",
        line=raw.line,
        claim=claim,
        quote=_text(raw.cells.get("quote"), "quote", LONGEST_QUOTE) or None,
        pmids=_pmids(raw.cells.get("pmid")),
        dois=_dois(raw.cells.get("doi")),
    )


def _text(value: Any, column: str, longest: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _BadRow(column, f"must be text, got {type(value).__name__}")
    text = str(value).strip()
    if len(text) > longest:
        raise _BadRow(column, f"has {len(text)} characters; {longest} are the most that are taken")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise _BadRow(column, "holds half a character (a lone surrogate); save the file as UTF-8")
    return text


def _pieces(value: Any, column: str, separators: str) -> list[str]:
    """The identifiers of one cell or JSON value, however they are separated."""
    values = value if isinstance(value, list) else [value]
    text = " ; ".join(_text(item, column, 1000) for item in values)
    return [piece for piece in re.split(separators, text) if piece and not re.fullmatch(r"(?:pmids?|dois?):?", piece, re.I)]


def _pmids(value: Any) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for piece in _pieces(value, "pmid", r"[;,|\s]+"):
        pmid = normal_pmid(re.sub(r"(?<=[0-9])\.0$", "", piece))
        if pmid is None and _SHORTENED.fullmatch(piece):
            raise _BadRow("pmid", f"{piece!r} was shortened by a spreadsheet; format the column as text and enter it again")
        if pmid is None:
            raise _BadRow("pmid", f"{piece!r} is no PMID; a PMID has 1–8 digits without a leading zero")
        found[pmid] = None
    return tuple(found)


def _dois(value: Any) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for piece in _pieces(value, "doi", r"[;|\s]+|,(?=\s)"):
        doi = normal_doi(piece)
        if doi is None:
            raise _BadRow("doi", f"{piece!r} is no DOI; a DOI looks like 10.1056/NEJMoa2032183")
        found[doi] = None
    return tuple(found)
