"""From the fields of a tagged format to a record: what the readers of reference managers' files share.

In: tags with their values, or a row with LitRAG's field names. Out: the record, preceded by a rejection for every
field that had to be left out. An identifier that can't be one is left out and named; it never costs the record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from litrag import status
from litrag.models import Record
from litrag.readers import content, names
from litrag.readers.fields import record_from
from litrag.readers.markup import tidy
from litrag.readers.report import Rejection

#: A record's tags in order, each with its value; lines of a value are parted by "\n".
Tags = list[tuple[str, str]]

_NO_ABSTRACT = re.compile(r"\W*(?:no abstract(?: (?:is )?available)?|abstract not available|n/?a)\W*", re.IGNORECASE)
_YEAR = re.compile(r"(?<![0-9])(1[5-9][0-9]{2}|20[0-9]{2})(?![0-9])")
_PUBMED_URL = re.compile(
    r"https?://(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:entrez/)?pubmed)/([1-9][0-9]{0,7})/?",
    re.IGNORECASE,
)


class Values:
    """The values of one record by tag."""

    def __init__(self, tags: Tags) -> None:
        self._tags = tags
        self._values: dict[str, list[str]] = {}
        for tag, value in tags:
            self._values.setdefault(tag, []).append(value)

    def all(self, *tags: str) -> list[str]:
        """Non-empty values of the first of `tags` that has any, lines joined."""
        for tag in tags:
            if found := [tidy(value) for value in self._values.get(tag, ()) if value.strip()]:
                return found
        return []

    def together(self, *tags: str) -> list[str]:
        """Non-empty values of all `tags` in the order of the file: some exports mix two tags in one list."""
        return [tidy(value) for tag, value in self._tags if tag in tags and value.strip()]

    def lines(self, *tags: str) -> list[str]:
        """Non-empty lines of all `tags`: some formats write a list as lines of one value."""
        values = (value for tag in tags for value in self._values.get(tag, ()))
        return [tidy(line) for value in values for line in value.split("\n") if line.strip()]

    def first(self, *tags: str) -> str:
        return next(iter(self.all(*tags)), "")

    def text(self, *tags: str) -> str:
        """All values of the first tag that has any, as one text."""
        return " ".join(self.all(*tags))


def of_tags(
    path: Path, split: Callable[[str], tuple[list[Tags], int]], row: Callable[[Values], dict[str, object]], *, skipped: str = "",
) -> Iterator[Record | Rejection]:
    """The records of a tagged text: `split` gives their tags and a number of lines left out, which `skipped` explains."""
    file = str(path)
    text, note = content.text(path)
    if note:
        yield Rejection(file=file, field="encoding", reason=note, record_kept=True)
    found, lines = split(text)
    for number, tags in enumerate(found, start=1):
        values = Values(tags)
        pmid = values.first("PMID")
        yield from items(row(values), file=file, place=f"record {number}, PMID {pmid[:20]}" if pmid else f"record {number}")
    if lines:
        yield Rejection(file=file, field="lines", reason=f"{lines} lines {skipped} and were skipped", record_kept=True)


def items(row: Mapping[str, Any], *, file: str, place: str) -> Iterator[Record | Rejection]:
    """The record of `row`, after what was left out of it."""
    row = {name: value for name, value in row.items() if value not in (None, "", [], ())}
    yield from _checked(row, file, place)
    title = str(row.get("title", ""))
    types, links = list(row.get("publication_types", ())), list(row.pop("links", ()))
    # Flags of databases that aren't publication types of the record itself.
    flags = list(row.pop("flags", ()))
    row["notices"] = list(status.notices([*types, *flags], links, title))
    if _NO_ABSTRACT.fullmatch(str(row.get("text", ""))):
        del row["text"]
    yield from record_from(row, file=file, place=place)


def _checked(row: dict[str, Any], file: str, place: str) -> Iterator[Rejection]:
    """Put identifiers and the year into their one form; what has none is taken out of `row` and reported."""
    for field, normal, expected in (
        ("pmid", names.bare_pmid, "1–8 digits without a leading zero"), ("pmcid", names.pmcid, "PMC and digits"),
        ("doi", names.doi, "10.<registrant>/<name>"),
    ):
        if field in row and (value := normal(str(row[field]))) is None:
            yield Rejection(file=file, record=place, field=field, record_kept=True,
                            reason=f"must be {expected}, got {str(row.pop(field))[:60]!r}")
        elif field in row:
            row[field] = value
    if "year" in row and (match := _YEAR.search(str(row["year"]))):
        row["year"] = int(match[1])


def pmid_of_url(urls: Sequence[str]) -> str | None:
    """The PMID of a link that is PubMed's page of a record, if all such links agree."""
    found = {match[1] for url in urls if (match := _PUBMED_URL.fullmatch(url.strip()))}
    return found.pop() if len(found) == 1 else None


def doi_of_url(urls: Sequence[str]) -> str | None:
    """The DOI of a link to doi.org."""
    for url in urls:
        if re.match(r"(?:https?://)?(?:dx\.|www\.)?doi\.org/", url.strip(), re.IGNORECASE) and (doi := names.doi(url)):
            return doi
    return None


def year_of(*dates: str) -> str:
    """The first date that holds a year, else the first one, for the report."""
    return next((date for date in dates if _YEAR.search(date)), next(filter(None, dates), ""))


def pages_of(first: str, last: str) -> str:
    return f"{first}-{last}" if first and last and first != last and "-" not in first else first
