"""The figures of medical prose: each number with its unit, role, comparator and the arm it belongs to.

In: a text. Out: `Figure`s whose spans index that very text. A number that is part of a name ("GLP-1", "STEP 4",
"type 2", "HbA1c", "SF-36") is no figure. Nothing is inferred: what the words around a number don't say stays None.
"""

from __future__ import annotations

import re
from functools import lru_cache

from litrag.models import Model, Span

#: One character for one, so that spans stay those of the stored text.
_FOLD = str.maketrans(
    {
        "−": "-",
        "‐": "-",
        "‑": "-",
        "–": "-",
        "—": "-",
        "·": ".",
        "\u00a0": " ",
        "\u2009": " ",
        "\u202f": " ",
        "\u2007": " ",
        "≤": "<",
        "≥": ">",
        "µ": "u",
        "μ": "u",
        "％": "%",
    }
)

UNITS = {
    "percent": r"%|per ?cent\b",
    "points": r"(?:percentage|percent)[ -]points?\b|points?\b|pp\b",
    "mg": r"mg\b|milligrams?\b",
    "ug": r"ug\b|mcg\b|micrograms?\b",
    "g": r"g\b|grams?\b",
    "kg": r"kg\b|kilograms?\b|kilos?\b",
    "cm": r"cm\b|centimet(?:re|er)s?\b",
    "m": r"m\b|met(?:re|er)s?\b",
    "mmhg": r"mm ?Hg\b",
    "mmol": r"mmol(?:/l)?\b",
    "ml": r"ml(?:/min(?:/1\.73 ?m[²2])?)?\b",
    "day": r"days?\b",
    "week": r"weeks?\b|wk\b",
    "month": r"months?\b|mo\b",
    "year": r"years?\b|yrs?\b|y\b",
    "hour": r"hours?\b|h\b",
    "people": r"(?:\w+ ){0,2}?(?:participants?|patients?|people|persons?|adults|individuals|subjects|women|men|children)\b",
    "trial": r"(?:\w+ ){0,2}?(?:trials|studies|RCTs)\b",
    "site": r"(?:sites|cent(?:re|er)s)\b",
    "country": r"countries\b",
    "death": r"deaths?\b",
    "event": r"(?:\w+ )?events\b",
}
_UNITS = tuple((name, re.compile(rf"[ -]?(?:{pattern})", re.IGNORECASE)) for name, pattern in UNITS.items())
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9.,/])(?P<sign>[+-]\s?)?(?P<value>\d{1,3}(?:[,\u2009 ]\d{3})+(?![\d])|\d+(?:\.\d+)?|\.\d+)(?![\d])"
)
#: More than the longest word or phrase that is looked for right before a number.
_SHORT_LEAD = 48
_NAME_BEFORE = re.compile(
    r"(?:\b[A-Z][A-Z]{3,}[ -]|\b(?:type|grade|stage|class|level|cohort|group|arm|chapter|figure|fig\.|table|part|"
    r"SF|GLP|SGLT|IL|(?i:covid)|PD|DPP|TNF|(?i:rule|band|article|section|question|amendment)|"
    r"vitamin|omega|ref\.?|version|GPT)[ -]?)$"
)
_REFERENCE_BEFORE, _REFERENCE_AFTER = re.compile(r"\[(?:\d+[,;–-] ?)*$"), re.compile(r"(?:[,;-] ?\d+)*\]")
_DATE = re.compile(
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\.? $"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PHASE = re.compile(r"\bphase[ -]$", re.IGNORECASE)
_RATIO = re.compile(
    r"\b(?:HR|RR|OR|IRR|SHR|aHR|aOR|aRR|(?:hazard|odds|risk|rate|incidence rate|prevalence) ratios?|relative risk)s?\b"
    r"(?:[\s,:=;(]|\bof\b|\bwas\b|\bwere\b|\bfor\b[^.;()\d]{0,60}|\bfavou?red\b[^.;()\d]{0,40}|"
    r"\bfor [^.;()\d]{0,80}?\bwas\b|\bit was\b)*$",
    re.IGNORECASE,
)
_RATIO_WORD = re.compile(r"\b(?:HR|RR|OR|aHR|aOR|ratio|relative risk)\b", re.IGNORECASE)
#: Whether a unit can follow at all; most numbers stand before a bracket or a comma.
_UNIT_NEXT = re.compile(r"[ -]?[\w%]")
_INTERVAL_NEXT = re.compile(r"\s*[,;]?\s*[(\[]?\s*(?:with )?(?:a )?9\d(?:\.\d)?\s*% (?:CI|confidence)")
_P_BEFORE = re.compile(
    r"\bP(?:[ -]?values?)?\s*(?:was|of|for [a-z -]{0,40})?\s*(?:[<>=]|above|below)\s*=?\s*$", re.IGNORECASE
)
_CI = re.compile(
    r"(?:\b(?:9\d|8\d)(?:\.\d)?\s*%\s*)?\b(?:CI|CrI|confidence interval|credible interval)s?\b"
    r"(?:[\s,:;=(\[]*(?:of |was |from )*| [^.;:()]{0,60}?\b(?:ran|was|went|ranged|extended) from )"
    r"(?P<low>[+-]?\s?\d*\.?\d+)\s*%?\s*(?:to|-|,|;|and)\s*(?P<high>[+-]?\s?\d*\.?\d+)",
    re.IGNORECASE,
)
_TIME_BEFORE = re.compile(r"\b(?P<unit>week|month|year|day)s?[ -]$", re.IGNORECASE)
_COMPARATOR = re.compile(
    r"(?:(?P<at_least>[>]=?|at least|no less than|minimum of|or more than)|(?P<below><=?|less than|fewer than|under|below|"
    r"up to|at most)|(?P<above>more than|over|above|exceed\w*)|(?P<about>about|around|approximately|roughly|nearly|almost|"
    r"some|circa|~|≈))\s*$",
    re.IGNORECASE,
)
DRUG = re.compile(
    r"\b(?:[a-z]{3,}(?:glutide|natide|senatide|patide|gliptin|gliflozin|glitazone|formin|statins?|sartan|pril|olol|"
    r"mab|tinib|mycin|cillin|azole|parin|xaban|gatran|prazole|oxetine|idine|vir|platin|taxel|dipine|afil|trutide|tide)|"
    r"insulin|aspirin|warfarin|heparin|orlistat|metformin|bupropion|naltrexone|phentermine|topiramate|"
    r"dexamethasone|hydroxychloroquine|vitamin [a-z]\b)\b",
    re.IGNORECASE,
)
#: The words among which drugs are looked for, none of which is shorter; each is compared with DRUG once.
_DRUG_OR_WORD = re.compile(r"\b(?:vitamin [a-z]|[a-z]{6,})\b", re.IGNORECASE)
_NOT_DRUGS = frozenset(
    [
        "peptide",
        "nucleotide",
        "polypeptide",
        "riptide",
        "oligonucleotide",
        "glycopeptide",
        "neuropeptide",
        "virvir",
    ]
)
CONTROL = re.compile(
    r"\b(?:placebo|controls?|control group|comparators?|usual care|standard (?:of )?care|sham|no treatment|untreated)\b",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"^\s*(?:%|percent|per cent|\w+)?(?:\s*\([^()]*\))?(?:\s*,?\s*(?:of (?:the )?|\w+ ){0,4}?)?\b(?:with|on|in|for|of|among|"
    r"receiving|given|taking|under|using|the|those)\b[^.;:\d()]{0,55}$",
    re.IGNORECASE,
)

_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        """
    zero one two three four five six seven eight nine ten eleven twelve
    """.split()
    )
}
_COUNT_WORD = re.compile(
    r"\b(?P<word>two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?= (?!in\b|out\b|of\b|times\b|quarters\b|thirds\b|fifths\b|tenths\b)(?:\w+[ -]){0,3}?"
    r"(?:trials|studies|RCTs|countries|sites|weeks|months|years|days|participants|patients|people|arms)\b)",
    re.IGNORECASE,
)


