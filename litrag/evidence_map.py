"""Where sources disagree: each claim beside what the other retrieved records report on the same outcome.

In: claims and the retrieved records. Out: per claim and record a `Stance`, read by code from the record's own
result: more, fewer, or no effect shown, with the span that says so; and `Conflict`s where two independent records
part. Records of one trial, and a meta-analysis with what it pools, aren't independent. No model is asked, except by
`judged`, for what code left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from litrag.checks.arms import with_arms
from litrag.checks.case import Unit, inside, units_of
from litrag.checks.design import asserted_of
from litrag.checks.effects import direction, no_effect
from litrag.figures import figures, fold, intervals
from litrag.models import (
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Conflict,
    Judge,
    Judgement,
    Model,
    Record,
    Span,
    Verdict,
)

#: Outcomes that trials report under several names; the first match of a text names its outcome, so order matters.
OUTCOMES: tuple[tuple[str, str], ...] = (
    ("serious adverse events", r"\bserious adverse events?\b|\bSAEs?\b"),
    ("stopping because of adverse events",
     r"\b(?:stop\w*|discontinu\w*|withdr\w+)\b[^.;]{0,60}\b(?:adverse|side[- ]effects?|gastrointestinal)|"
     r"\badverse events?\b[^.;]{0,40}\b(?:stop\w*|discontinu\w*|led to)"),
    ("gastrointestinal events", r"\bgastrointestinal\b|\bnausea\b|\bvomiting\b"),
    ("retinopathy", r"\bretinopath\w+|\beye\b|\bvision\b|\bretinal\b"),
    ("kidney outcome",
     r"\b(?:kidney|renal) (?:\w+ ){0,2}?(?:events?|outcomes?|composite|failure|protection|function|decline)|"
     r"\bkidney outcome\b|\bnephropathy\b|\bprotects? the kidneys?\b|\bkidneys\b|\bcomposite kidney\b|\bkidney disease events\b"),
    ("death from any cause", r"\b(?:death|mortality|died)\b[^.;]{0,12}\bany cause\b|\ball-cause (?:death|mortality)\b"),
    ("major cardiovascular events",
     r"\bmajor (?:adverse )?cardiovascular events?\b|\bMACE\b|\bprimary cardiovascular outcome\b|\bcardiovascular events?\b|"
     r"\bcardiovascular benefit\b"),
    ("cardiovascular death", r"\bcardiovascular death\b|\bdeath from cardiovascular\b"),
    ("myocardial infarction", r"\bmyocardial infarction\b|\bheart attacks?\b"),
    ("stroke", r"\bstrokes?\b"),
    ("heart failure", r"\bheart[- ]failure (?:composite|event|admission|hospitali[sz]ation)\w*"),
)
_OUTCOMES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in OUTCOMES)

#: A record is read once, not once per claim and outcome: comparing would otherwise take a quarter of a warm answer.
_units = lru_cache(maxsize=1024)(units_of)
_asserted = lru_cache(maxsize=1024)(asserted_of)


class Stance(Model):
    """What a record reports on an outcome: `up`, `down` or `same` (no effect shown), and the span that says so."""

    record_id: str
    outcome: str
    effect: str
    significant: bool | None = None
    span: Span
    primary: bool = False


def outcome_of(text: str) -> str | None:
    """The named outcome that a claim or question speaks of first; None when it names none or several."""
    found = [(match.start(), name) for name, pattern in _OUTCOMES if (match := pattern.search(fold(text)))]
    if not found:
        return None
    names = [name for _, name in sorted(found)]
    return names[0]


@lru_cache(maxsize=4096)
def stance(record: Record, outcome: str) -> Stance | None:
    """The record's result on a named outcome: the one with figures, the whole trial's before a part's."""
    pattern = dict(_OUTCOMES)[outcome]
    found: list[tuple[int, Stance]] = []
    for unit in _units(record.text):
        if not pattern.search(fold(unit.text)) or outcome_of(unit.text) != outcome:
            continue
        reading = _reading(unit, record)
        if reading is not None:
            weight = 2 * bool(intervals(unit.text)) + bool(figures(unit.text)) - 4 * bool(_PART.search(unit.text))
            found.append((weight, reading.model_copy(update={"outcome": outcome})))
    if not found:
        return None
    return max(found, key=lambda pair: (pair[0], -pair[1].span[0]))[1]


