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
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property, lru_cache

from litrag.models import Span

Replace = Callable[[re.Match[str]], str]

_DASHES = "‐‑‒–—―−﹘﹣⁃"
_QUOTES = "‘’‚‛“”„‟′″‴«»‹›`´ʼˈ"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_ALIKE = {"µ": "μ", "≧": "≥", "⩾": "≥", "≦": "≤", "⩽": "≤", "º": "°", "˚": "°", "∶": ":", "∕": "/",
          "ı": "i", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "×": "x"}
_LOOKALIKE_TILDES = "≈∼≃≅～˜"
_DELETED = "™®©℠"
_BRACKETS = {"[": "(", "{": "(", "]": ")", "}": ")"}


def _one_to_one() -> dict[int, str]:
    """Replacements that keep the length, so that offsets need no map."""
    table = dict.fromkeys(map(ord, _DASHES), "-") | dict.fromkeys(map(ord, _QUOTES), "'")
    table |= dict.fromkeys(map(ord, _SPACES), " ") | dict.fromkeys(map(ord, _LOOKALIKE_TILDES), "~")
    table |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) != "～"}
    table |= {ord(char): alike for char, alike in _ALIKE.items() if char != "×"}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        bare = _without_accents(chr(code))
        if len(bare) == 1 and bare.isascii():
            table[code] = bare
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
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

_ENTITY = re.compile(r"&(?:amp;)?(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TAG = re.compile(
    r"(?P<digit>(?<=\d)<sup>\s*(?P<power>[-−–+]?\d+)\s*</sup>)|</?(?:i|b|u|p|em|strong|sup|sub|br|span)\s*/?>",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"(?<=[^\W\d_])[-‐‑\u00ad]\s*\n\s*(?=[^\W\d_])")
