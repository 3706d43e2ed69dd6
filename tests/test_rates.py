"""Error rates, sampling weights, and the rate of claims nobody has labelled."""

import numpy as np
import pytest

from litrag.errors import InputError
from litrag.models import Verdict
from litrag.rates import (
    corrected_rate,
    design_weights,
    false_alarm,
    false_reassurance,
    plan,
    prediction_powered_rate,
    reviewer_ceiling,
    wrong_when,
)
from litrag.sampling import Candidate, Stratum, draw

S, P, C, N = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS, Verdict.NOT_FOUND


def test_false_reassurance_counts_supports_that_reviewers_did_not_confirm():
    human, judge = [S, P, C, S, N], [S, S, S, N, N]
    assert (false_reassurance(human, judge).hits, false_reassurance(human, judge).n) == (2, 3)


def test_false_alarm_counts_warnings_about_supported_claims():
    human, judge = [S, P, S, N], [S, C, N, N]
    assert (false_alarm(human, judge).hits, false_alarm(human, judge).n) == (1, 3)


def test_a_judge_that_always_says_supports_misleads_as_often_as_claims_are_unsupported():
    human = [S] * 70 + [N] * 30
    assert false_reassurance(human, [S] * 100).value == pytest.approx(0.3)
    assert false_alarm(human, [S] * 100).undefined == "the judge always says supports"


def test_a_judge_that_never_says_supports_has_no_false_reassurance_rate():
    assert false_reassurance([S, N], [N, N]).undefined == "the judge never says supports"
    assert wrong_when(P, [S, N], [N, N]).undefined == "the judge never says partial"


def test_the_ceiling_counts_every_ordered_pair_of_reviewers():
    # (S, N): one of one; (S, S): none of two; (S, S, N): S–S twice, S–N twice: two of four
    ceiling = reviewer_ceiling([(S, N), (S, S), (S, S, N), (N, N)])
    assert (ceiling.hits, ceiling.n) == (3, 7)
    assert reviewer_ceiling([(S,)]).value is None


# --- sampling
def test_a_uniform_sample_weighs_each_item_by_the_claims_it_stands_for():
    assert design_weights([Stratum.UNIFORM] * 3, [0.1, 0.1, 0.2]) == pytest.approx([10, 10, 5])


def test_items_picked_by_hand_have_no_weight_and_enter_no_weighted_rate():
    weights = design_weights([Stratum.UNIFORM, Stratum.CHOSEN], [0.5, None])
    assert weights == [2.0, 0.0]
    assert false_reassurance([S, N], [S, S], weights=weights).value == 0


def test_impossible_inclusion_probabilities_are_refused():
    with pytest.raises(InputError, match=r"got 1\.5"):
        design_weights([Stratum.UNIFORM], [1.5])


def test_weights_take_out_the_bias_of_choosing_uncertain_claims():
    rng = np.random.default_rng(6)
    plain, weighted = [], []
    for seed in range(150):
        wrong = rng.random(300) < 0.3
        pool = [
            Candidate(key=str(i), uncertainty=0.9 if bad else 0.1, verdict="supports") for i, bad in enumerate(wrong)
        ]
        drawn = draw(pool, 80, seed=seed)
        human = [N if wrong[int(d.key)] else S for d in drawn]
        weights = design_weights([d.stratum for d in drawn], [d.probability for d in drawn])
        plain.append(false_reassurance(human, [S] * 80).value - wrong.mean())
        weighted.append(false_reassurance(human, [S] * 80, weights=weights).value - wrong.mean())
    assert np.mean(plain) > 0.08
    assert abs(np.mean(weighted)) < 3.5 * np.std(weighted) / np.sqrt(150) + 0.005


