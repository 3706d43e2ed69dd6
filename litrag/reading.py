"""A text that somebody else wrote becomes claims whose citations name records of the corpus.

In: a text with [n], PMIDs or DOIs and perhaps a reference list, and the records at hand. Out: one `ClaimInput` per
atomic claim, notes on claims whose cited record isn't in the corpus, and what could not be read. Nothing of the
text is dropped without a word: what cites nothing stays, as uncited.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from litrag.citations import CitedStatement, CitedText, parse_cited_text
from litrag.claims import split_claims
from litrag.grounding import ClaimInput
from litrag.models import Model, Record


class ReadAnswer(Model):
    """Claims to ground, a note for each claim that needs one, and the problems of the text as a whole."""

    items: tuple[ClaimInput, ...] = ()
    notes: dict[str, str] = Field(default_factory=dict)
    problems: tuple[str, ...] = ()


def read_answer(
    text: str, records: Mapping[str, Record], references: Mapping[int, str] | None = None
) -> ReadAnswer:
    """Split a cited text into atomic claims and resolve what each cites.

    `references` gives n → PMID or DOI when the text has no reference list of its own.
    """
    parsed = parse_cited_text(text, references)
    known = _by_identifier(records)
    items: list[ClaimInput] = []
    notes: dict[str, str] = {}
    for statement in parsed.statements:
        cited, missing = _resolve(statement, parsed, known)
        for part in split_claims(statement.text):
            claim_id = f"c{len(items) + 1}"
            items.append(ClaimInput(claim_id=claim_id, text=part.text, citations=tuple((rid, None) for rid in cited)))
            if missing:
                notes[claim_id] = _missing_note(missing)
    return ReadAnswer(items=tuple(items), notes=notes, problems=parsed.problems)


def _by_identifier(records: Mapping[str, Record]) -> dict[str, str]:
    known: dict[str, str] = {}
    for record_id, record in records.items():
        known[record_id.lower()] = record_id
        if record.pmid:
            known[record.pmid] = record_id
        if record.doi:
            known[record.doi.lower()] = record_id
    return known


def _resolve(
    statement: CitedStatement, parsed: CitedText, known: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Record ids that a statement cites, in order and once each, and the identifiers that the corpus lacks."""
    entries = {entry.n: entry for entry in parsed.references}
    wanted: list[tuple[str, ...]] = [(name,) for name in (*statement.pmids, *statement.dois)]
    missing: list[str] = []
    for n in statement.numbers:
        entry = entries.get(n)
        names = tuple(name for name in (entry.pmid, entry.doi) if name) if entry else ()
        if names:
            wanted.append(names)
        else:
            missing.append(f"[{n}]" + (f" “{entry.text[:80]}”" if entry and entry.text else ""))
    found: dict[str, None] = {}
    for names in wanted:
        record_id = next((known[name.lower()] for name in names if name.lower() in known), None)
        if record_id is None:
            missing.append(f"PMID {names[0]}" if names[0].isdigit() else f"doi:{names[0]}")
        else:
            found[record_id] = None
    missing += [f"[{n}]" for n in statement.invalid]
    return list(found), list(dict.fromkeys(missing))


def _missing_note(missing: list[str]) -> str:
    pmids = [name.removeprefix("PMID ") for name in missing if name.startswith("PMID ")]
    how = f"; fetch it from PubMed and load it with “litrag ingest” ({', '.join(pmids)})" if pmids else ""
    return f"{', '.join(missing)} isn't in this corpus, so this citation can't be checked{how}"
