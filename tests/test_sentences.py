"""Sentences of medical prose: cut where they end, never inside an abbreviation, with exact spans."""

import pytest

from litrag.sentences import sentences, split


def test_abbreviations_references_and_decimals_end_no_sentence():
    text = (
        "Okafor et al. [7] set 0.5 mg vs. 1 mg (n = 58; p < 0.01). E. coli was grown as in Fig. 3 "
        "of the protocol. The effect was unclear, i.e. the interval held 1.0."
    )
    assert sentences(text) == [
        "Okafor et al. [7] set 0.5 mg vs. 1 mg (n = 58; p < 0.01).",
        "E. coli was grown as in Fig. 3 of the protocol.",
        "The effect was unclear, i.e. the interval held 1.0.",
    ]


@pytest.mark.parametrize(
    "whole",
    [
        "The dose was given i.v. every 4 h.",
        "Insulin was given s.c. (10 U) or p.o. (5 mg).",
        "Staph. aureus and Lactobacillus spp. ATCC 53103 were found.",
        "J. A. Whitfield wrote it with Dr. Amari.",
        "We used No. 5 sutures, vol. 3 and p. 12.",
        "Enrolment ran from Sept. 2019 to Dec. 2021.",
        "The U.S. Food and Drug Administration agreed.",
        "Deaths were few (approx. 3. See Table 2.) overall.",
        "RESULTS. Weight fell by 4 kg.",
        "1. Weight fell by 4 kg.",
        "It was −14.9 % vs. −2.4 % (HR 0.80, 95% CI 0.72–0.90; P<.001).",
        "The difference was 0·24 points and 3.5-fold.",
    ],
)
def test_this_is_one_sentence(whole):
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ratio 0.74 (P<.001). The rest stayed.", ["Ratio 0.74 (P<.001).", "The rest stayed."]),
        ("It was low, P<.001. The rest stayed.", ["It was low, P<.001.", "The rest stayed."]),
        ("He called it “safe.” We don't.", ["He called it “safe.”", "We don't."]),
        ("It fell. “Safe” is another word.", ["It fell.", "“Safe” is another word."]),
        ("It fell. (See the appendix.) It rose.", ["It fell.", "(See the appendix.)", "It rose."]),
        ("It fell.12 The rest stayed.", ["It fell.12", "The rest stayed."]),
        ("It fell. [3, 4] The rest stayed.", ["It fell. [3, 4]", "The rest stayed."]),
        ("It was given i.v. The rest was oral.", ["It was given i.v.", "The rest was oral."]),
        ("They had hepatitis B. None died.", ["They had hepatitis B.", "None died."]),
        ("METHODS: We asked. RESULTS: They said.", ["METHODS: We asked.", "RESULTS: They said."]),
        ("The dose was 5 mg. 12 patients left.", ["The dose was 5 mg.", "12 patients left."]),
        ("It fell. eGFR rose.", ["It fell.", "eGFR rose."]),
        ("Was it safe? Yes! Mostly.", ["Was it safe?", "Yes!", "Mostly."]),
        ("- It fell\n- It rose", ["- It fell", "- It rose"]),
        ("## Results\nIt fell.\n\nIt rose.", ["## Results", "It fell.", "It rose."]),
        ("It was safe.The trial ended.", ["It was safe.", "The trial ended."]),
        ("all lower. even this.", ["all lower.", "even this."]),
    ],
)
def test_sentences_end_here(text, expected):
    assert sentences(text) == expected


def test_spans_slice_the_text_and_only_white_space_lies_between():
    text = "  No adverse events. No adverse events.\n\nDose was 5 mg.\u00a0No adverse events. "
    spans = split(text)
    assert [text[s:e] for s, e in spans] == [
        "No adverse events.", "No adverse events.", "Dose was 5 mg.", "No adverse events.",
    ]
    borders = [0, *(edge for span in spans for edge in span), len(text)]
    gaps = [text[borders[i]:borders[i + 1]] for i in range(0, len(borders), 2)]
    assert not "".join(gaps).strip()


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_has_no_sentences(text):
    assert split(text) == []


def test_an_unclosed_bracket_swallows_nothing():
    assert sentences("It fell (by 3 kg. It rose. It fell.") == ["It fell (by 3 kg.", "It rose.", "It fell."]
