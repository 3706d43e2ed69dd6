"""What stands in the queue, which item a reviewer sees next, and how far the work has got.

A store and a reviewer go in; an item, counts and pace come out. The seat of an item that is open on somebody's
screen is leased for a while, so that nobody labels in vain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import combinations
from statistics import median

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select, update

from .agreement import Table, kappa, krippendorff_alpha
from .estimates import Estimate
from .labels import Item, Status
from .models import Judgement, Model
from .reviews import REVIEWERS_PER_ITEM, Store, as_item, cited, item_id_of
from .sampling import Candidate, draw
from .tables import adjudications, assignments, events, items, labels, now, runs, stamp

#: Pairs below which an agreement figure is not worth a conclusion.
TOO_FEW = 30

#: Minutes for which an opened item is kept for the reviewer who opened it.
LEASE_MINUTES = 30

Seqs = Select[tuple[int]]

_ASIDE = (Status.SKIPPED, Status.WITHDRAWN)


class View(StrEnum):
    """A way to go through the items."""

    UNREVIEWED = "unreviewed by me"
    SECOND = "needs second reviewer"
    DISAGREEMENTS = "disagreements"
    FLAGGED = "flagged"
    MINE = "my labels"
    ALL = "all"


class Progress(Model):
    """How far one reviewer has got. `pace` is items per hour, from the median time of the latest labels."""

    items: int
    labelled: int
    left: int
    pace: float | None


def next_item(store: Store, reviewer_id: str, view: View = View.UNREVIEWED, *, after: int = 0) -> Item | None:
    """The first item of a view behind place `after`, or from the top when there is none; its seat is leased."""
    for query in _queries(view, reviewer_id):
        for start in dict.fromkeys((after, 0)):
            item = _first(store, query, start)
            if item is not None:
                if view in (View.UNREVIEWED, View.SECOND):
                    lease(store, item.item_id, reviewer_id)
                return item
    return None


def _first(store: Store, query: Seqs, start: int) -> Item | None:
    place = query.selected_columns[0]
    with store.reading() as connection:
        seq = connection.execute(query.where(place > start).order_by(place).limit(1)).scalar()
        row = connection.execute(select(items).where(items.c.seq == seq)).mappings().first()
    return as_item(row) if row else None


def count(store: Store, reviewer_id: str, view: View) -> int:
    """How many items a view holds for a reviewer."""
    with store.reading() as connection:
        return sum(_number(connection, query) for query in _queries(view, reviewer_id))


def _number(connection: Connection, query: Seqs) -> int:
    found = query.distinct().subquery()
    return int(connection.execute(select(func.count()).select_from(found)).scalar_one())


def send_sample(store: Store, size: int, *, seed: int, needed: int = REVIEWERS_PER_ITEM) -> int:
    """Draw `size` claims from all stored runs that aren't queued yet, half uniformly, and queue them.

    Says how many were queued: fewer when the runs hold fewer. The items keep stratum and probability.
    """
    with store.reading() as connection:
        queued = set(connection.execute(select(items.c.item_id)).scalars())
        run_ids = connection.execute(select(runs.c.run_id).order_by(runs.c.run_id)).scalars().all()
    pool: dict[str, tuple[str, Candidate]] = {}
    for run_id in run_ids:
        pool |= {c.key: (run_id, c) for c in _candidates(store, run_id) if c.key not in queued}
    drawn = {d.key: d for d in draw([candidate for _, candidate in pool.values()], size, seed=seed)}
    in_turn = dict.fromkeys(pool[key][0] for key in drawn)
    return sum(store.send_to_review(run_id, needed=needed, drawn=drawn) for run_id in in_turn)


def _candidates(store: Store, run_id: str) -> list[Candidate]:
    answer = store.run(run_id)
    return [
        Candidate(
            key=item_id_of(run_id, claim.claim_id, place), uncertainty=_uncertainty(citation.judgement),
            verdict=citation.verdict or "unjudged",
        )
        for _, claim, place, citation in cited(answer)
    ] if answer else []


def _uncertainty(judgement: Judgement) -> float:
    """How much a judgement doubts itself, 0 to 1; an unjudged claim most of all."""
    if judgement.verdict is None or judgement.unsure:
        return 1.0
    return 0.5 if judgement.confidence is None else 1 - judgement.confidence


def reviewer_agreement(store: Store) -> list[tuple[str, Estimate]]:
    """How far reviewers agree on blind labels: kappa per pair, and alpha over all when there are more than two.

    Labels that were given or revised after the verdict was shown are left out: they agree with the judge, too.
    """
    query = select(items.c.item_id, items.c.question_id, labels.c.reviewer_id, labels.c.blind_verdict)
    blind = query.join(labels, labels.c.item_id == items.c.item_id).where(labels.c.blind_verdict.is_not(None))
    said: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    with store.reading() as connection:
        for item_id, question, reviewer_id, verdict in connection.execute(blind.order_by(items.c.seq)):
            said[item_id, question][reviewer_id] = verdict
    people = sorted({name for labelled in said.values() for name in labelled})
    found = [(f"Cohen's κ, {a} and {b}", _kappa_of(said, a, b)) for a, b in combinations(people, 2)]
    if len(people) > 2:
        ratings = [list(labelled.values()) for labelled in said.values()]
        alpha = krippendorff_alpha(ratings, [question for _, question in said])
        found.append((f"Krippendorff's α, {len(people)} reviewers", alpha))
    return [(name, figure) for name, figure in found if figure.n]


def _kappa_of(said: Mapping[tuple[str, str], Mapping[str, str]], first: str, second: str) -> Estimate:
    both = [(question, s[first], s[second]) for (_, question), s in said.items() if first in s and second in s]
    return kappa(Table([a for _, a, _ in both], [b for _, _, b in both], [question for question, _, _ in both]))


def progress(store: Store, reviewer_id: str, *, earlier: Progress | None = None) -> Progress:
    """How far a reviewer has got. Counting a long queue takes a while: with `earlier`, a progress of a moment ago, the
    queue isn't counted again but taken to be shorter by what this reviewer labelled since.
    """
    mine = select(func.count()).where(labels.c.reviewer_id == reviewer_id, labels.c.verdict.is_not(None))
    recent = select(events.c.seconds).where(events.c.reviewer_id == reviewer_id, events.c.kind == "label")
    with store.reading() as connection:
        done = connection.execute(mine).scalar_one()
        spent = connection.execute(recent.order_by(events.c.event_id.desc()).limit(20)).scalars().all()
    typical = median(spent) if spent else 0.0
    pace = 3600 / typical if typical > 0 else None
    if earlier is not None:
        left = max(0, earlier.left - (done - earlier.labelled))
        return Progress(items=earlier.items, labelled=done, left=left, pace=pace)
    with store.reading() as connection:
        total = connection.execute(select(func.count()).select_from(items)).scalar_one()
    return Progress(items=total, labelled=done, left=count(store, reviewer_id, View.UNREVIEWED), pace=pace)


def lease(store: Store, item_id: str, reviewer_id: str) -> None:
    """Keep a free seat of an item for a reviewer, and give back the ones that were kept before."""
    until = stamp(datetime.now(UTC) + timedelta(minutes=LEASE_MINUTES))
    free = assignments.c.reviewer_id.is_(None)
    with store.writing() as connection:
        connection.execute(update(assignments).where(free, assignments.c.leased_by == reviewer_id).values(
            leased_by=None, leased_until=None,
        ))
        here = assignments.c.item_id == item_id
        if connection.execute(select(assignments.c.slot).where(here, assignments.c.reviewer_id == reviewer_id)).first():
            return
        place = select(assignments.c.slot).where(here, _loose(reviewer_id)).order_by(assignments.c.slot).limit(1)
        slot = connection.execute(place.with_for_update(skip_locked=True)).scalar()
        if slot is not None:
            connection.execute(update(assignments).where(here, assignments.c.slot == slot, free).values(
                leased_by=reviewer_id, leased_until=until,
            ))


# --- the views as queries for places in the queue; only narrow tables are gone through
def _queries(view: View, reviewer_id: str) -> list[Seqs]:
    """A view's items; several queries are gone through one after the other."""
    if view is View.UNREVIEWED:
        return [_open_to(reviewer_id), _set_aside(reviewer_id)]
    if view is View.SECOND:
        return [_open_to(reviewer_id).where(_begun())]
    if view is View.DISAGREEMENTS:
        return [_disagreed()]
    if view is View.FLAGGED:
        return [select(labels.c.seq).where(labels.c.flagged)]
    if view is View.MINE:
        return [select(labels.c.seq).where(labels.c.reviewer_id == reviewer_id, labels.c.verdict.is_not(None))]
    return [select(items.c.seq)]


