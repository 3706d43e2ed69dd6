"""A claim laid beside its source: the source's reporting clauses, and which of them speaks of the same thing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from litrag.discourse import is_aim
from litrag.figures import arm_mentions, figures, fold, intervals
from litrag.models import Model, Span
from litrag.sentences import split
from litrag.terms import stem

_WORD = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.IGNORECASE)
_STOP = frozenset(
    """
    a an and are as at be been but by did do does for from had has have in into is it its of on or
    over that the their them these they this those to was were which while who with within than then
    there vs versus both also only per about around after before during when where all any each
    other such so no not compared group groups participants patients people persons individuals
    adults study studies trial trials found showed shown show reported observed mean median average
    rate rates occurred significant significantly statistically percent percentage points week weeks
    year years month months day days ci hr rr among between led leads brought comparison alone
    demonstrated demonstrate demonstrates analysis meta-analysis pooled pooling cohort likely
    one two three four five six seven eight nine ten eleven twelve
    confirmed established proved proven shows linked tested covered relative produces least produced
    taking took given treated treatment received relative ratio hazard risk cases linked
    """.split()
)
#: Words of direction say how, not what: they are compared by `effects`, never used to find the place.
UP = (
    r"(?:increas\w*|ris(?:e|es|en|ing)|rose|rais\w+|higher|more|greater|gain\w*|regain\w*|wors\w+|elevat\w+|grew|"
    r"doubled|commoner|exceed\w*|larger)"
)
DOWN = (
    r"(?:decreas\w*|reduc\w*|lower\w*|fewer|less|fall(?:s|en|ing)?|fell|drop\w*|los(?:t|s|ing|es)\w*|lose[sd]?|declin\w*|"
    r"cut(?:s|ting)?|smaller|shrank|rarer|slow(?:s|ed|er|ing)?|halv\w+)"
)
DIRECTION_WORD = re.compile(rf"{UP}|{DOWN}", re.IGNORECASE)

#: Phrases that name the same outcome or group, brought to one form before words are compared; each with the lower-case
#: letters of which a text has some if it has the phrase, since looking for those is far quicker.
_SAME_THING = tuple(
    (letters.split("|"), re.compile(pattern, re.IGNORECASE), form)
    for letters, pattern, form in (
        ("any ", r"\b(?:deaths?|dying|mortality|died) (?:from|of|due to|because of) any (?:cause|reason)\b", "all-cause death"),
        ("mortality|any death", r"\b(?:all-?[ ]?cause|overall|total) mortality\b|\bany deaths?\b", "all-cause death"),
        ("mortality|death|die|dying", r"\bmortality\b|\bdeaths\b|\bdied\b|\bdying\b|\bdie\b", "death"),
        ("mace|major ", r"\b(?:3-point |three-point )?MACE\b|\bmajor (?:adverse )?(?:cardiovascular|cardiac) events?\b",
         "major cardiovascular events"),
        ("cv", r"\bCV\b", "cardiovascular"),
        ("renal", r"\brenal\b", "kidney"),
        ("heart attack|mi", r"\bheart attacks?\b|\bMIs?\b(?!\w)", "myocardial infarction"),
        ("hba1c|ated h", r"\bHbA1c\b|\bglyc(?:at|osylat)ed ha?emoglobin\b", "haemoglobin glycated"),
        ("side|adverse |ae", r"\bside[- ]effects?\b|\badverse (?:effects?|reactions?)\b|\bAEs?\b", "adverse events"),
        ("discontinu|withdr|quit|came|gave|stop",
         r"\bdiscontinu\w+|\bwithdr[ae]w\w*|\bquit\w*|\bcame off\b|\bgave up\b|\bstop(?:s|ping)?\b", "stopped"),
        ("mass|bmi", r"\bbody[- ]?mass index\b|\bBMI\b", "body-mass-index"),
        ("body", r"\bbody[- ]?weight\b", "weight"),
        ("gi|stomach|digestive", r"\bGI\b|\bstomach\b|\bdigestive\b", "gastrointestinal"),
        ("t2d|diabetes", r"\bT2DM?\b|\btype[- ](?:2|II) diabetes(?: mellitus)?\b", "type-2 diabetes"),
        ("ckd", r"\bCKD\b", "chronic kidney disease"),
        ("hf|heart-failure", r"\bHF\b|\bheart-failure\b", "heart failure"),
        ("age", r"\bage[ds]?\b", "age"),
    )
)
#: Acronyms of studies, in the claim as in the source, tell nothing about the outcome.
_STUDY_NAME = re.compile(r"\b(?!MACE\b|UACR\b|NASH\b|MASH\b|LDL\b|HDL\b)[A-Z]{4,}(?:[ -]\d{1,2})?\b")


#: How much of the claim a clause must cover to speak of the same outcome or group.
SAME_MATTER = 0.6


class Unit(Model):
    """A sentence or clause of the source that reports something."""

    span: Span
    sentence: Span
    text: str
    words: frozenset[str]
    values: frozenset[float]


class Case(Model):
    """A claim, its source, the source's units and how much of the claim each of them covers (0–1)."""

    claim: str
    text: str
    words: frozenset[str]
    units: tuple[Unit, ...]
    shares: tuple[float, ...]

    def best(self, wanted: Callable[[Unit], bool] | None = None) -> tuple[Unit, float] | None:
        """The unit that fits the claim best among those `wanted`, with the share of the claim that it covers."""
        ranked = [
            (fit, -i) for i, (unit, fit) in enumerate(zip(self.units, self.fits(), strict=True))
            if wanted is None or wanted(unit)
        ]
        if not ranked:
            return None
        place = -max(ranked)[1]
        return self.units[place], self.shares[place]

    def fits(self) -> list[float]:
        """How well each unit fits the claim: the share of its words that it covers, and its numbers besides."""
        numbers = {figure.value for figure in figures(self.claim)}
        return [share + 0.12 * len(numbers & unit.values) for unit, share in zip(self.units, self.shares, strict=True)]


