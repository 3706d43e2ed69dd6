"""How well are records found? BM25, vectors and their fusion on three public sets and on the sample corpus.

    python -m benchmarks.retrieval [--markdown docs/benchmarks/retrieval.md] [--cache DIR] [--train]

Prints nDCG@10, recall@10 and MRR of each system for the open test questions, the time of a question as a ratio, and in
how many of the answerable sample questions a right paper is among the first three. The fused system is the library's
own index. Its weights were chosen on the training questions, which `--train` shows. The first run embeds about 9,000
abstracts, which takes minutes; vectors are kept in the cache folder. Exit code 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

import numpy as np

from benchmarks.retrieval_sets import PROJECT, SETS, Question, RetrievalSet, questions, records
from litrag.config import SAMPLE_CORPUS
from litrag.embeddings import MiniLMEmbeddings
from litrag.errors import IndexUnusableError
from litrag.index import Index, build_index, corpus_hash, load_index
from litrag.lexical import LexicalIndex
from litrag.models import Record
from litrag.passages import embedded_text
from litrag.readers import read_records
from litrag.vector_cache import VectorCache

DEPTH = 100
RRF = 60
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
    """Milliseconds of a question at the median."""

    bm25: float
    embedding: float
    fused: float

    @property
    def ratio(self) -> float:
        return self.fused / (2 * self.bm25 + self.embedding)


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
def by_words(found: Sequence[Record]) -> Search:
    ids = [record.record_id for record in found]
    lexical = LexicalIndex.build([f"{record.title}\n{record.text}" for record in found])

    def search(question: str) -> list[str]:
        scores = lexical.scores(question)
        best = np.argpartition(-scores, min(DEPTH, len(scores) - 1))[:DEPTH]
        return [ids[place] for place in best[np.argsort(-scores[best], kind="stable")] if scores[place] > 0]

    return search


def by_cut_abstract(found: Sequence[Record], embeddings: MiniLMEmbeddings) -> Search:
    """One vector per record, of what the model reads of it before it stops."""
    ids = [record.record_id for record in found]
    vectors = embeddings.embed([embedded_text(record.title, record.text) for record in found])

    def search(question: str) -> list[str]:
        cosine = vectors @ np.asarray(embeddings.embed_query(question), dtype=np.float32)
        return [ids[place] for place in np.argsort(-cosine, kind="stable")[:DEPTH]]

    return search


def by_best_passage(index: Index) -> Search:
    """The library's vectors alone; a record counts by its best passage."""

    def search(question: str) -> list[str]:
        vector = np.asarray([index.embeddings.embed_query(question)], dtype=np.float32)
        _, places = index.vectorstore.index.search(vector, min(4 * DEPTH, len(index.passages)))
        return unique(index.passages[place].record_id for place in places[0])

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
    """What the product does: passages of the fused search, each record at its best one."""
    return lambda question: unique(hit.passage.record_id for hit in index.hits(question, 4 * DEPTH))


def unique(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))


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


def systems(found: Sequence[Record], index: Index, embeddings: MiniLMEmbeddings) -> dict[str, Search]:
    words, cut, passage = by_words(found), by_cut_abstract(found, embeddings), by_best_passage(index)
    return {
        "BM25, stemmed": words,
        "MiniLM, abstract cut at 256 tokens": cut,
        "MiniLM, best passage": passage,
        "reciprocal rank: BM25 + cut abstract": by_reciprocal_rank(words, cut),
        "reciprocal rank: BM25 + best passage": by_reciprocal_rank(words, passage),
        "LitRAG": by_litrag(index),
    }


def speed(found: Sequence[Record], index: Index, asked: Sequence[Question]) -> Speed:
    """The three are timed in turn for each question, so that other work on the machine hits them alike."""
    words, fused = by_words(found), index
    rows = []
    for question in asked[:200]:
        rows.append([
            seconds(lambda text=question.text: words(text)),
            seconds(lambda text=question.text: index.embeddings.embed_query(text)),
            seconds(lambda text=question.text: fused.hits(text, 12)),
        ])
    return Speed(*(1000 * median(column) for column in zip(*rows, strict=True)))


def seconds(call: Callable[[], object]) -> float:
    call()
    start = perf_counter()
    call()
    return perf_counter() - start


def sample_hits(embeddings: MiniLMEmbeddings, cache: Path) -> tuple[int, int]:
    """Answerable sample questions with a right paper among the first three, and how many there are."""
    index = build_index(read_records(SAMPLE_CORPUS), cache / "index" / "sample", embeddings=embeddings)
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
    parser.add_argument("--train", action="store_true", help="show the training questions instead of the test ones")
    options = parser.parse_args(arguments)
    embeddings = MiniLMEmbeddings(options.cache / "models", cache=VectorCache(options.cache / "vectors.db"), threads=1)
    lines: list[str] = []
    missed = False
    for of in SETS:
        asked = questions(of, of.train if options.train else of.test)
        if not asked:
            continue
        found, index = open_set(of, options.cache, embeddings)
        scores = {name: measure(search, asked) for name, search in systems(found, index, embeddings).items()}
        pace = speed(found, index, asked)
        missed |= scores["LitRAG"].ndcg < of.goal or pace.ratio > 1
        section = [*table(of, scores, len(asked)), "", (
            f"A question takes {pace.fused:.2f} ms; BM25 {pace.bm25:.2f} ms, one embedding {pace.embedding:.2f} ms: "
            f"{pace.ratio:.2f} × (2 × BM25 + one embedding)."), ""]
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
    head = ["# Retrieval", "", "Written by `python -m benchmarks.retrieval --markdown docs/benchmarks/retrieval.md`.", ""]
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
