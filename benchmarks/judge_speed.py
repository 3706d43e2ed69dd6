"""How fast and how large the local judge is, beside torch in single precision with the same weights.

    python -m benchmarks.judge_speed [--write]

Rows: one claim after another on one thread (whole judge: window, checks, network); a batch on two threads; the network
alone beside a cross-encoder on torch, which pads a batch to its longest pair, as `sentence_transformers.CrossEncoder`
does. Memory is by how much a fresh process grows that loads the judge and judges every row. Claims are dev rows of public
sets with whole abstracts. Figures are medians of several rounds; peers take turns inside each round.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from benchmarks.claim_sets import ClaimRow, load_claims
from litrag.evidence import select_window, window_text
from litrag.judges import LocalJudge
from litrag.local_model import DEFAULT_PATH, EntailmentModel

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "judge_speed.md"
ABSTRACT_WORDS = (200, 300)


def rows_about_250_words() -> list[ClaimRow]:
    """Claims with abstracts of 200 to 300 words."""
    rows = [row for name in ("scifact", "checkcovid_abstract", "evidence_inference") for row in load_claims(name, "dev")]
    return [row for row in rows if ABSTRACT_WORDS[0] <= len(row.evidence.split()) <= ABSTRACT_WORDS[1]]


def one_by_one(judge: LocalJudge, rows: list[ClaimRow]) -> float:
    """Median seconds of a single claim."""
    times = []
    for row in rows:
        began = perf_counter()
        judge.judge(row.claim, row.evidence)
        times.append(perf_counter() - began)
    return statistics.median(times)


def torch_predict(threads: int) -> Callable[[list[tuple[str, str]]], None]:
    """The same weights on torch, single precision, batches of 32 sorted by length."""
    import torch

    from training.loop import Encoded, predict_logits
    from training.network import open_tokenizer
    from training.restore import restore

    torch.set_num_threads(threads)
    network, tokenizer = restore().eval(), open_tokenizer(256)

    def predict(pairs: list[tuple[str, str]]) -> None:
        encodings = tokenizer.encode_batch(pairs)
        predict_logits(network, [Encoded(e.ids, e.type_ids, (True,)) for e in encodings])

    return predict


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    began = perf_counter()
    work()
    return perf_counter() - began


def measure(rounds: int) -> list[tuple[str, str]]:
    """What was measured and its figure, in words."""
    rows = rows_about_250_words()
    triples = [(row.claim, row.evidence, None) for row in rows]
    windows = [(row.claim, window_text(row.evidence, select_window(row.claim, row.evidence))) for row in rows]
    single, double = EntailmentModel.open(threads=1), EntailmentModel.open(threads=2)
    alone, together = LocalJudge(single), LocalJudge(double)
    on_torch = torch_predict(1)
    one_by_one(alone, rows[:10]), on_torch(windows[:32])
    per_claim, batch, ours, peer, ours_single, peer_single = [], [], [], [], [], []
    for _ in range(rounds):
        per_claim.append(one_by_one(alone, rows))
        batch.append(timed(lambda: together.judge_many(triples)))
        ours.append(timed(lambda: single.predict(windows)))
        peer.append(timed(lambda: on_torch(windows)))
        ours_single.append(timed(lambda: [single.predict([pair]) for pair in windows]))
        peer_single.append(timed(lambda: [on_torch([pair]) for pair in windows]))
    n = len(rows)
    return [
        ("claims with abstracts of 200–300 words", str(n)),
        ("whole judge, one claim at a time, one thread, warm", f"{statistics.median(per_claim) * 1000:.1f} ms per claim"),
        ("whole judge, a batch, two threads", f"{n / statistics.median(batch):.0f} claims per second"),
        ("network alone, a batch, one thread: time ÷ torch's", f"{_ratio(ours, peer):.2f}"),
        ("network alone, one pair at a time, one thread: time ÷ torch's", f"{_ratio(ours_single, peer_single):.2f}"),
        ("memory that a process grows by with the judge", f"{memory_of_judge():.0f} MB"),
        ("files that the package carries", f"{sum(p.stat().st_size for p in DEFAULT_PATH.iterdir()) / 1e6:.1f} MB"),
    ]


def _ratio(ours: list[float], peer: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, peer, strict=True))


def memory_of_judge() -> float:
    """Megabytes that a fresh process holds more once the judge is loaded and has judged every row."""
    command = [sys.executable, "-m", "benchmarks.judge_speed", "--child"]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def child() -> None:
    """Print by how many megabytes this process grew over loading the judge and judging every row."""
    import onnxruntime  # noqa: F401  # the library is there for the embeddings already

    triples = [(row.claim, row.evidence, None) for row in rows_about_250_words()]
    before = _resident()
    judge = LocalJudge(EntailmentModel.open())
    judge.judge_many(triples)
    print(_resident() - before)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_speed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help=f"write the table to docs/benchmarks/{DOCUMENT.name}")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return
    lines = ["| measured | figure |", "|---|---|", *(f"| {what} | {figure} |" for what, figure in measure(options.rounds))]
    print("\n".join(lines))
    if options.write:
        DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
        opening = (
            "# Speed and size of the local judge\n\nWritten by `python -m benchmarks.judge_speed --write`; medians of\n"
            f"{options.rounds} rounds. *torch* is the same network with the same weights in single precision, batches of\n"
            "32 padded to the longest pair.\n\n"
        )
        DOCUMENT.write_text(opening + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
