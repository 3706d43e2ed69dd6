"""Estimates: intervals by hand and by other libraries, grouping, and values that are undefined."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from litrag.errors import InputError
from litrag.estimates import Estimate, group_index, proportion, resampled, resampled_items, undefined, wilson


def test_wilson_for_three_of_112_is_what_the_hand_calculation_gives():
    # centre (0.026786 + 3.841459/224) / (1 + 3.841459/112), reach by the formula
    low, high = wilson(3, 112)
    assert low == pytest.approx(0.00915, abs=5e-5)
    assert high == pytest.approx(0.07580, abs=5e-5)


def test_wilson_equals_statsmodels_and_scipy_on_a_thousand_random_shares():
    rng = np.random.default_rng(1)
    for _ in range(1000):
        n = int(rng.integers(1, 300))
        hits = int(rng.choice([0, n, rng.integers(0, n + 1)]))
        ours = wilson(hits, n)
        assert ours == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-12)
        theirs = binomtest(hits, n).proportion_ci(method="wilson")
        assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_wilson_refuses_counts_that_cannot_be(hits, n):
    with pytest.raises(InputError, match=f"{hits} of {n}"):
        wilson(hits, n)


def test_no_error_seen_still_leaves_room_for_errors():
    estimate = proportion([False] * 40)
    assert estimate.value == 0
    assert estimate.low == 0
    assert estimate.high == pytest.approx(0.0876, abs=1e-4)


def test_nothing_observed_is_undefined_with_its_reason_and_never_a_number():
    estimate = proportion([], none_reason="the judge never says supports")
    assert estimate.value is None
    assert estimate.in_words() == "undefined (the judge never says supports)"
    assert "NaN" not in estimate.model_dump_json()


def test_a_share_reads_as_counts_with_a_range_in_percent():
    flags = [True] * 3 + [False] * 109
    assert proportion(flags).in_words() == "3 of 112 (0.9–7.6 %)"


def test_a_coefficient_reads_with_its_range_and_n():
    assert Estimate(value=0.618, low=0.5, high=0.71, n=80).as_number() == "0.62 (0.50 to 0.71), n = 80"
    assert undefined("only one label used", 12).as_number() == "undefined (only one label used), n = 12"


def test_claims_that_copy_each_other_within_questions_count_as_fewer():
    flags = [bool(i % 2) for i in range(20) for _ in range(5)]
    alone = proportion(flags)
    grouped = proportion(flags, [i for i in range(20) for _ in range(5)])
    assert grouped.value == alone.value
    # Five perfect copies per question: worth 20 items, so wider by more than √4.
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)
    assert (grouped.low, grouped.high) == pytest.approx(wilson(8.4, 16.8), abs=0.02)


def test_grouping_never_narrows_an_interval():
    rng = np.random.default_rng(3)
    for _ in range(200):
        flags = (rng.random(40) < 0.3).tolist()
        alone, grouped = proportion(flags), proportion(flags, rng.integers(0, 15, 40).tolist())
        assert grouped.low <= alone.low + 1e-12
        assert grouped.high >= alone.high - 1e-12


def test_weights_move_the_share_and_cost_precision():
    flags = [True, True, False, False]
    weighted = proportion(flags, weights=[3, 1, 1, 1])
    assert weighted.value == pytest.approx(4 / 6)
    assert weighted.hits is None
    even = proportion([True, True, False], None)
    assert weighted.high - weighted.low > even.high - even.low - 0.1


def test_groups_are_numbered_by_first_occurrence_and_must_match_the_items():
    assert group_index(["b", "a", "b"], 3).tolist() == [0, 1, 0]
    assert group_index(None, 3).tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="3 items but 2 groups"):
        group_index(["a", "b"], 3)


def _mean(totals):
    return totals[:, 0] / totals[:, 1]


def test_the_bootstrap_is_reproducible_and_close_to_the_normal_interval():
    rng = np.random.default_rng(5)
    counts = np.column_stack([rng.normal(1, 1, 200), np.ones(200)])
    low, high = resampled(counts, _mean, seed=4)
    assert (low, high) == resampled(counts, _mean, seed=4)
    mean, error = counts[:, 0].mean(), counts[:, 0].std(ddof=1) / math.sqrt(200)
    assert (low, high) == pytest.approx((mean - 1.97 * error, mean + 1.97 * error), abs=0.02)


def test_one_question_gives_no_bootstrap_interval():
    assert resampled(np.ones((1, 2)), _mean) is None
    assert resampled_items(["q"] * 5, 5, lambda chosen: float(chosen.mean())) is None


def test_a_statistic_that_most_resamples_leave_undefined_gets_no_interval():
    counts = np.eye(3)
    assert resampled(counts, lambda totals: np.where(totals.min(axis=1) > 0, 1.0, np.nan)) is None
