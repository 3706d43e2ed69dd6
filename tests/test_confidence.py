"""Confidence: calibration error at its edges, scales, the risk–coverage curve, and thresholds that hold a bound."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from litrag.confidence import (
    Scale,
    ScaleKind,
    calibration_error,
    certain_threshold,
    conformal_threshold,
    fit_scale,
    reliability,
    risk_coverage,
)


# --- calibration error
def test_a_confidence_of_exactly_one_shares_the_last_bin():
    found = reliability([0.92, 1.0], [True, False])
    assert found.ece.value == pytest.approx(0.46)
    assert [row.n for row in found.bins] == [0] * 9 + [2]


def test_equal_confidences_have_the_error_of_their_one_bin():
    found = reliability([0.9] * 8, [True] * 4 + [False] * 4)
    assert found.ece.value == pytest.approx(0.40)
    assert found.ece.n == 8


def test_verdicts_without_confidence_have_no_calibration_error_rather_than_none():
    found = reliability([], [])
    assert found.ece.undefined == "no confidences"
    assert found.brier.undefined == "no confidences"


def test_an_empty_bin_says_so_and_adds_nothing():
    found = reliability([0.05, 0.95], [False, True])
    assert found.bins[5].n == 0
    assert found.bins[5].right.undefined == "no verdict in this bin"
    assert found.ece.value == pytest.approx(0.05)


def test_calibration_error_by_a_loop_over_bins_and_brier_by_sklearn():
    rng = np.random.default_rng(9)
    for _ in range(25):
        confidence = np.round(rng.random(60), 2)
        right = rng.random(60) < confidence
        expected = 0.0
        for place in range(10):
            inside = [i for i, c in enumerate(confidence) if min(round(c * 100) // 10, 9) == place]
            if inside:
                expected += len(inside) / 60 * abs(confidence[inside].mean() - right[inside].mean())
        found = reliability(confidence.tolist(), right.tolist())
        assert found.ece.value == pytest.approx(expected)
        assert found.brier.value == pytest.approx(brier_score_loss(right, confidence))
        assert sum(row.n for row in found.bins) == 60


# --- scales
def _overconfident(n, seed=0):
    """Stated confidences whose logits are twice what they should be."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(1.0, 1.0, n)
    right = rng.random(n) < 1 / (1 + np.exp(-logits))
    stated = 1 / (1 + np.exp(-2 * logits))
    return stated.tolist(), right.tolist(), ["supports"] * n


def test_a_temperature_is_recovered_from_overconfident_verdicts():
    confidence, right, verdicts = _overconfident(350)
    scale = fit_scale(confidence, right, verdicts)
    assert scale.temperature == pytest.approx(2.0, rel=0.3)
    fresh, truth, _ = _overconfident(4000, seed=1)
    before, after = (
        calibration_error(np.asarray(c), np.asarray(truth, dtype=float))
        for c in (fresh, [scale.apply(c, "supports") for c in fresh])
    )
    assert after < before / 3


def test_few_errors_allow_only_a_temperature_and_many_labels_an_isotonic_line():
    confidence, _, verdicts = _overconfident(20)
    assert fit_scale(confidence[:12], [True] * 11 + [False], verdicts[:12]).kind is ScaleKind.TEMPERATURE
    bent = np.random.default_rng(1).random(3000)
    truth = np.random.default_rng(2).random(3000) < np.where(bent > 0.5, 0.9, 0.2)
    assert fit_scale(bent.tolist(), truth.tolist(), ["supports"] * 3000).kind is ScaleKind.ISOTONIC


def test_verdicts_that_are_wrong_more_often_get_lower_confidence():
    rng = np.random.default_rng(3)
    verdicts = ["supports"] * 150 + ["partial"] * 150
    right = (rng.random(300) < np.asarray([0.9] * 150 + [0.4] * 150)).tolist()
    scale = fit_scale([0.8] * 300, right, verdicts)
    assert scale.apply(0.8, "supports") > 0.8 > 0.5 > scale.apply(0.8, "partial")


def test_two_confidences_that_differ_little_but_mean_much_are_told_apart():
    # At 0.97 nothing is wrong, at 0.93 half: a plain Newton step overshoots here.
    confidence, right = [0.97] * 50 + [0.93] * 50, [True] * 50 + [True, False] * 25
    scale = fit_scale(confidence, right, ["supports"] * 100)
    assert scale.apply(0.97, "supports") > 0.95
    assert scale.apply(0.93, "supports") == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("right", [[True] * 6, [False] * 6, []])
