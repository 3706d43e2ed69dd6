"""PubMed's and Ovid's MEDLINE text (`.nbib`, `.txt`): a tag of up to four letters in the first columns, then a hyphen.

In: a text file. Out: records. Only the first column can hold a tag: an indented line continues the field above,
whatever it looks like. Field names: NLM, "MEDLINE/PubMed Data Element (Field) Descriptions".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from litrag import status
from litrag.models import OtherAbstract, Record
from litrag.readers import names, rows
from litrag.readers.report import Rejection
from litrag.readers.rows import Tags, Values

_TAG = re.compile(r"([A-Z][A-Z0-9]{1,4}) {0,2}-(?: (.*)|(.*))")
_KNOWN = re.compile(r"^(?:PMID|OWN |STAT|PMC |PMCR|TI  |AB  |FAU |AU  |DP  |JT  |TA  |PT  |BTI ) ?-", re.MULTILINE)
_PMID_LINE = re.compile(r"^PMID ?- ?[1-9]", re.MULTILINE)
_LINKS = ("RIN", "ROF", "PRIN", "PROF", "ECI", "ECF", "EIN", "EFR", "CRI", "CRF", "RRI", "RRF", "UIN", "UOF")
#: A line as long as this was wrapped, so that the next one continues it even when it isn't indented.
_WRAPPED = 60
_OTHER_PLACEHOLDER = "Abstract available from the publisher."


def looks_like(text: str) -> bool:
    return len(set(_KNOWN.findall(text))) >= 2


def first_record(text: str) -> int | None:
    """Where the first line with a PMID stands, which no other format has."""
    match = _PMID_LINE.search(text)
    return match.start() if match else None


def read(path: Path) -> Iterator[Record | Rejection]:
    yield from rows.of_tags(path, split, row, skipped="belong to no field")


def split(text: str) -> tuple[list[Tags], int]:
    """The tags of each record, and how many non-empty lines belong to none.

    A blank line ends a record; so does a second PMID, since some exports part records by nothing else, and any PMID in
    a file that begins with one.
    """
    found: list[Tags] = [[]]
    skipped, after_blank, last, leading = 0, False, "", False
    for line in text.split("\n"):
        if not line.strip():
            after_blank = True
            continue
        match = _TAG.match(line.lstrip("\ufeff"))
        current = found[-1]
        if match:
            leading = leading or (len(found) == 1 and not current and match[1] == "PMID")
            again = match[1] == "PMID" and (leading or any(tag == "PMID" for tag, _ in current))
            if current and (after_blank or again):
                found.append([])
            found[-1].append((match[1], (match[2] if match[2] is not None else match[3] or "").strip()))
        elif current and (line[0] in " \t" or _continues(last, line)):
            tag, value = current.pop()
            current.append((tag, f"{value}\n{line.strip()}"))
        else:
            skipped += 1
            continue  # the next tag still stands behind the blank line
        after_blank, last = False, line
    return [tags for tags in found if tags], skipped


def _continues(before: str, line: str) -> bool:
    return len(before) >= _WRAPPED or line.startswith(("http://", "https://", "www."))


def row(values: Values) -> dict[str, object]:
    """LitRAG's fields of a MEDLINE record."""
    title, vernacular = _unstopped(" ".join(values.all("TI", "BTI", "CTI"))), _unstopped(values.text("TT"))
    if title.lower() in ("[not available]", "[untitled]", ""):
        title = vernacular
    abstract = values.text("AB")
    return {
        "pmid": values.first("PMID"), "pmcid": values.first("PMC"), "doi": _doi(values),
        "title": title, "vernacular_title": vernacular, "authors": _authors(values),
        "journal": values.first("TA", "JT"), "year": rows.year_of(values.first("DP"), values.first("DEP"), values.first("SO")),
        "volume": values.first("VI"), "issue": values.first("IP"), "pages": values.first("PG"), "text": abstract,
        "other_abstracts": _other_abstracts(values), "language": values.first("LA"),
        "publication_types": values.all("PT"), "mesh": values.all("MH"), "keywords": values.all("OT"),
        "nct": _registered(values) or _sole(names.registrations(abstract)), "funding": values.all("GR"),
        "revised": _date(values.first("LR")), "links": list(_links(values)),
    }


def _unstopped(title: str) -> str:
    return title[:-1] if title.endswith(".") and not title.endswith("..") else title


def _authors(values: Values) -> list[str]:
    short = values.all("AU") or values.all("FAU")
    people = [name for name in map(names.author, short) if name]
    return [*people, *values.all("CN")] or [name for name in map(names.author, values.all("FED", "ED")) if name]


def _doi(values: Values) -> str | None:
    given = [*values.all("AID"), *values.all("LID")]
    marked = [value for value in given if "[doi]" in value or value.lower().startswith("doi")]
    return next(filter(None, map(names.doi, marked or given)), None)


def _other_abstracts(values: Values) -> list[OtherAbstract]:
    languages = values.all("OABL")
    texts = [text.removeprefix("Publisher: ") for text in values.all("OAB")]
    return [OtherAbstract(language=languages[n] if n < len(languages) else "", text=text)
            for n, text in enumerate(texts) if text != _OTHER_PLACEHOLDER]


def _registered(values: Values) -> list[str]:
    return [number for value in values.all("SI") for number in names.registrations(value)]


def _sole(numbers: tuple[str, ...]) -> list[str]:
    """A registration number that the abstract names, unless it names several: those may be other trials."""
    return list(numbers) if len(numbers) == 1 else []


def _links(values: Values) -> Iterator[status.Link]:
    for kind in _LINKS:
        for value in values.all(kind):
            yield status.Link(kind, names.labelled_pmid(value), value.split(" PMID:")[0])


def _date(digits: str) -> str | None:
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}" if re.fullmatch(r"[0-9]{8}", digits) else None
