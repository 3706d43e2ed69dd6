"""The prepared answers that come with LitRAG: claims of "another assistant", faults planted and named.

In: a JSON file of answers, each with claims that cite PMIDs and give quotes. Out: claims ready to be grounded. The
same form serves anyone who has an assistant's answer as structured claims.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from litrag.errors import InputError
from litrag.grounding import ClaimInput
from litrag.models import Model, Record


class PreparedCitation(Model):
    pmid: str
    quote: str | None = None


class PreparedClaim(Model):
    """A claim as another assistant gave it, and what is known to be wrong with it."""

    text: str
    citations: tuple[PreparedCitation, ...] = ()
    expected_verdict: str | None = None
    expected_match: str | None = None
    fault: str | None = None
    explanation: str = ""


class PreparedAnswer(Model):
    """An answer of another assistant; `claims` are grounded, `prepared` says what is to be found."""

    id: str
    title: str = ""
    question: str = ""
    text: str = ""
    prepared: tuple[PreparedClaim, ...] = ()
    claims: tuple[ClaimInput, ...] = ()


def prepared_answers(path: Path, records: Mapping[str, Record]) -> list[PreparedAnswer]:
    """Read prepared answers; InputError names the answer and the claim that can't be used."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        entries: list[dict[str, Any]] = document["answers"]
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(f"{path} isn't a file of prepared answers ({{'answers': [...]}}): {error}") from error
    by_pmid = {record.pmid: record_id for record_id, record in records.items() if record.pmid}
    return [_answer(entry, by_pmid, path) for entry in entries]


def _answer(entry: dict[str, Any], by_pmid: Mapping[str, str], path: Path) -> PreparedAnswer:
    try:
        prepared = tuple(PreparedClaim.model_validate(claim) for claim in entry["claims"])
        answer = PreparedAnswer.model_validate({**entry, "claims": (), "prepared": prepared})
    except (ValidationError, KeyError) as error:
        raise InputError(f"answer {entry.get('id')!r} in {path} can't be used: {error}") from error
    return answer.model_copy(update={"claims": tuple(
        _claim(f"{answer.id}-{place}", claim, by_pmid) for place, claim in enumerate(prepared, start=1)
    )})


def _claim(claim_id: str, claim: PreparedClaim, by_pmid: Mapping[str, str]) -> ClaimInput:
    citations: list[tuple[str, str | None]] = []
    for citation in claim.citations:
        if citation.pmid not in by_pmid:
            raise InputError(f"claim {claim_id} cites PMID {citation.pmid}, which isn't in the corpus")
        citations.append((by_pmid[citation.pmid], citation.quote))
    return ClaimInput(claim_id=claim_id, text=claim.text, citations=tuple(citations))
