"""The store of runs and reviews: SQLite by default, PostgreSQL by URL, the same code for both.

What goes in: audited answers, judgements, and what reviewers do. What comes out: the same, unchanged. It refuses to
change a stored run, to let more reviewers label an item than it has seats, and to let anyone act who isn't on the
list of reviewers. Whatever returned without an error is on disk.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field
from sqlalchemy import Connection, Engine, RowMapping, create_engine, event, insert, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from .config import settings
from .errors import InputError, StoreError
from .labels import (
    UNDOABLE,
    Confidence,
    Event,
    Item,
    Kind,
    Label,
    Reason,
    Reviewer,
    Role,
    RunSummary,
    fold,
)
from .migrations import migrate
from .models import AuditedAnswer, AuditedClaim, CheckedCitation, Judgement, Model, Record, Verdict
from .observability import LabelGiven, tell
from .sampling import Drawn, Stratum, question_id, split_of
from .tables import adjudications, assignments, events, items, judgements, labels, now, reviewers, runs

#: How many reviewers an item gets unless told otherwise.
REVIEWERS_PER_ITEM = 2

#: Longest comment. Escaped for a spreadsheet it still fits into one cell, so no label is cut there.
LONGEST_COMMENT = 8_000

#: Seconds that a writer waits for its turn before it gives up.
_PATIENCE = 60


class StaleLabelError(StoreError):
    """The label was changed since it was shown; nothing was written."""


class Action(Model):
    """What a reviewer wants done. `key` makes a repeated send harmless; `expected` is the revision that was shown."""

    kind: Kind
    verdict: Verdict | None = None
    confidence: Confidence | None = None
    reason_code: Reason | None = None
    comment: str | None = None
    blind: bool = False
    undoes: int | None = None
    seconds: float = 0.0
    origin: str = "page"
    actor: str = ""
    expected: int | None = None
    key: str = Field(default_factory=lambda: uuid.uuid4().hex)


def open_store(url: str | None = None) -> Store:
    """Open the store at an SQLAlchemy URL, or the configured one; an older database is backed up and upgraded."""
    address = make_url(url or settings().database_url)
    engine = _engine(address)
    try:
        backup = migrate(engine)
    except SQLAlchemyError as error:
        where = address.render_as_string(hide_password=True)
        raise StoreError(f"can't open the database {where}: {_reason(error)}; check LITRAG_DB_URL") from error
    store = Store(engine, backup=backup)
    if backup is not None:
        store.rebuild_labels()
    return store


def _engine(address: URL) -> Engine:
    if address.get_backend_name() == "postgresql":
        if address.drivername == "postgresql":
            address = address.set(drivername="postgresql+pg8000")
        return create_engine(address, pool_pre_ping=True)
    if address.get_backend_name() != "sqlite":
        raise StoreError(f"database {address.get_backend_name()!r} isn't supported: use sqlite or postgresql")
    if address.database and address.database != ":memory:":
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(address, connect_args={"timeout": _PATIENCE})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver would otherwise begin transactions by its own rules
    for pragma in ("busy_timeout = 60000", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _reason(error: SQLAlchemyError) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error)


class Store:
    """One open database. Safe to share between threads; every call is a transaction of its own."""

    def __init__(self, engine: Engine, *, backup: str | None = None) -> None:
        self.engine = engine
        self.backup = backup

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A long read that shows one moment, whatever is written meanwhile."""
        level = {} if self.engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**level) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A write transaction: taken at once on SQLite, so that two writers queue up instead of failing."""
        try:
            with self.engine.connect().execution_options(begin="BEGIN IMMEDIATE") as connection, \
                    connection.begin():
                yield connection
        except SQLAlchemyError as error:
            raise StoreError(f"nothing was saved: {_reason(error)}; try again") from error

    # --- runs
    def save_run(self, answer: AuditedAnswer) -> None:
        """Store an answer; storing the same one again does nothing, and a run id is never given new content."""
        body = answer.to_json(indent=None)
        digest = hashlib.sha256(body.encode()).hexdigest()
        with self.writing() as connection:
            known = connection.execute(select(runs.c.digest).where(runs.c.run_id == answer.run_id)).scalar()
            if known is None:
                connection.execute(insert(runs), _run_row(answer, body, digest))
            elif known != digest:
                raise StoreError(
                    f"run {answer.run_id!r} is already stored with other content: give the new answer its own run_id"
                )

    def run(self, run_id: str) -> AuditedAnswer | None:
        with self.reading() as connection:
            body = connection.execute(select(runs.c.answer).where(runs.c.run_id == run_id)).scalar()
        return AuditedAnswer.from_json(body) if body is not None else None

    def corpus_of(self, run_id: str) -> tuple[str, str]:
        """Name and hash of the corpus that a run was judged on; empty when there is no such run."""
        with self.reading() as connection:
            found = connection.execute(select(runs.c.corpus, runs.c.corpus_hash).where(runs.c.run_id == run_id)).first()
        return (found[0] or "", found[1] or "") if found else ("", "")

    def runs(self, limit: int = 50) -> list[RunSummary]:
        """The latest runs, newest first."""
        columns = [runs.c[name] for name in RunSummary.model_fields]
        query = select(*columns).order_by(runs.c.created_at.desc(), runs.c.run_id).limit(limit)
        with self.reading() as connection:
            return [RunSummary(**row) for row in connection.execute(query).mappings()]

    # --- items and judgements
    def send_to_review(
        self, run_id: str, claim_ids: Sequence[str] | None = None, *, needed: int = REVIEWERS_PER_ITEM,
        drawn: Mapping[str, Drawn] | None = None,
    ) -> int:
        """Queue each citation of the claims (all, unless named) as an item; says how many are new.

        A claim that cites nothing has no source to be judged by and is left out. `drawn`, by item id, says how a
        sample was drawn; items that are not in it are then left out as well.
        """
        answer = self.run(run_id)
        if answer is None:
            raise StoreError(f"run {run_id!r} isn't stored: save it before sending it to review")
        unknown = set(claim_ids or ()) - {claim.claim_id for claim in answer.claims}
        if unknown:
            raise InputError(f"run {run_id!r} has no claim {sorted(unknown)[0]!r}")
        wanted = [c for c in cited(answer) if claim_ids is None or c[1].claim_id in claim_ids]
        rows = [_item_row(answer, *found, needed) for found in wanted]
        if drawn is not None:
            rows = [(row | _drawn_fields(drawn[row["item_id"]]), j) for row, j in rows if row["item_id"] in drawn]
        return self._queue(run_id, rows)

    def _queue(self, run_id: str, rows: Sequence[tuple[dict[str, Any], Judgement]]) -> int:
        with self.writing() as connection:
            connection.execute(select(runs.c.run_id).where(runs.c.run_id == run_id).with_for_update())
            present = set(connection.execute(select(items.c.item_id).where(items.c.run_id == run_id)).scalars())
            new = [(row, judgement) for row, judgement in rows if row["item_id"] not in present]
            for row, judgement in new:
                seq = connection.execute(insert(items).returning(items.c.seq), row).scalar_one()
                seats = [{"item_id": row["item_id"], "slot": s + 1, "seq": seq} for s in range(row["needed"])]
                connection.execute(insert(assignments), seats)
                connection.execute(insert(judgements), _judgement_row(row["item_id"], judgement))
        return len(new)

    def add_judgement(self, item_id: str, judgement: Judgement) -> None:
        """Add what a judge says of an item now. Earlier judgements stay, and labels aren't touched."""
        with self.writing() as connection:
            connection.execute(insert(judgements), _judgement_row(item_id, judgement))

    def judgements(self, item_id: str) -> list[Judgement]:
        """Every judgement of an item, oldest first. Not for a page that a reviewer labels on: see `reveal`."""
        query = select(judgements.c.body).where(judgements.c.item_id == item_id)
        with self.reading() as connection:
            found = connection.execute(query.order_by(judgements.c.judgement_id)).scalars()
            return [Judgement.model_validate_json(body) for body in found]

    def item(self, item_id: str) -> Item | None:
        with self.reading() as connection:
            row = connection.execute(select(items).where(items.c.item_id == item_id)).mappings().first()
        return as_item(row) if row else None

    # --- reviewers
    def add_reviewer(self, reviewer_id: str, role: Role = Role.REVIEWER) -> Reviewer:
        """Add a pseudonym, for use without sign-in; an existing one keeps its role."""
        name = reviewer_id.strip()
        if not name or len(name) > 60 or not name.isprintable():
            raise InputError(f"a pseudonym must be 1–60 printable characters, got {reviewer_id!r}")
        with self.writing() as connection:
            known = connection.execute(select(reviewers).where(reviewers.c.reviewer_id == name)).mappings().first()
            if known is None:
                person = Reviewer(reviewer_id=name, role=role)
                connection.execute(insert(reviewers), _reviewer_row(person))
                return person
        if known["login"]:
            raise StoreError(f"{name!r} belongs to a person who signs in: choose another pseudonym")
        return Reviewer(**{field: known[field] for field in Reviewer.model_fields})

    def reviewers(self) -> list[Reviewer]:
        query = select(*(reviewers.c[name] for name in Reviewer.model_fields)).order_by(reviewers.c.created_at)
        with self.reading() as connection:
            return [Reviewer(**row) for row in connection.execute(query).mappings()]

    def admit(self, allowed: Mapping[str, Role]) -> None:
        """Make the list of people who may sign in (e-mail → role) the one in force; others lose access."""
        people = {login.strip().casefold(): role for login, role in allowed.items()}
        known = {person.login: person for person in self.reviewers() if person.login}
        changed = [
            person.model_copy(update={"active": login in people, "role": people.get(login, person.role)})
            for login, person in known.items()
        ]
        changed = [after for after, before in zip(changed, known.values(), strict=True) if after != before]
        new = [
            Reviewer(reviewer_id=f"R-{uuid.uuid4().hex[:6]}", role=people[login], login=login)
            for login in sorted(set(people) - set(known))
        ]
        if not changed and not new:
            return
        with self.writing() as connection:
            for person in changed:
                row = update(reviewers).where(reviewers.c.reviewer_id == person.reviewer_id)
                connection.execute(row.values(role=person.role, active=person.active))
            for person in new:
                connection.execute(insert(reviewers), _reviewer_row(person))

    def signed_in(self, email: str) -> Reviewer:
        """The reviewer behind a verified e-mail; refused when it isn't on the list that `admit` was given."""
        found = [r for r in self.reviewers() if r.login == email.strip().casefold() and r.active]
        if not found:
            raise StoreError(f"{email} isn't on the list of reviewers: ask an administrator to add it")
        return found[0]

    # --- labels
    def label(self, item_id: str, reviewer_id: str) -> Label:
        """What a reviewer says of an item at present."""
        with self.reading() as connection:
            return self.label_within(connection, item_id, reviewer_id)

    def labels(self, item_id: str) -> list[Label]:
        """The standing labels of an item. Other people's: for adjudicators only."""
        query = select(labels).where(labels.c.item_id == item_id, labels.c.verdict.is_not(None))
        with self.reading() as connection:
            return [as_label(row) for row in connection.execute(query.order_by(labels.c.reviewer_id)).mappings()]

    def act(self, item_id: str, reviewer_id: str, action: Action) -> Label:
        """Save one thing that a reviewer did and return what the label is now.

        The same `key` again changes nothing. A label shown at another revision than `expected` raises
        `StaleLabelError`. `blind` is granted only to who has not been shown a verdict of this item.
        """
        with self.writing() as connection:
            label = self.act_within(connection, item_id, reviewer_id, action)
        if action.kind in (Kind.LABEL, Kind.REVISE) and action.verdict is not None:
            self._tell(item_id, action.verdict)
        return label

    def _tell(self, item_id: str, verdict: Verdict) -> None:
        """Tell whoever watches of a label, beside what the judge had said."""
        with self.reading() as connection:
            query = select(items.c.run_id, items.c.claim_id, items.c.created_at).where(items.c.item_id == item_id)
            run_id, claim_id, queued = connection.execute(query).one()
        said = self.judgements(item_id)
        lag = (datetime.now(UTC) - datetime.fromisoformat(queued)).total_seconds()
        judged = said[-1].verdict.value if said and said[-1].verdict else ""
        tell(LabelGiven(run_id, item_id, claim_id, verdict.value, judged, lag))

    def act_within(self, connection: Connection, item_id: str, reviewer_id: str, action: Action) -> Label:
        """`act` as part of a larger write transaction: several actions, all or nothing."""
        check_comment(action.comment)
        seq = _lock_item(connection, item_id)
        reviewer = _active_reviewer(connection, reviewer_id)
        history = self._events(connection, item_id, reviewer_id)
        label = fold(item_id, reviewer_id, history)
        if _already_done(connection, item_id, reviewer_id, action):
            return label
        step = _check_step(label, history, action)
        blind = step.blind and not label.revealed and not _has_adjudicated(connection, item_id, reviewer_id)
        row = _event_row(label, step, reviewer) | {
            "blind": blind and step.kind is Kind.LABEL,
            "slot": _seat(connection, item_id, reviewer_id, take=step.kind in (Kind.LABEL, Kind.IMPORT)),
            "judgement_id": _latest_judgement(connection, item_id),
        }
        connection.execute(insert(events), row)
        label = fold(item_id, reviewer_id, [*history, as_event(row)])
        _store_label(connection, seq, label)
        return label

    def reveal(self, item_id: str, reviewer_id: str) -> Judgement | None:
        """The judge's latest word on an item. That it was shown is stored, and ends blindness for good."""
        if not self.label(item_id, reviewer_id).revealed:
            self.act(item_id, reviewer_id, Action(kind=Kind.REVEAL))
        found = self.judgements(item_id)
        return found[-1] if found else None

    def last_action(self, reviewer_id: str) -> Event | None:
        """The latest thing that this reviewer could take back, on whatever item."""
        query = select(events).where(events.c.reviewer_id == reviewer_id).order_by(events.c.event_id.desc())
        undone: set[tuple[str, int | None]] = set()
        with self.reading() as connection:
            for row in connection.execute(query.limit(200)).mappings():
                step = as_event(row)
                if step.kind is Kind.UNDO:
                    undone.add((step.item_id, step.undoes))
                elif step.kind in UNDOABLE and (step.item_id, step.revision) not in undone:
                    return step
        return None

    def adjudicate(
        self, item_id: str, adjudicator_id: str, verdict: Verdict, *, comment: str = "", key: str | None = None,
    ) -> None:
        """Add a gold label. Labels stay as they are, and so do earlier adjudications; the latest one counts."""
        check_comment(comment)
        key = key or uuid.uuid4().hex
        with self.writing() as connection:
            _lock_item(connection, item_id)
            if not _active_reviewer(connection, adjudicator_id).adjudicates:
                raise StoreError(f"{adjudicator_id!r} may label but not adjudicate: ask an adjudicator")
            if connection.execute(select(adjudications.c.key).where(adjudications.c.key == key)).first():
                return
            standing = select(labels.c.item_id).where(labels.c.item_id == item_id, labels.c.verdict.is_not(None))
            if connection.execute(standing).first() is None:
                raise StoreError(f"item {item_id!r} has no label yet: it must be reviewed before it is adjudicated")
            connection.execute(insert(adjudications), {
                "item_id": item_id, "adjudicator_id": adjudicator_id, "verdict": Verdict(verdict),
                "comment": comment, "created_at": now(), "key": key,
            })

    def gold(self, item_id: str) -> Verdict | None:
        """The latest adjudicated label of an item."""
        with self.reading() as connection:
            return self.gold_within(connection, item_id)

    def gold_within(self, connection: Connection, item_id: str) -> Verdict | None:
        query = select(adjudications.c.verdict).where(adjudications.c.item_id == item_id)
        found = connection.execute(query.order_by(adjudications.c.adjudication_id.desc()).limit(1)).scalar()
        return Verdict(found) if found else None

    def label_within(self, connection: Connection, item_id: str, reviewer_id: str) -> Label:
        return fold(item_id, reviewer_id, self._events(connection, item_id, reviewer_id))

    def events(self, item_id: str, reviewer_id: str) -> list[Event]:
        """Everything that a reviewer did with an item, oldest first."""
        with self.reading() as connection:
            return self._events(connection, item_id, reviewer_id)

    @staticmethod
    def _events(connection: Connection, item_id: str, reviewer_id: str) -> list[Event]:
        query = select(events).where(events.c.item_id == item_id, events.c.reviewer_id == reviewer_id)
        return [as_event(row) for row in connection.execute(query.order_by(events.c.revision)).mappings()]

    def rebuild_labels(self) -> None:
        """Compute the table of labels afresh from the events."""
        pairs = select(events.c.item_id, events.c.reviewer_id, items.c.seq).distinct()
        with self.writing() as connection:
            found = connection.execute(pairs.join(items, items.c.item_id == events.c.item_id)).all()
            connection.execute(labels.delete())
            for item_id, reviewer_id, seq in found:
                _store_label(connection, seq, self.label_within(connection, item_id, reviewer_id))


