"""`litrag verify --batch`: results, exit codes for CI, and going on where a run ended."""

import csv
import json
from xml.etree import ElementTree

import pytest

from litrag.cli import main
from litrag.config import settings

TABLE = """claim,pmid,quote
Semaglutide was given once weekly.,33567185,
Mean weight change was -14.9% with semaglutide.,33567185,
Insulin cured migraine.,99999999,
"""


@pytest.fixture(autouse=True)
def _sample(sample_index, monkeypatch):
    """Commands find the sample index that the run has built already."""
    monkeypatch.setattr("litrag.index.open_index", lambda *_, **__: sample_index)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def batch(capsys, table, *more):
    """Exit code and summary of one batch with the judge that is code only."""
    code = main(["verify", "--batch", str(table), "--judge", "checks", "--json", *map(str, more)])
    return code, json.loads(capsys.readouterr().out)


def test_results_stand_beside_the_table_as_csv_and_jsonl(capsys, table):
    code, summary = batch(capsys, table)
    assert code == 0
    assert [path.rsplit("/", 1)[1] for path in summary["written"]] == ["claims.verified.csv", "claims.verified.jsonl"]
    with table.with_name("claims.verified.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in table.with_name("claims.verified.jsonl").read_text("utf-8").splitlines()]
    assert [row["claim"] for row in rows] == [line["claim"] for line in lines]
    assert summary["claims"] == len(rows) == 3
    assert lines[2]["state"] == "uncited"
    assert "PMID 99999999 isn't in this corpus" in lines[2]["note"]


def test_the_same_command_again_takes_every_judgement_from_the_journal(capsys, table):
    _, first = batch(capsys, table)
    _, second = batch(capsys, table)
    assert first["fresh"] > 0
    assert (second["fresh"], second["reused"]) == (0, first["fresh"] + first["reused"])
    assert first["counts"] == second["counts"]
    assert [path.suffix for path in settings().table_dir.iterdir()] == [".journal"]


def test_too_few_supported_claims_exit_with_one_and_enough_with_nought(capsys, table):
    _, summary = batch(capsys, table)
    share = summary["supported"]
    assert 0 < share < 0.9
    assert batch(capsys, table, "--fail-under", "0.9")[0] == 1
    assert batch(capsys, table, "--fail-under", "0.1")[0] == 0


def test_a_row_that_cannot_be_used_exits_with_two_after_the_others_were_checked(capsys, table):
    table.write_text(TABLE + "A claim,PMC-what,\n", encoding="utf-8")
    code, summary = batch(capsys, table, "--fail-under", "0")
    assert (code, summary["claims"]) == (2, 3)
    assert [problem["line"] for problem in summary["problems"]] == [5]


def test_junit_and_chosen_files_are_written(capsys, table, tmp_path):
    batch(capsys, table, "--out", tmp_path / "deep" / "r.jsonl", "--junit", tmp_path / "report.junit")
    assert not table.with_name("claims.verified.csv").exists()
    suite = ElementTree.parse(tmp_path / "report.junit").getroot()
    assert suite.get("tests") == "3"
    assert int(suite.get("failures")) >= 1
    assert (tmp_path / "deep" / "r.jsonl").read_text("utf-8").count("\n") == 3


@pytest.mark.parametrize(("more", "message"), [
    (["--fail-under", "90"], "between 0 and 1"),
    (["--out", "results.docx"], ".csv, .jsonl or .xml"),
    (["--out", "claims.csv"], "would replace the table"),
])
def test_what_is_wrong_is_said_before_anything_is_judged(capsys, table, more, message):
    code, summary = batch(capsys, table, *more)
    assert code == 2
    assert message in summary["error"]
    assert not settings().table_dir.exists()


def test_a_missing_table_and_a_text_beside_a_table_are_refused(capsys, table):
    assert main(["verify", "--batch", "nowhere.csv"]) == 2
    assert main(["verify", "answer.txt", "--batch", str(table)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "nowhere.csv" in said
    assert "not both" in said


def test_on_a_screen_the_outcome_is_said_in_words(capsys, table):
    assert main(["verify", "--batch", str(table), "--judge", "checks", "--fail-under", "0.95"]) == 1
    said = capsys.readouterr().out
    assert "3 claims" in said
    assert "95% supported: not reached" in said


def test_ctrl_c_says_how_to_go_on(capsys, table, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("litrag.batch.ground_claims", interrupted)
    assert main(["verify", "--batch", str(table), "--judge", "checks"]) == 2
    assert "the same command goes on" in capsys.readouterr().err
