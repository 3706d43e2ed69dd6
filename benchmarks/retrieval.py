"""How well are records found? BM25, vectors and their fusion on three public sets and on the sample corpus.

    python -m benchmarks.retrieval [--markdown docs/benchmarks/retrieval.md] [--cache DIR] [--cut]

Prints nDCG@10, recall@10 and MRR of each system for the open test questions, the time of a question as a ratio, and in
how many of the answerable sample questions a right paper is among the first three. "LitRAG" is the library's own index;
the other rows are what was tried. Its weights were chosen on the training questions alone, whose table comes first. The
first run embeds about 9,000 abstracts, which takes minutes (`--cut` twice as many); vectors are kept in the cache
folder. Exit code 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from time import thread_time
from typing import Any, NamedTuple

import bm25s
import numpy as np
import Stemmer

from benchmarks.retrieval_sets import PROJECT, SETS, Question, RetrievalSet, questions, records
from litrag.config import SAMPLE_CORPUS
from litrag.embeddings import MiniLMEmbeddings
from litrag.errors import IndexUnusableError
from litrag.index import Index, build_index, corpus_hash, load_index
from litrag.lexical import K1, B, LexicalIndex, words
from litrag.models import Record
from litrag.passages import embedded_text
from litrag.ranking import DEEPER, FEEDBACK, FRONT, MEANING, rank
from litrag.readers import read_records
from litrag.vector_cache import VectorCache

DEPTH = 100
RRF = 60
#: Questions whose time is taken, and how often.
TIMED, RUNS = 60, 5
CACHE = Path.home() / ".cache" / "litrag-bench"

#: From a question to record ids, best first.
Search = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Score:
    ndcg: float
    recall: float
    mrr: float


@dataclass(frozen=True)
class Speed:
    """Milliseconds of a question at the median over questions, and the median of their ratios.

    `reference` is two searches by bm25s and one embedding; `own` is the same with the index's own BM25, which is
    quicker than bm25s' retrieval.
    """

    fused: float
    embedding: float
    reference: float
    own: float
    ratio: float
    own_ratio: float


# --- measures
def measure(search: Search, asked: Sequence[Question]) -> Score:
    ranked = [(list(search(question.text))[:DEPTH], question.relevant) for question in asked]
    return Score(fmean(ndcg(r, rel) for r, rel in ranked), fmean(recall(r, rel) for r, rel in ranked),
                 fmean(reciprocal_rank(r, rel) for r, rel in ranked))


def ndcg(ranked: Sequence[str], relevant: dict[str, int], depth: int = 10) -> float:
    gain = sum(relevant.get(record, 0) / math.log2(place + 2) for place, record in enumerate(ranked[:depth]))
    ideal = sorted(relevant.values(), reverse=True)[:depth]
    return gain / sum(value / math.log2(place + 2) for place, value in enumerate(ideal))


def recall(ranked: Sequence[str], relevant: dict[str, int], depth: int = 10) -> float:
    return len(set(ranked[:depth]) & set(relevant)) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: dict[str, int]) -> float:
    return next((1 / place for place, record in enumerate(ranked, start=1) if record in relevant), 0.0)


# --- systems
@dataclass
class Parts:
    """What an index is made of, so that other ways to join it can be tried; place n of `ids` is record n."""

    found: Sequence[Record]
    index: Index
    lexical: LexicalIndex = field(init=False)
    matrix: np.ndarray = field(init=False)
    owners: np.ndarray = field(init=False)
    ids: list[str] = field(init=False)
    _vectors: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = [record.record_id for record in self.found]
        places = {record_id: place for place, record_id in enumerate(self.ids)}
        self.owners = np.array([places[passage.record_id] for passage in self.index.passages])
        self.matrix = self.index.vectorstore.index.reconstruct_n(0, len(self.owners))
        self.lexical = LexicalIndex.build([f"{record.title}\n{record.text}" for record in self.found])

    def vector(self, question: str) -> np.ndarray:
        """The question's vector; every system is given the same."""
        if question not in self._vectors:
            self._vectors[question] = np.asarray(self.index.embeddings.embed_query(question), dtype=np.float32)
        return self._vectors[question]

    def best(self, scores: np.ndarray) -> list[str]:
        """Ids of the records with the highest scores above 0."""
        order = np.argsort(-scores, kind="stable")[:DEPTH]
        return [self.ids[place] for place in order if scores[place] > 0]


def by_words(parts: Parts) -> Search:
    return lambda question: parts.best(parts.lexical.scores(question))


def by_doubled_title(parts: Parts) -> Search:
    lexical = LexicalIndex.build([f"{r.title}\n{r.title}\n{r.text}" for r in parts.found])
    return lambda question: parts.best(lexical.scores(question))


def by_feedback_terms(parts: Parts) -> Search:
    """The question and, more quietly, the ten words that tell most about its first five records (after RM3)."""
    counts = [Counter(words(f"{record.title}\n{record.text}")) for record in parts.found]
    holders = Counter(word for count in counts for word in count)

    def search(question: str) -> list[str]:
        scores = parts.lexical.scores(question)
        weight: Counter[str] = Counter()
        for place in np.argsort(-scores, kind="stable")[:5]:
            for word, times in counts[place].items():
                weight[word] += scores[place] * times * math.log(len(counts) / holders[word])
        return parts.best(scores + 0.3 * parts.lexical.scores(" ".join(word for word, _ in weight.most_common(10))))

    return search


