"""Exports: the columns, what they hold, and that they survive other programs and grow no memory."""

import csv
import io
import json
import tracemalloc

import pandas as pd
import pytest
from fakes.answers import answer, judgement, record
from fakes.office import CSV, XLSX, through_libreoffice
from sqlalchemy import insert

from litrag.cells import restore
from litrag.exchange import COLUMNS, HEADER, LABEL_STUDIO_CONFIG, Format, csv_lines, export, export_lines, label_rows
from litrag.label_import import import_labels, read_table
from litrag.labels import Kind, Role
from litrag.models import Verdict
from litrag.reviews import Action, item_id_of
from litrag.tables import items

pytest_plugins = ["fakes.stores"]

S, P, C = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS

NAMES = (
    "schema_version, item_id, run_id, question_id, question, claim_index, claim_text, citation_n, pmid, passage_id,"
    " passage_text, quote_text, quote_match, judge_verdict, judge_confidence, judge_rationale, judge_model,"
    " judge_version, human_verdict_blind, human_verdict, human_confidence, reason_code, comment, is_override, blinded,"
    " reviewer_id, review_role, label_status, revision, reviewed_at, duration_s, sampling_stratum, sampling_prob,"
    " split, gold_verdict"
)

COMMENTS = [
    "plain", "comma, semicolon; quote \" and 'apostrophe'", "two\nlines", "DOS\r\nlines", "=cmd|' /C calc'!A0", "+1", "-1+2",
    "@SUM(A1)", "\ttab", "NUL \x00 inside", "😀 µ β É", "\u202eturned שלום", "SEPT2", "1-2", "00012345", "-14.90", "-14.9",
    "TRUE", "NA", "'quoted'", "'=1", "_x000D_", "␛D␛", " blanks ", "1e5", "x" * 8_000, "a; =1", "list:\n- one\n+ two",
]


@pytest.fixture
def labelled(store):
    """One labelled item per comment, by reviewers whose names a spreadsheet would like to rewrite."""
    store.save_run(answer([S] * len(COMMENTS)))
    store.send_to_review("run-a", needed=1)
    for name in ("MARCH1", "007"):
        store.add_reviewer(name)
    for n, comment in enumerate(COMMENTS, start=1):
        action = Action(kind=Kind.LABEL, verdict=list(Verdict)[n % 5], blind=True, comment=comment, confidence="high")
        store.act(item_id_of("run-a", f"c{n}", 0), ("MARCH1", "007")[n % 2], action)
    return store


def as_rows(store, **options):
    return list(csv.DictReader(io.StringIO("".join(csv_lines(store, **options)), newline="")))


def test_the_columns_are_the_agreed_ones_in_their_order(store):
    assert list(HEADER) == NAMES.split(", ")
    assert next(csv_lines(store)) == ",".join(HEADER) + "\r\n"


def test_a_row_tells_the_whole_story_of_a_label(store):
    store.save_run(answer([S, P]))
    store.send_to_review("run-a")
    store.add_reviewer("ann")
    store.add_reviewer("eve", Role.ADJUDICATOR)
    item_id = item_id_of("run-a", "c1", 0)
    store.act(item_id, "ann", Action(kind=Kind.LABEL, verdict=P, blind=True, seconds=9.04, confidence="low"))
    store.act(item_id, "ann", Action(kind=Kind.REVISE, verdict=C, reason_code="direction", comment="up, not down"))
    store.adjudicate(item_id, "eve", C)
    first, second = as_rows(store)
    assert first | {"reviewed_at": "", "question_id": "", "split": ""} == {
        "schema_version": "1", "item_id": item_id, "run_id": "run-a", "question_id": "",
        "question": "Does verolin lower morning glucose?", "claim_index": "0",
        "claim_text": "Verolin lowered morning glucose in trial 1.", "citation_n": "1", "pmid": "90000001",
        "passage_id": "rec1:0", "passage_text": record(1).text, "quote_text": "Morning glucose fell by 1.2 mmol/l",
        "quote_match": "exact", "judge_verdict": "supports", "judge_confidence": "0.8",
        "judge_rationale": "The arms differ.", "judge_model": "fake coin", "judge_version": "1",
        "human_verdict_blind": "partial", "human_verdict": "contradicts", "human_confidence": "low",
        "reason_code": "direction", "comment": "up, not down", "is_override": "true", "blinded": "true",
        "reviewer_id": "ann", "review_role": "reviewer", "label_status": "revised", "revision": "2", "reviewed_at": "",
        "duration_s": "9.0", "sampling_stratum": "chosen", "sampling_prob": "", "split": "", "gold_verdict": "contradicts",
    }
    assert first["reviewed_at"].endswith("Z")
    assert first["split"] == second["split"] in ("few_shot", "dev", "test")
    assert (second["reviewer_id"], second["human_verdict"], second["label_status"]) == ("", "", "unlabelled")