_PART = re.compile(r"\b(?:alone|only|placebo only|subgroup|with preserved|with reduced|aged \d+|without heart failure)\b", re.I)


def _reading(unit: Unit, record: Record) -> Stance | None:
    """Effect and significance as a clause reports them; None when it reports none."""
    own = [i for i in intervals(record.text) if inside(i.span, unit.span)] or [
        i for i in intervals(record.text) if inside(i.span, unit.sentence)
    ][:1]
    ratios = [f for f in figures(record.text) if f.kind == "ratio" and inside(f.span, unit.sentence)]
    significant: bool | None = None
    effect = direction(unit.text)
    if own:
        significant = own[0].excludes(1.0 if ratios else 0.0)
        if ratios and len(own) == 1:
            effect = "up" if ratios[0].value > 1 else "down"
    elif no_effect(unit.text):
        significant = False
    else:
        p = [f for f in figures(record.text) if f.kind == "p" and inside(f.span, unit.sentence)]
        significant = p[0].value < 0.05 if p else None
        effect = _by_arms(unit, record) or effect
    if significant is False:
        effect = "same"
    if effect is None:
        return None
    return Stance(
        record_id=record.record_id, outcome="", effect=effect, significant=significant, span=unit.sentence,
        primary="primary" in unit.text.lower(),
    )


def _by_arms(unit: Unit, record: Record) -> str | None:
    """More or fewer on the treatment, from the two arms' shares."""
    shares = [f for f in with_arms(record.text) if inside(f.span, unit.span) and f.arm and f.kind == "percent"]
    if len(shares) != 2 or {f.arm == "control" for f in shares} != {True, False}:
        return None
    treated, control = sorted(shares, key=lambda f: f.arm == "control")
    return None if treated.value == control.value else "up" if treated.value > control.value else "down"


def same_trial(one: Record, other: Record) -> bool:
    """Whether two records report on one trial: a sub-analysis is no second voice."""
    return one.record_id == other.record_id or bool(set(one.nct) & set(other.nct))


def independent(one: Record, other: Record) -> bool:
    """Whether two records rest on different people, as far as the records say."""
    ids = {one.pmid, other.pmid}
    return not same_trial(one, other) and not (set(one.overlaps) & ids or set(other.overlaps) & ids)


def why_different(one: Record, other: Record) -> str:
    """What the records themselves say of why they may differ: design, route, population, the outcome's rank."""
    parts = []
    for name, patterns in _TRAITS.items():
        values = [_trait(patterns, _asserted(record.text)) for record in (one, other)]
        if values[0] != values[1] and None not in values:
            parts.append(f"{name} {values[0]} in {one.name}, {values[1]} in {other.name}")
    if not independent(one, other):
        parts.append("the two share participants")
    return "; ".join(parts)


def _trait(patterns: Sequence[tuple[str, str]], text: str) -> str | None:
    return next((value for value, pattern in patterns if re.search(pattern, text, re.IGNORECASE)), None)


_TRAITS: dict[str, tuple[tuple[str, str], ...]] = {
    "design": (
        ("a meta-analysis", r"\bmeta-analysis\b|\bsystematic review\b|\bpooled\b"),
        ("an observational study", r"\bobservational\b|\bcohort study\b"),
        ("non-inferiority", r"non-inferiority (?:trial|margin)|designed to show non-inferiority"),
        ("superiority", r"superiority trial"),
    ),
    "route": (("oral", r"\boral semaglutide\b|\boral(?:ly)?\b"), ("injected", r"\bsubcutaneous\b|\binject")),
    "kidney events": (("a secondary outcome", r"kidney disease events were a secondary"),
                      ("the primary outcome", r"kidney disease events, the primary outcome|composite kidney outcome")),
    "population": (
        ("without diabetes", r"\bwithout diabetes\b|\bno diabetes\b|\bnot have diabetes\b|diabetes was an exclusion"),
        ("with type 2 diabetes", r"\b(?:with|had|in) (?:both )?type 2 diabetes\b"),
    ),
}