class Figure(Model):
    """One number: `value` is unsigned, `sign` −1, 0 (none written) or 1; `kind` is its unit or role."""

    value: float
    sign: int = 0
    decimals: int = 0
    kind: str = "plain"
    comparator: str | None = None
    arm: str | None = None
    span: Span
    text: str

    @property
    def days(self) -> float | None:
        return self.value * _DAYS[self.kind] if self.kind in _DAYS else None

    @property
    def is_time(self) -> bool:
        return self.kind in _DAYS


class Interval(Model):
    """A confidence interval; signs are as written."""

    low: float
    high: float
    span: Span

    def excludes(self, null: float) -> bool:
        return self.low > null or self.high < null

    def touches(self, null: float) -> bool:
        return null in (self.low, self.high)


def fold(text: str) -> str:
    """The text with dashes, spaces and comparators in their plain form, character for character."""
    return text if text.isascii() else _folded(text)


@lru_cache(maxsize=2048)
def _folded(text: str) -> str:
    return text.translate(_FOLD)


@lru_cache(maxsize=4096)
def intervals(text: str) -> tuple[Interval, ...]:
    """Confidence intervals in the order they stand."""
    found = []
    plain = fold(text)
    for match in _CI.finditer(plain):
        low, high = (float(match[name].replace(" ", "")) for name in ("low", "high"))
        separator = plain[match.end("low") : match.start("high")]
        if low > 0 > high and "-" in match["high"] and separator.strip() in ("", "-"):
            high = -high
        found.append(Interval(low=min(low, high), high=max(low, high), span=match.span()))
    return tuple(found)


