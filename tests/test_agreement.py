"""Agreement: every coefficient by hand, by a second implementation on random tables, and where it is undefined."""

import math
import warnings

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from sklearn import metrics
from statsmodels.stats.inter_rater import cohens_kappa

from litrag.agreement import (
    LABELS,
    ORDERED,
    Table,
    accuracy,
    balanced_accuracy,
    collapsed,
    gwet_ac1,
    kappa,
    krippendorff_alpha,
    mcc,
    ordered_kappa,
    per_class,
)
from litrag.models import Verdict

S, P, C, N = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS, Verdict.NOT_FOUND

#: 20 supports agreed, 5 said by the reviewer only, 10 by the judge only, 15 agreed not_found.
WORKED = [(S, S)] * 20 + [(S, N)] * 5 + [(N, S)] * 10 + [(N, N)] * 15


def _table(pairs, labels=LABELS, rounds=0):
    return Table([h for h, _ in pairs], [j for _, j in pairs], labels=labels, rounds=rounds)


# --- by hand
def test_kappa_of_the_worked_table_is_two_fifths():
    # observed 35/50; expected (25·30 + 25·20)/2500 = 0.5
    assert kappa(_table(WORKED)).value == pytest.approx(0.4)


def test_mcc_of_the_worked_table_by_the_two_by_two_formula():
    assert mcc(_table(WORKED)).value == pytest.approx((20 * 15 - 5 * 10) / math.sqrt(25 * 30 * 25 * 20))


def test_ac1_of_the_worked_table_over_two_labels():
    # chance 2 · 0.55 · 0.45 = 0.495
    assert gwet_ac1(_table(WORKED, (S, N))).value == pytest.approx((0.7 - 0.495) / (1 - 0.495))


def test_ac1_stands_where_kappa_collapses_because_one_label_is_rare():
    pairs = [(S, S)] * 90 + [(S, N)] * 5 + [(N, S)] * 5
    assert kappa(_table(pairs)).value < 0
    assert gwet_ac1(_table(pairs, (S, N))).value == pytest.approx((0.9 - 0.095) / 0.905)


def test_balanced_accuracy_of_the_worked_table_is_the_mean_of_four_and_three_fifths():
    assert balanced_accuracy(_table(WORKED)).value == pytest.approx((0.8 + 0.6) / 2)


def test_precision_recall_and_f1_of_supports_by_counting():
    supports = per_class(_table(WORKED))[0]
    assert (supports.precision.hits, supports.precision.n) == (20, 30)
    assert (supports.recall.hits, supports.recall.n) == (20, 25)
    assert supports.f1.value == pytest.approx(2 * 20 / (30 + 25))


def test_ordered_kappa_forgives_a_near_miss_more_than_a_reversal():
    near = [(S, P)] * 5 + [(S, S)] * 10 + [(C, C)] * 10 + [(P, P)] * 5
    far = [(S, C)] * 5 + [(S, S)] * 10 + [(C, C)] * 10 + [(P, P)] * 5
    weighted = [ordered_kappa([h for h, _ in p], [j for _, j in p]).value for p in (near, far)]
    assert weighted[0] > weighted[1]
    # far: observed disagreement 5·2/30; expected: margins 15, 5, 10 against 10, 5, 15 over 900
    observed = 5 * 2 / 30
    expected = (15 * (5 * 1 + 15 * 2) + 5 * (10 + 15) + 10 * (10 * 2 + 5)) / 900
    assert weighted[1] == pytest.approx(1 - observed / expected)


def test_ordered_kappa_leaves_out_labels_that_have_no_place_in_the_order():
    human, judge = [S, C, N, P, S], [S, C, S, N, C]
    assert ordered_kappa(human, judge).n == 3
    assert ordered_kappa([N], [N]).undefined == "no item where both chose contradicts, partial or supports"


def test_alpha_of_a_table_with_a_missing_rating_by_hand():
    # coincidences: aa 2, bb 2, ab 1 + ba 1; n = 6, margins 3 and 3: 1 − (2 · 5) / (2 · 9)
    ratings = [("a", "a"), ("b", "b"), ("a", "b"), ("a", None)]
    assert krippendorff_alpha(ratings).value == pytest.approx(1 - 2 * 5 / 18)
    assert krippendorff_alpha(ratings).n == 3


