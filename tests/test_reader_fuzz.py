"""Broken input never breaks a reader: a small run of what `benchmarks.fuzz_readers` does at length."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import fuzz_readers
from benchmarks.fuzz_readers import framed_problem_of, mutated, problem_of
from benchmarks.fuzz_seeds import FRAMES, SEEDS
from litrag.readers import Format, format_of
from litrag.readers.markup import tidy


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_every_seed_is_a_file_that_can_be_read(tmp_path, name):
    problem, kinds = problem_of(tmp_path / "seed", SEEDS[name])
    assert problem == ""
    assert kinds["Record"] >= 1
    assert isinstance(format_of(tmp_path / "seed"), Format)


@pytest.mark.parametrize("name", sorted(SEEDS))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_a_mutated_file_gives_records_and_reasons_only(tmp_path, name, seed):
    content = mutated(SEEDS[name], list(SEEDS.values()), random.Random(seed))
    assert problem_of(tmp_path / "input", content)[0] == ""


@pytest.mark.parametrize("name", sorted(FRAMES))
def test_a_broken_record_costs_that_record_only(tmp_path, name):
    rng = random.Random(name)
    broken = [mutated(SEEDS[name], [SEEDS[name]], rng) for _ in range(40)]
    assert [problem for one in broken if (problem := framed_problem_of(tmp_path / "input", name, one)[0])] == []


def test_a_read_that_does_not_end_is_told_from_one_that_fails(tmp_path, monkeypatch):
    def endless(path):
        while True:
            yield from ()

    monkeypatch.setattr(fuzz_readers, "SECONDS", 0.05)
    monkeypatch.setattr(fuzz_readers, "read_items", endless)
    assert problem_of(tmp_path / "input", b"x")[0].startswith("takes longer")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400))
def test_any_bytes_give_records_and_reasons_only(tmp_path, content):
    assert problem_of(tmp_path / "input", content)[0] == ""


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=200))
def test_tidied_text_is_one_line_and_stays_as_it_is_when_tidied_again(text):
    once = tidy(text)
    assert "\n" not in once
    assert once == once.strip(" \t\r\n\f\v")


def test_thousands_of_unclosed_records_take_no_quadratic_time(tmp_path):
    problem, kinds = problem_of(tmp_path / "input", b"<PubmedArticleSet>" + b"<PubmedArticle>" * 60_000)
    assert problem == ""
    assert kinds["Rejection"] == 60_000
