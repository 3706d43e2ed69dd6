"""Direction and significance: does the source say more or less, and does it exclude no effect?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from litrag.checks.arms import arm_name, spoken_for, with_arms
from litrag.checks.case import DOWN, SAME_MATTER, UP, Case, Unit, inside
from litrag.figures import Figure, Interval, arm_mentions, figures, fold, intervals
from litrag.models import Finding, Span, Verdict

_ADVERB = r"(?:significantly |statistically |clearly |materially |meaningfully )?"
_NO_EFFECT = re.compile(
    r"\b(?:no (?:\w+ ){0,2}?(?:difference|increase|decrease|reduction|effect|benefit|change|association|excess|rise)\w*|"
    rf"(?:did|does|do|was|were|is|are|has|have|had|could|can)(?: not|n't) (?:be )?{_ADVERB}"
    r"(?:differ\w*|increas\w*|reduc\w*|lower\w*|chang\w*|affect\w*|improv\w*|rais\w*|higher|different|significant\w*|"
    r"shown|demonstrated|proven|proved|established|confirmed|reached|met|detected)|"
    rf"(?:did|does|do)(?: not|n't) {_ADVERB}(?:show|find|demonstrate|reveal|detect|reach|prove|produce|yield|establish)\b|"
    r"(?:about |approximately )?equal\b|similar\b|comparable\b|unchanged|non-?significant\w*|"
    r"not (?:statistically )?significant\w*|neither [^.;]{0,80}significant|fail\w* to (?:show|reach|demonstrate))",
    re.IGNORECASE,
)
_ODDS = re.compile(r"\b(more|less|higher|lower) (?:likely|odds|chance|often|common|frequent)", re.IGNORECASE)
_TO_LOSE = re.compile(r"[^.;]{0,80}?\bto (?:lose|reduce|lower|decrease)\b", re.IGNORECASE)
_UP, _DOWN = re.compile(rf"\b{UP}\b", re.IGNORECASE), re.compile(rf"\b{DOWN}\b", re.IGNORECASE)
#: Comparisons that bound a number or name a group; they say nothing about an effect.
_NO_DIRECTION = re.compile(
    r"\b(?:or|and) (?:more|less|older|higher|lower|above|below|greater)\b|\b(?:more|less|fewer|higher|lower|greater) than"
    r"(?= (?:\d|one|two|three|four|five|six|half|a (?:third|quarter)))|\breduced (?:ejection|and |or |ventric)\w*|"
    r"\bnew or worsening\b|\bpreserved (?:or|and) reduced\b|\bmore or less\b|"
    r"\bonce more\b|\bno more than\b|\bno worse\b|\bnot worse\b|"
    r"\bweight[- ]loss (?:drugs?|trials?|treatment)|\bslow(?:ed|s|er)? (?=the (?:loss|decline|fall))|"
    r"\blower limit\b|\bhigher risk (?:group|popul)\w*|\bhigh(?:er)?-risk\b",
    re.IGNORECASE,
)
_MORE_LESS = re.compile(
    r"\b(?:more|greater|higher|larger|further|increased|exceed\w*|superior)\b[^.;,]{0,30}?\b(?:los[st]\w*|lose|reduc\w+|"
    r"decreas\w+|declin\w+|fall|drop)\b|\blos(?:t|e|es|ing) (?:\w+ly )?more\b", re.IGNORECASE,
)
_LESS_LESS = re.compile(
    r"\b(?:less|lower|smaller|fewer)\b[^.;,]{0,30}?\b(?:los[st]\w*|lose|reduc\w+|decreas\w+|declin\w+|fall|drop|gain|"
    r"increase|rise)\b|\blos(?:t|e|es|ing) (?:\w+ly )?less\b", re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def direction(text: str) -> str | None:
    """`up`, `down` or `same` when the words say just one of them, None when they say none or several."""
    plain = _NO_DIRECTION.sub(" ", fold(text))
    if _NO_EFFECT.search(plain):
        return "same"
    odds = _ODDS.search(plain)
    if odds:  # who is likelier to lose something has less of it
        more = odds[1].lower() in ("more", "higher")
        return "up" if more is (_TO_LOSE.match(plain, odds.end()) is None) else "down"
    if _MORE_LESS.search(plain):
        return "down"
    if _LESS_LESS.search(plain):
        return "up"
    up, down = bool(_UP.search(plain)), bool(_DOWN.search(plain))
    return None if up == down else "up" if up else "down"


@lru_cache(maxsize=4096)
def no_effect(text: str) -> bool:
    """Whether the words say that no effect was shown."""
    return bool(_NO_EFFECT.search(fold(text)))


def _treatment_direction(text: str, treatment: str | None) -> str | None:
    """Direction as said of the treatment: turned round when the text speaks for the other arm."""
    said = direction(text)
    speaker = spoken_for(text)
    if said in ("up", "down") and speaker is not None and treatment is not None and speaker != treatment:
        return "down" if said == "up" else "up"
    return said


def _treatment(case: Case) -> str | None:
    """The arm that both texts can be read for: the first that isn't the control."""
    names = [m.name for m in arm_mentions(case.claim) if m.name != "control"]
    return names[0] if names else next((m.name for m in arm_mentions(case.text) if m.name != "control"), None)


