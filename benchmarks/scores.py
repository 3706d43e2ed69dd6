"""Figures of a judge on labelled claims, each with a bootstrap interval over groups.

In: gold verdicts, judgements and group names. Out: a `Score` per figure. Unjudged claims count as wrong in accuracy
and F1 and are counted apart; they are never mapped onto a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

VERDICTS = ("supports", "partial", "contradicts", "not_found")
UNJUDGED = "unjudged"
RESAMPLES = 1000
SEED = 7


@dataclass(frozen=True)
class Outcome:
    """What one claim should have got and what it got."""

    gold: str
    verdict: str
    confidence: float | None
    group: str


@dataclass(frozen=True)
class Score:
    """A figure with its 95 % interval; None where it is not defined (no claim of the kind)."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


Figure = Callable[[Sequence[Outcome]], float | None]


def accuracy(outcomes: Sequence[Outcome]) -> float | None:
    """Share of claims with the right verdict."""
    return _mean([o.verdict == o.gold for o in outcomes])


def macro_f1(outcomes: Sequence[Outcome]) -> float | None:
    """F1 averaged over the verdicts that occur as gold."""
    scores = []
    for label in {o.gold for o in outcomes}:
        hits = sum(o.gold == label == o.verdict for o in outcomes)
        total = sum(o.gold == label for o in outcomes) + sum(o.verdict == label for o in outcomes)
        scores.append(2 * hits / total)
    return _mean(scores)


def balanced_accuracy(outcomes: Sequence[Outcome]) -> float | None:
    """Supports against the rest: mean of the shares recognised on either side."""
    sides = [recall for recall in (_supported_recall(outcomes), _rest_recall(outcomes)) if recall is not None]
    return _mean(sides) if len(sides) == 2 else None


def false_reassurance(outcomes: Sequence[Outcome]) -> float | None:
    """Share of claims that are not supported but were called supported: the error that harms."""
    return _mean([o.verdict == "supports" for o in outcomes if o.gold != "supports"])


def false_alarm(outcomes: Sequence[Outcome]) -> float | None:
    """Share of supported claims that were called anything else."""
    return _mean([o.verdict not in ("supports", UNJUDGED) for o in outcomes if o.gold == "supports"])


def calibration_error(outcomes: Sequence[Outcome], bins: int = 10) -> float | None:
    """Expected calibration error of the stated confidence in the verdict given."""
    stated = [(o.confidence, o.verdict == o.gold) for o in outcomes if o.confidence is not None]
    if not stated:
        return None
    total = 0.0
    for number in range(bins):
        inside = [(c, hit) for c, hit in stated if number / bins < c <= (number + 1) / bins or (c == 0 == number)]
        if inside:
            confidence, right = np.mean([c for c, _ in inside]), np.mean([hit for _, hit in inside])
            total += len(inside) * abs(float(confidence - right))
    return total / len(stated)


def brier(outcomes: Sequence[Outcome]) -> float | None:
    """Mean squared distance of the confidence from being right (1) or wrong (0)."""
    return _mean([(o.confidence - (o.verdict == o.gold)) ** 2 for o in outcomes if o.confidence is not None])


FIGURES: dict[str, Figure] = {
    "accuracy": accuracy, "macro-F1": macro_f1, "balanced accuracy": balanced_accuracy,
    "false reassurance": false_reassurance, "false alarm": false_alarm, "ECE": calibration_error, "Brier": brier,
}


def with_interval(figure: Figure, outcomes: Sequence[Outcome], resamples: int = RESAMPLES) -> Score:
    """The figure and its percentile interval, resampling whole groups."""
    value = figure(outcomes)
    if value is None:
        return Score(None)
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.group, []).append(outcome)
    members = list(groups.values())
    random = np.random.default_rng(SEED)
    drawn = []
    for _ in range(resamples):
        sample = [o for place in random.integers(len(members), size=len(members)) for o in members[place]]
        figure_of_sample = figure(sample)
        if figure_of_sample is not None:
            drawn.append(figure_of_sample)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Score(value, float(low), float(high))


def _supported_recall(outcomes: Sequence[Outcome]) -> float | None:
    return _mean([o.verdict == "supports" for o in outcomes if o.gold == "supports"])


def _rest_recall(outcomes: Sequence[Outcome]) -> float | None:
    return _mean([o.verdict not in ("supports", UNJUDGED) for o in outcomes if o.gold != "supports"])


def _mean(values: Sequence[float | bool]) -> float | None:
    return float(np.mean(values)) if len(values) else None
