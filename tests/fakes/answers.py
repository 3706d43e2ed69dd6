"""Made-up audited answers: a claim per verdict, each citing a source of its own."""

from litrag.models import (
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Judgement,
    Location,
    MatchKind,
    Record,
    Source,
)

QUOTE = "Morning glucose fell by 1.2 mmol/l"


def record(n, text=None):
    body = f"Adults took verolin or placebo for {n + 10} weeks. {QUOTE} on verolin. Two people left early."
    return Record(
        record_id=f"rec{n}", pmid=str(90000000 + n), title=f"Verolin trial {n}", journal="J Made Up", year=2020 + n % 5,
        publication_types=("Randomized Controlled Trial",), text=body if text is None else text,
    )


def judgement(verdict, *, confidence=0.8, version="1", rationale="The arms differ."):
    if verdict is None:
        return Judgement.unjudged("timed out", judge="fake", version=version)
    return Judgement(
        verdict=verdict, confidence=confidence, rationale=rationale, judge="fake", model="coin", version=version,
    )


def citation(n, verdict, **more):
    source = record(n)
    start = source.text.index(QUOTE)
    return CheckedCitation(
        n=n, record_id=source.record_id, pmid=source.pmid, passage_id=f"{source.record_id}:0", quote=QUOTE,
        location=Location(match=MatchKind.EXACT, spans=((start, start + len(QUOTE)),), score=100.0, occurrences=1),
        judgement=judgement(verdict, **more),
    )


def answer(verdicts, *, run_id="run-a", question="Does verolin lower morning glucose?", claim=None, **more):
    """An answer whose n-th claim got the n-th verdict (None: unjudged)."""
    claims = tuple(
        AuditedClaim(
            claim_id=f"c{n}", text=claim or f"Verolin lowered morning glucose in trial {n}.",
            citations=(citation(n, verdict, **more),),
        )
        for n, verdict in enumerate(verdicts, start=1)
    )
    sources = tuple(Source(n=n, record=record(n)) for n in range(1, len(verdicts) + 1))
    return AuditedAnswer(run_id=run_id, question=question, claims=claims, sources=sources, corpus_hash="abc")
