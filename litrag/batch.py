"""Thousands of claims from a table, checked in one resumable run.

In: a `ClaimTable`, the records of a corpus and a judge. Out: a `BatchReport` in the order of the table, as CSV, JSONL
or JUnit XML, with an exit code for CI. Every judgement is in the journal before it is used, so that a killed run goes
on where it stopped and gives what an unbroken run gives. It refuses nothing: a claim whose record is missing stays,
uncited, and says so.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from xml.etree import ElementTree

from litrag.cells import protect
from litrag.claim_tables import ClaimRow, ClaimTable, RowProblem
from litrag.errors import InputError
from litrag.grounding import ClaimInput, ground_claims
from litrag.index import Index
from litrag.journal import Journal, JournaledJudge
from litrag.models import AuditedClaim, CheckedCitation, Judge, Model, Record, Verdict
from litrag.reanchor import find_better_sources

Ground = Callable[[Sequence[ClaimInput], Mapping[str, Record], Judge], list[AuditedClaim]]
Progress = Callable[[str, int, int], None]

#: Exit codes: enough claims are supported, too few are, the table or the run has a fault.
PASSED, FAILED, UNUSABLE = 0, 1, 2

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BatchResult(Model):
    """A row of the table and what became of its claim."""

    row: ClaimRow
    claim: AuditedClaim


class BatchReport(Model):
    """Results in the order of the table; `fresh` judgements were made in this run, `reused` came from the journal."""

    results: tuple[BatchResult, ...] = ()
    problems: tuple[RowProblem, ...] = ()
    judge: str = ""
    fresh: int = 0
    reused: int = 0
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """Claims by state; states that don't occur are left out."""
        return dict(Counter(result.claim.state for result in self.results))

    @property
    def supported(self) -> float:
        """Share of claims that their cited source supports; unjudged and uncited ones count against it."""
        return self.counts.get(Verdict.SUPPORTS.value, 0) / len(self.results) if self.results else 0.0

    def exit_code(self, fail_under: float | None = None) -> int:
        """0 when the run is sound and at least `fail_under` is supported, 1 below it, 2 when rows couldn't be used."""
        check_share(fail_under)
        if self.problems or not self.results:
            return UNUSABLE
        return FAILED if fail_under is not None and self.supported < fail_under else PASSED

    def in_words(self) -> str:
        """One line for a reader: how many, what came out, what was reused."""
        states = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in sorted(self.counts.items()))
        rejected = f"; {len(self.problems)} rows could not be used" if self.problems else ""
        return (
            f"{len(self.results)} claims ({states or 'none'}); {self.supported:.1%} supported{rejected}; "
            f"{self.fresh} judgements made, {self.reused} taken from the journal, {self.seconds:.1f} s"
        )


def check_share(fail_under: float | None) -> None:
    """Refuse a share of supported claims that isn't one."""
    if fail_under is not None and not 0 <= fail_under <= 1:
        raise InputError(f"--fail-under is a share between 0 and 1, got {fail_under:g}; 90 % is 0.9")


class BatchOptions(NamedTuple):
    """How a batch runs. `ground` is exchanged to look further, e.g. for better sources; `chunk` claims go at a time."""

    chunk: int = 32
    at_once: int = 16
    progress: Progress | None = None
    ground: Ground = partial(ground_claims, second_look=True)


def looking_further(index: Index) -> Ground:
    """Grounding that also offers a better source of the index for claims whose cited one is silent."""
    def ground(items: Sequence[ClaimInput], records: Mapping[str, Record], judge: Judge) -> list[AuditedClaim]:
        return find_better_sources(ground_claims(items, records, judge, second_look=True), index, judge)

    return ground


