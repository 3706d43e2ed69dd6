"""Aims and open questions against findings."""

import pytest

from litrag.discourse import is_aim


@pytest.mark.parametrize(
    "sentence",
    [
        "We aimed to test whether drug Z prevents stones.",
        "The objective of this study was to compare two doses.",
        "To assess whether the drug lowers blood pressure.",
        "It is unknown whether early treatment helps.",
        "Does early treatment help?",
        "The trial was designed to find out if mortality falls.",
    ],
)
def test_an_aim_is_no_finding(sentence):
    assert is_aim(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Relapse was seen in 9 of 40 patients.",
        "Weight fell by 14.9% in the trial, which was designed to last 68 weeks.",
        "Cardiovascular death was not significantly reduced (HR 0.85, 95% CI 0.71–1.01).",
        "Kidney stones are a common cause of emergency visits.",
    ],
)
def test_a_statement_or_a_result_is_no_aim(sentence):
    assert not is_aim(sentence)
