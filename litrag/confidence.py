"""Whether a judge's confidence means what it says, and from which confidence on it may be shown as settled.

In: confidences in 0–1 and whether each verdict was right. Out: reliability, Brier score, calibration error with its
bin counts, a scale fitted to them, the risk–coverage curve, and thresholds that hold a bound. Verdicts without a
confidence give *undefined*, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from pydantic import Field

from litrag.estimates import Estimate, Floats, group_index, proportion, resampled_items, undefined
from litrag.models import Model

NO_CONFIDENCES = "no confidences"

#: With fewer right or fewer wrong verdicts than this only a temperature is fitted.
_OFFSETS_FROM = 10

#: With fewer items than this no isotonic line is tried.
_ISOTONIC_FROM = 400

_FOLDS = 5

_EDGE = 1e-4


class Bin(Model):
    """Verdicts whose confidence lies in [low, high); the last bin includes 1."""

    low: float
    high: float
    n: int
    confidence: float | None = None
    right: Estimate


class Reliability(Model):
    """Stated confidence against how often it was right."""

    bins: tuple[Bin, ...] = ()
    ece: Estimate
    brier: Estimate
    n: int


def reliability(
    confidences: Sequence[float], right: Sequence[bool], groups: Sequence[Hashable] | None = None, *, bins: int = 10,
) -> Reliability:
    """Equal-width bins, expected calibration error and Brier score with intervals over questions."""
    n = len(confidences)
    if n == 0:
        return Reliability(ece=undefined(NO_CONFIDENCES), brier=undefined(NO_CONFIDENCES), n=0)
    stated, truth = np.asarray(confidences, dtype=float), np.asarray(right, dtype=float)
    places = _bins(stated, bins)
    rows = []
    for place in range(bins):
        inside = np.flatnonzero(places == place)
        share = proportion([bool(truth[i]) for i in inside], none_reason="no verdict in this bin")
        mean = float(stated[inside].mean()) if len(inside) else None
        rows.append(Bin(low=place / bins, high=(place + 1) / bins, n=len(inside), confidence=mean, right=share))

    def error(chosen: Any) -> float:
        return calibration_error(stated[chosen], truth[chosen], bins)

    def brier(chosen: Any) -> float:
        return float(((stated[chosen] - truth[chosen]) ** 2).mean())

    everything = np.arange(n)
    return Reliability(
        bins=tuple(rows), n=n,
        ece=_over_questions(error, everything, groups), brier=_over_questions(brier, everything, groups),
    )


def _over_questions(statistic: Any, everything: Any, groups: Sequence[Hashable] | None) -> Estimate:
    value, n = statistic(everything), len(everything)
    interval = resampled_items(groups, n, statistic)
    if interval is None:
        return Estimate(value=value, n=n, method="too few questions for an interval")
    return Estimate(value=value, low=interval[0], high=interval[1], n=n, method="bootstrap over questions")


def calibration_error(confidences: Floats, right: Floats, bins: int = 10) -> float:
    """Mean distance between confidence and share right, over equal bins weighted by their counts."""
    places = _bins(confidences, bins)
    gaps = np.bincount(places, confidences - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidences))


def _bins(confidences: Floats, bins: int) -> Any:
    # A confidence of exactly 1 belongs to the last bin, not to one of its own.
    return np.minimum((np.asarray(confidences) * bins + 1e-9).astype(int), bins - 1)


# --- scaling
class ScaleKind(StrEnum):
    NONE = "none"
    TEMPERATURE = "temperature"
    LOGISTIC = "logistic"
    ISOTONIC = "isotonic"


class Scale(Model):
    """A map from stated to calibrated confidence.

    logit(calibrated) = logit(stated) / temperature + offset, where an offset may be given per verdict; or, isotonic,
    the line through `knots`.
    """

    kind: ScaleKind = ScaleKind.NONE
    temperature: float = 1.0
    offset: float = 0.0
    offsets: dict[str, float] = Field(default_factory=dict)
    knots: tuple[tuple[float, float], ...] = ()
    n: int = 0

    def apply(self, confidence: float, verdict: str = "") -> float:
        """The calibrated confidence, to four decimals and never 0 or 1."""
        if self.kind is ScaleKind.ISOTONIC:
            stated, calibrated = zip(*self.knots, strict=True)
            value = float(np.interp(confidence, stated, calibrated))
        elif self.kind is ScaleKind.NONE:
            return confidence
        else:
            shift = self.offset + self.offsets.get(verdict, 0.0)
            value = _sigmoid(_logit(confidence) / self.temperature + shift)
        return round(min(1 - _EDGE, max(_EDGE, value)), 4)


def _logit(p: float) -> float:
    p = min(1 - _EDGE, max(_EDGE, p))
    return math.log(p / (1 - p))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def fit_scale(
    confidences: Sequence[float], right: Sequence[bool], verdicts: Sequence[str],
    groups: Sequence[Hashable] | None = None,
) -> Scale:
    """The scale that predicts left-out questions best, among the kinds that this many items bear.

    There is no scale when every verdict was right, or none: the data then say nothing about confidence.
    """
    n, hits = len(confidences), sum(right)
    if hits in (0, n):
        return Scale(n=n)
    kinds = [ScaleKind.TEMPERATURE]
    if min(hits, n - hits) >= _OFFSETS_FROM:
        kinds.append(ScaleKind.LOGISTIC)
        if n >= _ISOTONIC_FROM:
            kinds.append(ScaleKind.ISOTONIC)
    stated, truth, said = np.asarray(confidences, dtype=float), np.asarray(right, dtype=float), np.asarray(verdicts)
    folds = group_index(groups, n) % _FOLDS
    best = min(kinds, key=lambda kind: _left_out_loss(kind, stated, truth, said, folds)) if len(kinds) > 1 else kinds[0]
    return _fit(best, stated, truth, said)


def _left_out_loss(kind: ScaleKind, stated: Floats, right: Floats, verdicts: Any, folds: Any) -> float:
    loss = 0.0
    for fold in range(_FOLDS):
        out = folds == fold
        scale = _fit(kind, stated[~out], right[~out], verdicts[~out]) if (~out).any() else Scale()
        for confidence, hit, verdict in zip(stated[out], right[out], verdicts[out], strict=True):
            p = scale.apply(float(confidence), str(verdict))
            loss -= math.log(max(_EDGE, p if hit else 1 - p))
    return loss


def _fit(kind: ScaleKind, stated: Floats, right: Floats, verdicts: Any) -> Scale:
    if kind is ScaleKind.ISOTONIC:
        return _isotonic(stated, right)
    return _logistic(stated, right, None if kind is ScaleKind.TEMPERATURE else verdicts)


def _logistic(stated: Floats, right: Floats, verdicts: Any | None) -> Scale:
    """Newton's method on the penalised log likelihood: slope drawn to 1, offsets to 0. No verdicts: slope alone."""
    names = [] if verdicts is None else sorted({str(v) for v in verdicts})
    columns = [np.asarray([_logit(float(c)) for c in stated])]
    if verdicts is not None:
        columns += [np.ones(len(stated)), *((verdicts == name).astype(float) for name in names)]
    x = np.column_stack(columns)
    prior = np.zeros(x.shape[1])
    prior[0] = 1.0
    strength = np.asarray([0.1, 0.01, *[1.0] * len(names)][: x.shape[1]])
    w = _newton(x, right, prior, strength)
    return Scale(
        kind=ScaleKind.TEMPERATURE if verdicts is None else ScaleKind.LOGISTIC,
        temperature=round(1 / max(float(w[0]), 1e-3), 6), offset=0.0 if verdicts is None else round(float(w[1]), 6),
        offsets={name: round(float(value), 6) for name, value in zip(names, w[2:], strict=True)}, n=len(right),
    )


