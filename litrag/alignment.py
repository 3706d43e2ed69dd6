"""Where in a source a quote that doesn't stand there word for word comes nearest.

In: the folded tokens of a quote and a folded source. Out: alignments, best first: stretches in which both agree and
the gaps between them. Whether a gap matters is for `alterations` to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from litrag.folding import Folded

#: Share of the quote's characters that must agree, in order, for it to be an altered copy and not an absent one.
ALTERED_FLOOR = 0.5
#: Tokens of the quote that may stand before (after) the first (last) anchor for the quick way to be tried.
_ANCHOR = 3
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


def alignments(quote: Sequence[str], joined: str, source: Folded) -> Iterator[Alignment]:
    """Alignments of a quote that isn't a substring of the source, the likeliest first; lazily."""
    quick = _by_anchors(quote, joined, source)
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
    if head and tail:
        return _between(quote, joined, source, head, tail)
    if tail:
        kept = joined.count(" ", len(joined) - tail[1]) - 1
        after = source.token_at(tail[0])
        return _open(quote, source, Gap(0, size - kept, _before(source, after, size - kept), after, open_start=True))
    if head:
        kept = joined.count(" ", 0, head[1]) - 1
        before = source.token_at(head[0]) + kept
        end = min(len(source), before + size - kept)
        return _open(quote, source, Gap(kept, size, before, end, open_end=True))
    return None


def _before(source: Folded, after: int, wanted: int) -> int:
    return max(0, after - wanted)


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


def _longest_head(joined: str, anchor: int, text: str) -> tuple[int, int] | None:
    """Place in `text` and length of the longest beginning of `joined` found there, cut at a token border.

    Of several equally long ones the last, because what follows it is looked for after it.
    """
    best: tuple[int, int] | None = None
    place = text.find(joined[:anchor])
    for _ in range(_MOST_COPIES):
        if place < 0:
            break
        low, high = best[1] if best else anchor, min(len(joined), len(text) - place)
        if text.startswith(joined[:low], place):
            while low < high:
                middle = (low + high + 1) // 2
                if text.startswith(joined[:middle], place):
                    low = middle
                else:
                    high = middle - 1
            best = place, low
        place = text.find(joined[:anchor], place + 1)
    return None if best is None else (best[0], joined.rindex(" ", 0, best[1]) + 1)


def _longest_tail(joined: str, anchor: int, text: str, least: int) -> tuple[int, int] | None:
    """Place in `text`, not before `least`, and length of the longest end of `joined` found there."""
    best: tuple[int, int] | None = None
    size = len(joined)
    place = text.find(joined[-anchor:], least)
    for _ in range(_MOST_COPIES):
        if place < 0:
            break
        end = place + anchor
        low, high = best[1] + 1 if best else anchor, min(size, end - least)
        if low <= high and text.startswith(joined[size - low:], end - low):
            while low < high:
                middle = (low + high + 1) // 2
                if text.startswith(joined[size - middle:], end - middle):
                    low = middle
                else:
                    high = middle - 1
            best = end, low
        place = text.find(joined[-anchor:], place + 1)
    if best is None:
        return None
    length = size - joined.index(" ", size - best[1])
    return best[0] - length, length


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
