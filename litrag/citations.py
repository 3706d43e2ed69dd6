"""Reading a text that cites: its statements, what each of them cites, its reference list, and what is wrong.

In: a text by anyone, with [n], superscripts, PMIDs, DOIs and perhaps a reference list. Out: one frozen `CitedText`
whose spans index that text. Nothing is dropped in silence: what is neither statement nor list is `other`, and a
citation that leads nowhere is a problem in words, never the neighbouring source.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import NamedTuple

from litrag.errors import InputError
from litrag.identifiers import Identifier, find_identifiers, normal_doi, normal_pmid
from litrag.markers import CitationStream, Marker, find_markers
from litrag.models import Model, Span
from litrag.references import ReferenceEntry, ReferenceList, find_references
from litrag.sentences import split

__all__ = [
    "CitationStream", "CitedStatement", "CitedText", "Marker", "ReferenceEntry", "ReferenceList", "parse_cited_text",
]

_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t][^\n]*$", re.MULTILINE)
_BULLET = re.compile(r"(?:[-*•–]|\(?[0-9]{1,2}[.)])\s+")
_JOINT = re.compile(r"[ \t]*(?:[,;/·|]|and|&|or)?[ \t]*(?:and)?[ \t]*", re.IGNORECASE)
_NOUN_BEFORE = re.compile(
    r"(?:\b(?:in|by|from|of|per|to|between|than|following|see|and|both|with)|\bcf\.)\s*$",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|(?<!\bal)[.!?\n])\s*$")
_CUE = re.compile(
    r"(?P<open>[(\[])\s{0,2}"
    r"(?:(?:see(?: also)?|e\.g\.|cf\.?|refs?\.?|reviewed in|sources?|from|pubmed|link)[:,]?\s{0,2})?$",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:^|(?<=[\n.!?]))[ \t]*(?:sources?|refs?\.?|references?|see|evidence|citations?|pubmed)[ \t]?:[ \t]*$",
    re.IGNORECASE,
)
_POINTER = re.compile(r"(?:pubmed|link|source|doi|pmid|abstract|ref(?:erence)?|full text|\W)*", re.IGNORECASE)
_LINK_HEAD = re.compile(r"\[(?P<label>[^\[\]\n]{1,200})\]\($")
_CLOSING = {"(": ")", "[": "]"}


class CitedStatement(Model):
    """One sentence: its text without markers, its span with them, and what it cites.

    `numbers` exist in the reference list (or there is no list to contradict them), `invalid` don't.
    """

    text: str
    span: Span
    numbers: tuple[int, ...] = ()
    pmids: tuple[str, ...] = ()
    dois: tuple[str, ...] = ()
    invalid: tuple[int, ...] = ()
    markers: tuple[Marker, ...] = ()

    @property
    def cited(self) -> bool:
        """Whether anything that may exist is cited; a statement with only invalid numbers is uncited."""
        return bool(self.numbers or self.pmids or self.dois)


class CitedText(Model):
    """What `parse_cited_text` found; `other` are spans that are neither statement nor reference list."""

    statements: tuple[CitedStatement, ...] = ()
    references: tuple[ReferenceEntry, ...] = ()
    problems: tuple[str, ...] = ()
    list_spans: tuple[Span, ...] = ()
    other: tuple[Span, ...] = ()

    def entry(self, n: int) -> ReferenceEntry | None:
        """The entry with number `n`; None when there is none."""
        return next((entry for entry in self.references if entry.n == n), None)

    def cites(self, statement: CitedStatement) -> tuple[ReferenceEntry, ...]:
        """The entries that name a record for `statement`, inline PMIDs and DOIs (as n = 0) after the numbered."""
        numbered = [entry for n in statement.numbers if (entry := self.entry(n)) is not None and entry.named]
        inline = [ReferenceEntry(n=0, pmid=pmid, text=f"PMID {pmid}") for pmid in statement.pmids]
        inline += [ReferenceEntry(n=0, doi=doi, text=f"doi:{doi}") for doi in statement.dois]
        seen: set[str] = set()
        kept: list[ReferenceEntry] = []
        for entry in [*numbered, *inline]:
            names = {entry.pmid or "", (entry.doi or "").lower()} - {""}
            if not names & seen:
                kept.append(entry)
                seen |= names
        return tuple(kept)


class _Cite(NamedTuple):
    """A marker or identifier of the body; `end` is where the brackets around it end."""

    span: Span
    marker: Marker | None
    identifiers: tuple[Identifier, ...]
    end: int = 0


def parse_cited_text(text: str, references: Mapping[int, str] | None = None) -> CitedText:
    """Statements, citations, reference list and problems of `text`.

    `references` maps [n] to a PMID or DOI and then decides; a list in the text itself is set aside and only compared.
    """
    own = find_references(text)
    entries, problems = _entries(own, references)
    known = {entry.n for entry in entries} if entries or references is not None else None
    headings = _headings(text, own.spans)
    hidden = sorted([*own.spans, *headings])
    body = _masked(text, hidden)
    markers = find_markers(body, known)
    cites = _cites(body, markers)
    extents = _extents(body, cites)
    cites = [cite._replace(end=_end(extents, cite.span[1])) for cite in cites]
    clean, offsets = _without(body, extents)
    statements, homeless = _statements(text, clean, offsets, cites)
    problems += _problems(markers, cites, entries, homeless)
    return CitedText(
        statements=tuple(statements), references=tuple(entries), problems=tuple(dict.fromkeys(problems)),
        list_spans=own.spans, other=tuple(headings),
    )


def _entries(
    own: ReferenceList, given: Mapping[int, str] | None
) -> tuple[list[ReferenceEntry], list[str]]:
    """The entries that count, and what is wrong with them."""
    if given is None:
        return list(own.entries), list(own.problems)
    entries = [_given(n, value) for n, value in sorted(given.items())]
    problems: list[str] = []
    written = {entry.n: entry for entry in own.entries}
    for entry in entries:
        theirs = written.get(entry.n)
        if theirs and theirs.pmid and entry.pmid and theirs.pmid != entry.pmid:
            problems.append(
                f"the text's own list says [{entry.n}] is PMID {theirs.pmid}; PMID {entry.pmid} was given and is used"
            )
    return entries, problems


def _given(n: int, value: str) -> ReferenceEntry:
    if n < 1:
        raise InputError(f"reference numbers start at 1, got {n!r}; give a mapping from [n] to a PMID or DOI")
    return ReferenceEntry(n=n, pmid=normal_pmid(value), doi=normal_doi(value), text=value)


def _headings(text: str, taken: tuple[Span, ...]) -> list[Span]:
    starts = [start for start, _ in taken]
    found = [match.span() for match in _HEADING.finditer(text)]
    return [(a, b) for a, b in found if not (place := bisect_right(starts, a)) or taken[place - 1][1] <= a]


def _masked(text: str, hidden: list[Span]) -> str:
    """`text` with hidden stretches replaced by line ends of the same length, so that offsets hold."""
    pieces: list[str] = []
    done = 0
    for start, end in hidden:
        pieces += [text[done:start], "\n" * (end - start)]
        done = max(done, end)
    return "".join([*pieces, text[done:]])


# --- what cites
def _cites(body: str, markers: list[Marker]) -> list[_Cite]:
    """Markers and identifiers in order; an identifier inside a marker's link belongs to the marker."""
    by_span: dict[Span, list[Identifier]] = {}
    for item in find_identifiers(body):
        by_span.setdefault(item.span, []).append(item)
    cites = [_Cite(marker.span, marker, tuple(find_identifiers(marker.link))) for marker in markers]
    ends = [marker.span[1] for marker in markers]
    for span, items in by_span.items():
        place = bisect_right(ends, span[0])
        if place == len(markers) or markers[place].span[0] >= span[1]:
            cites.append(_Cite(span, None, tuple(items)))
    return sorted(cites, key=lambda cite: cite.span)


