"""Claims that name their outcome ("A lowered O compared with C"): what does the source say of that very outcome?

The other checks find their place by all words of the claim; where its arms are long, those drown the outcome. Here
the claim is taken apart first, and only sentences that name the outcome are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from litrag.checks.case import CLASS_WORDS, Case, Unit, content, inside
from litrag.checks.effects import direction, no_effect, ratios_of
from litrag.figures import arm_mentions, fold, intervals
from litrag.models import Finding, Model, Verdict
from litrag.terms import stem

_COMPARED = r"(?:,? (?:as )?compared (?:with|to)| than (?:with|in|on|by)?| versus| vs\.?|,? relative to)"
_VERBS = (
    r"(?P<up>increas(?:ed|es)|raised|raises|improved|improves|prolong(?:ed|s))|"
    r"(?P<down>decreas(?:ed|es)|reduc(?:ed|es)|lower(?:ed|s)|shorten(?:ed|s))"
)
_EFFECT = re.compile(rf"^(?P<arm>.+?) (?:significantly )?(?:{_VERBS}) (?P<outcome>.+?){_COMPARED} (?P<other>.+)$", re.I)
_STATE = re.compile(
    rf"^(?P<outcome>.+?) (?:was|were|is|are) (?:significantly )?(?:(?P<up>higher|greater|longer|larger|more (?:frequent|common|"
    rf"often))|(?P<down>lower|smaller|shorter|rarer|less (?:frequent|common|often))) (?:with|in|on|for) (?P<arm>.+?){_COMPARED} "
    rf"(?P<other>.+)$", re.I,
)
_SAME = re.compile(
    r"\bno (?:statistically )?significant (?:difference|change)s? in (?P<outcome>.+?) (?:between|among) "
    r"(?P<arm>.+?) and (?P<other>.+)$", re.I,
)
_SIGNIFICANT = re.compile(r"(?<!not )(?<!non-)(?<!no )\b(?:significant(?:ly)?)\b|\bP\s*[<=]\s*0?\.0(?:[0-4]\d*)\b", re.I)
_COMPARISON = re.compile(
    r"\b(?:higher|lower|greater|smaller|more|less|fewer|longer|shorter|larger|better|worse|superior|increased|decreased|reduced)\b",
    re.I,
)
_NO_GROUP_DIFFERENCE = re.compile(
    r"\b(?:no|neither|nor) (?:statistically )?(?:significant )?(?:\w+ ){0,2}?differences? (?:was |were )?(?:\w+ )?"
    r"(?:between|among)|\bdid not (?:reach statistical|differ)\w*", re.I,
)
_DIFFERENCE = re.compile(r"\bdiffer\w*|\bsimilar\w*|\bcomparable\b", re.I)
_THAN = re.compile(r"\b(?:than|compared (?:with|to)|versus|vs\.?|relative to)\b", re.I)
#: How much of the outcome's words a sentence must name.
_NAMED = 0.75


class Stated(Model):
    """A claim taken apart: which way (`up`, `down`, `same`) an outcome goes with an arm against another."""

    way: str
    outcome: frozenset[str]
    arm: frozenset[str]
    other: frozenset[str]


def stated(claim: str) -> Stated | None:
    """The parts of a claim that compares two arms on a named outcome; None for any other claim."""
    plain = fold(claim).strip().rstrip(".")
    for pattern in (_SAME, _STATE, _EFFECT):
        match = pattern.search(plain)
        if match is None:
            continue
        groups = match.groupdict()
        way = "up" if groups.get("up") else "down" if groups.get("down") else "same"
        arm, other = content(groups["arm"]), content(groups["other"])
        outcome = content(groups["outcome"]) - (arm & other)
        if way != "same" and no_effect(claim):
            return None
        return Stated(way=way, outcome=outcome, arm=arm - other, other=other - arm) if outcome else None
    return None


def check_stated_outcome(case: Case) -> Iterable[Finding]:
    """No difference claimed where the source reports one on that outcome, a difference where it reports none, or the opposite."""
    claim = stated(case.claim)
    if claim is None:
        return
    named = [unit for unit in case.units if len(claim.outcome & unit.words) >= _NAMED * len(claim.outcome)]
    verdicts = [(unit, way) for unit in named if (way := _way(unit, case, claim)) is not None]
    ways = {way for _, way in verdicts}
    if len(ways) != 1 or claim.way in ways:
        return
    unit, way = verdicts[0]
    said = {"up": "more", "down": "less", "same": "no significant difference"}
    yield Finding(
        kind="direction" if way != "same" and claim.way != "same" else "significance", verdict=Verdict.CONTRADICTS,
        source_span=unit.span,
        message=f"the claim says {said[claim.way]}, the source {said.get(way, 'a significant difference')}",
    )


def _way(unit: Unit, case: Case, claim: Stated) -> str | None:
    """What a sentence says of the outcome: `same`, `up` or `down` for the claim's arm, `differs`, or nothing clear."""
    text = fold(unit.text)
    significant = _SIGNIFICANT.search(_without_negations(text)) is not None or _excluded(unit, case)
    between = _NO_GROUP_DIFFERENCE.search(text) or _NO_GROUP_DIFFERENCE.search(_next(unit, case))
    if between or (no_effect(text) and (claim.arm & unit.words or _DIFFERENCE.search(text))):
        return None if significant else "same"
    if not significant or no_effect(text) or not (_THAN.search(text) or _COMPARISON.search(text)):
        return None
    if claim.way == "same":
        return "differs"
    way, side = direction(text), _side(text, claim)
    if way not in ("up", "down") or side == 0:
        return None
    return way if side > 0 else {"up": "down", "down": "up"}[way]