def ratios_of(unit: Unit, text: str) -> list[Figure]:
    return [f for f in figures(text) if f.kind == "ratio" and inside(f.span, unit.span)]


def _unit_direction(unit: Unit, case: Case, treatment: str | None) -> tuple[str, Span, str] | None:
    """What a unit says of the treatment: by its words, its one ratio, or its two arms' figures; where, and shown how."""
    said = _treatment_direction(unit.text, treatment)
    start = unit.span[0]
    if said in ("up", "down"):
        plain = fold(unit.text)
        word = (_UP if direction(unit.text) == "up" else _DOWN).search(plain) or _UP.search(plain) or _DOWN.search(plain)
        if word:
            return said, (start + word.start(), start + word.end()), f"“{unit.text[word.start() : word.end()]}”"
    if said == "same":
        return None
    ratios = [] if _GOOD_EVENT.search(case.claim) else ratios_of(unit, case.text)
    if len(ratios) == 1 and ratios[0].value != 1 and not re.search(r"\blos[es]\b|\bloss\b", unit.text, re.I):
        ratio = ratios[0]
        return ("up" if ratio.value > 1 else "down"), ratio.span, f"a ratio of {ratio.text}"
    shares = [f for f in with_arms(case.text) if inside(f.span, unit.span) and f.arm and f.kind == "percent" and not f.sign]
    if len(shares) == 2 and {f.arm for f in shares} >= {treatment} and shares[0].arm != shares[1].arm:
        own, other = sorted(shares, key=lambda f: f.arm != treatment)
        if own.value != other.value and not re.search(r"\blos[es]\b|\bloss\b|\blost\b", unit.text, re.I):
            return ("up" if own.value > other.value else "down"), own.span, f"{own.text}% against {other.text}%"
    return None


#: Events that one wishes for: a hazard ratio below 1 is of the opposite event, or of their absence.
_GOOD_EVENT = re.compile(r"\b(?:surviv\w+|remission|recover\w*|respon[ds]\w*|cure[ds]?|healing|success\w*)\b", re.I)


_BETWEEN_ARMS = re.compile(r"\bthan\b|\bcompared\b|\bversus\b|\bvs\b|\brelative to\b", re.I)


def check_direction(case: Case) -> Iterable[Finding]:
    """The claim must not say more where the source, on the same outcome, says less."""
    treatment = _treatment(case)
    claimed = _treatment_direction(case.claim, treatment)
    if claimed not in ("up", "down") or (treatment and treatment not in {m.name for m in arm_mentions(case.text)}):
        return
    if treatment is None and _BETWEEN_ARMS.search(case.claim):
        return  # which arm a sentence speaks for is read by `outcomes` where the arms have no known names
    found = case.best(lambda unit: _unit_direction(unit, case, treatment) is not None)
    overall = case.best()
    if found is None or overall is None or found[1] < 0.5 or found[1] < overall[1] - 0.15:
        return
    given = _unit_direction(found[0], case, treatment)
    if given is None or given[0] == claimed:
        return
    said = direction(case.claim)
    word = (_UP if said == "up" else _DOWN).search(fold(case.claim))
    shown = f"“{word[0] if word else said}”"
    speakers = spoken_for(case.claim), spoken_for(found[0].text)
    if said == direction(found[0].text) and None not in speakers and speakers[0] != speakers[1]:
        message = f"the claim says {shown} of {arm_name(speakers[0])}, the source of {arm_name(speakers[1])}"
    else:
        message = f"the claim says {shown}, the source {given[2]}"
    yield Finding(
        kind="direction", verdict=Verdict.CONTRADICTS, claim_span=word.span() if word else None, source_span=given[1],
        message=message,
    )


