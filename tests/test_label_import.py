"""Labels that come back from a spreadsheet: what changes, what is refused by line and column, all or nothing."""

import csv
import io

import pytest
from fakes.answers import answer
from openpyxl import Workbook

from litrag.errors import InputError, StoreError
from litrag.exchange import csv_lines
from litrag.label_import import TableRow, import_labels, read_table
from litrag.labels import Kind, Role, Status
from litrag.models import Verdict
from litrag.reviews import Action, item_id_of

pytest_plugins = ["fakes.stores"]

S, P, C = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS


@pytest.fixture
def labelled(store):
    """Three items; ann labelled the first two."""
    store.save_run(answer([S, S, S]))
    store.send_to_review("run-a", needed=1)
    store.add_reviewer("ann")
    store.add_reviewer("eve", Role.ADJUDICATOR)
    for n in (1, 2):
        store.act(item_id_of("run-a", f"c{n}", 0), "ann", Action(kind=Kind.LABEL, verdict=P, blind=True))
    return store


def exported(store):
    return list(csv.DictReader(io.StringIO("".join(csv_lines(store)), newline="")))


def as_csv(rows, *, delimiter=",", encoding="utf-8"):
    """Rows as a spreadsheet would save them, and read back."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return read_table(file.getvalue().encode(encoding), "labels.csv")


def label(store, n):
    return store.label(item_id_of("run-a", f"c{n}", 0), "ann")


def test_an_edited_label_comes_in_as_a_new_revision_and_the_blind_one_stays(labelled):
    rows = exported(labelled)
    rows[0] |= {"human_verdict": "Contradicts ", "reason_code": "number", "comment": "1.2, not 2.1"}
    outcome = import_labels(labelled, as_csv(rows))
    assert outcome.saved
    assert [(c.line, c.before, c.after) for c in outcome.changes] == [
        (2, "partial", "contradicts, number, “1.2, not 2.1”"),
    ]
    now = label(labelled, 1)
    assert (now.verdict, now.blind_verdict, now.status, now.revision) == (C, P, Status.IMPORTED, 2)
    assert outcome.unchanged == 2


def test_a_preview_says_the_same_and_changes_nothing(labelled):
    rows = exported(labelled)
    rows[0]["human_verdict"] = "contradicts"
    preview = import_labels(labelled, as_csv(rows), dry_run=True)
    assert not preview.saved
    assert label(labelled, 1).verdict is P
    assert import_labels(labelled, as_csv(rows)).changes == preview.changes


def test_importing_the_same_file_twice_changes_nothing_the_second_time(labelled):
    rows = exported(labelled)
    rows[0]["human_verdict"] = "contradicts"
    import_labels(labelled, as_csv(rows))
    again = import_labels(labelled, as_csv(rows))
    assert (again.changes, again.problems) == ((), ())
    assert label(labelled, 1).revision == 2


def test_an_unlabelled_row_can_be_labelled_and_is_not_blind(labelled):
    rows = exported(labelled)
    rows[2] |= {"human_verdict": "supports", "reviewer_id": "ann"}
    import_labels(labelled, as_csv(rows))
    assert (label(labelled, 3).verdict, label(labelled, 3).blind_verdict) == (S, None)


@pytest.mark.parametrize(("row", "edit", "column", "message"), [
    (0, {"human_verdict": "suports"}, "human_verdict", "'suports' is none of supports, partial"),
    (0, {"human_confidence": "very"}, "human_confidence", "'very' is none of low, medium, high"),
    (0, {"reason_code": "typo"}, "reason_code", "'typo' is none of"),
    (0, {"human_verdict": ""}, "human_verdict", "withdraw it by undo"),
    (0, {"item_id": "it-nope"}, "item_id", "isn't in this store"),
    (0, {"pmid": "0090000001"}, "pmid", "'0090000001' is '90000001' in the store"),
    (0, {"run_id": "run-b"}, "run_id", "a spreadsheet may have changed it"),
    (0, {"schema_version": "9"}, "schema_version", "export again"),
    (0, {"human_verdict_blind": "supports"}, "human_verdict_blind", "can't be changed"),
    (0, {"gold_verdict": "supports"}, "gold_verdict", "adjudicate on the page"),
    (0, {"human_verdict": "supports", "revision": "7"}, "revision", "changed since the export"),
    (0, {"human_verdict": "supports", "comment": "x" * 9000}, "comment", "at most 8,000"),
    (2, {"human_verdict": "supports"}, "reviewer_id", "name the reviewer"),
    (2, {"human_verdict": "supports", "reviewer_id": "zoe"}, "reviewer_id", "'zoe' isn't on the list"),
    (2, {"comment": "hm", "reviewer_id": "ann"}, "human_verdict", "give the label as well"),
    (1, {"human_verdict": "supports", "reviewer_id": "eve", "human_verdict_blind": "", "revision": "0"},
     "reviewer_id", "already has its 1 reviewers"),
])
def test_a_bad_row_is_named_by_line_and_column_and_nothing_is_written(labelled, row, edit, column, message):
    rows = exported(labelled)
    rows[(row + 1) % 2]["human_verdict"] = "not found"
    rows[row] |= edit
    outcome = import_labels(labelled, as_csv(rows))
    assert not outcome.saved
    assert [(p.line, p.column) for p in outcome.problems] == [(row + 2, column)]
    assert message in outcome.problems[0].in_words()
    assert [label(labelled, n).verdict for n in (1, 2, 3)] == [P, P, None]


def test_every_bad_row_is_listed_with_the_line_on_which_it_begins(labelled):
    rows = exported(labelled)
    rows[0]["comment"] = "two\nlines"
    rows[1]["human_verdict"] = "?"
    rows[2] |= {"human_verdict": "?", "reviewer_id": "ann"}
    outcome = import_labels(labelled, as_csv(rows))
    assert [p.line for p in outcome.problems] == [4, 5]


def test_the_same_item_and_reviewer_twice_is_refused(labelled):
    rows = exported(labelled)
    outcome = import_labels(labelled, as_csv([*rows, rows[0]]))
    assert [p.in_words() for p in outcome.problems] == [
        "line 5, column item_id: the same item and reviewer stand on line 2",
    ]


def test_changed_frozen_text_is_noted_and_left_alone(labelled):
    rows = exported(labelled)
    rows[0] |= {"passage_text": "something else", "human_verdict": "supports"}
    outcome = import_labels(labelled, as_csv(rows))
    assert outcome.notes == ("passage_text was changed in 1 rows and is left alone",)
    assert "Verolin" not in rows[0]["passage_text"]
    assert labelled.item(rows[0]["item_id"]).passage_text.startswith("Adults took verolin")


def test_numbers_that_a_program_wrote_differently_are_the_same_numbers(labelled):
    rows = exported(labelled)
    for row in rows:
        row |= {"pmid": row["pmid"] + ".0", "claim_index": row["claim_index"] + ".0", "schema_version": "1.0"}
    assert import_labels(labelled, as_csv(rows)).problems == ()


def test_only_an_adjudicator_may_import_on_the_page(labelled):
    with pytest.raises(StoreError, match="'ann' may not import"):
        import_labels(labelled, as_csv(exported(labelled)), adjudicator="ann")
    assert import_labels(labelled, as_csv(exported(labelled)), adjudicator="eve").saved


# --- reading tables
def test_a_semicolon_table_with_a_byte_order_mark_is_read(labelled):
    rows = as_csv(exported(labelled), delimiter=";", encoding="utf-8-sig")
    assert import_labels(labelled, rows).unchanged == 3


def test_an_excel_workbook_is_read(labelled):
    rows = exported(labelled)
    book = Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append([int(v) if v.isdigit() and len(v) < 9 else v or None for v in row.values()])
    file = io.BytesIO()
    book.save(file)
    assert import_labels(labelled, read_table(file.getvalue(), "labels.XLSX")).unchanged == 3


@pytest.mark.parametrize(("data", "name", "message"), [
    ("é".encode("latin-1"), "a.csv", "isn't UTF-8"),
    (b"no zip", "a.xlsx", "isn't a readable XLSX file"),
    (b"a,a\n1,2\n", "a.csv", "column 'a' twice"),
    (b"a,b\n1,2,3\n", "a.csv", "line 2: 3 cells under 2 column names"),
])
def test_a_file_that_cannot_be_read_says_why(data, name, message):
    with pytest.raises(InputError, match=message):
        read_table(data, name)


def test_a_table_without_the_needed_columns_is_refused(labelled):
    with pytest.raises(InputError, match="column 'item_id' is missing"):
        import_labels(labelled, [TableRow(2, {"a": "1"})])
    with pytest.raises(InputError, match="column 'item_id' is missing"):
        import_labels(labelled, read_table(b"", "empty.csv"))


def test_cells_that_were_guarded_lose_the_guard(labelled):
    assert read_table(b"a\r\n'=1\r\n'tis\r\n", "a.csv") == [TableRow(2, {"a": "=1"}), TableRow(3, {"a": "'tis"})]
