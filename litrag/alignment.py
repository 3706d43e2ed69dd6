"""Where in a source a quote that doesn't stand there word for word comes nearest.

In: the folded tokens of a quote and a folded source. Out: alignments, best first: stretches in which both agree and
the gaps between them. Whether a gap matters is for `alterations` to say.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein, Postfix, Prefix

from litrag.folding import Folded, PartlyFolded

#: Share of the quote's characters that must agree, in order, for it to be an altered copy and not an absent one.
ALTERED_FLOOR = 0.5
#: Tokens of the quote that may stand before (after) the first (last) anchor for the quick way to be tried.
_ANCHOR = 3
#: Letters of the quote with which a verbatim beginning (end) must begin (end).
_LETTERS = 16
#: Letters of a verbatim end for which this many letters after its place are searched.
_FEW_LETTERS = 4
_CLOSE_BY = 40
#: Marks around a quote that are no part of it, and that fold to nothing.
_OUTER = " \n\t'\"‘’“”*_"
_OUTER_END = _OUTER + ".,:!?…"
#: Spaces between two plain words, which fold each by itself: the next one, and the last one. "Per cent" is no two.
_NEXT_CUT = re.compile("[a-z]{2} (?!ce)(?=[a-z]{2})")
_LAST_CUT = re.compile(".*[a-z]{2} (?!ce)(?=[a-z]{2})", re.DOTALL)
_FARTHEST_CUT = 60
_MOST_COPIES = 60
_COMMON_TOKEN = 8


class Gap(NamedTuple):
    """Tokens `q0`–`q1` of the quote against tokens `s0`–`s1` of the source, all half-open.

    At an open gap, before the first or after the last agreement, the outer border in the source is a guess.
    """

    q0: int
    q1: int
    s0: int
    s1: int
    open_start: bool = False
    open_end: bool = False


class Alignment(NamedTuple):
    """A way to lay a quote over its source: range of source tokens, gaps in order, and agreeing tokens."""

    first: int
    last: int
    gaps: tuple[Gap, ...]
    agreeing: int


def laid(quote: str, source: Folded) -> tuple[Folded, Alignment | None] | None:
    """The quote folded only where it leaves the stored text's letters, and laid over the source; None when it can't be.

    What stands letter for letter in the stored text has the tokens of that text, so that only what lies outside a
    verbatim beginning and a verbatim end needs folding; a cut is made only where no folding reaches across.
    """
    text = source.text
    core = quote.lstrip(_OUTER)
    begin = len(quote) - len(core)
    core = core.rstrip(_OUTER_END)
    size = len(core)
    if size <= 2 * _LETTERS:
        return None
    starts, ends = source.bounds
    left, right = 0, size
    first = s0 = s1 = last = before = after = 0
    head = _longest_head(core, _LETTERS, text)
    if head:
        place, left = head
        tail = _tail_after(core, text, place, left)
    else:
        tail = _longest_tail(core, _LETTERS, text, 0)
        if not tail:
            return None
    if tail:
        right = size - tail[1]
        end = tail[0] + tail[1]
        if right < left:
            left, right = right, left
        cut = _NEXT_CUT.search(core, right)
        right = cut.end() if cut else size
        last = bisect_left(starts, end)
        s1 = bisect_left(starts, end - size + right, 0, last)
        if not last or ends[last - 1] != end:
            return None
        after = begin + size - end
    if head:
        cut = _LAST_CUT.match(core, max(0, left - _FARTHEST_CUT), left)
        left = cut.end() if cut else 0
        first = bisect_left(starts, place)
        s0 = bisect_left(starts, place + left, first)
        if first == len(starts) or starts[first] != place:
            return None
        before = begin - place
    folded = PartlyFolded(quote, source, (first, s0, before), (begin + left, begin + right), (s1, last, after))
    alignment = None
    if head and tail:
        if s0 > s1:
            return None
        alignment = _around(folded.tokens, source.tokens, first, last, s0 - first, last - s1)
    return folded, alignment or _beside(folded.tokens, source, first if head else None, last)


def _tail_after(core: str, text: str, place: int, kept: int) -> tuple[int, int] | None:
    """The verbatim end that follows a verbatim beginning: a short one close by, or a longer one anywhere."""
    size = len(core)
    if kept == size:
        return place, kept
    least = place + kept - _FEW_LETTERS + 1
    close = None
    if text.find(core[-_FEW_LETTERS:], least, place + size + _CLOSE_BY) >= 0:
        close = _longest_tail(core, _FEW_LETTERS, text[:place + size + _CLOSE_BY], least)
        if close and close[1] >= _LETTERS:
            return close
    return _longest_tail(core, _LETTERS, text, least) or close


def _around(
    quote: Sequence[str], source: Sequence[str], first: int, last: int, head: int, tail: int
) -> Alignment | None:
    """The alignment with one gap that leaves as much as possible before it, then after it, and at least `head` and `tail`.

    None when nothing is left on one side.
    """
    size = len(quote)
    most = min(size, last - first)
    while head < most - tail and quote[head] == source[first + head]:
        head += 1
    while tail < most - head and quote[-1 - tail] == source[last - 1 - tail]:
        tail += 1
    if head + tail == size == last - first:
        return Alignment(first, last, (), size)
    return Alignment(first, last, (Gap(head, size - tail, first + head, last - tail),), head + tail) if head and tail else None


def _beside(quote: Sequence[str], source: Folded, first: int | None, last: int) -> Alignment | None:
    """The alignment with one gap, after what stands from `first` on or, without it, before what stands up to `last`."""
    size, tokens = len(quote), source.tokens
    if first is not None:
        kept = _agreeing(quote, tokens[first:first + size])
        before = first + kept
        if kept == size:
            return Alignment(first, before, (), size)
        return _open(quote, source, Gap(kept, size, before, min(len(source), before + size - kept), open_end=True))
    kept = _agreeing(quote[::-1], tokens[max(0, last - size):last][::-1])
    after = last - kept
    if kept == size:
        return Alignment(after, last, (), size)
    return _open(quote, source, Gap(0, size - kept, max(0, after - size + kept), after, open_start=True))


def _agreeing(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens both begin with."""
    return next((number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def alignments(
    quote: Sequence[str], joined: str, source: Folded, quick: Alignment | None = None
) -> Iterator[Alignment]:
    """Alignments of a quote that isn't a substring of the source, the likeliest first, `quick` if given; lazily."""
    quick = quick or _by_anchors(quote, joined, source)
    if quick is not None:
        yield quick
    standing = sum(map(len, filter(source.places.__contains__, quote)))
    if standing < ALTERED_FLOOR * sum(map(len, quote)):
        return
    for low, high in _windows(quote, source):
        found = _by_edits(quote, source, low, high)
        if found is not None and found != quick:
            yield found


def _by_anchors(quote: Sequence[str], joined: str, source: Folded) -> Alignment | None:
    """One change between a verbatim beginning and a verbatim end, which is what most altered quotes are."""
    size = len(quote)
    if size < 2 * _ANCHOR:
        return None
    text = source.joined
    head = _longest_head(joined, len(" ".join(quote[:_ANCHOR])) + 2, text)
    tail = _longest_tail(joined, len(" ".join(quote[-_ANCHOR:])) + 2, text, head[0] if head else 0)
    head = head and (head[0], joined.rindex(" ", 0, head[1]) + 1)
    tail = tail and _from_border(joined, tail)
    if head and tail:
        return _between(quote, joined, source, head, tail)
    if tail:
        return _beside(quote, source, None, source.token_at(tail[0] + tail[1] - 1))
    return _beside(quote, source, source.token_at(head[0]), 0) if head else None


def _open(quote: Sequence[str], source: Folded, gap: Gap) -> Alignment | None:
    """An alignment with its only gap at one end; None when the gap is most of the quote."""
    size, missing = len(quote), gap.q1 - gap.q0
    if missing > max(_ANCHOR, size // 3):
        return None
    first = gap.s0 if gap.open_start else gap.s0 - gap.q0
    last = gap.s1 if gap.open_end else gap.s1 + size - gap.q1
    return Alignment(first, last, (gap,), size - missing)


def _between(
    quote: Sequence[str], joined: str, source: Folded, head: tuple[int, int], tail: tuple[int, int]
) -> Alignment | None:
    size = len(quote)
    kept_head = joined.count(" ", 0, head[1]) - 1
    kept_tail = joined.count(" ", len(joined) - tail[1]) - 1
    first = source.token_at(head[0])
    s0, s1 = first + kept_head, source.token_at(tail[0])
    overlap = max(kept_head + kept_tail - size, s0 - s1, 0)
    if overlap > min(kept_tail, kept_head) - 1:
        return None
    kept_tail -= overlap
    s1 += overlap
    if s1 < s0:
        return None
    gap = Gap(kept_head, size - kept_tail, s0, s1)
    return Alignment(first, s1 + kept_tail, (gap,), kept_head + kept_tail)


def _from_border(joined: str, tail: tuple[int, int]) -> tuple[int, int]:
    """An end of joined tokens cut so that it begins with a space."""
    shift = joined.index(" ", len(joined) - tail[1]) - (len(joined) - tail[1])
    return tail[0] + shift, tail[1] - shift


def _longest_head(quote: str, anchor: int, text: str) -> tuple[int, int] | None:
    """Place in `text` and length of the longest beginning of `quote`, of at least `anchor` letters, found there.

    Of several equally long ones the last, because what follows it is looked for after it.
    """
    best: tuple[int, int] | None = None
    wanted, size = quote[:anchor], len(quote)
    place = text.find(wanted)
    for _ in range(_MOST_COPIES):
        if place < 0:
            break
        length = Prefix.similarity(quote, text[place:place + size])
        if best is None or length >= best[1]:
            best = place, length
        place = text.find(wanted, place + 1)
    return best


def _longest_tail(quote: str, anchor: int, text: str, least: int) -> tuple[int, int] | None:
    """Place in `text`, not before `least`, and length of the longest end of `quote` found there: the first of several."""
    best: tuple[int, int] | None = None
    wanted, size = quote[-anchor:], len(quote)
    place = text.find(wanted, least)
    for _ in range(_MOST_COPIES):
        if place < 0:
            break
        end = place + anchor
        length = Postfix.similarity(quote, text[max(least, end - size):end])
        if best is None or length > best[1]:
            best = end - length, length
        place = text.find(wanted, place + 1)
    return best


def _windows(quote: Sequence[str], source: Folded) -> list[tuple[int, int]]:
    """Ranges of source tokens in which the quote may lie: where its rarer tokens stand in the right order."""
    size = len(quote)
    votes: dict[int, float] = {}
    step = max(4, size // 4)
    places = source.places
    for number, token in enumerate(quote):
        found = places.get(token)
        if found is None or len(found) > _COMMON_TOKEN:
            continue
        for place in found:
            bucket = (place - number) // step
            weight = 1.0 / len(found)
            votes[bucket] = votes.get(bucket, 0.0) + weight
            votes[bucket + 1] = votes.get(bucket + 1, 0.0) + weight
    best = sorted(votes, key=lambda bucket: (-votes[bucket], bucket))
    windows: list[tuple[int, int]] = []
    slack = 6 + size // 3
    for bucket in best:
        low = max(0, (bucket - 1) * step - slack)
        high = min(len(source), (bucket + 1) * step + size + slack)
        if all(abs(low - other) >= step * 2 for other, _ in windows):
            windows.append((low, high))
        if len(windows) == 3:
            break
    return windows


def _by_edits(quote: Sequence[str], source: Folded, low: int, high: int) -> Alignment | None:
    """The alignment with the fewest edits in a window of the source; agreement needs at least two tokens."""
    codes = Levenshtein.opcodes(quote, source.tokens[low:high])
    blocks = [(c.src_start, c.dest_start + low, c.src_end - c.src_start) for c in codes if c.tag == "equal"]
    blocks = _without_strays(blocks, source.tokens)
    blocks = _closed_up(blocks, source.tokens)
    agreeing = sum(length for _, _, length in blocks)
    if agreeing < 2:
        return None
    gaps: list[Gap] = []
    q, s, length = blocks[0]
    if q:
        gaps.append(Gap(0, q, max(low, s - q), s, open_start=True))
    first = s if not q else gaps[0].s0
    q, s = q + length, s + length
    for next_q, next_s, length in blocks[1:]:
        gaps.append(Gap(q, next_q, s, next_s))
        q, s = next_q + length, next_s + length
    last = s
    if q < len(quote):
        last = min(len(source), s + len(quote) - q)
        gaps.append(Gap(q, len(quote), s, last, open_end=True))
    return Alignment(first, last, tuple(gaps), agreeing)


Block = tuple[int, int, int]


def _without_strays(blocks: list[Block], tokens: Sequence[str]) -> list[Block]:
    """Blocks without short outer ones that lie much farther off in the source than in the quote."""
    while len(blocks) > 1 and _is_far(blocks[0], blocks[1], blocks[0][2], tokens):
        blocks = blocks[1:]
    while len(blocks) > 1 and _is_far(blocks[-2], blocks[-1], blocks[-1][2], tokens):
        blocks = blocks[:-1]
    return blocks


def _closed_up(blocks: list[Block], tokens: Sequence[str]) -> list[Block]:
    """Blocks with the first and last moved next to their neighbour if the same tokens stand there too."""
    if len(blocks) < 2:
        return blocks
    (q0, s0, n0), (q1, s1, _) = blocks[0], blocks[1]
    for shift in range(1, s1 - s0 - n0 + 1):
        place = s1 - (q1 - q0) - shift + 1
        if place <= s0 or place < s1 - (q1 - q0) - 2:
            break
        if tokens[place:place + n0] == tokens[s0:s0 + n0] and place + n0 <= s1:
            blocks = [(q0, place, n0), *blocks[1:]]
            break
    (q0, s0, n0), (q1, s1, n1) = blocks[-2], blocks[-1]
    for place in range(s0 + q1 - q0, min(s1, s0 + q1 - q0 + 3)):
        if tokens[place:place + n1] == tokens[s1:s1 + n1]:
            return [*blocks[:-1], (q1, place, n1)]
    return blocks


def _is_far(one: Block, other: Block, length: int, tokens: Sequence[str]) -> bool:
    """Whether a block of `length` tokens stands far from its neighbour with no bracketed aside between."""
    skipped = other[1] - one[1] - one[2]
    quoted = other[0] - one[0] - one[2]
    return length <= 2 and skipped - quoted > 4 + 2 * length and tokens[one[1] + one[2]] != "("