def _excluded(unit: Unit, case: Case) -> bool:
    """Whether the sentence gives one ratio with an interval that excludes no effect."""
    own = [i for i in intervals(case.text) if inside(i.span, unit.span)]
    return len(own) == 1 and bool(ratios_of(unit, case.text)) and own[0].excludes(1.0)


_NEGATED = re.compile(
    r"\b(?:no|not|without|non-?|neither)\b[^.;]{0,40}?significan\w+|\bnon-?significan\w+|"
    r"\bP\s*=\s*0?\.(?:0[5-9]|[1-9])\d*", re.I,
)


def _without_negations(text: str) -> str:
    return _NEGATED.sub(" ", text)


def _next(unit: Unit, case: Case) -> str:
    """The sentence after a unit, when it goes on about the same outcome without naming another."""
    for one, two in pairwise(case.units):
        if one is unit and re.match(r"\W*(?:However,? |There (?:was|were) (?:however )?|But |No )", two.text):
            return fold(two.text) if len(two.text) < 90 else ""
    return ""


def _side(text: str, claim: Stated) -> int:
    """1 when the comparison speaks for the claim's arm, −1 when it speaks for the other, 0 when it isn't clear."""
    than = _THAN.search(text)
    if than is None:
        return 0
    left, right = text[: than.start()], text[than.end() :]
    if len(left.split()) <= 1:  # "Compared with C, A …"
        right, _, left = right.partition(",")
    before, after = content(left), content(right)
    forward = bool(claim.arm & before - after) + bool(claim.other & after - before)
    backward = bool(claim.other & before - after) + bool(claim.arm & after - before)
    return (forward > backward) - (forward < backward)


#: Words that name no outcome, however a claim is put.
_NO_OUTCOME = frozenset(
    stem(word) for word in
    """arm arms number set against every everyone everybody anyone person people users half
    third quarter twenty roughly nearly placebo
    control oral subcutaneous number share risk chance likely kept new published cause causes proves
    effect down under above below first just twice many better outdid outperformed outperforms beat beats
    exceeded exceeds still largest smallest came come additional function recorded
    might helpful help helps benefit benefits improve improves work works doctors researchers scientists
    team early reports said says january february march april june july august september october november december""".split()
)
#: Words that say how, not what: adverbs and verb forms.
_HOW = re.compile(r"(?:ly|ed|ing)$|^[a-z]{1,3}$")
#: Under which circumstances an outcome is claimed; it isn't the outcome.
_CIRCUMSTANCE = re.compile(r"\b(?:during|while|alongside)\b[^,;]*$", re.I)
#: Share of the outcome's words that must be missing before a claim counts as one about something else.
_MISSING = 0.5


def check_outcome_named(case: Case) -> Iterable[Finding]:
    """What a drug that the source studies does to something that the source never names isn't in the source."""
    arms = {m.name for m in arm_mentions(case.claim)} - {"control"}
    if not arms & {m.name for m in arm_mentions(case.text)}:
        return
    named = {stem(part) for arm in arms for part in (arm, *arm.split("-"))}
    circumstance = _CIRCUMSTANCE.search(case.claim)
    about = content(case.claim[: circumstance.start()]) if circumstance else case.words
    outcome = about - named - CLASS_WORDS - _NO_OUTCOME
    plain, there = fold(case.text).lower(), content(case.text)
    spoken = re.findall(r"[A-Za-z][\w-]+", case.claim)
    outcome -= {stem(word.lower()) for word in spoken if _HOW.search(word)}
    missing = {word for word in outcome if word not in there and word[:6] not in plain}
    if not missing or len(missing) < _MISSING * len(outcome):
        return
    words = [word for word in spoken if content(word) & missing]
    yield Finding(
        kind="outcome", verdict=Verdict.NOT_FOUND,
        message=f"the source doesn't speak of “{' '.join(words)}”",
    )