# --- rows to models and back
def cited(answer: AuditedAnswer) -> list[tuple[int, AuditedClaim, int, CheckedCitation]]:
    """Each citation of each claim with their positions: what can be reviewed in an answer."""
    return [
        (index, claim, place, citation)
        for index, claim in enumerate(answer.claims) for place, citation in enumerate(claim.citations)
    ]


def item_id_of(run_id: str, claim_id: str, place: int) -> str:
    """Id of a claim's citation: the same each time, and nothing that a spreadsheet takes for a number or date."""
    return "it-" + hashlib.sha256(f"{run_id}\x00{claim_id}\x00{place}".encode()).hexdigest()[:16]


def _run_row(answer: AuditedAnswer, body: str, digest: str) -> dict[str, Any]:
    setup = answer.model_dump(mode="json", include={
        "schema_version", "generator", "judge", "judge_version", "seconds", "cost_usd", "notes",
    })
    return {
        "run_id": answer.run_id, "kind": answer.kind, "question": answer.question,
        "question_id": question_id(answer.question, answer.run_id),
        "created_at": answer.created_at.isoformat(), "stored_at": now(), "abstained": answer.abstained,
        "claims": len(answer.claims), "flagged": sum(claim.flagged for claim in answer.claims),
        "corpus": answer.corpus, "corpus_hash": answer.corpus_hash, "settings": json.dumps(setup),
        "answer": body, "digest": digest,
    }


