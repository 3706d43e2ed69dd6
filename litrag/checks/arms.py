"""Which arm a figure belongs to, and which arm a comparison speaks for."""

from __future__ import annotations

import re
from functools import lru_cache

from litrag.checks.case import inside
from litrag.figures import Figure, arm_mentions, figures, fold
from litrag.sentences import split

#: Kinds of figures that are results of an arm; thresholds, doses and times are not.
OF_ARMS = frozenset({"percent", "points", "kg", "cm", "people", "mmhg", "plain"})

_BETWEEN_PAIR = re.compile(
    r"^\s*(?:%|kg|cm|mm ?Hg|points?|\w+)?\s*(?:\([^()]*\))?,?\s*(?:vs\.?|versus|and|compared with|against)\s*"
    r"(?:by |in |for |of )?(?:\d+ \()?\s*$",
    re.IGNORECASE,
)
_GIVEN_TO = re.compile(r"\b(?:switch\w*|moved|assign\w*|randomi[sz]ed|allocated|chang\w+) to (?:the |a )?$", re.I)
_COMPARED = re.compile(r"\b(?:than|compared|vs\.?|versus|with|to|over|against)\s*(?:the |a |oral )?$", re.I)


@lru_cache(maxsize=2048)
def with_arms(text: str) -> tuple[Figure, ...]:
    """The figures that are results, with the arm that the wording gives them, or None.

    After the number ("2.4% with placebo"), before it ("semaglutide lowered weight by 14.9%"), or by order in a pair
    ("6.2% vs 6.6%"): the treatment first, as trials report, unless the sentence names the arms in another order.
    """
    found: list[Figure] = []
    names = list(dict.fromkeys(m.name for m in arm_mentions(text)))
    for start, end in split(text):
        own = [f for f in figures(text) if inside(f.span, (start, end)) and f.kind in OF_ARMS]
        own = [f for f in own if f.comparator != "at_least"]
        placed = [f if f.arm else f.model_copy(update={"arm": _subject(f, own, text, start)}) for f in own]
        order = list(dict.fromkeys(m.name for m in arm_mentions(text) if inside(m.span, (start, end)))) or []
        found += _by_order(placed, order, names, fold(text))
    return tuple(found)


def _subject(figure: Figure, own: list[Figure], text: str, start: int) -> str | None:
    """The arm named as subject shortly before the number, with no other result between."""
    plain = fold(text)
    earlier = [m for m in arm_mentions(text) if start <= m.span[0] and m.span[1] <= figure.span[0]]
    if not earlier:
        return None
    last = earlier[-1]
    between = plain[last.span[1] : figure.span[0]]
    if any(last.span[1] <= f.span[0] < figure.span[0] for f in own if f is not figure):
        return None
    if len(between) > 70 or re.search(r"[.;:,]|\d", between):
        return None
    lead = plain[max(0, last.span[0] - 24) : last.span[0]]
    if _COMPARED.search(lead) and not _GIVEN_TO.search(lead):
        return None
    return last.name


def _by_order(placed: list[Figure], order: list[str], names: list[str], plain: str) -> list[Figure]:
    """Fill in the arms of "A vs B" pairs when the text has two arms."""
    arms = order if len(order) == 2 else names
    if len(arms) != 2:
        return placed
    if len(order) < 2 and "control" in arms:
        arms = sorted(arms, key=lambda arm: arm == "control")
    result = list(placed)
    for place in range(len(result) - 1):
        one, two = result[place], result[place + 1]
        if one.kind != two.kind or one.arm or not _BETWEEN_PAIR.match(plain[one.span[1] : two.span[0]]):
            continue
        first = next((arm for arm in arms if arm != two.arm), arms[0]) if two.arm else arms[0]
        second = two.arm or next(arm for arm in arms if arm != first)
        result[place] = one.model_copy(update={"arm": first})
        result[place + 1] = two.model_copy(update={"arm": second})
    return result


def arm_name(arm: str | None) -> str:
    """An arm as it is called in a reason."""
    return "the control arm" if arm == "control" else str(arm)


_THAN = re.compile(r"\b(?:than|compared (?:with|to)|versus|vs\.?|relative to|over)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def spoken_for(text: str) -> str | None:
    """The arm that a comparison speaks for: "less with placebo than with semaglutide" speaks for the control.

    None when the text compares no two named arms; the treatment is then meant.
    """
    mentions = arm_mentions(text)
    than = _THAN.search(fold(text))
    if len({m.name for m in mentions}) == 1:
        return None if than is not None and mentions[0].span[0] >= than.end() else mentions[0].name
    if than is None:
        return None
    before = [m for m in mentions if m.span[1] <= than.start()]
    after = [m for m in mentions if m.span[0] >= than.end()]
    if before and after and before[-1].name != after[0].name:
        return before[-1].name
    if not before and len(after) >= 2:  # "Compared with placebo, semaglutide …"
        return after[1].name
    return None
