"""Duplicates among records: found by identifiers, then by title, authors and place of publication, and merged.

In: records, perhaps with the same ids. Out: the records that remain and a `Merge` for every one that was taken into
another; undoing a merge gives the record back unchanged. Versions of a paper (preprint and publication, an updated
review), the notice of a retraction or an erratum, and parts of a series are not duplicates.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from litrag import status
from litrag.models import Model, Notice, Record

#: Similarity of folded titles, 0–100, from which two records can be the same; below, only an identifier decides.
SAME_TITLE = 94.0
#: Titles under one DOI may differ as much as a translated from an original subtitle.
SAME_DOI_TITLE = 70.0
#: Folded titles shorter than this ("Editorial", "Reply") identify nothing by themselves.
TELLING_TITLE = 24
#: With the same authors at the same place, titles may differ by a translation or by what databases add to them.
SAME_PLACE_TITLE = 60.0
#: First pages that differ by no more than this, all else being equal, are a typing error.
TYPING_PAGES = 5
#: In a block that is larger than this, each record is compared with its neighbours in title order only.
MAX_BLOCK, WINDOW = 80, 12

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"\b(?:i{1,3}|iv|vi{0,3}|ix|x)\b")
#: What databases add to a title: "[Erratum appears in …]", "<ORIGINAL> …", "[see comment]".
_ADDED = re.compile(
    r"\[(?:erratum|see comment|retraction|comment|republished|update|summary)[^\]]{0,200}\]?|<original>.*",
    re.IGNORECASE | re.DOTALL)
_PUB_VERSION = re.compile(r"(?:\.pub\d+|[./]v\d+)$")
_FIELDS = (
    "pmid", "pmcid", "doi", "vernacular_title", "study", "authors", "journal", "year", "volume", "issue", "pages",
    "language", "publication_types", "mesh", "keywords", "nct", "funding", "urls", "other_abstracts", "revised",
)

_GIVEN = (*_FIELDS, "text", "sections")


class Merge(Model):
    """A record that was taken into another one, why, the record as it was, and what the other one has from it."""

    kept: str
    merged: str
    reason: str
    record: Record
    gave: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Deduplicated:
    """Records without duplicates, and what was merged into which."""

    records: tuple[Record, ...]
    merges: tuple[Merge, ...]


@dataclass(frozen=True)
class Pair:
    """Two places of a list that hold the same publication; higher `strength` is surer."""

    first: int
    second: int
    strength: float
    reason: str


class _Features:
    """What a record is compared by."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.words = _folded_words(_ADDED.sub("", record.title))
        self.key = "".join(self.words)
        doi = (record.doi or "").lower()
        self.doi = doi
        self.work = _PUB_VERSION.sub("", doi)
        self.surname = _surname(record.authors[0]) if record.authors else ""
        self.surnames = {_surname(name) for name in record.authors[:12]}
        self.volume = "".join(_NUMBER.findall(record.volume or "")[:1])
        first = re.match(r"\W*([A-Za-z]*)(\d+)(?:\s?[-–]\s?[A-Za-z]*(\d+))?", record.pages or "")
        self.page = (first[1].lower() + first[2].lstrip("0")) if first else ""
        last = first[3] if first and first[3] else ""
        self.last_page = first[2][:max(0, len(first[2]) - len(last))] + last if first and last else ""

    @cached_property
    def numbers(self) -> list[str]:
        text = " ".join(self.words)
        return _NUMBER.findall(text) + _ROMAN.findall(text)

    @cached_property
    def journal(self) -> tuple[str, ...]:
        return tuple(word for word in _folded_words(self.record.journal or "") if word not in ("the", "of", "and", "in"))

    def blocks(self) -> Iterator[tuple[str, ...]]:
        if self.record.pmid:
            yield "pmid", self.record.pmid
        if self.doi:
            yield "doi", self.doi
        if len(self.key) >= 8:
            yield "start", self.key[:18]
            yield "end", self.key[-18:]
            yield "words", *sorted(sorted(set(self.words), key=lambda word: (-len(word), word))[:3])
        if self.page and self.record.year:
            yield "place", self.volume, self.page, str(self.record.year)
            if self.surname:
                yield "author", self.surname, self.page


def duplicates(records: Sequence[Record]) -> list[Pair]:
    """All pairs of places that hold the same publication, surest first."""
    features = [_Features(record) for record in records]
    found = []
    for first, second in _candidates(features):
        match = _compare(features[first], features[second])
        if match is not None:
            found.append(Pair(first, second, *match))
    return sorted(found, key=lambda pair: (-pair.strength, pair.first, pair.second))


