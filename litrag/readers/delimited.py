"""CSV and TSV tables of records: delimiter and columns are told from the header, or given as a mapping.

In: a table with a header line. Out: a record per row, and a note that names the columns that were taken and those that
were not. Headers of PubMed, Embase, Scopus, Web of Science, Zotero, Covidence and Rayyan are known.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from litrag.models import Record
from litrag.readers import content, names, rows
from litrag.readers.markup import tidy
from litrag.readers.report import Rejection

#: Header, letters and digits only, lower case, to LitRAG's field; of several for one field the first given wins.
HEADERS = {
    "recordid": "record_id", "id": "record_id", "key": "record_id", "covidence": "record_id",
    "pmid": "pmid", "pubmedid": "pmid", "pm": "pmid", "medlineid": "pmid", "pmcid": "pmcid", "pmc": "pmcid",
    "doi": "doi", "di": "doi", "do": "doi", "doilink": "doi", "digitalobjectidentifier": "doi",
    "title": "title", "articletitle": "title", "documenttitle": "title", "ti": "title", "primarytitle": "title",
    "t1": "title", "name": "title", "originaltitle": "vernacular_title",
    "authors": "authors", "author": "authors", "au": "authors", "authornames": "authors", "firstauthors": "authors",
    "authorfullnames": "authors", "creators": "authors",
    "journal": "journal", "journalbook": "journal", "sourcetitle": "journal", "publicationtitle": "journal",
    "so": "journal", "jo": "journal", "source": "journal", "periodical": "journal", "publicationname": "journal",
    "year": "year", "publicationyear": "year", "py": "year", "publishedyear": "year", "yr": "year", "date": "year",
    "volume": "volume", "vl": "volume", "issue": "issue", "is": "issue", "number": "issue", "pages": "pages", "ps": "pages",
    "abstract": "text", "ab": "text", "abstracttext": "text", "abstractnote": "text", "text": "text", "n2": "text",
    "notesabstract": "text", "language": "language", "la": "language", "languageoforiginaldocument": "language",
    "publicationtype": "publication_types", "publicationtypes": "publication_types", "documenttype": "publication_types",
    "dt": "publication_types", "pubtype": "publication_types",
    "mesh": "mesh", "meshterms": "mesh", "keywords": "keywords", "authorkeywords": "keywords", "de": "keywords",
    "url": "urls", "link": "urls", "urls": "urls", "clinicaltrialnumbers": "nct", "nct": "nct", "nctid": "nct",
    "funding": "funding", "fundingdetails": "funding",
}
_DELIMITERS = ",;\t|"
_LIST = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_SHORT_NAME = re.compile(r"[^\W\d_][\w'’. -]{0,60} [A-Z][A-Z.\-]{0,6}")
_MAX_FIELD = 10_000_000
#: Lines of a row that is looked for behind an unclosed quotation mark.
_LONGEST_ROW = 200
csv.field_size_limit(_MAX_FIELD)


def looks_like(text: str) -> bool:
    """Whether the first line names a title or an abstract among several columns."""
    cells, known = _header(text)
    return bool(known & {"title", "text"}) and len(cells) >= 2


def header_end(text: str) -> int | None:
    """Where a first line ends that can only be a table's: it names several fields that are known."""
    _, known = _header(text)
    place = len(text) - len(text.lstrip("\n"))
    return text.find("\n", place) if known & {"title", "text"} and len(known) >= 2 else None


def _header(text: str) -> tuple[list[str], set[str]]:
    header = next((line for line in text.split("\n") if line.strip()), "")
    cells = _cells(header, delimiter_of(header))
    return cells, {known for name in cells if (known := HEADERS.get(_bare(name)))}


def has_columns(path: Path, mapping: Mapping[str, str]) -> bool:
    """Whether the file's first line has all columns that `mapping` names."""
    header = content.decode(content.head(path))[0].lstrip().partition("\n")[0]
    found = {cell.strip() for cell in _cells(header.rstrip("\r"), delimiter_of(header))}
    return set(mapping.values()) <= found


def delimiter_of(header: str) -> str:
    outside = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=outside.count)


def read(path: Path, mapping: Mapping[str, str] | None = None) -> Iterator[Record | Rejection]:
    """Records of the table; `mapping` gives the column of a field, as {"text": "Summary"}."""
    file = str(path)
    text, note = content.text(path)
    if note:
        yield Rejection(file=file, field="encoding", reason=note, record_kept=True)
    text = text.lstrip("\n").replace("\x00", "")
    delimiter = delimiter_of(text.partition("\n")[0])
    lines = [f"{line}\n" for line in text.split("\n")]
    header, begin = _cut_row(lines, 0, delimiter)
    columns = columns_of(header, mapping or {})
    yield from _unused(header, columns, file)
    for cells, last in _table(lines, begin, delimiter, len(header)):
        if cells is None:
            reason = "a quotation mark isn't closed, or stands within a cell and isn't doubled; the row was left out"
            yield Rejection(file=file, record=f"line {last}", reason=reason)
        elif any(cell.strip() for cell in cells):
            yield from _row(cells, columns, len(header), file, f"line {last}")


