"""Folding: what two copies of a text may differ in without saying anything different.

In: any text. Out: its tokens in a common form, and for stored text the exact range that each token came from.
Dashes, quotation marks, spaces, entities, ligatures, accents, soft hyphens, line-break hyphens and letter case
fold away. Numbers, signs, comparators, brackets, exponents and the case of units (nM, nm) do not, and a mark
between two numbers stays: `1,2` is never `12`, `10⁶` never `106`, `−1.4` never `1.4`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from functools import cached_property, lru_cache

from litrag.models import Span

Replace = Callable[[re.Match[str]], str]

_DASHES = "‐‑‒–—―−﹘﹣⁃"
_QUOTES = "‘’‚‛“”„‟′″‴«»‹›`´ʼˈ"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_ALIKE = {"µ": "μ", "≧": "≥", "⩾": "≥", "≦": "≤", "⩽": "≤", "º": "°", "˚": "°", "∶": ":", "∕": "/",
          "ı": "i", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D"}
_LOOKALIKE_TILDES = "≈∼≃≅～˜"
_DELETED = "™®©℠"
_BRACKETS = {"[": "(", "{": "(", "]": ")", "}": ")"}


def _one_to_one() -> dict[str, str]:
    """Replacements that keep the length, so that offsets need no map."""
    table = dict.fromkeys(_DASHES, "-") | dict.fromkeys(_QUOTES, "'")
    table |= dict.fromkeys(_SPACES, " ") | dict.fromkeys(_LOOKALIKE_TILDES, "~")
    table |= {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) != "～"}
    table |= _ALIKE
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        bare = _without_accents(chr(code))
        if len(bare) == 1 and bare.isascii():
            table[chr(code)] = bare
    return table


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not "\u0300" <= c <= "\u036f"))


_ONE_TO_ONE = _one_to_one()

_GREEK = dict(zip(
    "αβγδεζηθικλμνξοπρσςτυφχψω",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau "
    "upsilon phi chi psi omega".split(), strict=True,
))
_SUPERSCRIPT_DIGITS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

_ENTITY = re.compile(r"&(?:amp;)?(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TAG = re.compile(
    r"<(?:sup>\s*(?P<power>[-−–+]?\d+)\s*</sup>|/?(?:i|b|u|p|em|strong|sup|sub|br|span)\s*/?>)", re.IGNORECASE
)
_LINE_BREAK = re.compile(r"(?<=[^\W\d_])[-‐‑\u00ad]\s*\n\s*(?=[^\W\d_])")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")
_THOUSANDS = re.compile(r"[1-9](?<![\w.,].)\d{0,2}(?:[,'’\u00a0\u2008\u2009\u202f]\d{3})+(?![\d])(?!,\d)")
_PER_CENT = re.compile(r"[Pp](?<![^\W_].)[Ee][Rr][\s-]?[Cc][Ee][Nn][Tt](?![^\W_])")
_CAPITAL_UNIT = re.compile(
    r"M(?:(?<=\d.)|(?<=\d\s.))(?:(?![\w-])|(?=(?:W|Hz|V|Pa|eV|Bq|J)\b))"
    r"|M(?![\w-])(?:(?<=\d[npfμµum].)|(?<=\d\s[npfμµum].))"
)
_STUCK_LABEL = re.compile(
    r"(?:Abstract|Aims?|Background|Conclusions?|Context|Data (?:Extraction|Sources?|Synthesis)|"
    r"Design|Discussion|Exposures?|Findings?|Funding|Importance|Interpretation|Interventions?|Introduction|"
    r"Outcome Measures?|Main Outcome(?: Measures?|s?(?: and Measures)?)|Measurements?|Measures|Methods?|Objectives?|"
    r"Participants|Patients|Purpose|Rationale|Relevance|Results?|Setting|Subjects|Significance)"
    r"(?=[A-Z][a-z]|A [a-z])"
)
_BRACKETED_POWER = re.compile(
    r"(10(?<![a-wyzA-WYZ_\d.,]10)(?=\([-−–+]?[1-9]\d?\))|(?<![^\W\d_])[kcdmµμ]?m(?=\([23]\)))\(([-−–+]?\d+)\)(?![(\w])"
)
_TIMES = re.compile(r"(?<=\d)\s*\*\s*(?=\d)")
_UNUSUAL = re.compile(r"[⁰¹²³⁴-⁹]+|[⁺⁻][⁰¹²³⁴-⁹]+|[=<>≤≥]\u0338|[^\x00-\x7f]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_POWER_OF_TEN = re.compile(r" ?10[\^⁰¹²³⁴-⁹⁻]")

_AFTER_WORDS = "|".join(rf"(?<=\b{word}-)" for word in
                        ("to", "of", "by", "and", "was", "from", "is", "ci", "than", "or", "with", "between"))
#: Every branch begins with a set of characters, so that most are passed over without being tried.
_TOKEN = re.compile(
    r"[a-z]+(?![^\W\d_])"
    r"|[^\W\d_]+"
    r"|\d+(?:\.\d+)*(?:\^-?\d+)?"
    r"|[,:;](?<=[\d%)\]].)(?=\s*[-+]?\.?\d)"
    r"|-(?:(?=\d*\.\d)"
    rf"|(?:(?<![^\W\d]-)(?<![^\W\d_]\*-)(?<![^\W\d_]\*\*-)|{_AFTER_WORDS})(?=\s*\.?\d)"
    r"|(?:(?<=[a-z]\d-)|(?<=[a-z]\d\d-))(?![\w*]))"
    r"|\.(?:\.\.|(?<![\w.]\.)\d+)"
    r"|[><]=?"
    r"|\+(?:/-|-(?=\s*\.?\d))?"
    r"|[^\s\w,:;.!?'\"*\^-]"
)
_COMMON = {"versus": "vs", "mcg": "ug", "&": "and", ">=": "≥", "<=": "≤", "+/-": "±", "+-": "±", "...": "…",
           "×": "x", "•": "-", **_BRACKETS}


#: A mark whose meaning depends on a number after the space; cutting into chunks must not part the two.
_BEFORE_NUMBER = re.compile(r"[,:;+-]\s+(?=[-+]?\.?\d)")
_LONGEST_KEPT = 40
_MOST_KEPT = 100_000


class _Chunks(dict[str, str]):
    """What stands between two spaces → its tokens, a space after each; the same words come again and again."""

    def __missing__(self, chunk: str) -> str:
        tokens = [_COMMON.get(token, token) for token in _TOKEN.findall(chunk)]
        joined = "".join(f"0{token} " if token[0] == "." else f"{token} " for token in tokens)
        if len(chunk) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[chunk] = joined
        return joined


_CHUNKS = _Chunks()


class _Cuts(dict[str, list[Span]]):
    """What stands between two spaces → where in it each of its tokens stands."""

    def __missing__(self, chunk: str) -> list[Span]:
        cuts = [match.span() for match in _TOKEN.finditer(chunk)]
        if len(chunk) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[chunk] = cuts
        return cuts


_CUTS = _Cuts()


class Folded:
    """A stored text's tokens with the range of the text that each came from.

    `joined` is every token between single spaces, so that a substring search in it respects token borders.
    `labels` parts a section label from the word it is stuck to ("ResultsOf"), as some abstracts are stored.
    """

    def __init__(self, text: str, *, labels: bool = True) -> None:
        self.text = text
        self._labels = labels
        self._clean, self._shifted = _clean(text, labels)
        joined = "".join(map(_CHUNKS.__getitem__, self._clean.split(" ")))
        self.tokens = joined.split()
        self.joined = f" {joined}"

    @cached_property
    def bounds(self) -> tuple[list[int], list[int]]:
        """Where each token begins in the stored text, and where it ends (half-open)."""
        starts: list[int] = []
        ends: list[int] = []
        place = 0
        for chunk in self._clean.split(" "):
            for first, last in _CUTS[chunk]:
                starts.append(place + first)
                ends.append(place + last)
            place += len(chunk) + 1
        if self._shifted:
            began, ended = _offsets(self.text, self._labels)
            return [began[start] for start in starts], [ended[end - 1] for end in ends]
        return starts, ends

    def bound(self, token: int, side: int) -> int:
        """Where one token begins (side 0) or ends (1), without a look for the others."""
        if self._shifted:
            return self.bounds[side][token]
        place = 0
        for chunk in self._clean.split(" "):
            cuts = _CUTS[chunk]
            if token < len(cuts):
                return place + cuts[token][side]
            token -= len(cuts)
            place += len(chunk) + 1
        raise IndexError(f"the text has {len(self.tokens)} tokens")

    def tokens_in(self, span: Span) -> tuple[int, int]:
        """Numbers (half-open) of the tokens that begin within a range of the stored text."""
        starts = self.bounds[0]
        return bisect_left(starts, span[0]), bisect_left(starts, span[1])

    def __len__(self) -> int:
        return len(self.tokens)

    def start(self, token: int) -> int:
        """Where the token begins in the stored text."""
        return self.bounds[0][token]

    def end(self, token: int) -> int:
        """Where the token ends in the stored text (half-open)."""
        return self.bounds[1][token]

    def span(self, first: int, last: int) -> Span:
        """Range of the stored text that tokens `first` to `last` (half-open) came from."""
        starts, ends = self.bounds
        return starts[first], ends[last - 1]

    def begins_sentence(self, token: int) -> bool:
        """Whether the token stands first in a sentence, a section or the text."""
        start = self.start(token)
        before = self.text[max(0, start - 24):start].rstrip("\"'“‘«([ ")
        return not before or before[-1] in ".:?!\n)”’" or self.text[start - 1:start + 1].isalpha()

    def token_at(self, place: int) -> int:
        """Number of the token that begins just after `joined[place]`, a space."""
        return self.joined.count(" ", 0, place)

    @cached_property
    def once(self) -> frozenset[str]:
        """The tokens that stand in the text only once."""
        return frozenset(token for token, times in Counter(self.tokens).items() if times == 1)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Token → numbers of its occurrences, ascending."""
        table: dict[str, list[int]] = {}
        for number, token in enumerate(self.tokens):
            table.setdefault(token, []).append(number)
        return table


