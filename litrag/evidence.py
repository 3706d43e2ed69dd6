"""Which sentences of a passage decide a claim.

In: a claim and the stored text of a passage. Out: half-open spans of whole sentences in that text, in order. The
judge reads only these, in training as in use, and they are what a reader is shown as the deciding text. Lexical
and deterministic: it narrows the reading, it decides nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from litrag.sentences import split

Span = tuple[int, int]

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_NUMBER = re.compile(r"(?<![\w.])[-−–]?\d+(?:[.,·]\d+)*")
_CONCLUSION = re.compile(
    r"^\W*(?:conclusions?|interpretation|in conclusion|in summary|these (?:results|findings|data)|"
    r"our (?:results|findings|data|study)|taken together|we conclude|overall|thus|therefore)\b",
    re.IGNORECASE,
)
_PREPARATION = re.compile(
    r"\b(?:aim|objective|purpose|hypothes|we (?:investigated|examined|evaluated|assessed|sought|aimed|"
    r"compared|studied)|to (?:evaluate|investigate|assess|determine|compare|examine|explore|test)\b|was to|"
    r"were (?:randomi[sz]ed|recruited|enrolled|assigned)|regist(?:ration|ered)|NCT\d)|"
    r"^\W*(?:background|introduction|methods?|objectives?|aims?|purpose|design|setting)\b",
    re.IGNORECASE,
)
_FINDING = re.compile(
    r"signific|\bP ?[<=>]|95 ?% ?CI|conclu|we (?:found|show|report|demonstrate|identif)|suggest|indicat|associat",
    re.IGNORECASE,
)
_STOP_WORDS = """
a an the of in on at to for from by with without and or but as is are was were be been being has have had
having do does did it its this that these those than then there their they which who whom whose we our us not
no nor can could may might will would should shall must more less into between among after before during over
under about also both each other such only same so if when where while via per study patients compared
"""
_STOP = frozenset(_STOP_WORDS.split())
_ENDINGS = """
isations izations isation ization ations ements ically ances ation ement ences ingly ional ities ively ments
able ally ance ence ible ical ings ions ment ness als ers ies ing ion ity ive ous al ed er es ic ly e s y
"""
_SUFFIXES = tuple(_ENDINGS.split())
_MOST_CHARACTERS = 900


def select_window(claim: str, text: str, max_sentences: int = 4) -> list[Span]:
    """Spans of the sentences of `text` that bear most on `claim`, in text order; whole text if it is short.

    A sentence's weight is how much of the claim it covers, rare words and numbers counting more; words that an
    already chosen sentence covers count less, so that the second sentence adds what the first left open.
    """
    sentences = split(text)
    if len(sentences) <= max_sentences and len(text) <= _MOST_CHARACTERS:
        return sentences
    read = _read(text)
    weights = _weights(_terms(claim), [sentence.terms for sentence in read])
    chosen: list[int] = []
    covered: Counter[str] = Counter()
    length = 0
    while len(chosen) < min(max_sentences, len(sentences)):
        gain, order = max(
            (_gain(sentence, weights, covered) + sentence.bonus, -place)
            for place, sentence in enumerate(read)
            if place not in chosen
        )
        place = -order
        start, end = sentences[place]
        if chosen and (gain <= 0.0 or length + end - start > _MOST_CHARACTERS):
            break
        chosen.append(place)
        length += end - start
        covered.update(read[place].terms)
    return [sentences[place] for place in sorted(chosen)]


class _Sentence(NamedTuple):
    """What a sentence brings to any claim: its terms, how long it is in terms, and what it is for."""

    terms: frozenset[str]
    length: int
    bonus: float


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[_Sentence, ...]:
    """The sentences of a text; several claims on one source share the reading."""
    sentences = split(text)
    bags = [_terms(text[start:end]) for start, end in sentences]
    return tuple(
        _Sentence(frozenset(bag), sum(bag.values()), _bonus(text, sentences, place)) for place, bag in enumerate(bags)
    )


def window_text(text: str, spans: list[Span]) -> str:
    """The selected sentences as one string, the way the judge reads them."""
    return " ".join(text[start:end] for start, end in spans)


def _terms(text: str) -> Counter[str]:
    words = [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]
    return Counter([*words, *(number.replace("·", ".").lstrip("-−–") for number in _NUMBER.findall(text))])


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def _weights(claim: Counter[str], bags: Sequence[frozenset[str]]) -> dict[str, float]:
    total = len(bags)
    frequency = {term: sum(term in bag for bag in bags) for term in claim}
    return {term: math.log(1.0 + total / frequency[term]) for term in claim if frequency[term]}


def _gain(sentence: _Sentence, weights: dict[str, float], covered: Counter[str]) -> float:
    """What this sentence adds; repeated cover is worth less, and long sentences must earn their length."""
    total = sum(weight * 0.7 ** covered[term] for term, weight in weights.items() if term in sentence.terms)
    return float(total / (sentence.length + 12.0) ** 0.25)


def _bonus(text: str, sentences: list[Span], place: int) -> float:
    """Findings and conclusions decide claims; aims, methods and registrations share their words but decide nothing.

    The last sentences often are a conclusion without saying so.
    """
    start, end = sentences[place]
    sentence = text[start:end]
    bonus = 0.6 if _CONCLUSION.match(sentence) else 0.0
    bonus += 0.5 if _FINDING.search(sentence) else 0.0
    bonus -= 1.0 if _PREPARATION.search(sentence) else 0.0
    return bonus + (0.3 if place >= len(sentences) - 2 else 0.0)
