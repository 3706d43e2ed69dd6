"""What code can decide about a claim and the sentences that bear on it, and say in words.

In: a claim and the stored text it cites. Out: `Finding`s, each a disagreement with its reason ("the claim says
68.4%, the source 86.4%") and the verdict it forces. No finding means that code has nothing against the claim, not
that it is supported. Checks are written to stay silent when the words leave room for doubt.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from litrag.discourse import is_aim
from litrag.figures import Figure, Interval, arm_mentions, figures, fold, intervals
from litrag.models import Finding, Model, Span, Verdict
from litrag.sentences import split
from litrag.terms import stem

_WORD = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.IGNORECASE)
_STOP = frozenset(
    "a an and are as at be been but by did do does for from had has have in into is it its of on or over that the their "
    "them these they this those to was were which while who with within than then there vs versus both also only per "
    "about around after before during when where all any each more most other such so no not compared group groups "
    "participants patients people adults study trial found showed shown mean median rate rates "
    "significant significantly percent percentage points week weeks year years month months day days ci hr".split()
)


class Unit(Model):
    """A sentence or clause of the source: a stretch that speaks of one result."""

    span: Span
    sentence: Span
    text: str
    words: frozenset[str]


class Case(Model):
    """A claim with the source text, the source's units, and the one that fits the claim best."""

    claim: str
    text: str
    units: tuple[Unit, ...]
    best: Unit | None
    fit: float


def check_claim(claim: str, text: str) -> list[Finding]:
    """All findings against a claim, the gravest first; empty when code sees nothing wrong.

    Only sentences that report something count: aims, hypotheses and open questions are no evidence.
    """
    case = _case(claim, text)
    found = [finding for check in CHECKS for finding in check(case)]
    unique = {(finding.kind, finding.message): finding for finding in found}
    return sorted(unique.values(), key=lambda finding: _GRAVITY[finding.verdict])


_GRAVITY = {Verdict.CONTRADICTS: 0, Verdict.NOT_FOUND: 1, Verdict.PARTIAL: 2}


def _case(claim: str, text: str) -> Case:
    units = _units(text)
    words = content(claim)
    best, fit = _best(words, units)
    return Case(claim=claim, text=text, units=units, best=best, fit=fit)


@lru_cache(maxsize=20_000)
def content(text: str) -> frozenset[str]:
    """Stems of the content words, hyphenated words also in parts."""
    words = [word for word in _WORD.findall(fold(text).lower()) if word not in _STOP]
    return frozenset(stem(part) for word in words for part in {word, *word.split("-")} if len(part) > 1)


_CLAUSE = re.compile(
    r";\s+|(?<=\)),?\s+(?:and|but|while|whereas)?\s*(?=[^;.]*\d)|,\s+(?:and|but|while|whereas)\s+(?=[^;.]*\d)"
)


@lru_cache(maxsize=512)
def _units(text: str) -> tuple[Unit, ...]:
    """Sentences that report something, cut into clauses where each clause has figures and words of its own."""
    found: list[Unit] = []
    for start, end in split(text):
        sentence = text[start:end]
        if is_aim(sentence):
            continue
        cuts = [start, *_cuts(sentence, start), end]
        for low, high in zip(cuts, cuts[1:], strict=False):
            clause = text[low:high]
            found.append(Unit(span=(low, high), sentence=(start, end), text=clause, words=content(clause)))
    return tuple(found)


def _cuts(sentence: str, start: int) -> list[int]:
    cuts: list[int] = []
    last = 0
    for match in _CLAUSE.finditer(sentence):
        left, right = sentence[last : match.start()], sentence[match.end() :]
        depth = sentence[: match.start()].count("(") - sentence[: match.start()].count(")")
        if (
            depth == 0
            and any(c.isdigit() for c in left)
            and len(content(left)) >= 3
            and len(content(right)) >= 2
        ):
            cuts.append(start + match.end())
            last = match.end()
    return cuts