def test_one_row_per_item_and_reviewer_with_the_latest_revision(store):
    store.save_run(answer([S, P]))
    store.send_to_review("run-a")
    for name in ("ann", "bob"):
        store.add_reviewer(name)
        store.act(item_id_of("run-a", "c1", 0), name, Action(kind=Kind.LABEL, verdict=P))
        store.act(item_id_of("run-a", "c1", 0), name, Action(kind=Kind.FLAG))
    rows = as_rows(store)
    assert [(r["claim_index"], r["reviewer_id"], r["label_status"], r["blinded"], r["revision"]) for r in rows] == [
        ("0", "ann", "needs_discussion", "false", "2"), ("0", "bob", "needs_discussion", "false", "2"),
        ("1", "", "unlabelled", "", "0"),
    ]


def test_judging_again_shows_in_the_export_beside_untouched_labels(store):
    store.save_run(answer([S, S]))
    store.send_to_review("run-a")
    store.add_reviewer("ann")
    first, second = (item_id_of("run-a", f"c{n}", 0) for n in (1, 2))
    store.act(first, "ann", Action(kind=Kind.LABEL, verdict=C, blind=True))
    before = as_rows(store)
    for item_id in (first, second):
        store.add_judgement(item_id, judgement(P, version="2"))
    after = as_rows(store)
    human = ("human_verdict", "human_verdict_blind", "reviewer_id", "reviewed_at", "revision")
    assert [[row[name] for name in human] for row in after] == [[row[name] for name in human] for row in before]
    assert [(r["judge_verdict"], r["judge_version"], r["human_verdict"]) for r in after] == [
        ("partial", "2", "contradicts"), ("partial", "2", ""),
    ]
    log = [json.loads(line) for line in export_lines(store, Format.EVENTS)]
    judged = [(e["item_id"], e["verdict"], e["version"]) for e in log if e["type"] == "judgement"]
    assert {(first, "supports", "1"), (first, "partial", "2")} <= set(judged)


def test_an_unjudged_item_has_no_verdict_and_gives_the_reason(store):
    store.save_run(answer([None]))
    store.send_to_review("run-a")
    row = as_rows(store)[0]
    assert (row["judge_verdict"], row["judge_rationale"], row["is_override"]) == ("", "unjudged: timed out", "")


def test_two_claims_with_the_same_words_stay_apart(store):
    store.save_run(answer([S, S, S], claim="Pain fell."))
    store.send_to_review("run-a")
    store.add_reviewer("ann")
    store.act(item_id_of("run-a", "c2", 0), "ann", Action(kind=Kind.LABEL, verdict=C))
    assert [row["human_verdict"] for row in as_rows(store)] == ["", "contradicts", ""]


def test_the_byte_order_mark_is_there_by_choice_and_changes_no_column_name(store):
    assert next(csv_lines(store, bom=True)).startswith("\ufeffschema_version")
    frame = pd.read_csv(io.BytesIO("".join(csv_lines(store, bom=True)).encode()))
    assert frame.columns[0] == "schema_version"


# --- through other programs
def labels_in(rows):
    """What a person said, by item and reviewer, from the rows of a table."""
    names = ("human_verdict_blind", "human_verdict", "human_confidence", "reason_code", "comment")
    return {(r["item_id"], r["reviewer_id"]): tuple(str(r[n] or "") for n in names) for r in rows}


def test_labels_come_back_identical_through_the_csv_module(labelled):
    rows = [{k: restore(v) for k, v in row.items()} for row in as_rows(labelled)]
    assert labels_in(rows) == labels_in(label_rows(labelled))
    assert [row["comment"] for row in rows] == COMMENTS


def test_labels_come_back_identical_through_pandas_and_back(labelled, tmp_path):
    frame = pd.read_csv(io.StringIO("".join(csv_lines(labelled))))
    frame.to_csv(tmp_path / "again.csv", index=False)
    assert frame.loc[COMMENTS.index("-14.9"), "comment"] == "-14.9"
    assert_comes_back(labelled, tmp_path / "again.csv")


