"""Command line: `python -m litrag ingest|ask|verify|demo|export|import|…`.

Exit codes: 0 all is well, 1 something is flagged (or an answer was declined), 2 the call can't be carried out.
The only place besides the pages where a LitRAGError becomes a message.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from litrag import (
    __version__,
    cli_batch,
    cli_calibrate,
    cli_corpus,
    cli_evaluate,
    cli_labels,
    cli_metrics,
    cli_pubmed,
    cli_show,
)
from litrag.config import PROJECT, settings
from litrag.errors import InputError, LitRAGError
from litrag.models import AuditedAnswer, AuditedClaim

OK, FLAGGED, USAGE = 0, 1, 2

_STYLE = {
    "supports": ("✔", "bold blue"), "partial": ("◐", "bold yellow"), "contradicts": ("✖", "bold red"),
    "not_found": ("∅", "bold white"), "hallucinated_quote": ("❞", "bold magenta"), "uncited": ("…", "dim"),
    "unjudged": ("⧗", "dim"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return USAGE
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except LitRAGError as error:
        if getattr(options, "json", False):
            print(json.dumps({"error": str(error)}, ensure_ascii=False))
        Console(stderr=True).print(f"[bold red]error[/] {escape(str(error))}")
        return USAGE
    except KeyboardInterrupt:
        Console(stderr=True).print("stopped")
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="litrag", description="Answers over medical abstracts in which every claim is located and judged."
    )
    parser.add_argument("--version", action="version", version=f"litrag {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--json", action="store_true", help="print JSON, for programs")
        command.set_defaults(run=run)
        return command

    cli_corpus.add_commands(add)
    cli_pubmed.add_commands(add)
    ask = add("ask", _ask, "answer a question from a corpus, every claim checked")
    ask.add_argument("question")
    _sources(ask)
    ask.add_argument("--generator", help="extractive, or <provider>:<model>")
    verify = add("verify", _verify, "check a text or prepared answers that cite abstracts; without FILE: standard input")
    verify.add_argument("path", nargs="?", help="text, .json of prepared answers, or - for standard input")
    _sources(verify)
    cli_batch.add_options(verify)
    cli_show.add_commands(add, _show_answer)
    cli_labels.add_commands(add)
    cli_calibrate.add_commands(add)
    cli_evaluate.add_commands(add)
    cli_metrics.add_commands(add)
    demo = add("demo", _demo, "three questions and four prepared answers over the sample corpus")
    demo.add_argument("--judge", help="local, checks, hf:<id> or <provider>:<model>")
    return parser


def _sources(command: argparse.ArgumentParser) -> None:
    command.add_argument("--corpus", help="corpus name, or a file or folder of records")
    command.add_argument("--judge", help="local, checks, hf:<id> or <provider>:<model>")


def _ask(options: argparse.Namespace) -> int:
    from litrag.generate import open_generator
    from litrag.index import open_index
    from litrag.judges import open_judge
    from litrag.pipeline import ask

    index = open_index(options.corpus or settings().corpus)
    generator = open_generator(options.generator or settings().generator, index.embeddings)
    answer = ask(options.question, index=index, generator=generator, judge=open_judge(options.judge))
    _show([answer], as_json=options.json)
    return FLAGGED if answer.abstained or answer.flagged else OK


def _verify(options: argparse.Namespace) -> int:
    if options.batch is not None:
        return cli_batch.verify_batch(options)
    from litrag.index import open_index
    from litrag.judges import open_judge
    from litrag.pipeline import verify
    from litrag.samples import prepared_answers

    index, judge = open_index(options.corpus or settings().corpus), open_judge(options.judge)
    path = options.path
    if path is not None and path.endswith(".json"):
        prepared = prepared_answers(Path(path), index.records)
        answers = [verify(p.claims, index=index, judge=judge, question=p.question) for p in prepared]
    else:
        answers = [verify(_text(path), index=index, judge=judge)]
    _show(answers, as_json=options.json)
    return FLAGGED if any(answer.flagged for answer in answers) else OK


def _text(path: str | None) -> str:
    if path in (None, "-"):
        return sys.stdin.read()
    try:
        return Path(path or "").read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {path!r} as UTF-8 text: {error}") from error


DEMO_QUESTIONS = (
    "How much weight do adults without diabetes lose on semaglutide 2.4 mg?",
    "Does semaglutide protect the kidneys?",
    "Does semaglutide slow Alzheimer's disease or dementia?",
)


def _demo(options: argparse.Namespace) -> int:
    """Three questions, the last of which has to be declined, then the prepared answers with their faults."""
    from litrag.index import open_index
    from litrag.judges import open_judge
    from litrag.pipeline import ask, verify
    from litrag.samples import prepared_answers

    index, judge = open_index("sample"), open_judge(options.judge)
    answers = [ask(question, index=index, judge=judge) for question in DEMO_QUESTIONS]
    prepared = prepared_answers(PROJECT / "data" / "sample_answers.json", index.records)
    answers += [verify(p.claims, index=index, judge=judge, question=p.question) for p in prepared]
    _show(answers, as_json=options.json)
    return OK


def _show(answers: Sequence[AuditedAnswer], *, as_json: bool) -> None:
    if as_json:
        dumped = [answer.model_dump(mode="json") for answer in answers]
        print(json.dumps(dumped[0] if len(dumped) == 1 else dumped, ensure_ascii=False, indent=2))
        return
    console = Console()
    for answer in answers:
        _show_answer(console, answer)


def _show_answer(console: Console, answer: AuditedAnswer) -> None:
    console.print(Panel(Text(answer.question or "Verified text"), title=answer.kind, title_align="left", expand=False))
    if answer.abstention is not None:
        console.print(Text("The evidence is insufficient. ", style="bold yellow").append(answer.abstention.reason, "none"))
        for hit in answer.abstention.nearest:
            console.print(Text(f"  nearest: {hit.passage.text[:140]}…", style="dim"))
        console.print(Text(f"  PubMed query: {answer.abstention.pubmed_query}\n", style="dim"))
        return
    for claim in answer.claims:
        _show_claim(console, claim)
    for source in (s for s in answer.sources if s.cited):
        record = source.record
        line = f"  [{source.n}] {record.name}. {record.title}. {record.journal} {record.year}. PMID {record.pmid}"
        console.print(Text(line, style="dim"))
    coverage = "–" if answer.coverage is None else f"{answer.coverage:.0%}"
    counts = ", ".join(f"{state.replace('_', ' ')} {n}" for state, n in sorted(answer.counts.items()))
    console.print(Text(f"  {counts}; citation coverage {coverage}; judge {answer.judge}\n", style="italic"))
    for note in answer.notes:
        console.print(Text(f"  note: {note}", style="yellow"))


def _show_claim(console: Console, claim: AuditedClaim) -> None:
    icon, style = _STYLE[claim.state]
    numbers = "".join(f"[{citation.n}]" for citation in claim.citations)
    console.print(Text(f"{icon} {claim.state.replace('_', ' '):<18} ", style=style).append(f"{claim.text} {numbers}", "none"))
    for citation in claim.citations:
        judgement = citation.judgement
        reason = judgement.rationale or f"unjudged: {judgement.unjudged_reason}"
        console.print(Text(f"    [{citation.n}] {citation.location.match.value}: {reason}", style="dim"))
    if claim.without_quote is not None and claim.without_quote.verdict is not None:
        said = claim.without_quote.verdict.value.replace("_", " ")
        console.print(Text(f"    without its quote the claim is judged: {said}", style="dim"))
    if claim.reanchor is not None:
        console.print(Text(f"    {claim.reanchor.reason} (PMID {claim.reanchor.pmid})", style="cyan"))
    if claim.note:
        console.print(Text(f"    {claim.note}", style="yellow"))
