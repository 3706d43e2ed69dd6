"""Moving a claim's citation to the source that bears it: an answer goes in, a revised answer comes out.

The answer that was stored is never changed: the revision is an answer of its own, which says what was moved. Numbers
of sources stay as they were, so that a reader finds each [n] where it stood. The judge is asked about this claim only.
"""

from __future__ import annotations

from litrag.errors import InputError
from litrag.grounding import ClaimInput, Progress, ground_claims
from litrag.models import AuditedAnswer, AuditedClaim, Judge, MatchKind, Source


def reanchored(
    answer: AuditedAnswer, claim_id: str, judge: Judge, *, progress: Progress | None = None
) -> AuditedAnswer:
    """`answer` with the claim citing the source that its re-anchor names, located and judged afresh.

    Raises InputError when the answer has no such claim or nothing was found to re-anchor it to.
    """
    claim = next((c for c in answer.claims if c.claim_id == claim_id), None)
    if claim is None or claim.reanchor is None:
        raise InputError(f"claim {claim_id!r} of run {answer.run_id!r} has no other source to cite")
    record_id = claim.reanchor.record_id
    records = {source.record.record_id: source.record for source in answer.sources}
    if record_id not in records:
        raise InputError(f"record {record_id!r} isn't a source of run {answer.run_id!r}; verify the text again")
    item = ClaimInput(claim_id=claim_id, text=claim.text, citations=((record_id, _quote(claim, record_id)),))
    grounded = ground_claims([item], {record_id: records[record_id]}, judge, progress=progress)[0]
    numbers = {source.record.record_id: source.n for source in answer.sources}
    moved = grounded.model_copy(update={
        "citations": tuple(c.model_copy(update={"n": numbers[c.record_id]}) for c in grounded.citations),
    })
    claims = tuple(moved if c.claim_id == claim_id else c for c in answer.claims)
    return answer.model_copy(update={
        "claims": claims, "sources": _sources(answer.sources, claims),
        "notes": (*answer.notes, _told(claim, numbers[record_id], records[record_id].name)),
    })


def _quote(claim: AuditedClaim, record_id: str) -> str | None:
    """The claim's quote if it stands in the new source; otherwise none, and the best sentences are shown."""
    for citation in claim.citations:
        place = citation.location
        if place.match is MatchKind.MISATTRIBUTED and place.record_id == record_id and citation.quote_given:
            return citation.quote
    return None


def _sources(sources: tuple[Source, ...], claims: tuple[AuditedClaim, ...]) -> tuple[Source, ...]:
    cited = {citation.record_id for claim in claims for citation in claim.citations}
    return tuple(s.model_copy(update={"cited": s.record.record_id in cited}) for s in sources)


def _told(claim: AuditedClaim, n: int, name: str) -> str:
    before = ", ".join(f"[{citation.n}]" for citation in claim.citations) or "no source"
    return f"The citation of “{claim.text}” was moved from {before} to [{n}] {name}."
