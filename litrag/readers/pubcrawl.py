"""What PubCrawl's tool `get_abstract` answered, as `litrag.pubcrawl` keeps it: a line of JSON for each record.

In: the unchanged results of the tool, each with what the search said of the record. Out: records. PubCrawl gives title,
authors, journal, abstract, MeSH and keywords; it doesn't give publication types or notices, and it drops text inside
markup. That is said once for each file, since a refresh from PubMed mends it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from litrag.models import Record
from litrag.readers import content
from litrag.readers.report import Rejection
from litrag.readers.rows import items

TOOL = "get_abstract"
#: How a file of results begins.
START = '{"source":"PubCrawl"'
LOSSES = (
    "PubCrawl gives no publication types, retractions or other notices, and leaves out text inside markup, such as "
    "superscripts; `litrag pubmed --refresh` fetches the originals"
)

_FIELDS = {
    "title": ("title",), "authors": ("authors",), "journal": ("journal",), "year": ("year",), "volume": ("volume",),
    "issue": ("issue",), "pages": ("pages",), "doi": ("doi",), "pmcid": ("pmc_id", "pmcid"), "keywords": ("keywords",),
    "mesh": ("mesh_terms", "mesh"), "sections": ("abstract_sections", "sections"), "text": ("abstract", "text"),
}


class ResultError(ValueError):
    """A tool's result that can't be used; `field` is where it fails."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


def read(path: Path) -> Iterator[Record | Rejection]:
    """The records of a file of kept results, and why the others gave none."""
    yield Rejection(file=str(path), field="status", reason=LOSSES, record_kept=True)
    with content.open_bytes(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield from _read_line(line, str(path), number)


def _read_line(line: bytes, file: str, number: int) -> Iterator[Record | Rejection]:
    try:
        kept = json.loads(line)
        pmid, result, found = str(kept["pmid"]), dict(kept["result"]), dict(kept.get("found") or {})
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        yield Rejection(file=file, record=f"line {number}", reason=f"no kept result of {TOOL}: {error}")
        return
    place = f"PMID {pmid}"
    try:
        given = answered(result)
        named = str(given.get("pmid") or pmid)
        if named != pmid:
            raise ResultError("pmid", f"{TOOL} was asked for PMID {pmid} and answered with PMID {named[:60]!r}")
    except ResultError as error:
        yield Rejection(file=file, record=place, field=error.field, reason=str(error))
        return
    yield from items(_row(pmid, given, found), file=file, place=place)


def _row(pmid: str, given: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """LitRAG's fields; what the abstract's result lacks is taken from the search's.

    Authors are the other way round: only the search has them as "Surname Initials".
    """
    row: dict[str, Any] = {"pmid": pmid}
    for field, names in _FIELDS.items():
        sources = (found, given) if field == "authors" else (given, found)
        both = (source.get(name) for source in sources for name in names)
        row[field] = next((value for value in both if value), None)
    return row


def answered(result: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object in a tool's result (`CallToolResult` of the MCP schema), structured or as text.

    Raises ResultError with the tool's own words when it reports an error or answers with something else.
    """
    texts = [str(part.get("text", "")) for part in result.get("content") or () if isinstance(part, Mapping)]
    said = " ".join(" ".join(texts).split())
    if result.get("isError"):
        raise ResultError("result", f"the tool reports an error: {said[:300] or 'it gives no reason'}")
    structured = result.get("structuredContent")
    if isinstance(structured, Mapping):
        inner = structured.get("result")
        return dict(inner if isinstance(inner, Mapping) and len(structured) == 1 else structured)
    for text in texts:
        try:
            loaded = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(loaded, Mapping):
            return dict(loaded)
    raise ResultError("result", f"must be a JSON object, the tool answered {said[:120]!r}")
