"""`litrag calibrate` and `litrag compare` as a program calls them."""

import json

import pytest
from fakes.labelled import ErringJudge, import_labels

from litrag.cli import main
from litrag.profiles import open_history
from litrag.recalibration import judge_keys, labelled_items, rescore
from litrag.reviews import open_store


@pytest.fixture
def store():
    """The configured store with 240 blind labels and the judgements of two judges, one much better."""
    opened = open_store()
    import_labels(opened, 240, questions=120)
    rescore(opened, ErringJudge())
    rescore(opened, ErringJudge("better", wrong=0.02))
    yield opened
    opened.close()


def test_calibrating_says_how_often_the_judge_is_wrong_and_writes_the_reports(store, capsys, tmp_path):
    files = [tmp_path / f"report{ending}" for ending in (".md", ".html", ".json")]
    assert main(["calibrate", "--judge", "erring", *(f"--report={path}" for path in files)]) == 0
    out = capsys.readouterr().out
    assert "How often is erring v1 wrong?" in out
    markdown, html, data = (path.read_text("utf-8") for path in files)
    rate = json.loads(data)["profile"]["false_reassurance"]
    said = f"{rate['hits']} of {rate['n']}"
    assert all(said in form for form in (out, markdown, html))


def test_the_json_of_a_calibration_is_the_profile_in_force(store, capsys):
    assert main(["calibrate", "--judge", "erring", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (profile,) = open_history().in_force()
    assert found["profile"]["labels_hash"] == profile.labels_hash
    assert found["report"]["n"] == 240


def test_a_profile_is_rolled_back_and_put_in_force_again(store, capsys):
    main(["calibrate", "--judge", "erring"])
    name = open_history().in_force()[0].profile_id
    assert main(["calibrate", "--judge", "erring", "--roll-back"]) == 0
    assert open_history().in_force() == []
    assert main(["calibrate", "--use", name]) == 0
    assert open_history().in_force()[0].profile_id == name
    capsys.readouterr()
    assert main(["calibrate", "--judge", "erring", "--history", "--json"]) == 0
    assert [e["action"] for e in json.loads(capsys.readouterr().out)] == ["made", "rolled back", "put in force"]


def test_comparing_exits_with_0_when_the_new_judge_may_replace_and_1_when_not(store, capsys):
    assert main(["compare", "erring", "better"]) == 0
    assert "may replace" in capsys.readouterr().out
    assert main(["compare", "better", "erring", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["may_replace"] is False
    assert any(not reason["met"] for reason in found["reasons"])


def test_labelled_items_are_scored_first_when_asked_for(capsys):
    store = open_store()
    import_labels(store, 12)
    assert main(["calibrate", "--rescore", "checks", "--json"]) == 1, "too few labels for a rate"
    assert json.loads(capsys.readouterr().out)["profile"]["judge"]["judge"] == "checks"
    assert [key.judge for key in judge_keys(labelled_items(store))] == ["checks"]


@pytest.mark.parametrize(("arguments", "said"), [
    (["calibrate"], "no labelled item has been judged"),
    (["calibrate", "--bound", "2"], "--bound must lie between 0 and 1"),
    (["calibrate", "--report", "a.pdf"], "must end in .md, .html, .json"),
    (["calibrate", "--use", "p-000000000000"], "no calibration profile"),
    (["compare", "a", "b"], "no labelled item has been judged"),
])
def test_what_cannot_be_done_exits_with_2_and_says_why(capsys, arguments, said):
    assert main(arguments) == 2
    assert said in " ".join(capsys.readouterr().err.split())
