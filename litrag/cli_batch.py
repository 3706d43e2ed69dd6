"""`litrag verify --batch FILE`: thousands of claims from a table, with progress, resumable, fit for CI.

Judgements are journaled under the table's content in the home folder, so that the same command goes on where a kill
or Ctrl-C ended it. Exit codes: 0 the share of supported claims is reached (or none was asked for), 1 it isn't, 2 rows
or options can't be used.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from litrag.config import settings
from litrag.errors import InputError
from litrag.llm.budget import spending

if TYPE_CHECKING:
    from litrag.batch import BatchReport
    from litrag.claim_tables import ClaimTable

#: Unusable rows that are named on the screen; the others are counted.
NAMED_PROBLEMS = 20


def add_options(verify: argparse.ArgumentParser) -> None:
    """The options of `verify` that belong to batches."""
    group = verify.add_argument_group("batches")
    group.add_argument("--batch", type=Path, metavar="FILE", help="CSV, TSV or JSONL table: claim, pmid or doi, perhaps quote")
    group.add_argument(
        "--out", type=Path, action="append", metavar="FILE",
        help="results, by ending .csv, .jsonl or .xml (JUnit); repeatable; default: FILE's name + .verified.csv and .jsonl",
    )
    group.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML for CI, whatever its ending")
    group.add_argument("--fail-under", type=float, metavar="SHARE", help="exit with 1 when fewer claims are supported: 0.9")
    group.add_argument("--journal", type=Path, metavar="FILE", help="where judgements are kept; default: in the home folder")


def verify_batch(options: argparse.Namespace) -> int:
    """Check the table, write the results and say what came out; everything that can be wrong is checked first."""
    from litrag.batch import check_share, write_results
    from litrag.claim_tables import read_claims

    if options.path is not None:
        raise InputError(f"give a text ({options.path!r}) or --batch {options.batch}, not both")
    check_share(options.fail_under)
    outputs = _outputs(options)
    content = _read(options.batch)
    table = read_claims(content, name=str(options.batch))
    journal = options.journal or settings().table_dir / f"{hashlib.sha256(content).hexdigest()[:16]}.journal"
    with spending(settings().budget_usd):
        report = _run(options, table, journal)
    for path, form in outputs.items():
        write_results(report, path, form=form)
    code = report.exit_code(options.fail_under)
    _say(options, report, table, list(outputs), code)
    return code


def _outputs(options: argparse.Namespace) -> dict[Path, str | None]:
    """Result files, and the form of those whose ending doesn't say it."""
    from litrag.batch import check_result_path

    paths = options.out or [options.batch.with_suffix(f".verified{ending}") for ending in (".csv", ".jsonl")]
    for path in paths:
        check_result_path(path)
    if any(path.resolve() == options.batch.resolve() for path in (*paths, options.junit or Path())):
        raise InputError(f"the results would replace the table {options.batch}: name another file")
    return dict.fromkeys(paths) | ({options.junit: ".xml"} if options.junit else {})


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"can't read {str(path)!r}: {error.strerror or error}; give a CSV, TSV or JSONL file") from error


def _run(options: argparse.Namespace, table: ClaimTable, journal: Path) -> BatchReport:
    from litrag.batch import BatchOptions, looking_further, run_batch
    from litrag.index import open_index
    from litrag.judges import open_judge

    index, judge = open_index(options.corpus or settings().corpus), open_judge(options.judge)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=options.json or not console.is_terminal) as bar:
        task = bar.add_task("judging", total=len(table.rows))

        def tell(_stage: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        try:
            return run_batch(
                table, index.records, judge=judge, journal=journal,
                options=BatchOptions(progress=tell, ground=looking_further(index)),
            )
        except KeyboardInterrupt:
            console.print("what was judged is kept: the same command goes on from here")
            raise


def _say(
    options: argparse.Namespace, report: BatchReport, table: ClaimTable, written: list[Path], code: int,
) -> None:
    if options.json:
        print(json.dumps({
            "claims": len(report.results), "counts": report.counts, "supported": round(report.supported, 4),
            "fail_under": options.fail_under, "exit_code": code, "judge": report.judge, "fresh": report.fresh,
            "reused": report.reused, "seconds": round(report.seconds, 3), "notes": list(table.notes),
            "problems": [problem.model_dump() for problem in report.problems],
            "written": [str(path) for path in written],
        }, ensure_ascii=False, indent=2))
        return
    console = Console()
    console.print(Text(report.in_words()))
    for note in table.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    for problem in report.problems[:NAMED_PROBLEMS]:
        console.print(Text(problem.in_words(), style="red"))
    if len(report.problems) > NAMED_PROBLEMS:
        console.print(Text(f"and {len(report.problems) - NAMED_PROBLEMS} more rows that can't be used", style="red"))
    for path in written:
        console.print(Text(f"written: {path}", style="dim"))
    if options.fail_under is not None:
        word = "reached" if report.supported >= options.fail_under else "not reached"
        console.print(Text(f"{options.fail_under:.0%} supported: {word}", style="bold"))
