"""The local judge's last layer, refitted on reviewers' labels.

In: the model's probabilities for labelled claims. Out: a linear layer over their logarithms that is drawn towards
changing nothing, or a refusal: a layer that isn't at least as good on questions it was not fitted on is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt

from litrag.estimates import Floats, group_index
from litrag.judges import CLASSES, Case, Entailment, LocalJudge
from litrag.models import Judgement, Model, Passage, Verdict
from litrag.profiles import Layer, ProfileHistory, open_history

#: Smallest probability that is told from none: models round to four decimals.
_FLOOR = 5e-5

#: How strongly the layer may be drawn to changing nothing; the strength is chosen on left-out questions.
_STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_FOLDS = 5

#: Fewer labels than this are never refitted on.
FEWEST = 40

Rows = npt.NDArray[np.float32]


class Refit(Model):
    """What came of refitting: the layer when it is used, and the balanced accuracies on left-out questions."""

    layer: Layer | None = None
    before: float | None = None
    after: float | None = None
    strength: float | None = None
    n: int = 0
    reason: str = ""


class RefittedModel:
    """A model with a refitted layer on top; its id names the layer, so that its errors are counted apart."""

    def __init__(self, model: Entailment, layer: Layer) -> None:
        self._model = model
        self._layer = layer

    @property
    def model_id(self) -> str:
        return refitted_id(self._model.model_id, self._layer)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> Rows:
        return apply_layer(np.asarray(self._model.predict(pairs), dtype=float), self._layer).astype(np.float32)


class LayeredModel:
    """A model with whatever layer is in force for it at the moment of a call."""

    def __init__(self, model: Entailment, judge_id: str, history: ProfileHistory | None = None) -> None:
        self._model = model
        self._judge_id = judge_id
        self._history = history or open_history()

    def _current(self) -> Entailment:
        layer = self._history.layer_for(self._judge_id, self._model.model_id)
        return self._model if layer is None else RefittedModel(self._model, layer)

    @property
    def model_id(self) -> str:
        return self._current().model_id

    def predict(self, pairs: Sequence[tuple[str, str]]) -> Rows:
        return self._current().predict(pairs)


class RecordingModel:
    """A model that remembers what it said of each pair, so that judging again costs nothing."""

    def __init__(self, model: Entailment) -> None:
        self._model = model
        self.rows: dict[tuple[str, str], npt.NDArray[np.float32]] = {}

    @property
    def model_id(self) -> str:
        return self._model.model_id

    def predict(self, pairs: Sequence[tuple[str, str]]) -> Rows:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.rows]
        if new:
            for pair, row in zip(new, np.asarray(self._model.predict(new), dtype=np.float32), strict=True):
                self.rows[pair] = row
        return np.asarray([self.rows[pair] for pair in pairs], dtype=np.float32).reshape(len(pairs), len(CLASSES))


class RefitJudge(LocalJudge):
    """A local judge that looks at each case once, so that trying another layer costs only its arithmetic."""

    def __init__(self, model: Entailment, *, judge_id: str = "local") -> None:
        self.recorder = RecordingModel(model)
        super().__init__(self.recorder, judge_id=judge_id)
        self._cases: dict[tuple[str, str, str | None], Case] = {}

    def _prepare(self, claim: str, passage: str | Passage, quote: str | None) -> Case:
        key = (claim, passage.text if isinstance(passage, Passage) else passage, quote)
        if key not in self._cases:
            self._cases[key] = super()._prepare(claim, passage, quote)
        return copy(self._cases[key])

    def pair(self, claim: str, passage: str, quote: str | None = None) -> tuple[str, str] | None:
        """What the model is asked of a claim; None where code decides alone."""
        case = self._prepare(claim, passage, quote)
        return None if case.decided is not None else (case.claim, case.window)

    def judge_with(self, layer: Layer | None, pairs: Sequence[tuple[str, str, str | None]]) -> list[Judgement]:
        """What this judge says with a layer on top, or as it is."""
        self._model = self.recorder if layer is None else RefittedModel(self.recorder, layer)
        return self.judge_many(pairs)


def refitted_id(model_id: str, layer: Layer) -> str:
    return f"{model_id}+{layer.layer_id}"


def apply_layer(probabilities: Floats, layer: Layer) -> Floats:
    """Probabilities of the refitted model."""
    return _softmax(_logs(probabilities) @ np.asarray(layer.weights).T + np.asarray(layer.bias))


def fit_layer(probabilities: Floats, labels: Sequence[Verdict], strength: float) -> Layer:
    """Multinomial logistic regression on the log-probabilities, drawn to the identity with `strength`.

    *Supports* and the rest weigh the same in sum: what is asked of a judge is to tell these two apart.
    """
    from scipy.optimize import minimize

    x = _logs(probabilities)
    truth = np.asarray([CLASSES.index(label) for label in labels])
    weights = _balanced(truth == 0)
    size = len(CLASSES)
    start = np.concatenate([np.eye(size).ravel(), np.zeros(size)])
    pull = strength * np.concatenate([np.ones(size * size), np.full(size, 0.1)])

    def loss(flat: Floats) -> tuple[float, Floats]:
        w, b = flat[: size * size].reshape(size, size), flat[size * size :]
        p = _softmax(x @ w.T + b)
        value = -(weights * np.log(p[np.arange(len(truth)), truth] + 1e-12)).sum()
        p[np.arange(len(truth)), truth] -= 1
        error = p * weights[:, None]
        gradient = np.concatenate([(error.T @ x).ravel(), error.sum(axis=0)])
        apart = flat - start
        return float(value + 0.5 * (pull * apart**2).sum()), gradient + pull * apart

    found = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return Layer(
        weights=tuple(tuple(round(float(v), 5) for v in row) for row in found[: size * size].reshape(size, size)),
        bias=tuple(round(float(v), 5) for v in found[size * size :]), n=len(truth),
    )


def refit(
    probabilities: Floats, labels: Sequence[Verdict], groups: Sequence[Hashable],
    verdicts: Callable[[Layer | None, Sequence[int]], Sequence[Verdict | None]],
) -> Refit:
    """Choose a strength and a layer by left-out questions, and say whether it may be used.

    The strength is the one whose left-out *supports* probabilities lose least (log loss, both sides weighing the same).
    The layer is used when it lowers that loss and raises the balanced accuracy of left-out verdicts.
    `verdicts(layer, places)` says what the whole judge, code included, makes of those items with that layer.
    """
    n = len(labels)
    kinds = len(set(labels))
    if n < FEWEST or kinds < 2:
        why = f"{n} labels of {kinds} kind{'s' if kinds != 1 else ''}: at least {FEWEST} of two kinds are needed"
        return Refit(n=n, reason=why)
    folds = group_index(groups, n) % _FOLDS
    losses = {s: _loss(_left_out(s, probabilities, labels, folds), labels) for s in _STRENGTHS}
    strength = min(losses, key=lambda s: (losses[s], -s))
    before = supports_accuracy(labels, verdicts(None, list(range(n))))
    after = supports_accuracy(labels, _left_out_verdicts(strength, probabilities, labels, folds, verdicts))
    if losses[strength] >= _loss(probabilities, labels) or after <= before:
        why = f"balanced accuracy on left-out questions would go from {before:.3f} to {after:.3f}: the layer stays as it is"
        return Refit(before=before, after=after, strength=strength, n=n, reason=why)
    return Refit(layer=fit_layer(probabilities, labels, strength), before=before, after=after, strength=strength, n=n)


def _layers(
    strength: float, probabilities: Floats, labels: Sequence[Verdict], folds: npt.NDArray[np.int64],
) -> Iterator[tuple[Layer, npt.NDArray[np.int64]]]:
    """For each fold the layer fitted without it, and the fold's places."""
    for fold in range(int(folds.max()) + 1):
        inside, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        yield fit_layer(probabilities[inside], [labels[i] for i in inside.tolist()], strength), out


