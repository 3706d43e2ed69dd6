"""The nouns of LitRAG as frozen pydantic models: what one station hands to the next.

Everything here is a value: it can be compared, written as JSON and read back unchanged. Spans are half-open
`(start, end)` character ranges that index the stored, un-normalised text they were found in.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator

Span = tuple[int, int]

PMID_PATTERN = re.compile(r"[1-9][0-9]{0,7}")


class Model(BaseModel):
    """Base of all values: frozen, and tolerant of fields that a newer version wrote."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Verdict(StrEnum):
    """What the machine says of a claim and the source it cites."""

    SUPPORTS = "supports"
    PARTIAL = "partial"
    CONTRADICTS = "contradicts"
    NOT_FOUND = "not_found"
    HALLUCINATED_QUOTE = "hallucinated_quote"


class MatchKind(StrEnum):
    """How a quote stands in the text it is said to come from."""

    EXACT = "exact"
    NORMALIZED = "normalized"
    ELIDED = "elided"
    FUZZY = "fuzzy"
    ALTERED = "altered"
    MISATTRIBUTED = "misattributed"
    ABSENT = "absent"


#: Match kinds after which the quote may be believed to stand in the text.
FOUND = frozenset({MatchKind.EXACT, MatchKind.NORMALIZED, MatchKind.ELIDED, MatchKind.FUZZY})


# --- records and passages
class Section(Model):
    """A labelled part of a record's text, e.g. `RESULTS`; the span leaves the label out."""

    label: str
    start: int
    end: int


class Notice(Model):
    """What became of a paper, or what it is a notice of: the kinds are listed in `litrag.status`."""

    kind: str
    pmid: str | None = None
    note: str = ""


class OtherAbstract(Model):
    """An abstract in another language or of another kind; kept for reading, never searched or quoted."""

    language: str = ""
    text: str