def _extents(body: str, cites: list[_Cite]) -> list[Span]:
    """What to take out of the body, in order and without overlap."""
    clusters: list[list[_Cite]] = []
    for cite in cites:
        if clusters and _JOINT.fullmatch(body, clusters[-1][-1].span[1], cite.span[0]):
            clusters[-1].append(cite)
        else:
            clusters.append([cite])
    extents: list[Span] = []
    for cluster in clusters:
        floor = extents[-1][1] if extents else 0
        found = _cluster_extents(body, cluster[0].span[0], cluster[-1].span[1], floor)
        extents += [(max(start, floor), end) for start, end in found if end > max(start, floor)]
    return extents


def _end(extents: list[Span], place: int) -> int:
    """Where the extent that holds the character before `place` ends; `place` itself when none does."""
    found = bisect_left(extents, (place, 0)) - 1
    return max(extents[found][1], place) if found >= 0 else place


def _cluster_extents(body: str, start: int, end: int, floor: int) -> list[Span]:
    """The cluster with the brackets, cue words and space around it; nothing when it is a word of its sentence."""
    before = body[max(floor, start - 220) : start]
    after = body[end : end + 4]
    if (link := _LINK_HEAD.search(before)) and after.startswith(")"):
        return _link_extents(body, start - len(before) + link.start(), link["label"], start, end)
    cue = _CUE.search(before)
    closed = len(after) - len(after.lstrip(" .;,"))
    if cue and after[closed : closed + 1] == _CLOSING[cue["open"]]:
        return [_spaced(body, start - len(before) + cue.start(), end + closed + 1, floor)]
    if _is_noun(before, body[start:end], body[end : end + 40]):
        return []
    if label := _LABEL.search(before):
        start -= len(before) - label.start()
        start += len(label.group()) - len(label.group().lstrip("\n"))
    inside = re.search(r"[,;:]\s*$", before)
    if inside and after[:1] in (")", "]"):
        return [(start - len(inside.group()), end)]
    if before[-1:] in ("(", "["):
        return [(start, end + len((re.match(r"\s*[,;:]?\s*", body[end : end + 4]) or [""])[0]))]
    return [_spaced(body, start, end, floor)]


