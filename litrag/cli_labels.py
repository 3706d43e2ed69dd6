"""`litrag export` and `litrag import`: labels leave the store and come back, by the same functions as on the page."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from litrag.config import settings
from litrag.errors import InputError

if TYPE_CHECKING:
    from litrag.label_import import Outcome
    from litrag.reviews import Store

Add = Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]

#: What can be written: the values of `exchange.Format`, which takes long to import.
FORMATS = ("csv", "events", "label-studio", "argilla")

#: Changes and problems that are named on the screen; the others are counted.
NAMED = 50


def add_commands(add: Add) -> None:
    """The two commands with their options."""
    leave = add("export", _export, "write labels and events of the review store to a file or to standard output")
    leave.add_argument("out", nargs="?", type=Path, help="file to write; without it: standard output")
    leave.add_argument("--format", choices=FORMATS, default="csv", help="what to write; default: csv")
    leave.add_argument("--bom", action="store_true", help="begin a CSV with a byte-order mark, for older spreadsheets")
    come = add("import", _import, "bring an edited export, or a foreign table of labels, into the review store")
    come.add_argument("path", type=Path, help="CSV or XLSX file")
    come.add_argument("--preview", action="store_true", help="only say what would change")
    foreign = come.add_argument_group("a table from elsewhere")
    foreign.add_argument(
        "--map", action="append", default=[], metavar="FIELD=COLUMN",
        help="which column holds what, such as claim_text=Statement; a wrong FIELD lists all",
    )
    foreign.add_argument("--value", action="append", default=[], metavar="THEIRS=OURS", help="their label and our verdict")
    foreign.add_argument("--reviewer", default="imported", help="pseudonym for rows that name no reviewer")
    foreign.add_argument("--blind", action="store_true", help="the reviewers saw no verdict: the labels may calibrate a judge")


def _export(options: argparse.Namespace) -> int:
    from litrag.exchange import Format, changes_in_words, export_lines
    from litrag.reviews import open_store

    if options.bom and options.format != Format.CSV:
        raise InputError(f"--bom is for csv, not for {options.format}")
    store = open_store(settings().database_url)
    if changed := changes_in_words(store):
        Console(stderr=True).print(Text(changed, style="yellow"))
    if options.out is None:
        for line in export_lines(store, Format(options.format), bom=options.bom):
            sys.stdout.buffer.write(line.encode())
        sys.stdout.buffer.flush()
        return 0
    _write(store, options)
    if options.json:
        print(json.dumps({"written": str(options.out), "format": options.format}))
    else:
        Console().print(Text(f"written: {options.out}"))
    return 0


def _write(store: Store, options: argparse.Namespace) -> None:
    """Write the file whole or not at all."""
    from litrag.exchange import Format, export

    out: Path = options.out
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    except OSError as error:
        raise InputError(f"can't write {str(out)!r}: {error.strerror or error}") from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            export(store, Format(options.format), file, bom=options.bom)
        os.replace(temporary, out)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _import(options: argparse.Namespace) -> int:
    from litrag.foreign_labels import Mapped, import_foreign, parse_mapping, parse_values
    from litrag.label_import import import_labels, read_table
    from litrag.reviews import open_store

    try:
        content = options.path.read_bytes()
    except OSError as error:
        raise InputError(f"can't read {str(options.path)!r}: {error.strerror or error}; give a CSV or XLSX file") from error
    rows = read_table(content, options.path.name)
    store = open_store(settings().database_url)
    if options.map:
        mapped = Mapped(
            columns=parse_mapping(options.map), values=dict(parse_values(options.value)),
            reviewer_id=options.reviewer, blind=options.blind,
        )
        outcome = import_foreign(store, rows, mapped, dry_run=options.preview)
    elif options.value or options.blind:
        raise InputError("--value and --blind are for a table from elsewhere: say with --map what its columns hold")
    else:
        outcome = import_labels(store, rows, dry_run=options.preview)
    _say(options, outcome)
    return 1 if outcome.problems else 0


def _say(options: argparse.Namespace, outcome: Outcome) -> None:
    if options.json:
        print(outcome.model_dump_json(indent=2))
        return
    console = Console()
    for change in outcome.changes[:NAMED]:
        line = f"line {change.line}: {change.item_id}, {change.reviewer_id}: {change.before} → {change.after}"
        console.print(Text(line))
    for problem in outcome.problems[:NAMED]:
        console.print(Text(problem.in_words(), style="red"))
    for note in outcome.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    done = "imported" if outcome.saved else "nothing was imported" if outcome.problems else "a preview: nothing is written"
    sums = f"{len(outcome.changes)} changed, {outcome.unchanged} unchanged, {len(outcome.problems)} with a problem"
    console.print(Text(f"{sums}; {done}", style="bold"))
