"""Upgrades: from nothing, from the first schema and from each one between; older ones backed up, newer ones refused."""

import json
import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from fakes.answers import answer
from sqlalchemy import insert, inspect, text

from litrag import migrations, reviews
from litrag.errors import StoreError
from litrag.labels import Kind
from litrag.migrations import LATEST, MIGRATIONS, migrate, version
from litrag.reviews import Action, Store, _engine, item_id_of, make_url, open_store
from litrag.tables import metadata, runs

pytest_plugins = ["fakes.stores"]


@pytest.fixture
def engine(url):
    made = _engine(make_url(url))
    yield made
    made.dispose()


def columns(engine):
    return {
        table: {column["name"] for column in inspect(engine).get_columns(table)}
        for table in inspect(engine).get_table_names()
    }


def store_a_run(engine):
    """A run as the first schema holds it."""
    given = answer(["supports"])
    row = {
        "run_id": given.run_id, "kind": "ask", "question_id": "q-1", "question": given.question,
        "created_at": "2026-01-01T00:00:00Z", "stored_at": "2026-01-01T00:00:00Z", "abstained": False, "claims": 1,
        "flagged": 0, "corpus": "", "corpus_hash": "", "settings": json.dumps({}), "answer": given.to_json(),
        "digest": "0",
    }
    with engine.begin() as connection:
        connection.execute(insert(runs), row)
    return given


def test_an_empty_database_gets_every_table_that_the_code_reads(engine):
    assert migrate(engine) is None
    found = columns(engine)
    for table in metadata.sorted_tables:
        assert found[table.name] == set(table.columns.keys())
    with engine.connect() as connection:
        assert version(connection) == LATEST == len(MIGRATIONS)


@pytest.mark.parametrize("start", range(1, LATEST))
def test_an_older_database_is_backed_up_and_upgraded_with_its_content(engine, start):
    migrate(engine, upto=start)
    given = store_a_run(engine)
    assert migrate(engine)
    store = Store(engine)
    assert store.run(given.run_id) == given
    store.send_to_review(given.run_id)
    store.add_reviewer("ann")
    saved = store.act(item_id_of(given.run_id, "c1", 0), "ann", Action(kind=Kind.LABEL, verdict="supports"))
    assert saved.revision == 1
    with engine.connect() as connection:
        numbers = connection.execute(text("SELECT version FROM schema_version ORDER BY version")).scalars().all()
    assert numbers == list(range(1, LATEST + 1))


def test_upgrading_in_steps_and_at_once_makes_the_same_tables(tmp_path):
    engines = [_engine(make_url(f"sqlite:///{tmp_path / name}")) for name in ("steps.db", "once.db")]
    for step in range(1, LATEST + 1):
        migrate(engines[0], upto=step)
    migrate(engines[1])
    dumps = []
    for engine in engines:
        with engine.connect() as connection:
            made = connection.execute(text("SELECT name, sql FROM sqlite_master ORDER BY name")).all()
        dumps.append([tuple(row) for row in made])
        engine.dispose()
    assert dumps[0] == dumps[1]


def test_labels_of_a_database_from_before_the_table_of_labels_are_there_after_the_upgrade(engine, url, monkeypatch):
    """Written as version 5 did: without the table of labels, and without the columns of items that came later."""
    migrate(engine, upto=5)
    given = store_a_run(engine)
    store = Store(engine)
    there = columns(engine)["items"]
    made = reviews._item_row

    def as_then(*arguments):
        row, judgement = made(*arguments)
        return {name: value for name, value in row.items() if name in there}, judgement

    monkeypatch.setattr("litrag.reviews._item_row", as_then)
    store.send_to_review(given.run_id)
    store.add_reviewer("ann")
    item_id = item_id_of(given.run_id, "c1", 0)
    monkeypatch.setattr("litrag.reviews._store_label", lambda *_: None)
    store.act(item_id, "ann", Action(kind=Kind.LABEL, verdict="partial"))
    monkeypatch.undo()
    upgraded = open_store(url)
    assert [found.verdict for found in upgraded.labels(item_id)] == ["partial"]
    upgraded.close()


def test_the_backup_of_a_file_is_a_database_of_the_old_version_with_its_content(sqlite_url):
    old = _engine(make_url(sqlite_url))
    migrate(old, upto=1)
    store_a_run(old)
    old.dispose()
    store = open_store(sqlite_url)
    with sqlite3.connect(store.backup) as backup:
        assert backup.execute("SELECT max(version) FROM schema_version").fetchone() == (1,)
        assert backup.execute("SELECT run_id FROM runs").fetchall() == [("run-a",)]
        assert backup.execute("SELECT name FROM sqlite_master WHERE name = 'items'").fetchall() == []
    assert open_store(sqlite_url).backup is None


@pytest.mark.database
def test_the_backup_on_postgresql_is_a_schema_with_every_old_table(postgres_url):
    old = _engine(make_url(postgres_url))
    migrate(old, upto=1)
    store_a_run(old)
    old.dispose()
    store = open_store(postgres_url)
    with store.engine.connect() as connection:
        assert set(inspect(connection).get_table_names(schema=store.backup)) == {"runs", "schema_version"}
        assert connection.execute(text(f"SELECT run_id FROM {store.backup}.runs")).scalars().all() == ["run-a"]
    store.close()


def test_a_newer_database_is_refused_and_left_as_it_is(engine, url):
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text(f"INSERT INTO schema_version VALUES ({LATEST + 3}, 'later')"))
    before = columns(engine)
    with pytest.raises(StoreError, match=f"schema {LATEST + 3}, written by a newer LitRAG"):
        open_store(url)
    assert columns(engine) == before


def test_an_upgrade_that_fails_leaves_the_old_database(engine, monkeypatch):
    migrate(engine, upto=3)
    before = columns(engine)

    def broken(connection):
        connection.execute(text("CREATE TABLE half (x INTEGER)"))
        raise StoreError("no space left")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS[:4], broken, *MIGRATIONS[5:]))
    with pytest.raises(StoreError, match="no space left"):
        migrate(engine)
    assert columns(engine) == before
    monkeypatch.undo()
    migrate(engine)
    with engine.connect() as connection:
        assert version(connection) == LATEST


def open_and_close(url):
    open_store(url).close()


def test_processes_that_open_an_empty_database_at_once_upgrade_it_once(url):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=open_and_close, args=(url,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert open_store(url).backup is None


def test_a_file_that_is_no_database_is_refused_with_its_name(tmp_path):
    Path(tmp_path / "notes.db").write_text("just a text file, long enough to be looked at by SQLite " * 20)
    with pytest.raises(StoreError, match=r"notes\.db"):
        open_store(f"sqlite:///{tmp_path / 'notes.db'}")
