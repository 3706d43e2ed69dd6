"""From a mapping of loosely named fields to a `Record`: shared by the readers of field-like formats.

Fields may be missing, spelled differently or of the wrong type. A record without an identity or content is
refused; an unusable side field is left out and reported, and the record is kept.
"""

from __future__ import annotations

import hashlib
import math
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from litrag.models import PMID_PATTERN, Record, Section
from litrag.readers.report import Rejection

ALIASES = {
    "record_id": ("record_id", "id", "_id", "doc_id", "did", "uid"),
    "pmid": ("pmid", "PMID", "pubmed_id"),
    "pmcid": ("pmcid", "PMCID", "pmc"),
    "doi": ("doi", "DOI"),
    "title": ("title", "Title", "TI"),
    "study": ("study", "acronym"),
    "authors": ("authors", "author", "Authors"),
    "journal": ("journal", "Journal", "source_title", "venue"),
    "year": ("year", "Year", "publication_year"),
    "nct": ("nct", "nct_id", "registration"),
    "publication_types": ("publication_types", "publication_type", "types"),
    "funding": ("funding", "funders"),
    "mesh": ("mesh", "mesh_terms"),
    "urls": ("urls", "url"),
    "language": ("language", "lang"),
}
TEXT_FIELDS = ("text", "abstract", "Abstract", "AB", "body")
LISTS = ("authors", "nct", "publication_types", "funding", "mesh", "keywords", "urls", "overlaps")
STRINGS = ("pmcid", "doi", "study", "journal", "volume", "issue", "pages", "language", "vernacular_title", "revised")
#: Taken over as they are: records that LitRAG wrote itself carry them.
VALUES = ("notices", "other_abstracts")
BETWEEN_SECTIONS = "\n\n"

_brief = reprlib.Repr()
_brief.maxlevel = 2

_LABEL = re.compile(r"(?:(?<=[.!?)\]]\s)|\A|(?<=\n))([A-Z][A-Z /&,-]{2,60}):\s+")