def direction_agrees(case: Case) -> bool:
    """Whether the claim says more, or less, of a named treatment and the source says the same of it on that matter."""
    treatment = _treatment(case)
    claimed = _treatment_direction(case.claim, treatment)
    if claimed not in ("up", "down") or treatment not in {m.name for m in arm_mentions(case.text)}:
        return False
    found = case.best()
    given = _unit_direction(found[0], case, treatment) if found is not None and found[1] >= SAME_MATTER else None
    return given is not None and given[0] == claimed


def no_effect_agrees(case: Case) -> bool:
    """Whether the claim says that no effect was shown and the source says so on that very matter."""
    if direction(case.claim) != "same":
        return False
    if _SUPERIOR.search(case.claim) and _SUPERIORITY_FAILED.search(fold(case.text)):
        return True
    found = case.best()
    return found is not None and found[1] >= SAME_MATTER and no_effect(found[0].text)


def check_signed_change(case: Case) -> Iterable[Finding]:
    """A change that the source writes with a minus or calls a fall is no increase, and the other way round."""
    plain = fold(case.claim)
    source = figures(case.text)
    treatment = _treatment(case)
    for figure in figures(case.claim):
        if figure.kind not in _CHANGES:
            continue
        lead = plain[max(0, figure.span[0] - 45) : figure.span[0]]
        words = [(m.start(), "up") for m in _UP.finditer(lead)] + [(m.start(), "down") for m in _DOWN.finditer(lead)]
        claimed = max(words)[1] if words else {1: "up", -1: "down"}.get(figure.sign)
        if not words and (after := _HIGHER_BY.match(plain, figure.span[1])) and spoken_for(case.claim) in (None, treatment):
            claimed = "up" if after["up"] else "down"  # "3.9 mm Hg higher with A than with B"
        if claimed is None or (len(words) > 1 and len({w[1] for w in words}) > 1):
            continue
        homes = [f for f in source if f.kind == figure.kind and abs(f.value - figure.value) < 1e-9]
        given = [_change_of(home, case.text) for home in homes]
        if homes and all(change not in (None, claimed) for change in given):
            said = {"up": "a rise", "down": "a fall"}
            shown = case.text[slice(*homes[0].span)] if homes[0].sign else f"{said[str(given[0])]} of {homes[0].text}"
            yield Finding(
                kind="direction", verdict=Verdict.CONTRADICTS, claim_span=figure.span, source_span=homes[0].span,
                message=f"the claim says {said[claimed]} of {figure.text.lstrip('+-')}, the source {shown}",
            )


def check_arm_change(case: Case) -> Iterable[Finding]:
    """What the source gives one arm with a plus must not be said, without figures, to have fallen in that arm."""
    speaker, claimed = spoken_for(case.claim), direction(case.claim)
    if speaker is None or claimed not in ("up", "down") or _BETWEEN_ARMS.search(case.claim):
        return
    if len({m.name for m in arm_mentions(case.claim)}) > 1 or any(f.kind in _CHANGES for f in figures(case.claim)):
        return
    own = [f for f in with_arms(case.text) if f.arm == speaker and f.kind in _CHANGES and _change_of(f, case.text)]
    own = [f for f in own if not re.search(r"\bdifference\b[^.;]{0,24}$", case.text[: f.span[0]], re.I)]
    about = [f for f in own if any(inside(f.span, unit.span) and unit.words & case.words for unit in case.units)]
    if about and all(_change_of(f, case.text) != claimed for f in about):
        word = (_UP if claimed == "up" else _DOWN).search(fold(case.claim))
        start, end = about[0].span
        yield Finding(
            kind="direction", verdict=Verdict.CONTRADICTS, claim_span=word.span() if word else None, source_span=(start, end),
            message=f"the claim says “{word[0] if word else claimed}” of {arm_name(speaker)}, the source {case.text[start:end]}",
        )


#: A difference whose direction follows its figure.
_HIGHER_BY = re.compile(
    r"\s*(?:%|kg|cm|mm ?Hg|(?:percentage )?points?)?\s*(?:(?P<up>higher|more|greater)|(?P<down>lower|less|fewer|smaller))\b",
    re.I,
)
_CHANGES = frozenset({"percent", "points", "kg", "cm", "mmhg"})
#: A verb of change right before its figure: "fell by 7.9%", "rose from a mean of 5 to 6 kg" is left alone.
_CHANGED_BY = re.compile(
    rf"\b(?:(?P<up>{UP})|(?P<down>{DOWN}))(?: (?:on average|significantly|further))? (?:by|of) (?:an? )?"
    r"(?:(?:mean|median|average|estimated|further|additional|about|nearly|around) (?:of )?)*[+-]?$", re.I
)