# --- unlabelled answers
def test_the_corrected_rate_is_rogan_and_gladens():
    human = [True] * 100 + [False] * 100
    judge = [True] * 90 + [False] * 10 + [True] * 20 + [False] * 80
    judged = [True] * 550 + [False] * 450
    found = corrected_rate(judged, human, judge)
    assert found.sensitivity.value == pytest.approx(0.9)
    assert found.specificity.value == pytest.approx(0.8)
    assert found.corrected.value == pytest.approx((0.55 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.corrected.low < found.corrected.value < found.corrected.high


def test_the_corrected_interval_carries_the_error_of_labels_and_of_answers():
    human = [True] * 50 + [False] * 50
    judge = [True] * 45 + [False] * 5 + [True] * 10 + [False] * 40
    few = corrected_rate([True, False] * 50, human, judge).corrected
    many_answers = corrected_rate([True, False] * 5000, human, judge).corrected
    many_labels = corrected_rate([True, False] * 50, human * 50, judge * 50).corrected
    assert many_answers.high - many_answers.low < few.high - few.low
    assert many_labels.high - many_labels.low < few.high - few.low
    # However many answers there are, the labels' own error stays.
    assert many_answers.high - many_answers.low > 0.15


def test_a_judge_no_better_than_chance_corrects_nothing():
    found = corrected_rate([True] * 10, [True, False] * 10, [True] * 20)
    assert found.corrected.value is None
    assert "no better than chance" in found.corrected.undefined


def test_the_corrected_rate_stays_a_share_when_the_judge_says_supports_less_often_than_it_errs():
    human = [True] * 40 + [False] * 40
    judge = [True] * 36 + [False] * 4 + [True] * 4 + [False] * 36
    found = corrected_rate([True] * 8 + [False] * 92, human, judge).corrected
    assert found.value == 0
    assert found.low == 0
    assert 0 < found.high < 0.2


def test_labels_that_cannot_belong_to_these_answers_are_not_used_on_them():
    human = [True] * 40 + [False] * 40
    judge = [True] * 36 + [False] * 4 + [True] * 12 + [False] * 28
    found = corrected_rate([True] * 2 + [False] * 98, human, judge).corrected
    assert found.value is None
    assert "don't fit these answers" in found.undefined


@pytest.mark.parametrize(("judged", "human", "why"), [
    ([], [True, False], "no unlabelled claims"), ([True], [True, True], "every item is labelled supports"),
    ([True], [False, False], "no item is labelled supports"),
])
def test_the_corrected_rate_says_what_it_lacks(judged, human, why):
    assert corrected_rate(judged, human, [True, False]).corrected.undefined == why


def test_prediction_powered_rate_by_hand_with_a_judge_that_is_right_but_for_one_item():
    human = [True, True, True, False, False, False]
    judge = [True, True, False, False, False, False]
    judged = [True] * 40 + [False] * 60
    truth, said, rest = (np.asarray(v, dtype=float) for v in (human, judge, judged))
    weight = np.cov(truth, said)[0, 1] / said.var(ddof=1) / (1 + 6 / 100)
    expected = truth.mean() + weight * (rest.mean() - said.mean())
    assert prediction_powered_rate(human, judge, judged).value == pytest.approx(expected)


def test_a_judge_that_says_one_thing_adds_nothing_to_the_labels():
    human = [True] * 30 + [False] * 10
    found = prediction_powered_rate(human, [True] * 40, [True] * 1000)
    assert found.value == pytest.approx(0.75)


def test_a_good_judge_narrows_the_interval_and_a_useless_one_does_not_widen_it():
    rng = np.random.default_rng(4)
    human = rng.random(100) < 0.5
    good = np.where(rng.random(100) < 0.95, human, ~human)
    more = (rng.random(5000) < 0.5).tolist()
    alone = prediction_powered_rate(human.tolist(), [True] * 100, [True] * 5000)
    powered = prediction_powered_rate(human.tolist(), good.tolist(), more)
    assert powered.high - powered.low < 0.6 * (alone.high - alone.low)
    noise = prediction_powered_rate(human.tolist(), (rng.random(100) < 0.5).tolist(), more)
    assert noise.high - noise.low < 1.05 * (alone.high - alone.low)


def test_the_plan_shows_intervals_that_narrow_with_more_labels():
    rows = plan(0.05, (50, 200, 800))
    assert [row.n for row in rows] == [50, 200, 800]
    assert rows[0].width > 1.8 * rows[1].width > 3 * rows[2].width


# --- a second implementation on a thousand random tables, degenerate ones among them
def _random_columns(count=1000):
    rng = np.random.default_rng(11)
    for number in range(count):
        n = int(rng.integers(1, 60))
        labels = [v.value for v in Verdict][: int(rng.integers(1, 6))]
        same = labels[int(rng.integers(len(labels)))]
        human = [same] * n if number % 7 == 0 else rng.choice(labels, n).tolist()
        judge = [same] * n if number % 5 == 0 else rng.choice(labels, n).tolist()
        yield human, judge


def test_false_reassurance_and_false_alarm_equal_sklearn_on_a_thousand_tables():
    from sklearn.metrics import confusion_matrix

    undefined = 0
    for human, judge in _random_columns():
        truth, said = ([v == "supports" for v in column] for column in (human, judge))
        (neither, wrong), (missed, right) = confusion_matrix(truth, said, labels=[False, True])
        for ours, above, below in (
            (false_reassurance(human, judge), wrong, wrong + right), (false_alarm(human, judge), missed, missed + neither),
        ):
            if below == 0:
                assert ours.value is None
                assert ours.undefined
                undefined += 1
            else:
                assert ours.value == pytest.approx(above / below)
                assert (ours.hits, ours.n) == (above, below)
                assert ours.low <= ours.value <= ours.high
    assert undefined > 50


def test_the_corrected_rate_equals_its_formula_on_a_thousand_tables():
    defined = 0
    for place, (human, judge) in enumerate(_random_columns()):
        truth, said = ([v == "supports" for v in column] for column in (human, judge))
        rest = [(place + i) % 3 == 0 for i in range(50)]
        found = corrected_rate(rest, truth, said).corrected
        if all(truth) or not any(truth):
            assert found.value is None
            continue
        se = sum(t and s for t, s in zip(truth, said, strict=True)) / sum(truth)
        sp = sum(not t and not s for t, s in zip(truth, said, strict=True)) / (len(truth) - sum(truth))
        if se + sp <= 1:
            assert "no better than chance" in found.undefined
            continue
        wanted = min(1.0, max(0.0, (sum(rest) / len(rest) + sp - 1) / (se + sp - 1)))
        if found.value is None:
            assert found.undefined
            continue
        assert found.value == pytest.approx(wanted)
        assert 0 <= found.low <= found.value <= found.high <= 1
        defined += 1
    assert defined > 100
