"""Commands for PubMed live: import what a query finds, refresh a corpus."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.markup import escape

from litrag.cli_corpus import FLAGGED, OK, Add, show_report
from litrag.errors import InputError


def add_commands(add: Add) -> None:
    command = add("pubmed", _pubmed, "search PubMed and import what it finds; or refresh a corpus")
    command.add_argument("query", nargs="?", help="query in PubMed's own syntax")
    command.add_argument(
        "--max", type=int, dest="most", help="records at most, 1–9999 (default 500); from PubCrawl 1–100 (default 100)",
    )
    command.add_argument("--corpus", default="pubmed", help="corpus to import into (default: pubmed)")
    command.add_argument(
        "--refresh", action="store_true", help="fetch the corpus's records anew: new versions, errata, retractions",
    )
    command.add_argument(
        "--from-pubcrawl", action="store_true", help="search by PubCrawl's MCP server (LITRAG_PUBCRAWL) instead of NCBI's",
    )


def _pubmed(options: argparse.Namespace) -> int:
    from litrag import pubcrawl, pubmed

    console = Console(stderr=True)
    if options.refresh:
        if options.from_pubcrawl:
            raise InputError("PubCrawl tells no revisions or retractions; leave out --from-pubcrawl to refresh from PubMed.")
        found = pubmed.refresh(options.corpus, progress=lambda share, text: console.print(escape(text), style="dim"))
        if options.json:
            print(found.model_dump_json(indent=2))
            return FLAGGED if found.new_notices or found.missing else OK
        show_report(found.report, as_json=False)
        for pmid, kinds in found.new_notices.items():
            console.print(f"[red]PMID {pmid}[/]: {escape(', '.join(kinds))}")
        if found.missing:
            console.print(f"PubMed no longer gives: {', '.join(found.missing)}")
        return FLAGGED if found.new_notices or found.missing else OK
    if not options.query:
        raise InputError("Give a query, or --refresh with --corpus.")
    source, most = (pubcrawl, pubcrawl.MOST) if options.from_pubcrawl else (pubmed, 500)
    job, report = source.import_query(
        options.query, options.corpus, most if options.most is None else options.most,
        progress=lambda share, text: console.print(escape(text), style="dim"),
    )
    if not options.json and job.count > len(job.pmids):
        console.print(f"PubMed finds {job.count} records; the {len(job.pmids)} most relevant were fetched.")
    return show_report(report, as_json=options.json)
