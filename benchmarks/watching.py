"""What watching costs an answer: the same questions with no sink, and with every sink dead or silent for 30 seconds.

    python -m benchmarks.watching [--answers 40] [--markdown docs/benchmarks/watching.md]

Answers with and without sinks take turns. Compared are the processor seconds of the thread that answers, and the time
that it spends in telling. Exits with 1 when the median answer grows by 2 % or more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fakes.collectors import Collector

from litrag import observability
from litrag.config import Settings
from litrag.extractive import ExtractiveGenerator
from litrag.index import open_index
from litrag.judges import open_judge
from litrag.observability import Event, Watch, open_watch
from litrag.pipeline import ask
from litrag.ui.samples import sample_questions

MOST = 0.02


class Timed:
    """A watch that notes how long each telling takes."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.seconds: list[float] = []

    def tell(self, event: Event) -> None:
        started = time.perf_counter()
        self.watch.tell(event)
        self.seconds.append(time.perf_counter() - started)


def settings(home: Path, langfuse: str, collector: str) -> Settings:
    return Settings(
        _env_file=None, home=home, metrics_port=0, langfuse=True, langfuse_url=langfuse, langfuse_public_key="pk",
        langfuse_secret_key="sk-lf-none", otlp_url=f"{collector}/v1/traces",
    )


def run(answers: int) -> tuple[dict[str, list[float]], dict[str, list[float]], dict[str, dict[str, int]]]:
    """Thread seconds per answer, seconds per telling, and lost events, by state of the sinks."""
    index, judge = open_index("sample"), open_judge("checks")
    generator = ExtractiveGenerator(index.embeddings)
    spent: dict[str, list[float]] = {}
    questions = sample_questions()
    with tempfile.TemporaryDirectory() as home, Collector(silent=30.0) as silent:
        dead = "http://127.0.0.1:9"
        watches = {
            "no sink": Timed(Watch({})),
            "every sink dead": Timed(open_watch(settings(Path(home) / "a", dead, dead))),
            "every sink silent for 30 s": Timed(open_watch(settings(Path(home) / "b", silent.url, silent.url))),
        }
        for question in questions:  # everything is loaded and compiled before anything is measured
            ask(question, index=index, generator=generator, judge=judge)
        for turn in range(answers):
            for name, timed in watches.items():
                observability.watch = lambda timed=timed: timed  # type: ignore[assignment, misc]
                started = time.thread_time()
                ask(questions[turn % len(questions)], index=index, generator=generator, judge=judge)
                spent.setdefault(name, []).append(time.thread_time() - started)
        told = {name: timed.seconds for name, timed in watches.items()}
        lost = {name: timed.watch.dropped() for name, timed in watches.items()}
        silent.release()
        for timed in watches.values():
            timed.watch.close(0.1)
    return spent, told, lost


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--answers", type=int, default=40)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    spent, told, lost = run(options.answers)
    base = median(spent["no sink"])
    grown = {name: median(b / a for a, b in zip(spent["no sink"], values, strict=True)) - 1 for name, values in spent.items()}
    head = ("sinks", "thread ms per answer, median", "change, median of pairs", "µs per telling, median", "longest, ms",
            "events lost")
    lines = [f"| {' | '.join(head)} |", "|---|---|---|---|---|---|"]
    for name, values in spent.items():
        gone = ", ".join(f"{sink} {number}" for sink, number in lost[name].items()) or "–"
        lines.append(f"| {name} | {1000 * median(values):.1f} | {grown[name]:+.2%} | {1e6 * median(told[name]):.1f} | "
                     f"{1000 * max(told[name]):.2f} | {gone} |")
    table = "\n".join(lines)
    print(table)
    telling = {name: median(told[name]) / base for name in told}
    print("telling as a share of an answer:", {name: f"{share:.4%}" for name, share in telling.items()})
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(
            f"## What watching costs an answer\n\n`python -m benchmarks.watching --answers {options.answers}`: the sample "
            "questions, extractive generator, code-only judge; with and without sinks in turns. Telling as a share of an "
            f"answer: {max(telling.values()):.4%} at most.\n\n{table}\n", encoding="utf-8")
    sys.stdout.flush()
    return 1 if max(grown.values()) >= MOST else 0


if __name__ == "__main__":
    raise SystemExit(main())
