"""Labelled tables from elsewhere become runs, items and labels."""

import pytest

from litrag.errors import InputError
from litrag.foreign_labels import Mapped, import_foreign, parse_mapping, parse_values
from litrag.label_import import read_table
from litrag.models import Verdict
from litrag.queues import View, count

pytest_plugins = ["fakes.stores"]

TABLE = """statement,abstract,tag,rater,id
Verolin lowers glucose.,"Glucose fell, on verolin.",yes,R1,90000001
Verolin lowers glucose.,"Glucose fell, on verolin.",no,R2,90000001
Verolin is safe.,"Glucose fell, on verolin.",unclear,R1,90000001
"""

MAPPED = Mapped(
    columns={"claim_text": "statement", "passage_text": "abstract", "human_verdict": "tag", "reviewer_id": "rater", "pmid": "id"},
    values={"yes": Verdict.SUPPORTS, "no": Verdict.CONTRADICTS, "unclear": Verdict.NOT_FOUND}, blind=True,
)


def rows(text=TABLE):
    return read_table(text.encode(), "foreign.csv")


def test_each_claim_and_text_becomes_one_item_with_a_label_per_reviewer(store):
    outcome = import_foreign(store, rows(), MAPPED)
    assert outcome.saved
    assert (count(store, "R1", View.ALL), count(store, "R1", View.MINE), count(store, "R2", View.MINE)) == (2, 2, 1)
    assert count(store, "R1", View.DISAGREEMENTS) == 1
    run = store.run(store.runs()[0].run_id)
    item_labels = [store.labels(f) for f in item_ids(store)]
    assert [(found.verdict, found.blind_verdict) for found in item_labels[0]] == [("supports", "supports"), ("contradicts",) * 2]
    assert run.sources[0].record.pmid == "90000001"
    assert len(run.sources) == 1


def item_ids(store):
    with store.engine.connect() as connection:
        return connection.exec_driver_sql("SELECT item_id FROM items ORDER BY seq").scalars().all()


def test_reading_the_same_table_again_adds_nothing(store):
    for _ in range(2):
        import_foreign(store, rows(), MAPPED)
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM events").scalar() == 3
    assert len(store.runs()) == 1


def test_labels_of_unknown_origin_are_not_blind(store):
    import_foreign(store, rows(), MAPPED.model_copy(update={"blind": False}))
    assert all(found.blind_verdict is None for item in item_ids(store) for found in store.labels(item))


def test_a_preview_lists_labels_and_writes_nothing(store):
    preview = import_foreign(store, rows(), MAPPED, dry_run=True)
    assert [(c.line, c.reviewer_id, c.after) for c in preview.changes] == [
        (2, "R1", "supports"), (3, "R2", "contradicts"), (4, "R1", "not_found"),
    ]
    assert store.runs() == []


@pytest.mark.parametrize(("line", "message"), [
    (",text,yes,R1,1", "line 5, column statement: is empty"),
    ("c,text,maybe,R1,1", "line 5, column tag: 'maybe' is none of"),
    ("c,text,yes,R1,007", "line 5, column id: PMID must be"),
    ("Verolin is safe.,\"Glucose fell, on verolin.\",no,R1,90000001", "the same claim, text and reviewer as line 4"),
])
def test_a_bad_row_stops_the_whole_table(store, line, message):
    outcome = import_foreign(store, rows(TABLE + line + "\n"), MAPPED)
    assert not outcome.saved
    assert message in outcome.problems[0].in_words()
    assert store.runs() == []


@pytest.mark.parametrize(("columns", "message"), [
    ({"claim_text": "statement"}, "'passage_text' is mapped to no column"),
    ({**MAPPED.columns, "verdict": "tag"}, "'verdict' is no field"),
    ({**MAPPED.columns, "comment": "remark"}, "the table has no column 'remark'"),
])
def test_a_mapping_that_does_not_fit_is_refused(store, columns, message):
    with pytest.raises(InputError, match=message):
        import_foreign(store, rows(), Mapped(columns=columns))


def test_mappings_are_read_from_arguments():
    assert parse_mapping(["claim_text=a=b", "x=y"]) == {"claim_text": "a=b", "x": "y"}
    assert parse_values(["SUPPORT=Supports"]) == {"SUPPORT": Verdict.SUPPORTS}
    with pytest.raises(InputError, match="isn't of the form"):
        parse_mapping(["claim_text"])
    with pytest.raises(InputError, match="'true' is none of"):
        parse_values(["yes=true"])
