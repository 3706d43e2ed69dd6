"""The nouns of reviewing, and `fold`: what a reviewer's events on one item add up to.

An `Item` is all that a reviewer may see before labelling, so it has no field for the machine's verdict. Events are
never changed; a label is always computed from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from .models import Model, Record, Span, Verdict


class Reason(StrEnum):
    """Why a label differs from the judge."""

    NUMBER = "number"
    DIRECTION = "direction"
    POPULATION = "population"
    OVERREACH = "overreach"
    WRONG_SOURCE = "wrong_source"
    QUOTE_ALTERED = "quote_altered"
    OTHER = "other"


class Confidence(StrEnum):
    """How sure the reviewer is of the own label."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Role(StrEnum):
    REVIEWER = "reviewer"
    ADJUDICATOR = "adjudicator"


class Kind(StrEnum):
    """What a reviewer did."""

    LABEL = "label"
    KEEP = "keep"
    REVISE = "revise"
    ANNOTATE = "annotate"
    SKIP = "skip"
    FLAG = "flag"
    UNFLAG = "unflag"
    REVEAL = "reveal"
    UNDO = "undo"
    IMPORT = "import"


#: What an undo can take back. A reveal can't be: what has been seen stays seen.
UNDOABLE = frozenset(Kind) - {Kind.UNDO, Kind.REVEAL}


class Status(StrEnum):
    """Where a reviewer stands with an item."""

    UNLABELLED = "unlabelled"
    SKIPPED = "skipped"
    WITHDRAWN = "withdrawn"
    LABELLED = "labelled"
    KEPT = "kept"
    REVISED = "revised"
    IMPORTED = "imported"
    NEEDS_DISCUSSION = "needs_discussion"


class Reviewer(Model):
    """A person who labels, by pseudonym; `login` is the e-mail of a signed-in person."""

    reviewer_id: str
    role: Role = Role.REVIEWER
    login: str | None = None
    active: bool = True

    @property
    def adjudicates(self) -> bool:
        return self.role is Role.ADJUDICATOR


class Item(Model):
    """A claim, one citation of it and the cited text, frozen: everything to be judged, nothing of the judge."""

    seq: int
    item_id: str
    run_id: str
    question_id: str
    question: str
    claim_id: str
    claim_index: int
    claim_text: str
    citation_n: int
    record_id: str
    pmid: str | None
    passage_id: str
    record: Record
    quote_text: str
    quote_given: bool = True
    quote_spans: tuple[Span, ...]
    needed: int

    @property
    def passage_text(self) -> str:
        """The text to be judged by: all that is stored of the record."""
        return self.record.text


class Event(Model):
    """One thing that a reviewer did with one item. `revision` counts 1, 2, 3 … per item and reviewer."""

    item_id: str
    reviewer_id: str
    revision: int
    kind: Kind
    verdict: Verdict | None = None
    confidence: Confidence | None = None
    reason_code: Reason | None = None
    comment: str | None = None
    blind: bool = False
    undoes: int | None = None
    seconds: float = 0.0
    role: Role = Role.REVIEWER
    created_at: str = ""


class Label(Model):
    """What one reviewer says of one item at present."""

    item_id: str
    reviewer_id: str
    revision: int = 0
    status: Status = Status.UNLABELLED
    verdict: Verdict | None = None
    blind_verdict: Verdict | None = None
    confidence: Confidence | None = None
    reason_code: Reason | None = None
    comment: str = ""
    flagged: bool = False
    revealed: bool = False
    role: Role = Role.REVIEWER
    seconds: float = 0.0
    reviewed_at: str | None = None


class RunSummary(Model):
    """A stored run in one line."""

    run_id: str
    kind: str
    question: str
    created_at: str
    abstained: bool
    claims: int
    flagged: int


_STATUS = {
    Kind.LABEL: Status.LABELLED, Kind.KEEP: Status.KEPT, Kind.REVISE: Status.REVISED, Kind.IMPORT: Status.IMPORTED,
}


def fold(item_id: str, reviewer_id: str, events: Iterable[Event]) -> Label:
    """What the events of one reviewer on one item add up to, in order of revision.

    A blind label that was taken back is gone for good: the verdict has been seen, so the next one isn't blind.
    """
    history = sorted(events, key=lambda e: e.revision)
    undone = {e.undoes for e in history if e.kind is Kind.UNDO}
    label = Label(item_id=item_id, reviewer_id=reviewer_id)
    for event in history:
        label = label.model_copy(update={"revision": event.revision, "role": event.role})
        if event.kind in (Kind.LABEL, Kind.REVEAL, Kind.IMPORT):
            label = label.model_copy(update={"revealed": True})
        if event.revision not in undone:
            label = label.model_copy(update=_effect(label, event))
    withdrawn = label.verdict is None and any(e.kind is Kind.LABEL and e.revision in undone for e in history)
    if withdrawn and label.status is Status.UNLABELLED:
        return label.model_copy(update={"status": Status.WITHDRAWN})
    return label


def _effect(label: Label, event: Event) -> dict[str, object]:
    """The fields of a label that one event sets."""
    changed: dict[str, object] = {"seconds": label.seconds + event.seconds}
    if event.kind in _STATUS:
        changed |= {"status": _STATUS[event.kind], "reviewed_at": event.created_at}
        if event.verdict is not None:
            changed["verdict"] = event.verdict
    if event.kind is Kind.LABEL:
        changed["blind_verdict"] = event.verdict if event.blind else None
    if event.kind is Kind.ANNOTATE:
        changed["reviewed_at"] = event.created_at
    if event.kind in (Kind.LABEL, Kind.REVISE, Kind.ANNOTATE, Kind.IMPORT):
        changed |= _remarks(event)
    if event.kind is Kind.SKIP and label.verdict is None:
        changed["status"] = Status.SKIPPED
    if event.kind in (Kind.FLAG, Kind.UNFLAG):
        changed["flagged"] = event.kind is Kind.FLAG
    return changed


def _remarks(event: Event) -> dict[str, object]:
    """Confidence, reason and comment: a label or revision leaves what it doesn't name, a note sets all three."""
    given: dict[str, object] = {
        "confidence": event.confidence, "reason_code": event.reason_code, "comment": event.comment,
    }
    if event.kind in (Kind.ANNOTATE, Kind.IMPORT):
        return given | {"comment": event.comment or ""}
    return {name: value for name, value in given.items() if value is not None}