def _link_extents(body: str, start: int, label: str, url: int, end: int) -> list[Span]:
    """A Markdown link to a record: all of it when its label is only a pointer, else what isn't the label."""
    if _POINTER.fullmatch(label) or find_identifiers(label):
        opened, closed = body[start - 1 : start] == "(", body[end + 1 : end + 2] == ")"
        both = opened and closed
        return [_spaced(body, start - both, end + 1 + both, 0)]
    return [(start, start + 1), (url - 2, end + 1)]


def _is_noun(before: str, cluster: str, after: str) -> bool:
    """Whether the sentence would break without the marker: "as shown in [2]", "[1] found that …", "both [1] and [2]"."""
    if noun := _NOUN_BEFORE.search(before):
        return noun.group().strip().lower() != "both" or len(re.findall(r"\d+", cluster)) > 1
    return bool(_SENTENCE_START.search(before)) and re.match(r"\s+[a-z]", after) is not None


def _spaced(body: str, start: int, end: int, floor: int) -> Span:
    """The extent with the blanks before it; a full stop that would be left standing alone goes too."""
    while start > floor and body[start - 1] in " \t\u00a0\u202f\u2009":
        start -= 1
    if body[max(0, start - 1) : start] in (".", "!", "?") and body[end : end + 1] == ".":
        end += 1
    return start, end


def _without(body: str, extents: list[Span]) -> tuple[str, list[tuple[int, int]]]:
    """The body with the extents taken out, and (place in the result, place in the body) of each piece kept."""
    pieces: list[str] = []
    offsets: list[tuple[int, int]] = []
    done, length = 0, 0
    for start, end in [*extents, (len(body), len(body))]:
        if start > done or not offsets:
            offsets.append((length, done))
            pieces.append(body[done:start])
            length += start - done
        done = end
    return "".join(pieces), offsets


# --- statements
def _statements(
    text: str, clean: str, offsets: list[tuple[int, int]], cites: list[_Cite]
) -> tuple[list[CitedStatement], list[_Cite]]:
    """The statements with what they cite, and the citations that stand beside no statement."""
    spans = [_unbulleted(clean, span) for span in split(clean)]
    spans = [span for span in spans if any(char.isalnum() for char in clean[slice(*span)])]
    starts = [start for start, _ in spans]
    owned: dict[int, list[tuple[_Cite, int]]] = {}
    homeless: list[_Cite] = []
    for cite, (place, kept) in zip(cites, _places(offsets, cites), strict=True):
        owner = _owner(clean, spans, starts, place, kept)
        if owner is None:
            homeless.append(cite)
        else:
            owned.setdefault(owner, []).append((cite, place))
    statements = [
        _statement(text, clean, span, offsets, owned.get(number, [])) for number, span in enumerate(spans)
    ]
    return statements, homeless


