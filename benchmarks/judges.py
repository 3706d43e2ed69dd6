"""How good is each judge? `python -m benchmarks.judges --part dev` prints the table, `--write` puts it in the docs.

Every judge sees the same rows of the public claim sets through the same call (`judge_many`). Dev rows may guide
choices; test rows are for a single run at the end. Rows that trained the carried model are in neither part, and the
sets marked "unseen" trained nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.baselines import LexicalJudge, MajorityJudge, NetworkJudge, QuoteJudge
from benchmarks.claim_sets import TRAINABLE, UNSEEN, ClaimRow, load_claims
from benchmarks.peers import PEERS
from benchmarks.scores import FIGURES, UNJUDGED, Outcome, Score, with_interval
from litrag.local_model import EntailmentModel
from litrag.models import Judgement

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "judges.md"
#: Sets whose training part fits the baselines for sets that have none.
BASELINE_SOURCES = ("scifact", "checkcovid", "checkcovid_abstract", "evidence_inference")


class AnyJudge(Protocol):
    """The part of the judge protocol that the harness needs."""

    def judge_many(self, pairs: Sequence[tuple[str, str, str | None]]) -> list[Judgement]: ...


@dataclass(frozen=True)
class Row:
    """One line of the table: a judge on a set."""

    judge: str
    source: str
    part: str
    n: int
    unjudged: int
    figures: dict[str, Score]
    seconds: float


def open_by_name(name: str) -> Callable[[str], AnyJudge]:
    """A judge for each set: baselines are fitted to the set's training rows, the others are the same for all."""
    if name in ("majority", "lexical"):
        kind = MajorityJudge if name == "majority" else LexicalJudge
        return lambda source: kind(_training_rows(source))
    judge = _product_judge(name)
    return lambda source: judge


def _product_judge(name: str) -> AnyJudge:
    if name == "quote":
        return QuoteJudge()
    if name in PEERS:
        return PEERS[name]()
    if name.startswith("model"):
        # "model", or "model:3" for a window of three sentences, or "model@folder" for other weights.
        head, _, folder = name.partition("@")
        sentences = int(head.partition(":")[2] or 4)
        return NetworkJudge(EntailmentModel.open(folder or None), sentences)
    from litrag.judges import open_judge

    return open_judge(name)


def _training_rows(source: str) -> list[ClaimRow]:
    own = load_claims(source, "train") if source in TRAINABLE else []
    return own or [row for name in BASELINE_SOURCES for row in load_claims(name, "train")]


def measure(name: str, judge: AnyJudge, rows: list[ClaimRow], part: str) -> Row:
    """Judge all rows of one set and score the outcome."""
    began = time.perf_counter()
    judgements = judge.judge_many([(row.claim, row.evidence, None) for row in rows])
    seconds = (time.perf_counter() - began) / len(rows)
    outcomes = [
        Outcome(row.verdict, str(judgement.verdict) if judgement.verdict else UNJUDGED, judgement.confidence, row.group)
        for row, judgement in zip(rows, judgements, strict=True)
    ]
    figures = {figure: with_interval(compute, outcomes) for figure, compute in FIGURES.items()}
    unjudged = sum(outcome.verdict == UNJUDGED for outcome in outcomes)
    return Row(name, rows[0].source, part, len(rows), unjudged, figures, seconds)


def table(rows: Sequence[Row]) -> str:
    """Markdown, one line per judge and set, sets in their given order."""
    heads = ["set", "judge", "n", *FIGURES, "unjudged", "ms/claim"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        seen = row.source + (" (unseen)" if row.source in UNSEEN else "")
        cells = [seen, row.judge, str(row.n), *(str(row.figures[name]) for name in FIGURES)]
        lines.append("| " + " | ".join([*cells, str(row.unjudged), f"{row.seconds * 1000:.0f}"]) + " |")
    return "\n".join(lines)


def document(rows: Sequence[Row], part: str, command: str) -> str:
    """The section of the docs: what was measured, how to read it, the table."""
    return (
        f"# Judges on public claim sets ({part} rows)\n\n"
        f"Written by `{command}`. Brackets hold 95 % intervals from 1,000 resamples of whole groups (abstracts,\n"
        "articles, questions). *Balanced accuracy* sets `supports` against the rest. *False reassurance* is the share\n"
        "of claims that are not supported and were called supported; *false alarm* the share of supported claims that\n"
        "were called anything else. ECE and Brier measure the stated confidence. Sets marked *unseen* trained nothing\n"
        "in the carried model. `partial` given in a set that has no such label counts as wrong in accuracy and F1.\n\n"
        "`majority` and `lexical` are fitted to each set's training rows, `quote` matches words, `anchorcite` and\n"
        "`grounded-check` are other projects' offline checkers (no model downloaded), `checks` is our code only, `model`\n"
        "the carried network only, `local` both: what the product uses without a key.\n\n"
        f"{table(rows)}\n"
    )


def main() -> None:
    """Read the arguments, measure, print and, if asked, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judges", description=__doc__)
    parser.add_argument("--judges", default="majority,lexical,quote,checks,model,local")
    parser.add_argument("--sets", default=",".join((*TRAINABLE, *UNSEEN)))
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--limit", type=int, help="first rows of each set only, for slow judges")
    parser.add_argument("--write", action="store_true", help=f"write the table to {DOCUMENT.name} in docs/benchmarks")
    arguments = parser.parse_args()
    judges = {name: open_by_name(name) for name in arguments.judges.split(",")}
    rows: list[Row] = []
    for source in arguments.sets.split(","):
        claims = load_claims(source, arguments.part)[: arguments.limit]
        for name, judge_for in judges.items():
            rows.append(measure(name, judge_for(source), claims, arguments.part))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    if arguments.write:
        DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
        command = "python -m benchmarks.judges " + " ".join(sys.argv[1:])
        DOCUMENT.write_text(document(rows, arguments.part, command.strip()), encoding="utf-8")


if __name__ == "__main__":
    main()
