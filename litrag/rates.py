"""How often a judge is wrong, and what that makes of the answers nobody has labelled.

In: reviewers' labels beside the judge's verdicts, with the sampling of the items. Out: rates with intervals. The
corrected rate refuses a judge that is no better than chance; items picked by hand never enter a rate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from litrag.errors import InputError
from litrag.estimates import Estimate, Floats, Z, effective_size, group_index, proportion, t_quantile, undefined, wilson
from litrag.models import Model, Verdict
from litrag.sampling import Stratum

SUPPORTS = Verdict.SUPPORTS


# --- error rates
def false_reassurance(
    human: Sequence[str], judge: Sequence[str], groups: Sequence[Hashable] | None = None, *,
    weights: Sequence[float] | None = None,
) -> Estimate:
    """P(reviewer doesn't say supports | judge says supports): how often trust in the judge would be misplaced."""
    chosen = [i for i, verdict in enumerate(judge) if verdict == SUPPORTS]
    return _share([human[i] != SUPPORTS for i in chosen], chosen, groups, weights, "the judge never says supports")


def false_alarm(
    human: Sequence[str], judge: Sequence[str], groups: Sequence[Hashable] | None = None, *,
    weights: Sequence[float] | None = None,
) -> Estimate:
    """P(reviewer says supports | judge doesn't): how often a warning is for nothing."""
    chosen = [i for i, verdict in enumerate(judge) if verdict != SUPPORTS]
    return _share([human[i] == SUPPORTS for i in chosen], chosen, groups, weights, "the judge always says supports")


def wrong_when(
    verdict: str, human: Sequence[str], judge: Sequence[str], groups: Sequence[Hashable] | None = None,
) -> Estimate:
    """P(reviewer says otherwise | judge says `verdict`)."""
    chosen = [i for i, said in enumerate(judge) if said == verdict]
    return _share([human[i] != verdict for i in chosen], chosen, groups, None, f"the judge never says {verdict}")


def _share(
    flags: Sequence[bool], chosen: Sequence[int], groups: Sequence[Hashable] | None,
    weights: Sequence[float] | None, none_reason: str,
) -> Estimate:
    """Proportion of `flags`, one per chosen item; items without a weight are left out."""
    if weights is not None:
        flags = [flag for flag, i in zip(flags, chosen, strict=True) if weights[i] > 0]
        chosen = [i for i in chosen if weights[i] > 0]
    return proportion(
        flags, None if groups is None else [groups[i] for i in chosen],
        weights=None if weights is None else [weights[i] for i in chosen], none_reason=none_reason,
    )


def reviewer_ceiling(labels: Sequence[Sequence[str]], groups: Sequence[Hashable] | None = None) -> Estimate:
    """P(another reviewer doesn't say supports | one reviewer does): the false reassurance that people leave each other.

    One row of independent labels per item; every ordered pair counts, and pairs of one question hang together.
    """
    flags: list[bool] = []
    keys: list[Hashable] = []
    for i, row in enumerate(labels):
        pairs = [(a, b) for x, a in enumerate(row) for y, b in enumerate(row) if x != y and a == SUPPORTS]
        flags += [other != SUPPORTS for _, other in pairs]
        keys += [i if groups is None else groups[i]] * len(pairs)
    return proportion(flags, keys, none_reason="no item that two reviewers labelled and one calls supports")


# --- sampling
def design_weights(strata: Sequence[Stratum], probabilities: Sequence[float | None]) -> list[float]:
    """Weight of each item for totals over all claims that could have been drawn; 0 for items picked by hand.

    Strata are drawn one after the other, each from what the earlier ones left, with a known probability. After each
    step an unbiased total is what was drawn before plus what the step stands for; these totals are averaged in
    proportion to what each step drew. Using the steps' probabilities as if each had drawn from all would be biased.
    """
    order = (Stratum.UNIFORM, Stratum.UNCERTAIN, Stratum.RARE)
    steps = [sum(s == step for s in strata) for step in order]
    total = sum(steps)
    shares = [count / total if total else 0.0 for count in steps]
    weights: list[float] = []
    for stratum, probability in zip(strata, probabilities, strict=True):
        if stratum not in order or probability is None:
            weights.append(0.0)
            continue
        if not 0 < probability <= 1:
            raise InputError(f"an inclusion probability lies in (0, 1], got {probability}")
        step = order.index(stratum)
        weights.append(shares[step] / probability + sum(shares[step + 1 :]))
    return weights


# --- answers without labels
class Correction(Model):
    """The judge's rate on unlabelled claims, and what remains of it once its errors are taken out."""

    as_judged: Estimate
    sensitivity: Estimate
    specificity: Estimate
    corrected: Estimate


def corrected_rate(
    judged: Sequence[bool], human: Sequence[bool], judge: Sequence[bool], *,
    judged_groups: Sequence[Hashable] | None = None, groups: Sequence[Hashable] | None = None,
) -> Correction:
    """True share of supported claims among `judged`, from the judge's *supports* there and its errors on labels.

    Rogan and Gladen's estimate with Lang and Reiczigel's interval, which carries the sampling error of both samples.
    Undefined where sensitivity + specificity ≤ 1: such a judge says nothing about the truth.
    """
    positive = [i for i, truth in enumerate(human) if truth]
    negative = [i for i, truth in enumerate(human) if not truth]
    sensitivity = _share([judge[i] for i in positive], positive, groups, None, "no item is labelled supports")
    specificity = _share([not judge[i] for i in negative], negative, groups, None, "every item is labelled supports")
    rate = proportion(judged, judged_groups, none_reason="no unlabelled claims")
    likeness = _error_likeness(human, judge, groups, sensitivity, specificity)
    sizes = (_size(judged, judged_groups), len(positive) / likeness, len(negative) / likeness)
    corrected = _lang_reiczigel(rate, sensitivity, specificity, sizes)
    return Correction(as_judged=rate, sensitivity=sensitivity, specificity=specificity, corrected=corrected)


def _size(flags: Sequence[bool], groups: Sequence[Hashable] | None) -> float:
    if not flags:
        return 0.0
    return effective_size(np.asarray(flags, dtype=float), groups, np.ones(len(flags)))


def _error_likeness(
    human: Sequence[bool], judge: Sequence[bool], groups: Sequence[Hashable] | None,
    sensitivity: Estimate, specificity: Estimate,
) -> float:
    """Design effect of the judge's errors within questions, 1 or more; over both classes, as each alone is small."""
    if sensitivity.value is None or specificity.value is None:
        return 1.0
    expected = np.where(human, sensitivity.value, 1 - specificity.value)
    residuals = np.asarray(judge, dtype=float) - expected
    alone = float((residuals**2).sum()) / len(residuals) ** 2
    return max(1.0, _mean_variance(residuals, groups)[0] / alone) if alone > 0 else 1.0


def _lang_reiczigel(
    rate: Estimate, sensitivity: Estimate, specificity: Estimate, sizes: tuple[float, float, float],
) -> Estimate:
    p, se, sp = rate.value, sensitivity.value, specificity.value
    if p is None or se is None or sp is None:
        return undefined(rate.undefined or sensitivity.undefined or specificity.undefined or "", rate.n)
    if se + sp <= 1:
        return undefined(f"the judge is no better than chance: sensitivity {se:.2f} + specificity {sp:.2f} ≤ 1", rate.n)
    n, n_se, n_sp = sizes
    # Pseudo-counts keep the interval honest where a sample shows no error; half of theirs, which cover too much here.
    p1 = (n * p + Z * Z / 2) / (n + Z * Z)
    se1, sp1 = (n_se * se + 0.5) / (n_se + 1), (n_sp * sp + 0.5) / (n_sp + 1)
    gain = se1 + sp1 - 1
    if gain <= 0:
        return undefined(f"too few labels to tell the judge from chance: {sensitivity.n} and {specificity.n}", rate.n)
    share = (p1 + sp1 - 1) / gain
    se_error, sp_error = se1 * (1 - se1) / (n_se + 1), sp1 * (1 - sp1) / (n_sp + 1)
    shift = 2 * Z * Z * (share * se_error - (1 - share) * sp_error)
    spread = p1 * (1 - p1) / (n + Z * Z) + share**2 * se_error + (1 - share) ** 2 * sp_error
    reach = Z * math.sqrt(spread) / gain
    value = _clip((p + sp - 1) / (se + sp - 1))
    low, high = share + shift - reach, share + shift + reach
    if high < 0 or low > 1:
        return undefined("the labels don't fit these answers: no true share explains how often the judge says supports", rate.n)
    low, high = _clip(low), _clip(high)
    return Estimate(
        value=value, low=min(low, value), high=max(high, value), n=rate.n,
        method="Rogan–Gladen, Lang–Reiczigel interval",
    )


def _clip(share: float) -> float:
    return min(1.0, max(0.0, share))


def prediction_powered_rate(
    human: Sequence[bool], judge: Sequence[bool], judged: Sequence[bool], *,
    groups: Sequence[Hashable] | None = None, judged_groups: Sequence[Hashable] | None = None,
) -> Estimate:
    """True share of supported claims by prediction-powered inference: the judge's rate, its bias from the labels.

    Needs labelled items drawn from the same claims as the unlabelled ones. A judge that tells nothing gets no weight.
    """
    if not human or not judged:
        return undefined("no labelled items" if not human else "no unlabelled claims", len(judged))
    truth, said, rest = (np.asarray(values, dtype=float) for values in (human, judge, judged))
    n, more = len(truth), len(rest)
    weight = _power(truth, said, n, more)
    value = float(truth.mean() + weight * (rest.mean() - said.mean()))
    here, count = _mean_variance(truth - weight * said, groups)
    spread = here + weight**2 * _mean_variance(rest, judged_groups)[0]
    if here == 0:
        low, high = wilson(float(truth.sum()), n)
        return Estimate(value=value, low=low, high=high, n=n + more, method="Wilson: the judge never errs here")
    reach = t_quantile(max(1, count - 1)) * math.sqrt(spread)
    return Estimate(
        value=_clip(value), low=_clip(value - reach), high=_clip(value + reach), n=n + more,
        method="prediction-powered",
    )


def _power(truth: Floats, said: Floats, n: int, more: int) -> float:
    """How much the judge's verdicts help (PPI++'s λ), between 0 and 1."""
    spread = _variance(said)
    if n < 2 or spread == 0:
        return 0.0
    covariance = float(((truth - truth.mean()) * (said - said.mean())).sum() / (n - 1))
    return _clip(covariance / spread / (1 + n / more))


def _mean_variance(values: Floats, groups: Sequence[Hashable] | None) -> tuple[float, int]:
    """Variance of the mean of grouped values, and the number of groups."""
    index = group_index(groups, len(values))
    count = int(index.max()) + 1
    residuals = np.bincount(index, values - values.mean())
    return count / max(count - 1, 1) * float((residuals**2).sum()) / len(values) ** 2, count


def _variance(values: Floats) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


# --- planning
class PlanRow(Model):
    """What `n` labelled *supports* would tell, were the rate what it is expected to be."""

    n: int
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


def plan(expected: float, sizes: Sequence[int] = (30, 50, 100, 200, 400, 800)) -> tuple[PlanRow, ...]:
    """Expected interval of a rate by number of labelled items."""
    rows = []
    for n in sizes:
        low, high = wilson(expected * n, n)
        rows.append(PlanRow(n=n, low=low, high=high))
    return tuple(rows)
