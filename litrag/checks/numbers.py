"""Every figure of a claim must stand in the source, in its place and for its arm, or follow by arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from litrag.checks.arms import arm_name, with_arms
from litrag.checks.case import Case, Unit, inside
from litrag.figures import Figure, Interval, arm_mentions, figures, fold, intervals
from litrag.models import Finding, Span, Verdict
from litrag.terms import stem

#: Units that authors use for one another.
_LOOSE = frozenset({"percent", "points"})
#: Kinds that describe the study as a whole: one value in the source is enough to say that another is wrong.
_GLOBAL = frozenset({"mg", "ug", "phase", "site", "country", "trial"})
_COUNTS = frozenset({"people", "event", "death", "plain"})
#: How much of the claim a clause must cover before its figure counts as the claimed one's rival.
_SAME_PLACE = 0.4
#: The same, for figures that agree: less is asked where nothing speaks against the claim.
_NEAR = 0.3


def equal(claimed: float, decimals: int, given: float) -> bool:
    """Equal, or the source's figure rounded (half either way) to the claim's precision."""
    if abs(claimed - given) < 1e-9:
        return True
    step = 10.0**-decimals
    return decimals < 3 and given >= 10 * step and abs(claimed - given) <= step / 2 + 1e-9


def same(claimed: Figure, given: Figure) -> bool:
    """Whether a source figure can be what the claim's figure says: unit, and value up to rounding."""
    if claimed.is_time and given.is_time:
        a, b = claimed.days or 0.0, given.days or 0.0
        return abs(a - b) <= (0.035 if claimed.kind != given.kind else 1e-9) * max(a, b) or _roughly(claimed, a, b)
    if claimed.kind != given.kind:
        pair = {claimed.kind, given.kind}
        if not (pair <= _LOOSE or pair <= _COUNTS or ("plain" in pair and not pair & {"mg", "ug", "p"})):
            return False
    return _roughly(claimed, claimed.value, given.value) or equal(claimed.value, claimed.decimals, given.value)


def _roughly(figure: Figure, claimed: float, given: float) -> bool:
    """Whether "about", "just under" or "more than" a number covers the source's."""
    share = given / claimed if claimed else 0.0
    low, high = {"about": (0.95, 1.05), "below": (0.95, 1.0), "above": (1.0, 1.1)}.get(figure.comparator or "", (1, 1))
    return low <= share <= high


_RELATIVE = re.compile(
    r"\b(?:risk|hazard|odds|relative\w*|lower\w*|reduc\w+|fewer|less|cut|decreas\w+|higher|increas\w+|more)\b", re.I
)
_MENTIONS_CI = re.compile(r"\b(?:CI|confidence|interval|limit|bound|range)\b", re.I)


def derived(figure: Figure, case: Case) -> bool:
    """Whether arithmetic on the source gives the figure: 1 − ratio, a difference of two shares, or a stated limit."""
    source = figures(case.text)
    if figure.kind in ("percent", "points"):
        ratios = [f.value for f in source if f.kind == "ratio"]
        if _RELATIVE.search(case.claim) and any(
            equal(figure.value, figure.decimals, abs(1 - ratio) * 100) for ratio in ratios
        ):
            return True
        shares = [f for f in source if f.kind in _LOOSE]
        for place, one in enumerate(shares):
            for other in shares[place + 1 : place + 3]:
                signed = abs(one.value * (one.sign or 1) - other.value * (other.sign or 1))
                if abs(figure.value - signed) < 0.5 * 10.0**-figure.decimals + 1e-9 and figure.kind == "points":
                    return True
    if _MENTIONS_CI.search(case.claim):
        limits = [limit for i in intervals(case.text) for limit in (i.low, i.high)]
        return any(equal(figure.value, figure.decimals, abs(limit)) for limit in limits)
    return False


_OUT_OF = re.compile(r"\b(?:one|two|three|four|nine) (?:in|of|out of)(?: every)? $", re.I)


