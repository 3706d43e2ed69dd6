"""The tagged text formats of Web of Science, RefWorks, EndNote's refer and Ovid.

In: a text file. Out: records. Each format has a splitter that gives tags and values, and a table from its tags to
LitRAG's fields; what is common is in `litrag.readers.rows`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from litrag.models import Record
from litrag.readers import content, names, rows
from litrag.readers.report import Rejection
from litrag.readers.rows import Tags, Values

_WOS = re.compile(r"^(?:FN (?:ISI|Clarivate|Thomson)|PT [A-Z]\s*$|UT (?:WOS|ISI|MEDLINE|INSPEC))", re.MULTILINE)
_REFWORKS = re.compile(r"^RT [A-Z]", re.MULTILINE)
_REFER = re.compile(r"^%[0A] ?\S", re.MULTILINE)
_OVID = re.compile(r"^\s{0,2}<\d{1,7}\s{0,2}\.?\s{0,2}>", re.MULTILINE)
_OVID_SHORT = re.compile(r"\s{0,2}([A-Z][A-Z0-9])  ?- ?(.*)")
_TWO = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$")
_PERCENT = re.compile(r"%([0-9A-Z@!#$&(*+>?\[^~<]) ?(.*)")
_SOURCE = re.compile(
    r"(?P<journal>.+?)[.,]\s+(?:vol\.?\s*)?(?P<volume>\d+)?\s*(?:\((?P<issue>[^)]{1,20})\))?[:,]?\s*"
    r"(?P<pages>[A-Za-z]?\d+(?:-[A-Za-z]?\d+)?)?", re.IGNORECASE)
_BRACKETED = re.compile(r"\[[^\]]{0,300}\]")
_OVID_NAMES = {
    "Accession Number": "AN", "Unique Identifier": "UI", "Author": "AU", "Authors": "AU", "Title": "TI", "Source": "SO",
    "Abstract": "AB", "Language": "LG", "DOI Number": "DO", "Digital Object Identifier": "DO", "Publication Type": "PT",
    "Year of Publication": "YR", "Author Keywords": "KW", "Keywords": "KW", "Database": "DB",
    "Chapter Title": "CH", "Original Title": "OT",
}


@dataclass(frozen=True)
class Layout:
    """One tagged format: how to know it, to split it and to read a record's tags."""

    name: str
    mark: re.Pattern[str]
    split: Callable[[str], list[Tags]]
    row: Callable[[Values], dict[str, object]]


def read(path: Path) -> Iterator[Record | Rejection]:
    layout = layout_of(content.text(path)[0])
    if layout is None:
        yield Rejection(file=str(path), field="file", reason="is none of the tagged formats that can be read")
    else:
        yield from rows.of_tags(path, lambda text: (layout.split(text), 0), layout.row)


def layout_of(text: str) -> Layout | None:
    """The layout whose mark stands first in `text`; what a record says further on can look like another one's."""
    return first_layout(text)[1]


def first_layout(text: str) -> tuple[int | None, Layout | None]:
    """Where the first mark of a layout stands, and which one's it is."""
    places = [(match.start(), n) for n, layout in enumerate(LAYOUTS) if (match := layout.mark.search(text))]
    return (min(places)[0], LAYOUTS[min(places)[1]]) if places else (None, None)


def _split_wos(text: str) -> list[Tags]:
    """Records begin with `PT` and end with `ER`; an indented line is a further line of the value above."""
    found: list[Tags] = [[]]
    for line in text.split("\n"):
        match = _TWO.match(line.lstrip("\ufeff"))
        if match and match[1] in ("FN", "VR", "EF"):
            continue
        if match and (match[1] == "ER" or (match[1] == "PT" and found[-1])):
            found.append([])
        if match and match[1] != "ER":
            found[-1].append((match[1], match[2] or ""))
        elif not match and line.startswith((" ", "\t")) and line.strip() and found[-1]:
            _extend(found[-1], line)
    return [tags for tags in found if tags]


def _split_refworks(text: str) -> list[Tags]:
    found: list[Tags] = []
    for line in text.split("\n"):
        match = _TWO.match(line.lstrip("\ufeff"))
        if match and match[1] == "RT":
            found.append([("RT", match[2] or "")])
        elif match and found:
            found[-1].append((match[1], match[2] or ""))
        elif line.strip() and found:
            _extend(found[-1], line)
    return found


def _split_refer(text: str) -> list[Tags]:
    """Records begin with %0; in files that don't use it they are parted by blank lines."""
    found: list[Tags] = [[]]
    typed, blank = bool(re.search(r"^%0", text, re.MULTILINE)), False
    for line in text.split("\n"):
        match = _PERCENT.match(line.lstrip("\ufeff"))
        if not line.strip():
            blank = True
            continue
        if match:
            begins = match[1] == "0" and {tag for tag, _ in found[-1]} != {"0"} if typed else blank
            if found[-1] and begins:
                found.append([])
            found[-1].append((match[1], match[2].strip()))
        elif found[-1]:
            _extend(found[-1], line)
        blank = False
    return [tags for tags in found if tags]


