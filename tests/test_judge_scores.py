"""The figures of the judge benchmark, on outcomes small enough to count by hand."""

from __future__ import annotations

import pytest

from benchmarks.scores import (
    Outcome,
    accuracy,
    balanced_accuracy,
    brier,
    calibration_error,
    false_alarm,
    false_reassurance,
    macro_f1,
    with_interval,
)


def outcome(gold: str, verdict: str, confidence: float | None = None, group: str = "a") -> Outcome:
    return Outcome(gold, verdict, confidence, group)


FOUR = [
    outcome("supports", "supports"),
    outcome("supports", "not_found"),
    outcome("contradicts", "supports"),
    outcome("contradicts", "contradicts"),
]


def test_accuracy_counts_exact_verdicts():
    assert accuracy(FOUR) == 0.5


def test_macro_f1_averages_over_the_verdicts_that_occur_as_gold():
    supports = 2 * 1 / (2 + 2)
    contradicts = 2 * 1 / (2 + 1)
    assert macro_f1(FOUR) == pytest.approx((supports + contradicts) / 2)


def test_balanced_accuracy_sets_supports_against_the_rest():
    partial_for_contradicts = outcome("contradicts", "partial")
    assert balanced_accuracy([*FOUR, partial_for_contradicts]) == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_balanced_accuracy_needs_both_sides():
    assert balanced_accuracy(FOUR[:2]) is None


def test_false_reassurance_is_counted_among_claims_that_are_not_supported():
    assert false_reassurance(FOUR) == 0.5


def test_false_alarm_is_counted_among_supported_claims():
    assert false_alarm(FOUR) == 0.5


def test_an_unjudged_claim_is_wrong_but_neither_alarm_nor_reassurance():
    outcomes = [outcome("supports", "unjudged"), outcome("contradicts", "unjudged")]
    assert accuracy(outcomes) == 0.0
    assert false_alarm(outcomes) == 0.0
    assert false_reassurance(outcomes) == 0.0


def test_confidence_that_matches_the_share_right_has_no_calibration_error():
    outcomes = [outcome("supports", verdict, 0.75) for verdict in ("supports", "supports", "supports", "partial")]
    assert calibration_error(outcomes) == pytest.approx(0.0)


def test_certainty_about_wrong_verdicts_is_a_calibration_error_of_one():
    assert calibration_error([outcome("supports", "partial", 1.0)]) == pytest.approx(1.0)


def test_brier_punishes_wrong_certainty_in_full():
    assert brier([outcome("supports", "partial", 1.0), outcome("supports", "supports", 1.0)]) == pytest.approx(0.5)


def test_figures_without_stated_confidence_are_absent_not_zero():
    assert calibration_error(FOUR) is None
    assert brier(FOUR) is None


def test_the_interval_resamples_groups_and_holds_the_value():
    outcomes = [outcome("supports", "supports" if n % 3 else "partial", group=str(n)) for n in range(60)]
    score = with_interval(accuracy, outcomes, resamples=300)
    assert score.low < score.value < score.high
    assert score == with_interval(accuracy, outcomes, resamples=300)


def test_one_group_leaves_no_spread():
    score = with_interval(accuracy, FOUR, resamples=50)
    assert score.low == score.high == 0.5
