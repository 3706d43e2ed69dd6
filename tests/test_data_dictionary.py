"""The data dictionary: made from the code, complete, and never stale."""

import json

import pytest
from fakes.answers import answer
from test_batch import MIXED, batch

from litrag.batch import CSV_COLUMNS, results_jsonl
from litrag.changes import ExportedAnswer
from litrag.data_dictionary import (
    FIELDS,
    LOG_TYPES,
    RESULT_COLUMNS,
    RESULT_FIELDS,
    STORE_FIELDS,
    TARGET,
    WORDS,
    dictionary,
    log_fields,
    log_meaning,
)
from litrag.exchange import HEADER, Format, export_lines
from litrag.models import Verdict
from litrag.reviews import Action, item_id_of, open_store


def test_the_document_is_what_the_code_makes():
    assert TARGET.read_text("utf-8") == dictionary(), "run python -m litrag.data_dictionary"


@pytest.mark.parametrize("model", FIELDS, ids=lambda model: model.__name__)
def test_every_field_of_an_answer_has_a_meaning_and_no_meaning_lacks_a_field(model):
    assert set(FIELDS[model]) == {*model.model_fields, *model.model_computed_fields}


def test_every_model_within_an_answer_is_explained():
    schema = ExportedAnswer.model_json_schema(mode="serialization")
    models = {name for name, shape in schema["$defs"].items() if shape.get("type") == "object"}
    assert models | {"AuditedAnswer"} == {model.__name__ for model in FIELDS}


@pytest.mark.parametrize(("title", "words", "meanings"), WORDS, ids=lambda part: part if isinstance(part, str) else "")
def test_every_word_has_a_meaning(title, words, meanings):
    assert set(meanings) == set(words), title


def test_every_line_of_the_event_log_has_the_fields_that_are_explained():
    store = open_store()
    store.save_run(answer([Verdict.SUPPORTS]))
    store.send_to_review("run-a")
    store.add_reviewer("eve", "adjudicator")
    store.act(item_id_of("run-a", "c1", 0), "eve", Action(kind="label", verdict="supports"))
    store.adjudicate(item_id_of("run-a", "c1", 0), "eve", Verdict.SUPPORTS)
    log = [json.loads(line) for line in export_lines(store, Format.EVENTS)]
    store.close()
    assert {entry["type"] for entry in log} == set(LOG_TYPES)
    for entry in log:
        assert sorted(entry) == sorted(log_fields(LOG_TYPES[entry["type"]]))
        assert all(log_meaning(name) for name in entry)
    named = {name for table in LOG_TYPES.values() for name in log_fields(table)}
    assert set(STORE_FIELDS) <= named


def test_results_of_a_batch_have_the_fields_that_are_explained(tmp_path):
    for line in results_jsonl(batch(MIXED, tmp_path)).splitlines():
        assert list(json.loads(line)) == list(RESULT_FIELDS)
    assert set(CSV_COLUMNS) <= {*RESULT_FIELDS, *RESULT_COLUMNS}


def test_every_column_of_the_label_csv_stands_in_the_document():
    text = dictionary()
    assert all(f"| `{name}` |" in text for name in HEADER)