def _item_row(
    answer: AuditedAnswer, index: int, claim: AuditedClaim, place: int, citation: CheckedCitation, needed: int,
) -> tuple[dict[str, Any], Judgement]:
    record = _source_record(answer, citation)
    question = question_id(answer.question, answer.run_id)
    row = {
        "item_id": item_id_of(answer.run_id, claim.claim_id, place), "run_id": answer.run_id,
        "question_id": question, "question": answer.question, "claim_id": claim.claim_id, "claim_index": index,
        "claim_text": claim.text, "citation_n": citation.n, "record_id": citation.record_id, "pmid": citation.pmid,
        "passage_id": citation.passage_id, "passage_text": record.text, "quote_text": citation.quote,
        "quote_given": citation.quote_given,
        "quote_match": citation.location.match, "quote_spans": json.dumps(citation.location.spans),
        "study": record.model_dump_json(exclude={"text"}), "needed": needed, "sampling_stratum": Stratum.CHOSEN,
        "sampling_prob": None, "split": split_of(question), "created_at": now(),
    }
    return row, citation.judgement


def _source_record(answer: AuditedAnswer, citation: CheckedCitation) -> Record:
    try:
        return answer.source(citation.n).record
    except KeyError:
        raise StoreError(f"run {answer.run_id!r} cites [{citation.n}] but carries no such source") from None