def check_figures(case: Case) -> Iterable[Finding]:
    """Each figure of the claim must stand in the source, or follow from it, in a clause on the same matter."""
    source = figures(case.text)
    for figure in figures(case.claim):
        if figure.kind == "p":
            yield from _check_p(figure, case)
            continue
        if _OUT_OF.search(case.claim[: figure.span[0]]):
            continue  # "one in ten participants" counts no ten participants
        homes = [f for f in source if same(figure, f)]
        if homes or derived(figure, case):
            yield from _check_bound(figure, case, homes)
            yield from _check_label(figure, case, homes)
            yield from _check_time(figure, case, homes)
            continue
        rival = _rival(figure, case, source) or _other_time(figure, case, source)
        message = f"the source doesn't give {shown(figure, case.claim)}"
        if rival is not None:
            message = f"the claim says {shown(figure, case.claim)}, the source {shown(rival, case.text)}"
        yield Finding(
            kind=_finding_kind(figure), message=message, claim_span=figure.span,
            verdict=Verdict.CONTRADICTS if rival else Verdict.NOT_FOUND, source_span=rival.span if rival else None,
        )


def figures_agree(case: Case) -> bool:
    """Whether the claim gives a result in figures and the source gives all its figures, in a clause on the same matter.

    Two results or more that stand in one sentence of the source need no shared words: chance doesn't bring them together.
    """
    claimed = [f for f in figures(case.claim) if f.kind != "p"]
    results = [f for f in claimed if not f.is_time and f.kind not in ("mg", "ug") and f.comparator != "at_least"]
    source = figures(case.text)
    if not results or not all(any(same(figure, f) for f in source) or derived(figure, case) for figure in claimed):
        return False
    found = case.best()
    place = found[0].sentence if found is not None and found[1] >= _NEAR else None
    if place is not None and any(same(figure, f) and inside(f.span, place) for figure in results for f in source):
        return True
    return len({figure.text for figure in results}) > 1 and any(
        all(any(same(figure, f) and inside(f.span, sentence) for f in source) for figure in results)
        for sentence in {unit.sentence for unit in case.units}
    )


def _finding_kind(figure: Figure) -> str:
    if figure.kind in ("mg", "ug"):
        return "dose"
    if figure.is_time:
        return "time"
    return figure.kind if figure.kind in ("ratio", "phase") else "number"


def shown(figure: Figure, text: str) -> str:
    """A figure as written, with its unit."""
    start, end = figure.span
    lead = re.search(r"(?:weeks?|months?|years?|days?|phase)[ -]$", text[max(0, start - 8) : start], re.I)
    if lead:
        return lead[0] + text[start:end].strip()
    if figure.kind in ("plain", "ratio", "p"):
        return text[start:end].strip()
    unit = re.match(r"\s?(?:%|-?[A-Za-zµμ]+(?: points?)?)", text[end : end + 24])
    return text[start:end].strip() + (unit[0] if unit else "")


def _rival(figure: Figure, case: Case, source: Sequence[Figure]) -> Figure | None:
    """The source's figure in the claimed one's place: same unit, in the clause that fits best, same arm first."""
    own = [f for f in source if f.kind == figure.kind or (figure.is_time and f.is_time)]
    if figure.kind not in _GLOBAL and not figure.is_time:
        own = [f for f in own if (f.comparator == "at_least") == (figure.comparator == "at_least")]
    if not own:
        return None
    found = case.best(lambda unit: any(inside(f.span, unit.span) for f in own))
    if found is None:
        return None
    unit, share = found
    near = [f for f in own if inside(f.span, unit.span)]
    if share < _SAME_PLACE:
        if figure.kind not in _GLOBAL and not _scrambled(figure, own):
            return None
        near = [f for f in own if figure.kind in _GLOBAL or _scrambled(figure, [f])]
    arms = {f.span: f.arm for f in with_arms(case.text)}
    claimed_arm = next((f.arm for f in with_arms(case.claim) if f.span == figure.span), None)
    pool = [f for f in near if claimed_arm and arms.get(f.span) == claimed_arm] or near
    claimed = [f.value for f in figures(case.claim)]
    pool = [f for f in pool if f.value not in claimed] or pool
    return min(pool, key=lambda f: (not _scrambled(figure, [f]), abs(f.value - figure.value)))


_FOLLOW_UP = re.compile(r"\bfollow(?:ed)?(?:[- ]?up)?\b", re.I)
_DURATION = re.compile(r"\b(?:lasted|duration|treated for|treatment (?:period|phase)|ran for|went on for)\b", re.I)
_READ = re.compile(r"\b(?:measured|assessed|evaluated|determined) (?:\w+ ){0,4}?(?:at|after|in)\b", re.I)
#: "for 104 weeks", "for a median of 15.9 months": how long, said without a word for it.
_FOR = re.compile(r"\bfor (?:an? )?(?:(?:median|mean|total|average) of )?$", re.I)


