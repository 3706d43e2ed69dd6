"""Where a claim's support really stands when the cited source doesn't give it.

In: audited claims, the index and the judge. Out: the same claims, some with a `Reanchor` to a record that supports
them. The verdict stays what the cited source earned: being right elsewhere doesn't make a citation right.
"""

from __future__ import annotations

from collections.abc import Sequence

from litrag.index import Index
from litrag.models import AuditedClaim, Judge, Reanchor, Verdict

#: Other records that are judged per claim, and how sure the judge has to be to name one.
CANDIDATES = 3
MIN_CONFIDENCE = 0.8


def find_better_sources(claims: Sequence[AuditedClaim], index: Index, judge: Judge) -> list[AuditedClaim]:
    """Offer another source for claims that are uncited or about which the cited source is silent."""
    wanted = [place for place, claim in enumerate(claims) if _wants_source(claim)]
    asked: list[tuple[int, str]] = []
    for place in wanted:
        cited = {citation.record_id for citation in claims[place].citations}
        hits = index.hits(claims[place].text, 12)
        ids = dict.fromkeys(hit.passage.record_id for hit in hits if hit.passage.record_id not in cited)
        usable = [record_id for record_id in ids if not index.records[record_id].retracted]
        asked += [(place, record_id) for record_id in usable[:CANDIDATES]]
    pairs = [(claims[place].text, index.records[record_id].as_passage(), None) for place, record_id in asked]
    judgements = judge.judge_many(pairs) if pairs else []
    found: dict[int, tuple[float, Reanchor]] = {}
    for (place, record_id), judgement in zip(asked, judgements, strict=True):
        confidence = judgement.confidence or 0.0
        if judgement.verdict is not Verdict.SUPPORTS or confidence < MIN_CONFIDENCE:
            continue
        if place not in found or confidence > found[place][0]:
            record = index.records[record_id]
            cited_at_all = bool(claims[place].citations)
            reason = f"{record.name} supports the claim" + (", the cited source doesn't" if cited_at_all else "")
            found[place] = confidence, Reanchor(
                n=0, record_id=record_id, pmid=record.pmid, spans=judgement.spans, reason=reason
            )
    return [
        claim.model_copy(update={"reanchor": found[place][1]}) if place in found else claim
        for place, claim in enumerate(claims)
    ]


def _wants_source(claim: AuditedClaim) -> bool:
    return claim.reanchor is None and claim.state in ("uncited", Verdict.NOT_FOUND)