def test_alpha_with_three_reviewers_weighs_an_item_by_its_ratings():
    # item 1: a a b → pairs/(3−1); item 2: b b
    # aa 1, ab 1, ba 1, bb 2: n = 5, margins a 2, b 3: 1 − 2·4/(2·6)
    assert krippendorff_alpha([("a", "a", "b"), ("b", "b", None)]).value == pytest.approx(1 - 2 * 4 / 12)


# --- by a second implementation
def _random_tables(count=1000):
    """Tables of all sizes and shapes, degenerate ones among them."""
    rng = np.random.default_rng(11)
    for number in range(count):
        n = int(rng.choice([1, 2, 3, 12, 50, 300]))
        used = rng.choice(len(LABELS), size=int(rng.integers(1, len(LABELS) + 1)), replace=False)
        human = rng.choice(used, n)
        judge = {0: human, 1: np.full(n, used[0])}.get(number % 5, np.where(rng.random(n) < 0.6, human, rng.choice(used, n)))
        yield [(LABELS[h], LABELS[j]) for h, j in zip(human, judge, strict=True)]


@pytest.fixture(scope="module")
def tables():
    return list(_random_tables())


def _same(ours, theirs):
    """Equal, or undefined on both sides."""
    if ours.value is None:
        return theirs is None or math.isnan(theirs)
    return theirs is not None and ours.value == pytest.approx(theirs, abs=1e-9)


def test_kappa_equals_statsmodels_and_sklearn_on_a_thousand_tables(tables):
    for pairs in tables:
        table = _table(pairs)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            theirs = cohens_kappa(table.counts, return_results=False)
            third = metrics.cohen_kappa_score([h for h, _ in pairs], [j for _, j in pairs])
        assert _same(kappa(table), float(theirs))
        if kappa(table).defined:
            assert kappa(table).value == pytest.approx(third, abs=1e-9)


def test_ordered_kappa_equals_statsmodels_with_linear_weights(tables):
    defined = 0
    for pairs in tables:
        kept = [(h, j) for h, j in pairs if h in ORDERED and j in ORDERED]
        ours = ordered_kappa([h for h, _ in pairs], [j for _, j in pairs], rounds=0)
        if not kept:
            assert ours.value is None
            continue
        with np.errstate(all="ignore"):
            theirs = cohens_kappa(_table(kept, ORDERED).counts, wt="linear", return_results=False)
        assert _same(ours, float(theirs))
        defined += ours.defined
    assert defined > 300


def test_mcc_and_balanced_accuracy_equal_sklearn_where_they_are_defined(tables):
    for pairs in tables:
        human, judge = [h.value for h, _ in pairs], [j.value for _, j in pairs]
        table = _table(pairs)
        if len(set(human)) > 1 and len(set(judge)) > 1:
            assert mcc(table).value == pytest.approx(metrics.matthews_corrcoef(human, judge), abs=1e-9)
        else:
            assert mcc(table).undefined == "the judge or the reviewers used only one label"
        if len(set(human)) > 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = metrics.balanced_accuracy_score(human, judge)
            assert balanced_accuracy(table).value == pytest.approx(theirs, abs=1e-9)
        else:
            assert balanced_accuracy(table).undefined == "reviewers used only one label"


def test_precision_recall_and_f1_equal_sklearn_on_a_thousand_tables(tables):
    for pairs in tables:
        human, judge = [h.value for h, _ in pairs], [j.value for _, j in pairs]
        labels = [label.value for label in LABELS]
        theirs = metrics.precision_recall_fscore_support(human, judge, labels=labels, zero_division=np.nan)
        for place, row in enumerate(per_class(_table(pairs))):
            for ours, found in ((row.precision, theirs[0][place]), (row.recall, theirs[1][place])):
                assert _same(ours, float(found))
            if row.f1.defined:
                assert row.f1.value == pytest.approx(theirs[2][place], abs=1e-9)
            else:
                assert row.verdict.value not in human + judge


