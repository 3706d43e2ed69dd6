"""Two judges on the same labelled items: who is right where, and whether the new one may replace the old.

In: pairs of both judges on the test split. Out: an exact McNemar test, differences with intervals over questions, the
items that flip, the cost, and a gate that lists its reasons. Few items close the gate: no evidence is no permission.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from litrag.agreement import ClassMeasures, Table, per_class
from litrag.calibration import JudgeKey, Pair
from litrag.estimates import Estimate, Floats, Statistic, group_index, resampled, undefined
from litrag.models import Judgement, Model, Verdict
from litrag.rates import false_reassurance

#: Items and *supports* of each judge that a decision needs at least.
FEWEST_ITEMS = 100
FEWEST_SUPPORTS = 30

#: How much worse a replacement may be at the far end of the interval, as a share.
MARGIN = 0.05

#: By how much more, as a share of items, a replacement may leave items unjudged.
_UNJUDGED_MARGIN = 0.02


class Flip(Model):
    """An item on which the judges differ."""

    item_id: str
    human: Verdict
    old: Verdict
    new: Verdict

    @property
    def better(self) -> bool:
        return self.new is self.human


class Running(Model):
    """What judging cost, over the judged items."""

    judged: int
    unjudged: int
    seconds: float | None = None
    cost_usd: float | None = None

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> Running:
        """Mean seconds and dollars per item; dollars are None where no price is known."""
        costs = [j.cost_usd for j in judgements if j.cost_usd is not None]
        n = len(judgements)
        return cls(
            judged=sum(j.verdict is not None for j in judgements), unjudged=sum(j.verdict is None for j in judgements),
            seconds=sum(j.seconds for j in judgements) / n if n else None, cost_usd=sum(costs) / n if costs else None,
        )

    @property
    def unjudged_share(self) -> float:
        total = self.judged + self.unjudged
        return self.unjudged / total if total else 0.0


class Reason(Model):
    """One condition of the gate, met or not."""

    met: bool
    text: str


class Comparison(Model):
    """`new` against `old` on the items that both judged and reviewers labelled."""

    old: JudgeKey
    new: JudgeKey
    n: int
    both_right: int
    only_old_right: int
    only_new_right: int
    both_wrong: int
    mcnemar_p: float | None
    old_false_reassurance: Estimate
    new_false_reassurance: Estimate
    accuracy: Estimate
    balanced_accuracy: Estimate
    false_reassurance: Estimate
    old_classes: tuple[ClassMeasures, ...]
    new_classes: tuple[ClassMeasures, ...]
    flips: tuple[Flip, ...]
    old_running: Running
    new_running: Running
    may_replace: bool
    reasons: tuple[Reason, ...]


def compare_pairs(
    old: Sequence[Pair], new: Sequence[Pair], keys: tuple[JudgeKey, JudgeKey], running: tuple[Running, Running], *,
    margin: float = MARGIN,
) -> Comparison:
    """Compare on the items that are in both; `keys` and `running` are (old, new)."""
    by_item = {pair.item_id: pair for pair in new}
    both = [(pair, by_item[pair.item_id]) for pair in old if pair.item_id in by_item]
    right = Counter((a.right, b.right) for a, b in both)
    differences = _differences(both)
    groups = [a.question_id for a, _ in both]
    human = [a.human for a, _ in both]
    rates = [false_reassurance(human, [p.judge for p in side], groups) for side in _sides(both)]
    tables = [Table(human, [p.judge for p in side], groups) for side in _sides(both)]
    reasons = _gate(len(both), rates, differences, running, margin)
    return Comparison(
        old=keys[0], new=keys[1], n=len(both), both_right=right[True, True], only_old_right=right[True, False],
        only_new_right=right[False, True], both_wrong=right[False, False],
        mcnemar_p=mcnemar(right[True, False], right[False, True]) if both else None,
        old_false_reassurance=rates[0], new_false_reassurance=rates[1], **differences,
        old_classes=per_class(tables[0]), new_classes=per_class(tables[1]),
        flips=tuple(
            Flip(item_id=a.item_id, human=a.human, old=a.judge, new=b.judge) for a, b in both if a.judge is not b.judge
        ),
        old_running=running[0], new_running=running[1], may_replace=all(r.met for r in reasons), reasons=reasons,
    )


def _sides(both: Sequence[tuple[Pair, Pair]]) -> tuple[list[Pair], list[Pair]]:
    return [a for a, _ in both], [b for _, b in both]


def mcnemar(only_old: int, only_new: int) -> float:
    """Exact two-sided p of McNemar's test; 1 when the judges never differ in being right."""
    n, fewer = only_old + only_new, min(only_old, only_new)
    # Whole numbers up to the division: exact for any number of items.
    ways = sum(math.comb(n, k) for k in range(fewer + 1))
    return min(1.0, float(2 * ways / 2**n))


