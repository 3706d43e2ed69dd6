"""Where the time of a warm, key-free Ask goes: share of each station, and p50/p95 of the whole.

    python -m benchmarks.ask_latency [--runs 5] [--markdown docs/benchmarks/ask_latency.md]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from litrag.config import PROJECT, SAMPLE_CORPUS
from litrag.extractive import ExtractiveGenerator
from litrag.index import build_index
from litrag.ingest import read_records
from litrag.judges import open_judge
from litrag.pipeline import ask

STATIONS = ("retrieving", "writing", "locating", "judging")


def measure(runs: int) -> tuple[dict[str, list[float]], list[float]]:
    """Seconds per station and per whole call, over all sample questions `runs` times, after one warm-up round."""
    document = json.loads((PROJECT / "data" / "sample_questions.json").read_text("utf-8"))
    questions = [entry["question"] for kind in ("answerable", "conflicting") for entry in document[kind]]
    judge = open_judge("local")
    laps: dict[str, list[float]] = {}
    whole: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        index = build_index(list(read_records(SAMPLE_CORPUS).records), Path(folder) / "index")
        generator = ExtractiveGenerator(index.embeddings)
        for run in range(runs + 1):
            for question in questions:
                started = perf_counter()
                answer = ask(question, index=index, generator=generator, judge=judge)
                seconds = perf_counter() - started
                if run == 0:
                    continue
                whole.append(seconds)
                for stage, lap in answer.seconds.items():
                    laps.setdefault(stage, []).append(lap)
    return laps, whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    laps, whole = measure(options.runs)
    total = sum(whole)
    stations = sum(sum(laps.get(stage, [])) for stage in STATIONS)
    lines = ["| station | share of the time |", "|---|---|"]
    lines += [f"| {stage} | {sum(values) / total:.1%} |" for stage, values in laps.items()]
    lines += [f"| outside retrieving, writing, locating and judging | {1 - stations / total:.1%} |"]
    p50, p95 = np.percentile(whole, [50, 95])
    lines += ["", f"{len(whole)} answers; p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms."]
    print("\n".join(lines))
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text("## Warm Ask\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
