"""What a record says of its study, beside values read by hand from the sample digests."""

import pytest

from litrag.models import Record
from litrag.studies import facts_of


@pytest.mark.parametrize(
    ("study", "kind", "size", "dose", "comparator"),
    [
        ("STEP 1", "Randomized Controlled Trial", "1961 adults", "subcutaneous, weekly, 2.4 mg", "placebo"),
        ("SOUL", "Randomized Controlled Trial", "9650 people", "oral, daily, 14 mg", "placebo"),
        ("FLOW", "Randomized Controlled Trial", "3533 people", "subcutaneous, weekly, 1.0 mg", "placebo"),
        ("STEP 4", "Clinical Trial", "902 participants", "subcutaneous, weekly, 2.4 mg", "placebo"),
        ("Retinopathy meta-analysis", "Meta-Analysis", "22,096 participants", "", "placebo, active comparator"),
        ("Cohort of semaglutide vs tirzepatide", "Observational Study", "41,222 eligible adults", "", "tirzepatide"),
    ],
)
def test_a_study_is_described_as_its_record_has_it(by_study, study, kind, size, dose, comparator):
    facts = facts_of(by_study[study])
    assert (facts.kind, facts.size, facts.dose, facts.comparator) == (kind, size, dose, comparator)


def test_people_are_named_by_what_they_had(by_study):
    assert facts_of(by_study["SELECT"]).population == "without diabetes, cardiovascular disease, overweight or obesity"
    assert facts_of(by_study["FLOW"]).population == "type 2 diabetes, chronic kidney disease"


def test_a_share_of_a_mixed_group_names_no_population(by_study):
    assert "diabetes" not in facts_of(by_study["Cohort of semaglutide vs tirzepatide"]).population


def test_a_record_that_says_nothing_gets_nothing():
    assert set(facts_of(Record(record_id="r", title="A title", text="")).model_dump().values()) == {""}