def _differences(both: Sequence[tuple[Pair, Pair]]) -> dict[str, Estimate]:
    """New minus old, with paired bootstrap intervals over questions."""
    names = ("accuracy", "balanced_accuracy", "false_reassurance")
    if not both:
        return dict.fromkeys(names, undefined("no item that both judged is labelled"))
    index = group_index([a.question_id for a, _ in both], len(both))
    counts = np.zeros((int(index.max()) + 1, 12))
    for group, (a, b) in zip(index, both, strict=True):
        counts[group] += np.concatenate([_tally(a), _tally(b)])
    statistics = (_accuracy, _balanced, _reassurance)
    reasons = ("", "reviewers used only supports, or never", "one of the judges never says supports")
    found = {}
    for name, of_one, reason in zip(names, statistics, reasons, strict=True):
        difference = partial(_difference, of_one)
        value = difference(counts.sum(axis=0).reshape(1, -1)).item()
        if math.isnan(value):
            found[name] = undefined(reason, len(both))
            continue
        low, high = resampled(counts, difference) or (None, None)
        found[name] = Estimate(value=value, low=low, high=high, n=len(both), method="paired bootstrap over questions")
    return found


def _difference(of_one: Statistic, totals: Floats) -> Floats:
    """A statistic of the new judge's totals minus that of the old one's."""
    change: Floats = of_one(totals[:, 6:]) - of_one(totals[:, :6])
    return change


def _tally(pair: Pair) -> Floats:
    """Counts of one judgement: right, reviewer supports, both, reviewer not, neither, and items."""
    truth, said = pair.human is Verdict.SUPPORTS, pair.judge is Verdict.SUPPORTS
    return np.asarray([pair.right, truth, truth and said, not truth, not truth and not said, 1], dtype=float)


def _accuracy(totals: Floats) -> Floats:
    return _ratio(totals[:, 0], totals[:, 5])


def _balanced(totals: Floats) -> Floats:
    return (_ratio(totals[:, 2], totals[:, 1]) + _ratio(totals[:, 4], totals[:, 3])) / 2


def _reassurance(totals: Floats) -> Floats:
    wrong = totals[:, 3] - totals[:, 4]
    return _ratio(wrong, wrong + totals[:, 2])


def _ratio(above: Floats, below: Floats) -> Floats:
    result = np.full(len(below), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result


# --- the gate
def _gate(
    n: int, rates: Sequence[Estimate], differences: dict[str, Estimate], running: tuple[Running, Running], margin: float,
) -> tuple[Reason, ...]:
    supports = min(rate.n if rate.defined else 0 for rate in rates)
    reassurance, balanced = differences["false_reassurance"], differences["balanced_accuracy"]
    more = running[1].unjudged_share - running[0].unjudged_share
    most = 100 * margin
    return (
        Reason(met=n >= FEWEST_ITEMS, text=f"{n} labelled test items judged by both (at least {FEWEST_ITEMS})"),
        Reason(met=supports >= FEWEST_SUPPORTS, text=f"{supports} *supports* of each (at least {FEWEST_SUPPORTS})"),
        Reason(
            met=reassurance.high is not None and reassurance.high <= margin,
            text=f"false reassurance changes by {points(reassurance)}; at most +{most:g} points at the upper end",
        ),
        Reason(
            met=balanced.low is not None and balanced.low >= -margin,
            text=f"balanced accuracy changes by {points(balanced)}; at least −{most:g} points at the lower end",
        ),
        Reason(
            met=more <= _UNJUDGED_MARGIN,
            text=f"{running[1].unjudged} unjudged against {running[0].unjudged}; "
            f"at most {100 * _UNJUDGED_MARGIN:g} % of items more",
        ),
    )


def points(change: Estimate) -> str:
    """A difference of shares in percentage points with its interval."""
    if change.value is None:
        return change.in_words()
    interval = "" if change.low is None or change.high is None else f" ({100 * change.low:+.1f} to {100 * change.high:+.1f})"
    return f"{100 * change.value:+.1f} points{interval}"


def in_words(comparison: Comparison) -> str:
    """The comparison as text for a terminal."""
    c = comparison
    p = "" if c.mcnemar_p is None else f"; exact McNemar p = {c.mcnemar_p:.3g}"
    lines = [
        f"{c.new.name} against {c.old.name}, {c.n} labelled test items",
        f"  right: both {c.both_right}, only old {c.only_old_right}, only new {c.only_new_right}, "
        f"neither {c.both_wrong}{p}",
        f"  false reassurance: old {c.old_false_reassurance.in_words()}, new {c.new_false_reassurance.in_words()}",
        f"  accuracy {points(c.accuracy)}, balanced accuracy {points(c.balanced_accuracy)}",
        f"  seconds per claim: {_number(c.old_running.seconds)} → {_number(c.new_running.seconds)}, "
        f"dollars: {_number(c.old_running.cost_usd)} → {_number(c.new_running.cost_usd)}",
        f"  {len(c.flips)} verdicts differ, {sum(f.better for f in c.flips)} for the better",
        f"The new judge {'may' if c.may_replace else 'may NOT'} replace the old one:",
        *(f"  {'✔' if reason.met else '✖'} {reason.text}" for reason in c.reasons),
    ]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
