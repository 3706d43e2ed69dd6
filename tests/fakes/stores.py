"""Fixtures: a store of one's own on SQLite, and the same again on a real PostgreSQL server."""

import pytest
from fakes.needed import unavailable
from fakes.postgres import BINARIES, running_postgres
from sqlalchemy import create_engine, inspect, make_url, text

from litrag.reviews import open_store


@pytest.fixture(scope="session")
def postgres_server():
    """URL of a PostgreSQL server that lives as long as the tests."""
    if not BINARIES:
        unavailable("no PostgreSQL under /usr/lib/postgresql: apt-get install -y postgresql")
    with running_postgres() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server):
    """URL of the server's database, emptied."""
    server = create_engine(make_url(postgres_server).set(drivername="postgresql+pg8000"))
    with server.begin() as connection:
        for schema in inspect(connection).get_schema_names():
            if schema != "information_schema":
                connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    server.dispose()
    return postgres_server


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path / 'home' / 'litrag.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.database)])
def url(request):
    """URL of a fresh database, of one kind after the other."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def store(url):
    opened = open_store(url)
    yield opened
    opened.close()
