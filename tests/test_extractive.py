"""The extractive generator: verbatim, attributed, diverse, and silent when the sources are."""

import json

import pytest

from litrag.config import PROJECT
from litrag.errors import InputError
from litrag.extractive import ExtractiveGenerator
from litrag.generate import open_generator
from litrag.models import Hit, Notice

QUESTIONS = json.loads((PROJECT / "data" / "sample_questions.json").read_text("utf-8"))


@pytest.fixture
def draft(sample_index):
    generator = ExtractiveGenerator(sample_index.embeddings)
    return lambda question: generator.generate(question, sample_index.hits(question, 12), sample_index.records)


@pytest.mark.parametrize("entry", QUESTIONS["unanswerable"], ids=lambda entry: entry["id"])
def test_an_unanswerable_question_is_declined(draft, entry):
    abstention = draft(entry["question"]).abstention
    assert abstention is not None
    assert abstention.missing


@pytest.mark.parametrize("entry", QUESTIONS["answerable"], ids=lambda entry: entry["id"])
def test_an_answerable_question_is_answered_from_a_right_study(draft, sample_index, entry):
    drafted = draft(entry["question"])
    assert drafted.abstention is None
    passages = {p.passage_id: p for p in sample_index.passages}
    cited = {passages[c.passage_id].pmid for s in drafted.statements for c in s.citations}
    assert cited & set(entry["pmids"])


def test_every_quote_stands_verbatim_in_its_record(draft, sample_index):
    passages = {p.passage_id: p for p in sample_index.passages}
    for statement in draft(QUESTIONS["answerable"][0]["question"]).statements:
        for citation in statement.citations:
            record = sample_index.records[passages[citation.passage_id].record_id]
            assert citation.quote in record.text


def test_studies_that_disagree_are_all_given_a_voice(draft):
    text = " ".join(statement.text for statement in draft("Does semaglutide protect the kidneys?").statements)
    assert "In FLOW" in text
    assert "SOUL" in text
    assert "did not differ significantly" in text


def test_each_statement_is_attributed_to_its_study(draft):
    statements = draft(QUESTIONS["answerable"][0]["question"]).statements
    assert statements[0].text.startswith("In STEP 1, at week 68, mean body weight")


def test_a_retracted_record_is_not_used(sample_index, by_study):
    record = by_study["STEP 1"].model_copy(update={"notices": (Notice(kind="retracted"),)})
    question = QUESTIONS["answerable"][0]["question"]
    hits = [h for h in sample_index.hits(question, 20) if h.passage.record_id == record.record_id]
    generator = ExtractiveGenerator(sample_index.embeddings)
    drafted = generator.generate(question, hits, {**sample_index.records, record.record_id: record})
    assert drafted.statements == ()
    assert drafted.abstention is not None


def test_no_passage_at_all_is_an_abstention(sample_index):
    drafted = ExtractiveGenerator(sample_index.embeddings).generate("Anything?", list[Hit](), sample_index.records)
    assert drafted.abstention is not None


def test_the_number_of_claims_is_bounded(sample_index):
    generator = ExtractiveGenerator(sample_index.embeddings, max_claims=2)
    question = QUESTIONS["answerable"][0]["question"]
    assert len(generator.generate(question, sample_index.hits(question, 12), sample_index.records).statements) == 2


def test_an_unknown_generator_is_named_with_the_choices(sample_index):
    with pytest.raises(InputError, match="no generator is called 'poet'"):
        open_generator("poet", sample_index.embeddings)
