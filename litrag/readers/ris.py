"""RIS, as PubMed, Embase, Ovid, Scopus, ProQuest, EBSCO, Zotero, EndNote and others write it.

In: a text file. Out: records. A record runs from `TY` to `ER` or to the next `TY`; what databases print between
records is skipped and counted. Whether one or two spaces stand before a tag's hyphen is learned from the `TY` lines,
so that a line of an abstract that begins like "HR - 0.5" is no tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from litrag import status
from litrag.models import Record
from litrag.readers import names, rows
from litrag.readers.report import Rejection
from litrag.readers.rows import Tags, Values

_TYPE_LINE = re.compile(r"^[ \t]{0,3}TY {0,3}-", re.MULTILINE)
_WIDE = re.compile(r"^[ \t]{0,3}TY {2,3}-", re.MULTILINE)
_TAG_WIDE = re.compile(r"([A-Z][A-Z0-9])(?: {2,3}- ?|(?<=ER) - ?)(.*)")
_TAG_NARROW = re.compile(r"([A-Z][A-Z0-9]) {0,3}- ?(.*)")
_BOOKS = frozenset({"BOOK", "EBOOK", "EDBOOK", "WHOLE"})
_OF_NLM = re.compile(r"\b(?:pubmed|medline|nlm)\b", re.IGNORECASE)
_OVID_NUMBER = re.compile(r"[?&]AN=([1-9][0-9]{0,7})(?:&|$)")
_REPORT_TYPE = re.compile(r"[A-Za-z][A-Za-z ,'&/-]{2,60}")


def first_record(text: str) -> int | None:
    """Where the first line with a type stands; None when the text is no RIS."""
    match = _TYPE_LINE.search(text)
    return match.start() if match else None


def read(path: Path) -> Iterator[Record | Rejection]:
    yield from rows.of_tags(path, split, row, skipped="stand outside the records")


def split(text: str) -> tuple[list[Tags], int]:
    """The tags of each record, and how many non-empty lines belong to none."""
    tag_line = _TAG_WIDE if _WIDE.search(text) else _TAG_NARROW
    found: list[Tags] = []
    skipped, inside = 0, False
    for line in text.split("\n"):
        match = tag_line.match(line.lstrip(" \t\ufeff") if _TYPE_LINE.match(line.lstrip("\ufeff")) else line)
        if match and match[1] == "TY":
            found.append([("TY", match[2].strip())])
            inside = True
        elif match and match[1] == "ER":
            inside = False
        elif not line.strip():
            continue
        elif not inside:
            skipped += 1
        elif match:
            found[-1].append((match[1], match[2].strip()))
        else:
            tag, value = found[-1].pop()
            found[-1].append((tag, f"{value}\n{line.strip()}" if value else line.strip()))
    return found, skipped


def row(values: Values) -> dict[str, object]:
    """LitRAG's fields of a RIS record."""
    kind = values.first("TY").upper()
    urls = values.lines("UR", "L2", "LK")
    notes = values.lines("N1")
    database = " ".join(values.all("DB") + values.all("DP"))
    work_types = [one for one in values.all("M3") if _REPORT_TYPE.fullmatch(one)]
    authors = values.together("AU", "A1") or values.all("A2", "ED", "A3", "A4")
    title = values.first("TI", "T1", "CT") or (values.first("BT", "T2") if kind in _BOOKS else values.first("ST", "BT"))
    return {
        "pmid": _pmid(values, urls, database), "pmcid": next(filter(None, map(names.pmcid, values.all("C2"))), None),
        "doi": values.first("DO", "DI") or rows.doi_of_url(urls) or _doi(values.all("M3", "N1")),
        "title": title, "authors": [name for name in map(names.author, authors) if name],
        "journal": "" if kind in _BOOKS else values.first("JF", "T2", "JO", "JA", "J2", "J1", "BT", "T3"),
        "year": rows.year_of(values.first("PY"), values.first("DA"), values.first("Y1"), values.first("Y2")),
        "volume": values.first("VL"), "issue": values.first("IS"),
        "pages": rows.pages_of(values.first("SP"), values.first("EP")) or values.first("C7"),
        "text": values.text("AB") or values.text("N2"), "language": values.first("LA"),
        "publication_types": work_types, "flags": [note for note in notes if status.known_type(note)],
        "keywords": values.lines("KW"), "urls": [url for url in urls if url.startswith("http")][:10],
        "nct": list(names.registrations(values.text("C3") + " ".join(notes)))[:1],
    }


def _pmid(values: Values, urls: list[str], database: str) -> str | None:
    if _OF_NLM.search(database):
        if pmid := names.bare_pmid(values.first("AN")):
            return pmid
        numbers = {match[1] for url in urls if (match := _OVID_NUMBER.search(url))}
        if len(numbers) == 1:
            return numbers.pop()
    for value in [*values.all("AN"), *values.all("PM"), *values.lines("N1"), *values.all("C1")]:
        if re.fullmatch(r"(?:PMID|PubMed ID):? ?[1-9][0-9]{0,7}", value, re.IGNORECASE):
            return re.sub(r"\D", "", value)
    return rows.pmid_of_url(urls)


def _doi(candidates: list[str]) -> str | None:
    """A DOI that is all there is in a field of another purpose."""
    for value in candidates:
        doi = names.doi(value)
        if doi and len(doi) >= len(value.strip()) - len("https://dx.doi.org/"):
            return doi
    return None