@lru_cache(maxsize=4096)
def figures(text: str) -> tuple[Figure, ...]:
    """Figures in the order they stand; the limits of confidence intervals are left to `intervals`."""
    plain = fold(text)
    taken = [i.span for i in intervals(text)]
    arms = arm_mentions(text)
    found: list[Figure] = []
    for match in _NUMBER.finditer(plain):
        start, end = match.span("value")
        if any(low <= start < high for low, high in taken):
            continue
        before, after = plain[max(0, start - 160) : match.start()], plain[end : end + 40]
        if _is_part_of_name(before, after, plain, match):
            continue
        found.append(_figure(match, before, after, arms, plain))
    found += [
        Figure(
            value=_NUMBER_WORDS[match["word"].lower()],
            kind=_kind("", plain[match.end() :][:40]),
            span=match.span(),
            text=match[0],
        )
        for match in _COUNT_WORD.finditer(plain)
    ]
    return tuple(sorted(found, key=lambda figure: figure.span))


def _is_part_of_name(before: str, after: str, plain: str, match: re.Match[str]) -> bool:
    written = match["value"]
    if match["sign"] and "." not in written and re.search(r"[A-Za-z]$", before[-2:]):
        return True  # a hyphen, as in "GLP-1"
    if re.match(r"[A-Za-z]", after) and _unit(after) is None:
        return True  # "1c", "2D"
    lead = (before + (match["sign"] or ""))[-_SHORT_LEAD:]
    if re.search(r"[A-Za-z]-$", lead[-4:]) or re.match(r"-[a-z]*(?:kinase|ase|methyl|hydroxy|like)", after):
        return True  # "SARS-CoV-2", "3-kinase"
    if re.match(r"/\d", after) or _DATE.search(before):
        return True  # a fraction or a list such as "1/2", a day of the calendar
    if _YEAR.fullmatch(written) and _unit(after) is None:
        return True  # a year of the calendar
    if _REFERENCE_BEFORE.search(before) and _REFERENCE_AFTER.match(after):
        return True  # a reference in brackets, "[2,5]"
    if not before.rpartition("\n")[2].strip() and re.match(r"[.)]\s", after) and len(written) < 3:
        return True  # the number of an item of a list, "2. In"
    if re.match(r":\d", after) or re.search(r"\d:$", before):
        return True  # an allocation ratio, "2:1"
    if re.match(r"\s*[-]?\s*(?:point|component)\b", after) and "MACE" in after:
        return True
    return bool(_NAME_BEFORE.search(lead)) and not re.search(r"\b(?:BMI|HR|CI)[ -]$", before)