def test_labels_that_say_nothing_about_confidence_leave_it_alone(right):
    scale = fit_scale([0.7] * len(right), right, ["supports"] * len(right))
    assert scale.kind is ScaleKind.NONE
    assert scale.apply(0.7, "supports") == 0.7


def test_the_isotonic_line_is_sklearns():
    rng = np.random.default_rng(12)
    confidence = rng.random(2000)
    right = rng.random(2000) < np.where(confidence > 0.6, 0.95, 0.1)
    scale = fit_scale(confidence.tolist(), right.tolist(), ["supports"] * 2000)
    assert scale.kind is ScaleKind.ISOTONIC
    theirs = IsotonicRegression(y_min=1e-4, y_max=1 - 1e-4, out_of_bounds="clip").fit(confidence, right)
    points = np.linspace(0, 1, 50)
    assert [scale.apply(float(p)) for p in points] == pytest.approx(theirs.predict(points), abs=2e-4)


def test_scales_keep_the_order_of_confidences_and_stay_inside_zero_and_one():
    confidence, right, verdicts = _overconfident(200)
    scale = fit_scale(confidence, right, verdicts)
    mapped = [scale.apply(c, "supports") for c in sorted([0.0, *confidence, 1.0])]
    assert mapped == sorted(mapped)
    assert mapped[0] > 0
    assert mapped[-1] < 1


def test_a_scale_survives_json():
    scale = fit_scale(*_overconfident(200))
    assert Scale.model_validate_json(scale.model_dump_json()) == scale


# --- thresholds
def test_the_risk_coverage_curve_takes_equal_confidences_together():
    points = risk_coverage([0.9, 0.8, 0.8, 0.5], [False, True, False, True])
    assert [(p.threshold, p.n, round(p.risk, 3)) for p in points] == [(0.9, 1, 0.0), (0.8, 3, 0.333), (0.5, 4, 0.5)]
    assert risk_coverage([], []) == ()


def test_the_conformal_threshold_by_hand():
    # 19 right verdicts at 0.9, then one wrong at 0.5: (1 + 0)/21 ≤ 5 % above it, (1 + 1)/21 > 5 % with it
    found = conformal_threshold([0.9] * 19 + [0.5], [False] * 19 + [True], bound=0.05)
    assert found.value == 0.9
    assert found.kept == pytest.approx(0.95)


def test_too_few_labels_promise_nothing():
    found = conformal_threshold([0.9] * 10, [False] * 10, bound=0.05)
    assert found.value is None
    assert not found.enough
    assert conformal_threshold([], []).value is None


def test_a_judge_wrong_at_every_confidence_may_show_nothing():
    found = conformal_threshold([0.9] * 100, [True, False] * 50, bound=0.05)
    assert found.value is None
    assert found.enough
    assert found.kept == 0


def test_many_claims_of_one_question_count_once():
    alone = conformal_threshold([0.9] * 40, [False] * 40, bound=0.05)
    together = conformal_threshold([0.9] * 40, [False] * 40, ["q"] * 40, bound=0.05)
    assert alone.value == 0.9
    assert together.value is None


def test_the_conformal_bound_holds_on_average():
    rng = np.random.default_rng(0)
    fresh = rng.random(20_000)
    bad = rng.random(20_000) < 0.4 * (1 - fresh)
    risks = []
    for _ in range(300):
        confidence = rng.random(60)
        wrong = rng.random(60) < 0.4 * (1 - confidence)
        found = conformal_threshold(confidence.tolist(), wrong.tolist(), bound=0.1).value
        risks.append((bad & (fresh >= (2 if found is None else found))).mean())
    assert np.mean(risks) <= 0.1 + 2 * np.std(risks) / np.sqrt(300)
    assert np.mean(risks) > 0.06


def test_the_certain_threshold_needs_45_faultless_verdicts_for_five_percent():
    # 0.95^45 < 0.1 < 0.95^44
    assert certain_threshold([0.9] * 44, [False] * 44, bound=0.05).value is None
    assert certain_threshold([0.9] * 45, [False] * 45, bound=0.05).value == 0.9


def test_the_certain_threshold_stops_before_the_errors():
    confidence = [0.95] * 60 + [0.6] * 60
    wrong = [False] * 60 + [True, False] * 30
    assert certain_threshold(confidence, wrong, bound=0.05).value == 0.95