class PartlyFolded(Folded):
    """A quote of which only the middle is folded: before and after it, it repeats its source letter for letter.

    `before` and `after` give a range of the source's tokens each, and what to add to their places in the source for
    those in the quote; `within` is the range of the quote in between.
    """

    def __init__(
        self, quote: str, source: Folded, before: tuple[int, int, int], within: Span, after: tuple[int, int, int]
    ) -> None:
        self.text = quote
        self._source, self._before, self._within, self._after = source, before, within, after
        self._middle = Folded(quote[slice(*within)], labels=False)
        self.tokens = [*source.tokens[slice(*before[:2])], *self._middle.tokens, *source.tokens[slice(*after[:2])]]

    @cached_property
    def joined(self) -> str:  # type: ignore[override]
        """Every token between single spaces."""
        return f" {' '.join(self.tokens)} "

    def start(self, token: int) -> int:
        """Where the token begins in the quote."""
        return self._place(token, 0)

    def end(self, token: int) -> int:
        """Where the token ends in the quote (half-open)."""
        return self._place(token, 1)

    def span(self, first: int, last: int) -> Span:
        """Range of the quote that tokens `first` to `last` (half-open) came from."""
        return self._place(first, 0), self._place(last - 1, 1)

    def _place(self, token: int, side: int) -> int:
        first, last, shift = self._before
        token += first
        if token < last:
            return self._source.bounds[side][token] + shift
        token -= last
        size = len(self._middle.tokens)
        if token < size:
            return self._middle.bound(token, side) + self._within[0]
        first, _, shift = self._after
        return self._source.bounds[side][token - size + first] + shift


