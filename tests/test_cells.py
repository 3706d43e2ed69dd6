"""Cells that a spreadsheet neither runs nor rewrites, and that come back exactly."""

import csv
import io
import random

import pandas as pd
import pytest
from fakes.office import CSV, XLSX, through_libreoffice
from hypothesis import example, given
from hypothesis import strategies as st

from litrag.cells import protect, restore
from litrag.label_import import read_table

TROUBLE = st.text(
    alphabet=st.one_of(
        st.sampled_from("=+-@\t\r\n\x00,;\"'␛_x000D5e./: ＝אب😀\u202e\ufeff\u2028"), st.characters(codec="utf-8"),
    ),
    max_size=40,
)


@given(TROUBLE)
@example("'=1+1")
@example("''=1+1")
@example("␛D␛")
@example("_x000D_")
@example("=cmd" + "x" * 100_000)
def test_every_text_comes_back_exactly(text):
    assert restore(protect(text)) == text


@given(st.lists(TROUBLE, min_size=1, max_size=6))
def test_cells_come_back_exactly_through_the_csv_module(texts):
    written = io.StringIO(newline="")
    csv.writer(written).writerow([protect(t) for t in texts])
    assert [restore(cell) for cell in next(csv.reader(io.StringIO(written.getvalue(), newline="")))] == texts


@given(st.lists(TROUBLE, min_size=1, max_size=6))
def test_cells_come_back_exactly_through_pandas_with_default_settings(texts):
    written = io.StringIO(newline="")
    csv.writer(written).writerows([["key", "text"], *(["k", protect(t)] for t in texts)])
    frame = pd.read_csv(io.StringIO(written.getvalue()), dtype={"text": str})
    assert [restore(cell) for cell in frame["text"].fillna("")] == texts


PIECES = [
    *"=+-@\t\r\n\x00,;\"'␛5e./: ＝אب😀\u202e\ufeff\u2028%$€()", "_x000D_", "cmd|", "SEPT", "1-2", "007", "TRUE", "NA", " mg",
]


@pytest.mark.parametrize("kind", [CSV, XLSX])
def test_five_hundred_random_texts_come_back_exactly_through_libreoffice(tmp_path, kind):
    rng = random.Random(11)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(1, 12))) for _ in range(500)] + ["=" + "x" * 20_000, "long\n" * 5_000]
    with (tmp_path / "cells.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["key", "text"], *([f"k{n}", protect(text)] for n, text in enumerate(texts))])
    saved = through_libreoffice(tmp_path / "cells.csv", kind)
    back = {row.cells["key"]: row.cells["text"] for row in read_table(saved.read_bytes(), saved.name)}
    assert [(text, back[f"k{n}"]) for n, text in enumerate(texts) if back[f"k{n}"] != text] == []


@given(TROUBLE)
def test_nothing_that_is_written_starts_a_formula(text):
    cell = protect(text)
    dangerous = cell.strip()[:1] in set("=+-@＝＋－＠")
    assert not dangerous or cell == text
    if dangerous:
        float(cell)


@pytest.mark.parametrize("text", [
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", " =1", "＝1", "-", "=",
])
def test_formulas_get_an_apostrophe(text):
    assert protect(text).startswith("'")


@pytest.mark.parametrize(("text", "cell"), [
    ("\t=1", "␛9␛=1"), ("\r=1", "␛D␛=1"), ("\n=1", "␛A␛=1"), ("a;=1", "a␛3B␛=1"), ('a; "+1', 'a␛3B␛ "+1'),
    ("weight\n- fell", "weight␛A␛- fell"), ("a; b\nc", "a; b\nc"),
])
def test_no_formula_begins_behind_what_a_spreadsheet_may_take_for_the_end_of_a_cell(text, cell):
    assert protect(text) == cell


@pytest.mark.parametrize("text", ["-14.9", "0", "5", "123456789", "0.5", "-0.001"])
def test_plain_numbers_stay_numbers(text):
    assert protect(text) == text


@pytest.mark.parametrize("text", [
    "00012345", "SEPT2", "MARCH1", "1-2", "2/3", "12:30", "1e5", "-14.90", "1234567890123", "TRUE", "NA", "null", "-0",
    "2026-11-30", "2026-11-30T10:00:00Z", "5 %", "1,5", "1.", "3 May 2020", "Dec-1", "inf", "nan", "5 pm",
])
def test_texts_that_would_be_rewritten_get_an_apostrophe(text):
    assert protect(text) == "'" + text


@pytest.mark.parametrize("text", [
    "5 mg", "HbA1c", "'tis", "it's", "no", "β = 0.3", "maybe 5", "He said \"no\", then\nleft", "GLP-1", "p<0.001", "E2",
])
def test_plain_text_is_left_as_it_is(text):
    assert protect(text) == text
