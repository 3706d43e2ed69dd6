"""Findings taken out of the sentences that report them."""

import pytest

from training.science import statement


@pytest.mark.parametrize(("sentence", "claim"), [
    ("Here we show that loss of the receptor impairs wound healing in mice.",
     "Loss of the receptor impairs wound healing in mice."),
    ("These results indicate that early feeding reduces infections after surgery.",
     "Early feeding reduces infections after surgery."),
])
def test_a_reported_finding_becomes_a_claim_of_its_own(sentence, claim):
    assert statement(sentence) == claim


@pytest.mark.parametrize("sentence", [
    "Wounds were measured every second day for two weeks by a blinded observer.",
    "We found that this effect disappeared after the second week of treatment.",
    "We show that it works.",
])
def test_a_sentence_without_a_finding_or_that_leans_on_another_gives_none(sentence):
    assert statement(sentence) is None
