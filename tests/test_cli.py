"""The command line: what it prints, and what its exit code says."""

import json

import pytest

from litrag.cli import main
from litrag.config import PROJECT

ANSWERS = PROJECT / "data" / "sample_answers.json"


@pytest.fixture(autouse=True)
def _sample(sample_index, monkeypatch):
    """Commands find the sample index that the run has built already."""
    monkeypatch.setattr("litrag.index.open_index", lambda *_, **__: sample_index)


def test_ask_prints_the_answer_as_json_and_succeeds(capsys):
    code = main(["ask", "How much weight do adults without diabetes lose on semaglutide 2.4 mg?", "--judge", "checks", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert code == 0
    assert answer["abstained"] is False
    assert answer["claims"][0]["verdict"] == "supports"


def test_a_declined_question_exits_with_one(capsys):
    assert main(["ask", "How does semaglutide compare with bariatric surgery?", "--judge", "checks"]) == 1
    assert "insufficient" in capsys.readouterr().out


def test_verify_on_the_prepared_answers_flags_them_and_names_each_difference(capsys):
    code = main(["verify", str(ANSWERS), "--judge", "checks", "--json"])
    reports = json.loads(capsys.readouterr().out)
    prepared = json.loads(ANSWERS.read_text("utf-8"))["answers"]
    assert code == 1
    for report, answer in zip(reports, prepared, strict=True):
        for claim, expected in zip(report["claims"], answer["claims"], strict=True):
            if expected["expected_match"]:
                location = claim["citations"][0]["location"]
                assert location["match"] == expected["expected_match"], expected["text"]
            if expected["expected_match"] == "altered":
                assert location["differences"]
                assert claim["citations"][0]["judgement"]["rationale"]


def test_verify_reads_standard_input(capsys, monkeypatch):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("STEP 1 lasted 68 weeks (PMID 33567185)."))
    main(["verify", "--judge", "checks", "--json"])
    [claim] = json.loads(capsys.readouterr().out)["claims"]
    assert claim["citations"][0]["pmid"] == "33567185"


@pytest.mark.parametrize(
    "arguments", [["ask", "   "], ["verify", "no/such/file.txt"], ["ask", "x?", "--judge", "best"]]
)
def test_a_call_that_cannot_be_carried_out_exits_with_two_and_says_why(capsys, arguments):
    assert main(arguments) == 2
    assert "error" in capsys.readouterr().err


def test_no_command_prints_the_help(capsys):
    assert main([]) == 2
    assert "ask" in capsys.readouterr().out


def test_an_error_under_json_is_json(capsys):
    assert main(["ask", "  ", "--json"]) == 2
    assert "empty" in json.loads(capsys.readouterr().out)["error"]


def test_the_demo_declines_one_question_and_shows_every_verdict(capsys):
    assert main(["demo", "--json", "--judge", "checks"]) == 0
    answers = json.loads(capsys.readouterr().out)
    assert [answer["abstained"] for answer in answers[:3]] == [False, False, True]
    states = {claim["state"] for answer in answers for claim in answer["claims"]}
    assert {"supports", "contradicts", "not_found", "hallucinated_quote", "uncited"} <= states
