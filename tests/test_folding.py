"""Folding: what may differ between two copies folds away, what may not stays, and every token keeps its place."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from litrag.folding import Folded, fold, fold_tokens

SAME = [
    ("typographic dashes", "a well-known effect", "a well‑known effect"),
    ("a minus sign", "fell by -1.4 points", "fell by −1.4 points"),
    ("quotation marks", "the “high” dose", 'the "high" dose'),
    ("no-break and thin spaces", "5 mg of drug", "5\u202fmg\u00a0of\u2009drug"),
    ("a unit stuck to its number", "5 mg", "5mg"),
    ("a middle-dot decimal", "0·85", "0.85"),
    ("a decimal without its zero", ".85", "0.85"),
    ("ligatures", "efficacy of the first field", "eﬃcacy of the ﬁrst ﬁeld"),
    ("letter case", "RESULTS WERE GOOD", "results were good"),
    ("HTML entities", "a &lt; b &amp; c &plusmn; d", "a < b & c ± d"),
    ("entities escaped twice", "p &amp;lt; 0.05", "p < 0.05"),
    ("HTML tags", "<i>E. coli</i> grew", "E. coli grew"),
    ("a raised power", "10<sup>6</sup> cells", "10⁶ cells"),
    ("a hyphen at a line's end", "treat-\n  ment", "treatment"),
    ("soft hyphens", "treat\u00adment", "treatment"),
    ("an invisible character within a word", "per\ufeffcent", "percent"),
    ("percent in three spellings", "5 percent or 6 per cent", "5% or 6 %"),
    ("a comma in thousands", "22,420 women", "22420 women"),
    ("a thin space in thousands", "22\u2009420 women", "22420 women"),
    ("comparators in ASCII", "n >= 30 and p <= 0.05", "n ≥ 30 and p ≤ 0.05"),
    ("plus-minus", "5 +/- 2", "5 ± 2"),
    ("multiplication", "10 × 5", "10 x 5"),
    ("micro and mu", "5 µg", "5 μg"),
    ("micrograms", "5 mcg", "5 ug"),
    ("Greek letters", "TNF-α and β-blocker", "TNF-alpha and beta blocker"),
    ("mathematical letters", "𝛃-blocker", "β-blocker"),
    ("composed and decomposed accents", unicodedata.normalize("NFD", "naïve Gödel"), "naïve Gödel"),
    ("accents left out", "Sjögren", "Sjogren"),
    ("versus", "drug versus placebo", "drug vs. placebo"),
    ("brackets of another form", "[95% CI]", "(95% CI)"),
    ("fractions", "½ of them", "1/2 of them"),
    ("a section label stuck to its first word", "ResultsOf ten patients", "Results Of ten patients"),
    ("micro in capitals", "5 µmol/L", "5 ΜMOL/L"),
    ("Markdown after a hyphen", "T1-*weighted* and **protein**-1β", "T1-weighted and protein-1β"),
    ("a space of any kind before a number", "0.94;\r\n  0.81", "0.94; 0.81"),
    ("Markdown", "the **main** __result__", "the main result"),
]


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in SAME], ids=[case[0] for case in SAME])
def test_copies_that_say_the_same_fold_to_the_same(one, other):
    assert Folded(one).tokens == Folded(other).tokens


DIFFERENT = [
    ("a sign", "by -1.4", "by 1.4"),
    ("a sign of a whole number", "a change of -5 points", "a change of 5 points"),
    ("a decimal point", "1.4", "14"),
    ("a decimal comma", "1,2", "12"),
    ("a comma that parts two numbers", "groups 1, 2", "groups 12"),
    ("a power", "10⁶", "106"),
    ("a negative power", "10⁻⁶", "10⁶"),
    ("a comparator", "p < 0.05", "p > 0.05"),
    ("a comparator's equality", "p ≤ 0.05", "p < 0.05"),
    ("unequal", "a ≠ b", "a = b"),
    ("nanomolar and nanometre", "10 nM", "10 nm"),
    ("megahertz and millihertz", "5 MHz", "5 mHz"),
    ("a range and a list", "1-2", "1, 2"),
    ("a ratio", "1:2", "12"),
    ("per mille", "5 ‰", "5 %"),
    ("two numbers that a space parts", "65 363", "65363"),
    ("a plus", "CD4+ cells", "CD4 cells"),
]


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in DIFFERENT], ids=[case[0] for case in DIFFERENT])
def test_what_a_number_or_sign_says_never_folds_away(one, other):
    assert Folded(one).tokens != Folded(other).tokens


def test_a_token_knows_its_place_in_the_stored_text():
    text = "In ½ of the ﬁeld sites,   pain eﬀects were null (naïve arm, 𝛃-blocker). Relapse was 9 of 40."
    folded = Folded(text)
    first = folded.tokens.index("relapse")
    start, end = folded.span(first, len(folded))
    assert text[start:end] == "Relapse was 9 of 40"
    place = folded.tokens.index("field")
    assert text[slice(*folded.span(place, place + 1))] == "ﬁeld"


def test_a_token_cut_by_a_line_end_spans_both_its_halves():
    text = "The treat-\n  ment worked."
    folded = Folded(text)
    place = folded.tokens.index("treatment")
    assert text[slice(*folded.span(place, place + 1))] == "treat-\n  ment"


def test_an_accent_that_stands_by_itself_belongs_to_its_letter():
    text = unicodedata.normalize("NFD", "naïveté was rare")
    assert Folded(text).span(0, 1) == (0, text.index(" "))


def test_a_token_beyond_the_last_has_no_place():
    with pytest.raises(IndexError):
        Folded("one two").start(2)


def test_tokens_of_a_range_of_the_text():
    folded = Folded("Relapse, in 9 of 40, was late.")
    first, last = folded.tokens_in((9, 19))
    assert folded.tokens[first:last] == ["in", "9", "of", "40"]


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [("It rose. Then it fell.", "then", True), ("It rose, then it fell.", "then", False),
     ("RESULTS: Then it fell.", "then", True), ("Then it fell.", "then", True), ("It rose.\nThen it fell.", "then", True)],
)
def test_where_a_sentence_begins(text, word, expected):
    folded = Folded(text)
    assert folded.begins_sentence(folded.tokens.index(word)) is expected


def test_a_text_is_folded_once_however_often_it_is_searched():
    text = "A text that is searched again and again."
    assert fold(text) is fold(text)


PIECES = st.sampled_from([
    "word", "Relapse", "ﬁeld", "naïve", "e\u0301t", "½", "3", "12", "0.5", ".5", "1,234", "-2", "−2", "–", "—", ",", ", ", ". ",
    "; ", " ", "  ", "\n", "\u00a0", "\u2009", "\u200b", "\u00ad", "(", ")", "[", "%", " percent", "&lt;", "&amp;gt;", "<i>",
    "</i>", "<sup>2</sup>", "10⁻⁶", "·", "α", "𝛃", "µ", "μg", " mM", "5 MHz", "≥", ">=", "+/-", "*", "**", "_", "…", "...", "مرض",
    "病気", "😀", "\u0301", "-\n", "Results", "ResultsOf", "İ", "ß", "ﬃ", "\x00",
])
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@given(TEXTS | st.text(max_size=80))
@example("İstanbul ½ﬁ")
@example("5 *  -\n3")
def test_places_are_in_order_and_inside_the_text_whatever_it_holds(text):
    folded = Folded(text)
    spans = [folded.span(number, number + 1) for number in range(len(folded))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[0] <= other[0] and one[1] <= other[1] for one, other in pairwise(spans))
    assert folded.joined.split() == folded.tokens


@given(st.lists(st.from_regex(r"[a-z]{1,9}|[1-9][0-9]{0,2}", fullmatch=True), min_size=1, max_size=30))
def test_plain_words_and_numbers_are_their_own_tokens_at_their_own_places(words):
    text = " ".join(words)
    folded = Folded(text)
    if folded.tokens == words:
        assert [text[slice(*folded.span(n, n + 1))] for n in range(len(words))] == words
    else:
        assert re.search(r"percent|per cent|mcg|versus", text)


@given(TEXTS, TEXTS)
def test_what_stands_before_moves_a_place_by_its_length(before, text):
    alone = Folded(text)
    behind = Folded(f"{before} . {text}")
    shift = len(before) + 3
    for number in range(1, len(alone) + 1):
        if alone.tokens[-number] != behind.tokens[-number] or number == len(alone):
            break
        start, end = alone.span(len(alone) - number, len(alone) - number + 1)
        assert behind.span(len(behind) - number, len(behind) - number + 1) == (start + shift, end + shift)


def test_the_tokens_of_a_text_without_its_places():
    assert fold_tokens("Relapse: 9 % (P < .05)") == ["relapse", "9", "%", "(", "p", "<", "0.05", ")"]


@pytest.mark.parametrize("text", ["44 patients (M/F: 41/3)", "metastases (5 SLM)", "3 M-mode scans"])
def test_a_capital_m_is_a_unit_only_right_after_a_number(text):
    assert not any("molar" in token or "mega" in token for token in Folded(text).tokens)


def test_an_empty_text_has_no_tokens():
    assert Folded("").tokens == []
    assert len(Folded(" \n\u200b")) == 0


# --- powers as text exports write them
def test_a_power_of_ten_in_brackets_is_the_power():
    assert fold_tokens("2 × 10(6)/kg") == fold_tokens("2 × 10⁶/kg") == fold_tokens("2 × 10^6/kg")
    assert fold_tokens("10(-6) mol") == fold_tokens("10⁻⁶ mol")
    assert fold_tokens("25 kg/m(2)") == fold_tokens("25 kg/m²")
    assert fold_tokens("9 x10(9)/L") == fold_tokens("9 ×10⁹/L")
    assert fold_tokens("0.75cm(2)") == fold_tokens("0.75 cm²")


def test_figures_run_together_or_in_a_bracket_of_their_own_are_no_power():
    assert fold_tokens("2 × 106/kg") != fold_tokens("2 × 10⁶/kg")
    assert fold_tokens("110(6)") != fold_tokens("110^6")
    assert fold_tokens("in 10 (6) patients") != fold_tokens("in 10⁶ patients")
    assert fold_tokens("them(2)") != fold_tokens("them2")


def test_a_bracketed_power_keeps_its_place_in_the_stored_text():
    text = "Cells at 2 × 10(6)/kg were infused."
    folded = Folded(text)
    number = folded.tokens.index("10^6")
    assert text[slice(*folded.span(number, number + 1))] in ("10(6)", "10(6")
