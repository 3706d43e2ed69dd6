"""What tests do when a program that they need is missing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from fakes.needed import unavailable

TESTS = Path(__file__).parent
#: The one place where a test may be skipped for want of a program; it decides between skipping and failing.
HELPER = TESTS / "fakes" / "needed.py"


def test_a_missing_program_fails_where_everything_is_required(monkeypatch):
    monkeypatch.setenv("LITRAG_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception):
        unavailable("no such program")


def test_a_missing_program_skips_elsewhere(monkeypatch):
    monkeypatch.delenv("LITRAG_REQUIRE_ALL", raising=False)
    with pytest.raises(pytest.skip.Exception):
        unavailable("no such program")


def test_no_test_skips_for_want_of_a_program_past_the_helper():
    skips = {
        (path.relative_to(TESTS).as_posix(), node.args[0].value if isinstance(node.args[0], ast.Constant) else "")
        for path in TESTS.rglob("*.py") if path != HELPER
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("pytest.skip", "pytest.importorskip", "skip")
    }
    assert skips == {("llm/test_llm_local.py", "runs a language model; ask for it with -m llm")}