def _best(words: frozenset[str], units: Sequence[Unit]) -> tuple[Unit | None, float]:
    """The unit that shares most of the claim's words, rare ones counting more; `fit` is the share, 0–1."""
    if not units or not words:
        return None, 0.0
    weight = {
        word: math.log(1 + len(units) / (1 + sum(word in unit.words for unit in units))) + 0.2
        for word in words
    }
    total = sum(weight.values())

    def share(unit: Unit) -> float:
        return sum(weight[word] for word in words & unit.words) / total

    best = max(units, key=lambda unit: (share(unit), any(c.isdigit() for c in unit.text), -unit.span[0]))
    return best, share(best)


# --- figures


def _same(a: Figure, b: Figure) -> bool:
    """Whether a source figure `b` can be what claim figure `a` says: the unit, and the value up to rounding."""
    if a.is_time and b.is_time:
        return abs((a.days or 0) - (b.days or 0)) <= 0.035 * max(a.days or 0, b.days or 0)
    if a.kind != b.kind and not ({a.kind, b.kind} <= _LOOSE or "plain" in (a.kind, b.kind)):
        return False
    return _equal(a.value, a.decimals, b.value)


#: Units that authors use for one another.
_LOOSE = frozenset({"percent", "points"})
_COUNTS = frozenset({"people", "event", "death"})


def _equal(claimed: float, decimals: int, given: float) -> bool:
    """Equal, or the source's figure rounded (half either way) to the claim's precision."""
    step = 10.0**-decimals
    return abs(claimed - given) < 1e-9 or (
        decimals < 3 and given >= 10 * step and abs(claimed - given) <= step / 2 + 1e-9
    )


def _derived(figure: Figure, case: Case) -> bool:
    """Whether simple arithmetic on the source gives the figure: 1 − ratio, a difference or a sum of two, a limit."""
    source = figures(case.text)
    if figure.kind in ("percent", "points", "plain"):
        ratios = [f.value for f in source if f.kind == "ratio"]
        if any(
            _equal(figure.value, figure.decimals, abs(1 - ratio) * 100) for ratio in ratios
        ) and _RELATIVE.search(case.claim):
            return True
        shares = [f for f in source if f.kind in ("percent", "points")]
        for one, other in ((a, b) for i, a in enumerate(shares) for b in shares[i + 1 : i + 4]):
            signed = one.value * (one.sign or 1) - other.value * (other.sign or 1)
            if abs(figure.value - abs(signed)) < 0.5 * 10.0**-figure.decimals + 1e-9:
                return True
    limits = [limit for interval in intervals(case.text) for limit in (interval.low, interval.high)]
    return any(_equal(figure.value, figure.decimals, abs(limit)) for limit in limits)


_RELATIVE = re.compile(
    r"\b(?:risk|hazard|odds|relative|lower|reduc\w+|fewer|less|cut|decreas\w+|higher|increas\w+|more)\b", re.I
)


def check_figures(case: Case) -> Iterable[Finding]:
    """Each figure of the claim must stand in the source or follow from it."""
    source = figures(case.text)
    for figure in figures(case.claim):
        if figure.kind == "p":
            yield from _check_p(figure, case)
            continue
        if any(_same(figure, other) for other in source) or _derived(figure, case):
            yield from _check_threshold(figure, case, source)
            continue
        rival = _rival(figure, case, source)
        if rival is not None:
            yield Finding(
                kind=figure.kind
                if figure.kind in ("mg", "ratio")
                else "time"
                if figure.is_time
                else "number",
                message=f"the claim says {_shown(figure, case.claim)}, the source {_shown(rival, case.text)}",
                verdict=Verdict.CONTRADICTS,
                claim_span=figure.span,
                source_span=rival.span,
            )
        else:
            yield Finding(
                kind="number",
                message=f"the source doesn't give {_shown(figure, case.claim)}",
                verdict=Verdict.NOT_FOUND,
                claim_span=figure.span,
            )
    for claimed in intervals(case.claim):
        yield from _check_interval(claimed, case)


def _shown(figure: Figure, text: str) -> str:
    """A figure as written, with its unit."""
    start, end = figure.span
    unit = (
        re.match(r"\s?(?:%|-?[A-Za-z]+(?:[ -]points?)?)", text[end : end + 20])
        if figure.kind not in ("plain", "ratio")
        else None
    )
    before = re.search(r"(?:week|month|year|day)s?[ -]$", text[max(0, start - 8) : start], re.I)
    return (before[0] if before else "") + text[start:end].strip() + (unit[0] if unit and not before else "")


