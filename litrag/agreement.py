"""How far raters agree: Cohen's kappa for two, Krippendorff's alpha for any number; pure.

Labels go in as text, None for a missing one. A figure comes out with the n that it rests on, or, when it is not
defined, with the reason in words: never as NaN, and never as a guess of 0 or 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt

from .models import Model, Verdict

#: Pairs below which a figure is not worth a conclusion.
TOO_FEW = 30

_Z = 1.959963984540054

Pair = tuple[str | None, str | None]


class Agreement(Model):
    """An agreement figure. `value` is None when it isn't defined; `note` says why, or what to beware of."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    agreed: int
    observed: float | None
    note: str = ""

    def in_words(self) -> str:
        interval = f" (95 % interval {self.low:.2f} to {self.high:.2f})" if self.low is not None else ""
        value = f"{self.value:.2f}{interval}" if self.value is not None else "undefined"
        note = f": {self.note}" if self.note else ""
        return f"{value}, n = {self.n}{note}" if self.n else self.note


def usable(pairs: Iterable[Pair], values: Sequence[str] = tuple(Verdict)) -> tuple[list[tuple[str, str]], Counter[str]]:
    """The pairs in which both sides are one of `values`, spacing and case aside, and why the others are left out.

    Observed and expected agreement rest on the same pairs, and two blanks are not a match.
    """
    kept, left_out = [], Counter[str]()
    for pair in pairs:
        first, second = (text.strip().casefold() if text else "" for text in pair)
        if first in values and second in values:
            kept.append((first, second))
        else:
            left_out[_why(first, second, values)] += 1
    return kept, left_out


def _why(first: str, second: str, values: Sequence[str]) -> str:
    if not first and not second:
        return "both blank"
    if not first or not second:
        return "first blank" if not first else "second blank"
    return f"not a label: {first if first not in values else second}"


def wilson(successes: int, n: int) -> tuple[float, float]:
    """95 % Wilson score interval of a share; n must be above 0."""
    share, spread = successes / n, _Z * _Z / n
    centre = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Cohen's kappa of two raters, (po - pe) / (1 - pe), with a 95 % interval.

    The interval is Fleiss, Cohen and Everitt's (1969) large-sample one. When every pair agrees its width would be 0;
    then the Wilson bounds of the observed agreement are put through kappa's formula instead.
    """
    n, agreed = len(pairs), sum(a == b for a, b in pairs)
    if not n:
        return Agreement(value=None, n=0, agreed=0, observed=None, note="no labels yet")
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = agreed / n
    expected = sum(rows[k] * columns[k] for k in rows) / n**2
    if expected == 1:
        note = f"kappa undefined (only one label used); {agreed} of {n} agree"
        return Agreement(value=None, n=n, agreed=agreed, observed=observed, note=note)
    value = (observed - expected) / (1 - expected)
    if agreed == n:
        low, high = ((bound - expected) / (1 - expected) for bound in wilson(agreed, n))
    else:
        half = _Z * sqrt(_kappa_variance(pairs, observed, expected))
        low, high = max(-1.0, value - half), min(1.0, value + half)
    return Agreement(value=value, low=low, high=high, n=n, agreed=agreed, observed=observed, note=few(n))


def _kappa_variance(pairs: Sequence[tuple[str, str]], observed: float, expected: float) -> float:
    """Fleiss, Cohen and Everitt's variance of kappa when agreement may be above chance."""
    n = len(pairs)
    cells = {pair: count / n for pair, count in Counter(pairs).items()}
    rows = {k: c / n for k, c in Counter(a for a, _ in pairs).items()}
    columns = {k: c / n for k, c in Counter(b for _, b in pairs).items()}
    value = (observed - expected) / (1 - expected)
    on, off = 0.0, 0.0
    for (a, b), share in cells.items():
        if a == b:
            on += share * (1 - (rows[a] + columns.get(a, 0.0)) * (1 - value)) ** 2
        else:
            off += share * (columns.get(a, 0.0) + rows.get(b, 0.0)) ** 2
    spread = on + (1 - value) ** 2 * off - (value - expected * (1 - value)) ** 2
    return max(spread, 0.0) / (n * (1 - expected) ** 2)


def krippendorff_alpha(units: Iterable[Sequence[str | None]]) -> Agreement:
    """Krippendorff's alpha for nominal labels: one sequence of labels per item, None where a rater gave none.

    Alpha is 1 - Do/De over the items that have at least two labels; n counts those items.
    """
    counts = [Counter(label for label in unit if label) for unit in units]
    paired = [unit for unit in counts if unit.total() >= 2]
    n, agreed = len(paired), sum(len(unit) == 1 for unit in paired)
    if not n:
        return Agreement(value=None, n=0, agreed=0, observed=None, note="no item has two labels yet")
    totals = sum(paired, Counter[str]())
    values = totals.total()
    differing = sum((unit.total() ** 2 - _squares(unit)) / (unit.total() - 1) for unit in paired)
    possible = (values**2 - _squares(totals)) / (values - 1)
    observed = 1 - differing / values
    if not possible:
        note = f"alpha undefined (only one label used); {agreed} of {n} items agree"
        return Agreement(value=None, n=n, agreed=agreed, observed=observed, note=note)
    return Agreement(value=1 - differing / possible, n=n, agreed=agreed, observed=observed, note=few(n))


def _squares(counts: Counter[str]) -> int:
    return sum(count**2 for count in counts.values())


def few(n: int) -> str:
    """A warning when a figure rests on too little."""
    return "" if n >= TOO_FEW else f"too few to conclude from (below {TOO_FEW})"