def _split_ovid(text: str) -> list[Tags]:
    """Each record follows a line "<number>"; fields are "TI  - …" lines or a name with indented lines below it."""
    found: list[Tags] = []
    for record in _OVID.split(text)[1:]:
        short = len(re.findall(r"^\s{0,2}[A-Z][A-Z0-9]  ?- ", record, re.MULTILINE)) > 1
        found.append(_ovid_short(record) if short else _ovid_long(record))
    return found


def _ovid_short(record: str) -> Tags:
    tags: Tags = []
    for line in record.split("\n"):
        match = _OVID_SHORT.fullmatch(line)
        if match:
            tags.append((match[1], match[2].strip()))
        elif line.strip() and tags:
            _extend(tags, line)
    return tags


def _ovid_long(record: str) -> Tags:
    tags: Tags = []
    for line in record.split("\n"):
        if not line.strip():
            continue
        if line[0] not in " \t":
            tags.append((_OVID_NAMES.get(line.strip(), line.strip()), ""))
        elif tags:
            _extend(tags, line)
    return tags


def _extend(tags: Tags, line: str) -> None:
    tag, value = tags.pop()
    tags.append((tag, f"{value}\n{line.strip()}" if value else line.strip()))


def _wos(values: Values) -> dict[str, object]:
    listed = values.lines("AU") or values.lines("AF")
    authors = [name for line in listed for name in line.split(";")]
    accession = values.first("UT")
    medline = re.fullmatch(r"MEDLINE:([1-9][0-9]{0,7})", accession)
    return {
        "pmid": values.first("PM") or (medline[1] if medline else None), "doi": values.first("DI"),
        "title": values.first("TI"), "authors": [name for name in map(names.author, authors) if name],
        "journal": values.first("SO", "JI"), "year": rows.year_of(values.first("PY"), values.first("PD")),
        "volume": values.first("VL"), "issue": values.first("IS"),
        "pages": rows.pages_of(values.first("BP"), values.first("EP")) or values.first("PS", "AR"),
        "text": values.text("AB"), "language": values.first("LA"), "publication_types": values.all("DT"),
        "keywords": [word for text in values.all("DE") for word in text.split("; ")],
    }


def _refworks(values: Values) -> dict[str, object]:
    return {
        "pmid": _labelled(values.all("AN", "ID")), "doi": values.first("DO"), "title": values.first("T1"),
        "authors": [name for name in map(names.author, values.all("A1") or values.all("A2")) if name],
        "journal": values.first("JF", "JO", "T2"), "year": values.first("YR"), "volume": values.first("VO"),
        "issue": values.first("IS"), "pages": rows.pages_of(values.first("SP"), values.first("OP")),
        "text": values.text("AB"), "language": values.first("LA"), "keywords": values.all("K1"),
    }


def _refer(values: Values) -> dict[str, object]:
    return {
        "pmid": _labelled(values.all("M", "Z")), "doi": next(filter(None, map(names.doi, values.all("R"))), None),
        "title": values.first("T", "B"),
        "authors": [name for name in map(names.author, values.all("A") or values.all("E")) if name],
        "journal": values.first("J", "B"), "year": rows.year_of(values.first("D"), values.first("8")),
        "volume": values.first("V"), "issue": values.first("N"), "pages": values.first("P"), "text": values.text("X"),
        "language": values.first("G"), "keywords": values.all("K"), "urls": values.all("U"),
    }


def _ovid(values: Values) -> dict[str, object]:
    source = values.first("SO", "BT", "JN")
    cited = _SOURCE.match(source)
    people = [_BRACKETED.sub("", text) for text in values.lines("AU") or values.lines("FA") or values.lines("ED")]
    authors = [name for text in people for name in text.split(";")]
    medline = "medline" in values.first("DB").lower()
    title = re.sub(r"(?:\.?\s?\[[A-Z][a-z]+(?: [A-Za-z]+){0,2}\]\.?\s*)+$", "", values.first("TI", "CH", "OT"))
    return {
        "pmid": names.bare_pmid(values.first("UI")) if medline else None,
        "doi": next(filter(None, map(names.doi, values.all("DO", "DI"))), None),
        "title": title.strip(),
        "authors": [name for name in (names.author(re.sub(r"[ *+]+\d*$", "", one.strip())) for one in authors) if name],
        "journal": values.first("JN") or (cited["journal"] if cited else source),
        "year": rows.year_of(values.first("YR"), values.first("DP"), values.first("DG"), source),
        "volume": values.first("VO") or (cited["volume"] if cited else ""),
        "issue": values.first("IP") or (cited["issue"] if cited else ""),
        "pages": values.first("PG") or (cited["pages"] if cited else ""),
        "text": values.text("AB"), "language": values.first("LG").rstrip("."),
        "publication_types": [one.rstrip(".") for one in values.all("PT") if one.strip("- ")],
        "keywords": [word.strip(" .") for text in values.all("KW", "DE") for word in text.split(";")],
    }


def _labelled(candidates: list[str]) -> str | None:
    return next(filter(None, map(names.labelled_pmid, candidates)), None)


LAYOUTS = (
    Layout("Ovid", _OVID, _split_ovid, _ovid), Layout("Web of Science", _WOS, _split_wos, _wos),
    Layout("RefWorks", _REFWORKS, _split_refworks, _refworks), Layout("refer", _REFER, _split_refer, _refer),
)
