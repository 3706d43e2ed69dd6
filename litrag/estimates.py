"""Numbers that carry their uncertainty: an `Estimate` is a value with an interval, or *undefined* with its reason.

In: counts, 0/1 flags, questions that group them, optional sampling weights. Out: estimates with 95 % intervals. What
can't be computed (nothing observed, one class only) is undefined; it is never 0, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from litrag.errors import InputError
from litrag.models import Model

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

LEVEL = 0.95
Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)

#: Share of resamples in which a statistic may be undefined before its interval is.
_MOST_UNDEFINED = 0.1


class Estimate(Model):
    """A value with a 95 % interval. `hits` of `n` is given where the value is a share of items counted alike."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    hits: int | None = None
    undefined: str | None = None
    method: str = ""

    @property
    def defined(self) -> bool:
        return self.value is not None

    def in_words(self) -> str:
        """As a share: `3 of 112 (0.9–7.6 %)`; undefined says why."""
        if self.value is None:
            return f"undefined ({self.undefined})"
        interval = percent_range(self.low, self.high)
        if self.hits is not None:
            return f"{self.hits} of {self.n} ({interval})" if interval else f"{self.hits} of {self.n}"
        return f"{100 * self.value:.1f} %" + (f" ({interval})" if interval else "")

    def as_number(self) -> str:
        """As a coefficient: `0.62 (0.48–0.74), n = 112`; undefined says why."""
        if self.value is None:
            return f"undefined ({self.undefined}), n = {self.n}"
        interval = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.value:.2f}{interval}, n = {self.n}"


def undefined(reason: str, n: int = 0) -> Estimate:
    return Estimate(n=n, undefined=reason)


def percent_range(low: float | None, high: float | None) -> str:
    """`0.9–7.6 %`, or nothing when there is no interval."""
    if low is None or high is None:
        return ""
    return f"{100 * low:.1f}–{100 * high:.1f} %"


def wilson(hits: float, n: float, *, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval for `hits` of `n`; both may be effective, that is fractional, sizes."""
    if not 0 <= hits <= n or n <= 0:
        raise InputError(f"a share needs 0 ≤ hits ≤ n and n > 0, got {hits} of {n}")
    share = hits / n
    centre = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if hits == 0 else max(0.0, (centre - reach) / scale)
    high = 1.0 if hits == n else min(1.0, (centre + reach) / scale)
    return low, high


def proportion(
    flags: Sequence[bool], groups: Sequence[Hashable] | None = None, *, weights: Sequence[float] | None = None,
    none_reason: str = "no items",
) -> Estimate:
    """Share of true flags with Wilson's interval, widened where items of one group resemble each other.

    With `weights` (see `rates.design_weights`) the share is weighted and `hits` is left out.
    """
    n = len(flags)
    if n == 0:
        return undefined(none_reason)
    values = np.asarray(flags, dtype=float)
    factors = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    share = min(1.0, float((factors * values).sum() / factors.sum()))
    size = effective_size(values, groups, factors)
    low, high = wilson(share * size, size)
    hits = int(values.sum()) if weights is None else None
    return Estimate(value=share, low=low, high=high, n=n, hits=hits, method="Wilson")


def effective_size(values: Floats, groups: Sequence[Hashable] | None, weights: Floats) -> float:
    """How many independent items the grouped, weighted sample is worth for its (weighted) mean.

    From the between-group variance of the residuals, with a t quantile for few groups; never more than Kish's size.
    """
    kish = float(weights.sum() ** 2 / (weights**2).sum())
    index = group_index(groups, len(values))
    count = int(index.max()) + 1
    share = float((weights * values).sum() / weights.sum())
    if count == len(values) or count < 2 or share * (1 - share) <= 0:
        return kish
    residuals = np.bincount(index, weights * (values - share))
    variance = count / (count - 1) * float((residuals**2).sum()) / float(weights.sum()) ** 2
    if variance <= 0:
        return kish
    return min(kish, share * (1 - share) / variance * (Z / t_quantile(count - 1)) ** 2)


def group_index(groups: Sequence[Hashable] | None, n: int) -> npt.NDArray[np.int64]:
    """Groups as 0, 1, 2 … in order of first occurrence; without groups each item is its own."""
    if groups is None:
        return np.arange(n, dtype=np.int64)
    if len(groups) != n:
        raise InputError(f"{n} items but {len(groups)} groups: give one group per item")
    places: dict[Hashable, int] = {}
    return np.asarray([places.setdefault(group, len(places)) for group in groups], dtype=np.int64)


def t_quantile(freedom: int) -> float:
    """Two-sided 95 % quantile of Student's t."""
    from scipy.stats import t

    return float(t.ppf(0.5 + LEVEL / 2, freedom))


def resampled(
    counts: Floats, statistic: Statistic, *, rounds: int = 2000, seed: int = 0,
) -> tuple[float, float] | None:
    """Percentile interval of `statistic` by resampling groups; None when too many resamples leave it undefined.

    `counts` has one row per group: what the group adds to the totals that `statistic` maps, row by row, to numbers
    (NaN where undefined). The quantiles are widened as t is wider than the normal for this number of groups.
    """
    groups = len(counts)
    if groups < 2 or rounds == 0:
        return None
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=rounds).astype(float)
    values = statistic(drawn @ counts)
    usable = values[~np.isnan(values)]
    if len(usable) < (1 - _MOST_UNDEFINED) * rounds:
        return None
    reach = t_quantile(groups - 1) * math.sqrt(groups / (groups - 1))
    tail = NormalDist().cdf(-reach)
    low, high = np.quantile(usable, [tail, 1 - tail])
    return float(low), float(high)


def resampled_items(
    groups: Sequence[Hashable] | None, n: int, statistic: Callable[[npt.NDArray[np.int64]], float | None], *,
    rounds: int = 500, seed: int = 0,
) -> tuple[float, float] | None:
    """As `resampled`, for a statistic of item positions that isn't a function of totals. Slower."""
    index = group_index(groups, n)
    count = int(index.max()) + 1 if n else 0
    if count < 2:
        return None
    members = [np.flatnonzero(index == group) for group in range(count)]
    rng = np.random.default_rng(seed)
    values: list[float] = []
    for _ in range(rounds):
        value = statistic(np.concatenate([members[g] for g in rng.integers(0, count, count)]))
        if value is not None:
            values.append(value)
    if len(values) < (1 - _MOST_UNDEFINED) * rounds:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