def run_batch(
    table: ClaimTable,
    records: Mapping[str, Record],
    *,
    judge: Judge,
    journal: Path,
    options: BatchOptions | None = None,
) -> BatchReport:
    """Check every row; call it again with the same journal to go on after a kill or a stop.

    An exception raised by the progress callback ends the run; what was judged by then is kept.
    """
    options = options or BatchOptions()
    started = perf_counter()
    report = options.progress or _silent
    items, notes = _inputs(table.rows, records)
    claims: list[AuditedClaim] = []
    with Journal(journal) as kept:
        journaled = JournaledJudge(judge, kept, at_once=options.at_once)
        report("judging", 0, len(items))
        for start in range(0, len(items), options.chunk):
            claims += options.ground(items[start : start + options.chunk], records, journaled)
            report("judging", len(claims), len(items))
    results = [
        BatchResult(row=row, claim=claim.model_copy(update={"note": notes.get(claim.claim_id, claim.note)}))
        for row, claim in zip(table.rows, _numbered(claims), strict=True)
    ]
    return BatchReport(
        results=tuple(results), problems=table.problems, judge=judge.judge_id, fresh=journaled.fresh,
        reused=journaled.reused, seconds=perf_counter() - started,
    )


def _inputs(rows: Sequence[ClaimRow], records: Mapping[str, Record]) -> tuple[list[ClaimInput], dict[str, str]]:
    """Rows as claims to ground, and a note for each that cites what the corpus doesn't hold."""
    by_name: dict[str, str] = {}
    for record_id, record in records.items():
        by_name |= {name.lower(): record_id for name in (record.pmid, record.doi) if name}
    items: list[ClaimInput] = []
    notes: dict[str, str] = {}
    for row in rows:
        named = [*((f"PMID {pmid}", pmid) for pmid in row.pmids), *((f"doi:{doi}", doi.lower()) for doi in row.dois)]
        found = dict.fromkeys(by_name[name] for _, name in named if name in by_name)
        missing = [shown for shown, name in named if name not in by_name and not (name.startswith("10.") and found)]
        if missing:
            notes[row.claim_id] = (
                f"{', '.join(missing)} isn't in this corpus, so this citation can't be checked; "
                "fetch it from PubMed and load it with “litrag ingest”"
            )
        items.append(ClaimInput(
            claim_id=row.claim_id, text=row.claim, citations=tuple((record_id, row.quote) for record_id in found)
        ))
    return items, notes


def _numbered(claims: Sequence[AuditedClaim]) -> list[AuditedClaim]:
    """Claims whose [n] count over the whole batch, in order of first use."""
    numbers: dict[str, int] = {}
    numbered: list[AuditedClaim] = []
    for claim in claims:
        citations = tuple(
            citation.model_copy(update={"n": numbers.setdefault(citation.record_id, len(numbers) + 1)})
            for citation in claim.citations
        )
        numbered.append(claim.model_copy(update={"citations": citations}))
    return numbered


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


# --- results
def explain(claim: AuditedClaim) -> str:
    """Why a claim has its state, for a reader: quote, reasons, conflicts, a better source."""
    parts: list[str] = []
    for citation in claim.citations:
        judgement = citation.judgement
        said = judgement.rationale or f"unjudged: {judgement.unjudged_reason}"
        quoted = citation.location.in_words() if citation.quote_given else ""
        reasons = list(dict.fromkeys(filter(None, (quoted, said, *(f.message for f in judgement.findings)))))
        kept = [reason for reason in reasons if not any(reason != other and reason in other for other in reasons)]
        parts.append(f"PMID {citation.pmid or citation.record_id}: {'; '.join(kept)}")
    if claim.without_quote is not None and claim.without_quote.verdict is not None:
        parts.append(f"without its quote the claim is judged: {claim.without_quote.verdict.value.replace('_', ' ')}")
    parts += [f"another source disagrees: {conflict.rationale}" for conflict in claim.conflicts]
    if claim.reanchor is not None:
        parts.append(f"{claim.reanchor.reason} (PMID {claim.reanchor.pmid or claim.reanchor.record_id})")
    if not claim.citations and not claim.note:
        parts.append("cites no source")
    return " | ".join([*parts, *filter(None, [claim.note])])


def result_row(result: BatchResult) -> dict[str, Any]:
    """One result as plain data; nothing in it depends on when or how often the run was interrupted."""
    row, claim = result.row, result.claim
    judgement = claim.judgement
    return {
        "line": row.line, "claim_id": row.claim_id, "claim": row.claim, "quote": row.quote,
        "pmids": list(row.pmids), "dois": list(row.dois),
        "state": claim.state, "flagged": claim.flagged,
        "confidence": None if judgement is None or judgement.confidence is None else round(judgement.confidence, 4),
        "match": claim.location.match.value if claim.location else None,
        "explanation": explain(claim),
        "judge": judgement.judge if judgement else "", "model": judgement.model if judgement else "",
        "version": judgement.version if judgement else "",
        "citations": [_citation_row(citation) for citation in claim.citations],
        "reanchor": claim.reanchor.model_dump(mode="json", exclude={"n"}) if claim.reanchor else None,
        "note": claim.note,
    }


