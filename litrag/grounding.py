"""Grounding: a claim and the records it cites go in, the claim with located and judged citations comes out.

Code decides first: a quote that was altered or that stands nowhere is a hallucinated quote and never reaches a
judge. What is found, or comes without a quote, is judged against the whole text of the cited record, so that a
population or an arm named elsewhere in the abstract counts. The cited record alone decides the verdict; other
sources only add where the quote really stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from litrag.errors import InputError
from litrag.evidence import select_window
from litrag.locate import locate_among
from litrag.models import (
    AuditedClaim,
    CheckedCitation,
    Judge,
    Judgement,
    Location,
    MatchKind,
    Model,
    Reanchor,
    Record,
    Verdict,
)

Progress = Callable[[str, int, int], None]

#: Claims handed to the judge at a time: large enough to batch, small enough for progress and a prompt stop.
CHUNK = 8


class ClaimInput(Model):
    """A claim to ground: its text and, per citation, the cited record and the quote if one was given."""

    claim_id: str
    text: str
    citations: tuple[tuple[str, str | None], ...] = ()


def ground_claims(
    items: Sequence[ClaimInput],
    records: Mapping[str, Record],
    judge: Judge,
    *,
    progress: Progress | None = None,
    second_look: bool = False,
) -> list[AuditedClaim]:
    """Locate and judge every citation of every claim, in order.

    `records` holds the cited records and any others that were retrieved; a quote that stands in one of the others
    is *misattributed*, and that record is offered as its place. `second_look` also asks the judge about claims
    whose quote was hallucinated, to tell an invented quote from a false claim. Raises InputError when a citation
    names a record that isn't given.
    """
    report = progress or _silent
    numbers = number_sources(items, records)
    texts = {record_id: record.text for record_id, record in records.items()}
    located: list[list[Location]] = []
    for done, item in enumerate(items, start=1):
        located.append([_locate(item.text, record_id, quote, texts) for record_id, quote in item.citations])
        report("locating", done, len(items))
    claims: list[AuditedClaim] = []
    for start in range(0, len(items), CHUNK):
        chunk = list(zip(items[start : start + CHUNK], located[start : start + CHUNK], strict=True))
        judgements = _judge(chunk, records, judge, second_look)
        claims += [_claim(item, places, records, numbers, judgements) for item, places in chunk]
        report("judging", len(claims), len(items))
    return claims


def number_sources(items: Sequence[ClaimInput], records: Mapping[str, Record]) -> dict[str, int]:
    """[n] for each cited record, in order of first use."""
    numbers: dict[str, int] = {}
    for item in items:
        for record_id, _ in item.citations:
            if record_id not in records:
                raise InputError(
                    f"claim {item.claim_id!r} cites record {record_id!r}, which isn't in the corpus"
                )
            numbers.setdefault(record_id, len(numbers) + 1)
    return numbers


def _locate(claim: str, record_id: str, quote: str | None, texts: Mapping[str, str]) -> Location:
    if quote is not None:
        return locate_among(quote, texts, record_id, claim=claim)
    spans = tuple(select_window(claim, texts[record_id]))
    return Location(
        match=MatchKind.EXACT if spans else MatchKind.ABSENT,
        spans=spans,
        score=1.0 if spans else 0.0,
        occurrences=1 if spans else 0,
        note="no quote was given; the sentences that fit the claim best are shown",
    )


def _needs_judge(location: Location) -> bool:
    return location.match not in (MatchKind.ALTERED, MatchKind.ABSENT)


Key = tuple[str, str, str | None]


def _judge(
    chunk: Sequence[tuple[ClaimInput, list[Location]]],
    records: Mapping[str, Record],
    judge: Judge,
    second_look: bool,
) -> dict[Key, Judgement]:
    """One judgement per (claim, record, quote) that needs one; the same question is asked once."""
    wanted: dict[Key, None] = {}
    for item, places in chunk:
        for (record_id, quote), location in zip(item.citations, places, strict=True):
            if location.match is MatchKind.MISATTRIBUTED and location.record_id:
                wanted[(item.text, record_id, None)] = None
                wanted[(item.text, location.record_id, quote)] = None
            elif _needs_judge(location):
                wanted[(item.text, record_id, quote)] = None
            elif second_look:
                wanted[(item.text, record_id, None)] = None
    keys = list(wanted)
    pairs = [(claim, records[record_id].as_passage(), quote) for claim, record_id, quote in keys]
    return dict(zip(keys, judge.judge_many(pairs), strict=True)) if pairs else {}


def _claim(
    item: ClaimInput,
    places: list[Location],
    records: Mapping[str, Record],
    numbers: dict[str, int],
    judgements: dict[Key, Judgement],
) -> AuditedClaim:
    citations: list[CheckedCitation] = []
    reanchor: Reanchor | None = None
    without_quote: Judgement | None = None
    for (record_id, quote), location in zip(item.citations, places, strict=True):
        if location.match is MatchKind.MISATTRIBUTED and location.record_id:
            judgement = judgements[(item.text, record_id, None)]
            reanchor = _reanchor(
                location, judgements[(item.text, location.record_id, quote)], records, numbers
            )
        elif _needs_judge(location):
            judgement = judgements[(item.text, record_id, quote)]
        else:
            judgement = _hallucinated(location)
            without_quote = judgements.get((item.text, record_id, None))
        citations.append(
            CheckedCitation(
                n=numbers[record_id],
                record_id=record_id,
                pmid=records[record_id].pmid,
                quote=quote if quote is not None else _cut(records[record_id].text, location),
                quote_given=quote is not None,
                location=location,
                judgement=judgement,
            )
        )
    return AuditedClaim(
        claim_id=item.claim_id,
        text=item.text,
        citations=tuple(citations),
        reanchor=reanchor,
        without_quote=without_quote,
    )


def _hallucinated(location: Location) -> Judgement:
    return Judgement(
        verdict=Verdict.HALLUCINATED_QUOTE,
        confidence=1.0,
        rationale=location.in_words(),
        spans=location.spans,
        judge="locator",
        model="deterministic",
        version="1",
    )


def _reanchor(
    location: Location, judgement: Judgement, records: Mapping[str, Record], numbers: dict[str, int]
) -> Reanchor:
    record = records[location.record_id or ""]
    holds = "supports the claim" if judgement.verdict is Verdict.SUPPORTS else "holds the quote"
    return Reanchor(
        n=numbers.get(record.record_id, 0),
        record_id=record.record_id,
        pmid=record.pmid,
        spans=location.spans,
        reason=f"the quote isn't in the cited source; {record.name} {holds}",
    )


def _cut(text: str, location: Location) -> str:
    return " … ".join(text[start:end] for start, end in location.spans)


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
