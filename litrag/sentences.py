"""Where the sentences of medical prose begin and end.

In: any text, an abstract or an assistant's answer. Out: half-open spans in that very text; slicing it by
them gives trimmed sentences in order, and nothing but white space lies between two of them. Rules, no model:
a wrong cut severs a figure from its subject, so when in doubt two sentences stay together.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: A full stop after these never ends a sentence.
NEVER_FINAL = _words(
    "vs v cf viz e.g i.e eg ie fig figs eq eqs eqn ref refs tab tabs dr mr mrs ms prof st mt approx ca "
    "resp vol vols pp ed eds spp sp ssp subsp var suppl incl excl sec sect chap al.e"
)
#: These are abbreviations only in front of a number ("No. 5", "p. 12", "Sept. 2021").
BEFORE_NUMBER = _words(
    "no nos nr p n art para jan feb mar apr jun jul aug sep sept oct nov dec ver wk"
)
#: These may end a sentence, but only when a word follows that usually opens one.
RARELY_FINAL = _words(
    "al etc inc ltd co corp dept univ jr sr et u.s u.k u.s.a e.u d.c ph.d m.d b.sc m.sc"
)
#: Ways and times of dosing: final when a capitalised word follows that isn't an acronym.
DOSING = _words(
    "i.v s.c i.m p.o i.p i.d s.l q.d b.i.d t.i.d q.i.d o.d b.d q.h a.m p.m p.r p.r.n a.c p.c i.n i.t"
)
OPENERS = _words(
    "the a an in we our this these those that it its there here they their he she his her as at after "
    "although among all and any because before between both but by compared conversely despite during "
    "each finally first for from further furthermore hence however if moreover most no none of on one "
    "only overall nevertheless participants patients results methods conclusions conclusion background "
    "objective objectives second secondary several similarly since so some such then therefore thus to "
    "two three under until use using when whereas whether which while with within without women men "
    "adults children subjects data studies study trials treatment what who why how does do is are was "
    "were can should not additionally importantly interestingly notably likewise subsequently ultimately "
    "eligible primary mean median eleven twelve ten four five six seven eight nine"
)
#: Words after which a single capital is a name, not an initial: "vitamin D.", "group B."
LETTERED = _words(
    "vitamin vitamins hepatitis group groups arm arms type types cohort class factor protein grade stage "
    "phase influenza part immunoglobulin haemophilia hemophilia category cluster drug treatment level "
    "panel sequence step zone model score scale plan site centre center period"
)
LABELS = _words(
    "background introduction context aim aims objective objectives purpose rationale importance "
    "hypothesis design setting settings participants patients subjects population intervention "
    "interventions exposure exposures method methods measurements outcomes results findings discussion "
    "interpretation conclusion conclusions limitations limitation funding relevance registration "
    "materials material"
)

_END = re.compile(r"[.!?]+|…|[。！？]")
_CLOSERS = "\"'”’»)]}"
_NOTE = re.compile(r"\s*\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]")
_SUPERSCRIPT = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*(?=\s+[\"“‘(\[]*[A-Z])|[¹²³⁰-⁹][¹²³⁰-⁹,⁻]*")
_LEAD = re.compile(r"[\"'“‘«(\[{*_#•\-–]*")
_WORD = re.compile(r"[^\W_][\w'’-]*")
_TOKEN_BEFORE = re.compile(r"[^\s(\[\"“‘,;:/–—]+$")
_BREAK = re.compile(r"\n[^\S\n]*(?:\n\s*|(?=(?:[-*•–]|#{1,6}|\d{1,2}[.)])[^\S\n]+\S))|(?<=\S)\n(?=\|)")
_HEADING = re.compile(r"^#{1,6}[^\S\n].*\n", re.MULTILINE)
_GLUED = re.compile(r"(?<=[a-z)%\d\]])\.(?=([A-Z][a-z]+)\b)")
_LONGEST_ASIDE = 400
_FAR = 1 << 60


def split(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, in order; `text[start:end]` is never empty and has no outer space."""
    return list(_spans(text))


@lru_cache(maxsize=256)
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    asides = _asides(text)
    lower = not any(char.isupper() for char in text)
    spans: list[tuple[int, int]] = []
    for start, end in _blocks(text):
        begin = start
        for cut in _candidates(text, start, end):
            if cut > begin and not _inside(asides, begin, cut) and _is_end(text, begin, cut, end, lower):
                _append(spans, text, begin, cut)
                begin = cut
        _append(spans, text, begin, end)
    return tuple(spans)


def sentences(text: str) -> list[str]:
    """The sentences themselves, for callers that don't need to know where they stand."""
    return [text[start:end] for start, end in split(text)]


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if piece.strip():
        left = start + len(piece) - len(piece.lstrip())
        spans.append((left, start + len(piece.rstrip())))


def _blocks(text: str) -> list[tuple[int, int]]:
    """Stretches that no sentence crosses: paragraphs, list items, headings."""
    borders = sorted({0, len(text), *(m.start() for m in _BREAK.finditer(text)),
                      *(m.end() for m in _HEADING.finditer(text))})
    return list(pairwise(borders))


