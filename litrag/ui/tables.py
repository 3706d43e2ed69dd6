"""A table of claims as a run of the page: an uploaded file goes in, an `AuditedAnswer` and result files come out.

Judgements are journaled by the table's content, so that the same table given again after a stop or a crash goes on
where it was. No streamlit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from litrag.batch import BatchOptions, BatchReport, looking_further, run_batch, write_results
from litrag.claim_tables import ClaimTable, read_claims
from litrag.grounding import Progress
from litrag.index import Index
from litrag.models import AuditedAnswer, AuditedClaim, Judge, Record, Source

#: Rows that couldn't be used and are named in the answer; the others are counted.
NAMED_PROBLEMS = 10


def verify_table(
    run_id: str, content: bytes, name: str, *, index: Index, judge: Judge, folder: Path, progress: Progress
) -> AuditedAnswer:
    """Check a CSV, TSV or JSONL table; results are written beside the journal as CSV and JSONL."""
    table = read_claims(content, name=name)
    folder.mkdir(parents=True, exist_ok=True)
    report = run_batch(
        table, index.records, judge=judge, journal=folder / f"{hashlib.sha256(content).hexdigest()[:16]}.journal",
        options=BatchOptions(progress=progress, ground=looking_further(index)),
    )
    for path in result_files(folder, run_id):
        write_results(report, path)
    return _answer(run_id, name, table, report, index)


def result_files(folder: Path, run_id: str) -> tuple[Path, Path]:
    """Where the results of a table's run are kept."""
    return folder / f"{run_id}.csv", folder / f"{run_id}.jsonl"


def _answer(run_id: str, name: str, table: ClaimTable, report: BatchReport, index: Index) -> AuditedAnswer:
    claims = tuple(result.claim for result in report.results)
    problems = [problem.in_words() for problem in table.problems]
    rest = len(problems) - NAMED_PROBLEMS
    more = (f"and {rest} more rows that can't be used",) if rest > 0 else ()
    return AuditedAnswer(
        run_id=run_id, kind="verify", question=name, claims=claims, sources=_sources(claims, index.records),
        judge=report.judge, corpus=index.name, corpus_hash=index.corpus_hash, seconds={"judging": report.seconds},
        notes=(*table.notes, *problems[:NAMED_PROBLEMS], *more),
    )


def _sources(claims: Sequence[AuditedClaim], records: Mapping[str, Record]) -> tuple[Source, ...]:
    """Cited records by their [n], then those that were found to bear a claim that cites another."""
    numbers = {citation.record_id: citation.n for claim in claims for citation in claim.citations}
    cited = set(numbers)
    for claim in claims:
        if claim.reanchor:
            numbers.setdefault(claim.reanchor.record_id, len(numbers) + 1)
    ordered = sorted(numbers.items(), key=lambda item: item[1])
    return tuple(Source(n=n, record=records[record_id], cited=record_id in cited) for record_id, n in ordered)
