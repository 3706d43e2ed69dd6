"""The sample data keeps its promises: complete digests, real quotes, expectations that stand in the text."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

DATA = Path(__file__).resolve().parent.parent / "data"
DIGESTS = sorted((DATA / "semaglutide").glob("*.md"))
SECTIONS = ["Background", "Methods", "Results", "Conclusions"]
REQUIRED = {"pmid", "title", "study", "journal", "year", "volume", "issue", "pages", "publication_types"}
KNOWN = REQUIRED | {"authors", "doi", "pmcid", "nct", "funding", "language", "overlaps", "digest"}


def read_digest(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    parts = re.split(r"^## (\w+)\n", body, flags=re.MULTILINE)[1:]
    sections = {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}
    return yaml.safe_load(front), sections


CORPUS = {path.stem: read_digest(path) for path in DIGESTS}
TEXTS = {pmid: "\n\n".join(sections.values()) for pmid, (_, sections) in CORPUS.items()}


def load(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


QUESTIONS = load("sample_questions.json")


def test_there_are_fifteen_digests() -> None:
    assert len(CORPUS) == 15


@pytest.mark.parametrize("pmid", CORPUS)
def test_a_digest_has_complete_and_known_front_matter(pmid: str) -> None:
    meta, _ = CORPUS[pmid]
    assert meta["pmid"] == pmid
    assert re.fullmatch(r"[1-9]\d{0,7}", pmid)
    assert REQUIRED <= meta.keys() <= KNOWN
    assert all(value not in (None, "", []) for value in meta.values())
    assert meta["digest"] is True
    assert meta["language"] == "eng"
    assert 2000 < meta["year"] < 2026
    assert all(isinstance(meta[key], str) for key in ("pmid", "volume", "issue", "pages", "title"))


@pytest.mark.parametrize("pmid", CORPUS)
def test_identifiers_are_well_formed(pmid: str) -> None:
    meta, _ = CORPUS[pmid]
    assert re.fullmatch(r"10\.\d{4,9}/\S+", meta.get("doi", "10.1000/none"))
    assert re.fullmatch(r"PMC\d+", meta.get("pmcid", "PMC1"))
    assert all(re.fullmatch(r"NCT\d{8}", nct) for nct in meta.get("nct", []))


@pytest.mark.parametrize("pmid", CORPUS)
def test_a_digest_has_the_four_sections_and_a_readable_length(pmid: str) -> None:
    _, sections = CORPUS[pmid]
    assert list(sections) == SECTIONS
    assert 180 <= len(TEXTS[pmid].split()) <= 345


@pytest.mark.parametrize("pmid", CORPUS)
def test_digest_prose_uses_typographic_minus_signs_and_ranges(pmid: str) -> None:
    assert not re.search(r"(?<![\w.-])-\d", TEXTS[pmid]), "ASCII hyphen used as a minus sign"
    assert not re.search(r"\bCI \d[\d.]*-\d", TEXTS[pmid]), "ASCII hyphen used in an interval"


def test_overlaps_name_digests_of_the_corpus_and_are_mutual() -> None:
    pairs = {(pmid, other) for pmid, (meta, _) in CORPUS.items() for other in meta.get("overlaps", [])}
    assert pairs
    assert all(other in CORPUS and pmid != other for pmid, other in pairs)
    assert pairs == {(other, pmid) for pmid, other in pairs}


def test_records_of_one_trial_are_marked_as_overlapping() -> None:
    trials = {pmid: set(meta.get("nct", [])) for pmid, (meta, _) in CORPUS.items()}
    for pmid, (meta, _) in CORPUS.items():
        same = {other for other in CORPUS if other != pmid and trials[other] & trials[pmid]}
        assert same <= set(meta.get("overlaps", []))


def test_question_sets_have_their_sizes_and_unique_ids() -> None:
    sizes = {name: len(items) for name, items in QUESTIONS.items()}
    assert sizes == {
        "answerable": 12, "unanswerable": 6, "conflicting": 4, "further": 2, "non_conflicting": 10
    }
    ids = [item["id"] for name, items in QUESTIONS.items() if name != "non_conflicting" for item in items]
    assert len(set(ids)) == len(ids)
    assert QUESTIONS["answerable"][0]["question"] == (
        "How much weight do adults without diabetes lose on semaglutide 2.4 mg?"
    )


@pytest.mark.parametrize("item", QUESTIONS["answerable"] + QUESTIONS["further"], ids=lambda item: item["id"])
def test_expected_strings_stand_in_a_named_digest(item: dict[str, Any]) -> None:
    assert item["pmids"]
    assert item["expect"]
    assert any(all(string in TEXTS[pmid] for string in item["expect"]) for pmid in item["pmids"])
    assert all(pmid in CORPUS for pmid in item["pmids"])


@pytest.mark.parametrize("item", QUESTIONS["unanswerable"], ids=lambda item: item["id"])
def test_an_unanswerable_question_says_why(item: dict[str, Any]) -> None:
    assert item["question"].endswith("?")
    assert len(item["why"]) > 30


@pytest.mark.parametrize(
    "word",
    ["Alzheimer", "dementia", "adolescent", "pregnan", "bariatric", "surgery", "cost", "MASH", "fibrosis"],
)
def test_no_digest_mentions_what_the_unanswerable_questions_ask(word: str) -> None:
    assert not [pmid for pmid, text in TEXTS.items() if word.lower() in text.lower()]


@pytest.mark.parametrize("item", QUESTIONS["conflicting"], ids=lambda item: item["id"])
def test_conflicting_questions_split_their_studies_into_two_sides(item: dict[str, Any]) -> None:
    sides = list(item["sides"].values())
    assert len(sides) == 2
    assert not set(sides[0]) & set(sides[1])
    assert sorted(sides[0] + sides[1]) == sorted(item["pmids"])
    assert set(item["pmids"]) <= CORPUS.keys()
    assert item["reason"]
    assert item["claim"].endswith(".")


def test_non_conflicting_ids_are_answerable_questions_outside_the_four_conflicts() -> None:
    known = {item["id"] for item in QUESTIONS["answerable"] + QUESTIONS["further"]}
    ids = QUESTIONS["non_conflicting"]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= known


# --- prepared answers
ANSWERS = load("sample_answers.json")["answers"]
CLAIMS = [claim for answer in ANSWERS for claim in answer["claims"]]
VERDICTS = {"supports", "partial", "contradicts", "not_found", "hallucinated_quote", None}
MATCHES = {"exact", "normalized", "elided", "fuzzy", "altered", "misattributed", "absent", None}
FAULTS = {
    "none", "wrong_number", "reversed_direction", "swapped_arms", "wrong_population", "wrong_dose",
    "overreach", "out_of_scope", "invented_quote", "altered_quote", "misattributed", "uncited",
}


def test_the_prepared_answers_show_every_verdict_match_and_fault() -> None:
    assert len(ANSWERS) == 4
    assert {claim["expected_verdict"] for claim in CLAIMS} == VERDICTS
    assert {claim["expected_match"] for claim in CLAIMS} == MATCHES
    assert {claim["fault"] for claim in CLAIMS} == FAULTS
    assert len({claim["id"] for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["id"])
def test_an_answers_text_is_its_claims_with_markers(answer: dict[str, Any]) -> None:
    numbers = {ref["pmid"]: ref["n"] for ref in answer["references"]}
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
    assert numbers.keys() <= CORPUS.keys()
    sentences = []
    for claim in answer["claims"]:
        marks = "".join(f" [{numbers[citation['pmid']]}]" for citation in claim["citations"])
        sentences.append(claim["text"].removesuffix(".") + marks + ".")
    assert answer["text"] == " ".join(sentences)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_a_planted_quote_is_what_its_expected_match_says(claim: dict[str, Any]) -> None:
    if not claim["citations"]:
        assert claim["expected_verdict"] is None
        assert claim["expected_match"] is None
        assert claim["fault"] == "uncited"
        return
    cited = {citation["pmid"] for citation in claim["citations"]}
    for citation in claim["citations"]:
        verbatim = {pmid for pmid, text in TEXTS.items() if citation["quote"] in text}
        if claim["expected_match"] == "exact":
            assert citation["pmid"] in verbatim
        elif claim["expected_match"] == "misattributed":
            assert verbatim
            assert not verbatim & cited
        else:
            assert not verbatim


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_a_planted_fault_is_explained_and_fits_its_verdict(claim: dict[str, Any]) -> None:
    assert len(claim["explanation"]) > 20
    assert (claim["fault"] == "none") == (claim["expected_verdict"] == "supports")
    broken = claim["expected_match"] in ("altered", "absent")
    assert broken == (claim["expected_verdict"] == "hallucinated_quote")


# --- claims for the judge
CASES = [json.loads(line) for line in (DATA / "judge_cases.jsonl").read_text(encoding="utf-8").splitlines()]
KINDS = {
    "true", "number", "direction", "arms", "population", "dose", "design", "overreach", "significance", "time",
    "out_of_scope",
}


def test_judge_cases_are_many_balanced_and_unique() -> None:
    assert len(CASES) >= 140
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert len({case["claim"] for case in CASES}) == len(CASES)
    by_kind = Counter(case["kind"] for case in CASES)
    assert by_kind.keys() == KINDS
    assert all(count >= 6 for count in by_kind.values())
    assert 0.35 <= by_kind["true"] / len(CASES) <= 0.45
    assert {case["expected"] for case in CASES} == {"supports", "partial", "contradicts", "not_found"}


def test_every_digest_has_true_false_and_unanswered_cases() -> None:
    for pmid in CORPUS:
        assert {"supports", "contradicts", "not_found"} <= {c["expected"] for c in CASES if c["pmid"] == pmid}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_judge_case_fits_its_digest(case: dict[str, Any]) -> None:
    text = TEXTS[case["pmid"]]
    assert case["claim"].endswith(".")
    assert case["claim"] not in text, "claims are paraphrases, not digest sentences"
    assert (case["kind"] == "true") == (case["expected"] == "supports")
    assert (case["kind"] == "out_of_scope") == (case["expected"] == "not_found")
    if case["mismatch"] is None:
        assert case["expected"] in ("supports", "not_found")
    else:
        assert case["mismatch"]["claim"] in case["claim"]
        assert case["mismatch"]["source"] in text


def test_a_wrong_number_does_not_stand_beside_its_true_value() -> None:
    for case in CASES:
        if case["kind"] == "number":
            assert case["mismatch"]["claim"] != case["mismatch"]["source"]
            assert case["mismatch"]["source"] not in case["claim"]
