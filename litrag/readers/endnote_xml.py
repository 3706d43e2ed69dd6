"""EndNote XML: the library export of EndNote, Bookends and tools that write the same.

In: a file, streamed record by record. Out: records. A value is the text of all its `style` parts; raised and lowered
parts keep their meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litrag import status
from litrag.models import Record
from litrag.readers import names, rows
from litrag.readers.markup import plain, tidy
from litrag.readers.report import Rejection
from litrag.readers.xml_records import read_each

_OF_NLM = ("nlm", "pubmed", "medline")
_BOOKS = frozenset({"6", "9", "28"})


def read(path: Path) -> Iterator[Record | Rejection]:
    yield from read_each(path, ("record",), _record)


def _record(element: Any, file: str, place: str) -> Iterator[Record | Rejection]:
    own = plain(element.find("rec-number"))
    yield from rows.items(row(element), file=file, place=f"{place}, number {own}" if own else place)


def row(element: Any) -> dict[str, object]:
    """LitRAG's fields of an EndNote record."""
    kind = element.find("ref-type")
    number = plain(kind)
    work_type = _text(element, "work-type")
    notes = [tidy(line) for line in _raw(element.find("notes")).splitlines()] + [_text(element, "research-notes")]
    urls = [plain(node) for node in element.iterfind("urls/related-urls/url")]
    urls += [url for node in element.iterfind("urls/related-urls/url") for url in _raw(node).split()][:10]
    authors = _all(element, "contributors/authors/author") or _all(element, "contributors/secondary-authors/author")
    title = _text(element, "titles/title") or _text(element, "titles/short-title") or _text(element, "titles/alt-title")
    return {
        "pmid": _pmid(element, urls), "pmcid": next(filter(None, map(names.pmcid, _customs(element))), None),
        "doi": _doi(element, urls), "title": title,
        "authors": [name for name in map(names.author, authors) if name],
        "journal": "" if number in _BOOKS else _text(element, "titles/secondary-title")
        or _text(element, "periodical/full-title") or _text(element, "periodical/abbr-1") or _text(element, "titles/alt-title"),
        "year": rows.year_of(_text(element, "dates/year"), _text(element, "dates/pub-dates/date")),
        "volume": _text(element, "volume"), "issue": _text(element, "number"), "pages": _text(element, "pages"),
        "text": _text(element, "abstract"), "language": _text(element, "language"),
        "publication_types": [work_type] if work_type and len(work_type) < 80 else [],
        "flags": [note for note in notes if status.known_type(note)],
        "keywords": _all(element, "keywords/keyword"),
        "urls": list(dict.fromkeys(url for url in urls if url.startswith("http") and " " not in url)),
    }


def _pmid(element: Any, urls: list[str]) -> str | None:
    provider = (_text(element, "remote-database-provider") + " " + _text(element, "remote-database-name")).lower()
    number = names.bare_pmid(_text(element, "accession-num"))
    if number and any(name in provider for name in _OF_NLM):
        return number
    return rows.pmid_of_url(urls)


def _doi(element: Any, urls: list[str]) -> str | None:
    given = _text(element, "electronic-resource-num")
    return names.doi(given) or rows.doi_of_url(urls) or given or None


def _customs(element: Any) -> list[str]:
    return [_text(element, f"custom{number}") for number in range(1, 8)]


def _raw(node: Any) -> str:
    return "".join(node.itertext()) if node is not None else ""


def _text(element: Any, path: str) -> str:
    node = element.find(path)
    return plain(node) if node is not None else ""


def _all(element: Any, path: str) -> list[str]:
    return [text for text in map(plain, element.iterfind(path)) if text]