def _loose(reviewer_id: str) -> ColumnElement[bool]:
    """A seat that this reviewer could take now."""
    leased_by, until = assignments.c.leased_by, assignments.c.leased_until
    return and_(
        assignments.c.reviewer_id.is_(None), or_(leased_by.is_(None), leased_by == reviewer_id, until < now()),
    )


def _open_to(reviewer_id: str) -> Seqs:
    """Items with a seat free that this reviewer has neither labelled nor set aside."""
    touched = exists().where(
        labels.c.item_id == assignments.c.item_id, labels.c.reviewer_id == reviewer_id,
        or_(labels.c.verdict.is_not(None), labels.c.status.in_(_ASIDE)),
    )
    return select(assignments.c.seq).where(_loose(reviewer_id), ~touched)


def _set_aside(reviewer_id: str) -> Seqs:
    """Items that this reviewer skipped, or whose label was withdrawn, and that still have a seat for them."""
    seat = assignments.c.item_id == labels.c.item_id
    mine = exists().where(seat, assignments.c.reviewer_id == reviewer_id)
    free = exists().where(seat, _loose(reviewer_id))
    return select(labels.c.seq).where(
        labels.c.reviewer_id == reviewer_id, labels.c.verdict.is_(None), labels.c.status.in_(_ASIDE), or_(mine, free),
    )


def _begun() -> ColumnElement[bool]:
    """Somebody else has taken a seat at the item."""
    other = assignments.alias()
    return exists().where(other.c.item_id == assignments.c.item_id, other.c.reviewer_id.is_not(None))


def _disagreed() -> Seqs:
    """Items whose reviewers gave different labels and that nobody has adjudicated."""
    settled = select(items.c.seq).join(adjudications, adjudications.c.item_id == items.c.item_id)
    # Grouped by nothing but the place, the query is answered in its order from one index.
    standing = select(labels.c.seq).where(labels.c.verdict.is_not(None)).group_by(labels.c.seq)
    return standing.having(and_(func.min(labels.c.verdict) != func.max(labels.c.verdict), labels.c.seq.not_in(settled)))