def _left_out(
    strength: float, probabilities: Floats, labels: Sequence[Verdict], folds: npt.NDArray[np.int64],
) -> Floats:
    result = np.zeros_like(probabilities)
    for layer, out in _layers(strength, probabilities, labels, folds):
        result[out] = apply_layer(probabilities[out], layer)
    return result


def _left_out_verdicts(
    strength: float, probabilities: Floats, labels: Sequence[Verdict], folds: npt.NDArray[np.int64],
    verdicts: Callable[[Layer | None, Sequence[int]], Sequence[Verdict | None]],
) -> list[Verdict | None]:
    said: list[Verdict | None] = [None] * len(labels)
    for layer, out in _layers(strength, probabilities, labels, folds):
        for place, verdict in zip(out.tolist(), verdicts(layer, out.tolist()), strict=True):
            said[place] = verdict
    return said


def _loss(probabilities: Floats, labels: Sequence[Verdict]) -> float:
    """Log loss of *supports* against the rest, both sides weighing the same."""
    truth = np.asarray([label is Verdict.SUPPORTS for label in labels])
    p = np.clip(probabilities[:, 0], _FLOOR, 1 - _FLOOR)
    return float(-(_balanced(truth) * np.where(truth, np.log(p), np.log(1 - p))).mean())


def supports_accuracy(labels: Sequence[Verdict], said: Sequence[Verdict | None]) -> float:
    """Balanced accuracy of *supports* against the rest; an unjudged claim counts as wrong."""
    truth = np.asarray([label is Verdict.SUPPORTS for label in labels])
    yes = np.asarray([verdict is Verdict.SUPPORTS for verdict in said])
    no = np.asarray([verdict is not None and verdict is not Verdict.SUPPORTS for verdict in said])
    recalls = [float(hit[mask].mean()) for hit, mask in ((yes, truth), (no, ~truth)) if mask.any()]
    return sum(recalls) / len(recalls)


def _balanced(yes: npt.NDArray[np.bool_]) -> Floats:
    share = float(yes.mean())
    if share in (0.0, 1.0):
        return np.ones(len(yes))
    return np.where(yes, 0.5 / share, 0.5 / (1 - share))


def _logs(probabilities: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(probabilities, _FLOOR))
    return logs


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: Floats = raised / raised.sum(axis=1, keepdims=True)
    return result