def _rival(figure: Figure, case: Case, source: Sequence[Figure]) -> Figure | None:
    """The source's figure in the claimed one's place: same unit, in the unit that fits the claim, same arm first."""
    if case.best is None or case.fit < 0.34:
        return None
    own = [f for f in source if f.kind == figure.kind or (figure.is_time and f.is_time)]
    near = [f for f in own if _inside(f.span, case.best.span)] or [
        f for f in own if _inside(f.span, case.best.sentence)
    ]
    if figure.kind == "mg" or figure.is_time or figure.kind in ("phase", "site", "country", "trial"):
        near = near or own
    elif figure.kind in _COUNTS:
        near = near or [f for f in own if f.value > 100]
    near = [f for f in near if f.comparator != "at_least"] or near
    if not near:
        return None
    same_arm = [f for f in near if figure.arm and f.arm == figure.arm]
    pool = same_arm or near
    claimed = [f.value for f in figures(case.claim)]
    free = [f for f in pool if not any(_equal(value, 1, f.value) for value in claimed)] or pool
    digits = sorted(re.sub(r"\D", "", figure.text))
    return min(free, key=lambda f: (sorted(re.sub(r"\D", "", f.text)) != digits, abs(f.value - figure.value)))


def _inside(span: Span, other: Span) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]


def _check_threshold(figure: Figure, case: Case, source: Sequence[Figure]) -> Iterable[Finding]:
    """A share tied to a threshold ("86.4% lost at least 5%") must be tied to the same one in the source."""
    if figure.kind != "percent" or figure.comparator == "at_least":
        return
    thresholds = [f for f in figures(case.claim) if f.comparator == "at_least" and f.kind == "percent"]
    if len(thresholds) != 1:
        return
    for unit in case.units:
        inside = [f for f in source if _inside(f.span, unit.span)]
        bounds = [f for f in inside if f.comparator == "at_least" and f.kind == "percent"]
        if (
            len(bounds) == 1
            and any(_same(figure, f) for f in inside if f not in bounds)
            and not _same(thresholds[0], bounds[0])
        ):
            other = any(
                _same(figure, f)
                for u in case.units
                for f in source
                if u is not unit
                and _inside(f.span, u.span)
                and any(
                    _same(thresholds[0], b) and b.comparator == "at_least"
                    for b in source
                    if _inside(b.span, u.span)
                )
            )
            if not other:
                yield Finding(
                    kind="number",
                    verdict=Verdict.CONTRADICTS,
                    claim_span=figure.span,
                    source_span=bounds[0].span,
                    message=f"the source gives {_shown(figure, case.claim)} for at least {_shown(bounds[0], case.text)}, "
                    f"not for at least {_shown(thresholds[0], case.claim)}",
                )


def _check_p(figure: Figure, case: Case) -> Iterable[Finding]:
    given = [f for f in figures(case.text) if f.kind == "p"]
    if not given or any(abs(f.value - figure.value) < 1e-9 for f in given):
        return
    near = [f for f in given if case.best and _inside(f.span, case.best.sentence)]
    if near:
        yield Finding(
            kind="p_value",
            message=f"the claim says P {figure.text}, the source P {near[0].text}",
            verdict=Verdict.CONTRADICTS,
            claim_span=figure.span,
            source_span=near[0].span,
        )


def _check_interval(claimed: Interval, case: Case) -> Iterable[Finding]:
    given = intervals(case.text)
    if not given or any(abs(claimed.low - g.low) < 1e-9 and abs(claimed.high - g.high) < 1e-9 for g in given):
        return
    if any({abs(claimed.low), abs(claimed.high)} == {abs(g.low), abs(g.high)} for g in given):
        return  # the sign is a matter of which way the difference is taken
    near = [g for g in given if case.best and _inside(g.span, case.best.sentence)]
    shown = case.text[near[0].span[0] : near[0].span[1]] if near else ""
    yield Finding(
        kind="interval",
        verdict=Verdict.CONTRADICTS if near else Verdict.NOT_FOUND,
        claim_span=claimed.span,
        source_span=near[0].span if near else None,
        message=f"the claim says {case.claim[claimed.span[0] : claimed.span[1]]}, the source {shown}"
        if near
        else f"the source doesn't give {case.claim[claimed.span[0] : claimed.span[1]]}",
    )