def test_alpha_equals_nltk_for_two_complete_reviewers(tables):
    for pairs in tables[:400]:
        ours = krippendorff_alpha(pairs, rounds=0)
        if len({label for pair in pairs for label in pair}) == 1:
            assert ours.undefined == "only one label used"
            continue
        task = AnnotationTask([(who, i, pair[who].value) for i, pair in enumerate(pairs) for who in (0, 1)])
        assert ours.value == pytest.approx(task.alpha(), abs=1e-9)


def _alpha_by_definition(ratings):
    """1 − mean disagreement of two ratings of one item over that of any two ratings."""
    rows = [[v for v in row if v is not None] for row in ratings]
    rows = [row for row in rows if len(row) > 1]
    values = [v for row in rows for v in row]
    inside = sum(
        sum(a != b for i, a in enumerate(row) for j, b in enumerate(row) if i != j) / (len(row) - 1) for row in rows
    ) / len(values)
    n = len(values)
    anywhere = sum(a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / (n * (n - 1))
    return 1 - inside / anywhere if anywhere else None


def test_alpha_with_missing_ratings_equals_its_definition():
    rng = np.random.default_rng(8)
    for _ in range(200):
        ratings = [
            [None if rng.random() < 0.3 else str(rng.integers(0, 3)) for _ in range(4)] for _ in range(12)
        ]
        assert krippendorff_alpha(ratings, rounds=0).value == pytest.approx(_alpha_by_definition(ratings), abs=1e-9)


def test_ac1_equals_its_definition_summed_item_by_item(tables):
    for pairs in tables[:300]:
        shares = [sum((h == label) + (j == label) for h, j in pairs) / (2 * len(pairs)) for label in LABELS]
        chance = sum(share * (1 - share) for share in shares) / (len(LABELS) - 1)
        agree = sum(h == j for h, j in pairs) / len(pairs)
        assert gwet_ac1(_table(pairs)).value == pytest.approx((agree - chance) / (1 - chance), abs=1e-9)


# --- undefined, and intervals
def test_twelve_agreements_on_one_label_leave_kappa_undefined_and_agreement_with_an_interval():
    table = _table([(S, S)] * 12, rounds=2000)
    assert kappa(table).as_number() == "undefined (only one label used), n = 12"
    assert accuracy(table).in_words() == "12 of 12 (75.8–100.0 %)"


def test_a_single_item_has_agreement_but_no_kappa():
    table = _table([(S, S)])
    assert kappa(table).undefined == "only one label used"
    assert (accuracy(table).hits, accuracy(table).n) == (1, 1)


def test_without_items_everything_says_no_labels_yet():
    table = _table([])
    measures = (accuracy(table), kappa(table), mcc(table), gwet_ac1(table), balanced_accuracy(table))
    assert {m.undefined for m in measures} == {"no labels yet"}
    assert all(row.precision.undefined and row.recall.undefined and row.f1.undefined for row in per_class(table))


def test_a_judge_that_always_says_supports_agrees_no_better_than_chance():
    table = _table([(S, S)] * 70 + [(N, S)] * 30, rounds=2000)
    assert kappa(table).value == 0
    assert balanced_accuracy(table).value == 0.5


def test_intervals_hold_the_value_and_widen_when_claims_of_a_question_agree():
    rng = np.random.default_rng(2)
    pairs = [p for p in WORKED for _ in range(4)]
    rng.shuffle(pairs)
    human, judge = [h for h, _ in pairs], [j for _, j in pairs]
    loose = kappa(Table(human, judge))
    assert loose.low < loose.value < loose.high
    order = sorted(range(200), key=lambda i: (human[i], judge[i]))
    clumped = kappa(Table([human[i] for i in order], [judge[i] for i in order], [i // 10 for i in range(200)]))
    assert clumped.high - clumped.low > 1.5 * (loose.high - loose.low)


def test_a_perfect_judge_gets_no_interval_of_width_zero():
    perfect = _table([(S, S)] * 15 + [(N, N)] * 15, rounds=2000)
    assert kappa(perfect).value == 1
    assert kappa(perfect).low is None
    assert balanced_accuracy(perfect).low < 0.95


def test_collapsing_to_supports_and_the_rest_keeps_the_counts():
    table = collapsed(_table([(S, P), (P, S), (S, S), (C, N)]), S)
    assert table.counts.tolist() == [[1, 1], [1, 1]]
