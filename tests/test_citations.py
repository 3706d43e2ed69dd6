"""Reading texts that cite: markers, intervals, reference lists, inline identifiers, streams, hostile input."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from litrag.citations import CitationStream, Marker, parse_cited_text
from litrag.errors import InputError
from litrag.markers import bracket_markers, find_markers

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = json.loads((ROOT / "data" / "sample_answers.json").read_text(encoding="utf-8"))["answers"]
FOUR = {1: "33567185", 2: "27633186", 3: "30122305", 4: "31185157"}


def numbers(text: str, references: dict[int, str] | None = FOUR) -> list[tuple[int, ...]]:
    return [statement.numbers for statement in parse_cited_text(text, references).statements]


def texts(text: str, references: dict[int, str] | None = FOUR) -> list[str]:
    return [statement.text for statement in parse_cited_text(text, references).statements]


# --- markers
@pytest.mark.parametrize(("text", "expected"), [
    ("Weight fell [1].", (1,)),
    ("Weight fell [1, 3].", (1, 3)),
    ("Weight fell [2–4].", (2, 3, 4)),
    ("Weight fell [2-4].", (2, 3, 4)),
    ("Weight fell [1][2].", (1, 2)),
    ("Weight fell [1] [2].", (1, 2)),
    ("Weight fell [1; 4].", (1, 4)),
    ("Weight fell [1,2][3].", (1, 2, 3)),
    ("Weight fell 【2】.", (2,)),
    ("Weight fell 【2†source】.", (2,)),
    ("Weight fell [^3].", (3,)),
    ("Weight fell [1 and 3].", (1, 3)),
    ("Weight fell [Source 2].", (2,)),
    ("Weight fell (1).", (1,)),
    ("Weight fell (1, 2).", (1, 2)),
    ("Weight fell.¹ ", (1,)),
    ("Weight fell.¹,³", (1, 3)),
    ("Weight fell.¹⁻³", (1, 2, 3)),
    ("Weight fell.^1,2", (1, 2)),
    ("Weight fell.1,2", (1, 2)),
    ("Weight fell.<sup>1,2</sup>", (1, 2)),
])
def test_every_style_of_marker_is_read_and_taken_out_of_the_text(text: str, expected: tuple[int, ...]) -> None:
    parsed = parse_cited_text(text, FOUR)
    assert [s.numbers for s in parsed.statements] == [expected]
    assert parsed.statements[0].text == "Weight fell."
    assert parsed.problems == ()


def test_groups_ranges_and_neighbours_give_their_sets_in_order() -> None:
    text = (
        "Two trials agree [1, 3]. Three saw nausea [2–4]. Compare [1][2]. More stand in [1; 4], [1,2][3] and 【2】. "
        "Far too wide [1-900]. Backwards [4-2]."
    )
    groups = [set(marker.numbers) for marker in find_markers(text, FOUR)]
    assert groups[:6] == [{1, 3}, {2, 3, 4}, {1, 2}, {1, 4}, {1, 2, 3}, {2}]
    assert groups[6:] == [set(), {2, 3, 4}]
    problems = parse_cited_text(text, FOUR).problems
    assert [p for p in problems if "[1-900]" in p] == ["range [1-900] is too wide to be believed; it cites nothing"]
    assert [p for p in problems if "[4-2]" in p] == ["range [4-2] is reversed; read as 2–4"]


def test_a_number_without_a_source_is_invalid_and_leaves_its_sentence_uncited() -> None:
    parsed = parse_cited_text("Pain eased [1]. Appetite fell [6]. Costs grew [0]. Mood held [01].", FOUR)
    assert [(s.numbers, s.invalid, s.cited) for s in parsed.statements] == [
        ((1,), (), True), ((), (6,), False), ((), (0,), False), ((1,), (), True),
    ]
    assert "[6] has no entry in the reference list" in parsed.problems
    assert "[0] cites nothing: reference numbers start at 1" in parsed.problems


def test_a_range_past_the_end_keeps_the_sources_that_exist_and_is_flagged_once() -> None:
    parsed = parse_cited_text("Weight fell [3–6].", FOUR)
    assert (parsed.statements[0].numbers, parsed.statements[0].invalid) == ((3, 4), (5, 6))
    assert parsed.problems == ("[3–6]: 5, 6 have no entry in the reference list",)


@pytest.mark.parametrize("text", [
    "The hazard ratio was 3 (95% CI [2, 6]).",
    "The gain was 4 kg, 95% confidence interval [2, 6].",
    "The interval was [2, 6].",
    "Values in the range of [2, 6] were seen.",
    "The IQR [2–6] was wide.",
    "The median was 4 [2, 6] days.",
    "The mean difference was 4 points [2, 6].",
    "The hazard ratio was 0.74 [0.58, 0.95].",
    "The change was −4 [−6, −2].",
    "The score was 5 (95% CI (2–6)).",
])
def test_an_interval_is_text_never_a_citation(text: str) -> None:
    parsed = parse_cited_text(text, {n: str(n) for n in range(1, 8)})
    assert [s.numbers for s in parsed.statements] == [()]
    assert parsed.statements[0].text == text
    assert parsed.problems == ()


@pytest.mark.parametrize("text", [
    "MACE fell by 20% [2, 3].", "Weight fell in STEP 2 [1, 3].", "The mean fell in SUSTAIN 2 [1, 3].", "The CI was narrow [1].",
])
def test_two_numbers_behind_a_statement_are_citations_even_beside_figures(text: str) -> None:
    assert numbers(text) != [()]


@pytest.mark.parametrize("text", [
    "Effects were (1) nausea and (2) vomiting.",
    "The endpoints were: (1) death, (2) stroke.",
    "Grade (3) events were rare.",
    "A dose of 10⁶ units and a BMI of 30 kg/m² and I² of 3.",
    "The count was 10^3 cells and x^2 was small.",
    "The compound [18F]FDG and [3H]thymidine were used.",
    "It was shown in [2021] again.",
    "See fig.2 and no.3 of the set, with p=.04 and e.g.1 more.",
])
def test_enumerations_exponents_units_isotopes_and_years_are_text(text: str) -> None:
    assert all(found == () for found in numbers(text))
    assert "".join(texts(text)).replace(" ", "") == text.replace(" ", "")


def test_a_number_behind_both_is_a_marker_and_two_numbers_are_words_of_the_sentence() -> None:
    assert texts("All had heart disease, kidney disease or both [2].") == ["All had heart disease, kidney disease or both."]
    assert texts("It was seen by both [1] and [2] in June.") == ["It was seen by both [1] and [2] in June."]


def test_round_brackets_and_superscripts_cite_only_what_a_reference_list_holds() -> None:
    assert numbers("Weight fell (1). Mood rose.²", None) == [(), ()]
    assert numbers("Weight fell (7). Mood rose.⁷") == [(), ()]
    assert numbers("Weight fell (1). Mood rose.²") == [(1,), (2,)]


def test_two_raised_digits_are_one_number_if_it_exists_and_else_two() -> None:
    assert numbers("Weight fell.¹²") == [(1, 2)]
    assert numbers("Weight fell.¹²", {**FOUR, 12: "33755728"}) == [(12,)]


def test_without_any_list_numbers_are_kept_and_the_lack_is_said_once() -> None:
    parsed = parse_cited_text("Weight fell [1]. Mood rose [2].")
    assert [s.numbers for s in parsed.statements] == [(1,), (2,)]
    assert parsed.problems == ("there is no reference list, so [1], [2] can't be traced to a record",)
    assert parsed.cites(parsed.statements[0]) == ()


def test_an_empty_mapping_means_that_nothing_may_be_cited() -> None:
    parsed = parse_cited_text("Weight fell [1].", {})
    assert not parsed.statements[0].cited
    assert parsed.statements[0].invalid == (1,)


# --- statements
def test_spans_index_the_input_and_hold_the_markers() -> None:
    text = "Weight fell [1].  Mood rose.[2] Sleep held. [3]\n\n- Nausea grew (PMID 27633186)\n"
    parsed = parse_cited_text(text, FOUR)
    assert [text[slice(*s.span)] for s in parsed.statements] == [
        "Weight fell [1].", "Mood rose.[2]", "Sleep held. [3]", "Nausea grew (PMID 27633186)",
    ]
    assert [s.text for s in parsed.statements] == ["Weight fell.", "Mood rose.", "Sleep held.", "Nausea grew"]
    assert [text[slice(*m.span)] for s in parsed.statements for m in s.markers] == ["[1]", "[2]", "[3]", "PMID 27633186"]


def test_a_marker_inside_a_sentence_says_where_it_stood() -> None:
    statement = parse_cited_text("Semaglutide lowered MACE [1] and raised nausea [2].", FOUR).statements[0]
    assert statement.text == "Semaglutide lowered MACE and raised nausea."
    assert [statement.text[: marker.at] for marker in statement.markers] == [
        "Semaglutide lowered MACE", "Semaglutide lowered MACE and raised nausea",
    ]


def test_a_marker_that_is_a_word_of_its_sentence_stays_in_it() -> None:
    parsed = parse_cited_text("[1] found that weight fell.\n\nAs reported in [2], mood rose.", FOUR)
    assert [(s.text, s.numbers) for s in parsed.statements] == [
        ("[1] found that weight fell.", (1,)), ("As reported in [2], mood rose.", (2,)),
    ]


def test_sentences_are_not_broken_at_abbreviations_decimals_or_markers() -> None:
    text = (
        "Rossi et al. [3] tested 1.7 mg vs. 2.4 mg (n = 61; p < 0.01). S. aureus was rare in Fig. 1 samples. "
        "Nothing changed, i.e. the ratio stayed at 1.0."
    )
    assert texts(text) == [
        "Rossi et al. tested 1.7 mg vs. 2.4 mg (n = 61; p < 0.01).", "S. aureus was rare in Fig. 1 samples.",
        "Nothing changed, i.e. the ratio stayed at 1.0.",
    ]
    assert numbers(text) == [(3,), (), ()]


def test_headings_and_bullets_are_told_apart_from_statements() -> None:
    text = "## Efficacy\n\n1. Weight fell [1].\n2. Mood rose [2].\n\n## Safety\n- Nausea grew [3]."
    parsed = parse_cited_text(text, FOUR)
    assert [(s.text, s.numbers) for s in parsed.statements] == [
        ("Weight fell.", (1,)), ("Mood rose.", (2,)), ("Nausea grew.", (3,)),
    ]
    assert [text[slice(*span)] for span in parsed.other] == ["## Efficacy", "## Safety"]


def test_a_marker_beside_no_statement_is_a_problem() -> None:
    assert "[1] stands beside no statement" in parse_cited_text("[1]", FOUR).problems


@pytest.mark.parametrize("text", ["", "   \n\n", "...", "[]", "[ ]", "()", "[1"])
def test_texts_without_a_statement_or_with_broken_brackets_are_harmless(text: str) -> None:
    assert all(not s.cited for s in parse_cited_text(text, FOUR).statements)


# --- identifiers in the text
@pytest.mark.parametrize(("text", "pmids", "dois"), [
    ("Weight fell (PMID 33567185).", ("33567185",), ()),
    ("Weight fell (see PMID: 33567185).", ("33567185",), ()),
    ("Weight fell [PMID: 33567185; PMID: 27633186].", ("33567185", "27633186"), ()),
    ("Weight fell (PMIDs 33567185, 27633186).", ("33567185", "27633186"), ()),
    ("Weight fell (https://pubmed.ncbi.nlm.nih.gov/33567185/).", ("33567185",), ()),
    ("Weight fell (https://www.ncbi.nlm.nih.gov/pubmed/33567185).", ("33567185",), ()),
    ("Weight fell [PubMed](https://pubmed.ncbi.nlm.nih.gov/33567185/).", ("33567185",), ()),
    ("Weight fell (doi:10.1056/NEJMoa2032183).", (), ("10.1056/NEJMoa2032183",)),
    ("Weight fell (https://doi.org/10.1016/S0140-6736(24)00001-2).", (), ("10.1016/S0140-6736(24)00001-2",)),
    ("Weight fell (doi:10.1056/NEJMoa2032183; PMID 33567185).", ("33567185",), ("10.1056/NEJMoa2032183",)),
])
def test_pmids_and_dois_in_the_text_are_citations(text: str, pmids: tuple[str, ...], dois: tuple[str, ...]) -> None:
    parsed = parse_cited_text(text)
    assert [(s.text, s.pmids, s.dois) for s in parsed.statements] == [("Weight fell.", pmids, dois)]
    assert parsed.problems == ()


def test_a_figure_behind_a_pmid_is_no_pmid() -> None:
    assert parse_cited_text("Weight fell (PMID 33567185, 68 weeks).").statements[0].pmids == ("33567185",)


@pytest.mark.parametrize("digits", ["0", "012345", "123456789"])
def test_what_can_not_be_a_pmid_is_a_problem_and_no_citation(digits: str) -> None:
    parsed = parse_cited_text(f"Weight fell (PMID {digits}).")
    assert not parsed.statements[0].cited
    assert parsed.problems == (f"PMID {digits} can't exist: a PMID has 1–8 digits without a leading zero",)


def test_the_author_beside_a_pmid_stays_in_the_text() -> None:
    assert texts("Weight fell (Wilding 2021; PMID 33567185).", None) == ["Weight fell (Wilding 2021)."]


def test_a_linked_number_names_its_record_itself() -> None:
    parsed = parse_cited_text("Weight fell [1](https://pubmed.ncbi.nlm.nih.gov/33567185/).")
    assert parsed.problems == ()
    assert [entry.pmid for entry in parsed.cites(parsed.statements[0])] == ["33567185"]


# --- reference lists
@pytest.mark.parametrize("listing", [
    "References:\n1. Wilding. STEP 1. PMID: 33567185\n2. Marso. doi:10.1056/NEJMoa1607141",
    "## References\n\n[1] Wilding. STEP 1. PMID: 33567185\n\n[2] Marso. https://doi.org/10.1056/NEJMoa1607141",
    "**Sources**\n1) Wilding. STEP 1.\n   PMID: 33567185\n2) Marso. 10.1056/NEJMoa1607141.",
    "Sources: [1] Wilding. PMID 33567185; [2] Marso. doi:10.1056/NEJMoa1607141",
    "References: 1. Wilding. PMID 33567185. 2. Marso. doi:10.1056/NEJMoa1607141.",
    "References (2):\n1\\. Wilding. STEP 1.\n\nPMID: 33567185\n\n2\\. Marso. doi:10.1056/NEJMoa1607141",
    "[1] Wilding. PMID 33567185\n[2] Marso. doi:10.1056/NEJMoa1607141",
    "[^1]: https://pubmed.ncbi.nlm.nih.gov/33567185/\n[^2]: https://doi.org/10.1056/NEJMoa1607141",
])
def test_a_reference_list_in_any_usual_form_is_read_and_is_no_statement(listing: str) -> None:
    parsed = parse_cited_text(f"Weight fell [1]. MACE fell [2].\n\n{listing}")
    assert [(e.n, e.pmid, e.doi) for e in parsed.references] == [
        (1, "33567185", None), (2, None, "10.1056/NEJMoa1607141"),
    ]
    assert [(s.text, s.numbers) for s in parsed.statements] == [("Weight fell.", (1,)), ("MACE fell.", (2,))]
    assert parsed.problems == ()


def test_numbered_statements_with_pmids_are_no_reference_list() -> None:
    parsed = parse_cited_text("1. Weight fell (PMID 33567185).\n2. MACE fell (PMID 27633186).")
    assert parsed.references == ()
    assert [s.pmids for s in parsed.statements] == [("33567185",), ("27633186",)]


def test_text_behind_the_list_is_a_statement_again() -> None:
    parsed = parse_cited_text("Weight fell [1].\n\nReferences\n1. Wilding. PMID 33567185\n\nMACE fell too [1].")
    assert [s.text for s in parsed.statements] == ["Weight fell.", "MACE fell too."]


def test_a_made_up_list_is_set_aside_when_the_real_sources_are_given() -> None:
    given = {1: "99000071", 2: "99000072", 3: "99000071"}
    text = "Pain eased [1]. Sleep grew [2]. Relapse was rarer [3].\n\nSources:\n[1] An invented title\n[2] One more"
    parsed = parse_cited_text(text, given)
    assert [[e.pmid for e in parsed.cites(s)] for s in parsed.statements] == [["99000071"], ["99000072"], ["99000071"]]
    assert "invented" not in " ".join(s.text for s in parsed.statements)
    assert [text[slice(*span)] for span in parsed.list_spans] == ["Sources:\n[1] An invented title\n[2] One more"]


def test_one_paper_under_two_numbers_is_cited_once() -> None:
    parsed = parse_cited_text("Pain eased [1, 3].", {1: "99000071", 2: "99000072", 3: "99000071"})
    assert [entry.pmid for entry in parsed.cites(parsed.statements[0])] == ["99000071"]


def test_a_list_that_contradicts_the_given_sources_is_a_problem() -> None:
    parsed = parse_cited_text("Pain eased [1].\n\nReferences\n[1] Foo. PMID 11111111", {1: "99000071"})
    assert parsed.problems == (
        "the text's own list says [1] is PMID 11111111; PMID 99000071 was given and is used",
    )


def test_faulty_entries_are_named() -> None:
    text = (
        "Weight fell [1, 2, 3].\n\nReferences\n[1] Title only\n[2] Foo. PMID 123456789\n[3] A. PMID 33567185\n"
        "[3] B. PMID 27633186\n[0] C. PMID 30122305"
    )
    problems = "\n".join(parse_cited_text(text).problems)
    assert "[1] names no PMID or DOI" in problems
    assert "[2]: PMID 123456789 can't exist" in problems
    assert "[3] stands twice in the reference list; the first entry is used" in problems
    assert "an entry [0]; reference numbers start at 1" in problems


def test_a_reference_number_below_one_is_refused_with_its_value() -> None:
    with pytest.raises(InputError, match="start at 1, got 0"):
        parse_cited_text("Weight fell [0].", {0: "33567185"})


# --- streams
def streamed(pieces: list[str], known: set[int] | None = None) -> list[str | Marker]:
    stream = CitationStream(known)
    out: list[str | Marker] = []
    for piece in pieces:
        out += stream.feed(piece)
    return out + stream.close()


def test_a_bracket_cut_by_the_stream_is_read_whole() -> None:
    pieces = ["Nausea grew [", "1", "4", "] and mood rose [[", "3", "]](x).", " Costs [1, 2, 3, 4, 5, 6, 7, 8"]
    out = streamed(pieces, set(range(30)))
    assert [m.numbers for m in out if isinstance(m, Marker)] == [(14,), (3,)]
    assert "".join(part for part in out if isinstance(part, str)) == (
        "Nausea grew  and mood rose . Costs [1, 2, 3, 4, 5, 6, 7, 8"
    )


def test_text_before_a_bracket_isn_t_held_back() -> None:
    assert CitationStream().feed("Nausea grew [1") == ["Nausea grew "]


def test_a_stream_finds_what_the_whole_text_holds_however_it_is_cut() -> None:
    chance = random.Random(5)
    parts = ["[", "]", "[1]", "12", ", ", " ", "(x)", "(", "a", "CI ", "【", "】", "[[", ".", "–", "(95% CI [2, 6])"]
    for _ in range(400):
        text = "".join(chance.choice(parts) for _ in range(chance.randint(1, 14)))
        for size in (1, 2, 5):
            out = streamed([text[i : i + size] for i in range(0, len(text), size)])
            assert [m for m in out if isinstance(m, Marker)] == bracket_markers(text), text


def test_a_stream_loses_nothing_but_markers() -> None:
    text = "a [1] b [ 2 c [see 3] d [[4]](http://x) e [5"
    out = streamed(list(text))
    assert "".join(p if isinstance(p, str) else text[slice(*p.span)] for p in out) == text


# --- hostile input
@pytest.mark.parametrize("unit", [
    "[", "[1", "[1,", "[1] ", "[1]\n", "(1", "[[1", "[1](", "PMID ", "PMID 1,", "10.1234/", "doi:10.1234/a)", "¹", "^1",
    "<sup>", "References\n", "Sources: [1] ", "1. a\n", "# a\n", "【", "[1](a", "(see ", "A fell [1]. ",
    "# a\n\nReferences\n[1] x\n\ny\n",
])
def test_long_hostile_text_is_read_without_hanging(unit: str, hangs: None) -> None:
    text = (unit * (60_000 // len(unit) + 1))[:60_000]
    parse_cited_text(text, FOUR)


def test_a_long_unclosed_list_streams_without_hanging(hangs: None) -> None:
    parts = ["[", *(f"{n}, " for n in range(10_000))]
    assert "".join(streamed(parts)) == "".join(parts)


# --- the prepared answers
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["id"])
def test_a_prepared_answer_as_plain_text_gives_its_claims_and_their_sources(answer: dict[str, Any]) -> None:
    listing = "\n".join(f"{entry['n']}. {entry['citation']} PMID {entry['pmid']}" for entry in answer["references"])
    parsed = parse_cited_text(f"{answer['text']}\n\nReferences\n{listing}\n")
    found = [(s.text, [entry.pmid for entry in parsed.cites(s)]) for s in parsed.statements]
    assert found == [(claim["text"], [cited["pmid"] for cited in claim["citations"]]) for claim in answer["claims"]]
    assert parsed.problems == ()