class Record(Model):
    """One bibliographic item. `text` is the abstract as stored; every span in LitRAG indexes it."""

    record_id: str
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    title: str
    vernacular_title: str | None = None
    study: str | None = None
    authors: tuple[str, ...] = ()
    journal: str | None = None
    year: int | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    text: str = ""
    sections: tuple[Section, ...] = ()
    language: str | None = None
    publication_types: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    nct: tuple[str, ...] = ()
    funding: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    overlaps: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    other_abstracts: tuple[OtherAbstract, ...] = ()
    revised: str | None = None
    digest: bool = False
    origin: str = ""

    @field_validator("pmid")
    @classmethod
    def _pmid_is_digits(cls, value: str | None) -> str | None:
        if value is not None and not PMID_PATTERN.fullmatch(value):
            raise ValueError(f"PMID must be 1–8 digits without a leading zero, got {value!r}")
        return value

    @property
    def version(self) -> str:
        """Hash of title and text: changes when what can be quoted changes."""
        return hashlib.sha256(f"{self.title}\x00{self.text}".encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """What a reader calls the study: its acronym, else first author and year, else the title."""
        if self.study:
            return self.study
        if self.authors:
            surname = self.authors[0].rsplit(" ", 1)[0]
            others = " et al." if len(self.authors) > 1 else ""
            return f"{surname}{others} {self.year or ''}".strip()
        return self.title if len(self.title) <= 60 else self.title[:57] + "…"

    @property
    def retracted(self) -> bool:
        return any(notice.kind in ("retracted", "withdrawn") for notice in self.notices)

    def section_at(self, position: int) -> str:
        """Label of the section that holds `position`, or an empty string."""
        return next((s.label for s in self.sections if s.start <= position < s.end), "")

    def as_passage(self) -> Passage:
        """The whole text as one passage, for judging in full context."""
        return Passage(
            passage_id=f"{self.record_id}:0-{len(self.text)}", record_id=self.record_id, pmid=self.pmid,
            text=self.text, start=0, end=len(self.text), record_version=self.version,
        )


class Passage(Model):
    """A retrievable slice of a record: `record.text[start:end] == text`."""

    passage_id: str
    record_id: str
    pmid: str | None = None
    section: str = ""
    text: str
    start: int
    end: int
    record_version: str = ""


class Hit(Model):
    """A passage found for a question. Higher is better for every score; `score` and `similarity` are 0–1."""

    passage: Passage
    score: float
    similarity: float = 0.0
    lexical: float = 0.0


# --- what a generator says
class Citation(Model):
    """A claim's pointer into the evidence, as the generator gave it."""

    passage_id: str
    quote: str


class Statement(Model):
    """One atomic claim with what it cites; no citation means it will be shown as uncited."""

    text: str
    citations: tuple[Citation, ...] = ()


class Abstention(Model):
    """A declined answer: what was searched, what is missing, and what came nearest."""

    reason: str
    missing: tuple[str, ...] = ()
    searched: str = ""
    nearest: tuple[Hit, ...] = ()
    pubmed_query: str = ""


class Draft(Model):
    """What a generator returns: statements, or an abstention; never both."""

    statements: tuple[Statement, ...] = ()
    abstention: Abstention | None = None
    notes: tuple[str, ...] = ()
    generator: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


# --- grounding
class Difference(Model):
    """One place where a quote and its source part; either side may be empty.

    `quote_span` indexes the quote as given and `source_span` the stored text.
    """

    quote: str
    source: str
    kind: str = "wording"
    quote_span: Span | None = None
    source_span: Span | None = None

    def in_words(self) -> str:
        if not self.quote:
            return f"the quote leaves out “{self.source}”"
        if not self.source:
            return f"the quote adds “{self.quote}”"
        return f"the quote says “{self.quote}”, the source “{self.source}”"


class Location(Model):
    """Where a quote stands: spans in the stored text, how it matched, and what differs."""

    match: MatchKind
    spans: tuple[Span, ...] = ()
    score: float = 0.0
    differences: tuple[Difference, ...] = ()
    occurrences: int = 0
    record_id: str | None = None
    note: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def found(self) -> bool:
        return self.match in FOUND

    def in_words(self) -> str:
        """What happened to the quote, for a reader."""
        parts = [MATCH_WORDS[self.match], *(d.in_words() for d in self.differences[:4])]
        if self.note:
            parts.append(self.note)
        return "; ".join(parts)


MATCH_WORDS = {
    MatchKind.EXACT: "quoted word for word",
    MatchKind.NORMALIZED: "quoted word for word, typography aside",
    MatchKind.ELIDED: "quoted with words left out",
    MatchKind.FUZZY: "quoted with a spelling difference",
    MatchKind.ALTERED: "the quote was altered",
    MatchKind.MISATTRIBUTED: "the quote stands in another source",
    MatchKind.ABSENT: "the quote doesn't stand in the source",
}


class Finding(Model):
    """A difference that code, not a model, established between a claim and its source."""

    kind: str
    message: str
    verdict: Verdict
    claim_span: Span | None = None
    source_span: Span | None = None


class Judgement(Model):
    """A verdict with its reasons, or *unjudged* (`verdict is None`) with why.

    `profile` names the calibration that was applied; `stated_confidence` is then the judge's own, before it.
    """

    verdict: Verdict | None
    confidence: float | None = None
    rationale: str = ""
    spans: tuple[Span, ...] = ()
    findings: tuple[Finding, ...] = ()
    judge: str = ""
    model: str = ""
    version: str = ""
    unjudged_reason: str | None = None
    unsure: bool = False
    votes: dict[str, int] = Field(default_factory=dict)
    seconds: float = 0.0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    profile: str | None = None
    stated_confidence: float | None = None

    @classmethod
    def unjudged(cls, reason: str, *, judge: str = "", model: str = "", version: str = "") -> Judgement:
        """A judge call that gave no usable verdict; never mapped onto one."""
        return cls(verdict=None, unjudged_reason=reason, judge=judge, model=model, version=version)


@runtime_checkable
class Judge(Protocol):
    """Anything that says whether a passage supports a claim."""

    @property
    def judge_id(self) -> str: ...

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement: ...

    def judge_many(self, pairs: Sequence[tuple[str, str | Passage, str | None]]) -> list[Judgement]: ...


class CheckedCitation(Model):
    """One [n] of a claim: where the quote stands in the source's text and what the judge says of it."""

    n: int
    record_id: str
    pmid: str | None = None
    passage_id: str = ""
    quote: str = ""
    quote_given: bool = True
    location: Location
    judgement: Judgement

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Verdict | None:
        return self.judgement.verdict


class Conflict(Model):
    """Another retrieved source that disagrees with the claim, with the span that says so."""

    n: int
    record_id: str
    spans: tuple[Span, ...] = ()
    rationale: str = ""


class Reanchor(Model):
    """A source other than the cited one that holds the quote or supports the claim."""

    n: int
    record_id: str
    pmid: str | None = None
    spans: tuple[Span, ...] = ()
    reason: str = ""


#: Which verdict of several citations speaks for the claim: the one that a reader must not miss comes first.
VERDICT_PRIORITY = (
    Verdict.CONTRADICTS, Verdict.HALLUCINATED_QUOTE, Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.NOT_FOUND,
)


class AuditedClaim(Model):
    """A claim of the answer with every citation located and judged.

    `without_quote` tells an invented quote from a false claim: the judge's word on the claim alone, given only
    where the quote was hallucinated; it never replaces the verdict.
    """

    claim_id: str
    text: str
    citations: tuple[CheckedCitation, ...] = ()
    without_quote: Judgement | None = None
    conflicts: tuple[Conflict, ...] = ()
    reanchor: Reanchor | None = None
    note: str = ""

    @property
    def citation(self) -> CheckedCitation | None:
        """The citation that decides the claim's verdict; None when the claim cites nothing."""
        if not self.citations:
            return None
        rank = {verdict: place for place, verdict in enumerate(VERDICT_PRIORITY)}
        return min(self.citations, key=lambda c: rank.get(c.verdict, len(rank)) if c.verdict else len(rank))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Verdict | None:
        return self.citation.verdict if self.citation else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def state(self) -> str:
        """The verdict's name, or `uncited`, or `unjudged`."""
        if not self.citations:
            return "uncited"
        return self.verdict.value if self.verdict else "unjudged"

    @property
    def location(self) -> Location | None:
        return self.citation.location if self.citation else None

    @property
    def judgement(self) -> Judgement | None:
        return self.citation.judgement if self.citation else None

    @property
    def flagged(self) -> bool:
        """Whether a reader should look before believing it."""
        unsure = self.judgement is not None and self.judgement.unsure
        return self.state != Verdict.SUPPORTS or unsure or bool(self.conflicts) or self.reanchor is not None


class Source(Model):
    """A cited or retrieved record, frozen as it was when the answer was judged; `n` is its [n]."""

    n: int
    record: Record
    passages: tuple[Span, ...] = ()
    score: float = 0.0
    cited: bool = True


def _now() -> datetime:
    return datetime.now(UTC)


class AuditedAnswer(Model):
    """An answer in which every claim can be checked, or an abstention. The unit that is stored and shown."""

    schema_version: int = 1
    run_id: str
    kind: str = "ask"
    question: str = ""
    created_at: datetime = Field(default_factory=_now)
    claims: tuple[AuditedClaim, ...] = ()
    sources: tuple[Source, ...] = ()
    abstention: Abstention | None = None
    generator: str = ""
    judge: str = ""
    judge_version: str = ""
    corpus: str = ""
    corpus_hash: str = ""
    seconds: dict[str, float] = Field(default_factory=dict)
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def abstained(self) -> bool:
        return self.abstention is not None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def counts(self) -> dict[str, int]:
        """Claims by state, in no particular order; states that don't occur are left out."""
        return dict(Counter(claim.state for claim in self.claims))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def coverage(self) -> float | None:
        """Share of statements with a located citation; None when there is nothing to cover."""
        if not self.claims:
            return None
        covered = sum(any(c.location.found for c in claim.citations) for claim in self.claims)
        return covered / len(self.claims)

    @property
    def flagged(self) -> bool:
        return any(claim.flagged for claim in self.claims)

    def source(self, n: int) -> Source:
        """The source shown as [n]; KeyError when no source carries that number."""
        for source in self.sources:
            if source.n == n:
                return source
        raise KeyError(n)

    def to_json(self, *, indent: int | None = 2) -> str:
        return self.model_dump_json(indent=indent)

    @classmethod
    def from_json(cls, text: str) -> AuditedAnswer:
        return cls.model_validate_json(text)
