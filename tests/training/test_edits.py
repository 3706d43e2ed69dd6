"""Edits that make false, overreaching or equally true claims of true ones."""

import pytest

from training import edits

CLAIM = "Drug A significantly reduced mortality in 12 weeks compared with placebo (14.9% versus 2.4%)."


@pytest.mark.parametrize(("edit", "claim", "changed"), [
    (edits.change_direction, "Body weight was lower with the drug.", "Body weight was higher with the drug."),
    (edits.change_negation, "The drug did not reduce pain.", "The drug did reduce pain."),
    (edits.change_significance, "The difference was not significant.", "The difference was significant."),
    (edits.swap_numbers, "Weight fell by 14.9% versus 2.4% on placebo.", "Weight fell by 2.4% versus 14.9% on placebo."),
    (edits.change_dose, "A dose of 10 mg was given.", "A dose of 5 mg was given."),
    (edits.round_number, "Weight fell by 14.9 %.", "Weight fell by about 15 %."),
])
def test_an_edit_changes_what_its_name_says(edit, claim, changed):
    assert edit(claim, 0.1) == changed


@pytest.mark.parametrize("edit", [
    edits.change_dose, edits.swap_arms, edits.widen_population, edits.change_time_point, edits.change_number,
])
def test_an_edit_leaves_a_claim_alone_that_offers_it_no_place(edit):
    assert edit("Adherence was good.", 0.4) is None


@pytest.mark.parametrize("pick", [0.0, 0.2, 0.4, 0.6, 0.8, 0.99])
def test_contradicting_edits_never_return_the_claim_itself(pick):
    for name, edit in edits.CONTRADICTING.items():
        assert edit(CLAIM, pick) != CLAIM, name


def test_a_confidence_level_and_a_p_value_are_not_taken_for_results():
    assert edits.change_number("The effect was robust (95% CI, P < 0.05).", 0.3) is None