class FieldError(ValueError):
    """A field that makes the whole record unusable."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


def record_from(row: Mapping[str, Any], *, file: str, place: str) -> Iterator[Record | Rejection]:
    """The record that `row` describes, preceded by a rejection for every field that had to be left out."""
    left_out: list[Rejection] = []

    def leave_out(field: str, reason: str) -> None:
        left_out.append(Rejection(file=file, record=place, field=field, reason=reason, record_kept=True))

    try:
        record = _build(row, f"{file}, {place}" if place else file, leave_out)
    except FieldError as error:
        yield Rejection(file=file, record=place, field=error.field, reason=str(error))
        return
    yield from left_out
    yield record


def _build(row: Mapping[str, Any], origin: str, leave_out: Callable[[str, str], None]) -> Record:
    text, sections = _text(row)
    title = " ".join(_string("title", _pick(row, "title") or "").split())
    if not title and not text:
        raise FieldError("title", "neither a title nor an abstract; a record needs one of them")
    if not text:
        leave_out("text", "no abstract: the record is kept, but nothing of it can be found or quoted")
    fields: dict[str, Any] = {}
    for name in (*STRINGS, *LISTS, *VALUES, "year", "digest"):
        value = _pick(row, name)
        if value is None or value in ("", [], ()):
            continue
        try:
            fields[name] = _side_field(name, value)
        except ValueError as error:
            leave_out(name, str(error))
    pmid = _pmid(row)
    try:
        content = "x" + hashlib.sha256(f"{title}\x00{text}".encode()).hexdigest()[:12]
        return Record(record_id=_identity(row, pmid, fields.get("doi") or fields.get("pmcid"), content), pmid=pmid, title=title,
                      text=text, sections=sections, origin=origin, **fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise FieldError(".".join(str(part) for part in first["loc"]), first["msg"]) from error


def _pick(row: Mapping[str, Any], name: str) -> Any:
    values = (row.get(key) for key in ALIASES.get(name, (name,)))
    return next((value for value in values if value is not None and not _is_nan(value)), None)


def _is_nan(value: Any) -> bool:
    """How tables that were written as JSON spell a missing value."""
    return isinstance(value, float) and math.isnan(value)


def _string(field: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise FieldError(field, f"must be text, got {_shown(value)}")
    whole = isinstance(value, float) and value.is_integer()
    text = str(int(value) if whole else value).strip()
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise FieldError(field, "holds half a character (a lone surrogate); save the file as UTF-8")
    return text.replace("\x00", "")


def _shown(value: Any) -> str:
    """The value for a message; never written out whole, since YAML aliases can make it endlessly long."""
    shown = _brief.repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def _text(row: Mapping[str, Any]) -> tuple[str, tuple[Section, ...]]:
    """Stored text and its labelled sections, whichever way the row spells them."""
    given = row.get("sections")
    text = next((row[key] for key in TEXT_FIELDS if row.get(key) is not None), None)
    if isinstance(text, list) and any(isinstance(part, Mapping) for part in text):
        given, text = text, None
    if text is None:
        return join_sections(_labelled(given)) if given else ("", ())
    if isinstance(text, list):
        text = " ".join(_string("text", part) for part in text)
    stored = _string("text", text)
    if given:
        return stored, _spans(given, stored)
    return stored, _found_labels(stored)


def _labelled(given: Any) -> list[tuple[str, str]]:
    if isinstance(given, Mapping):
        given = [{"label": label, "text": text} for label, text in given.items()]
    if not isinstance(given, list) or not all(isinstance(part, Mapping) for part in given):
        raise FieldError("sections", f"must be a list of {{label, text}}, got {_shown(given)}")
    return [(_string("sections", part.get("label") or part.get("heading") or ""),
             _string("sections", part.get("text") or "")) for part in given]


def join_sections(parts: list[tuple[str, str]]) -> tuple[str, tuple[Section, ...]]:
    """One text from (label, prose) pairs; the labels stay outside the text, in the sections."""
    text, sections = "", []
    for label, prose in parts:
        if not prose:
            continue
        text += BETWEEN_SECTIONS if text else ""
        if label:
            sections.append(Section(label=label, start=len(text), end=len(text) + len(prose)))
        text += prose
    return text, tuple(sections)


def _spans(given: Any, stored: str) -> tuple[Section, ...]:
    """Sections that come as spans of the text; every span must lie in it, in order."""
    if not isinstance(given, list) or not all(isinstance(part, Mapping) for part in given):
        raise FieldError("sections", f"must be a list, got {_shown(given)}")
    if all("text" in part for part in given):
        return _placed(_labelled(given), stored)
    sections, border = [], 0
    for part in given:
        start, end = part.get("start"), part.get("end")
        if not (type(start) is int and type(end) is int and border <= start <= end <= len(stored)):
            reason = f"span {start!r}–{end!r} doesn't fit a text of {len(stored)} characters"
            raise FieldError("sections", reason)
        sections.append(Section(label=_string("sections", part.get("label") or ""), start=start, end=end))
        border = end
    return tuple(sections)


def _placed(parts: list[tuple[str, str]], stored: str) -> tuple[Section, ...]:
    sections, border = [], 0
    for label, prose in parts:
        start = stored.find(prose, border)
        if start < 0:
            raise FieldError("sections", f"the text of section {label!r} doesn't stand in the record's text")
        border = start + len(prose)
        sections.append(Section(label=label, start=start, end=border))
    return tuple(sections)


def _found_labels(text: str) -> tuple[Section, ...]:
    """Sections of a text that carries its labels inline: "BACKGROUND: … METHODS: …", two at least."""
    marks = list(_LABEL.finditer(text))
    if len(marks) < 2:
        return ()
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    trimmed = (len(text[:end].rstrip()) for end in ends)
    return tuple(Section(label=mark.group(1), start=mark.end(), end=max(mark.end(), end))
                 for mark, end in zip(marks, trimmed, strict=True))


def _pmid(row: Mapping[str, Any]) -> str | None:
    value = _pick(row, "pmid")
    if value is None or value == "":
        return None
    text = re.sub(r"^\s*PMID:?\s*", "", _string("pmid", value), flags=re.IGNORECASE)
    if not PMID_PATTERN.fullmatch(text):
        raise FieldError("pmid", f"must be 1–8 digits without a leading zero, got {_shown(value)}")
    return text


def _identity(row: Mapping[str, Any], *otherwise: str | None) -> str:
    """The id the row gives itself, else the first other one that there is."""
    given = _pick(row, "record_id")
    if given is not None and _string("id", given):
        return _string("id", given)
    return next(identity for identity in otherwise if identity)


def _side_field(name: str, value: Any) -> Any:
    if name == "year":
        return _year(value)
    if name == "digest":
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false, got {_shown(value)}")
        return value
    if name in VALUES:
        return value
    if name in LISTS:
        return _list(name, value)
    return _string(name, value)


def _year(value: Any) -> int:
    match = re.match(r"\s*(1[5-9]\d\d|20\d\d)\b", str(value))
    if isinstance(value, bool) or not match:
        raise ValueError(f"must be a year such as 2021, got {_shown(value)}")
    return int(match.group(1))


def _list(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(";")
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list of text, got {_shown(value)}")
    return tuple(filter(None, (_name(name, part) for part in value)))


def _name(field: str, part: Any) -> str:
    """A list item; authors may be mappings with a name, or family and given names."""
    if isinstance(part, Mapping):
        names = [str(part[key]) for key in ("family", "last", "given", "initials") if key in part]
        return _string(field, part.get("name") or " ".join(names))
    return _string(field, part)
