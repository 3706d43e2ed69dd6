"""Commands for corpora: import files, list corpora and their merges, part a merge, delete."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from litrag.errors import InputError

Add = Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]
OK, FLAGGED = 0, 1
_SHOWN = 20


def add_commands(add: Add) -> None:
    ingest = add("ingest", _ingest, "import files or folders of records into a corpus, and say what was not loaded")
    ingest.add_argument("path", nargs="+", type=Path, help="PubMed XML, .nbib, RIS, EndNote XML, JATS, BioC, CSV, JSONL, …")
    ingest.add_argument("--corpus", required=True, help="name of the corpus; it is made when it doesn't exist")
    ingest.add_argument(
        "--column", action="append", default=[], metavar="FIELD=HEADER",
        help="column of a table, such as text=Summary; may be repeated",
    )
    ingest.add_argument("--report", type=Path, help="write the whole report as JSON to this file")
    corpora = add("corpora", _corpora, "list the corpora; with a name: its records' statuses and its merges")
    corpora.add_argument("corpus", nargs="?", help="name of a corpus")
    corpora.add_argument("--undo", metavar="RECORD", help="give a merged record back")
    corpora.add_argument(
        "--delete-record", action="append", default=[], metavar="RECORD", help="delete a record; may be repeated",
    )
    corpora.add_argument("--delete", action="store_true", help="delete the whole corpus")


def show_report(report: Any, *, as_json: bool) -> int:
    """Print an `ImportReport`; FLAGGED when a record or file was not loaded."""
    if as_json:
        print(report.model_dump_json(indent=2))
        return FLAGGED if report.lost else OK
    console = Console()
    console.print(f"[bold]{escape(report.corpus)}[/]: {report.records} records, {report.passages} passages")
    console.print(escape(report.in_words()))
    for file in report.files:
        console.print(f"  {escape(file.file)}: {file.format or 'not read'}, {file.records} records", style="dim")
    for merge in report.merges[:_SHOWN]:
        console.print(f"  [cyan]merged[/] {escape(merge.merged)} into {escape(merge.kept)}: {escape(merge.reason)}")
    for rejection in report.lost[:_SHOWN]:
        console.print(f"  [red]rejected[/] {escape(rejection.in_words())}")
    kept = [one for one in report.rejected if one.record_kept and one.field != "text"]
    for rejection in kept[:_SHOWN]:
        console.print(f"  [yellow]left out[/] {escape(rejection.in_words())}")
    more = max(0, len(report.merges) - _SHOWN) + max(0, len(report.lost) - _SHOWN) + max(0, len(kept) - _SHOWN)
    if more:
        console.print(f"  and {more} more; --report FILE writes them all", style="dim")
    return FLAGGED if report.lost else OK


def _ingest(options: argparse.Namespace) -> int:
    from litrag import library

    mapping = dict(_column(text) for text in options.column)
    report = library.add(options.corpus, options.path, mapping=mapping)
    if options.report:
        options.report.write_text(report.model_dump_json(indent=2), encoding="utf-8")
    return show_report(report, as_json=options.json)


def _column(text: str) -> tuple[str, str]:
    field, found, header = text.partition("=")
    if not (found and field.strip() and header.strip()):
        raise InputError(f"--column must be FIELD=HEADER, such as text=Summary, got {text!r}.")
    return field.strip(), header.strip()


def _corpora(options: argparse.Namespace) -> int:
    from litrag import library

    if options.corpus is None:
        found = [{"corpus": name, "records": len(library.records_of(name))} for name in library.names()]
        _print(found, [f"{one['corpus']}: {one['records']} records" for one in found], options.json)
        return OK
    if options.corpus not in library.names():
        raise InputError(f"There is no corpus {options.corpus!r}; known corpora: {', '.join(library.names()) or 'none'}.")
    if options.delete:
        library.delete_corpus(options.corpus)
        _print({"deleted": options.corpus}, [f"deleted {options.corpus}"], options.json)
        return OK
    if options.undo:
        merges = [one for one in library.ledger_of(options.corpus).merges if one.merged == options.undo]
        if not merges:
            raise InputError(f"No record {options.undo!r} is merged in {options.corpus!r}.")
        back = library.undo_merge(options.corpus, merges[-1])
        _print({"parted": back.record_id}, [f"{back.record_id} stands by itself again"], options.json)
        return OK
    if options.delete_record:
        gone = library.delete_records(options.corpus, options.delete_record)
        _print({"deleted": list(gone)}, [f"deleted {len(gone)} of {len(options.delete_record)} records"], options.json)
        return OK if len(gone) == len(set(options.delete_record)) else FLAGGED
    return _one_corpus(options)


def _one_corpus(options: argparse.Namespace) -> int:
    from litrag import library, status

    records, merges = library.records_of(options.corpus), library.ledger_of(options.corpus).merges
    flagged = [(record, notice) for record in records for notice in record.notices]
    lines = [f"{options.corpus}: {len(records)} records, {sum(not r.text for r in records)} without an abstract"]
    lines += [f"  {status.KINDS.get(notice.kind, notice.kind)}: {record.record_id} {record.title[:80]}"
              + (f" (PMID {notice.pmid})" if notice.pmid else "") for record, notice in flagged]
    lines += [f"  merged {merge.merged} into {merge.kept}: {merge.reason}" for merge in merges]
    found = {
        "corpus": options.corpus, "records": len(records),
        "notices": [{"record": record.record_id, **notice.model_dump()} for record, notice in flagged],
        "merges": [merge.model_dump(exclude={"record", "gave", "notices"}) for merge in merges],
    }
    _print(found, lines, options.json)
    return OK


def _print(found: Any, lines: list[str], as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        for line in lines:
            Console().print(escape(line))