def _other_time(figure: Figure, case: Case, source: Sequence[Figure]) -> Figure | None:
    """The source's time in the claimed one's role: its follow-up, its duration, or when the claimed result was read."""
    if not figure.is_time:
        return None
    times = [f for f in source if f.is_time and f.days]
    for role in (_FOLLOW_UP, _DURATION, _READ):
        if role.search(case.claim):
            own = [f for f in times if (unit := _unit_of(f, case)) and role.search(unit.text)]
            lasting = [] if role is _READ else [f for f in times if _FOR.search(case.text[: f.span[0]][-40:])]
            found = own or lasting
            if len({f.days for f in found}) == 1:
                return found[0]
    lasting = [f for f in times if (what := _lasting(f, case.text)) and re.search(rf"\b{re.escape(what)}\b", case.claim, re.I)]
    if (_DURATION.search(case.claim) or _lasting(figure, case.claim)) and len({f.days for f in lasting}) == 1:
        return lasting[0]
    results = [f for f in figures(case.claim) if f.kind in ("percent", "points", "kg") and f.comparator != "at_least"]
    homes = [f for f in source if any(same(result, f) for result in results)]
    sentences = [unit.sentence for home in homes if (unit := _unit_of(home, case))]
    read = [f for f in times if any(inside(f.span, sentence) for sentence in sentences)]
    return read[0] if len({f.days for f in read}) == 1 else None


def _lasting(figure: Figure, text: str) -> str | None:
    """What a time is the length of, where it stands before its noun ("20-week run-in")."""
    match = re.compile(r"-(?:day|week|month|year) ([a-z][\w-]+)").match(fold(text), figure.span[1])
    return match[1] if match else None


def _scrambled(figure: Figure, others: Sequence[Figure]) -> bool:
    """Whether one of the others has the same digits in another order: a slip of the pen, not another figure."""
    digits = sorted(re.sub(r"\D", "", figure.text))
    return len(digits) > 1 and any(sorted(re.sub(r"\D", "", other.text)) == digits for other in others)


def _check_bound(figure: Figure, case: Case, homes: Sequence[Figure]) -> Iterable[Finding]:
    """A share tied to a threshold ("86.4% lost at least 5%") must be tied to the same one in the source."""
    bounds = [f for f in figures(case.claim) if f.comparator == "at_least" and f.kind == "percent"]
    if figure.kind != "percent" or figure.comparator == "at_least" or len(bounds) != 1:
        return
    tied = [(home, _bound_of(home, case)) for home in homes]
    wrong = [(home, bound) for home, bound in tied if bound is not None and not same(bounds[0], bound)]
    if wrong and len(wrong) == len(tied):
        bound = wrong[0][1]
        yield Finding(
            kind="number", verdict=Verdict.CONTRADICTS, claim_span=figure.span, source_span=wrong[0][0].span,
            message=f"the source gives {shown(figure, case.claim)} for at least {shown(bound, case.text)}, "
                    f"not for at least {shown(bounds[0], case.claim)}",
        )


#: What a share is of, said right after it: "53.0%) with preserved", "2.2% after randomisation".
_LABEL = re.compile(
    r"\s*%?\)?\s*(?:(?:of )?(?:the )?(?:participants|patients|people) )?"
    r"(?:with|without|had|have|during|after|before|in|among|for|of|were|who|at) (?P<label>[^,.;:()\d]+)"
)


def _check_label(figure: Figure, case: Case, homes: Sequence[Figure]) -> Iterable[Finding]:
    """In "53.0% with preserved, 31.4% with reduced", a share must not be claimed for what another one is said of."""
    if figure.kind != "percent" or figure.comparator == "at_least" or len(homes) != 1:
        return
    labels = _labels(homes[0], case)
    own = labels.pop(homes[0].span, None)
    if own is None:
        return
    said = {stem(word) for word in re.findall(r"[a-z][a-z-]{3,}", fold(case.claim).lower())}
    shared = frozenset.intersection(own[1], *(words for _, words in labels.values()))
    if not own[1] - shared or said & (own[1] - shared):
        return
    for other, words in labels.values():
        wrong = words - own[1]
        if wrong and wrong <= said:
            yield Finding(
                kind="number", verdict=Verdict.CONTRADICTS, claim_span=figure.span, source_span=other.span,
                message=f"the source gives {shown(other, case.text)} for “{_label_text(other, case.text)}”, "
                        f"and {shown(figure, case.claim)} for “{_label_text(homes[0], case.text)}”",
            )
            return