_THOUSANDS = re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:[,'’\u00a0\u2008\u2009\u202f]\d{3})+(?![\d])(?!,\d)")
_PER_CENT = re.compile(r"(?<![^\W_])[Pp][Ee][Rr][\s-][Cc][Ee][Nn][Tt](?![^\W_])")
_MOLAR = re.compile(r"(?:(?<=\d)|(?<=\d\s))(?P<prefix>[npfμµum]?)M(?![\w-])")
_MEGA = re.compile(r"(?<=[\d\s])M(?=(?:W|Hz|V|Pa|eV|Bq|J)\b)")
_STUCK_LABEL = re.compile(
    r"(?:(?<![^\W_])|(?<=[a-z]))(?:Abstract|Aims?|Background|Conclusions?|Context|Data (?:Extraction|Sources?|Synthesis)|"
    r"Design|Discussion|Exposures?|Findings?|Funding|Importance|Interpretation|Interventions?|Introduction|"
    r"(?:Main )?Outcome Measures?|Main Outcomes?(?: and Measures)?|Measurements?|Measures|Methods?|Objectives?|"
    r"Participants|Patients|Purpose|Rationale|Relevance|Results?|Setting|Subjects|Significance)"
    r"(?=[A-Z][a-z]|A [a-z])"
)
_CAMEL = re.compile(r"[a-z][A-Z]")
_UNUSUAL = re.compile(
    r"(?<=\d)(?P<power>[⁺⁻]?[⁰¹²³⁴-⁹]+)"
    r"|(?P<times>(?<=\d) ?[·⋅∙] ?(?=10[\^⁰¹²³⁴-⁹⁻]))"
    r"|(?P<point>(?<=\d)[·∙⋅‧](?=\d))"
    r"|(?P<mixed>(?<=\d)[¼½¾⅐-⅞])"
    r"|(?P<micro>μ(?=[A-Za-z]))"
    r"|(?P<unequal>[=<>≤≥]\u0338)"
    r"|(?P<greek>(?<![Ͱ-Ͽ])[Α-Ωα-ω](?![Ͱ-Ͽ]))"
    r"|[^\x00-\x7f]"
)

_AFTER_WORDS = "|".join(rf"(?<=\b{word})" for word in
                        ("to", "of", "by", "and", "was", "from", "is", "ci", "than", "or", "with", "between"))
_TOKEN = re.compile(
    r"\d+(?:\.\d+)*(?:\^-?\d+)?"
    r"|(?<![\w.])\.\d+"
    r"|[^\W\d_]+"
    r"|(?<=[\d%)\]])[,:;](?=\s?[-+]?\.?\d)"
    r"|-(?=\d*\.\d)"
    rf"|(?:(?<![^\W\d_])|{_AFTER_WORDS})-(?=\s?\.?\d)"
    r"|(?<=[a-z]\d)-(?!\w)|(?<=[a-z]\d\d)-(?!\w)"
    r"|\.{3,}"
    r"|>=|<=|\+/-|\+-(?=\s?\.?\d)"
    r"|(?<=\d)\s?\*\s?(?=\d)"
    r"|[^\s\w,:;.!?'\"*\^-]"
)
_COMMON = {"percent": "%", "versus": "vs", "mcg": "ug", "&": "and", ">=": "≥", "<=": "≤", "+/-": "±", "+-": "±",
           "×": "x", "*": "x", "•": "-", **_BRACKETS}


class Folded:
    """A stored text's tokens with the range of the text that each came from.

    `joined` is every token between single spaces, so that a substring search in it respects token borders.
    `labels` parts a section label from the word it is stuck to ("ResultsOf"), as some abstracts are stored.
    """

    def __init__(self, text: str, *, labels: bool = True) -> None:
        self.text = text
        clean, self._starts, self._ends = _clean_with_offsets(text, labels)
        tokens: list[str] = []
        spans: list[Span] = []
        for match in _TOKEN.finditer(clean):
            tokens.append(_common(match.group().strip()))
            spans.append(match.span())
        self.tokens = tokens
        self.joined = f" {' '.join(tokens)} "
        self._clean_spans = spans

    def __len__(self) -> int:
        return len(self.tokens)

    def start(self, token: int) -> int:
        """Where the token begins in the stored text."""
        place = self._clean_spans[token][0]
        return place if self._starts is None else self._starts[place]

    def end(self, token: int) -> int:
        """Where the token ends in the stored text (half-open)."""
        place = self._clean_spans[token][1]
        return place if self._ends is None else self._ends[place - 1]

    def span(self, first: int, last: int) -> Span:
        """Range of the stored text that tokens `first` to `last` (half-open) came from."""
        return self.start(first), self.end(last - 1)

    def token_at(self, place: int) -> int:
        """Number of the token that begins just after `joined[place]`, a space."""
        return bisect_right(self._borders, place) - 1

    @cached_property
    def _borders(self) -> list[int]:
        borders, place = [], 0
        for token in self.tokens:
            borders.append(place)
            place += len(token) + 1
        borders.append(place)
        return borders

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Token → numbers of its occurrences, ascending."""
        table: dict[str, list[int]] = {}
        for number, token in enumerate(self.tokens):
            table.setdefault(token, []).append(number)
        return table


@lru_cache(maxsize=512)
def fold(text: str) -> Folded:
    """Folded form of a text, kept for the last few hundred texts because sources are searched again and again."""
    return Folded(text)


def fold_tokens(text: str) -> list[str]:
    """The tokens of `text` in their common form, without offsets: the quick way, for quotes."""
    for applies, pattern, replace in _STEPS:
        if applies(text):
            text = pattern.sub(replace, text)
    if not text.isascii():
        text = _UNUSUAL.sub(_usual, text.translate(_ONE_TO_ONE))
    tokens = _TOKEN.findall(text.lower())
    return [_COMMON.get(token, token) if token.isalnum() else _common(token.strip()) for token in tokens]


def _common(token: str) -> str:
    if token[0] == ".":
        return "…" if token.startswith("...") else "0" + token
    return _COMMON.get(token, token)


def _clean_with_offsets(text: str, labels: bool) -> tuple[str, list[int] | None, list[int] | None]:
    """Text ready for cutting into tokens and, unless offsets stayed the same, each character's range in `text`."""
    offsets = _Offsets(text)
    for applies, pattern, replace in (*_STEPS, *([_LABEL_STEP] if labels else [])):
        if applies(offsets.text):
            offsets.rewrite(pattern, replace)
    if not offsets.text.isascii():
        offsets.text = offsets.text.translate(_ONE_TO_ONE)
        offsets.rewrite(_UNUSUAL, _usual)
    return offsets.text.lower(), offsets.starts, offsets.ends


class _Offsets:
    """A text under rewriting, with the original range of every character once lengths have changed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] | None = None
        self.ends: list[int] | None = None

    def rewrite(self, pattern: re.Pattern[str], replace: Replace) -> None:
        matches = [(m.start(), m.end(), replace(m)) for m in pattern.finditer(self.text)]
        matches = [m for m in matches if self.text[m[0]:m[1]] != m[2]]
        if not matches:
            return
        old_starts = self.starts if self.starts is not None else list(range(len(self.text)))
        old_ends = self.ends if self.ends is not None else list(range(1, len(self.text) + 1))
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


def _usual(match: re.Match[str]) -> str:
    """A character or two outside ASCII, as it is written inside it."""
    kind, text = match.lastgroup, match.group()
    if kind is None:
        return _fold_char(text)
    if kind == "power":
        return "^" + text.translate(_SUPERSCRIPTS)
    if kind == "greek":
        return f" {_GREEK[text.lower()]} "
    if kind == "mixed":
        return " " + _fold_char(text)
    return {"times": " x ", "point": ".", "micro": "u", "unequal": "≠"}[kind]


@lru_cache(maxsize=4096)
def _fold_char(char: str) -> str:
    if char in _DELETED or unicodedata.category(char) == "Cf" or "\u0300" <= char <= "\u036f":
        return ""
    if "\ufe00" <= char <= "\ufe0f":
        return ""
    if char == "≠":
        return char
    folded = _without_accents(char).translate(_ONE_TO_ONE).replace("⁄", "/")
    if folded.lower() in _GREEK and not "Ͱ" <= char <= "Ͽ":
        return f" {_GREEK[folded.lower()]} "
    return folded.lower() if len(folded) == len(folded.lower()) else char


def _unescape(match: re.Match[str]) -> str:
    return html.unescape(html.unescape(match.group()))


def _untag(match: re.Match[str]) -> str:
    return "^" + match["power"].translate(_ONE_TO_ONE) if match["power"] else ""


def _has_camel(text: str) -> bool:
    return _CAMEL.search(text) is not None


def _apart(match: re.Match[str]) -> str:
    return f" {match.group()} "


_Fold = tuple[Callable[[str], bool], re.Pattern[str], Replace]
_LABEL_STEP: _Fold = (_has_camel, _STUCK_LABEL, _apart)
_STEPS: tuple[_Fold, ...] = (
    (lambda text: "&" in text, _ENTITY, _unescape),
    (lambda text: "<" in text, _TAG, _untag),
    (lambda text: "\n" in text, _LINE_BREAK, lambda match: ""),
    (lambda text: "," in text or not text.isascii(), _THOUSANDS, lambda match: re.sub(r"\D", "", match.group())),
    (lambda text: "er cent" in text.lower(), _PER_CENT, lambda match: "percent"),
    (lambda text: "M" in text, _MOLAR, lambda match: match["prefix"] + "molar"),
    (lambda text: "M" in text, _MEGA, lambda match: "mega"),
)