def _asides(text: str) -> list[tuple[int, int]]:
    """Outermost bracketed stretches that close again soon; unbalanced brackets are ignored."""
    spans: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    closing = {")": "(", "]": "["}
    for position, char in enumerate(text):
        if char in "([":
            stack.append((char, position))
        elif char in closing and any(opener == closing[char] for opener, _ in stack):
            while stack:
                opener, start = stack.pop()
                if opener == closing[char]:
                    break
            if position - start <= _LONGEST_ASIDE and "\n\n" not in text[start:position]:
                while spans and spans[-1][0] > start:
                    spans.pop()
                spans.append((start, position + 1))
    return spans


def _inside(asides: list[tuple[int, int]], begin: int, cut: int) -> bool:
    """Whether `cut` lies within a bracket; an aside that is the whole sentence ends where it closes."""
    place = bisect_right(asides, (cut - 1, _FAR)) - 1
    if place < 0:
        return False
    start, end = asides[place]
    return start >= begin and start < cut < end


def _candidates(text: str, start: int, end: int) -> list[int]:
    """Positions just after a terminator with its closing quotes, brackets and reference numbers."""
    cuts: list[int] = []
    for match in _END.finditer(text, start, end):
        cut = match.end()
        while cut < end and text[cut] in _CLOSERS:
            cut += 1
        if match.group() in "。！？":
            cuts.append(cut)
            continue
        if note := (_NOTE.match(text, cut, end) or _superscript(text, match.start(), cut, end)):
            cut = note.end()
        if cut == end or text[cut].isspace() or _is_glued(text, match.start()):
            cuts.append(cut)
    return cuts


def _superscript(text: str, stop: int, cut: int, end: int) -> re.Match[str] | None:
    """A reference number set right after the full stop: "was safe.12 The"."""
    if stop and (text[stop - 1].isalpha() or text[stop - 1] in ")%]") and cut == stop + 1:
        return _SUPERSCRIPT.match(text, cut, end)
    return None


def _is_glued(text: str, stop: int) -> bool:
    """A full stop whose space was lost: "was safe.The trial"."""
    match = _GLUED.match(text, stop)
    return match is not None and match.group(1).lower() in OPENERS


def _is_end(text: str, begin: int, cut: int, end: int, lower: bool) -> bool:
    """Whether the terminator before `cut` ends the sentence that began at `begin`."""
    rest = text[cut:min(end, cut + 80)]
    following = rest.lstrip()
    if not following or text[cut - 1] in "。！？":
        return True
    core = text[begin:cut].strip()
    if _is_label(core) or re.fullmatch(r"[(\[]?\d{1,2}[.)]+|[(\[]?[a-zA-Z][.)]+|[-*•–]", core):
        return False
    lead = _LEAD.match(following)
    opening = following[lead.end() if lead else 0:].lstrip()
    if not _may_open(opening, lower):
        return False
    body = core.rstrip(_CLOSERS)
    body = re.sub(r"(?<=[.!?…])(?:\s*\[[\d\s,;–-]+\]|[\d,–¹²³⁰-⁹-]+)$", "", body).rstrip(_CLOSERS)
    if body.endswith(("?", "!")):
        return True
    if body.endswith(("…", "..")):
        return not body.endswith((" …", " ...")) and _word(opening).lower() in OPENERS
    return _full_stop_ends(body[:-1] if body.endswith(".") else body, following, opening)


def _is_label(core: str) -> bool:
    words = [word.lower() for word in re.findall(r"[A-Za-z]+", core)]
    return 0 < len(words) <= 5 and core.rstrip(".").replace(" ", "").isalpha() and all(
        word in LABELS or word in ("and", "main", "of", "outcome", "measures") for word in words)


def _may_open(opening: str, lower: bool) -> bool:
    """Whether a sentence can begin like this: a capital, a number, or a symbol such as eGFR or mRNA."""
    if not opening:
        return False
    first = opening[0]
    if not first.islower():
        return first.isalnum() or first in "<>≥≤±~−+$€£©"
    word = _word(opening)
    return lower or any(char.isupper() for char in word[1:]) or first in "αβγδκλμ"


def _full_stop_ends(body: str, following: str, opening: str) -> bool:
    """The abbreviation rules; `body` is the sentence without its full stop."""
    match = _TOKEN_BEFORE.search(body)
    token = match.group().strip("'’)]”\"").lstrip("*_") if match else ""
    key, word = token.lower(), _word(opening)
    opens = word.lower() in OPENERS
    bracketed = following[0] in "(["
    if key in NEVER_FINAL:
        return False
    if key in BEFORE_NUMBER and opening[0].isdigit():
        return False
    if key in RARELY_FINAL:
        return opens and not bracketed
    if key in DOSING:
        return not bracketed and (opens or (word[:1].isupper() and word[1:].islower()))
    if key == "0" and opening[0].isdigit():
        return False
    if re.fullmatch(r"[A-Z](?:\.-?[A-Z])*", token):
        return _initial_ends(body[: match.start() if match else 0], token, word, opens)
    return True


def _initial_ends(before: str, token: str, word: str, opens: bool) -> bool:
    """A single capital is an initial unless it names something ("hepatitis B.") or an opener follows."""
    if opens and len(word) > 1:
        return True
    previous = re.findall(r"[\w-]+", before[-40:])
    named = bool(previous) and previous[-1].lower() in LETTERED
    return len(token) == 1 and named and len(word) > 1


def _word(opening: str) -> str:
    match = _WORD.match(opening)
    return match.group() if match else ""
