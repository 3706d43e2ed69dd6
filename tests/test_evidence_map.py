"""Where sources part, as their own words and figures say, and where they don't."""

import json

import pytest

from litrag.config import PROJECT
from litrag.evidence_html import map_html
from litrag.evidence_map import (
    Relation,
    Stand,
    evidence_map,
    independent,
    judged,
    outcome_of,
    same_trial,
    stance,
    voices,
)
from litrag.extractive import ExtractiveGenerator
from litrag.judges import open_judge
from litrag.models import Judgement, Notice, Verdict
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


# --- the map
def _map(sample_index, question):
    answer, _ = _conflicts(sample_index, question)
    return answer, evidence_map(answer), {s.record.record_id: s.record for s in answer.sources}


@pytest.mark.parametrize("entry", QUESTIONS["conflicting"], ids=lambda entry: entry["id"])
def test_the_map_shows_both_sides_of_a_dispute_with_the_words_that_decide(sample_index, entry):
    answer, rows, records = _map(sample_index, entry["question"])
    sides = [set(pmids) for pmids in entry["sides"].values()]
    shown = [
        {record_id for stand in row.stands if stand.relation is relation for record_id in [stand.record_id]}
        for row in rows for relation in (Relation.SUPPORTS, Relation.CONTRADICTS)
    ]
    assert any((one & sides[0] and other & sides[1]) or (one & sides[1] and other & sides[0])
               for one, other in zip(shown[::2], shown[1::2], strict=True))
    for row in rows:
        assert {stand.record_id for stand in row.stands} == set(records)
        for stand in row.stands:
            assert stand.relation in (Relation.SILENT, Relation.OPEN) or stand.spans
            assert all(records[stand.record_id].text[slice(*span)] for span in stand.spans)
    assert len(rows) == len(answer.claims)


def test_the_map_says_why_studies_differ(sample_index):
    _, rows, records = _map(sample_index, "Does semaglutide protect the kidneys?")
    said = " ".join(
        s.why for row in rows for s in row.of(Relation.CONTRADICTS) if records[s.record_id].name == "SOUL"
    )
    assert "oral in SOUL" in said
    assert "a secondary outcome in SOUL" in said


def test_one_trial_and_its_sub_analyses_are_one_voice(by_study):
    records = {r.record_id: r for r in by_study.values()}
    stands = [Stand(record_id=by_study[name].record_id, relation=Relation.SUPPORTS)
              for name in ("SELECT", "SELECT kidney analysis", "SELECT weight analysis", "FLOW")]
    assert voices(stands, records) == 2
    retracted = by_study["FLOW"].model_copy(update={"notices": (Notice(kind="retracted"),)})
    assert voices(stands, records | {retracted.record_id: retracted}) == 1


def test_what_code_leaves_open_is_judged_within_a_bound_and_no_further(sample_index, judge):
    answer, rows, _ = _map(sample_index, "How much weight do adults without diabetes lose on semaglutide 2.4 mg?")
    left = sum(not stand.cited for row in rows for stand in row.of(Relation.OPEN))
    assert left > 3
    judge.enqueue(Verdict.CONTRADICTS, Judgement.unjudged("the call failed"), Verdict.NOT_FOUND)
    judged_rows = judged(rows, answer, judge, most=3)
    assert len(judge.calls) == 3
    relations = [stand.relation for row in judged_rows for stand in row.stands if not stand.cited]
    assert relations[:3] == [Relation.CONTRADICTS, Relation.OPEN, Relation.SILENT]
    assert set(relations[3:]) == {Relation.OPEN}


def test_another_studys_other_figures_are_no_contradiction(sample_index):
    answer, rows, _ = _map(sample_index, "How much weight do adults without diabetes lose on semaglutide 2.4 mg?")
    found = judged(rows, answer, open_judge("checks"))
    assert [row.of(Relation.CONTRADICTS) for row in found] == [()] * len(found)


def test_the_map_as_html_holds_each_study_once_per_claim_and_escapes_what_it_shows(sample_index):
    answer, rows, _ = _map(sample_index, "Does semaglutide protect the kidneys?")
    page = map_html(rows, answer)
    assert page.count("<details") == len(rows)
    assert "9650 people" in page
    assert "oral, daily, 14 mg" in page
    source = answer.sources[0]
    hostile = source.model_copy(update={"record": source.record.model_copy(update={"study": "<script>alert(1)</script>"})})
    page = map_html(rows, answer.model_copy(update={"sources": (hostile, *answer.sources[1:])}))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