def conflicts_of(
    question: str, claims: Sequence[AuditedClaim], records: Mapping[str, Record]
) -> list[AuditedClaim]:
    """The claims with a `Conflict` for each independent record that reports otherwise on the claim's outcome.

    Only the outcome and the population that the question asks about count: a study's other results are no dispute.
    """
    asked = outcome_of(question)
    if asked is None:
        return list(claims)
    whom = _trait(_TRAITS["population"], fold(question))
    fitting = {
        record_id: record for record_id, record in records.items()
        if whom is None or _trait(_TRAITS["population"], _asserted(record.text)) == whom
    }
    result = []
    for claim in claims:
        outcome = outcome_of(_without_lead(claim.text))
        citation = claim.citation
        if citation is None or citation.record_id not in fitting or outcome != asked or claim.verdict is Verdict.CONTRADICTS:
            result.append(claim)
            continue
        own = _claim_stance(claim, records[citation.record_id], asked)
        found = tuple(_disagreeing(own, records[citation.record_id], fitting.values())) if own else ()
        result.append(claim.model_copy(update={"conflicts": found}) if found else claim)
    return result


def _without_lead(text: str) -> str:
    return re.sub(r"^(?:In|Among) (?:the )?[^,]{2,80}, ", "", text, count=1)


def _claim_stance(claim: AuditedClaim, record: Record, outcome: str) -> Stance | None:
    """The stance of the clause that the claim rests on, else of the record."""
    spans = claim.citation.location.spans if claim.citation else ()
    pattern = dict(_OUTCOMES)[outcome]
    for unit in _units(record.text):
        if any(unit.sentence[0] < end and start < unit.sentence[1] for start, end in spans) and pattern.search(fold(unit.text)):
            reading = _reading(unit, record)
            if reading is not None:
                return reading.model_copy(update={"outcome": outcome})
    return stance(record, outcome)


def _disagreeing(own: Stance, record: Record, records: Iterable[Record]) -> Iterable[Conflict]:
    for other in records:
        if other.retracted or same_trial(record, other):
            continue
        theirs = stance(other, own.outcome)
        if theirs is None or not part(own, theirs) or (not independent(record, other) and _only_pooled(own, theirs, record)):
            continue
        yield Conflict(
            n=0, record_id=other.record_id, spans=(theirs.span,),
            rationale=f"{own.outcome}: {_WORDS[own.effect]} in {record.name}, {_WORDS[theirs.effect]} in {other.name}"
            + (f" ({why})" if (why := why_different(record, other)) else ""),
        )


_WORDS = {"up": "more", "down": "fewer", "same": "no clear difference"}


def _only_pooled(own: Stance, theirs: Stance, record: Record) -> bool:
    """Whether one of two overlapping records is a trial too small to show what the pool shows: that is no dispute."""
    pooled = bool(re.search(r"meta-analysis|pooled", fold(record.text), re.IGNORECASE))
    pool, trial = (own, theirs) if pooled else (theirs, own)
    return trial.effect == "same" and pool.effect != "same"


def part(one: Stance, other: Stance) -> bool:
    """Whether two results can't both be summed up the same way: opposite, or shown against not shown."""
    if one.effect == other.effect:
        return False
    if "same" in (one.effect, other.effect):
        shown = one if other.effect == "same" else other
        return shown.significant is not False
    return True


# --- the map: every claim against every record
class Relation(StrEnum):
    """How a record stands to a claim. `open`: code can't tell, and no judge was asked."""

    SUPPORTS = "supports"
    PARTIAL = "partial"
    CONTRADICTS = "contradicts"
    SILENT = "silent"
    OPEN = "open"


class Stand(Model):
    """One record's stand on one claim; `shared` names the cited study whose participants it shares."""

    record_id: str
    relation: Relation
    cited: bool = False
    spans: tuple[Span, ...] = ()
    why: str = ""
    shared: str = ""


class MapRow(Model):
    """A claim (its place in the answer) beside every record, cited ones first."""

    place: int
    stands: tuple[Stand, ...]

    def of(self, relation: Relation) -> tuple[Stand, ...]:
        return tuple(stand for stand in self.stands if stand.relation is relation)


#: Most pairs of claim and record that a judge is asked about for one answer.
MOST_JUDGED = 80

_RELATIONS = {
    Verdict.SUPPORTS: Relation.SUPPORTS, Verdict.PARTIAL: Relation.PARTIAL, Verdict.CONTRADICTS: Relation.CONTRADICTS,
    Verdict.NOT_FOUND: Relation.SILENT,
}


def evidence_map(answer: AuditedAnswer) -> list[MapRow]:
    """Each claim against each record that the answer carries: cited ones as judged, others as code reads them."""
    records = {source.record.record_id: source.record for source in answer.sources}
    return [MapRow(place=place, stands=tuple(_stands(claim, records))) for place, claim in enumerate(answer.claims)]


