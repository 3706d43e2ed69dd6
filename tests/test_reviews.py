"""The store: runs stay as they were, labels are only added to, seats and roles are enforced."""

import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.answers import answer, judgement, record
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from litrag.errors import InputError, StoreError
from litrag.labels import Item, Kind, Role, Status
from litrag.models import AuditedClaim, Verdict
from litrag.queues import View, count, next_item, progress, send_sample
from litrag.review_html import claim_html
from litrag.reviews import Action, StaleLabelError, item_id_of, open_store
from litrag.tables import events, items, stamp

pytest_plugins = ["fakes.stores"]

S, P, C, N = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS, Verdict.NOT_FOUND


@pytest.fixture
def queue(store):
    """Three items of one run, two reviewers, one adjudicator; returns the item ids."""
    store.save_run(answer([S, P, C]))
    store.send_to_review("run-a")
    for name in ("ann", "bob"):
        store.add_reviewer(name)
    store.add_reviewer("eve", Role.ADJUDICATOR)
    return [item_id_of("run-a", f"c{n}", 0) for n in (1, 2, 3)]


def label(verdict, **more):
    return Action(kind=Kind.LABEL, verdict=verdict, blind=True, **more)


# --- runs
def test_a_run_comes_back_equal(store):
    given = answer([S, None], question="Does it?\x00")
    store.save_run(given)
    assert store.run("run-a") == given
    assert store.run("another") is None


def test_saving_the_same_run_twice_is_harmless_and_other_content_is_refused(store):
    given = answer([S])
    store.save_run(given)
    store.save_run(given)
    assert [r.run_id for r in store.runs()] == ["run-a"]
    with pytest.raises(StoreError, match="give the new answer its own run_id"):
        store.save_run(given.model_copy(update={"question": "Another?"}))
    assert store.run("run-a") == given


def test_runs_are_listed_newest_first_with_what_needs_a_look(store):
    first, second = answer([S, P], run_id="one"), answer([S], run_id="two")
    for run in (first, second):
        store.save_run(run)
    summary = store.runs()[1]
    assert (summary.run_id, summary.claims, summary.flagged, summary.abstained) == ("one", 2, 1, False)
    assert [r.run_id for r in store.runs(limit=1)] == ["two"]