@lru_cache(maxsize=1024)
def fold(text: str) -> Folded:
    """Folded form of a text, kept for the last few hundred texts because sources are searched again and again."""
    return Folded(text)


def fold_tokens(text: str) -> list[str]:
    """The tokens of `text` in their common form, for when offsets don't matter."""
    return Folded(text, labels=False).tokens


def _clean(text: str, labels: bool) -> tuple[str, bool]:
    """Text ready for cutting into tokens, and whether its offsets have shifted."""
    shifted = False
    if not labels and _MARKED.search(text) is None:
        return text.lower(), False
    for applies, pattern, replace in _STEPS_WITH_LABELS if labels else _STEPS:
        if applies(text):
            new = pattern.sub(replace, text)
            shifted = shifted or new != text
            text = new
    if not text.isascii():
        text = _plain(text)
        if not text.isascii():
            new = _UNUSUAL.sub(_usual, text)
            shifted = shifted or new != text
            text = new
    return _BEFORE_NUMBER.sub(_kept_together, text.lower()), shifted


def _offsets(text: str, labels: bool) -> tuple[list[int], list[int]]:
    """For each character of the clean text the range of the stored text that it came from, as starts and ends."""
    rewriting = _Rewriting(text)
    for applies, pattern, replace in _STEPS_WITH_LABELS if labels else _STEPS:
        if applies(rewriting.text):
            rewriting.rewrite(pattern, replace)
    if not rewriting.text.isascii():
        rewriting.text = _plain(rewriting.text)
        rewriting.rewrite(_UNUSUAL, _usual)
    return rewriting.starts, rewriting.ends