def _newton(x: Floats, y: Floats, prior: Floats, strength: Floats) -> Floats:
    """Minimum of the penalised logistic loss; steps that would raise it are halved."""

    def loss(at: Floats) -> float:
        margins = np.where(y > 0, 1.0, -1.0) * (x @ at)
        return float(np.logaddexp(0.0, -margins).sum() + 0.5 * (strength * (at - prior) ** 2).sum())

    w = prior.copy()
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (p - y) + strength * (w - prior)
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(strength), gradient)
        while loss(w - step) > loss(w) and float(np.abs(step).max()) > 1e-9:
            step = step / 2
        w = w - step
        if float(np.abs(step).max()) < 1e-9:
            break
    return w


def _isotonic(stated: Floats, right: Floats) -> Scale:
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(y_min=_EDGE, y_max=1 - _EDGE, out_of_bounds="clip").fit(stated, right)
    pairs = zip(model.X_thresholds_, model.y_thresholds_, strict=True)
    knots = tuple((round(float(x), 6), round(float(y), 6)) for x, y in pairs)
    return Scale(kind=ScaleKind.ISOTONIC, knots=knots, n=len(right))


# --- which verdicts to show as settled
class RiskPoint(Model):
    """Keeping verdicts from this confidence on keeps `coverage` of them, `risk` of which are wrong."""

    threshold: float
    coverage: float
    risk: float
    n: int


