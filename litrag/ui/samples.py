"""The sample questions and prepared answers of `data/`, read as values; pure, no streamlit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from litrag.config import PROJECT
from litrag.errors import InputError
from litrag.grounding import ClaimInput
from litrag.models import Model, Record

DATA = PROJECT / "data"


class PreparedAnswer(Model):
    """An answer "from another assistant", with planted faults; each claim with its citations (PMID, quote)."""

    answer_id: str
    title: str
    question: str
    text: str
    references: str
    claims: tuple[tuple[str, str, tuple[tuple[str, str | None], ...]], ...]

    @property
    def pasted(self) -> str:
        """The text with its reference list, as it would be pasted."""
        return f"{self.text}\n\nReferences\n{self.references}"


@lru_cache(maxsize=1)
def sample_questions() -> tuple[str, ...]:
    """A few questions to begin with: answerable ones, one on which sources differ, one that must be declined."""
    groups = _read("sample_questions.json")
    shares = {"answerable": 4, "conflicting": 1, "unanswerable": 1}
    return tuple(item["question"] for name, share in shares.items() for item in groups.get(name, [])[:share])


@lru_cache(maxsize=1)
def prepared_answers() -> tuple[PreparedAnswer, ...]:
    return tuple(_prepared(item) for item in _read("sample_answers.json").get("answers", []))


def _prepared(item: dict[str, Any]) -> PreparedAnswer:
    claims = tuple(
        (claim["id"], claim["text"], tuple((c["pmid"], c.get("quote")) for c in claim.get("citations", [])))
        for claim in item["claims"]
    )
    references = "\n".join(f"[{r['n']}] {r['citation']} PMID: {r['pmid']}." for r in item.get("references", []))
    return PreparedAnswer(answer_id=item["id"], title=item["title"], question=item["question"], text=item["text"],
                          references=references, claims=claims)


def claim_inputs(prepared: PreparedAnswer, records: Mapping[str, Record]) -> tuple[ClaimInput, ...]:
    """The prepared claims as input of `verify`; InputError when the corpus lacks a record that they cite."""
    by_pmid = {record.pmid: record_id for record_id, record in records.items() if record.pmid}
    wanted = {pmid for _, _, citations in prepared.claims for pmid, _ in citations}
    if absent := sorted(wanted - set(by_pmid)):
        raise InputError(
            f"the prepared answer cites PMID {absent[0]}, which this corpus doesn't hold; choose the corpus 'sample'"
        )
    return tuple(
        ClaimInput(claim_id=claim_id, text=text, citations=tuple((by_pmid[pmid], quote) for pmid, quote in citations))
        for claim_id, text, citations in prepared.claims
    )


def _read(name: str) -> dict[str, Any]:
    path = DATA / name
    content: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return content