def by_pieces(parts: Parts) -> Search:
    """BM25 over pieces of four letters, which spelling variants and forms of a word share."""
    bm25 = bm25s.BM25(k1=K1, b=B, method="lucene")
    bm25.index([pieces(f"{record.title}\n{record.text}") for record in parts.found], show_progress=False)

    def search(question: str) -> list[str]:
        known = [piece for piece in pieces(question) if piece in bm25.vocab_dict]
        return parts.best(bm25.get_scores(known)) if known else []

    return search


def pieces(text: str, size: int = 4) -> list[str]:
    marked = [f"_{word}_" for word in words(text)]
    return [word[start:start + size] for word in marked for start in range(max(1, len(word) - size + 1))]


def by_cut_abstract(parts: Parts) -> Search:
    """One vector per record, of what the model reads of it before it stops."""
    vectors = parts.index.embeddings.embed([embedded_text(record.title, record.text) for record in parts.found])
    return lambda question: parts.best(vectors @ parts.vector(question))


def by_rank(parts: Parts, **weights: float) -> Search:
    """The library's ranking with other weights."""

    def search(question: str) -> list[str]:
        ranked = rank(parts.matrix, parts.owners, parts.vector(question), parts.lexical.scores(question), FRONT, **weights)
        return unique(parts.ids[parts.owners[one.place]] for one in ranked)

    return search


def by_reciprocal_rank(*searches: Search) -> Search:
    def search(question: str) -> list[str]:
        scores: dict[str, float] = {}
        for one in searches:
            for place, record in enumerate(one(question), start=1):
                scores[record] = scores.get(record, 0.0) + 1 / (RRF + place)
        return sorted(scores, key=lambda record: (-scores[record], record))

    return search