def check_ratio_reading(case: Case) -> Iterable[Finding]:
    """A hazard ratio of 0.80 is a risk 20% lower, not 80% lower."""
    for figure in figures(case.claim):
        if figure.kind != "percent" or not re.search(
            r"\b(?:lower|reduc\w+|fewer|less|cut|decreas\w+|drop\w*)\b", case.claim, re.I
        ):
            continue
        ratios = [
            f
            for f in figures(case.text)
            if f.kind == "ratio" and f.value < 1 and case.best and _inside(f.span, case.best.sentence)
        ]
        for ratio in ratios:
            right = (1 - ratio.value) * 100
            if _equal(figure.value, figure.decimals, ratio.value * 100) and not _equal(
                figure.value, figure.decimals, right
            ):
                if any(_same(figure, f) for f in figures(case.text)):
                    continue
                yield Finding(
                    kind="ratio",
                    claim_span=figure.span,
                    source_span=ratio.span,
                    verdict=Verdict.CONTRADICTS,
                    message=f"a ratio of {ratio.text} means {right:.0f}% lower, not {figure.text}% lower",
                )


# --- arms


def check_arms(case: Case) -> Iterable[Finding]:
    """A figure that the source gives to one arm must not be claimed for another."""
    source = figures(case.text)
    for figure in (f for f in _with_arms(case.claim) if f.arm):
        homes = [
            f
            for f in _with_arms(case.text)
            if f.arm and f.kind == figure.kind and _equal(figure.value, figure.decimals, f.value)
        ]
        if not homes or any(_arm_fits(figure.arm, home.arm) for home in homes):
            continue
        if any(
            _same(figure, f) and f.arm is None and not any(f.span == h.span for h in homes) for f in source
        ):
            continue
        yield Finding(
            kind="arms",
            claim_span=figure.span,
            source_span=homes[0].span,
            verdict=Verdict.CONTRADICTS,
            message=f"the claim gives {_shown(figure, case.claim)} to {_arm_name(figure.arm)}, the source to {_arm_name(homes[0].arm)}",
        )


def _arm_fits(claimed: str | None, given: str | None) -> bool:
    return claimed == given


def _arm_name(arm: str | None) -> str:
    return "the control arm" if arm == "control" else str(arm)


