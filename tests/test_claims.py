"""Splitting sentences into atomic claims, and which citation belongs to which claim."""

import json
from pathlib import Path

import pytest

from litrag.citations import parse_cited_text
from litrag.claims import claims_of, split_claims

ANSWERS = Path(__file__).resolve().parent.parent / "data" / "sample_answers.json"


def parts(sentence: str) -> list[str]:
    return [part.text for part in split_claims(sentence)]


@pytest.mark.parametrize(("sentence", "expected"), [
    ("Semaglutide lowered MACE by 20% and raised gallbladder events.",
     ["Semaglutide lowered MACE by 20%", "Semaglutide raised gallbladder events"]),
    ("In SELECT, semaglutide lowered MACE, slowed kidney decline and raised gallbladder events.",
     ["In SELECT, semaglutide lowered MACE", "In SELECT, semaglutide slowed kidney decline",
      "In SELECT, semaglutide raised gallbladder events"]),
    ("Patients on semaglutide had more nausea and were more likely to stop.",
     ["Patients on semaglutide had more nausea", "Patients on semaglutide were more likely to stop"]),
    ("Semaglutide may lower MACE and increase gallbladder events.",
     ["Semaglutide may lower MACE", "Semaglutide may increase gallbladder events"]),
    ("Semaglutide lowered HbA1c (by 1.5%, and more in men) and was well tolerated.",
     ["Semaglutide lowered HbA1c (by 1.5%, and more in men)", "Semaglutide was well tolerated"]),
    ("The trial showed that semaglutide lowered MACE and raised gallbladder events.",
     ["The trial showed that semaglutide lowered MACE", "The trial showed that semaglutide raised gallbladder events"]),
    ("Semaglutide lowered weight, but it raised heart rate.",
     ["Semaglutide lowered weight", "Semaglutide raised heart rate"]),
])
def test_verbs_that_share_a_subject_become_claims_with_the_subject_restored(sentence: str, expected: list[str]) -> None:
    found = split_claims(sentence)
    assert [part.text for part in found] == expected
    assert [part.restored for part in found] == [False] + [True] * (len(expected) - 1)


@pytest.mark.parametrize(("sentence", "expected"), [
    ("Nausea was more common with semaglutide, and gallstones were rare.",
     ["Nausea was more common with semaglutide", "gallstones were rare"]),
    ("Weight was lower with semaglutide and nausea was more common.",
     ["Weight was lower with semaglutide", "nausea was more common"]),
    ("Semaglutide lowered weight; nausea was common.", ["Semaglutide lowered weight", "nausea was common"]),
    ("Doses were tested, and arms with strong effects and few withdrawals were kept.",
     ["Doses were tested", "arms with strong effects and few withdrawals were kept"]),
    ("However, weight fell by 5%, and nausea was rare.", ["However, weight fell by 5%", "nausea was rare"]),
])
def test_clauses_with_their_own_subjects_are_split(sentence: str, expected: list[str]) -> None:
    assert parts(sentence) == expected
    assert not any(part.restored for part in split_claims(sentence))


@pytest.mark.parametrize("sentence", [
    "Body weight changed by −14.9% with semaglutide and −2.4% with placebo.",
    "Nausea and vomiting were common.",
    "The dose lay between 1 and 3 mg.",
    "The effect was similar in men and women.",
    "The dose used in men and women was 2.4 mg.",
    "Semaglutide lowered weight, whereas placebo raised it and had more events.",
    "While placebo raised weight, semaglutide lowered it and was well tolerated.",
    "Semaglutide lowered weight more than liraglutide and placebo.",
    "Semaglutide and placebo lowered weight by 5% and 2%, respectively.",
    "Weight rose and fell.",
    "The difference was seen between men on semaglutide and women on placebo was none.",
])
def test_comparisons_ranges_and_lists_of_nouns_stay_whole(sentence: str) -> None:
    assert parts(sentence) == [sentence]