def _labels(home: Figure, case: Case) -> dict[Span, tuple[Figure, frozenset[str]]]:
    """The shares of a figure's sentence that say what they are of, with the words for it that name no arm."""
    unit = _unit_of(home, case)
    if unit is None:
        return {}
    arms = {stem(m.name) for m in arm_mentions(case.text)} | {"placebo", "control", "group"}
    own = [f for f in figures(case.text) if inside(f.span, unit.sentence) and f.kind == "percent" and f.comparator is None]
    found = {}
    for share in own:
        label = {stem(word) for word in re.findall(r"[a-z][a-z-]{3,}", _label_text(share, case.text).lower())} - arms
        if label:
            found[share.span] = share, frozenset(label)
    return found


def _label_text(share: Figure, text: str) -> str:
    match = _LABEL.match(fold(text), share.span[1])
    return re.split(r" (?:and|or|vs|versus|but|than) ", match["label"])[0].strip() if match else ""


def _bound_of(home: Figure, case: Case) -> Figure | None:
    """The last threshold named before a figure in its sentence."""
    unit = _unit_of(home, case)
    if unit is None:
        return None
    earlier = [
        f for f in figures(case.text)
        if f.comparator == "at_least" and f.kind == "percent" and unit.sentence[0] <= f.span[0] < home.span[0]
    ]
    return earlier[-1] if earlier else None


def _unit_of(figure: Figure, case: Case) -> Unit | None:
    return next((unit for unit in case.units if inside(figure.span, unit.span)), None)


_AT = re.compile(r"^[^.;]{0,12}?(?:\([^()]*\))?\s*(?:at|after|by|over|through) (?:the )?$", re.I)


def _check_time(figure: Figure, case: Case, homes: Sequence[Figure]) -> Iterable[Finding]:
    """A result claimed for a time point must be the source's result for that time point."""
    times = [f for f in figures(case.claim) if f.is_time]
    if figure.is_time or figure.kind not in ("percent", "points", "kg") or len(times) != 1 or len(homes) != 1:
        return
    given = _time_of(homes[0], case.text)
    if given is not None and given.days and times[0].days and not same(times[0], given):
        yield Finding(
            kind="time", verdict=Verdict.CONTRADICTS, claim_span=times[0].span, source_span=given.span,
            message=f"the source gives {shown(figure, case.claim)} for {shown(given, case.text)}, "
                    f"not for {shown(times[0], case.claim)}",
        )


def _time_of(figure: Figure, text: str) -> Figure | None:
    """The time point that directly follows a result: "−6.9% (95% CI …) at 12 months"."""
    plain = fold(text)
    following = next((f for f in figures(text) if f.is_time and f.span[0] > figure.span[1]), None)
    if following is None:
        return None
    return following if _AT.match(plain[figure.span[1] : following.span[0]]) else None


def _check_p(figure: Figure, case: Case) -> Iterable[Finding]:
    given = [f for f in figures(case.text) if f.kind == "p"]
    if not given or any(abs(f.value - figure.value) < 1e-9 for f in given):
        return
    found = case.best(lambda unit: any(inside(f.span, unit.sentence) for f in given))
    if found is None or found[1] < _SAME_PLACE:
        return
    near = next(f for f in given if inside(f.span, found[0].sentence))
    yield Finding(
        kind="p_value", message=f"the claim says P {figure.text}, the source P {near.text}",
        verdict=Verdict.CONTRADICTS, claim_span=figure.span, source_span=near.span,
    )


def check_intervals(case: Case) -> Iterable[Finding]:
    """A confidence interval must stand in the source; which way a difference is taken is left open."""
    given = intervals(case.text)
    for claimed in intervals(case.claim):
        homes = [other for other in given if _same_interval(claimed, other)]
        said = re.sub(r"^.*\bfrom ", "", case.claim[claimed.span[0] : claimed.span[1]])
        slip = _of_estimate(claimed, case, homes, given) if homes else _meant(claimed, case, given)
        if homes and slip is None:
            continue
        if slip is not None:
            yield Finding(
                kind="interval", verdict=Verdict.CONTRADICTS, claim_span=claimed.span, source_span=slip.span,
                message=f"the claim says {said}, the source {case.text[slip.span[0] : slip.span[1]]}",
            )
        else:
            yield Finding(
                kind="interval", verdict=Verdict.NOT_FOUND, claim_span=claimed.span,
                message=f"the source doesn't give {said}",
            )