@pytest.mark.parametrize("kind", [CSV, XLSX])
@pytest.mark.parametrize("bom", [False, True])
def test_labels_come_back_identical_through_libreoffice(labelled, tmp_path, kind, bom):
    with (tmp_path / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        export(labelled, Format.CSV, file, bom=bom)
    assert_comes_back(labelled, through_libreoffice(tmp_path / "labels.csv", kind))


def assert_comes_back(store, path):
    """The file holds the labels that the store has, and importing it changes nothing."""
    rows = read_table(path.read_bytes(), path.name)
    assert labels_in(row.cells for row in rows) == labels_in(label_rows(store))
    outcome = import_labels(store, rows)
    assert (outcome.problems, outcome.changes, outcome.unchanged) == ((), (), len(COMMENTS))


# --- the other formats
def test_the_event_log_holds_every_event_in_order_and_no_login(labelled):
    labelled.admit({"a@example.org": Role.REVIEWER})
    lines = list(export_lines(labelled, Format.EVENTS))
    log = [json.loads(line) for line in lines]
    kinds = [entry["type"] for entry in log]
    assert {k: kinds.count(k) for k in dict.fromkeys(kinds)} == {
        "run": 1, "item": len(COMMENTS), "judgement": len(COMMENTS), "event": len(COMMENTS),
    }
    events = [entry for entry in log if entry["type"] == "event"]
    assert [entry["comment"] for entry in events] == COMMENTS
    assert [entry["event_id"] for entry in events] == sorted(entry["event_id"] for entry in events)
    assert "example.org" not in "".join(lines)
    assert all(line.count("\n") == 1 for line in lines)


def test_label_studio_tasks_carry_the_judge_as_prediction_and_labels_as_annotations(labelled):
    tasks = json.loads("".join(export_lines(labelled, Format.LABEL_STUDIO)))
    assert len(tasks) == len(COMMENTS)
    choices = tasks[0]["annotations"][0]["result"][0]
    assert choices["value"]["choices"] == ["partial"]
    assert tasks[0]["predictions"][0]["result"][0]["value"]["choices"] == ["supports"]
    assert f'name="{choices["from_name"]}" toName="{choices["to_name"]}"' in LABEL_STUDIO_CONFIG
    assert all(f'value="${name}"' in LABEL_STUDIO_CONFIG for name in ("question", "claim_text", "passage_text"))
    assert {"question", "claim_text", "quote_text", "passage_text"} <= set(tasks[0]["data"])


def test_an_empty_store_exports_valid_files(store):
    assert json.loads("".join(export_lines(store, Format.LABEL_STUDIO))) == []
    assert list(export_lines(store, Format.ARGILLA)) == []
    assert list(export_lines(store, Format.EVENTS)) == []
    assert as_rows(store) == []


def test_argilla_records_carry_fields_suggestion_and_responses(labelled):
    records = [json.loads(line) for line in export_lines(labelled, Format.ARGILLA)]
    assert len(records) == len(COMMENTS)
    assert records[0]["suggestions"]["verdict"]["value"] == "supports"
    assert records[0]["responses"]["verdict"][0] == {"user_id": "007", "value": "partial", "status": "submitted"}
    assert [record["responses"]["comment"][0]["value"] for record in records] == COMMENTS
    assert records[0]["fields"]["claim_text"] == "Verolin lowered morning glucose in trial 1."


def test_the_memory_of_an_export_does_not_grow_with_the_number_of_rows(store):
    """Peak memory of exporting 6,000 items is that of exporting 1,000, give or take a tenth."""
    store.save_run(answer([S]))
    store.send_to_review("run-a")
    with store.engine.connect() as connection:
        row = dict(connection.execute(items.select()).mappings().one())
    peaks = []
    for first, last in ((2, 1_000), (1_001, 6_000)):
        extra = [row | {"seq": seq, "item_id": f"it-{seq}", "passage_text": "x" * 500} for seq in range(first, last + 1)]
        with store.engine.begin() as connection:
            connection.execute(insert(items), extra)
        del extra
        tracemalloc.start()
        assert sum(1 for _ in csv_lines(store)) == last + 1
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_every_column_says_what_it_means():
    assert all(column.meaning.endswith(".") for column in COLUMNS)