def by_litrag(index: Index) -> Search:
    """What the product does: passages of the fused search, as many as it ranks in full, each record at its best one."""
    return lambda question: unique(hit.passage.record_id for hit in index.hits(question, FRONT // DEEPER))


def unique(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))


def systems(parts: Parts, cut: bool) -> dict[str, Search]:
    lexical, passage = by_words(parts), by_rank(parts, meaning=1.0, feedback=0.0)
    found = {
        "BM25, stemmed": lexical,
        "BM25, title counted twice": by_doubled_title(parts),
        "BM25 with feedback terms": by_feedback_terms(parts),
        "BM25 of four-letter pieces": by_pieces(parts),
        "MiniLM, best passage": passage,
        "reciprocal rank: BM25 + best passage": by_reciprocal_rank(lexical, passage),
        "reciprocal rank: BM25 + pieces + best passage": by_reciprocal_rank(lexical, by_pieces(parts), passage),
        "weighted scores, no feedback": by_rank(parts, feedback=0.0),
        "LitRAG: weighted scores, feedback of vectors": by_litrag(parts.index),
    }
    if cut:
        whole = by_cut_abstract(parts)
        found["MiniLM, abstract cut at 256 tokens"] = whole
        found["reciprocal rank: BM25 + cut abstract"] = by_reciprocal_rank(lexical, whole)
    return found


# --- choosing
class Weights(NamedTuple):
    meaning: float
    feedback: float


GRID = tuple(Weights(m, f) for m in (0.65, 0.75, 0.8, 0.85, 0.9) for f in (0.0, 0.5, 1.0, 1.5, 2.0))


def choose(sets: Sequence[tuple[RetrievalSet, Parts]]) -> list[str]:
    """A table of the training questions: nDCG@10 for each pair of weights, the mean over sets deciding."""
    trained = [(of, parts, questions(of, of.train)) for of, parts in sets if of.train]
    names = " | ".join(of.title.split(" (")[0] for of, _, _ in trained)
    lines = [f"### Training questions: {' + '.join(str(len(asked)) for _, _, asked in trained)}", "",
             f"nDCG@10 by the weight of meaning against words and the weight of feedback; in use: {MEANING} and "
             f"{FEEDBACK}.", "", f"| meaning | feedback | {names} | mean |", "|---|---|" + "---|" * (len(trained) + 1)]
    for weights in GRID:
        scores = [measure(by_rank(parts, **weights._asdict()), asked).ndcg for _, parts, asked in trained]
        cells = " | ".join(f"{score:.3f}" for score in (*scores, fmean(scores)))
        lines.append(f"| {weights.meaning} | {weights.feedback} | {cells} |")
    return [*lines, ""]


# --- running
def open_set(of: RetrievalSet, cache: Path, embeddings: MiniLMEmbeddings) -> tuple[tuple[Record, ...], Index]:
    """The set's records and the library's index of them, kept in the cache folder."""
    found = records(of)
    try:
        index = load_index(cache / "index" / of.folder, embeddings=embeddings)
        if index.corpus_hash == corpus_hash(found):
            return found, index
    except IndexUnusableError as error:
        print(f"{of.title}: {error}", file=sys.stderr)
    return found, build_index(found, cache / "index" / of.folder, embeddings=embeddings, progress=report)


def report(share: float, message: str) -> None:
    print(f"\r{share:4.0%} {message:<60}", end="" if share < 1 else "\n", file=sys.stderr, flush=True)


def by_bm25s(parts: Parts) -> Search:
    """bm25s as its manual has it: its tokenizer with a stemmer, and its retrieval."""
    stemmer = Stemmer.Stemmer("english")

    def cut(texts: str | list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    bm25 = bm25s.BM25(k1=K1, b=B, method="lucene")
    bm25.index(cut([f"{record.title}\n{record.text}" for record in parts.found]), show_progress=False)

    def search(question: str) -> list[str]:
        found = bm25.retrieve(cut(question), k=min(DEPTH, len(parts.ids)), show_progress=False)
        return [parts.ids[place] for place, score in zip(found.documents[0], found.scores[0], strict=True) if score > 0]

    return search


def speed(parts: Parts, asked: Sequence[Question]) -> Speed:
    """Each is timed whole, in turn with the others: what runs after an embedding finds the processor's caches full
    of the model, whichever search it is."""
    plain, lexical, index = by_bm25s(parts), by_words(parts), parts.index

    def embed(text: str) -> None:
        index.embeddings.embed_query(text)

    tasks: tuple[Callable[[str], object], ...] = (
        lambda text: index.hits(text, 12), embed, lambda text: (plain(text), embed(text), plain(text)),
        lambda text: (lexical(text), embed(text), lexical(text)),
    )
    rows = np.array([fastest(tasks, question.text) for question in asked[:TIMED]])
    milliseconds = 1000 * np.median(rows, axis=0)
    return Speed(*milliseconds, *(float(np.median(rows[:, 0] / rows[:, n])) for n in (2, 3)))


def fastest(tasks: Sequence[Callable[[str], object]], text: str) -> list[float]:
    """Seconds of this thread at work in the fastest of its RUNS: what else the machine does only ever adds."""
    runs = []
    for _ in range(RUNS + 1):
        marks = [thread_time()]
        for task in tasks:
            task(text)
            marks.append(thread_time())
        runs.append(np.diff(marks))
    best: list[float] = np.min(runs[1:], axis=0).tolist()
    return best


def sample_hits(embeddings: MiniLMEmbeddings, cache: Path) -> tuple[int, int]:
    """Answerable sample questions with a right paper among the first three, and how many there are."""
    index = build_index(read_records(SAMPLE_CORPUS).records, cache / "index" / "sample", embeddings=embeddings)
    asked = json.loads((PROJECT / "data" / "sample_questions.json").read_text(encoding="utf-8"))["answerable"]
    search = by_litrag(index)
    return sum(bool(set(search(row["question"])[:3]) & set(row["pmids"])) for row in asked), len(asked)


def table(of: RetrievalSet, scores: dict[str, Score], asked: int) -> list[str]:
    lines = [f"### {of.title}: {asked} open questions, goal nDCG@10 {of.goal}", "",
             "| system | nDCG@10 | recall@10 | MRR |", "|---|---|---|---|"]
    return lines + [f"| {name} | {s.ndcg:.3f} | {s.recall:.3f} | {s.mrr:.3f} |" for name, s in scores.items()]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="also write the tables to this file")
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"folder of vectors and indexes (default {CACHE})")
    parser.add_argument("--cut", action="store_true", help="also embed whole abstracts, cut where the model stops")
    options = parser.parse_args(arguments)
    embeddings = MiniLMEmbeddings(options.cache / "models", cache=VectorCache(options.cache / "vectors.db"), threads=1)
    sets = [(of, Parts(*open_set(of, options.cache, embeddings))) for of in SETS]
    lines = choose(sets)
    print("\n".join(lines), flush=True)
    missed = False
    for of, parts in sets:
        asked = questions(of, of.test)
        scores = {name: measure(search, asked) for name, search in systems(parts, options.cut).items()}
        pace = speed(parts, asked)
        missed |= scores["LitRAG: weighted scores, feedback of vectors"].ndcg < of.goal or pace.ratio > 1
        section = [*table(of, scores, len(asked)), "", (
            f"A question takes {pace.fused:.2f} ms of one core, of which {pace.embedding:.2f} ms embed it: "
            f"{pace.ratio:.2f} × two searches by bm25s and one embedding ({pace.reference:.2f} ms), "
            f"{pace.own_ratio:.2f} × the same with the index's own BM25 ({pace.own:.2f} ms)."), ""]
        print("\n".join(section), flush=True)
        lines += section
    right, all_questions = sample_hits(embeddings, options.cache)
    sample = f"Sample corpus: a right paper among the first three for {right} of {all_questions} answerable questions."
    print(sample)
    if options.markdown:
        write_markdown(options.markdown, [*lines, sample])
    return 1 if missed or right < all_questions else 0


def write_markdown(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = ["## Retrieval", "", "Written by `python -m benchmarks.retrieval --markdown docs/benchmarks/retrieval.md`.", ""]
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
