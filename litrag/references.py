"""The reference list of a text that cites: where it stands and what each entry names.

In: text. Out: numbered entries with PMID, DOI and their own words, the spans that the list takes up, and problems
in words. A list stands under a heading such as "References:", or, without one, at the very end behind a body that
cites its numbers. Numbered statements are no reference list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from litrag.identifiers import find_identifiers
from litrag.markers import find_markers
from litrag.models import Model, Span

_NAMES = (
    r"(?:references?|reference list|sources?|sources cited|bibliography|works cited|literature(?: cited)?|citations?"
    r"|cited (?:sources|works|literature|references)|endnotes|footnotes|source list|list of (?:references|sources))"
)
_HEADING = re.compile(
    rf"[ \t]{{0,3}}(?:\#{{1,6}}[ \t]{{0,3}})?[*_]{{0,3}}(?:\d{{1,2}}\.?[ \t])?{_NAMES}"
    r"(?:[ \t]?\([^()\n]{0,30}\))?[ \t]{0,2}[:：]?[*_]{0,3}"
    r"[ \t]{0,2}(?P<colon>[:：]?)[ \t]*(?P<rest>.*)",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"[ \t]{0,8}(?:[-*•][ \t]{1,3})?"
    r"(?:\[\^?(?P<square>[0-9]{1,4})\](?:[ \t]?[:.])?|【(?P<lens>[0-9]{1,4})】|\((?P<round>[0-9]{1,4})\)"
    r"|(?P<dotted>[0-9]{1,4})\\?[.):](?=\s|$)|(?P<raised>[⁰¹²³⁴-⁹]{1,4})[ \t]?)[ \t]*(?P<rest>.*)"
)
_BULLET = re.compile(r"[ \t]{0,8}[-*•–][ \t]{1,3}(?P<rest>.*)")
_INLINE = re.compile(r"(?<!\S)\[\^?([0-9]{1,4})\][ \t]?[:.]?|(?<!\S)([0-9]{1,3})[.)](?=[ \t])")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


class ReferenceEntry(Model):
    """What [n] names: a PMID, a DOI, or only free text; `span` is None for entries that the caller gave."""

    n: int
    pmid: str | None = None
    doi: str | None = None
    text: str = ""
    span: Span | None = None

    @property
    def named(self) -> bool:
        """Whether the entry says which record it is."""
        return self.pmid is not None or self.doi is not None


class ReferenceList(Model):
    """Entries in the order of their numbers, the spans they take up with their heading, and what is wrong."""

    entries: tuple[ReferenceEntry, ...] = ()
    spans: tuple[Span, ...] = ()
    problems: tuple[str, ...] = ()


class _Line(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text.strip()


def find_references(text: str) -> ReferenceList:
    """The reference list of `text`; empty when it has none."""
    lines = list(_lines(text))
    raw: list[tuple[int | None, int, int]] = []
    spans: list[Span] = []
    place = 0
    while place < len(lines):
        after, found = _headed(text, lines, place)
        if found:
            raw += found
            spans.append((lines[place].start, found[-1][2]))
        place = after
    if not raw:
        raw = _unheaded(text, lines)
        spans = [(raw[0][1], raw[-1][2])] if raw else []
    return _listed(text, raw, spans)


def entry_of(n: int, text: str, span: Span | None = None) -> tuple[ReferenceEntry, list[str]]:
    """The entry that `text` makes, with the problems of its identifiers."""
    found = find_identifiers(text)
    problems = [f"[{n}]: {item.problem}" for item in found if item.problem]
    values = {kind: list(dict.fromkeys(i.value for i in found if i.kind == kind and not i.problem))
              for kind in ("pmid", "doi")}
    if len(values["pmid"]) > 1:
        problems.append(f"[{n}] names {len(values['pmid'])} PMIDs ({', '.join(values['pmid'])}); the first is used")
    entry = ReferenceEntry(
        n=n, pmid=next(iter(values["pmid"]), None), doi=next(iter(values["doi"]), None), text=text.strip(), span=span
    )
    return entry, problems


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
        yield _Line(start, start + len(bare), bare)
        start += len(line)


def _number(match: re.Match[str]) -> int:
    return int(next(filter(None, match.groups()[:5])).translate(_RAISED))


def _headed(text: str, lines: list[_Line], place: int) -> tuple[int, list[tuple[int | None, int, int]]]:
    """The entries under a heading at `place` as (number, start, end), and the line to go on with."""
    heading = _HEADING.fullmatch(lines[place].text)
    if heading is None:
        return place + 1, []
    found: list[tuple[int | None, int, int]] = []
    if heading["rest"].strip(" *_"):
        found = _inline(text, lines[place].start + heading.start("rest"), lines[place].end)
        if not found:
            return place + 1, []
    gap = False
    for number_of_line in range(place + 1, len(lines)):
        line = lines[number_of_line]
        match = _ENTRY.fullmatch(line.text) or _BULLET.fullmatch(line.text)
        if line.blank:
            gap = True
        elif match is not None:
            numbered = "square" in match.re.groupindex
            found.append((_number(match) if numbered else None, line.start, line.end))
            gap = False
        elif not found and find_identifiers(line.text):
            found.append((None, line.start, line.end))
        elif not found or (gap and not _only_identifies(line.text)):
            return number_of_line, found
        else:
            found[-1] = (found[-1][0], found[-1][1], line.end)
    return len(lines), found


def _only_identifies(line: str) -> bool:
    """Whether a paragraph holds an identifier and hardly a word besides, so that it belongs to the entry above."""
    found = find_identifiers(line)
    return bool(found) and len(line.strip()) - sum(item.span[1] - item.span[0] for item in found) < 20


def _inline(text: str, start: int, end: int) -> list[tuple[int | None, int, int]]:
    """Entries in one line: "Sources: [1] … [2] …" or "References: 1. … 2. …" counted from 1."""
    marks: list[tuple[int, int]] = []
    for match in _INLINE.finditer(text, start, end):
        if match.group(1) or int(match.group(2)) == len(marks) + 1:
            marks.append((int(match.group(1) or match.group(2)), match.start()))
    if not marks or text[start : marks[0][1]].strip():
        return []
    borders = [*(begin for _, begin in marks), end]
    return [(number, begin, stop) for (number, begin), (_, stop) in zip(marks, pairwise(borders), strict=True)]


def _unheaded(text: str, lines: list[_Line]) -> list[tuple[int | None, int, int]]:
    """The run of rising numbered entries that ends the text, if the body before it cites them."""
    run: list[tuple[int, int, int]] = []
    end: int | None = None
    style = ""
    for line in reversed(lines):
        match = _ENTRY.fullmatch(line.text)
        if line.blank:
            if end is not None:
                break
        elif match is None:
            end = end or line.end
        else:
            number, kind = _number(match), match.lastgroup if match.lastgroup != "rest" else ""
            kind = next(name for name in match.re.groupindex if name != "rest" and match[name])
            if run and (number >= run[-1][0] or kind != style):
                break
            run.append((number, line.start, end or line.end))
            style, end = kind, None
    run.reverse()
    if not run:
        return []
    body = text[: run[0][1]]
    names = any(find_identifiers(text[start:stop]) for _, start, stop in run)
    cited = find_markers(body, {number for number, _, _ in run})
    believed = body.strip() and any(marker.numbers for marker in cited) and (names or style in ("square", "lens"))
    return [(number, start, stop) for number, start, stop in run] if believed else []


def _listed(text: str, raw: list[tuple[int | None, int, int]], spans: list[Span]) -> ReferenceList:
    entries: dict[int, ReferenceEntry] = {}
    problems: list[str] = []
    if raw and any(number is None for number, _, _ in raw):
        problems.append("the reference list has entries without a number; they are counted in their order")
    for number, start, end in raw:
        n = number if number is not None else max(entries, default=0) + 1
        match = _ENTRY.match(text, start, end) or _BULLET.match(text, start, end)
        content = " ".join(text[match.start("rest") if match else start : end].split())
        entry, wrong = entry_of(n, content.rstrip(";"), (start, end))
        problems += wrong
        if n < 1:
            problems.append(f"the reference list has an entry [{n}]; reference numbers start at 1")
        elif n in entries:
            if (entries[n].pmid, entries[n].doi) != (entry.pmid, entry.doi) or not entry.named:
                problems.append(f"[{n}] stands twice in the reference list; the first entry is used")
        else:
            entries[n] = entry
    ordered = tuple(entries[n] for n in sorted(entries))
    return ReferenceList(entries=ordered, spans=tuple(spans), problems=tuple(problems))
