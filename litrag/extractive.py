"""The key-free generator: answers with sentences of the sources, verbatim, so that it can't invent.

In: a question and ranked passages. Out: the studies that answer best, each by its best sentence and the result that
goes with it, attributed by name; or an abstention that names what the sources don't speak of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from litrag.discourse import is_aim
from litrag.figures import DRUG, arm_mentions, figures, intervals
from litrag.models import Abstention, Citation, Draft, Hit, Model, Passage, Record, Statement
from litrag.sentences import split
from litrag.terms import Term, focus_terms, mentions, stemmed

#: Weighted share of the question's terms that one source must mention, and the least similarity of the best
#: sentence to the question. Chosen by `benchmarks/abstention.py` on open questions; see docs/benchmarks.md.
MIN_TERM_COVERAGE = 0.6
MIN_SIMILARITY = 0.25

#: Weight of relevance against novelty when sentences are picked (maximal marginal relevance, Carbonell & Goldstein
#: 1998), and how much below the best sentence a further one may lie.
RELEVANCE_WEIGHT = 0.75
MAX_DROP = 0.18
#: Studies in an answer at most, and sentences to reach for when few studies speak of the matter.
MAX_STUDIES = 4
MIN_SENTENCES = 4
_SECTION_BONUS = {
    "RESULTS": 0.06,
    "FINDINGS": 0.06,
    "CONCLUSIONS": 0.0,
    "CONCLUSION": 0.0,
    "METHODS": -0.08,
    "BACKGROUND": -0.10,
    "OBJECTIVE": -0.12,
    "INTRODUCTION": -0.10,
}


class _Sentence(Model):
    """A candidate: a sentence of a record, by its span in the record's text, and how well it answers."""

    record_id: str
    passage_id: str
    start: int
    end: int
    text: str
    score: float = 0.0


class ExtractiveGenerator:
    """Answers with verbatim sentences, without any key or network."""

    generator_id = "extractive"

    def __init__(self, embeddings: Embeddings, *, max_claims: int = 8) -> None:
        self._embeddings = embeddings
        self._max_claims = max_claims

    def generate(self, question: str, hits: Sequence[Hit], records: Mapping[str, Record]) -> Draft:
        """Pick up to `max_claims` sentences from the hits' records, or abstain and say what is missing."""
        terms = focus_terms(question)
        missing, coverage = _coverage(terms, hits, records)
        if not hits or coverage < MIN_TERM_COVERAGE:
            return self._abstain(question, hits, terms, missing)
        sentences = _candidates(hits, records)
        if not sentences:
            return self._abstain(question, hits, terms, missing)
        vectors = np.asarray(self._embeddings.embed_documents([s.text for s in sentences]), dtype=np.float32)
        similarity = vectors @ np.asarray(self._embeddings.embed_query(question), dtype=np.float32)
        if float(similarity.max()) < MIN_SIMILARITY:
            return self._abstain(question, hits, terms, missing)
        scored = [
            s.model_copy(update={"score": _score(s, float(sim), question, terms, records[s.record_id])})
            for s, sim in zip(sentences, similarity, strict=True)
        ]
        picked = _picked(scored, vectors, self._max_claims)
        return Draft(
            statements=tuple(_statement(s, records[s.record_id]) for s in picked), generator=self.generator_id
        )

    def _abstain(
        self, question: str, hits: Sequence[Hit], terms: Sequence[Term], missing: Sequence[Term]
    ) -> Draft:
        names = tuple(term.text for term in missing)
        if names:
            reason = f"The sources in this corpus don't speak of {_listed(names)}."
        else:
            reason = "No passage in this corpus comes close enough to answer."
        return Draft(
            generator=self.generator_id,
            abstention=Abstention(
                reason=reason,
                missing=names,
                searched=question,
                nearest=tuple(hits[:3]),
                pubmed_query=_query(terms),
            ),
        )