class _Rewriting:
    """A text under rewriting, with the original range of every character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = list(range(len(text)))
        self.ends = list(range(1, len(text) + 1))

    def rewrite(self, pattern: re.Pattern[str], replace: Replace) -> None:
        matches = [(m.start(), m.end(), replace(m)) for m in pattern.finditer(self.text)]
        matches = [m for m in matches if self.text[m[0]:m[1]] != m[2]]
        if not matches:
            return
        old_starts, old_ends = self.starts, self.ends
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for begin, end, new in matches:
            parts += (self.text[done:begin], new)
            starts += old_starts[done:begin]
            ends += old_ends[done:begin]
            starts += [old_starts[begin]] * len(new)
            ends += [old_ends[end - 1]] * len(new)
            if not new and ends and unicodedata.combining(self.text[begin]):
                ends[-1] = old_ends[end - 1]
            done = end
        self.text = "".join((*parts, self.text[done:]))
        self.starts = starts + old_starts[done:]
        self.ends = ends + old_ends[done:]


def _plain(text: str) -> str:
    """The text with dashes, quotation marks, spaces and accented letters in their plain form, at the same places."""
    return _NOT_ASCII.sub(_alike, text)


def _alike(match: re.Match[str]) -> str:
    char = match.group()
    return _ONE_TO_ONE.get(char, char)


def _kept_together(match: re.Match[str]) -> str:
    mark = match.group()
    return mark[0] + "\n" * (len(mark) - 1)


def _usual(match: re.Match[str]) -> str:
    """What stands outside ASCII, as it is written inside it; how depends on what stands around it."""
    char, text, end = match.group(), match.string, match.end()
    before, after = text[match.start() - 1:match.start()], text[end:end + 1]
    if char[-1] in _SUPERSCRIPT_DIGITS:
        return ("^" if before.isdigit() else "") + char.translate(_SUPERSCRIPTS)
    if char in "·∙⋅‧" and (before + after).strip():
        if _POWER_OF_TEN.match(text, end):
            return " x "
        return "." if before.isdigit() and after.isdigit() else ""
    if char in "μΜ":
        return "u" if after.isascii() and after.isalpha() else " mu"
    if len(char) == 2:
        return "≠"
    if char.lower() in _GREEK and not _is_greek(before) and not _is_greek(after):
        return f" {_GREEK[char.lower()]}" + " " * after.isalpha()
    if char in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞":
        return " " * before.isdigit() + _fold_char(char)
    return _fold_char(char)


def _is_greek(char: str) -> bool:
    return "Ͱ" <= char <= "Ͽ"


@lru_cache(maxsize=4096)
def _fold_char(char: str) -> str:
    if char in _DELETED or unicodedata.category(char) == "Cf" or "\u0300" <= char <= "\u036f":
        return ""
    if "\ufe00" <= char <= "\ufe0f":
        return ""
    if char == "≠":
        return char
    folded = _plain(_without_accents(char)).replace("⁄", "/")
    if folded.lower() in _GREEK and not "Ͱ" <= char <= "Ͽ":
        return f" {_GREEK[folded.lower()]}"
    return folded.lower() if len(folded) == len(folded.lower()) else char


def _unescape(match: re.Match[str]) -> str:
    return html.unescape(html.unescape(match.group()))


def _untag(match: re.Match[str]) -> str:
    power = match["power"]
    if not power:
        return ""
    return ("^" if match.string[match.start() - 1:match.start()].isdigit() else "") + _plain(power)


def _power(match: re.Match[str]) -> str:
    """A power or a unit's exponent as a text export writes it, 10(6) and m(2), without its brackets."""
    base, power = match.groups()
    return f"{base}^{_plain(power)}" if base == "10" else base + power


def _capital_unit(match: re.Match[str]) -> str:
    """A unit in which a capital M says something: molar, mega."""
    return "mega" if match.string[match.end():match.end() + 1].isalpha() else "molar"


def _apart(match: re.Match[str]) -> str:
    """A label between spaces, unless it ends a word of its own."""
    before = match.string[match.start() - 1:match.start()]
    return match.group() if before.isalnum() and not "a" <= before <= "z" else f" {match.group()} "


_Fold = tuple[Callable[[str], bool], re.Pattern[str], Replace]
_STEPS: tuple[_Fold, ...] = (
    (lambda text: "&" in text, _ENTITY, _unescape),
    (lambda text: "<" in text, _TAG, _untag),
    (lambda text: "\n" in text, _LINE_BREAK, lambda match: ""),
    (lambda text: not text.isascii(), _INVISIBLE, lambda match: ""),
    (lambda text: "," in text or not text.isascii(), _THOUSANDS, lambda match: re.sub(r"\D", "", match.group())),
    (lambda text: "cent" in text or "CENT" in text or "Cent" in text, _PER_CENT, lambda match: "%"),
    (lambda text: "M" in text, _CAPITAL_UNIT, _capital_unit),
    (lambda text: "*" in text, _TIMES, lambda match: " x "),
    (lambda text: "0(" in text or "m(" in text, _BRACKETED_POWER, _power),
)
#: A mark without which no step changes anything.
_MARKED = re.compile(r"[&<\n,M*(]|[:;+-]\s|[Cc][Ee][Nn][Tt]|[^\x00-\x7f]")
_STEPS_WITH_LABELS = (*_STEPS, (lambda text: True, _STUCK_LABEL, _apart))