def inside(span: Span, other: Span) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]


@lru_cache(maxsize=20_000)
def content(text: str) -> frozenset[str]:
    """Stems of the words that say what a text is about, hyphenated words also in parts."""
    plain = _STUDY_NAME.sub(" ", fold(text))
    lower = plain.lower()
    for letters, pattern, form in _SAME_THING:
        if any(part in lower for part in letters):
            plain = pattern.sub(form, plain)
    return frozenset(part for word in _WORD.findall(plain.lower()) for part in _stems(word))


@lru_cache(maxsize=20_000)
def _stems(word: str) -> tuple[str, ...]:
    """The stems that a lower-case word stands for; none for words that say how, or nothing."""
    if word in _STOP or DIRECTION_WORD.fullmatch(word):
        return ()
    return tuple(stem(part) for part in _parts(word) if len(part) > 1 and part not in _STOP)


def _parts(word: str) -> list[str]:
    """A hyphenated word's parts, and itself when it is a term ("run-in"), not words strung together for the sentence."""
    parts = word.split("-")
    return parts if len(parts) > 2 or any(part in _STOP for part in parts) else [word, *parts]


#: Words of drug classes name an arm, not an outcome.
CLASS_WORDS = frozenset(stem(word) for word in ("receptor", "agonists", "inhibitors", "blockers", "analogues", "glp-1", "glp"))


@lru_cache(maxsize=64)
def open_case(claim: str, text: str) -> Case:
    """Lay a claim beside a source text; several checks of one pair share what is read here."""
    units = units_of(text)
    words = content(claim)
    arms = frozenset(stem(m.name) for m in arm_mentions(claim)) | {"placebo", "control", "oral", "subcutan"} | CLASS_WORDS
    weight = {
        w: (math.log(1 + len(units) / (1 + sum(w in unit.words for unit in units))) + 0.2) * (0.2 if w in arms else 1.0)
        for w in words
    }
    total = sum(weight.values()) or 1.0
    shares = tuple(sum(weight[w] for w in words & unit.words) / total for unit in units)
    return Case(claim=claim, text=text, words=words, units=units, shares=shares)


_CLAUSE = re.compile(
    r";\s+|(?<=\)),\s+(?:and|but|while|whereas)?\s*|(?<=\))\s+(?:and|but|while|whereas)\s+|"
    r",\s+(?:and|but|while|whereas)\s+(?=[^;.]*\d)|,?\s+(?:and\s+)?(?=\d+\.\d+ \(\d\d% CI)"
)


@lru_cache(maxsize=512)
def units_of(text: str) -> tuple[Unit, ...]:
    """Sentences that report something, cut into clauses where each clause has figures and words of its own."""
    found: list[Unit] = []
    for start, end in split(text):
        sentence = text[start:end]
        if is_aim(sentence):
            continue
        own = [figure for figure in figures(text) if inside(figure.span, (start, end))]
        cuts = [start, *(start + cut for cut in _cuts(sentence)), end]
        for low, high in pairwise(cuts):
            clause, span = text[low:high], (low, high)
            values = frozenset(figure.value for figure in own if inside(figure.span, span))
            found.append(Unit(span=span, sentence=(start, end), text=clause, words=content(clause), values=values))
    return tuple(found)


def _cuts(sentence: str) -> list[int]:
    cuts: list[int] = []
    last = 0
    for match in _CLAUSE.finditer(sentence):
        left, right = sentence[last : match.start()], sentence[match.end() :]
        if sentence.count("(", 0, match.start()) != sentence.count(")", 0, match.start()):
            continue
        figured = bool(intervals(left)) or len(figures(left)) > 1
        if figured and content(left) and content(right):
            cuts.append(match.end())
            last = match.end()
    return cuts
