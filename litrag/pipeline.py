"""From a question to a checked answer: composes the stations and does nothing else.

`ask` retrieves once, drafts, locates and judges. `verify` does the same for a text or claims that somebody else
wrote. Both return an `AuditedAnswer`; saving it is the caller's business. `progress` is told (stage, done, total);
an exception raised by it, such as `Stopped`, ends the run at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from time import perf_counter

from litrag.config import settings
from litrag.errors import InputError, LitRAGError
from litrag.evidence_map import conflicts_of
from litrag.generate import Generator, open_generator
from litrag.grounding import ClaimInput, Progress, ground_claims
from litrag.index import Index, open_index
from litrag.judges import open_judge
from litrag.llm.budget import within_budget
from litrag.models import AuditedAnswer, AuditedClaim, Draft, Hit, Judge, Record, Source
from litrag.observability import observed
from litrag.reading import read_answer
from litrag.reanchor import find_better_sources
from litrag.status import of_cited, without_retracted

#: Longest question that is taken; longer ones are pasted by mistake.
MAX_QUESTION = 2000


class Stopped(LitRAGError):
    """Raised by a progress callback to end a run."""


@observed
@within_budget
def ask(
    question: str,
    *,
    index: Index | None = None,
    generator: Generator | None = None,
    judge: Judge | None = None,
    progress: Progress | None = None,
) -> AuditedAnswer:
    """Answer a question from the corpus, every claim located and judged, or abstain.

    Raises InputError for an empty or over-long question.
    """
    question = " ".join(question.split())
    if not question:
        raise InputError("the question is empty; ask something like 'Does semaglutide lower cardiovascular risk?'")
    if len(question) > MAX_QUESTION:
        raise InputError(f"the question has {len(question)} characters; {MAX_QUESTION} are the most that are taken")
    report = progress or _silent
    index = index or open_index(settings().corpus)
    generator = generator or open_generator(settings().generator, index.embeddings)
    judge = judge or open_judge()
    clock = _Clock()
    report("retrieving", 0, 1)
    hits, left_out = without_retracted(index.hits(question, settings().passages), index.records)
    clock.lap("retrieving")
    report("writing", 0, 1)
    draft = generator.generate(question, hits, index.records)
    clock.lap("writing")
    items = _claim_inputs(draft, {hit.passage.passage_id: hit.passage.record_id for hit in hits})
    records = _records(items, hits, index.records)
    claims = ground_claims(items, records, judge, progress=clock.after("locating", report))
    clock.lap("judging")
    claims = conflicts_of(question, claims, records)
    clock.lap("comparing")
    sources = _sources(claims, hits, records)
    return AuditedAnswer(
        run_id=_new_id(), kind="ask", question=question, claims=_numbered(claims, sources), sources=sources,
        abstention=draft.abstention, generator=generator.generator_id,
        judge=judge.judge_id, judge_version=_version(claims), corpus=index.name, corpus_hash=index.corpus_hash,
        seconds=clock.laps, cost_usd=_cost(claims, draft), notes=(*left_out, *draft.notes),
    )


@observed
@within_budget
def verify(
    text_or_claims: str | Sequence[ClaimInput],
    *,
    index: Index | None = None,
    judge: Judge | None = None,
    progress: Progress | None = None,
    question: str = "",
) -> AuditedAnswer:
    """Check a text that cites medical abstracts, or claims given one by one, against the corpus.

    Claims whose cited record isn't in the corpus stay visible, uncited, with a note that says how to fetch it.
    """
    report = progress or _silent
    index = index or open_index(settings().corpus)
    judge = judge or open_judge()
    clock = _Clock()
    if isinstance(text_or_claims, str):
        read = read_answer(text_or_claims, index.records)
        items, notes, claim_notes = read.items, read.problems, read.notes
    else:
        items, notes, claim_notes = tuple(text_or_claims), (), {}
    if not items:
        raise InputError("the text holds no statement to verify; paste an answer that cites abstracts as [n] or PMID")
    clock.lap("reading")
    claims = ground_claims(
        items, index.records, judge, progress=clock.after("locating", report), second_look=True
    )
    claims = [c.model_copy(update={"note": claim_notes.get(c.claim_id, c.note)}) for c in claims]
    clock.lap("judging")
    claims = find_better_sources(claims, index, judge)
    clock.lap("searching")
    sources = _sources(claims, (), index.records)
    return AuditedAnswer(
        run_id=_new_id(), kind="verify", question=question, claims=_numbered(claims, sources), sources=sources,
        judge=judge.judge_id, judge_version=_version(claims),
        corpus=index.name, corpus_hash=index.corpus_hash, seconds=clock.laps, cost_usd=_cost(claims, None),
        notes=(*of_cited((c.record_id for claim in claims for c in claim.citations), index.records), *notes),
    )


def _claim_inputs(draft: Draft, record_of: Mapping[str, str]) -> list[ClaimInput]:
    """Statements as claims; a citation of a passage that wasn't retrieved is no citation."""
    return [
        ClaimInput(
            claim_id=f"c{place}", text=statement.text,
            citations=tuple((record_of[c.passage_id], c.quote) for c in statement.citations if c.passage_id in record_of),
        )
        for place, statement in enumerate(draft.statements, start=1)
    ]


