"""Claims made from trial abstracts: true, false, overreaching, and not to be found.

In: abstracts of the Evidence Inference articles in its training split and open half. A conclusion or a result becomes
a claim, is edited, and is held against a window of its own abstract, sometimes without the sentence it came from, or
of the abstract most like it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from litrag.evidence import select_window, window_text
from training.edits import CONTRADICTING, OVERREACHING, PRESERVING
from training.pairs import ONLY, Pair, bench_dir, read_rows, unit_interval

#: How often each kind of claim is kept; tuned so that no class exceeds two fifths of the synthetic pairs.
SHARE = {
    "verbatim": 0.16,
    "reword": 0.45,
    "rounding": 0.6,
    "direction": 0.42,
    "negation": 0.42,
    "number": 0.32,
    "mixed-up numbers": 0.7,
    "time": 0.35,
    "dose": 0.8,
    "significance": 0.55,
    "arms": 1.0,
    "groups": 1.0,
    "overreach": 0.9,
    "population": 1.0,
    "added": 0.16,
    "sibling": 0.33,
    "elsewhere": 0.3,
}
WITHOUT_ORIGIN = {"verbatim": 0.5, "reword": 0.5, "direction": 0.35, "negation": 0.35, "overreach": 0.2}
WRONG_DRUG = frozenset({"contradicts", "not_found"})


@dataclass(frozen=True)
class Abstract:
    """Sentences of one abstract, with the numbers of those that state findings."""

    group: str
    title: str
    sentences: tuple[str, ...]
    conclusions: tuple[int, ...]
    results: tuple[int, ...]
    #: Claims in other words than the sentences that they come from.
    stated: Mapping[int, str] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=lambda: SHARE)

    def keeps(self, name: str, claim: str) -> bool:
        """Whether a claim of this kind is used."""
        return unit_interval("keep", name, claim) < self.shares[name]

    def text(self, *, without: int | None = None) -> str:
        return " ".join(s for number, s in enumerate(self.sentences) if number != without)


def load_synthetic_pairs() -> list[Pair]:
    """All synthetic pairs; the choice depends on the texts alone."""
    abstracts = trial_abstracts()
    siblings = nearest_siblings(abstracts)
    drugs = _intervention_words(abstracts)
    return [pair for abstract in abstracts for pair in pairs_of(abstract, siblings.get(abstract.group), drugs)]


def pairs_of(abstract: Abstract, sibling: Abstract | None, drugs: list[str], kind: str = "synthetic") -> Iterator[Pair]:
    """Pairs made from one abstract; `sibling` is the one most like it, `drugs` are names to put in place of its own."""
    for pair in _pairs(abstract, sibling, drugs):
        yield replace(pair, source=f"{kind}_{pair.source}")


def trial_abstracts() -> list[Abstract]:
    """Abstracts that may be used: training split, and not in the half kept for the final measurement."""
    rows = read_rows(bench_dir() / "nli" / "rct_ei_abstracts.jsonl.gz")
    return [_abstract(row) for row in rows if row["ei_split"] == "train" and _in_open_half(str(row["pmcid"]))]


def _in_open_half(pmcid: str) -> bool:
    group = pmcid.removeprefix("PMC")
    return hashlib.sha256(f"litrag:evidence_inference:{group}".encode()).digest()[0] & 1 == 0


def _abstract(row: dict[str, object]) -> Abstract:
    listed: list[list[str]] = row["sentences"]  # type: ignore[assignment]
    sections = [section.upper() for section, _ in listed]
    sentences = [" ".join(sentence.split()) for _, sentence in listed]
    usable = [
        30 < len(s) < 330
        and not re.search(r"registr|NCT\d|ISRCTN|http|further (?:research|stud)|funded|recommend", s, re.I)
        for s in sentences
    ]
    conclusions = tuple(n for n, s in enumerate(sections) if s.startswith("CONCLUSION") and usable[n])
    results = tuple(
        n
        for n, s in enumerate(sections)
        if s in ("RESULTS", "METHODS AND RESULTS", "FINDINGS") and usable[n] and _is_finding(sentences[n])
    )
    return Abstract(str(row["pmcid"]), str(row["title"]), tuple(sentences), conclusions, results)


def _is_finding(sentence: str) -> bool:
    return bool(re.search(r"\d|signific|differ|improv|increas|decreas|reduc|associat|effect", sentence))


def _pairs(abstract: Abstract, sibling: Abstract | None, drugs: list[str]) -> Iterator[Pair]:
    chosen = abstract.conclusions[:3] + tuple(
        n for n in abstract.results if unit_interval("result", abstract.sentences[n]) < 0.45
    )
    for number in chosen:
        claim = abstract.stated.get(number, abstract.sentences[number])
        pick = unit_interval("edit", claim)
        yield from _own_abstract(abstract, number, claim, pick)
        if sibling and abstract.keeps("sibling", claim):
            yield _pair(claim, _window(claim, sibling.text(), pick), frozenset({"not_found"}), "sibling", abstract)
        if number in abstract.results and abstract.keeps("elsewhere", claim):
            yield from _elsewhere(abstract, claim)
        yield from _other_drug(abstract, claim, pick, drugs)


def _own_abstract(abstract: Abstract, number: int, claim: str, pick: float) -> Iterator[Pair]:
    kinds: list[tuple[str, str | None, frozenset[str]]] = [("verbatim", claim, ONLY["supports"])]
    kinds += [(name, edit(claim, pick), ONLY["supports"]) for name, edit in PRESERVING.items()]
    kinds += [(name, edit(claim, pick), ONLY["contradicts"]) for name, edit in CONTRADICTING.items()]
    kinds += [(name, edit(claim, pick), ONLY["partial"]) for name, edit in OVERREACHING.items()]
    for name, changed, targets in kinds:
        if changed is None or (changed == claim and name != "verbatim") or not abstract.keeps(name, claim):
            continue
        # A conclusion must also follow from, or clash with, the results alone.
        hidden = number in abstract.conclusions and unit_interval("hide", name, claim) < WITHOUT_ORIGIN.get(name, 0.0)
        text = abstract.text(without=number if hidden else None)
        yield _pair(
            _plain(changed, name), _window(changed, text, unit_interval("size", name, claim)), targets, name, abstract
        )


def _elsewhere(abstract: Abstract, claim: str) -> Iterator[Pair]:
    """A result against the aims and methods of its own abstract: on topic, yet silent."""
    findings = {*abstract.results, *abstract.conclusions}
    rest = [s for n, s in enumerate(abstract.sentences) if n not in findings and s != claim and not _is_outcome(s)]
    if len(rest) >= 2:
        text = " ".join(rest)
        yield _pair(claim, _window(claim, text, 0.9), frozenset({"not_found"}), "elsewhere", abstract)


def _is_outcome(sentence: str) -> bool:
    return bool(
        re.search(
            r"signific|\bP ?[<=>]|95% ?CI|\bconclu|improved|reduced|increased|were (?:higher|lower)", sentence, re.I
        )
    )


def _other_drug(abstract: Abstract, claim: str, pick: float, drugs: list[str]) -> Iterator[Pair]:
    """The same statement of another drug: not what the source says, whether one calls it false or not found."""
    present = [word for word in re.findall(r"\b[a-z]{6,}\b", claim.lower()) if word in drugs]
    text = abstract.text()
    if not present or unit_interval("drug", claim) > 0.55:
        return
    others = [drug for drug in drugs if drug not in text.lower()]
    other = others[int(pick * len(others))]
    changed = re.sub(
        rf"\b{present[0]}\b",
        lambda m: other.capitalize() if m.group()[0].isupper() else other,
        claim,
        flags=re.IGNORECASE,
    )
    yield _pair(changed, _window(changed, text, pick), WRONG_DRUG, "drug", abstract)


def _pair(claim: str, evidence: str, targets: frozenset[str], kind: str, abstract: Abstract) -> Pair:
    return Pair(claim, evidence, targets, kind, abstract.group)


def _window(claim: str, text: str, pick: float) -> str:
    return window_text(text, select_window(claim, text, 2 + int(pick * 2)))


def _plain(claim: str, kind: str) -> str:
    """Half of the edited claims lose their bracketed figures, so that brackets tell nothing of the class."""
    if unit_interval("brackets", kind, claim) < 0.5 or kind in ("number", "mixed-up numbers", "rounding"):
        return claim
    shorter = re.sub(r"\s*\([^()]*\)", "", claim)
    return shorter if len(shorter) > 30 else claim


_DRUG_ENDINGS = re.compile(
    r"\b[a-z]{3,}(?:mab|nib|statin|pril|sartan|olol|azole|cillin|mycin|oxacin|gliptin|gliflozin|glutide|caine|pam|lam|"
    r"setron|prazole|"
    r"dipine|tidine|formin|parin|xaban|vir|zumab|ximab|one|ine|ide|ate|fen|olone|asone|barbital|profen|"
    r"triptan|lukast|terol|tropium)\b"
)
#: Words with the endings of drug names that name none.
_NOT_DRUG_WORDS = """
baseline routine medicine decline determine outcome telephone alone hormone someone online combine evaluate
associate appropriate estimate moderate immediate intermediate accurate adequate alternate candidate climate
create demonstrate duplicate facilitate separate indicate investigate mediate private rate relate state
stimulate ultimate update validate provide include guide decide divide wide side beside suicide inside outside
peptide magazine machine discipline examine imagine caffeine urine spine fine line define refine nine vaccine
creatinine saline milestone bone tone zone cone stone throne everyone gone corticosterone testosterone
chocolate plate late date nationwide worldwide carbonate bicarbonate generate calculate communicate complicate
concentrate contaminate coordinate correlate deviate differentiate dominate eliminate elevate eradicate
exaggerate motivate nominate participate penetrate predominate randomisation phosphate glucuronide genotype
tolerate initiate integrate isolate incorporate innate graduate gate mate tibiate pine fluoride chloride oxide
monoxide dioxide triglyceride glyceride saccharide nucleotide amine histamine adenine cysteine
"""
_NOT_DRUGS = frozenset(_NOT_DRUG_WORDS.split())


def _intervention_words(abstracts: list[Abstract]) -> list[str]:
    """Words with the endings of drug names that stand in the titles of several abstracts, but not many."""
    seen: Counter[str] = Counter()
    for abstract in abstracts:
        seen.update(
            {
                word
                for word in _DRUG_ENDINGS.findall(abstract.title.lower())
                if word not in _NOT_DRUGS and len(word) >= 7
            }
        )
    return sorted(word for word, count in seen.items() if count <= 8)


def nearest_siblings(abstracts: list[Abstract]) -> dict[str, Abstract]:
    """For each abstract the one whose title shares the rarest words with it, but not all of them."""
    words = {a.group: set(re.findall(r"[a-z]{5,}", a.title.lower())) for a in abstracts}
    holders: dict[str, list[Abstract]] = defaultdict(list)
    for abstract in abstracts:
        for word in words[abstract.group]:
            holders[word].append(abstract)
    siblings: dict[str, Abstract] = {}
    for abstract in abstracts:
        scores: Counter[str] = Counter()
        by_group: dict[str, Abstract] = {}
        for word in sorted(words[abstract.group]):
            if 2 <= len(holders[word]) <= 80:
                for other in holders[word]:
                    if other.group != abstract.group:
                        scores[other.group] += 1000 // len(holders[word])
                        by_group[other.group] = other
        if scores:
            siblings[abstract.group] = by_group[max(scores, key=lambda group: (scores[group], group))]
    return siblings