def _coverage(
    terms: Sequence[Term], hits: Sequence[Hit], records: Mapping[str, Record]
) -> tuple[list[Term], float]:
    """Terms that no retrieved record mentions, and the best record's weighted share of all terms.

    A term that few of the retrieved records mention tells more about the question than one that all do.
    """
    ids = list(dict.fromkeys(hit.passage.record_id for hit in hits))
    texts = [stemmed(_searchable(records[record_id])) for record_id in ids]
    if not terms or not texts:
        return list(terms), 0.0 if not texts else 1.0
    present = np.array([[mentions(term, text) for text in texts] for term in terms], dtype=float)
    weights = 1.0 - 0.7 * present.mean(axis=1)
    missing = [term for term, row in zip(terms, present, strict=True) if not row.any()]
    return missing, float((weights @ present).max() / weights.sum())


def coverage_of(
    question: str, hits: Sequence[Hit], records: Mapping[str, Record], embeddings: Embeddings
) -> tuple[float, float]:
    """The two numbers that decide an abstention: term coverage and similarity of the best sentence, each 0–1."""
    sentences = _candidates(hits, records)
    if not sentences:
        return 0.0, 0.0
    vectors = np.asarray(embeddings.embed_documents([s.text for s in sentences]), dtype=np.float32)
    similarity = float((vectors @ np.asarray(embeddings.embed_query(question), dtype=np.float32)).max())
    return _coverage(focus_terms(question), hits, records)[1], similarity


def _searchable(record: Record) -> str:
    return " ".join((record.title, record.study or "", record.text, *record.mesh, *record.publication_types))


def _candidates(hits: Sequence[Hit], records: Mapping[str, Record]) -> list[_Sentence]:
    """Sentences of the retrieved records, without those that only state an aim or a question.

    The whole record is read, since the figures that belong to a retrieved conclusion may stand in another passage.
    """
    found: list[_Sentence] = []
    for record_id, passages in _by_record(hits).items():
        record = records[record_id]
        if record.retracted:
            continue
        for start, end in split(record.text):
            text = record.text[start:end]
            if is_aim(text) or len(text.split()) < 5:
                continue
            home = next((p for p in passages if p.start <= start and end <= p.end), passages[0])
            found.append(_Sentence(
                record_id=record_id, passage_id=home.passage_id, start=start, end=end, text=text,
            ))
    return found


def _by_record(hits: Sequence[Hit]) -> dict[str, list[Passage]]:
    grouped: dict[str, list[Passage]] = {}
    for hit in hits:
        grouped.setdefault(hit.passage.record_id, []).append(hit.passage)
    return grouped


def _score(
    sentence: _Sentence, similarity: float, question: str, terms: Sequence[Term], record: Record
) -> float:
    """Relevance of a sentence: similarity, the question's terms in it, figures, its section."""
    text = stemmed(_outcome_part(sentence.text))
    share = sum(mentions(term, text) for term in terms) / len(terms) if terms else 0.0
    digits = 0.08 if any(character.isdigit() for character in sentence.text) else 0.0
    asked = {f.value for f in figures(question) if f.kind == "percent"}
    named = 0.1 if asked & {f.value for f in figures(sentence.text)} else 0.0
    section = _SECTION_BONUS.get(record.section_at(sentence.start).upper(), 0.0)
    return 0.7 * similarity + 0.3 * share + digits + named + section


def _outcome_part(text: str) -> str:
    """The sentence without an opening that only says in whom: "In people with kidney disease, semaglutide …"."""
    if not re.match(r"(?:In|Among) (?:\w+ ){0,2}?(?:people|adults|patients|participants|women|men)\b", text):
        return text
    first = next((mention.span[0] for mention in arm_mentions(text)), 0)
    return text[first:]


