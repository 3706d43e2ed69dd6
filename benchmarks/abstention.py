"""When to decline: how the extractive generator's two thresholds part answerable from unanswerable questions.

Questions of PubMedQA (titles that ask) are put to an index of other abstracts: once with the abstract that answers
it, once with that abstract taken out. A question whose abstract is there should be answered, one whose abstract is
gone should be declined. The thresholds are chosen on the train half and reported on the test half.

    python -m benchmarks.abstention [--markdown docs/benchmarks/abstention.md]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np

from litrag.config import PROJECT, SAMPLE_CORPUS
from litrag.embeddings import open_embeddings
from litrag.extractive import MIN_SIMILARITY, MIN_TERM_COVERAGE, coverage_of
from litrag.index import build_index
from litrag.ingest import read_records
from litrag.models import Record, Section
from litrag.pipeline import ask

QUESTIONS = 240


def load(limit: int) -> list[dict[str, str]]:
    folder = Path(os.environ.get("LITRAG_BENCH_DIR", PROJECT.parent / "shared")) / "bench" / "qa_pubmedqa"
    path = folder / "open.jsonl"
    if not path.exists():
        raise SystemExit(f"{path} is absent; set LITRAG_BENCH_DIR to the folder that holds bench/")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return sorted(rows, key=lambda row: row["pmid"])[:limit]


def record_of(row: dict[str, str]) -> Record:
    text = row["context"]
    return Record(
        record_id=row["pmid"], pmid=row["pmid"], title=row["question"], text=text,
        sections=(Section(label="ABSTRACT", start=0, end=len(text)),),
    )


def signals(rows: list[dict[str, str]], folder: Path) -> np.ndarray:
    """(n, 2, 2): per question, with and without its abstract, term coverage and best sentence similarity.

    Titles are left out of what is searched for terms: here they are the questions themselves.
    """
    records = [record_of(row).model_copy(update={"title": ""}) for row in rows]
    embeddings = open_embeddings()
    index = build_index(records, folder, embeddings=embeddings)
    found = np.zeros((len(rows), 2, 2))
    for place, row in enumerate(rows):
        hits = index.hits(row["question"], 13)
        for side, kept in enumerate((hits, [h for h in hits if h.passage.record_id != row["pmid"]])):
            found[place, side] = coverage_of(row["question"], kept[:12], index.records, embeddings)
    return found


def rates(found: np.ndarray, coverage: float, similarity: float) -> tuple[float, float]:
    """Share of answerable questions answered, and of unanswerable ones declined."""
    passes = (found[:, :, 0] >= coverage) & (found[:, :, 1] >= similarity)
    return float(passes[:, 0].mean()), float(1 - passes[:, 1].mean())


def sample_rates(folder: Path) -> list[str]:
    """In words: how many sample questions are answered or declined as they should be, and found among the first three."""
    document = json.loads((PROJECT / "data" / "sample_questions.json").read_text("utf-8"))
    index = build_index(list(read_records(SAMPLE_CORPUS).records), folder)
    found = answered = 0
    for entry in document["answerable"]:
        answer = ask(entry["question"], index=index)
        firsts = list(dict.fromkeys(passage.pmid for passage, _ in index.search(entry["question"])))[:3]
        found += bool(set(firsts) & set(entry["pmids"]))
        answered += answer.abstention is None
    declined = sum(ask(entry["question"], index=index).abstention is not None for entry in document["unanswerable"])
    n, m = len(document["answerable"]), len(document["unanswerable"])
    return [
        f"Sample corpus: {found} of {n} answerable questions have a right paper among the first three, {answered} of {n} are",
        f"answered; {declined} of {m} unanswerable questions are declined.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    options = parser.parse_args()
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = signals(load(options.questions), Path(folder) / "index")
    train, test = found[::2], found[1::2]
    grid = [(c, s, *rates(train, c, s)) for c in np.arange(0.3, 0.95, 0.05) for s in np.arange(0.1, 0.75, 0.05)]
    best = max(grid, key=lambda row: row[2] + row[3])
    lines = [
        "| thresholds (coverage, similarity) | rows | answerable answered | unanswerable declined |", "|---|---|---|---|",
    ]
    for name, (c, s) in {"best on train": best[:2], "in use": (MIN_TERM_COVERAGE, MIN_SIMILARITY)}.items():
        for half, rows in (("train", train), ("test", test)):
            answered, declined = rates(rows, c, s)
            lines.append(f"| {name} ({c:.2f}, {s:.2f}) | {half}, n={len(rows)} | {answered:.3f} | {declined:.3f} |")
    with tempfile.TemporaryDirectory() as folder:
        lines += ["", *sample_rates(Path(folder) / "index")]
    print("\n".join(lines))
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text("## Abstention\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
