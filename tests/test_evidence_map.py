"""Where sources part, as their own words and figures say, and where they don't."""

import json

import pytest

from litrag.config import PROJECT
from litrag.evidence_map import independent, outcome_of, same_trial, stance
from litrag.extractive import ExtractiveGenerator
from litrag.judges import open_judge
from litrag.pipeline import ask

QUESTIONS = json.loads((PROJECT / "data" / "sample_questions.json").read_text("utf-8"))
BY_ID = {entry["id"]: entry for kind in ("answerable", "further") for entry in QUESTIONS.get(kind, [])}


def _conflicts(sample_index, question):
    answer = ask(question, index=sample_index, judge=open_judge("checks"),
                 generator=ExtractiveGenerator(sample_index.embeddings))
    return answer, {
        frozenset((claim.citation.record_id, conflict.record_id)) for claim in answer.claims for conflict in claim.conflicts
    }


@pytest.mark.parametrize(
    ("study", "outcome", "effect"),
    [
        ("FLOW", "kidney outcome", "down"), ("SOUL", "kidney outcome", "same"), ("SUSTAIN-6", "retinopathy", "up"),
        ("Retinopathy meta-analysis", "retinopathy", "same"), ("PIONEER 6", "major cardiovascular events", "same"),
        ("SELECT", "major cardiovascular events", "down"), ("SELECT", "cardiovascular death", "same"),
        ("Meta-analysis in obesity without diabetes", "serious adverse events", "up"),
    ],
)
def test_a_record_says_itself_what_it_found(by_study, study, outcome, effect):
    record = by_study[study]
    found = stance(record, outcome)
    assert found.effect == effect
    assert record.text[slice(*found.span)].strip()


@pytest.mark.parametrize("entry", QUESTIONS["conflicting"], ids=lambda entry: entry["id"])
def test_a_conflicting_question_names_a_study_on_each_side(sample_index, entry):
    answer, pairs = _conflicts(sample_index, entry["question"])
    sides = [set(pmids) for pmids in entry["sides"].values()]
    across = [pair for pair in pairs if pair & sides[0] and pair & sides[1]]
    assert across
    for claim in answer.claims:
        for conflict in claim.conflicts:
            text = answer.source(conflict.n).record.text
            assert text[slice(*conflict.spans[0])]
            assert conflict.rationale


def test_the_reason_that_the_records_give_stands_in_the_note(sample_index):
    answer, _ = _conflicts(sample_index, "Does semaglutide protect the kidneys?")
    reasons = " ".join(c.rationale for claim in answer.claims for c in claim.conflicts)
    assert "oral in SOUL" in reasons
    assert "a secondary outcome in SOUL" in reasons


@pytest.mark.parametrize("name", QUESTIONS["non_conflicting"])
def test_a_question_without_dispute_raises_none(sample_index, name):
    _, pairs = _conflicts(sample_index, BY_ID[name]["question"])
    assert pairs == set()


def test_sub_analyses_of_one_trial_are_no_second_voice(by_study):
    assert same_trial(by_study["SELECT"], by_study["SELECT kidney analysis"])


def test_a_pool_and_a_trial_in_it_are_not_independent(by_study):
    assert not independent(by_study["SUSTAIN-6"], by_study["Retinopathy meta-analysis"])
    assert independent(by_study["FLOW"], by_study["SOUL"])


def test_an_outcome_goes_by_several_names():
    assert outcome_of("Does it lower MACE?") == outcome_of("Are major adverse cardiovascular events fewer?")
    assert outcome_of("How much weight is lost?") is None
