"""Citation markers in text that somebody else wrote: [1], [1, 3], [2–4], 【2】, [^1], [[2]](link), (1), ¹², ^1,2.

In: text and, when known, the reference numbers that exist. Out: markers with spans, the numbers they cite, and in
words what is wrong with them. An interval such as "95% CI [2, 6]" is text. Round brackets and superscripts count
only for numbers that exist. Runs of adjacent markers ([1][2]) are one marker. Patterns never rescan what they
read, so unclosed brackets cost linear time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from litrag.models import Model, Span

#: The widest range that is believed: [1-900] is a slip or an attack, not 900 citations.
WIDEST_RANGE = 50
_DASH = "–—‐‑−-"
_NUMBERS = rf"#?[0-9](?:[0-9,;，、&#\s{_DASH}]|and)*"
_WORD = r"(?:refs?|references?|sources?|citations?)\.?:?\s{0,2}"
_BRACKETS = re.compile(
    rf"(?P<open>\[{{1,2}}|【|［)\s{{0,2}}\^?(?:{_WORD})?(?P<numbers>{_NUMBERS})(?:†[^\[\]【】\n]{{0,80}})?"
    r"(?P<close>\]{1,2}|】|］)",
    re.IGNORECASE,
)
_LINK = re.compile(r"\((?:[^\s()\[\]]|\([^\s()\[\]]{0,200}\))+\)")
_PARENTHESES = re.compile(rf"\(\s{{0,2}}(?P<word>{_WORD})?(?P<numbers>{_NUMBERS})\)", re.IGNORECASE)
_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴-⁹]{1,4}(?:[,，˒⁻⁃–-]\s?[⁰¹²³⁴-⁹]{1,4})*")
_CARET = re.compile(r"\^\{?(?P<numbers>[0-9]{1,3}(?:[,–-]\s?[0-9]{1,3})*)\}?\^?|<sup>(?P<html>[0-9,–\s-]{1,60})</sup>")
#: A raised number that copying has lowered: "was safe.12 The"; not "Fig.2" and not "p=.05".
_LOWERED = re.compile(
    r"(?<=[a-z)%\]]\.)(?<!\b(?i:no|vs|ca|eq|pp)\.)(?<!\b(?i:fig|vol|ref|tab)\.)(?<!\.[a-z]\.)"
    r"(?P<numbers>[0-9]{1,3}(?:[,–-][0-9]{1,3})*)(?=\s+[A-Z“\"(]|\s*$|\s*\n)"
)
_ITEM = re.compile(rf"#?\s{{0,2}}(?P<first>[0-9]{{1,4}})(?:\s{{0,2}}[{_DASH}]\s{{0,2}}(?P<last>[0-9]{{1,4}}))?")
_CLOSES = {"[": "]", "【": "】", "［": "］"}
_SEPARATOR = re.compile(r"[,;，、&]|\band\b", re.IGNORECASE)
_TO_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁃˒，", "0123456789--,,")

_INTERVAL_WORD = re.compile(
    r"(?:\bCIs?|\bCrIs?|\bHDI|\bIQRs?|\bLoA|\bconfidence (?:intervals?|limits?)|\bintervals?|\branges?|\branging"
    r"|\blimits|\bbounds?|\bquartiles|\bpercentiles|\bnumbers?|\bvalues?|\bbetween|\bfrom between)"
    r"[\s:=,(]{0,4}(?:(?:of|was|were|is|are|from|at|the)[\s:=,]{1,3}){0,2}$",
    re.IGNORECASE,
)
_ESTIMATE = re.compile(
    r"(?P<before>[\w-]*)\s*(?<![\w.])(?P<value>[−+-]?[0-9]{1,9}(?:[.·][0-9]{1,9})?)\s?"
    r"(?:%|kg|mg|g|cm|mm\s?Hg|mmol/L|mL|bpm|hours?|days?|weeks?|months?|years?|points?|percentage points)?"
    r"[\s,:;(]{0,3}$"
)
_STATISTIC = re.compile(
    r"\b(?:median|mean|average|IQR|range|difference|[HOR]R|[SW]?MD|ratio|estimate|SD|SE|score|C[Ir]I?)\b|[=:]\s*\S*$",
    re.IGNORECASE,
)
#: Words that own the number in brackets behind them: "grade (3)", "Table (2)".
_LABELLED = re.compile(
    r"\b(?:grade|type|phase|stage|class|group|arm|cohort|equation|eq|fig|figure|table|step|week|day|month|year|visit"
    r"|panel|item|question|version|level|n|score|part|case|model|appendix)s?\.?\s*$", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\s*(?:[.,;:!?)\]]|$|\n|[\[(]|(?:and|but|or|nor|while|whereas|although|though|in|with|without|than|compared|versus"
    r"|vs|at|after|before|over|during|for|among|by|from|to|on|as|is|was|were|are|has|had|have|did|may|might|can|could|will"
    r"|would|should|rose|fell|led|remained|occurred|showed|lowered|reduced|raised|increased|decreased|improved)\b)")
_UNITS = frozenset(re.findall(r"\S+", "m cm mm km µm μm nm dm ft in s h R r I x X χ chi σ η t F p kg Kg"))


class Marker(Model):
    """One place where text cites: the numbers that exist, those that don't, and what is wrong in words.

    PMIDs and DOIs stand here when the text names them at that very place. `at` is the place in the
    statement's text, markers taken out, where the marker stood.
    """

    text: str
    span: Span
    numbers: tuple[int, ...] = ()
    invalid: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()
    pmids: tuple[str, ...] = ()
    dois: tuple[str, ...] = ()
    link: str = ""
    at: int = 0


def find_markers(text: str, known: Collection[int] | None = None) -> list[Marker]:
    """All markers of `text` in order; with `known` None, any number from 1 up is believed."""
    found = bracket_markers(text, known)
    if known:
        taken = [marker.span for marker in found]
        found += _outside(taken, [*_parenthesis_markers(text, known), *_superscript_markers(text, known)])
        found.sort(key=lambda marker: marker.span)
    return _joined(text, found)


def bracket_markers(text: str, known: Collection[int] | None = None, begin: int = 0) -> list[Marker]:
    """Markers in square brackets of any make, from `begin` on, a link behind them included; not yet joined."""
    found: list[Marker] = []
    end = begin
    for match in _BRACKETS.finditer(text, begin):
        start, stop = _balanced(match)
        if start < end or _CLOSES[text[start]] != text[stop - 1] or _is_interval(text, start, match["numbers"]):
            continue
        marker = _marker(text[start:stop], (start, stop), match["numbers"], known)
        if marker is None:
            continue
        if link := _LINK.match(text, stop):
            inner = link.group()[1:-1]
            if not inner.isdigit():
                marker = marker.model_copy(update={"span": (start, link.end()), "link": inner})
        found.append(marker)
        end = marker.span[1]
    return found


def _balanced(match: re.Match[str]) -> Span:
    """Span of the marker proper: of "[[2]" and "[2]]" only the pair that belongs together."""
    spare = len(match["open"]) - len(match["close"])
    return match.start() + max(spare, 0), match.end() - max(-spare, 0)


def _marker(shown: str, span: Span, content: str, known: Collection[int] | None) -> Marker | None:
    """The marker that `content` makes; None when it is no list of reference numbers."""
    numbers: dict[int, None] = {}
    invalid: dict[int, None] = {}
    problems: list[str] = []
    for item in filter(None, (piece.strip() for piece in _SEPARATOR.split(content))):
        match = _ITEM.fullmatch(item)
        if match is None:
            return None
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if first == last and 1900 <= first < 2100 and first not in (known or ()):
            return None
        if abs(last - first) > WIDEST_RANGE:
            problems.append(f"range {shown} is too wide to be believed; it cites nothing")
            continue
        if last < first:
            problems.append(f"range {shown} is reversed; read as {last}–{first}")
        for number in range(min(first, last), max(first, last) + 1):
            exists = number >= 1 and (known is None or number in known)
            (numbers if exists else invalid)[number] = None
    if invalid:
        problems.append(_missing(shown, list(invalid)))
    return Marker(text=shown, span=span, numbers=tuple(numbers), invalid=tuple(invalid), problems=tuple(problems))


def _missing(shown: str, invalid: list[int]) -> str:
    if invalid == [0]:
        return f"{shown} cites nothing: reference numbers start at 1"
    if len(invalid) == 1:
        alone = shown.strip("[]【】［］()^ ") == str(invalid[0])
        return f"{shown if alone else f'[{invalid[0]}] in {shown}'} has no entry in the reference list"
    return f"{shown}: {', '.join(map(str, invalid))} have no entry in the reference list"


def _is_interval(text: str, start: int, content: str) -> bool:
    """Whether the bracket at `start` holds the two ends of an interval rather than two citations."""
    ends = re.findall("[0-9]+", content)
    if len(ends) != 2 or len(content) > 24:
        return False
    before = text[max(0, start - 80) : start]
    if _INTERVAL_WORD.search(before):
        return True
    estimate = _ESTIMATE.search(before)
    if estimate is None or estimate["before"][:1].isupper() or _LABELLED.search(estimate["before"]):
        return False
    value = float(estimate["value"].replace("−", "-").replace("·", "."))
    inside = int(ends[0]) <= value <= int(ends[1])
    return inside and bool(_STATISTIC.search(before))


def _parenthesis_markers(text: str, known: Collection[int]) -> Iterable[Marker]:
    for match in _PARENTHESES.finditer(text):
        marker = _marker(match.group(), match.span(), match["numbers"], known)
        if marker is None or marker.invalid or not marker.numbers:
            continue
        if _is_interval(text, match.start(), match["numbers"]):
            continue
        if match["word"] or _stands_as_citation(text, match.start(), match.end()):
            yield marker


def _stands_as_citation(text: str, start: int, end: int) -> bool:
    """Whether "(1)" follows a statement, rather than numbering the item behind it or the word before it."""
    before = text[max(0, start - 40) : start].rstrip(" \u00a0")
    if not before or before[-1] in ":,;(=\n–—" or before[-1].isdigit():
        return False
    if _LABELLED.search(before) or re.search(r"\b(?:and|or|were|are|include[sd]?|that|to)$", before):
        return False
    after = text[end : end + 20]
    ends_before = before[-1] in ".!?" and re.match(r"\s+[A-Z]", after) is not None
    return bool(_GOES_ON.match(after)) or ends_before


def _superscript_markers(text: str, known: Collection[int]) -> Iterable[Marker]:
    for match in _SUPERSCRIPT.finditer(text):
        if _may_carry_note(text, match.start()):
            digits = match.group().translate(_TO_DIGITS)
            yield from _existing(match, digits, known)
    for match in _CARET.finditer(text):
        if match["html"] or _may_carry_note(text, match.start()):
            yield from _existing(match, match["html"] or match["numbers"], known)
    for match in _LOWERED.finditer(text):
        marker = _marker(match.group(), match.span(), match["numbers"], known)
        if marker is not None and marker.numbers and not marker.invalid:
            yield marker


def _existing(match: re.Match[str], digits: str, known: Collection[int]) -> Iterable[Marker]:
    """A raised marker if all its numbers exist; "¹²" is 12 when there is a 12, else 1 and 2."""
    readings = [digits]
    if digits.isdigit() and len(digits) > 1:
        readings.append(",".join(digits))
    for reading in readings:
        marker = _marker(match.group(), match.span(), reading, known)
        if marker is not None and marker.numbers and not marker.invalid:
            yield marker
            return


def _may_carry_note(text: str, start: int) -> bool:
    """Whether a raised number here can be a note: not an exponent (10⁶), not a unit (kg/m²)."""
    before = text[max(0, start - 20) : start]
    if not before or before[-1].isdigit() or before[-1].isspace() or before[-1] in "^(/⁻−-=":
        return False
    token = re.search(r"[^\W\d_]+$", before)
    return token is None or token.group() not in _UNITS


def _outside(taken: list[Span], markers: list[Marker]) -> list[Marker]:
    """Those of `markers` that overlap neither `taken` nor an earlier one of themselves."""
    free: list[Marker] = []
    place, end = 0, 0
    for marker in sorted(markers, key=lambda item: item.span):
        start, stop = marker.span
        while place < len(taken) and taken[place][1] <= start:
            place += 1
        if start >= end and (place == len(taken) or taken[place][0] >= stop):
            free.append(marker)
            end = stop
    return free


def _joined(text: str, markers: list[Marker]) -> list[Marker]:
    """Markers that stand next to each other, as one: [1][2] cites two works for one statement."""
    runs: list[list[Marker]] = []
    for marker in markers:
        if runs and text[runs[-1][-1].span[1] : marker.span[0]].strip(" ") == "" and not runs[-1][-1].link:
            runs[-1].append(marker)
        else:
            runs.append([marker])
    return [run[0] if len(run) == 1 else _run(text, run) for run in runs]


def _run(text: str, run: list[Marker]) -> Marker:
    start, end = run[0].span[0], run[-1].span[1]
    return Marker(
        text=text[start:end],
        span=(start, end),
        numbers=tuple(dict.fromkeys(number for marker in run for number in marker.numbers)),
        invalid=tuple(dict.fromkeys(number for marker in run for number in marker.invalid)),
        problems=tuple(problem for marker in run for problem in marker.problems),
        link=run[-1].link,
    )


class CitationStream:
    """Markers and text of a stream whose pieces may cut "[12]" anywhere.

    `feed` and `close` return what is certain by then: str for text, Marker for a citation; spans count from the
    start of the stream. A bracket that never closes comes out as the text it is. Only bracketed markers are
    recognised: whether "(1)" or "¹" cites isn't known before the reference list has arrived.
    """

    _OPEN = re.compile(
        r"(?:\[{1,2}|【|［)\s{0,2}\^?(?:[A-Za-z]{0,10}\.?:?\s{0,2})?"
        rf"(?:[0-9,;，、&#\s{_DASH}]|a$|an$|and)*(?:†[^\[\]【】\n]{{0,80}})?\]?$"
    )
    _OPEN_LINK = re.compile(r"\((?:[^\s()\[\]]|\([^\s()\[\]]{0,200}\)?)*$")
    _LONGEST = 600
    _CONTEXT = 80

    def __init__(self, known: Collection[int] | None = None) -> None:
        self._known = known
        self._context = ""
        self._held = ""
        self._offset = 0

    def feed(self, piece: str) -> list[str | Marker]:
        """What became certain with `piece`."""
        self._held += piece
        return self._release(self._certain())

    def close(self) -> list[str | Marker]:
        """The rest; an unclosed bracket is text."""
        return self._release(len(self._held))

    def _certain(self) -> int:
        """How much of what is held can't change its meaning any more."""
        held = self._held
        for marker in bracket_markers(self._context + held, self._known, len(self._context)):
            start, end = (place - len(self._context) for place in marker.span)
            rest = held[end:]
            link_may_follow = not marker.link and len(rest) <= self._LONGEST and self._OPEN_LINK.match(rest)
            if not rest or link_may_follow:
                return start - 1 if start > 0 and held[start - 1] == "[" else start
        opening = max(held.rfind(char, max(0, len(held) - self._LONGEST)) for char in "[【［")
        if opening > 0 and held[opening - 1 : opening + 1] == "[[":
            opening -= 1
        return opening if opening >= 0 and self._OPEN.match(held, opening) else len(held)

    def _release(self, end: int) -> list[str | Marker]:
        text, shift = self._context + self._held[:end], len(self._context)
        out: list[str | Marker] = []
        done = shift
        for marker in bracket_markers(text, self._known, shift):
            start, stop = marker.span
            if start > done:
                out.append(text[done:start])
            base = self._offset - shift
            out.append(marker.model_copy(update={"span": (base + start, base + stop)}))
            done = stop
        if done < len(text):
            out.append(text[done:])
        self._offset += end
        self._held = self._held[end:]
        self._context = text[-self._CONTEXT :]
        return out