@pytest.mark.parametrize("sentence", [
    "Semaglutide did not lower weight and raise heart rate.",
    "Semaglutide was associated with weight loss and increased heart rate.",
    "Semaglutide reduced the risk of falls and prolonged hospital stay.",
    "No patient died and was lost to follow-up.",
    "20% of patients had nausea and were hospitalised.",
    "Treatment was stopped and reduced by 20%.",
    "Weight was regained after treatment was stopped and appetite had returned.",
    "Patients who took semaglutide and had nausea were few.",
    "The trial showed that semaglutide lowered MACE and was well conducted.",
    "If weight was lost, semaglutide lowered MACE and raised gallbladder events.",
    "Semaglutide lowered weight; placebo did not.",
    "Semaglutide lowered weight, and their risk was lower.",
    "Semaglutide lowered MACE and thus was approved.",
    "Semaglutide lowered MACE or raised gallbladder events and was stopped.",
    "“Semaglutide lowered MACE and raised gallbladder events” was the finding.",
    "Did semaglutide lower MACE and was it safe?",
    "It lowered MACE and was well tolerated.",
])
def test_in_doubt_a_sentence_stays_whole(sentence: str) -> None:
    assert parts(sentence) == [sentence]


def test_spans_make_up_the_text_of_every_part() -> None:
    sentence = "  In STEP 1, semaglutide lowered weight by 14.9%, improved function and was well tolerated. "
    found = split_claims(sentence)
    assert len(found) == 3
    for part in found:
        assert part.text == " ".join(sentence[start:end] for start, end in part.spans)


def test_a_whole_sentence_keeps_its_full_stop_and_span() -> None:
    (part,) = split_claims(" Weight fell. ")
    assert (part.text, part.spans, part.restored) == ("Weight fell.", ((1, 13),), False)


@pytest.mark.parametrize("sentence", ["", "  ", ".", "and", "and and and", "(((", "; ; ;"])
def test_odd_input_never_fails(sentence: str) -> None:
    assert "".join(parts(sentence)) == sentence.strip()


def test_the_prepared_answers_hold_one_claim_a_sentence() -> None:
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))["answers"]
    claims = [claim["text"] for answer in answers for claim in answer["claims"]]
    assert claims
    assert [parts(claim) for claim in claims] == [[claim] for claim in claims]


def test_claims_of_an_answer_are_whole_sentences_despite_abbreviations() -> None:
    text = "Kim et al. [1] gave 1 mg vs. 2 mg (n = 30; p < 0.05). No loss was seen, i.e. the CI held 1.0."
    statements = parse_cited_text(text, {1: "33567185"}).statements
    assert [claim.part.text for s in statements for claim in claims_of(s)] == [
        "Kim et al. gave 1 mg vs. 2 mg (n = 30; p < 0.05).", "No loss was seen, i.e. the CI held 1.0.",
    ]


@pytest.mark.parametrize(("text", "expected"), [
    ("Semaglutide lowered MACE [1] and raised gallbladder events [2].", [(1,), (2,)]),
    ("Semaglutide lowered MACE and raised gallbladder events [1, 2].", [(1, 2), (1, 2)]),
    ("In SELECT [1], semaglutide lowered MACE and raised gallbladder events.", [(1,), (1,)]),
    ("Semaglutide lowered MACE [1] and raised gallbladder events.", [(1,), ()]),
    ("Semaglutide lowered MACE and raised gallbladder events.", [(), ()]),
])
def test_each_claim_gets_the_citations_that_stand_behind_it(text: str, expected: list[tuple[int, ...]]) -> None:
    (statement,) = parse_cited_text(text, {1: "33567185", 2: "27633186"}).statements
    assert [claim.numbers for claim in claims_of(statement)] == expected


def test_a_pmid_beside_the_shared_subject_covers_every_claim() -> None:
    text = "Semaglutide (PMID 33567185) lowered MACE and raised nausea (PMID 27633186)."
    (statement,) = parse_cited_text(text).statements
    assert [claim.pmids for claim in claims_of(statement)] == [("33567185",), ("33567185", "27633186")]