def _figure(
    match: re.Match[str], before: str, after: str, arms: tuple[ArmMention, ...], plain: str
) -> Figure:
    written = match["value"].replace(",", "").replace(" ", "").replace("\u2009", "")
    sign = match["sign"] or ""
    start = match.start()
    if sign.endswith(" ") and before.endswith(" "):  # a dash between words
        sign = ""
    comparator = _COMPARATOR.search(before[-_SHORT_LEAD:])
    return Figure(
        value=float(written),
        sign={"+": 1, "-": -1}.get(sign.strip(), 0),
        decimals=len(written.partition(".")[2]),
        kind=_kind(before, after, decimal="." in written),
        comparator=comparator.lastgroup
        if comparator
        else ("at_least" if re.match(r"[^.;,\d]{0,12}\bor (?:more|older|higher|above)\b", after) else None),
        arm=_arm(match.span("value"), arms, plain),
        span=(start if sign else match.start("value"), match.end()),
        text=plain[(start if sign else match.start("value")) : match.end()].strip(),
    )


@lru_cache(maxsize=4096)
def _unit(after: str) -> str | None:
    """The unit that follows a number; of several that could, the nearest ("four trials in people")."""
    if not _UNIT_NEXT.match(after):
        return None
    ends = {name: match.end() for name, pattern in _UNITS if (match := pattern.match(after))}
    return min(ends, key=lambda name: ends[name]) if ends else None


def _kind(before: str, after: str, *, decimal: bool = False) -> str:
    if _P_BEFORE.search(before):
        return "p"
    if _PHASE.search(before[-_SHORT_LEAD:]):
        return "phase"
    unit = _unit(after)
    if unit:
        return unit
    time = _TIME_BEFORE.search(before[-_SHORT_LEAD:])
    if time:
        return time["unit"].lower()
    clause = re.split(r"[.;] |, and ", before)[-1]
    named = decimal and _RATIO_WORD.search(clause)
    if named or _RATIO.search(before) or (_INTERVAL_NEXT.match(after) and _RATIO_WORD.search(before)):
        return "ratio"
    if re.search(r"\bn\s*=\s*$", before):
        return "people"
    return "plain"


class ArmMention(Model):
    """Where a text names a treatment arm; `name` is `control` or a drug's name in lower case."""

    name: str
    span: Span


@lru_cache(maxsize=20_000)
def _is_drug(word: str) -> bool:
    return DRUG.fullmatch(word) is not None and word not in _NOT_DRUGS


@lru_cache(maxsize=4096)
def arm_mentions(text: str) -> tuple[ArmMention, ...]:
    """Mentions of drugs and control arms in the order they stand; "placebo-controlled" is a design, not an arm."""
    plain = fold(text)
    found = [
        ArmMention(name=match[0].lower(), span=match.span())
        for match in _DRUG_OR_WORD.finditer(plain)
        if _is_drug(match[0].lower())
    ]
    found += [
        ArmMention(name="control", span=match.span())
        for match in CONTROL.finditer(plain)
        if not plain.startswith(("-controlled", " controlled", "led"), match.end())
    ]
    return tuple(sorted(found, key=lambda mention: mention.span))


def _past_bracket(span: Span, plain: str) -> int:
    """Where the text goes on after a number: behind the bracket that holds it, if one does."""
    opened, closed = plain.rfind("(", 0, span[0]), plain.rfind(")", 0, span[0])
    if opened <= closed or span[0] - opened > 80:
        return span[1]
    stop = plain.find(")", span[1], span[1] + 80)
    return stop + 1 if stop >= 0 else span[1]


def _arm(span: Span, arms: tuple[ArmMention, ...], plain: str) -> str | None:
    """The arm whose mention follows the number with nothing but a lead-in between ("2.4% with placebo")."""
    end = _past_bracket(span, plain)
    following = next((a for a in arms if a.span[0] >= end), None)
    if following is None:
        return None
    between = plain[end : following.span[0]]
    if re.search(r"\b(?:and|but|while|whereas|or)\b", between):
        return None
    if (
        len(between) <= 75
        and _LEADS.match(between)
        and not re.search(r"\bthan\b|\bvs\b|\bversus\b|compared", between)
    ):
        return following.name
    return None