_PAIR = re.compile(
    r"^\s*%?\s*(?:\([^()]*\))?,?\s*(?:vs\.?|versus|and|compared with|against|rather than|instead of)\s*$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"^[^.;:\d]{0,70}$")


@lru_cache(maxsize=2048)
def _with_arms(text: str) -> tuple[Figure, ...]:
    """Figures with the arm that their clause gives them: after the number, before it, or by order in "A vs B"."""
    plain = fold(text)
    found: list[Figure] = []
    for start, end in split(text):
        own = [
            f
            for f in figures(text)
            if _inside(f.span, (start, end))
            and f.kind in ("percent", "points", "kg", "cm", "people", "mmhg")
            and f.comparator != "at_least"
        ]
        mentions = [m for m in arm_mentions(text) if _inside(m.span, (start, end))]
        found += [
            f if f.arm else f.model_copy(update={"arm": _arm_before(f, own, mentions, plain)}) for f in own
        ]
    return tuple(found)


def _arm_before(figure: Figure, own: Sequence[Figure], mentions: Sequence[object], plain: str) -> str | None:
    """The arm named as subject right before the number: "semaglutide lowered weight by 14.9%"."""
    earlier = [m for m in arm_mentions(plain) if m.span[1] <= figure.span[0]]
    if not earlier:
        return None
    last = earlier[-1]
    between = plain[last.span[1] : figure.span[0]]
    blocked = any(f is not figure and last.span[1] <= f.span[0] < figure.span[0] for f in own)
    compares = re.search(
        r"\b(?:than|compared|vs|versus|with|to|over|against)\s*(?:the |a )?$",
        plain[max(0, last.span[0] - 16) : last.span[0]],
        re.I,
    )
    return (
        last.name if not blocked and not compares and len(between) < 70 and _SUBJECT.match(between) else None
    )


# --- direction and significance

_UP = r"(?:increas\w*|ris(?:e|es|en|ing)|rose|rais\w+|higher|more|greater|gain\w*|wors\w+|elevat\w+|grew|doubled)"
_DOWN = r"(?:decreas\w*|reduc\w*|lower\w*|fewer|less|fall(?:s|en|ing)?|fell|drop\w*|los[st]\w*|lose[sd]?|declin\w*|cut(?:s|ting)?|smaller|shrank)"
_SAME = (
    r"(?:no (?:significant |statistically significant |clear |meaningful |detectable )?(?:difference|increase|decrease|reduction|effect|benefit|change|association)\w*|"
    r"not? (?:significantly )?(?:differ\w*|increas\w*|reduc\w*|lower\w*|chang\w*|affect\w*|improv\w*)|"
    r"did not (?:significantly )?\w+|was not (?:significant\w*|different|increased|reduced|lower|higher)|were not (?:significant\w*|different|increased|reduced|lower|higher)|"
    r"(?:about |approximately )?equal\b|similar\b|comparable\b|unchanged|not significant\w*|non-?significant\w*|neither [^.;]{0,60}significant|no benefit)"
)
_DIRECTIONS = {
    "up": re.compile(rf"\b{_UP}\b", re.I),
    "down": re.compile(rf"\b{_DOWN}\b", re.I),
    "same": re.compile(rf"\b{_SAME}", re.I),
}
_LOSS_NOUN = re.compile(
    r"\b(?:weight|mean|body-weight|%|more|greater|a|the|further|of|percentage)[ -](?:weight )?(?:loss|reduction)\b",
    re.I,
)


def _direction(text: str) -> str | None:
    """`up`, `down` or `same` when the text says just one of them."""
    plain = fold(text)
    if _DIRECTIONS["same"].search(plain):
        return "same"
    masked = re.sub(
        r"\b(?:or|and) (?:more|less|older|higher|lower|above|below)\b|\bat least\b|\bmore than\b(?= \d)|\bless than\b(?= \d)",
        " ",
        plain,
        flags=re.I,
    )
    masked = re.sub(
        r"\breduced (?:ejection|or preserved)\b|\bmore (?:or less|likely to be)\b", " ", masked, flags=re.I
    )
    up, down = _DIRECTIONS["up"].search(masked), _DIRECTIONS["down"].search(masked)
    if up and down:
        if re.search(
            r"\b(?:more|greater|higher|larger|increased)\b[^.;,]{0,25}\b(?:loss|reduction|decrease|decline|fall|drop)\b",
            masked,
            re.I,
        ):
            return "down"
        if re.search(
            r"\b(?:less|lower|smaller|reduced)\b[^.;,]{0,25}\b(?:gain|increase|rise)\b", masked, re.I
        ):
            return "up"
        return None
    return "up" if up else "down" if down else None


def check_direction(case: Case) -> Iterable[Finding]:
    """The claim must not say more where the source, on the same outcome and in the same order of arms, says less."""
    claimed = _direction(case.claim)
    if claimed not in ("up", "down") or case.best is None or case.fit < 0.5:
        return
    given = _direction(case.best.text)
    if given not in ("up", "down") or given == claimed or _arm_order_differs(case.claim, case.best.text):
        return
    word = _DIRECTIONS[given].search(fold(case.best.text))
    said = _DIRECTIONS[claimed].search(fold(case.claim))
    if word and said:
        start = case.best.span[0]
        yield Finding(
            kind="direction",
            verdict=Verdict.CONTRADICTS,
            claim_span=said.span(),
            source_span=(start + word.start(), start + word.end()),
            message=f"the claim says “{said[0]}”, the source “{word[0]}”",
        )


def _arm_order_differs(claim: str, source: str) -> bool:
    first = [next((m.name for m in arm_mentions(text)), None) for text in (claim, source)]
    return None not in first and first[0] != first[1]


def check_ratio_direction(case: Case) -> Iterable[Finding]:
    """A claim of fewer events can't rest on a ratio above 1, nor one of more on a ratio below 1."""
    claimed = _direction(case.claim)
    if (
        claimed not in ("up", "down")
        or case.best is None
        or case.fit < 0.5
        or figures_of(case.best, case.text, "ratio") == []
    ):
        return
    if _arm_order_differs(case.claim, case.best.text) or re.search(r"weight|loss", case.claim, re.I):
        return
    ratios = figures_of(case.best, case.text, "ratio")
    wrong = [r for r in ratios if (r.value > 1) == (claimed == "down") and r.value != 1]
    if len(wrong) == len(ratios) == 1:
        yield Finding(
            kind="direction",
            source_span=wrong[0].span,
            verdict=Verdict.CONTRADICTS,
            message=f"the claim says {'fewer' if claimed == 'down' else 'more'}, the source's ratio is {wrong[0].text}",
        )


def figures_of(unit: Unit, text: str, kind: str) -> list[Figure]:
    return [f for f in figures(text) if f.kind == kind and _inside(f.span, unit.span)]


_SIGNIFICANT = re.compile(
    r"\b(?:significant\w*|proved|proven|proves|demonstrated|superior\w*|confirmed|established)\b", re.I
)
_NOT_SIGNIFICANT = re.compile(_SAME, re.I)


def check_significance(case: Case) -> Iterable[Finding]:
    """An effect claimed as shown needs an interval that excludes no effect; one that touches it is borderline."""
    if case.best is None or case.fit < 0.45:
        return
    says_none = bool(_NOT_SIGNIFICANT.search(fold(case.claim)))
    effect = _direction(case.claim) in ("up", "down") or bool(_SIGNIFICANT.search(case.claim))
    if re.search(r"\bnon-?inferior", case.claim, re.I) or not (effect or says_none):
        return
    given = _unit_result(case)
    if given is None:
        return
    interval, excludes, words, span = given
    if says_none and excludes is True and interval is not None:
        yield Finding(
            kind="significance",
            verdict=Verdict.CONTRADICTS,
            source_span=span,
            message=f"the claim says no difference, but the source's {words} excludes no effect",
        )
    elif not says_none and excludes is False:
        borderline = interval is not None and interval.touches(1.0)
        emphatic = bool(_SIGNIFICANT.search(case.claim))
        verdict = Verdict.PARTIAL if borderline or not emphatic else Verdict.CONTRADICTS
        reason = "touches" if borderline else "doesn't exclude"
        yield Finding(
            kind="significance",
            verdict=verdict,
            source_span=span,
            message=f"the claim says there is an effect, but the source's {words} {reason} no effect",
        )


def _unit_result(case: Case) -> tuple[Interval | None, bool | None, str, Span] | None:
    """What the fitting unit reports: its one interval, whether that excludes no effect, in words, where."""
    best = case.best
    if best is None:
        return None
    inside = [i for i in intervals(case.text) if _inside(i.span, best.span)] or [
        i for i in intervals(case.text) if _inside(i.span, best.sentence)
    ]
    ratios = figures_of(best, case.text, "ratio") or [
        f for f in figures(case.text) if f.kind == "ratio" and _inside(f.span, best.sentence)
    ]
    if len(inside) == 1:
        null = 1.0 if ratios else 0.0
        interval = inside[0]
        return (
            interval,
            interval.excludes(null),
            case.text[interval.span[0] : interval.span[1]],
            interval.span,
        )
    words = _NOT_SIGNIFICANT.search(fold(best.text))
    if words and not inside:
        span = (best.span[0] + words.start(), best.span[0] + words.end())
        return None, False, f"“{words[0]}”", span
    return None


def check_superiority(case: Case) -> Iterable[Finding]:
    """Non-inferior is not superior."""
    claims_superior = re.search(
        r"\b(?:superior\w*|better|outperform\w*|more effective|beat\w*)\b", case.claim, re.I
    )
    if not claims_superior or re.search(
        r"\bnon-?inferior|\bnot? (?:superior|better)|\bsuperiority was not", case.claim, re.I
    ):
        return
    plain = fold(case.text)
    if not re.search(r"\bnon-?inferior", plain, re.I):
        return
    failed = re.search(
        r"superiority was not (?:shown|met|demonstrated|established|reached|confirmed)|not superior|"
        r"P\s*=\s*0?\.(?:0[5-9]|[1-9])\d* for superiority",
        plain,
        re.I,
    )
    untested = re.search(
        r"superiority (?:was|were) not (?:a )?(?:pre-?specified|tested|planned)|test for superiority was not",
        plain,
        re.I,
    )
    shown = re.search(
        r"P\s*(?:<|=)\s*0?\.0\d* for superiority|was superior|were superior|superior to|"
        r"superiority was (?:shown|met|demonstrated|established)",
        plain,
        re.I,
    )
    found = failed or (None if shown else untested or re.search(r"\bnon-?inferior\w*", plain, re.I))
    if found:
        yield Finding(
            kind="overreach",
            claim_span=claims_superior.span(),
            source_span=found.span(),
            verdict=Verdict.CONTRADICTS if failed else Verdict.PARTIAL,
            message=f"the claim says “{claims_superior[0]}”, the source “{case.text[found.start() : found.end()]}”",
        )


# --- who, what, how

_POLES: tuple[tuple[str, str, str, str], ...] = (
    (
        "population",
        "people with diabetes",
        r"\b(?:with|having|had|have|in) (?:established |known )?(?:type[ -]2 |type[ -]1 |both )?(?:diabetes|T2DM?|T1D)\b|\b(?:type[ -]2 )?diabetic (?:patients|people|adults)|\b(?:type[ -]2 )?diabetes (?:patients|population)|\bT2DM? patients",
        r"\b(?:without|no|not have|free of|absence of|excluding|excluded people with) (?:(?:a )?history of |known )?(?:type[ -]2 |type[ -]1 )?(?:diabetes|T2DM?)\b|\bnon-?diabetic\b|\bdiabetes (?:was|were) excluded",
    ),
    (
        "design",
        "a randomised trial",
        r"\brandomi[sz]ed (?:\w+[ -]?){0,4}?(?:trial|study)|\brandomi[sz]ed (?:to|people|participants|patients|adults|\d)|\bRCTs?\b|randomi[sz]ed\b",
        r"\bobservational\b|\b(?:retrospective|prospective) cohort\b|\bcohort study\b|\belectronic (?:health )?records?\b|\bnot randomi[sz]ed\b|\bpropensity\b|\bregistry (?:study|data)\b",
    ),
    (
        "design",
        "blinded",
        r"\bdouble-?[ ]?blind\w*|\bmasked\b",
        r"\bopen-?[ ]?label\b|\bunblinded\b|\bunmasked\b",
    ),
    (
        "route",
        "by mouth",
        r"\boral(?:ly)?\b|\bby mouth\b|\btablets?\b|\bpills?\b",
        r"\bsubcutaneous(?:ly)?\b|\binject\w*|\bs\.c\.|\bintravenous\w*",
    ),
    (
        "frequency",
        "once a day",
        r"\b(?:once[ -])?daily\b|\b(?:once|twice) a day\b|\bevery day\b|\bper day\b|\beach day\b",
        r"\b(?:once[ -])?weekly\b|\bonce a week\b|\bevery week\b|\bper week\b|\beach week\b",
    ),
)


def check_poles(case: Case) -> Iterable[Finding]:
    """Population, design, route and frequency: the claim must not name the opposite of the only one in the source."""
    claim, source = fold(case.claim), fold(case.text)
    for kind, _, one, other in _POLES:
        for said, opposite in ((one, other), (other, one)):
            here, there = re.search(said, claim, re.I), re.search(opposite, source, re.I)
            if here and there and not re.search(said, source, re.I) and not re.search(opposite, claim, re.I):
                if kind == "population" and _inside_negation(claim, here):
                    continue
                yield Finding(
                    kind=kind,
                    verdict=Verdict.CONTRADICTS,
                    claim_span=here.span(),
                    source_span=there.span(),
                    message=f"the claim says “{case.claim[here.start() : here.end()].strip()}”, "
                    f"the source “{case.text[there.start() : there.end()].strip()}”",
                )


def _inside_negation(text: str, match: re.Match[str]) -> bool:
    return bool(re.search(r"\b(?:without|no|not|non)[ -][^.;,]{0,12}$", text[: match.start()], re.I))


_GROUPS = {
    "children or adolescents": r"\b(?:children|adolescen\w+|teen\w*|p(?:a)?ediatric|infants?|youths?)\b",
    "pregnancy": r"\b(?:pregnan\w+|breast-?feeding|lactating)\b",
    "women": r"\bwomen\b|\bfemales?\b",
    "men": r"\bmen\b|\bmales?\b",
    "older people": r"\b(?:elderly|older adults|older people)\b",
    "kidney disease": r"\b(?:kidney|renal|CKD|nephropath\w+)\b",
    "heart failure": r"\bheart[ -]failure\b|\bHF\w*\b",
    "liver disease": r"\b(?:liver|hepatic|steatohepatitis|NASH|MASH|cirrhosis)\b",
    "type 1 diabetes": r"\btype[ -](?:1|I) diabetes\b",
    "cancer": r"\b(?:cancer|tumou?rs?|malignan\w+)\b",
}


def check_groups(case: Case) -> Iterable[Finding]:
    """A claim about a group that the source never mentions isn't in the source."""
    source = fold(case.text)
    for name, pattern in _GROUPS.items():
        here = re.search(pattern, fold(case.claim), re.I)
        if here and not re.search(pattern, source, re.I):
            yield Finding(
                kind="population",
                verdict=Verdict.NOT_FOUND,
                claim_span=here.span(),
                message=f"the source doesn't mention {name}",
            )


def check_drugs(case: Case) -> Iterable[Finding]:
    """A drug in the claim that the source never names."""
    given = {mention.name for mention in arm_mentions(case.text)}
    for mention in arm_mentions(case.claim):
        if mention.name in given or mention.name == "control" or not given - {"control"}:
            continue
        if mention.name in fold(case.text).lower():
            continue
        others = sorted(given - {"control"})
        yield Finding(
            kind="drug",
            verdict=Verdict.NOT_FOUND,
            claim_span=mention.span,
            message=f"the claim is about {mention.name}, the source about {', '.join(others[:3])}",
        )


_UNIVERSAL = re.compile(
    r"\b(?:all patients|every patient|everyone|everybody|always|never fails|cures?|cured|eliminat\w+|guarantee\w*|prevents? all|no risk|completely|in all people)\b",
    re.I,
)
_CAUSAL = re.compile(
    r"\b(?:causes?|caused|proves?|proved|proven|prevents?|leads? to|is responsible for|due to)\b", re.I
)


def check_overreach(case: Case) -> Iterable[Finding]:
    """Certainty, universality or causation that the source doesn't state."""
    universal = _UNIVERSAL.search(case.claim)
    if universal and not _UNIVERSAL.search(case.text):
        yield Finding(
            kind="overreach",
            verdict=Verdict.PARTIAL,
            claim_span=universal.span(),
            message=f"the source doesn't go as far as “{universal[0]}”",
        )
    causal = _CAUSAL.search(case.claim)
    observational = re.search(
        r"\b(?:observational|cohort|associat\w+|correlat\w+|cross-sectional|case-control)\b", case.text, re.I
    )
    if (
        causal
        and observational
        and not _CAUSAL.search(case.text)
        and not re.search(r"randomi[sz]ed", case.text, re.I)
    ):
        yield Finding(
            kind="overreach",
            verdict=Verdict.PARTIAL,
            claim_span=causal.span(),
            source_span=observational.span(),
            message=f"the claim says “{causal[0]}”, the source reports an association",
        )


CHECKS: tuple[Callable[[Case], Iterable[Finding]], ...] = (
    check_figures,
    check_ratio_reading,
    check_arms,
    check_direction,
    check_ratio_direction,
    check_significance,
    check_superiority,
    check_poles,
    check_groups,
    check_drugs,
    check_overreach,
)
