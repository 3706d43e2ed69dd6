"""Agreement figures against worked examples from the literature and against simulation."""

import random

import pytest

from litrag.agreement import cohen_kappa, krippendorff_alpha, usable, wilson


def table(counts):
    """Pairs of a two-by-two or larger table given as {(first, second): count}."""
    return [pair for pair, count in counts.items() for _ in range(count)]


def test_kappa_of_a_worked_two_by_two_table():
    found = cohen_kappa(table({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}))
    assert found.value == pytest.approx(0.4)
    assert (found.n, found.agreed, found.observed) == (50, 35, 0.7)


def test_kappa_interval_matches_the_published_example_of_fleiss():
    """Fleiss, Levin and Paik, table 18.1: two raters, 100 subjects, kappa .68, standard error .087."""
    found = cohen_kappa(table({
        ("a", "a"): 75, ("a", "b"): 1, ("a", "c"): 4, ("b", "a"): 5, ("b", "b"): 4, ("b", "c"): 1, ("c", "c"): 10,
    }))
    assert found.value == pytest.approx(0.68, abs=0.005)
    assert (found.high - found.low) / 2 / 1.96 == pytest.approx(0.087, abs=0.002)


def test_kappa_of_one_label_alone_is_undefined_and_says_so():
    found = cohen_kappa([("supports", "supports")] * 12)
    assert found.value is None
    assert found.note == "kappa undefined (only one label used); 12 of 12 agree"
    assert wilson(found.agreed, found.n)[0] == pytest.approx(0.757, abs=0.001)
    assert cohen_kappa([("partial", "partial")]).value is None
    assert "nan" not in found.in_words().casefold()


def test_no_pairs_are_no_labels_yet():
    assert cohen_kappa([]).in_words() == "no labels yet"
    assert krippendorff_alpha([["supports", None]]).in_words() == "no item has two labels yet"


def test_perfect_agreement_keeps_an_interval_with_width():
    found = cohen_kappa([("supports", "supports")] * 20 + [("partial", "partial")] * 20)
    assert found.value == 1
    assert 0.7 < found.low < 0.9
    assert found.high == 1


def test_fewer_than_thirty_pairs_are_called_too_few():
    pairs = [("supports", "supports"), ("partial", "supports")]
    assert "too few" in cohen_kappa(pairs * 14).in_words()
    assert "too few" not in cohen_kappa(pairs * 15).in_words()


def test_only_pairs_with_two_labels_count_and_the_rest_is_listed_by_reason():
    rows = [
        ("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", None), (None, "yes"), ("crashed", "yes"),
        ("yes", "don't know"), (None, None), (" Yes", "yes"), ("no", "NO "), ("", "  "),
    ]
    pairs, left_out = usable(rows, ("yes", "no"))
    assert (len(pairs), cohen_kappa(pairs).agreed) == (5, 4)
    assert left_out == {
        "second blank": 1, "first blank": 1, "not a label: crashed": 1, "not a label: don't know": 1, "both blank": 2,
    }


def test_alpha_of_krippendorffs_own_nominal_example():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), part C: four observers, alpha 0.743."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[None if v is None else str(v) for v in unit] for unit in zip(*observers, strict=True)]
    found = krippendorff_alpha(units)
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert found.n == 11


def test_alpha_of_two_raters_on_binary_data_matches_krippendorffs_example():
    """The same paper, part A: two observers, ten units, alpha 0.095."""
    first, second = "0100000010", "1110010000"
    assert krippendorff_alpha(zip(first, second, strict=True)).value == pytest.approx(0.095, abs=0.0006)


def test_alpha_ignores_the_order_of_raters_and_blank_raters():
    units = [["a", "b", "b"], ["a", "a", "a"], ["b", "b", "c"]]
    turned = [[None, *reversed(unit), None] for unit in units]
    assert krippendorff_alpha(units) == krippendorff_alpha(turned)


def test_the_interval_of_kappa_covers_the_truth_about_95_times_in_100():
    """Two raters who each copy the truth with probability 0.8; the true kappa comes from the same process."""
    rng = random.Random(4)

    def rate(truth):
        return truth if rng.random() < 0.8 else rng.choice("abc")

    def sample(n):
        return [(rate(t), rate(t)) for t in (rng.choice("aabc") for _ in range(n))]

    truth = cohen_kappa(sample(60_000)).value
    found = [cohen_kappa(sample(80)) for _ in range(600)]
    assert 0.92 <= sum(f.low <= truth <= f.high for f in found) / len(found) <= 0.98
