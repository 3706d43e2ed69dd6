"""`litrag show`: a stored or exported answer once more, as it was judged, with what changed in its sources since."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from litrag.changes import HEADLINE, SourceChange, exported
from litrag.config import settings
from litrag.errors import InputError
from litrag.models import AuditedAnswer

if TYPE_CHECKING:
    from litrag.cli_corpus import Add

#: Shows an answer on the screen.
Show = Callable[[Console, AuditedAnswer], None]
OK, FLAGGED = 0, 1


def add_commands(add: Add, show: Show) -> None:
    command = add("show", lambda options: _show(options, show), "show a stored or exported answer again, and what changed since")
    command.add_argument("answer", help="id of a stored run, or a JSON file that a page or --json wrote")
    command.add_argument("--html", type=Path, metavar="FILE", help="write the evidence report to this file")


def _show(options: argparse.Namespace, show: Show) -> int:
    """FLAGGED when a source changed since, so that a script can look after exported answers."""
    from litrag.kept import KeptRecords
    from litrag.render import named_sources
    from litrag.report import report

    answer = _answer(options.answer)
    found = KeptRecords(settings().index_dir).changes(answer)
    named = {source.record.record_id for source in named_sources(answer)}
    changes = {record_id: change for record_id, change in found.items() if record_id in named}
    if options.html:
        options.html.write_text(report(answer, changes), encoding="utf-8")
    if options.json:
        print(exported(answer, changes).to_json())
    else:
        console = Console()
        _say(console, answer, changes)
        show(console, answer)
    return FLAGGED if changes else OK


def _say(console: Console, answer: AuditedAnswer, changes: Mapping[str, SourceChange]) -> None:
    if changes:
        console.print(Text(f"{HEADLINE} Nothing was judged again.", style="bold red"))
    for source in answer.sources:
        if change := changes.get(source.record.record_id):
            console.print(Text(f"  [{source.n}] {source.record.name}: {change.in_words()}", style="red"))


def _answer(name: str) -> AuditedAnswer:
    from litrag.reviews import open_store

    path = Path(name)
    if not path.is_file():
        store = open_store(settings().database_url)
        answer = store.run(name)
        store.close()
        if answer is None:
            raise InputError(f"there is neither a stored run nor a file {name!r}; the history of the pages lists the runs")
        return answer
    try:
        return AuditedAnswer.from_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(f"{name!r} holds no answer of LitRAG: {str(error)[:200]}") from error