def risk_coverage(confidences: Sequence[float], wrong: Sequence[bool]) -> tuple[RiskPoint, ...]:
    """Risk among kept verdicts as the threshold falls; verdicts of equal confidence enter together."""
    if not confidences:
        return ()
    stated = np.asarray(confidences, dtype=float)
    order = np.argsort(-stated, kind="stable")
    errors = np.cumsum(np.asarray(wrong, dtype=float)[order])
    ends = np.flatnonzero(np.append(np.diff(stated[order]) != 0, True))
    n = len(stated)
    return tuple(
        RiskPoint(
            threshold=float(stated[order[e]]), coverage=(e + 1) / n, risk=float(errors[e]) / (e + 1), n=int(e) + 1,
        )
        for e in ends
    )


class Threshold(Model):
    """From which confidence on a verdict is shown as settled, and what that promises.

    `value` is None when no threshold keeps the bound; then nothing may be shown as settled.
    """

    value: float | None
    bound: float
    n: int
    kept: float = 0.0
    promise: str = ""
    groups: int = 0

    @property
    def enough(self) -> bool:
        """Whether there were labels enough for any threshold to be found at all."""
        return self.groups + 1 >= 1 / self.bound


def conformal_threshold(
    confidences: Sequence[float], wrong: Sequence[bool], groups: Sequence[Hashable] | None = None, *,
    bound: float = 0.05,
) -> Threshold:
    """Lowest threshold whose expected share of verdicts both kept and wrong stays within `bound`.

    Conformal risk control: holds in expectation for the next question like these, whatever the confidences mean.
    Questions, not items, are exchangeable, so each counts once.
    """
    n = len(confidences)
    promise = f"on average at most {100 * bound:g} % of these verdicts are both shown as settled and wrong"
    if n == 0:
        return Threshold(value=None, bound=bound, n=0, promise=promise)
    index = group_index(groups, n)
    count = int(index.max()) + 1
    share = 1.0 / np.bincount(index)[index] / count
    stated = np.asarray(confidences, dtype=float)
    losses = share * np.asarray(wrong, dtype=float)
    chosen: float | None = None
    for level in sorted({float(c) for c in stated}, reverse=True):
        risk = float(losses[stated >= level].sum())
        if (count * risk + 1) / (count + 1) > bound:
            break
        chosen = level
    kept = 0.0 if chosen is None else float((stated >= chosen).mean())
    return Threshold(value=chosen, bound=bound, n=n, kept=kept, promise=promise, groups=count)


def certain_threshold(
    confidences: Sequence[float], wrong: Sequence[bool], *, bound: float = 0.05, doubt: float = 0.1,
) -> Threshold:
    """Lowest threshold for which the share wrong *among the kept* is at most `bound`, but for a chance of `doubt`.

    Thresholds are tested from the highest down with exact binomial tests and the first failure ends it, so that having
    tried many costs nothing. A candidate needs enough verdicts to pass at all; smaller ones are not tried.
    """
    promise = (
        f"at most {100 * bound:g} % of the verdicts shown as settled are wrong, with {100 * (1 - doubt):g} % certainty"
    )
    n = len(confidences)
    fewest = math.ceil(math.log(doubt) / math.log(1 - bound))
    chosen: float | None = None
    kept = 0.0
    for point in risk_coverage(confidences, wrong):
        if point.n < fewest:
            continue
        if _binomial_cdf(round(point.risk * point.n), point.n, bound) > doubt:
            break
        chosen, kept = point.threshold, point.coverage
    return Threshold(value=chosen, bound=bound, n=n, kept=kept, promise=promise, groups=n)


def _binomial_cdf(hits: int, n: int, p: float) -> float:
    terms = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log(1 - p)
        for k in range(hits + 1)
    )
    return min(1.0, sum(math.exp(term) for term in terms))