def _records(items: Sequence[ClaimInput], hits: Sequence[Hit], records: Mapping[str, Record]) -> dict[str, Record]:
    wanted = [record_id for item in items for record_id, _ in item.citations]
    wanted += [hit.passage.record_id for hit in hits]
    return {record_id: records[record_id] for record_id in dict.fromkeys(wanted)}


def _sources(
    claims: Sequence[AuditedClaim], hits: Sequence[Hit], records: Mapping[str, Record]
) -> tuple[Source, ...]:
    """Cited records by their [n], then records that hold a misplaced quote, then retrieved but unused ones."""
    numbers = {c.record_id: c.n for claim in claims for c in claim.citations}
    cited = set(numbers)
    extra = [claim.reanchor.record_id for claim in claims if claim.reanchor]
    extra += [conflict.record_id for claim in claims for conflict in claim.conflicts]
    extra += [hit.passage.record_id for hit in hits]
    for record_id in extra:
        numbers.setdefault(record_id, len(numbers) + 1)
    spans: dict[str, list[tuple[int, int]]] = {}
    score: dict[str, float] = {}
    for hit in hits:
        passage = hit.passage
        spans.setdefault(passage.record_id, []).append((passage.start, passage.end))
        score[passage.record_id] = max(score.get(passage.record_id, 0.0), hit.score)
    return tuple(
        Source(
            n=n, record=records[record_id], passages=tuple(spans.get(record_id, ())),
            score=score.get(record_id, 0.0), cited=record_id in cited,
        )
        for record_id, n in sorted(numbers.items(), key=lambda item: item[1])
    )


def _numbered(claims: Sequence[AuditedClaim], sources: Sequence[Source]) -> tuple[AuditedClaim, ...]:
    """Claims whose pointers to sources they don't cite carry those sources' [n] too."""
    n = {source.record.record_id: source.n for source in sources}
    return tuple(
        claim.model_copy(update={
            "reanchor": claim.reanchor and claim.reanchor.model_copy(update={"n": n[claim.reanchor.record_id]}),
            "conflicts": tuple(c.model_copy(update={"n": n[c.record_id]}) for c in claim.conflicts),
        })
        for claim in claims
    )


def _version(claims: Sequence[AuditedClaim]) -> str:
    judged = [c.judgement for claim in claims for c in claim.citations if c.judgement.judge not in ("", "locator")]
    return f"{judged[0].model} v{judged[0].version}" if judged else ""


def _cost(claims: Sequence[AuditedClaim], draft: Draft | None) -> float | None:
    """Dollars, or None when nothing that was called has a known price."""
    costs = [c.judgement.cost_usd for claim in claims for c in claim.citations]
    known = [cost for cost in [*costs, draft.cost_usd if draft else None] if cost is not None]
    return sum(known) if known else None


class _Clock:
    """Seconds per stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        now = perf_counter()
        self.laps[stage] = round(now - self._last, 6)
        self._last = now

    def after(self, stage: str, report: Progress) -> Progress:
        """Progress that also takes the stage's time when its last item is reported."""

        def watched(name: str, done: int, total: int) -> None:
            if name == stage and done == total:
                self.lap(stage)
            report(name, done, total)

        return watched


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
