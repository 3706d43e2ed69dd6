"""`litrag evaluate QUESTIONS`: a run of questions with scores and reports, resumable, comparable with an earlier run.

Exit codes: 0 every question was answered or declined, 1 some failed (the same command tries them again), 2 the call
can't be carried out.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from litrag.config import settings

if TYPE_CHECKING:
    from litrag.generate import Generator
    from litrag.index import Index
    from litrag.models import Judge

Add = Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]


def add_commands(add: Add) -> None:
    """The command `evaluate`."""
    command = add("evaluate", _evaluate, "answer a file of questions, score the answers and compare with an earlier run")
    command.add_argument("questions", type=Path, help='JSONL: {"question": …, "id": …, "answerable": true or false} a line')
    command.add_argument("--out", type=Path, metavar="FOLDER", help="answers, metrics.json and reports; default: FILE.evaluation")
    command.add_argument("--against", type=Path, metavar="FOLDER", help="an earlier run to compare with")
    command.add_argument("--corpus", help="corpus name, or a file or folder of records")
    command.add_argument("--judge", help="local, checks, hf:<id> or <provider>:<model>")
    command.add_argument("--generator", help="extractive, or <provider>:<model>")


def _evaluate(options: argparse.Namespace) -> int:
    from litrag.evaluate import compare, load, read_questions, run
    from litrag.evaluate_report import markdown, page
    from litrag.generate import open_generator
    from litrag.index import open_index
    from litrag.judges import open_judge
    from litrag.pipeline import ask

    questions = read_questions(options.questions)
    folder = options.out or options.questions.with_suffix(".evaluation")
    before = load(options.against) if options.against else None
    index = open_index(options.corpus or settings().corpus)
    generator = open_generator(options.generator or settings().generator, index.embeddings)
    judge = open_judge(options.judge)
    with Progress(console=Console(stderr=True), transient=True, disable=options.json) as bar:
        task = bar.add_task("questions", total=len(questions))
        evaluation = run(
            questions, lambda question: ask(question, index=index, generator=generator, judge=judge),
            _setup(index, generator, judge), folder, progress=lambda done, _: bar.update(task, completed=done),
        )
    comparison = compare(before, evaluation) if before else None
    (folder / "report.md").write_text(markdown(evaluation, comparison), encoding="utf-8")
    (folder / "report.html").write_text(page(evaluation, comparison), encoding="utf-8")
    if options.json:
        print(evaluation.to_json(), end="")
    else:
        _say(markdown(evaluation, comparison), folder)
    return 1 if evaluation.failed else 0


def _setup(index: Index, generator: Generator, judge: Judge) -> dict[str, str]:
    """What the answers depend on besides the questions."""
    shaping = settings().model_dump_json(include={
        "passages", "max_claims", "embedding_model", "temperature", "escalate_below", "generator_max_tokens", "judge_max_tokens",
    })
    return {
        "corpus": index.name, "corpus_hash": index.corpus_hash, "generator": generator.generator_id, "judge": judge.judge_id,
        "model": str(getattr(judge, "model_id", "")), "judge_version": str(getattr(judge, "version", "")),
        "settings": hashlib.sha256(shaping.encode()).hexdigest()[:12],
    }


def _say(text: str, folder: Path) -> None:
    console = Console()
    before, _, _ = text.partition("## Questions\n")
    console.print(Text(before.strip()))
    console.print(Text(f"\nwritten to {folder}", style="dim"))
