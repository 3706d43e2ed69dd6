"""`litrag export` and `litrag import`: the same as on the page, for programs."""

import csv
import io
import json

import pytest
from fakes.answers import answer

from litrag.cli import main
from litrag.cli_labels import FORMATS
from litrag.exchange import Format
from litrag.labels import Kind
from litrag.models import Verdict
from litrag.reviews import Action, item_id_of, open_store

S, P, C = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS


@pytest.fixture
def store():
    """The configured store with two items, the first labelled by ann."""
    opened = open_store()
    opened.save_run(answer([S, S]))
    opened.send_to_review("run-a")
    opened.add_reviewer("ann")
    opened.act(item_id_of("run-a", "c1", 0), "ann", Action(kind=Kind.LABEL, verdict=P, blind=True, comment="µ; =1"))
    yield opened
    opened.close()


def edited(path, **changes):
    """Change the first row of an exported CSV, as a person in a spreadsheet would."""
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
    rows[0] |= changes
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_the_formats_that_are_offered_are_the_ones_that_exist():
    assert list(FORMATS) == list(Format)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_comes_out_the_same_on_standard_output_and_in_a_file(store, capsysbinary, tmp_path, form):
    assert main(["export", "--format", form]) == 0
    printed = capsysbinary.readouterr().out
    assert main(["export", str(tmp_path / "deep" / "out"), "--format", form]) == 0
    assert (tmp_path / "deep" / "out").read_bytes() == printed
    assert "µ".encode() in printed
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_a_csv_has_crlf_lines_and_a_mark_by_choice(store, capsysbinary):
    main(["export", "--bom"])
    data = capsysbinary.readouterr().out
    assert data.startswith(b"\xef\xbb\xbfschema_version")
    assert data.count(b"\r\n") == 3


def test_a_mark_is_refused_where_it_means_nothing(store, capsys):
    assert main(["export", "--format", "events", "--bom"]) == 2
    assert "--bom is for csv" in capsys.readouterr().err


def test_an_edited_export_is_previewed_and_then_imported(store, capsys, tmp_path):
    path = tmp_path / "labels.csv"
    main(["export", str(path)])
    edited(path, human_verdict="contradicts", reason_code="direction")
    assert main(["import", str(path), "--preview"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "→ contradicts, direction" in said
    assert "1 changed, 1 unchanged, 0 with a problem; a preview: nothing is written" in said
    assert store.label(item_id_of("run-a", "c1", 0), "ann").verdict is P
    assert main(["import", str(path)]) == 0
    now = store.label(item_id_of("run-a", "c1", 0), "ann")
    assert (now.verdict, now.blind_verdict, now.comment) == (C, P, "µ; =1")


def test_a_bad_row_is_named_and_exits_with_one(store, capsys, tmp_path):
    path = tmp_path / "labels.csv"
    main(["export", str(path)])
    edited(path, human_verdict="wrong")
    capsys.readouterr()
    assert main(["import", str(path), "--json"]) == 1
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["saved"] is False
    assert [(p["line"], p["column"]) for p in outcome["problems"]] == [(2, "human_verdict")]


def test_a_foreign_table_comes_in_by_its_columns(store, capsys, tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("statement,abstract,tag\nVerolin works.,Verolin worked.,yes\n", encoding="utf-8")
    arguments = [
        "import", str(path), "--map", "claim_text=statement", "--map", "passage_text=abstract",
        "--map", "human_verdict=tag", "--value", "yes=supports", "--reviewer", "panel", "--blind",
    ]
    assert main([*arguments, "--preview"]) == 0
    assert len(store.runs()) == 1
    assert main(arguments) == 0
    foreign = next(run.run_id for run in store.runs() if run.run_id.startswith("foreign-"))
    assert store.label(item_id_of(foreign, "c1", 0), "panel").blind_verdict is S


@pytest.mark.parametrize(("arguments", "message"), [
    (["import", "nowhere.csv"], "can't read 'nowhere.csv'"),
    (["import", "a.csv", "--blind"], "say with --map"),
    (["import", "a.csv", "--map", "claim_text"], "isn't of the form"),
    (["import", "a.csv"], "'item_id' is missing"),
])
def test_what_cannot_be_imported_says_why(capsys, tmp_path, arguments, message):
    (tmp_path / "a.csv").write_text("a\n1\n", encoding="utf-8")
    assert main(arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())