def test_rows_of_history_can_be_neither_changed_nor_deleted(store, queue):
    store.act(queue[0], "ann", label(S))
    store.adjudicate(queue[0], "eve", S)
    for table in ("runs", "items", "judgements", "events", "adjudications"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET created_at = 'x'"):
            with pytest.raises(DBAPIError, match="only ever added"), store.engine.begin() as connection:
                connection.execute(text(statement))


# --- queueing
def test_each_citation_becomes_one_item_once(store):
    given = answer([S, P])
    doubled = given.claims[0].model_copy(update={"citations": given.claims[0].citations * 2})
    uncited = AuditedClaim(claim_id="u", text="Nothing is cited here.")
    store.save_run(given.model_copy(update={"claims": (doubled, given.claims[1], uncited)}))
    assert store.send_to_review("run-a", ["c1"]) == 2
    assert store.send_to_review("run-a") == 1
    assert store.send_to_review("run-a") == 0


def test_an_item_freezes_what_was_judged_and_holds_nothing_of_the_judge(store, queue):
    item = store.item(queue[0])
    start, end = item.quote_spans[0]
    assert item.passage_text[start:end] == item.quote_text
    assert (item.record, item.claim_index, item.citation_n) == (record(1), 0, 1)
    shown = item.model_dump_json()
    assert "The arms differ." not in shown
    assert "supports" not in shown
    assert not {"verdict", "confidence", "rationale", "quote_match"} & set(Item.model_fields)


def test_an_item_says_whether_the_author_gave_its_quote(store):
    given = answer([S, S])
    citation = given.claims[1].citations[0].model_copy(update={"quote_given": False})
    chosen = given.claims[1].model_copy(update={"citations": (citation,)})
    store.save_run(given.model_copy(update={"claims": (given.claims[0], chosen)}))
    store.send_to_review("run-a")
    items_there = [store.item(item_id_of("run-a", f"c{n}", 0)) for n in (1, 2)]
    assert [item.quote_given for item in items_there] == [True, False]
    assert "Quote given" in claim_html(items_there[0])
    assert "likely evidence" in claim_html(items_there[1])


def test_an_unknown_run_or_claim_is_named(store):
    with pytest.raises(StoreError, match="'nope' isn't stored"):
        store.send_to_review("nope")
    store.save_run(answer([S]))
    with pytest.raises(InputError, match="no claim 'c9'"):
        store.send_to_review("run-a", ["c9"])


# --- labels
def test_a_blind_label_and_its_revision_are_both_kept(store, queue):
    store.act(queue[0], "ann", label(P, seconds=12.5))
    assert store.reveal(queue[0], "ann").verdict is S
    now = store.act(queue[0], "ann", Action(kind=Kind.REVISE, verdict=S, reason_code="overreach", seconds=3))
    assert (now.blind_verdict, now.verdict, now.status, now.seconds) == (P, S, Status.REVISED, 15.5)
    assert [e.kind for e in store.events(queue[0], "ann")] == [Kind.LABEL, Kind.REVISE]


def test_keeping_a_label_is_stored_as_well(store, queue):
    store.act(queue[0], "ann", label(P))
    assert store.act(queue[0], "ann", Action(kind=Kind.KEEP)).status is Status.KEPT


def test_a_double_click_writes_once(store, queue):
    twice = label(S, key="one click")
    assert store.act(queue[0], "ann", twice) == store.act(queue[0], "ann", twice)
    assert len(store.events(queue[0], "ann")) == 1


def test_a_key_cannot_be_used_for_something_else(store, queue):
    store.act(queue[0], "ann", label(S, key="k"))
    with pytest.raises(StoreError, match="'k' was used for another action"):
        store.act(queue[1], "ann", label(S, key="k"))


def test_a_label_shown_before_a_change_elsewhere_is_refused(store, queue):
    store.act(queue[0], "ann", label(S, expected=0))
    with pytest.raises(StaleLabelError, match="look again"):
        store.act(queue[0], "ann", label(P, expected=0))
    assert store.label(queue[0], "ann").verdict is S


def test_an_undone_label_leaves_the_event_and_the_next_one_is_not_blind(store, queue):
    store.act(queue[0], "ann", label(P))
    undone = store.act(queue[0], "ann", Action(kind=Kind.UNDO))
    assert (undone.verdict, undone.status, undone.revision) == (None, Status.WITHDRAWN, 2)
    again = store.act(queue[0], "ann", label(S))
    assert (again.verdict, again.blind_verdict) == (S, None)
    assert [e.kind for e in store.events(queue[0], "ann")] == [Kind.LABEL, Kind.UNDO, Kind.LABEL]


def test_undo_takes_back_one_step_after_the_other_and_then_says_that_nothing_is_left(store, queue):
    store.act(queue[0], "ann", label(P, comment="first"))
    store.act(queue[0], "ann", Action(kind=Kind.ANNOTATE, comment="second"))
    store.act(queue[0], "ann", Action(kind=Kind.REVISE, verdict=C))
    undo = Action(kind=Kind.UNDO)
    seen = [store.act(queue[0], "ann", undo.model_copy(update={"key": str(n)})) for n in range(3)]
    assert [(s.verdict, s.comment) for s in seen] == [(P, "second"), (P, "first"), (None, "")]
    with pytest.raises(StoreError, match="nothing to undo"):
        store.act(queue[0], "ann", Action(kind=Kind.UNDO))


def test_the_last_action_is_found_on_whatever_item(store, queue):
    store.act(queue[0], "ann", label(P))
    store.act(queue[1], "ann", Action(kind=Kind.SKIP))
    assert store.last_action("ann").item_id == queue[1]
    store.act(queue[1], "ann", Action(kind=Kind.UNDO))
    assert (store.last_action("ann").item_id, store.last_action("ann").kind) == (queue[0], Kind.LABEL)
    assert store.last_action("bob") is None


def test_a_verdict_that_was_shown_first_makes_the_label_not_blind(store, queue):
    assert store.reveal(queue[0], "ann").verdict is S
    assert store.act(queue[0], "ann", label(P)).blind_verdict is None
    assert store.act(queue[1], "ann", Action(kind=Kind.LABEL, verdict=P)).blind_verdict is None
    assert store.act(queue[0], "bob", label(P)).blind_verdict is P


def test_who_adjudicated_an_item_can_no_longer_label_it_blind(store, queue):
    store.act(queue[0], "ann", label(P))
    store.adjudicate(queue[0], "eve", P)
    assert store.act(queue[0], "eve", label(P)).blind_verdict is None


def test_judging_again_changes_no_label_and_both_judgements_stay(store, queue):
    before = store.act(queue[0], "ann", label(N, comment="not in the text"))
    store.add_judgement(queue[0], judgement(P, version="2"))
    store.add_judgement(queue[1], judgement(P, version="2"))
    assert store.label(queue[0], "ann") == before
    assert store.labels(queue[1]) == []
    assert [(j.verdict, j.version) for j in store.judgements(queue[0])] == [(S, "1"), (P, "2")]


def test_opening_or_skipping_an_item_labels_nothing(store, queue):
    next_item(store, "ann")
    skipped = store.act(queue[0], "ann", Action(kind=Kind.SKIP))
    assert (skipped.verdict, skipped.status) == (None, Status.SKIPPED)
    assert store.labels(queue[0]) == []
    assert progress(store, "ann").labelled == 0


def test_a_flag_can_be_set_and_taken_back(store, queue):
    assert store.act(queue[0], "ann", Action(kind=Kind.FLAG)).flagged
    assert count(store, "ann", View.FLAGGED) == 1
    assert not store.act(queue[0], "ann", Action(kind=Kind.UNFLAG)).flagged
    assert count(store, "ann", View.FLAGGED) == 0


def test_the_table_of_labels_is_what_the_events_add_up_to(store, queue):
    rng = random.Random(1)
    for _ in range(120):
        item, who = rng.choice(queue), rng.choice(["ann", "bob"])
        kind = rng.choice([k for k in Kind if k is not Kind.IMPORT])
        try:
            store.act(item, who, Action(kind=kind, verdict=rng.choice(list(Verdict)), blind=True, comment=rng.choice("ab")))
        except StoreError:
            continue
    before = [store.labels(item) for item in queue]
    store.rebuild_labels()
    assert [store.labels(item) for item in queue] == before
    assert any(before)


@pytest.mark.parametrize("comment", ["x" * 8_001, "half a \ud83d character"])
def test_a_comment_that_cannot_be_kept_whole_is_refused(store, queue, comment):
    with pytest.raises(InputError, match="comment"):
        store.act(queue[0], "ann", label(S, comment=comment))
    assert store.events(queue[0], "ann") == []


@pytest.mark.parametrize("comment", ["NUL \x00 and SUB \x1a0", "😀 \u202eRTL", "a\r\nb", "'); DROP TABLE events; --", ""])
def test_a_comment_comes_back_exactly(store, queue, comment):
    store.act(queue[0], "ann", label(S, comment=comment))
    assert store.label(queue[0], "ann").comment == comment
    assert store.labels(queue[0])[0].comment == comment


# --- who may do what
def test_an_item_takes_as_many_reviewers_as_it_has_seats(store, queue):
    store.act(queue[0], "ann", label(S))
    store.act(queue[0], "bob", label(P))
    with pytest.raises(StoreError, match="already has its 2 reviewers"):
        store.act(queue[0], "eve", label(S))
    assert [(found.reviewer_id, found.verdict) for found in store.labels(queue[0])] == [("ann", S), ("bob", P)]


def test_the_database_itself_refuses_a_label_without_a_seat(store, queue):
    store.act(queue[0], "ann", label(S))
    forged = {
        "item_id": queue[0], "reviewer_id": "eve", "revision": 1, "kind": "label", "verdict": "supports", "blind": True,
        "seconds": 0.0, "role": "reviewer", "origin": "page", "actor": "eve", "created_at": "now", "key": "forged",
    }
    for slot in (None, 1, 2, 3):
        with pytest.raises(DBAPIError), store.engine.begin() as connection:
            connection.execute(events.insert(), forged | {"slot": slot})


def test_only_active_reviewers_act(store, queue):
    with pytest.raises(StoreError, match="'mallory' isn't on the list"):
        store.act(queue[0], "mallory", label(S))
    with pytest.raises(StoreError, match="'mallory' isn't on the list"):
        store.adjudicate(queue[0], "mallory", S)


def test_only_an_adjudicator_adjudicates_and_labels_stay(store, queue):
    store.act(queue[0], "ann", label(S))
    store.act(queue[0], "bob", label(P))
    before = store.labels(queue[0])
    with pytest.raises(StoreError, match="may label but not adjudicate"):
        store.adjudicate(queue[0], "ann", S)
    store.adjudicate(queue[0], "eve", P, comment="unit", key="once")
    store.adjudicate(queue[0], "eve", P, comment="unit", key="once")
    store.adjudicate(queue[0], "eve", N)
    assert store.gold(queue[0]) is N
    assert store.labels(queue[0]) == before
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM adjudications")).scalar() == 2


def test_an_item_without_a_label_cannot_be_adjudicated(store, queue):
    with pytest.raises(StoreError, match="has no label yet"):
        store.adjudicate(queue[0], "eve", S)


def test_the_list_of_people_who_may_sign_in_is_enforced_by_the_store(store, queue):
    store.admit({"Dr.A@example.org": Role.ADJUDICATOR, "b@example.org": Role.REVIEWER})
    first = store.signed_in("dr.a@EXAMPLE.org")
    assert first.adjudicates
    assert "example" not in first.reviewer_id
    with pytest.raises(StoreError, match="isn't on the list"):
        store.signed_in("c@example.org")
    store.admit({"b@example.org": Role.REVIEWER})
    with pytest.raises(StoreError, match="isn't on the list"):
        store.act(queue[0], first.reviewer_id, label(S))
    store.admit({"dr.a@example.org": Role.REVIEWER})
    assert store.signed_in("dr.a@example.org").reviewer_id == first.reviewer_id
    store.act(queue[0], first.reviewer_id, label(S))
    with pytest.raises(StoreError, match="may label but not adjudicate"):
        store.adjudicate(queue[0], first.reviewer_id, S)


def test_a_pseudonym_of_a_person_who_signs_in_cannot_be_taken(store):
    store.admit({"a@example.org": Role.ADJUDICATOR})
    with pytest.raises(StoreError, match="choose another"):
        store.add_reviewer(store.signed_in("a@example.org").reviewer_id)


def test_adding_a_pseudonym_again_keeps_its_role(store):
    store.add_reviewer(" ann ")
    assert not store.add_reviewer("ann", Role.ADJUDICATOR).adjudicates
    with pytest.raises(InputError, match="1–60 printable characters"):
        store.add_reviewer(" ")


# --- queues
def test_two_reviewers_are_not_given_the_same_last_seat(store):
    store.save_run(answer([S, P]))
    store.send_to_review("run-a", needed=1)
    for name in ("ann", "bob"):
        store.add_reviewer(name)
    first, second = next_item(store, "ann"), next_item(store, "bob")
    assert first.item_id != second.item_id
    with pytest.raises(StoreError, match="being labelled by others"):
        store.act(first.item_id, "bob", label(S))
    store.act(first.item_id, "ann", label(S))
    store.act(second.item_id, "bob", label(S))
    assert next_item(store, "ann") is None


def test_a_lease_runs_out(store, monkeypatch):
    store.save_run(answer([S]))
    store.send_to_review("run-a", needed=1)
    for name in ("ann", "bob"):
        store.add_reviewer(name)
    monkeypatch.setattr("litrag.queues.stamp", lambda moment: stamp(moment).replace("20", "19", 1))
    assert next_item(store, "ann") is not None
    assert next_item(store, "bob") is not None


def test_skipped_items_come_again_after_all_others(store, queue):
    store.act(queue[0], "ann", Action(kind=Kind.SKIP))
    order = []
    for _ in range(3):
        order.append(next_item(store, "ann").item_id)
        store.act(order[-1], "ann", label(S))
    assert order == [queue[1], queue[2], queue[0]]
    assert next_item(store, "ann") is None


def test_next_goes_on_behind_the_item_at_hand_and_then_from_the_top(store, queue):
    second = next_item(store, "ann", after=store.item(queue[0]).seq)
    last = next_item(store, "ann", after=store.item(queue[2]).seq)
    assert (second.item_id, last.item_id) == (queue[1], queue[0])


def test_each_view_holds_what_it_says(store, queue):
    store.act(queue[0], "ann", label(S))
    store.act(queue[0], "bob", label(P))
    store.act(queue[1], "ann", label(S))
    store.act(queue[1], "ann", Action(kind=Kind.FLAG))
    counts = {view: count(store, "bob", view) for view in View}
    assert counts == {
        View.UNREVIEWED: 2, View.SECOND: 1, View.DISAGREEMENTS: 1, View.FLAGGED: 1, View.MINE: 1, View.ALL: 3,
    }
    assert next_item(store, "bob", View.SECOND).item_id == queue[1]
    assert next_item(store, "eve", View.DISAGREEMENTS).item_id == queue[0]
    store.adjudicate(queue[0], "eve", S)
    assert next_item(store, "eve", View.DISAGREEMENTS) is None


def test_a_withdrawn_label_is_no_disagreement(store, queue):
    store.act(queue[0], "ann", label(S))
    store.act(queue[0], "bob", label(P))
    store.act(queue[0], "bob", Action(kind=Kind.UNDO))
    assert count(store, "eve", View.DISAGREEMENTS) == 0


def test_pace_is_the_typical_time_of_the_latest_labels(store, queue):
    assert progress(store, "ann").pace is None
    for item, seconds in zip(queue, (20, 30, 900), strict=True):
        store.act(item, "ann", label(S, seconds=seconds))
    found = progress(store, "ann")
    assert (found.items, found.labelled, found.left, found.pace) == (3, 3, 0, 120)


def test_progress_from_an_earlier_count_is_less_by_what_was_labelled_since(store, queue):
    earlier = progress(store, "ann")
    store.act(queue[0], "ann", label(S, seconds=20))
    found = progress(store, "ann", earlier=earlier)
    assert found == progress(store, "ann")
    assert (found.labelled, found.left) == (1, 2)


# --- samples
def test_half_of_a_sample_is_uniform_and_all_keep_stratum_and_probability(store):
    for run in range(10):
        store.save_run(answer([S] * 9 + [C], run_id=f"run-{run}", question=f"Question {run}?"))
    assert send_sample(store, 40, seed=3) == 40
    with store.engine.connect() as connection:
        rows = connection.execute(items.select()).mappings().all()
    strata = [row["sampling_stratum"] for row in rows]
    assert {s: strata.count(s) for s in set(strata)} == {"uniform": 20, "uncertain": 10, "rare": 10}
    assert {row["sampling_prob"] for row in rows if row["sampling_stratum"] == "uniform"} == {0.2}
    assert all(0 < row["sampling_prob"] <= 1 for row in rows)
    for run in range(10):
        assert len({row["split"] for row in rows if row["run_id"] == f"run-{run}"}) <= 1


def test_a_second_sample_holds_none_of_the_first(store):
    store.save_run(answer([S] * 10))
    assert send_sample(store, 6, seed=1) == 6
    assert send_sample(store, 6, seed=1) == 4
    assert send_sample(store, 6, seed=1) == 0


# --- many at once, and interruptions
PROCESSES, EACH = 8, 500


def label_many(url, worker, keys):
    """One reviewer labels every item of its share, as fast as it can."""
    store = open_store(url)
    for key in keys:
        run, claim = key
        verdict = list(Verdict)[(worker + claim) % 5]
        store.act(item_id_of(run, f"c{claim}", 0), f"r{worker}", label(verdict, comment=f"{worker}:{run}:{claim}"))
    store.close()


def test_eight_processes_with_500_labels_each_lose_nothing(url):
    """All reviewers label the same 500 items at once, so that each item is contended eight times."""
    store = open_store(url)
    keys = [(f"run-{run}", claim) for run in range(50) for claim in range(1, 11)]
    for run in range(50):
        store.save_run(answer([S] * 10, run_id=f"run-{run}"))
        store.send_to_review(f"run-{run}", needed=PROCESSES)
    for worker in range(PROCESSES):
        store.add_reviewer(f"r{worker}")
    store.close()
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=label_many, args=(url, w, keys)) for w in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=300)
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    store = open_store(url)
    with store.engine.connect() as connection:
        rows = connection.execute(text("SELECT item_id, reviewer_id, verdict, comment FROM labels")).all()
        written = connection.execute(text("SELECT count(*) FROM events")).scalar()
    expected = {
        (item_id_of(run, f"c{claim}", 0), f"r{w}", list(Verdict)[(w + claim) % 5].value, f"{w}:{run}:{claim}")
        for w in range(PROCESSES) for run, claim in keys
    }
    assert written == PROCESSES * EACH
    assert {tuple(row) for row in rows} == expected
    store.close()