def _unbulleted(clean: str, span: Span) -> Span:
    match = _BULLET.match(clean, *span)
    return (match.end(), span[1]) if match else span


def _places(offsets: list[tuple[int, int]], cites: list[_Cite]) -> list[tuple[int, bool]]:
    """Where each citation stands in the clean text, and whether it still does or was taken out there."""
    origins = [origin for _, origin in offsets]
    places: list[tuple[int, bool]] = []
    for cite in cites:
        piece = max(bisect_right(origins, cite.span[0]) - 1, 0)
        here, origin = offsets[piece]
        longest = (offsets[piece + 1][0] if piece + 1 < len(offsets) else 1 << 60) - here
        places.append((here + min(cite.span[0] - origin, longest), cite.span[0] - origin < longest))
    return places


def _owner(clean: str, spans: list[Span], starts: list[int], place: int, kept: bool) -> int | None:
    """The statement that a citation at `place` belongs to: the one it stands in, ends or, on a new line, opens."""
    earlier = bisect_right(starts, place) - 1 if kept else bisect_left(starts, place) - 1
    later = earlier + 1
    if earlier < 0:
        return later if spans else None
    if place > spans[earlier][1] and later < len(spans):
        opens_line = "\n" in clean[spans[earlier][1] : place] and "\n" not in clean[place : starts[later]]
        return later if opens_line else earlier
    return earlier


def _statement(
    text: str, clean: str, span: Span, offsets: list[tuple[int, int]], owned: list[tuple[_Cite, int]]
) -> CitedStatement:
    start, end = (_origin(offsets, span[0]), _origin(offsets, span[1] - 1) + 1)
    markers = [_placed(text, cite, min(max(place - span[0], 0), span[1] - span[0])) for cite, place in owned]
    outer = [end, *(cite.end for cite, _ in owned)]
    inner = [start, *(cite.span[0] for cite, _ in owned)]
    return CitedStatement(
        text=clean[slice(*span)],
        span=(min(inner), max(outer)),
        numbers=tuple(dict.fromkeys(n for marker in markers for n in marker.numbers)),
        invalid=tuple(dict.fromkeys(n for marker in markers for n in marker.invalid)),
        pmids=tuple(dict.fromkeys(pmid for marker in markers for pmid in marker.pmids)),
        dois=tuple(dict.fromkeys(doi for marker in markers for doi in marker.dois)),
        markers=tuple(markers),
    )


def _placed(text: str, cite: _Cite, at: int) -> Marker:
    """The citation as a marker of its statement, with the records that it names itself."""
    marker = cite.marker or Marker(text=text[slice(*cite.span)], span=cite.span)
    good = [item for item in cite.identifiers if not item.problem]
    return marker.model_copy(update={
        "at": at,
        "pmids": tuple(dict.fromkeys(item.value for item in good if item.kind == "pmid")),
        "dois": tuple(dict.fromkeys(item.value for item in good if item.kind == "doi")),
    })


def _origin(offsets: list[tuple[int, int]], place: int) -> int:
    here, origin = offsets[max(bisect_right(offsets, (place, 1 << 60)) - 1, 0)]
    return origin + place - here


def _problems(
    markers: list[Marker], cites: list[_Cite], entries: list[ReferenceEntry], homeless: list[_Cite]
) -> list[str]:
    problems = [problem for marker in markers for problem in marker.problems]
    problems += [item.problem for cite in cites for item in cite.identifiers if item.problem]
    cited = dict.fromkeys(n for marker in markers for n in marker.numbers)
    linked = {n for cite in cites if cite.marker and cite.identifiers for n in cite.marker.numbers}
    if not entries:
        loose = [f"[{n}]" for n in cited if n not in linked]
        if loose:
            shown = ", ".join(loose[:8]) + (", …" if len(loose) > 8 else "")
            problems.append(f"there is no reference list, so {shown} can't be traced to a record")
    nameless = [entry.n for entry in entries if entry.n in cited and not entry.named]
    problems += [f"[{n}] names no PMID or DOI in the reference list" for n in nameless]
    problems += [f"{cite.marker.text if cite.marker else cite.identifiers[0].value} stands beside no statement"
                 for cite in homeless]
    return problems