def _table(lines: list[str], begin: int, delimiter: str, width: int) -> Iterator[tuple[list[str] | None, int]]:
    """(cells, number of their last line) of each row; None for a row that would have swallowed those after it."""
    while begin < len(lines):
        cells, end = _cut_row(lines, begin, delimiter)
        if end - begin > 1 and (again := _swallowed(lines, begin, end, delimiter, width)):
            yield None, begin + 1
            end = again
        else:
            yield cells, end
        begin = end


def _cut_row(lines: list[str], begin: int, delimiter: str, *, strict: bool = False, longest: int = 0) -> tuple[list[str], int]:
    """The cells of the row that begins at `begin`, and where the next one begins; empty when it can't be read."""
    stop = min(len(lines), begin + longest) if longest else len(lines)
    table = csv.reader((lines[n] for n in range(begin, stop)), delimiter=delimiter, strict=strict)
    try:
        cells = next(table, [])
    except csv.Error:
        cells = []
    return cells, begin + max(table.line_num, 1)


def _swallowed(lines: list[str], begin: int, end: int, delimiter: str, width: int) -> int:
    """Where the next whole row begins inside the row from `begin` to `end`, when that one's quotation marks are wrong."""
    if len(_cut_row(lines[begin:end], 0, delimiter, strict=True)[0]) == width:
        return 0
    whole = (n for n in range(begin + 1, end)
             if len(_cut_row(lines, n, delimiter, strict=True, longest=_LONGEST_ROW)[0]) == width)
    return next(whole, 0)


def columns_of(header: list[str], mapping: Mapping[str, str]) -> dict[str, int]:
    """The column of each field: as mapped, else the first whose header is known."""
    columns: dict[str, int] = {}
    places = {name.strip(): place for place, name in enumerate(header)}
    for field, name in mapping.items():
        if name in places:
            columns[field] = places[name]
    for place, name in enumerate(header):
        found = HEADERS.get(_bare(name))
        if found and found not in columns:
            columns[found] = place
    return columns


def _unused(header: list[str], columns: Mapping[str, int], file: str) -> Iterator[Rejection]:
    unused = [name.strip() for place, name in enumerate(header) if place not in columns.values() and name.strip()]
    if unused:
        shown = ", ".join(unused[:12]) + (f" and {len(unused) - 12} more" if len(unused) > 12 else "")
        yield Rejection(file=file, field="columns", reason=f"not used: {shown}", record_kept=True)


def _row(cells: list[str], columns: Mapping[str, int], width: int, file: str, place: str) -> Iterator[Record | Rejection]:
    if len(cells) > width:
        reason = f"has {len(cells)} cells, the header {width}; quote the cells that hold the delimiter"
        yield Rejection(file=file, record=place, reason=reason)
        return
    row: dict[str, object] = {field: tidy(cells[n]) for field, n in columns.items() if n < len(cells)}
    row["authors"] = list(_authors(str(row.get("authors", ""))))
    for field in ("publication_types", "mesh", "keywords", "funding", "urls"):
        row[field] = _listed(str(row.get(field, "")))
    if "nct" in row:
        row["nct"] = list(names.registrations(str(row["nct"])))
    doi = str(row.get("doi", ""))
    if doi and names.doi(doi) is None and not doi.lower().startswith("http"):
        row["doi"] = doi  # reported by the check that follows
    yield from rows.items(row, file=file, place=place)


def _listed(cell: str) -> list[str]:
    if cell.startswith("[") and cell.endswith("]"):
        return [one or other for one, other in _LIST.findall(cell)]
    return [part.strip() for part in cell.split(";") if part.strip()]


def _authors(cell: str) -> Iterator[str]:
    """Names parted by semicolons, " and ", bars, or by commas when each part is a surname with initials."""
    if cell.startswith("["):
        parts = _listed(cell)
    elif ";" in cell or "|" in cell:
        parts = re.split(r"[;|]", cell)
    elif " and " in cell:
        parts = cell.split(" and ")
    else:
        commas = [part.strip(" .") for part in cell.split(",")]
        several = len(commas) > 1 and all(_SHORT_NAME.fullmatch(part) for part in commas)
        parts = commas if several else [cell.rstrip(".")]
    for part in parts:
        if name := names.author(part):
            yield name


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []
