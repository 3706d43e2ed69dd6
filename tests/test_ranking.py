"""Passages ranked by meaning and words, with what was found speaking along."""

import numpy as np
import pytest

from litrag.ranking import FRONT, PER_RECORD, Ranked, Signs, rank, several_records

AXES = np.eye(6, dtype=np.float32)


def turned(towards, share, away):
    """A unit vector whose cosine with axis `towards` is `share`."""
    return (share * AXES[towards] + (1 - share**2) ** 0.5 * AXES[away]).astype(np.float32)


def owners_of(vectors):
    return np.arange(len(vectors))


def test_meaning_and_words_are_added_by_their_weights():
    vectors = np.stack([turned(0, 0.8, 1), turned(0, 0.2, 2)])
    lexical = np.array([0.1, 0.9], dtype=np.float32)
    found = rank(vectors, owners_of(vectors), AXES[0], lexical, 2, meaning=0.5, feedback=0)
    assert [one.place for one in found] == [1, 0]
    assert [one.score for one in found] == pytest.approx([0.55, 0.45], abs=1e-6)
    assert [one.cosine for one in found] == pytest.approx([0.2, 0.8], abs=1e-6)
    assert [one.lexical for one in found] == pytest.approx([0.9, 0.1], abs=1e-6)


def test_words_belong_to_the_record_and_meaning_to_the_passage():
    vectors = np.stack([turned(0, 0.3, 1), turned(0, 0.6, 2), turned(0, 0.5, 3)])
    found = rank(vectors, np.array([0, 0, 1]), AXES[0], np.array([0.5, 0.0]), 3, feedback=0)
    assert [one.place for one in found] == [1, 2, 0]
    assert {one.place: one.lexical for one in found} == {0: 0.5, 1: 0.5, 2: 0.0}


def test_what_resembles_a_good_find_overtakes_what_resembles_nothing():
    find, alike, stranger = turned(0, 0.7, 1), turned(1, 0.9, 2), turned(0, 0.11, 4)
    vectors = np.stack([find, stranger, alike])
    lexical = np.zeros(3)
    alone = rank(vectors, owners_of(vectors), AXES[0], lexical, 3, feedback=0)
    heard = rank(vectors, owners_of(vectors), AXES[0], lexical, 3, feedback=1)
    assert [one.place for one in alone] == [0, 1, 2]
    assert [one.place for one in heard] == [0, 2, 1]
    assert heard[1].cosine == pytest.approx(0, abs=1e-6)


def test_where_nothing_fits_the_question_nobody_speaks():
    vectors = np.stack([AXES[1], AXES[1], AXES[2]])
    found = rank(vectors, owners_of(vectors), AXES[0], np.zeros(3), 3)
    assert [one.score for one in found] == [0, 0, 0]


def test_a_passage_that_is_the_question_scores_one_in_every_way():
    vectors = np.stack([AXES[3], AXES[0], AXES[4]])
    first = rank(vectors, owners_of(vectors), AXES[0], np.array([0.0, 1.0, 0.0]), 3)[0]
    assert first.place == 1
    assert (first.score, first.cosine, first.lexical) == pytest.approx((1, 1, 1), abs=1e-3)


def test_scores_stay_between_zero_and_one_and_fall():
    chance = np.random.default_rng(7)
    vectors = chance.normal(size=(500, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = rank(vectors, chance.integers(0, 90, 500), AXES[0], chance.random(90) * 1.6, 300)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= value <= 1 for one in found for value in one[1:])
    assert len({one.place for one in found}) == 300


@pytest.mark.parametrize("k", [1, 3, 50])
def test_there_are_never_more_than_asked_for_nor_than_there_are(k):
    vectors = np.stack([turned(0, share, 1) for share in (0.9, 0.5, 0.1)])
    assert len(rank(vectors, owners_of(vectors), AXES[0], np.zeros(3), k)) == min(k, 3)


def test_equal_passages_come_in_the_order_of_the_index():
    vectors = np.stack([AXES[0]] * 4)
    assert [one.place for one in rank(vectors, owners_of(vectors), AXES[0], np.zeros(4), 4)] == [0, 1, 2, 3]


def test_one_record_with_many_passages_speaks_once():
    one, other = turned(0, 0.70, 1), turned(0, 0.69, 2)
    near_other, near_one = turned(2, 0.9, 3), turned(1, 0.9, 4)
    vectors = np.stack([*[one] * 30, other, near_other, near_one])
    owners = np.array([0] * 30 + [1, 2, 3])
    found = {r.place: r.score for r in rank(vectors, owners, AXES[0], np.zeros(4), 33)}
    assert found[31] == pytest.approx(found[32], rel=0.3)


def in_order(*owners):
    """Passages of those records, best first, with scores that fall by a tenth."""
    ranked = [Ranked(place, 1 - place / 10, 0.0, 0.0) for place in range(len(owners))]
    return ranked, np.array(owners)


def places(found):
    return [one.place for one in found]


def test_other_records_come_before_what_one_record_has_beyond_its_share():
    ranked, owners = in_order(*[0] * (PER_RECORD + 2), 1, 2)
    assert places(several_records(ranked, owners, PER_RECORD + 2)) == [*range(PER_RECORD), PER_RECORD + 2, PER_RECORD + 3]


def test_a_record_keeps_exactly_its_share():
    ranked, owners = in_order(*[0] * PER_RECORD, 1)
    assert places(several_records(ranked, owners, PER_RECORD)) == [*range(PER_RECORD)]


def test_where_others_are_too_few_a_record_fills_the_rest_in_order_of_scores():
    ranked, owners = in_order(*[0] * (PER_RECORD + 2), 1)
    found = several_records(ranked, owners, PER_RECORD + 2)
    assert places(found) == [*range(PER_RECORD + 1), PER_RECORD + 2]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def unit_rows(count, dimension, seed=11):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("dimension", [384, 100, 6])
def test_signs_say_one_of_a_vector_itself_and_minus_one_of_its_opposite(dimension):
    vectors = unit_rows(5, dimension)
    cosines = Signs(np.vstack([vectors, -vectors[:1]])).cosines(vectors[0])
    assert cosines[0] == pytest.approx(1, abs=1e-6)
    assert cosines[5] == pytest.approx(-1, abs=1e-6)


def test_signs_estimate_cosines():
    vectors = unit_rows(300, 384)
    near = vectors[0] + 0.05 * np.random.default_rng(3).normal(size=(300, 384)) * np.linspace(0, 1, 300)[:, None]
    near = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
    error = Signs(near).cosines(vectors[0]) - near @ vectors[0]
    assert np.sqrt((error**2).mean()) < 0.08


def test_with_signs_the_best_of_many_passages_are_found_with_exact_scores():
    vectors = unit_rows(10 * FRONT, 384)
    question = vectors[17] + 0.3 * vectors[18]
    question /= np.linalg.norm(question)
    owners, lexical = owners_of(vectors), np.zeros(len(vectors), dtype=np.float32)
    found = rank(vectors, owners, question, lexical, 2, signs=Signs(vectors), feedback=0)
    assert found == rank(vectors, owners, question, lexical, 2, feedback=0)
    assert places(found) == [17, 18]


def test_with_signs_a_passage_found_by_its_words_alone_is_not_passed_over():
    vectors = unit_rows(10 * FRONT, 384)
    lexical = np.zeros(len(vectors), dtype=np.float32)
    far = int((vectors @ vectors[0]).argmin())
    lexical[far] = 2.0
    found = rank(vectors, owners_of(vectors), vectors[0], lexical, FRONT, signs=Signs(vectors), feedback=0)
    assert far in places(found)
