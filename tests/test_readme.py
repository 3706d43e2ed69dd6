"""The README says what the code does: its commands, its settings, its pictures."""

import re

import pytest

from litrag.cli import main
from litrag.config import PROJECT
from litrag.settings_table import with_table

README = (PROJECT / "README.md").read_text("utf-8")


def test_the_settings_table_is_what_the_code_makes():
    assert with_table(README) == README


def test_the_test_command_is_the_one_that_the_gate_runs():
    [command] = [line for line in README.splitlines() if line.endswith(".venv/bin/python -m pytest -q")]
    assert command in (PROJECT / ".ci" / "run").read_text("utf-8")


def test_every_picture_and_document_that_is_named_exists():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (PROJECT / target).exists(), target


def test_every_command_that_is_named_exists(capsys):
    for command in set(re.findall(r"python -m litrag ([\w-]+)", README)):
        with pytest.raises(SystemExit) as done:
            main([command, "--help"])
        assert done.value.code == 0, command
    assert capsys.readouterr().out


def test_the_python_example_says_what_happens():
    import litrag

    location = litrag.locate_quote("relapse was 12 %", "Relapse was 12% with drug A.")
    assert (location.match, location.spans) == ("normalized", ((0, 15),))
    verdict = litrag.open_judge("local").judge("Relapse was 21%.", "Relapse was 12% with drug A.").verdict
    assert verdict == "contradicts"