def _picked(
    sentences: Sequence[_Sentence], vectors: NDArray[np.float32], limit: int
) -> list[_Sentence]:
    """The studies that answer best, each by its best sentence and the result with figures that goes with it."""
    places: dict[str, list[int]] = {}
    for place, sentence in enumerate(sentences):
        places.setdefault(sentence.record_id, []).append(place)
    best = {record_id: max(own, key=lambda i: sentences[i].score) for record_id, own in places.items()}
    order = sorted(best, key=lambda record_id: (-sentences[best[record_id]].score, record_id))
    top = sentences[best[order[0]]].score
    studies = [r for r in order[:MAX_STUDIES] if sentences[best[r]].score >= top - MAX_DROP]
    chosen: list[int] = []
    for record_id in studies:
        chosen += [best[record_id], *_result_with(best[record_id], places[record_id], sentences, vectors)]
    chosen = list(dict.fromkeys(chosen))[:limit]
    spare = [i for r in studies for i in places[r] if i not in chosen and sentences[i].score >= top - MAX_DROP]
    while spare and len(chosen) < min(limit, MIN_SENTENCES):
        gain = {
            i: RELEVANCE_WEIGHT * sentences[i].score
            - (1 - RELEVANCE_WEIGHT) * max(float(vectors[i] @ vectors[j]) for j in chosen)
            for i in spare
        }
        choice = max(spare, key=lambda i: gain[i])
        spare.remove(choice)
        chosen.append(choice)
    return _readable_order([sentences[i] for i in chosen])


def _result_with(
    best: int, own: Sequence[int], sentences: Sequence[_Sentence], vectors: NDArray[np.float32]
) -> list[int]:
    """The study's result with an interval that fits its best sentence, unless that sentence has one itself."""
    if _reports(sentences[best].text):
        return []
    least = sentences[best].score - MAX_DROP
    reported = [i for i in own if sentences[i].score >= least and _reports(sentences[i].text)]
    if not reported:
        return []

    def fit(place: int) -> float:
        primary = 0.15 if "primary" in sentences[place].text.lower() else 0.0
        return sentences[place].score + 0.5 * float(vectors[place] @ vectors[best]) + primary

    return [max(reported, key=fit)]


def _reports(text: str) -> bool:
    """Whether a sentence gives a result in figures: an interval, or the shares of two arms."""
    shares = [f for f in figures(text) if f.kind in ("percent", "points") and f.comparator != "at_least"]
    return bool(intervals(text)) or len(shares) >= 2


def _readable_order(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """Studies by their best sentence, sentences of one study in the order of its text."""
    best: dict[str, float] = {}
    for sentence in sentences:
        best[sentence.record_id] = max(best.get(sentence.record_id, -1.0), sentence.score)
    return sorted(sentences, key=lambda s: (-best[s.record_id], s.record_id, s.start))


def _statement(sentence: _Sentence, record: Record) -> Statement:
    return Statement(
        text=_attributed(sentence.text, record),
        citations=(Citation(passage_id=sentence.passage_id, quote=sentence.text),),
    )


def _attributed(text: str, record: Record) -> str:
    """The sentence with its study's name in front, unless it names the study itself."""
    name = record.name
    if name.lower() in text.lower():
        return text
    first = text.split(maxsplit=1)[0]
    word = first.lower().rstrip(",")
    opens_plainly = first[:1].isupper() and (word in _sentence_openers() or DRUG.fullmatch(word) is not None)
    body = text[0].lower() + text[1:] if opens_plainly else text
    if not record.study:
        return f"{name}: {text}"
    return f"In {_with_article(name)}, {body}"


def _with_article(study: str) -> str:
    """"STEP 1", but "the SELECT kidney analysis" and "the retinopathy meta-analysis"."""
    if not study.split()[-1][:1].islower() and not study.split()[0][1:].islower():
        return study
    lead = study[0].lower() if study.split()[0][1:].islower() else study[0]
    return f"the {lead}{study[1:]}"


@lru_cache(maxsize=1)
def _sentence_openers() -> frozenset[str]:
    """Words that a capital begins only because the sentence does; names keep theirs."""
    return frozenset(
        """
    a after all although among an as at both by compared during each fewer few for from in it its
    less mean median more most no on only over overall patients people participants adults serious
    nausea rates results the there these they this those through treatment weight when while with
    within without weekly oral continuing switching stopping gastrointestinal all-cause
    cardiovascular kidney major nonfatal retinopathy death deaths discontinuation diabetic severe compared every adverse
    """.split()
    )


def _listed(names: Sequence[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _query(terms: Sequence[Term]) -> str:
    """A PubMed query from the question's terms, synonyms not spelled out: PubMed maps them itself."""
    return " AND ".join(f'"{term.text}"' if " " in term.text else term.text for term in terms)
