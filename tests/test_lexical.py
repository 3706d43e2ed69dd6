"""Words: how texts are cut into them, and how BM25 scores compare."""

import pytest

from litrag.lexical import STOPWORDS, LexicalIndex, words

TEXTS = [
    "Semaglutide reduced body weight by 14.9% in adults.",
    "Placebo had no effect on sleep.",
    "Tirzepatide reduced weight and sleep apnoea in adults with obesity.",
]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("reductions", "reduction"), ("Placebo", "PLACEBO"), ("naïve", "naive"), ("ﬁbrosis", "fibrosis"),
        ("trials' patients", "trial patient"),
    ],
)
def test_these_are_the_same_words(one, other):
    assert words(one) == words(other)


@pytest.mark.parametrize("figure", ["14.9", "0·05", "1,961"])
def test_a_figure_stays_whole(figure):
    assert words(f"It was {figure}.") == [figure]


def test_question_words_and_signs_are_no_words():
    assert words("How does it do that? — (…)!") == []
    assert "no" not in STOPWORDS
    assert "not" not in STOPWORDS


def test_a_text_with_the_questions_rare_words_comes_before_one_with_the_common_word():
    scores = LexicalIndex.build(TEXTS).scores("adults with apnoea")
    assert scores.argmax() == 2
    assert scores[0] > scores[1] == 0


def test_a_short_text_that_has_every_word_once_scores_about_one():
    index = LexicalIndex.build(["weight fell", "sleep improved", "costs rose"])
    assert index.scores("weight fell")[0] == pytest.approx(1, abs=1e-5)


def test_words_that_no_text_has_count_against_all_of_them():
    index = LexicalIndex.build(TEXTS)
    known, diluted = index.scores("semaglutide"), index.scores("semaglutide dementia")
    assert 0 < diluted[0] < 0.7 * known[0]


def test_a_word_that_is_repeated_in_a_question_counts_once():
    index = LexicalIndex.build(TEXTS)
    assert index.scores("sleep sleep weight").tolist() == index.scores("weight sleep").tolist()


@pytest.mark.parametrize("question", ["", "the of and", "zzz qqq", "???"])
def test_a_question_without_known_words_scores_nothing(question):
    assert LexicalIndex.build(TEXTS).scores(question).tolist() == [0, 0, 0]


def test_a_saved_index_scores_the_same_and_holds_no_pickle(tmp_path):
    built = LexicalIndex.build(TEXTS)
    built.save(tmp_path / "words")
    loaded = LexicalIndex.load(tmp_path / "words")
    assert len(loaded) == 3
    assert loaded.scores("weight in adults").tolist() == built.scores("weight in adults").tolist()
    assert not [p for p in (tmp_path / "words").rglob("*") if p.suffix in (".pkl", ".pickle")]
