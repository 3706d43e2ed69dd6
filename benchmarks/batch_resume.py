"""Kill a batch with SIGKILL half-way, resume it, and compare with an unbroken run.

    python -m benchmarks.batch_resume                  # 5,000 claims over the sample corpus, judge "checks"
    python -m benchmarks.batch_resume --kills 5        # several kills in one run
    python -m benchmarks.batch_resume --judge local
    python -m benchmarks.batch_resume --markdown docs/benchmarks/batch_resume.md

The claims are made from the sample corpus: its sentences with and without changed figures, with true, altered and no
quotes. Each judgement that the judge returns is logged by the child process itself, before the batch sees it; so a
judgement made twice, or lost, shows. Prints one Markdown table and exits 1 when a promise is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from litrag.batch import run_batch, write_results
from litrag.claim_tables import read_claims
from litrag.config import PROJECT, SAMPLE_CORPUS
from litrag.ingest import read_records
from litrag.judges import open_judge
from litrag.models import Judge, Judgement, Passage
from litrag.sentences import sentences

OPENING = """## A batch killed and resumed

`python -m benchmarks.batch_resume --markdown docs/benchmarks/batch_resume.md`: a batch of claims is killed with SIGKILL
half-way, started again, and compared with one that ran through. The judge itself logs every judgement that it makes.

"""

RESULTS = ("results.csv", "results.jsonl")


class LoggedJudge:
    """A judge that writes down every judgement it returns, in a file that survives a kill."""

    def __init__(self, judge: Judge, log: Path) -> None:
        self._judge = judge
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.version = str(getattr(judge, "version", ""))
        self.model_id = str(getattr(judge, "model_id", ""))

    @property
    def judge_id(self) -> str:
        return self._judge.judge_id

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[tuple[str, str | Passage, str | None]]) -> list[Judgement]:
        judgements = self._judge.judge_many(pairs)
        asked = [[claim, p.record_id if isinstance(p, Passage) else p, quote] for claim, p, quote in pairs]
        os.write(self._log, "".join(json.dumps(question) + "\n" for question in asked).encode())
        return judgements


def make_claims(path: Path, count: int) -> None:
    """A table of `count` claims that differ, from the sentences of the sample corpus."""
    chance = random.Random(7)
    found = [(record, text) for record in read_records(SAMPLE_CORPUS).records for text in sentences(record.text)]
    seen: set[str] = set()
    with path.open("w", encoding="utf-8") as file:
        while len(seen) < count:
            record, sentence = chance.choice(found)
            claim = re.sub(r"\d+", lambda m: m[0] if chance.random() < 0.7 else str(chance.randint(1, 99)), sentence)
            if chance.random() < 0.5:
                claim = f"In {record.name}, {claim[0].lower()}{claim[1:]}"
            if claim in seen:
                claim = f"{claim.rstrip('.')} (as reported, {len(seen)} of them)."
            seen.add(claim)
            quote = chance.choice([None, sentence, sentence, re.sub(r"\d", "7", sentence)])
            file.write(json.dumps({"claim": claim, "quote": quote, "pmid": record.pmid}) + "\n")


def run(folder: Path, judge: str) -> None:
    """The child: one batch over the folder's claims, with its journal."""
    records = {record.record_id: record for record in read_records(SAMPLE_CORPUS).records}
    table = read_claims(folder.parent / "claims.jsonl")
    logged = LoggedJudge(open_judge(judge), folder / "judged.log")
    report = run_batch(table, records, judge=logged, journal=folder / "journal.jsonl")
    for name in RESULTS:
        write_results(report, folder / name)


def start(folder: Path, judge: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "benchmarks.batch_resume", "--child", str(folder), "--judge", judge]
    return subprocess.Popen(command, cwd=PROJECT)


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_at(child: subprocess.Popen[bytes], log: Path, judged: int) -> int:
    """SIGKILL the child as soon as `judged` judgements were made; how many had been made by then."""
    while count_lines(log) < judged:
        if child.poll() is not None:
            raise SystemExit(f"the run ended before {judged} judgements were made; nothing was killed")
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    return count_lines(log)


def show_difference(whole: Path, broken: Path) -> None:
    """Print the first result that differs, for whoever has to find out why."""
    pairs = zip(whole.read_text(encoding="utf-8").splitlines(), broken.read_text(encoding="utf-8").splitlines(), strict=False)
    for one, two in pairs:
        if one != two:
            print(f"unbroken: {one}\nresumed:  {two}")
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--judge", default="checks")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        run(options.child, options.judge)
        return 0
    with tempfile.TemporaryDirectory() as name:
        lines, held = compare(Path(name), options.claims, options.kills, options.judge)
    print("\n".join(lines))
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(OPENING + "\n".join(lines) + "\n", encoding="utf-8")
    return 0 if held else 1


def compare(home: Path, claims: int, kills: int, judge: str) -> tuple[list[str], bool]:
    """The table, and whether every promise holds."""
    make_claims(home / "claims.jsonl", claims)
    whole, broken = home / "whole", home / "broken"
    begun = time.perf_counter()
    if start(whole, judge).wait() != 0:
        raise SystemExit("the unbroken run failed")
    unbroken = time.perf_counter() - begun
    judgements = count_lines(whole / "judged.log")
    begun, at = time.perf_counter(), []
    for kill in range(1, kills + 1):
        child = start(broken, judge)
        at.append(kill_at(child, broken / "judged.log", kill * judgements // (kills + 1)))
    if start(broken, judge).wait() != 0:
        raise SystemExit("the resumed run failed")
    resumed = time.perf_counter() - begun
    asked = {folder: Counter((folder / "judged.log").read_text().splitlines()) for folder in (whole, broken)}
    twice = sum(times - 1 for times in asked[broken].values())
    lost = len(asked[whole].keys() - asked[broken].keys())
    same = all((whole / name).read_bytes() == (broken / name).read_bytes() for name in RESULTS)
    rows = count_lines(broken / "results.jsonl")
    if not same:
        show_difference(whole / "results.jsonl", broken / "results.jsonl")
    table = [
        ("claims", claims), ("judge", judge), ("judgements, unbroken run", judgements),
        ("killed (SIGKILL) after judgements", ", ".join(map(str, at))), ("judgements made twice", twice),
        ("judgements lost", lost), ("results in order, of claims", f"{rows} of {claims}"),
        ("CSV and JSONL equal to the unbroken run's", "yes, byte for byte" if same else "NO"),
        ("seconds, unbroken", f"{unbroken:.1f}"), ("seconds, killed and resumed", f"{resumed:.1f}"),
    ]
    lines = ["| | |", "|---|---|", *(f"| {label} | {value} |" for label, value in table)]
    return lines, same and not twice and not lost and rows == claims


if __name__ == "__main__":
    raise SystemExit(main())
