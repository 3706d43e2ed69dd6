"""Content terms of questions and what counts as a mention."""

import pytest

from litrag.terms import focus_terms, mentions, stemmed


def _texts(question: str) -> list[str]:
    return [term.text for term in focus_terms(question)]


def test_a_question_is_reduced_to_its_subject_matter():
    assert _texts("How much weight do adults without diabetes lose on semaglutide 2.4 mg?") == [
        "weight", "diabetes", "semaglutide",
    ]


def test_a_phrase_with_a_meaning_of_its_own_stays_together():
    assert "side effects" in _texts("How often do people stop because of side effects?")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Does it protect the kidneys?", "Renal outcomes were better."),
        ("Do people stop because of side effects?", "Adverse events led to discontinuation."),
        ("Does it lower MACE?", "Major adverse cardiovascular events fell."),
        ("Are the eyes at risk?", "Retinopathy complications were more frequent."),
    ],
)
def test_clinical_synonyms_count_as_a_mention(question, text):
    assert all(mentions(term, stemmed(text)) for term in focus_terms(question))


def test_a_word_inside_another_is_no_mention():
    [term] = focus_terms("Does it affect the renal system?")[:1]
    assert not mentions(term, stemmed("Adrenaline was given."))


def test_an_inflection_is_a_mention():
    [term] = focus_terms("pneumonia?")
    assert mentions(term, stemmed("Several pneumonias were seen."))


def test_a_question_without_subject_matter_has_no_terms():
    assert focus_terms("How does it work?") == []