def _drawn_fields(drawn: Drawn) -> dict[str, Any]:
    return {"sampling_stratum": drawn.stratum, "sampling_prob": drawn.probability}


def _judgement_row(item_id: str, judgement: Judgement) -> dict[str, Any]:
    fields = judgement.model_dump(include={
        "verdict", "confidence", "rationale", "judge", "model", "version", "unjudged_reason",
    })
    return fields | {"item_id": item_id, "body": judgement.model_dump_json(), "created_at": now()}


def _reviewer_row(person: Reviewer) -> dict[str, Any]:
    return person.model_dump() | {"created_at": now()}


def as_item(row: RowMapping) -> Item:
    fields = {name: row[name] for name in Item.model_fields if name != "record"}
    record = Record.model_validate_json(row["study"]).model_copy(update={"text": row["passage_text"]})
    return Item.model_validate(fields | {"quote_spans": json.loads(row["quote_spans"]), "record": record})


def as_event(row: RowMapping | Mapping[str, Any]) -> Event:
    return Event.model_validate({name: row[name] for name in Event.model_fields})


def as_label(row: RowMapping) -> Label:
    return Label.model_validate({name: row[name] for name in Label.model_fields})


# --- the checks and writes of one action
def check_comment(comment: str | None) -> None:
    if comment is None:
        return
    if len(comment) > LONGEST_COMMENT:
        raise InputError(f"the comment has {len(comment):,} characters; at most {LONGEST_COMMENT:,} are kept")
    try:
        comment.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the comment holds half a character at position {error.start}: type it again") from None