KILLED = """
import sys
from litrag.labels import Kind
from litrag.review_html import claim_html
from litrag.reviews import Action, item_id_of, open_store
store = open_store(sys.argv[1])
for claim in range(int(sys.argv[2]), 3001):
    store.act(item_id_of("run-a", f"c{claim}", 0), "ann",
              Action(kind=Kind.LABEL, verdict="supports", blind=True, comment=str(claim)))
    print(claim, flush=True)
"""


def test_killing_the_writer_at_twenty_random_moments_loses_no_acknowledged_label(url):
    store = open_store(url)
    store.save_run(answer([S] * 3000))
    store.send_to_review("run-a")
    store.add_reviewer("ann")
    rng, acknowledged = random.Random(7), 0
    for _ in range(20):
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLED, url, str(acknowledged + 1)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        first = writer.stdout.readline()
        time.sleep(rng.random() * 0.05)
        writer.send_signal(signal.SIGKILL)
        said = [int(line) for line in [first, *writer.stdout.read().split()] if line.strip()]
        writer.wait()
        acknowledged = _check_after_kill(store, said)
    assert acknowledged >= 20
    store.close()


def _check_after_kill(store, said):
    """Whatever was acknowledged is there, whole; at most one more was written without being acknowledged."""
    with store.engine.connect() as connection:
        events_there = connection.execute(text("SELECT count(*) FROM events")).scalar()
        labels_there = connection.execute(text("SELECT count(*) FROM labels WHERE verdict = 'supports'")).scalar()
        comments = set(connection.execute(text("SELECT comment FROM labels")).scalars())
    assert events_there == labels_there
    assert {str(n) for n in range(1, said[-1] + 1)} <= comments
    assert events_there in (said[-1], said[-1] + 1)
    return events_there


def test_a_write_that_fails_midway_leaves_the_previous_state(store, queue, monkeypatch):
    before = store.act(queue[0], "ann", label(P))

    def broken(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr("litrag.reviews._store_label", broken)
    with pytest.raises(StoreError, match="disk is full"):
        store.act(queue[0], "ann", Action(kind=Kind.REVISE, verdict=S))
    monkeypatch.undo()
    assert store.label(queue[0], "ann") == before
    assert len(store.events(queue[0], "ann")) == 1


# --- opening
def test_the_password_of_a_database_url_is_in_no_message():
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://reviewer:hunter2@127.0.0.1:1/litrag")
    assert "hunter2" not in str(caught.value)
    assert "LITRAG_DB_URL" in str(caught.value)


def test_other_databases_are_refused():
    with pytest.raises(StoreError, match="use sqlite or postgresql"):
        open_store("mysql+pymysql://localhost/x")


def test_the_sqlite_file_uses_a_write_ahead_log(sqlite_url):
    open_store(sqlite_url).close()
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