def _citation_row(citation: CheckedCitation) -> dict[str, Any]:
    judgement = citation.judgement
    return {
        "record_id": citation.record_id, "pmid": citation.pmid, "quote": citation.quote,
        "quote_given": citation.quote_given,
        "verdict": citation.verdict.value if citation.verdict else None,
        "confidence": None if judgement.confidence is None else round(judgement.confidence, 4),
        "rationale": judgement.rationale, "unjudged_reason": judgement.unjudged_reason,
        "match": citation.location.match.value, "spans": [list(span) for span in citation.location.spans],
        "findings": [finding.message for finding in judgement.findings],
    }


CSV_COLUMNS = (
    "line", "claim_id", "claim", "pmid", "doi", "quote", "state", "flagged", "confidence", "match", "explanation",
    "source_text", "judge", "model", "version",
)


def results_csv(report: BatchReport) -> str:
    """Results as CSV for a spreadsheet; cells that it would run or change are protected."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for result in report.results:
        row = result_row(result)
        row |= {
            "pmid": "; ".join(row["pmids"]), "doi": "; ".join(row["dois"]), "flagged": "yes" if row["flagged"] else "no",
            "source_text": " | ".join(citation["quote"] for citation in row["citations"] if not citation["quote_given"]),
        }
        writer.writerow([protect("" if row[name] is None else str(row[name])) for name in CSV_COLUMNS])
    return out.getvalue()


def results_jsonl(report: BatchReport) -> str:
    """Results as JSON lines, one per claim, exact."""
    return "".join(json.dumps(result_row(result), ensure_ascii=False) + "\n" for result in report.results)


def junit_xml(report: BatchReport) -> str:
    """A test case per claim; a flagged one fails with its explanation, a row that couldn't be used is an error."""
    failed = sum(result.claim.flagged for result in report.results)
    total = len(report.results) + len(report.problems)
    sums = {"tests": str(total), "failures": str(failed), "errors": str(len(report.problems)), "skipped": "0",
            "time": f"{report.seconds:.3f}"}
    root = ElementTree.Element("testsuites", {"name": "litrag verify", **sums})
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"claims judged by {_xml(report.judge)}", **sums})
    for result in report.results:
        name = f"line {result.row.line}: {result.row.claim[:160]}"
        case = _case(suite, _xml(name))
        if result.claim.flagged:
            state = result.claim.state.replace("_", " ")
            failure = ElementTree.SubElement(case, "failure", {"type": result.claim.state, "message": state})
            failure.text = _xml(f"{result.row.claim}\n\n{explain(result.claim)}")
    for problem in report.problems:
        error = ElementTree.SubElement(_case(suite, f"line {problem.line}"), "error", {"type": "unusable row"})
        error.set("message", _xml(problem.in_words()))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", {"classname": "litrag.verify", "name": name, "time": "0"})


def _xml(text: str) -> str:
    """Text with the characters that XML can't hold replaced."""
    return _NOT_XML.sub("\ufffd", text)


_WRITERS: dict[str, Callable[[BatchReport], str]] = {".csv": results_csv, ".jsonl": results_jsonl, ".xml": junit_xml}


def check_result_path(path: Path) -> None:
    """Refuse a file name whose ending says no form of results."""
    if path.suffix.lower() not in _WRITERS:
        raise InputError(f"can't write results as {path.name!r}; name a file that ends in .csv, .jsonl or .xml (JUnit)")


def write_results(report: BatchReport, path: Path, *, form: str | None = None) -> None:
    """Write results as `form` or else the ending says (.csv, .jsonl, .xml): whole or not at all."""
    if form is None:
        check_result_path(path)
    form = form or path.suffix.lower()
    encoding = "utf-8-sig" if form == ".csv" else "utf-8"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"can't write {str(path)!r}: {error.strerror or error}; the judgements are kept") from error
    try:
        with os.fdopen(descriptor, "w", encoding=encoding, newline="") as file:
            file.write(_WRITERS[form](report))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
