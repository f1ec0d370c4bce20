"""Servers that many tests share: each is started when it is first asked for, once for all of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .postgres import Postgres
from .valkey import Valkey

TEMPLATE = "eidet_template"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A server whose template database has our tables: copying it is faster than making them each time."""
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")
    from eidet.store.sql.postgres import PostgresStore

    server = Postgres(tmp_path_factory.mktemp("postgres")).create().start()
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {TEMPLATE}")
    PostgresStore(server.url(TEMPLATE)).close()
    yield server
    server.stop()


@pytest.fixture
def postgres_database(postgres: Postgres) -> Iterator[str]:
    """The name of an empty database of ours, dropped afterwards."""
    import psycopg

    name = f"eidet_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
        connection.execute(f"ALTER DATABASE {name} SET search_path TO public")
    yield name
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


EMPTY = """
DELETE FROM records; DELETE FROM events; DELETE FROM tallies; DELETE FROM tombstones;
DELETE FROM vectors_next; DELETE FROM settings;
INSERT INTO settings (name, value) VALUES ('identity', gen_random_uuid()::text), ('epoch', '0'),
    ('exact_secret', md5(random()::text) || md5(random()::text));
"""


@pytest.fixture(scope="session")
def postgres_common(postgres: Postgres) -> str:
    """The address of a database that tests use one after the other."""
    import psycopg

    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE eidet_common TEMPLATE {TEMPLATE}")
    return postgres.url("eidet_common")


@pytest.fixture
def postgres_emptied(postgres_common: str) -> str:
    """The same as `postgres_url` in less time, for tests that leave no tables and no memory open."""
    import psycopg

    with psycopg.connect(postgres_common, autocommit=True) as connection:
        connection.execute(EMPTY)
    return postgres_common


@pytest.fixture
def postgres_url(postgres: Postgres, postgres_database: str) -> str:
    return postgres.url(postgres_database)


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    server = Valkey(tmp_path_factory.mktemp("valkey")).start()
    yield server
    server.stop()


@pytest.fixture
def redis_url(valkey: Valkey) -> Iterator[str]:
    """The address of a server that holds nothing."""
    valkey.ask("FLUSHALL")
    yield valkey.url
    valkey.ask("FLUSHALL")


Serve = Callable[..., Valkey]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers of a test's own."""
    started: list[Valkey] = []

    def start(*options: str) -> Valkey:
        started.append(Valkey(tmp_path / str(len(started)), *options).start())
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that fails is asked again at once."""
    from eidet.net import http as wire

    monkeypatch.setattr(wire, "FIRST_PAUSE", 0.01)