def _lock_item(connection: Connection, item_id: str) -> int:
    """Take the item for this transaction and return its place in the queue."""
    query = select(items.c.seq).where(items.c.item_id == item_id).with_for_update()
    seq = connection.execute(query).scalar()
    if seq is None:
        raise StoreError(f"there is no item {item_id!r} in the review store")
    return int(seq)


def _active_reviewer(connection: Connection, reviewer_id: str) -> Reviewer:
    row = connection.execute(select(reviewers).where(reviewers.c.reviewer_id == reviewer_id)).mappings().first()
    if row is None or not row["active"]:
        raise StoreError(f"{reviewer_id!r} isn't on the list of reviewers: add the pseudonym, or sign in")
    return Reviewer(**{field: row[field] for field in Reviewer.model_fields})


def _already_done(connection: Connection, item_id: str, reviewer_id: str, action: Action) -> bool:
    row = connection.execute(select(events).where(events.c.key == action.key)).mappings().first()
    if row is None:
        return False
    if (row["item_id"], row["reviewer_id"], row["kind"]) != (item_id, reviewer_id, action.kind):
        raise StoreError(f"key {action.key!r} was used for another action: send each action with a key of its own")
    return True


def _check_step(label: Label, history: Sequence[Event], action: Action) -> Action:
    """The action as it can be written, or an error that says why it can't."""
    if action.expected is not None and action.expected != label.revision:
        raise StaleLabelError(
            f"this label was changed elsewhere (revision {label.revision}, {action.expected} was shown): look again"
        )
    if action.kind in (Kind.LABEL, Kind.REVISE, Kind.IMPORT) and action.verdict is None:
        raise InputError(f"{action.kind} needs one of {', '.join(Verdict)}")
    if action.kind is Kind.LABEL and label.verdict is not None:
        raise StaleLabelError(f"item {label.item_id} already has your label {label.verdict}: revise it instead")
    if action.kind in (Kind.KEEP, Kind.REVISE, Kind.ANNOTATE) and label.verdict is None:
        raise StoreError(f"item {label.item_id} has no label of yours to {action.kind}: label it first")
    if action.kind is Kind.UNDO:
        return action.model_copy(update={"undoes": _undone_step(history, action.undoes)})
    return action


