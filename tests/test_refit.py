"""The refitted last layer: what it learns, when it is refused, and how it is applied."""

import numpy as np
import pytest

from litrag.calibration import JudgeKey
from litrag.judges import CLASSES
from litrag.models import Verdict
from litrag.profiles import Layer, ProfileHistory
from litrag.refit import (
    LayeredModel,
    RecordingModel,
    RefittedModel,
    apply_layer,
    fit_layer,
    refit,
    supports_accuracy,
)

IDENTITY = Layer(weights=tuple(tuple(float(i == j) for j in range(4)) for i in range(4)), bias=(0.0,) * 4)


class _Model:
    """Probabilities from a table; counts how often it is asked."""

    model_id = "table"

    def __init__(self, rows):
        self.table = rows
        self.asked = 0

    def predict(self, pairs):
        self.asked += len(pairs)
        return np.asarray([self.table[pair] for pair in pairs], dtype=np.float32).reshape(len(pairs), 4)


def _biased(n, seed=0):
    """A model that is informative but says `not_found` far too readily."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, n)
    logits = rng.normal(0, 1, (n, 4))
    logits[np.arange(n), truth] += 1.5
    logits[:, 3] += 2.5
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return probabilities, [CLASSES[t] for t in truth]


def _verdicts(probabilities):
    def said(layer, places):
        rows = probabilities[list(places)]
        rows = rows if layer is None else apply_layer(rows, layer)
        return [CLASSES[k] for k in rows.argmax(axis=1)]
    return said


def test_the_identity_layer_changes_nothing():
    probabilities, _ = _biased(50)
    assert apply_layer(probabilities, IDENTITY) == pytest.approx(probabilities, abs=1e-3)


def test_a_strong_pull_keeps_the_shipped_layer_and_a_weak_one_lets_go():
    probabilities, labels = _biased(200)
    strong, weak = fit_layer(probabilities, labels, 1e6), fit_layer(probabilities, labels, 1.0)
    assert np.asarray(strong.weights) == pytest.approx(np.eye(4), abs=0.01)
    assert weak.bias[3] < -0.5


def test_a_biased_model_is_put_right_on_claims_it_was_not_fitted_on():
    probabilities, labels = _biased(200)
    found = refit(probabilities, labels, list(range(200)), _verdicts(probabilities))
    assert found.layer is not None
    assert found.after > found.before
    fresh, truth = _biased(2000, seed=9)
    said = _verdicts(fresh)
    gain = supports_accuracy(truth, said(found.layer, range(2000))) - supports_accuracy(truth, said(None, range(2000)))
    assert gain > 0.05


def test_labels_that_teach_nothing_leave_the_layer_as_it_is():
    _, labels = _biased(300)
    shuffled = [labels[i] for i in np.random.default_rng(1).permutation(300)]
    rng = np.random.default_rng(2)
    noise = rng.dirichlet(np.ones(4), 300)
    found = refit(noise, shuffled, list(range(300)), lambda layer, places: [labels[0]] * len(places))
    assert found.layer is None
    assert "the layer stays as it is" in found.reason


@pytest.mark.parametrize(("n", "labels", "reason"), [
    (10, [Verdict.SUPPORTS, Verdict.PARTIAL] * 5, "10 labels of 2 kinds"),
    (60, [Verdict.SUPPORTS] * 60, "60 labels of 1 kind"),
])
def test_too_few_or_uniform_labels_are_refused(n, labels, reason):
    probabilities, _ = _biased(n)
    found = refit(probabilities, labels, list(range(n)), _verdicts(probabilities))
    assert found.layer is None
    assert found.reason.startswith(reason)


def test_fitting_is_reproducible():
    probabilities, labels = _biased(120)
    assert fit_layer(probabilities, labels, 3.0) == fit_layer(probabilities, labels, 3.0)


def test_balanced_accuracy_of_supports_by_hand_with_an_unjudged_claim():
    labels = [Verdict.SUPPORTS, Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.NOT_FOUND]
    said = [Verdict.SUPPORTS, None, Verdict.CONTRADICTS, Verdict.SUPPORTS]
    assert supports_accuracy(labels, said) == pytest.approx((1 / 2 + 1 / 2) / 2)


def test_a_refitted_model_has_a_name_of_its_own():
    model = RefittedModel(_Model({}), IDENTITY)
    assert model.model_id == f"table+{IDENTITY.layer_id}"
    assert model.predict([]).shape == (0, 4)


def test_a_recording_model_asks_once_per_pair():
    inner = _Model({("a", "b"): (0.7, 0.1, 0.1, 0.1)})
    recorder = RecordingModel(inner)
    first, again = recorder.predict([("a", "b"), ("a", "b")]), recorder.predict([("a", "b")])
    assert inner.asked == 1
    assert first[1] == pytest.approx(again[0])


def test_a_layered_model_takes_up_a_layer_as_soon_as_it_is_in_force(tmp_path):
    from test_profiles import _profile

    history = ProfileHistory(tmp_path)
    model = LayeredModel(_Model({("a", "b"): (0.4, 0.1, 0.1, 0.4)}), "local", history)
    assert model.model_id == "table"
    base = JudgeKey(judge="local", model="table", version="1")
    layer = Layer(weights=IDENTITY.weights, bias=(2.0, 0.0, 0.0, 0.0), n=50)
    history.add(_profile(base=base).model_copy(update={"layer": layer}))
    assert model.model_id == f"table+{layer.layer_id}"
    assert model.predict([("a", "b")])[0, 0] > 0.7
    history.roll_back(base)
    assert model.predict([("a", "b")])[0, 0] == pytest.approx(0.4)
