"""Records cut into passages that an embedding model can read whole.

In: a record and a token counter. Out: passages that begin and end with sentences, stay within a section,
overlap by one sentence and, with the title that is embedded in front of them, fit the model's limit counted
with its own tokenizer. Together they cover the text: nothing is left unembedded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, overload

from litrag.models import Passage, Record, Span
from litrag.sentences import split

#: Borders at which an over-long sentence may be cut, best first.
_BORDERS = (re.compile(r"[;:]\s+"), re.compile(r"[,)\]]\s+"), re.compile(r"\s+"))
_SHORTEST_TITLE_SHARE = 0.5


class TokenCounter(Protocol):
    """What an embedding model can read: its limit, and how many tokens a text takes, markers included."""

    @property
    def max_tokens(self) -> int: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...


def embedded_title(record: Record, budget: TokenCounter) -> str:
    """The title as it is embedded in front of each passage, cut at a word so that it leaves room for text."""
    words = record.title.split()
    room = int(budget.max_tokens * _SHORTEST_TITLE_SHARE)
    if not words or budget.count_tokens([record.title])[0] <= room:
        return " ".join(words)
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        fits = budget.count_tokens([" ".join(words[:middle])])[0] <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return " ".join(words[:low])


def embedded_text(title: str, passage_text: str) -> str:
    """What the model reads for a passage."""
    return f"{title}\n{passage_text}" if title else passage_text


def passages(record: Record, budget: TokenCounter) -> list[Passage]:
    """The passages of `record`; none when it has no text."""
    title = embedded_title(record, budget)
    spans = [span for block in _blocks(record) for span in _windows(record.text, block, title, budget)]
    return [passage_of(record, span) for span in spans]


def passage_of(record: Record, span: Span, version: str | None = None) -> Passage:
    """The passage that is `span` of the record's text; `version` saves working out the record's."""
    start, end = span
    return Passage(
        passage_id=f"{record.record_id}:{start}-{end}", record_id=record.record_id, pmid=record.pmid,
        section=record.section_at(end - 1), text=record.text[start:end], start=start, end=end,
        record_version=version or record.version,
    )


@dataclass(frozen=True)
class PassageTable(Sequence[Passage]):
    """Many passages by the places of their records and their spans; each is made when it is asked for."""

    records: Sequence[Record]
    places: Sequence[int]
    spans: Sequence[Span]
    _versions: dict[int, str] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Passage: ...
    @overload
    def __getitem__(self, place: slice) -> list[Passage]: ...
    def __getitem__(self, place: int | slice) -> Passage | list[Passage]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        owner = self.places[place]
        record = self.records[owner]
        # A hash of the whole text, which each hit of each question names.
        version = self._versions.get(owner) or self._versions.setdefault(owner, record.version)
        return passage_of(record, self.spans[place], version)


def _blocks(record: Record) -> list[Span]:
    """Stretches that no passage crosses: each section with what stands before it, such as an inline label."""
    borders = [section.end for section in record.sections]
    starts = [0, *borders]
    ends = [*borders, len(record.text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if record.text[start:end].strip()]


def _windows(text: str, block: Span, title: str, budget: TokenCounter) -> list[Span]:
    """Runs of sentences that fit, each beginning with the last sentence of the run before."""
    start, end = block
    sentences = [(start + s, start + e) for s, e in split(text[start:end])]
    pieces = [piece for sentence in sentences for piece in _fitting(text, sentence, title, budget)]
    markers = budget.count_tokens([""])[0]
    sizes = [size - markers for size in budget.count_tokens([text[s:e] for s, e in pieces])]
    room = budget.max_tokens - budget.count_tokens([title])[0]
    windows: list[Span] = []
    first = 0
    while True:
        last = _longest_run(sizes, first, room)
        while last > first and not _fits(text, (pieces[first][0], pieces[last][1]), title, budget):
            last -= 1
        windows.append((pieces[first][0], pieces[last][1]))
        if last == len(pieces) - 1:
            return windows
        first = _next_first(sizes, first, last, room)


def _longest_run(sizes: Sequence[int], first: int, room: int) -> int:
    """Index of the last piece of the longest run from `first` whose sizes sum up to no more than `room`."""
    last, used = first, sizes[first]
    while last + 1 < len(sizes) and used + sizes[last + 1] <= room:
        last += 1
        used += sizes[last]
    return last


def _next_first(sizes: Sequence[int], first: int, last: int, room: int) -> int:
    """Where the next run begins: at the last piece again, if it leaves room for the one that follows."""
    overlaps = last > first and sizes[last] + sizes[last + 1] <= room
    return last if overlaps else last + 1


def _fits(text: str, span: Span, title: str, budget: TokenCounter) -> bool:
    return budget.count_tokens([embedded_text(title, text[span[0]:span[1]])])[0] <= budget.max_tokens


def _fitting(text: str, span: Span, title: str, budget: TokenCounter) -> list[Span]:
    """`span` itself if it fits, else its parts, cut at the best border near the middle."""
    if span[1] - span[0] <= 1 or _fits(text, span, title, budget):
        return [span]
    cut = _middle_border(text, span)
    left = (span[0], span[0] + len(text[span[0]:cut].rstrip()))
    right = (cut, span[1])
    return _fitting(text, left, title, budget) + _fitting(text, right, title, budget)


def _middle_border(text: str, span: Span) -> int:
    start, end = span
    middle = (start + end) / 2
    for border in _BORDERS:
        cuts = [m.end() for m in border.finditer(text, start, end) if start < m.end() < end]
        near = [cut for cut in cuts if start + (end - start) * 0.2 < cut < end - (end - start) * 0.2]
        if near:
            return min(near, key=lambda cut: abs(cut - middle))
    return (start + end) // 2