def deduplicate(
    records: Sequence[Record], apart: Iterable[frozenset[str]] = (), *, standing: int = 0,
) -> Deduplicated:
    """Merge duplicates into the fullest record of each group.

    `apart` holds pairs of record ids that a person declared to be different; a group never joins two PMIDs. Of the
    first `standing` records each was in the corpus before and stays, so that what cites it finds it.
    """
    groups = grouped(records, apart)
    replaced: dict[int, Record] = {}
    merges: list[Merge] = []
    gone: set[int] = set()
    for places, reasons in groups:
        best = min(places, key=lambda place: (place >= standing, _order(records[place], place)))
        others = [place for place in places if place != best]
        gone.update(others)
        kept_one = records[best]
        for place in others:
            whole = completed(kept_one, [records[place]])
            merges.append(Merge(
                kept=whole.record_id, merged=records[place].record_id, record=records[place],
                reason=reasons[place if place in reasons else best],
                gave=tuple(name for name in _GIVEN if getattr(whole, name) != getattr(kept_one, name)),
                notices=whole.notices[len(kept_one.notices):],
            ))
            kept_one = whole
        replaced[best] = kept_one
    kept = tuple(replaced.get(place, record) for place, record in enumerate(records) if place not in gone)
    return Deduplicated(kept, tuple(merges))


def grouped(
    records: Sequence[Record], apart: Iterable[frozenset[str]] = (),
) -> list[tuple[list[int], dict[int, str]]]:
    """Places of the same publication, each group with the reason by which a place joined it."""
    separate = set(apart)
    group_of = {place: place for place in range(len(records))}
    members: dict[int, list[int]] = {place: [place] for place in range(len(records))}
    reasons: dict[int, str] = {}
    for pair in duplicates(records):
        one, other = group_of[pair.first], group_of[pair.second]
        if one == other or not _may_join(records, members[one], members[other], separate):
            continue
        for place in members.pop(other):
            group_of[place] = one
            members[one].append(place)
        reasons.setdefault(pair.second, pair.reason)
        reasons.setdefault(pair.first, pair.reason)
    return [(sorted(places), reasons) for places in members.values() if len(places) > 1]


def completed(record: Record, others: Iterable[Record]) -> Record:
    """`record` with the fields that it lacks and another one has; its own text and title stay as they are."""
    fields: dict[str, object] = {}
    notices = list(record.notices)
    for other in others:
        for name in _FIELDS:
            if not getattr(record, name) and name not in fields and getattr(other, name):
                fields[name] = getattr(other, name)
        if not record.text and "text" not in fields and other.text:
            fields |= {"text": other.text, "sections": other.sections}
        notices += [notice for notice in other.notices if notice not in notices]
    if len(notices) > len(record.notices):
        fields["notices"] = tuple(notices)
    return record.model_copy(update=fields) if fields else record


def parted(kept: Record, merge: Merge, others: Sequence[Record]) -> Record:
    """`kept` without what `merge` gave it, as far as it still has it; `others` are merged into it too and may fill in."""
    taken = {name for name in merge.gave if getattr(kept, name) == getattr(merge.record, name)}
    bare = kept.model_copy(update={
        **{name: Record.model_fields[name].default for name in taken},
        "notices": tuple(notice for notice in kept.notices if notice not in merge.notices),
    })
    return completed(bare, others)


def _order(record: Record, place: int) -> tuple[object, ...]:
    """The fullest record first: with an abstract, with a PMID, with the longer abstract, the earlier one."""
    return (not record.text, record.pmid is None, not record.sections, -len(record.text), place)


def _may_join(records: Sequence[Record], ones: list[int], others: list[int], separate: set[frozenset[str]]) -> bool:
    pmids = {records[place].pmid for place in (*ones, *others)} - {None}
    if len(pmids) > 1:
        return False
    return not any(frozenset((records[a].record_id, records[b].record_id)) in separate for a in ones for b in others)


def _candidates(features: Sequence[_Features]) -> Iterator[tuple[int, int]]:
    """Pairs that share a block, each once."""
    blocks: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(features):
        for block in one.blocks():
            blocks[block].append(place)
    seen: set[tuple[int, int]] = set()
    for places in blocks.values():
        window = len(places)
        if window > MAX_BLOCK:
            places, window = sorted(places, key=lambda place: features[place].key), WINDOW
        for n, first in enumerate(places):
            for second in places[n + 1:n + window]:
                pair = (min(first, second), max(first, second))
                if pair not in seen:
                    seen.add(pair)
                    yield pair


def _compare(one: _Features, other: _Features) -> tuple[float, str] | None:
    """(strength, reason) when two records are the same publication."""
    a, b = one.record, other.record
    if a.pmid and a.pmid == b.pmid:
        return 100.0, f"same PMID {a.pmid}"
    if (a.pmid and b.pmid) or status.are_versions(a, b) or status.is_notice(a) != status.is_notice(b):
        return None
    if (one.doi != other.doi and one.work == other.work and one.doi) or _is_preprint(a) != _is_preprint(b):
        return None  # an updated review, or a preprint and its publication
    title = fuzz.ratio(one.key, other.key) if one.key and other.key else 0.0
    if one.doi and one.doi == other.doi:
        enough = title >= SAME_DOI_TITLE or fuzz.partial_ratio(one.key, other.key) >= 90 or not (one.key and other.key)
        return (99.0, f"same DOI {a.doi}") if enough else None
    return _by_description(one, other, title)


