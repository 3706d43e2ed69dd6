"""The framework notes: their figures are the benchmark's, and the code that they name exists."""

import ast
import re

import pytest

from litrag.config import PROJECT

NOTES = (PROJECT / "docs" / "framework-notes.md").read_text("utf-8")
MEASURED = (PROJECT / "docs" / "benchmarks" / "frameworks.md").read_text("utf-8")
NUMBER = r"(?<![\w.,])[−-]?\d+(?:[.,]\d+)*"


def figures(text):
    """Numbers outside of code and link targets."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)
    return {number.lstrip("−-") for number in re.findall(NUMBER, prose)}


def test_every_figure_of_the_notes_stands_in_the_benchmark_that_its_command_wrote():
    measured = {number.lstrip("−-") for number in re.findall(NUMBER, MEASURED)}
    assert "`python -m benchmarks.frameworks" in MEASURED
    assert len(figures(NOTES)) > 25
    assert figures(NOTES) - measured == set()


def test_the_record_says_what_the_notes_say_that_it_says():
    assert "The record (PMID 33755728) says +6.9%" in NOTES
    assert "+6.9%" in (PROJECT / "data" / "semaglutide" / "33755728.md").read_text("utf-8")


def test_the_quotes_in_the_notes_are_those_that_were_measured():
    said = " ".join(NOTES.split())
    quotes = re.findall(r'(?<=[\s(])"([A-Z][^"]{60,}?)(?: …)?"', said)
    assert len(quotes) == 2
    assert all(quote in MEASURED for quote in quotes)


NAMED = [
    (file, name)
    for file, names in re.findall(r"`((?:litrag|examples)/[\w/]+\.py)`: ((?:`\w+`(?:,\s+)?)+)", NOTES)
    for name in re.findall(r"`(\w+)`", names)
]


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_code_that_the_notes_name_exists(file, name):
    tree = ast.parse((PROJECT / file).read_text("utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_each_layer_is_named_with_its_code():
    assert len(NAMED) >= 10