def _change_of(figure: Figure, text: str) -> str | None:
    """`up` or `down` as the figure's own sign, or the verb that governs it, says; None when neither does."""
    if figure.sign:
        return "up" if figure.sign > 0 else "down"
    verb = _CHANGED_BY.search(fold(text)[max(0, figure.span[0] - 60) : figure.span[0]])
    return None if verb is None else "up" if verb["up"] else "down"


_EMPHATIC = re.compile(
    r"\b(?:significant\w*|prove[sdn]?\w*|demonstrat\w+|superior\w*|confirm\w*|establish\w*|firmly|clearly)\b", re.I
)


def check_significance(case: Case) -> Iterable[Finding]:
    """An effect claimed as shown needs an interval that excludes no effect; one that touches it is borderline."""
    if re.search(r"\bnon-?inferior|\bno worse\b|\bnot worse\b", case.claim, re.I):
        return
    says = direction(case.claim)
    emphatic = bool(_EMPHATIC.search(case.claim))
    if says is None and not emphatic:
        return
    found = case.best(lambda unit: _result(unit, case) is not None)
    overall = case.best()
    if found is None or overall is None or found[1] < 0.45 or found[1] < overall[1] - 0.12:
        return
    result = _result(found[0], case)
    if result is None:
        return
    interval, excludes, words, span = result
    if says == "same" and excludes and interval is not None:
        if not re.search(r"significan|differ|effect|benefit|reduc|increas", case.claim, re.I):
            return
        yield Finding(
            kind="significance", verdict=Verdict.CONTRADICTS, source_span=span,
            message=f"the claim says there is no effect, but the source's {words} excludes that",
        )
    elif says != "same" and not excludes:
        borderline = interval is not None and (interval.touches(1.0) or interval.touches(0.0))
        verdict = Verdict.CONTRADICTS if emphatic and not borderline else Verdict.PARTIAL
        yield Finding(
            kind="significance", verdict=verdict, source_span=span,
            message=f"the claim says there is an effect, but the source's {words} "
                    f"{'touches' if borderline else 'does not exclude'} no effect",
        )


def _result(unit: Unit, case: Case) -> tuple[Interval | None, bool, str, Span] | None:
    """A unit's one interval and whether it excludes no effect, or its words for no effect; in words, and where."""
    own = [i for i in intervals(case.text) if inside(i.span, unit.span)]
    if len(own) == 1:
        ratio = bool(ratios_of(unit, case.text))
        if not ratio and own[0].low > 0 and not own[0].excludes(1.0):
            return None  # a ratio whose name stands elsewhere, or a difference: the words don't say which
        null = 1.0 if ratio else 0.0
        shown = case.text[own[0].span[0] : own[0].span[1]]
        return own[0], own[0].excludes(null), shown, own[0].span
    words = _NO_EFFECT.search(fold(unit.text))
    if words and not own:
        span = (unit.span[0] + words.start(), unit.span[0] + words.end())
        return None, False, f"“{case.text[span[0] : span[1]]}”", span
    return None


_SUPERIOR = re.compile(r"\b(?:superior\w*|better|outperform\w*|more effective|beat\w*)\b", re.I)
_NEGATED = re.compile(r"\bnon-?inferior|\bnot\b|\bno\b|\bnever\b|n't\b|\bneither\b|\bwithout\b", re.I)
_MARGIN = re.compile(r"\bnon-?inferior\w*", re.I)
_SUPERIORITY_FAILED = re.compile(
    r"superiority was not (?:shown|met|demonstrated|established|reached|confirmed)|not superior|"
    r"P\s*=\s*0?\.(?:0[5-9]|[1-9])\d* for superiority", re.I,
)
_SUPERIORITY_SHOWN = re.compile(
    r"P\s*(?:<|=)\s*0?\.0[0-4]\d* for superiority|\b(?:was|were|is) superior|superiority was (?:shown|met|demonstrated)",
    re.I,
)


def check_superiority(case: Case) -> Iterable[Finding]:
    """Non-inferior is not superior."""
    said = _SUPERIOR.search(case.claim)
    if said is None or _NEGATED.search(case.claim):
        return
    plain = fold(case.text)
    margin = _MARGIN.search(plain)
    if margin is None:
        return
    failed = _SUPERIORITY_FAILED.search(plain)
    if failed is None and _SUPERIORITY_SHOWN.search(plain):
        return
    found = failed or margin
    yield Finding(
        kind="overreach", claim_span=said.span(), source_span=found.span(),
        verdict=Verdict.CONTRADICTS if failed else Verdict.PARTIAL,
        message=f"the claim says “{said[0]}”, the source “{case.text[found.start() : found.end()]}”",
    )