def _by_description(one: _Features, other: _Features, title: float) -> tuple[float, str] | None:
    """Without a common identifier: the title must be the same, and what else is known must not speak against it."""
    same_place = _agree(one.volume, other.volume) and _agree(one.page, other.page)
    other_place = _differ(one.page, other.page) or _differ(one.volume, other.volume)
    if same_place and _same_article(one, other, title):
        return min(max(title, 90.0), 98.0), "same authors, year, volume and pages"
    if title < SAME_TITLE and not (same_place and _contained(one, other)):
        return None
    if sorted(one.numbers) != sorted(other.numbers) and title < 99.9:
        return None
    if len(min(one.key, other.key, key=len)) < TELLING_TITLE and not same_place:
        return None
    year = abs(one.record.year - other.record.year) if one.record.year and other.record.year else 0
    if year > 1 or (one.surnames and other.surnames and not _same_authors(one, other)):
        return None
    same_journal = _same_journal(one, other)
    if year and not same_place and same_journal is False:
        return None
    if one.doi and other.doi and not same_place:
        return None
    if other_place and not _differs_by_typing(one, other) and (
            not same_journal or title < 99 or _differ(one.volume, other.volume) or _far_pages(one, other)):
        return None
    strength = title - 2 * year - (5 if other_place else 0) + (5 if same_place else 0) - 5
    return min(strength, 98.0), f"same title ({title:.0f} %), authors and {'place' if same_place else 'year'}"


def _contained(one: _Features, other: _Features) -> bool:
    """One title is the other without its subtitle or its translation."""
    short, long = sorted((one.key, other.key), key=len)
    return len(short) >= TELLING_TITLE and fuzz.partial_ratio(short, long) >= 95


def _same_article(one: _Features, other: _Features, title: float) -> bool:
    """At one place in one year: the same first author and a similar title, or an article's whole range of pages."""
    if one.record.year != other.record.year or one.record.year is None or not (one.surname and other.surname):
        return False
    if fuzz.ratio(one.surname, other.surname) < 80:
        return False
    if len(one.numbers) == len(other.numbers) and sorted(one.numbers) != sorted(other.numbers):
        return False  # parts of a series
    words = fuzz.token_sort_ratio(" ".join(one.words), " ".join(other.words))
    range_agrees = _agree(one.last_page, other.last_page) and one.last_page != one.page
    return max(title, words) >= SAME_PLACE_TITLE or (range_agrees and one.surnames == other.surnames)


def _far_pages(one: _Features, other: _Features) -> bool:
    """Whether two page ranges lie apart by more than a typing error; "e12" or "1-Jun" may stand for any place."""
    if not (one.last_page and other.last_page):
        return False
    if not (one.page.isdigit() and other.page.isdigit()):
        return True
    return abs(int(one.page) - int(other.page)) > TYPING_PAGES


def _same_journal(one: _Features, other: _Features) -> bool | None:
    """Whether two journals are one, abbreviated or not; None when one is not known."""
    if not (one.journal and other.journal):
        return None
    short, long = sorted((one.journal, other.journal), key=len)
    if fuzz.ratio("".join(short), "".join(long)) >= 90 or "".join(long).startswith("".join(short)):
        return True
    rest = iter(long)
    return all(any(word.startswith(part) for word in rest) for part in short)


def _same_authors(one: _Features, other: _Features) -> bool:
    if fuzz.ratio(one.surname, other.surname) >= 80:
        return True
    return bool(one.surnames & other.surnames) and len(one.surnames & other.surnames) * 2 >= min(
        len(one.surnames), len(other.surnames))


def _differs_by_typing(one: _Features, other: _Features) -> bool:
    """Volume agrees and the first pages are written differently, such as S12 and 12."""
    return _agree(one.volume, other.volume) and _NUMBER.findall(one.page) == _NUMBER.findall(other.page)


def _is_preprint(record: Record) -> bool:
    return any(notice.kind == "preprint" for notice in record.notices) or "preprint" in {
        kind.lower() for kind in record.publication_types}


def _agree(one: str, other: str) -> bool:
    return bool(one) and one == other


def _differ(one: str, other: str) -> bool:
    return bool(one) and bool(other) and one != other


def _surname(name: str) -> str:
    parts = [part for part in name.replace(",", " ").split() if not re.fullmatch(r"(?:Jr|Sr|\d(?:st|nd|rd|th))\.?", part)]
    parts = parts or name.split()
    family = [part for part in parts if not (part.isupper() and len(part) <= 4) and not part.endswith(".")] or parts
    return "".join(_folded_words(" ".join(family)))


def _folded_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", re.sub(r"<[^<>]{1,20}>", "", text)).casefold()
    return re.findall(r"[^\W_]+", "".join(char for char in plain if not unicodedata.combining(char)))