def _stands(claim: AuditedClaim, records: Mapping[str, Record]) -> Iterable[Stand]:
    cited = {citation.record_id: citation for citation in claim.citations if citation.record_id in records}
    for record_id, citation in cited.items():
        yield _as_judged(record_id, citation, claim.without_quote)
    outcome = outcome_of(_without_lead(claim.text))
    own = _said(claim, records, outcome) if outcome else None
    for record_id, record in records.items():
        if record_id not in cited:
            yield _as_read(record, own, outcome, [records[other] for other in cited])


def _as_judged(record_id: str, citation: CheckedCitation, without_quote: Judgement | None) -> Stand:
    judgement = citation.judgement
    if citation.verdict is Verdict.HALLUCINATED_QUOTE and without_quote is not None:
        judgement = without_quote
    relation = _RELATIONS.get(judgement.verdict, Relation.OPEN) if judgement.verdict else Relation.OPEN
    found = citation.location.found and citation.location.record_id in (None, record_id)
    spans = judgement.spans or (citation.location.spans if found else ())
    return Stand(record_id=record_id, relation=relation, cited=True, spans=spans, why=judgement.rationale)


def _said(claim: AuditedClaim, records: Mapping[str, Record], outcome: str) -> Stance | None:
    """What the claim asserts: read from its own words, else from the place that it rests on."""
    own = stance(Record(record_id="", title="", text=claim.text), outcome)
    citation = claim.citation
    if own is not None or citation is None or citation.record_id not in records:
        return own
    return None if claim.verdict is Verdict.CONTRADICTS else _claim_stance(claim, records[citation.record_id], outcome)


def _as_read(record: Record, own: Stance | None, outcome: str | None, cited: Sequence[Record]) -> Stand:
    shared = next((other.name for other in cited if not independent(record, other)), "")
    if outcome is None or own is None:
        return Stand(record_id=record.record_id, relation=Relation.OPEN, shared=shared)
    theirs = stance(record, outcome)
    if theirs is None:
        return Stand(record_id=record.record_id, relation=Relation.SILENT, shared=shared)
    relation = Relation.SUPPORTS if theirs.effect == own.effect else Relation.PARTIAL
    if part(own, theirs):
        pooled = shared and cited and _only_pooled(own, theirs, cited[0])
        relation = Relation.PARTIAL if pooled else Relation.CONTRADICTS
    why = f"{outcome}: {_WORDS[theirs.effect]}"
    if relation is not Relation.SUPPORTS and cited and (reasons := why_different(cited[0], record)):
        why = f"{why} ({reasons})"
    return Stand(record_id=record.record_id, relation=relation, spans=(theirs.span,), why=why, shared=shared)


def voices(stands: Sequence[Stand], records: Mapping[str, Record]) -> int:
    """How many independent studies stand behind these: one trial, or a pool and its trials, counts once."""
    counted: list[Record] = []
    for stand in stands:
        record = records[stand.record_id]
        if not record.retracted and all(independent(record, other) for other in counted):
            counted.append(record)
    return len(counted)


def judged(
    rows: Sequence[MapRow], answer: AuditedAnswer, judge: Judge, *, most: int = MOST_JUDGED
) -> list[MapRow]:
    """The map with what code left open judged, `most` pairs at most; a failed call leaves its pair open.

    Another study's other figures are no contradiction: what only differs in what code compares is `partial`.
    """
    records = {source.record.record_id: source.record for source in answer.sources}
    pairs = [(row.place, stand.record_id) for row in rows for stand in row.of(Relation.OPEN) if not stand.cited][:most]
    said = judge.judge_many([
        (_without_lead(answer.claims[place].text), records[record_id].as_passage(), None) for place, record_id in pairs
    ])
    found = dict(zip(pairs, said, strict=True))
    return [
        row.model_copy(update={"stands": tuple(
            _with(stand, found[row.place, stand.record_id]) if (row.place, stand.record_id) in found else stand
            for stand in row.stands
        )})
        for row in rows
    ]


def _with(stand: Stand, judgement: Judgement) -> Stand:
    if judgement.verdict is None:
        return stand.model_copy(update={"why": judgement.unjudged_reason or ""})
    relation = _RELATIONS.get(judgement.verdict, Relation.OPEN)
    if relation is Relation.CONTRADICTS and judgement.findings:
        relation = Relation.PARTIAL
    return stand.model_copy(update={"relation": relation, "spans": judgement.spans, "why": judgement.rationale})
