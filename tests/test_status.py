"""What became of a paper: from types, from links in both directions, from the title alone, and never from elsewhere."""

import pytest
from fakes.embeddings import WordEmbeddings

from litrag.index import build_index
from litrag.models import Notice, Record
from litrag.pipeline import ask, verify
from litrag.status import KINDS, Link, are_versions, is_notice, notices

MATRIX = [
    # types, links, title, kinds with PMIDs, retracted, a notice itself
    (["Retracted Publication"], [Link("RetractionIn", "11")], "A trial", [("retracted", "11")], True, False),
    (["Journal Article"], [Link("RetractionIn", "11")], "A trial", [("retracted", "11")], True, False),
    (["Retracted Publication"], [], "A trial", [("retracted", None)], True, False),
    (["Journal Article"], [], "RETRACTED: A trial", [("retracted", None)], True, False),
    (["Journal Article"], [], "RETRACTED ARTICLE: A trial", [("retracted", None)], True, False),
    (["Journal Article"], [], "[Retracted] A trial", [("retracted", None)], True, False),
    (["Journal Article"], [], "WITHDRAWN: A trial", [("withdrawn", None)], True, False),
    (["Retraction of Publication"], [Link("RetractionOf", "10")], "Retraction: A trial", [("retraction_of", "10")], False, True),
    (["Journal Article"], [], "Retraction notice to “A trial”", [("retraction_of", None)], False, True),
    (["Journal Article"], [], "Retraction--A trial", [("retraction_of", None)], False, True),
    (["Journal Article"], [Link("ExpressionOfConcernIn", "12")], "A trial", [("concern", "12")], False, False),
    (["Expression of Concern"], [Link("ExpressionOfConcernFor", "10")], "A note", [("concern_for", "10")], False, True),
    (["Journal Article"], [Link("ErratumIn", "13")], "A trial", [("erratum", "13")], False, False),
    (["Published Erratum"], [Link("ErratumFor", "10")], "Erratum: A trial", [("erratum_for", "10")], False, True),
    (["Journal Article"], [Link("CorrectedandRepublishedIn", "14")], "A trial", [("corrected", "14")], False, False),
    (["Corrected and Republished Article"], [Link("CorrectedandRepublishedFrom", "10")], "A trial",
     [("corrected_from", "10")], False, False),
    (["Journal Article"], [Link("RetractedandRepublishedIn", "15")], "A trial", [("retracted", "15")], True, False),
    (["Preprint"], [Link("UpdateIn", "16")], "A trial", [("preprint", "16")], False, False),
    (["Journal Article"], [Link("UpdateOf", "9")], "A trial", [("update_of", "9")], False, False),
    (["Published Erratum", "Retracted Publication"], [Link("ErratumFor", "10"), Link("RetractionIn", "11")], "RETRACTED: Erratum",
     [("retracted", "11"), ("erratum_for", "10")], True, True),
    (["Retracted Publication"], [Link("RetractionIn", "11"), Link("RetractionIn", "17"), Link("ExpressionOfConcernIn", "12")],
     "A trial", [("retracted", "11"), ("retracted", "17"), ("concern", "12")], True, False),
    (["Journal Article"], [Link("CommentIn", "18"), Link("Cites", "19"), Link("", "20")], "A trial", [], False, False),
    (["Review"], [], "Retracted publications in cardiology: a review", [], False, False),
    (["Review"], [], "Withdrawn from treatment: what patients say", [], False, False),
]


@pytest.mark.parametrize(("types", "links", "title", "kinds", "retracted", "notice"), MATRIX)
def test_the_status_of_a_record(types, links, title, kinds, retracted, notice):
    found = notices(types, links, title)
    record = Record(record_id="10", pmid="10", title=title, notices=found)
    assert [(one.kind, one.pmid) for one in found] == kinds
    assert record.retracted is retracted
    assert is_notice(record) is notice
    assert all(one.kind in KINDS for one in found)


@pytest.mark.parametrize("title", [
    "Retraction of the eyelid after surgery", "Withdrawal of antidepressants: a trial", "Withdrawal on demand",
    "Withdrawal: a qualitative study", "Erratum rates in medicine",
])
def test_a_title_about_muscles_or_medicines_is_no_notice(title):
    assert notices(["Journal Article"], [], title) == ()


def test_what_only_the_title_says_is_marked_as_such():
    (found,) = notices([], [], "RETRACTED: A trial")
    assert "title" in found.note


def test_versions_point_at_each_other_in_either_direction():
    trial = Record(record_id="10", pmid="10", title="A trial")
    notice = Record(record_id="11", pmid="11", title="Retraction", notices=(Notice(kind="retraction_of", pmid="10"),))
    other = Record(record_id="12", pmid="12", title="Another trial")
    assert are_versions(trial, notice)
    assert are_versions(notice, trial)
    assert not are_versions(trial, other)


# --- retracted sources in answers
TEXT = "Warm milk before bed lengthened sleep by 31 minutes in nurses on night shift."


@pytest.fixture
def index(tmp_path):
    retracted = (Notice(kind="retracted", pmid="99"),)
    records = [
        Record(record_id="10", pmid="10", title="Warm milk in nurses", authors=("Lind B",), year=2019, text=TEXT,
               notices=retracted),
        Record(record_id="11", pmid="11", title="Milk in nurses",
               text="Warm milk lengthened sleep by 3 minutes in nurses on night shift."),
    ]
    return build_index(records, tmp_path / "i", embeddings=WordEmbeddings())


def test_a_retracted_source_is_not_used_to_answer_and_is_named(index, judge):
    answer = ask("Does warm milk lengthen sleep in nurses on night shift?", index=index, judge=judge)
    assert {c.record_id for claim in answer.claims for c in claim.citations} <= {"11"}
    assert [note for note in answer.notes if "PMID 10" in note and "retracted" in note and "PMID 99" in note]


def test_verifying_a_text_that_cites_a_retracted_source_says_so_first(index, judge):
    answer = verify(f"{TEXT[:-1]} (PMID 10). Milk helped by 3 minutes (PMID 11).", index=index, judge=judge)
    assert answer.notes[0] == "The text cites Lind 2019 (PMID 10), which is retracted (notice: PMID 99)."
    assert not any("PMID 11" in note for note in answer.notes)