def _of_estimate(
    claimed: Interval, case: Case, homes: Sequence[Interval], given: Sequence[Interval]
) -> Interval | None:
    """The interval that the source gives the claimed estimate, where it gives the claimed interval to others only."""
    estimate = _estimate(claimed, case.claim)
    owners = [_estimate(home, case.text) for home in homes]
    if estimate is None or any(owner is None or same(estimate, owner) for owner in owners):
        return None
    return next((i for i in given if (own := _estimate(i, case.text)) and same(estimate, own)), None)


def _meant(claimed: Interval, case: Case, given: Sequence[Interval]) -> Interval | None:
    """The source's interval that a wrong one stands for; None when none has its estimate, a limit or its matter.

    Two intervals may share a limit: the one that follows the claimed estimate is meant, or else the one in the clause
    that fits the claim best.
    """
    estimate = _estimate(claimed, case.claim)
    fits = case.fits()

    def likeness(interval: Interval) -> tuple[bool, bool, float, float]:
        own = _estimate(interval, case.text)
        place = next((i for i, unit in enumerate(case.units) if inside(interval.span, unit.span)), None)
        return (
            estimate is not None and own is not None and same(estimate, own),
            _shares_a_limit(claimed, interval),
            -1.0 if place is None else fits[place],
            0.0 if place is None else case.shares[place],
        )

    best = max(given, key=likeness, default=None)
    if best is None:
        return None
    estimated, limited, _, share = likeness(best)
    return best if estimated or limited or share >= _SAME_PLACE else None


def _estimate(interval: Interval, text: str) -> Figure | None:
    """The figure that an interval belongs to: the last before it, with words but no sentence's end between."""
    earlier = [f for f in figures(text) if f.span[1] <= interval.span[0] and not f.is_time and f.kind != "p"]
    if not earlier or re.search(r"[.;]\s", text[earlier[-1].span[1] : interval.span[0]]):
        return None
    return earlier[-1]


def _shares_a_limit(a: Interval, b: Interval) -> bool:
    return len({abs(a.low), abs(a.high)} & {abs(b.low), abs(b.high)}) == 1


def _same_interval(a: Interval, b: Interval) -> bool:
    return sorted((abs(a.low), abs(a.high))) == sorted((abs(b.low), abs(b.high)))


_LOWERED = re.compile(r"\b(?:lower\w*|reduc\w+|fewer|less|cut|decreas\w+|drop\w*)\b", re.I)


def check_ratio_reading(case: Case) -> Iterable[Finding]:
    """A hazard ratio of 0.80 means a risk 20% lower, not 80% lower."""
    if not _LOWERED.search(case.claim):
        return
    ratios = [f for f in figures(case.text) if f.kind == "ratio" and f.value < 1]
    for figure in (f for f in figures(case.claim) if f.kind == "percent"):
        if any(same(figure, f) for f in figures(case.text)) or derived(figure, case):
            continue
        misread = next((r for r in ratios if equal(figure.value, figure.decimals, r.value * 100)), None)
        if misread is not None:
            yield Finding(
                kind="ratio", claim_span=figure.span, source_span=misread.span, verdict=Verdict.CONTRADICTS,
                message=f"a ratio of {misread.text} means {(1 - misread.value) * 100:.0f}% lower, "
                        f"not {figure.text}% lower",
            )


def check_arms(case: Case) -> Iterable[Finding]:
    """A figure that the source gives to one arm must not be claimed for another."""
    source = with_arms(case.text)
    for figure in (f for f in with_arms(case.claim) if f.arm):
        homes = [f for f in source if f.kind == figure.kind and equal(figure.value, figure.decimals, f.value)]
        if not homes or any(home.arm is None or home.arm == figure.arm for home in homes):
            continue
        yield Finding(
            kind="arms", claim_span=figure.span, source_span=homes[0].span, verdict=Verdict.CONTRADICTS,
            message=f"the claim gives {shown(figure, case.claim)} to {arm_name(figure.arm)}, "
                    f"the source to {arm_name(homes[0].arm)}",
        )
