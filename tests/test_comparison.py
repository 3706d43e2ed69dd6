"""Comparing judges: exact test, differences, flips, and the gate."""

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as theirs

from litrag.calibration import JudgeKey, Pair
from litrag.comparison import Running, compare_pairs, in_words, mcnemar
from litrag.models import Judgement, Verdict
from litrag.sampling import Split

S, P, C, N, _ = Verdict
OLD, NEW = JudgeKey(judge="old"), JudgeKey(judge="new")
FREE = Running(judged=200, unjudged=0, seconds=0.02)


def _pairs(rows):
    """(human, judge) rows as pairs, one question each."""
    return [
        Pair(item_id=f"i{k}", question_id=f"q{k}", split=Split.TEST, human=human, judge=judge)
        for k, (human, judge) in enumerate(rows)
    ]


def _compare(old, new, running=(FREE, FREE)):
    return compare_pairs(_pairs(old), _pairs(new), (OLD, NEW), running)


def test_mcnemar_by_hand_and_by_two_libraries():
    # 1 against 8: 2 · (1 + 9) / 512
    assert mcnemar(1, 8) == pytest.approx(20 / 512)
    assert mcnemar(0, 0) == 1
    for only_old, only_new in [(1, 8), (5, 5), (0, 7), (13, 4), (300, 340)]:
        table = [[10, only_old], [only_new, 10]]
        assert mcnemar(only_old, only_new) == pytest.approx(theirs(table, exact=True).pvalue)
        assert mcnemar(only_old, only_new) == pytest.approx(binomtest(only_old, only_old + only_new).pvalue)


def test_the_four_outcomes_and_the_flips_are_counted():
    old = [(S, S), (S, N), (N, N), (P, S)]
    new = [(S, S), (S, S), (N, S), (P, C)]
    found = _compare(old, new)
    assert (found.both_right, found.only_old_right, found.only_new_right, found.both_wrong) == (1, 1, 1, 1)
    assert [(f.item_id, f.better) for f in found.flips] == [("i1", True), ("i2", False), ("i3", False)]


def test_only_items_of_both_judges_are_compared():
    old, new = _pairs([(S, S)] * 5), _pairs([(S, S)] * 3)
    assert compare_pairs(old, new, (OLD, NEW), (FREE, FREE)).n == 3


def _truth(n=240):
    rng = np.random.default_rng(1)
    return [S if flag else N for flag in rng.random(n) < 0.6]


def _judge(truth, sensitivity, specificity, seed):
    rng = np.random.default_rng(seed)
    return [
        (human, S if rng.random() < (sensitivity if human is S else 1 - specificity) else N) for human in truth
    ]


def test_a_better_judge_may_replace_the_old_one():
    truth = _truth()
    found = _compare(_judge(truth, 0.8, 0.7, 2), _judge(truth, 0.95, 0.95, 3))
    assert found.may_replace
    assert found.balanced_accuracy.low > 0
    assert found.false_reassurance.high < 0
    assert found.mcnemar_p < 0.01


def test_a_judge_that_reassures_falsely_may_not_replace_however_accurate_on_supported_claims():
    truth = _truth()
    found = _compare(_judge(truth, 0.8, 0.95, 2), _judge(truth, 1.0, 0.5, 3))
    assert not found.may_replace
    failed = [reason.text for reason in found.reasons if not reason.met]
    assert any(text.startswith("false reassurance") for text in failed)


def test_few_items_keep_the_gate_shut_even_without_an_error():
    found = _compare([(S, S), (N, N)] * 20, [(S, S), (N, N)] * 20)
    assert not found.may_replace
    assert any("40 labelled test items" in reason.text and not reason.met for reason in found.reasons)


def test_a_judge_that_leaves_items_unjudged_may_not_replace():
    truth = _truth()
    rows = _judge(truth, 0.95, 0.95, 3)
    found = _compare(rows, rows, (FREE, Running(judged=180, unjudged=20)))
    assert not found.may_replace
    assert [reason.text for reason in found.reasons if not reason.met] == [
        "20 unjudged against 0; at most 2 % of items more",
    ]


def test_without_shared_items_nothing_is_claimed():
    found = compare_pairs([], [], (OLD, NEW), (FREE, FREE))
    assert found.mcnemar_p is None
    assert found.accuracy.undefined == "no item that both judged is labelled"
    assert not found.may_replace
    assert "NaN" not in found.model_dump_json()


def test_a_judge_that_never_says_supports_has_no_difference_in_false_reassurance():
    found = _compare([(S, S), (N, N)], [(S, N), (N, N)])
    assert found.false_reassurance.undefined == "one of the judges never says supports"
    assert not found.may_replace


def test_differences_of_identical_judges_are_zero():
    rows = _judge(_truth(), 0.8, 0.8, 4)
    found = _compare(rows, rows)
    assert (found.accuracy.value, found.accuracy.low, found.accuracy.high) == (0, 0, 0)
    assert found.flips == ()


def test_running_costs_are_means_and_unknown_prices_stay_unknown():
    found = Running.of([
        Judgement(verdict=S, seconds=1.0), Judgement(verdict=N, seconds=3.0), Judgement.unjudged("refused"),
    ])
    assert (found.judged, found.unjudged) == (2, 1)
    assert found.seconds == pytest.approx(4 / 3)
    assert found.cost_usd is None
    assert Running.of([]).seconds is None


def test_the_text_names_both_judges_and_every_condition():
    text = in_words(_compare(_judge(_truth(), 0.8, 0.7, 2), _judge(_truth(), 0.95, 0.95, 3)))
    assert "new against old, 240 labelled test items" in text
    assert "may replace" in text
    assert text.count("✔") == 5
