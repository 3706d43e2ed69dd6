"""The retrieval sets of the benchmark folder: records, questions and which record answers which question."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from litrag.models import Record
from litrag.readers import read_records

PROJECT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class RetrievalSet:
    """A set by the name of its folder; weights may be chosen on `train` questions, figures come from `test`."""

    title: str
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    goal: float

    @property
    def path(self) -> Path:
        return bench_folder() / f"retrieval_{self.folder}"


@dataclass(frozen=True)
class Question:
    text: str
    relevant: dict[str, int]


SETS = (
    RetrievalSet("SciFact (dev)", "scifact", ("train",), ("dev",), 0.735),
    RetrievalSet("NFCorpus (test titles and descriptions)", "nfcorpus_preprocessed", ("dev-titles", "dev-vid-desc"),
                 ("test-titles", "test-vid-desc"), 0.365),
    RetrievalSet("Check-COVID", "checkcovid", (), ("composed", "extracted"), 0.69),
)


def bench_folder() -> Path:
    """Folder of the data sets; they are no part of the project."""
    root = Path(os.environ.get("LITRAG_BENCH_DIR", PROJECT.parent / "shared"))
    folder = root / "bench"
    if not folder.is_dir():
        raise SystemExit(f"There are no benchmark data in {folder}; set LITRAG_BENCH_DIR to the folder that holds bench/.")
    return folder


def records(of: RetrievalSet) -> tuple[Record, ...]:
    report = read_records(of.path / "corpus.jsonl")
    if any(not rejection.record_kept for rejection in report.rejected):
        raise SystemExit(f"{of.path} can't be read whole: {report.rejected[0].in_words()}")
    return report.records


def questions(of: RetrievalSet, splits: tuple[str, ...]) -> list[Question]:
    """The open questions of those splits that have a relevant record."""
    relevant: dict[str, dict[str, int]] = defaultdict(dict)
    for row in _rows(of.path / "qrels.jsonl"):
        relevant[str(row["qid"])][str(row["did"])] = int(str(row["rel"]))
    asked = [row for row in _rows(of.path / "queries.jsonl") if row["split"] in splits and row["half"] == "open"]
    return [Question(str(row["text"]), relevant[str(row["id"])]) for row in asked if relevant[str(row["id"])]]


def _rows(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