def _undone_step(history: Sequence[Event], wanted: int | None) -> int:
    gone = {step.undoes for step in history if step.kind is Kind.UNDO}
    open_steps = [s.revision for s in history if s.kind in UNDOABLE and s.revision not in gone]
    if not open_steps or (wanted is not None and wanted not in open_steps):
        raise StoreError("there is nothing to undo" if wanted is None else f"revision {wanted} can't be undone")
    return wanted if wanted is not None else open_steps[-1]


def _event_row(label: Label, action: Action, reviewer: Reviewer) -> dict[str, Any]:
    fields = action.model_dump(include={
        "kind", "verdict", "confidence", "reason_code", "comment", "undoes", "seconds", "origin", "key",
    })
    return fields | {
        "item_id": label.item_id, "reviewer_id": reviewer.reviewer_id, "revision": label.revision + 1,
        "role": reviewer.role, "actor": action.actor or reviewer.reviewer_id, "created_at": now(),
    }


def _seat(connection: Connection, item_id: str, reviewer_id: str, *, take: bool) -> int | None:
    """The reviewer's seat at an item; with `take`, one is taken, or the lack of one is an error."""
    rows = connection.execute(select(assignments).where(assignments.c.item_id == item_id)).mappings().all()
    mine = [row["slot"] for row in rows if row["reviewer_id"] == reviewer_id]
    if mine or not take:
        return mine[0] if mine else None
    moment = now()
    free = [r for r in rows if r["reviewer_id"] is None]
    own = [r["slot"] for r in free if r["leased_by"] == reviewer_id]
    loose = [r["slot"] for r in free if r["leased_by"] is None or r["leased_until"] < moment]
    if not own + loose:
        why = "is being labelled by others just now" if free else f"already has its {len(rows)} reviewers"
        raise StoreError(f"item {item_id} {why}: take the next one")
    slot = (own + loose)[0]
    seat = (assignments.c.item_id == item_id) & (assignments.c.slot == slot)
    connection.execute(update(assignments).where(seat).values(
        reviewer_id=reviewer_id, leased_by=None, leased_until=None,
    ))
    return int(slot)


def _has_adjudicated(connection: Connection, item_id: str, reviewer_id: str) -> bool:
    mine = (adjudications.c.item_id == item_id) & (adjudications.c.adjudicator_id == reviewer_id)
    return connection.execute(select(adjudications.c.key).where(mine)).first() is not None


def _latest_judgement(connection: Connection, item_id: str) -> int | None:
    query = select(judgements.c.judgement_id).where(judgements.c.item_id == item_id)
    return connection.execute(query.order_by(judgements.c.judgement_id.desc()).limit(1)).scalar()


def _store_label(connection: Connection, seq: int, label: Label) -> None:
    fields = label.model_dump()
    mine = (labels.c.item_id == label.item_id) & (labels.c.reviewer_id == label.reviewer_id)
    if not connection.execute(update(labels).where(mine).values(**fields)).rowcount:
        connection.execute(insert(labels), fields | {"seq": seq})
