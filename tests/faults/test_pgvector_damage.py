"""Somebody drops, empties or damages tables of the index in PostgreSQL: answers stay right, and it mends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.servers.fixtures import TEMPLATE
from tests.servers.postgres import Postgres
from tests.timing import until

from eidet.core.errors import Misconfigured
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Candidates, Probe
from eidet.index.contract import NOW, WIDTH, make_record
from eidet.index.embedded import EmbeddedIndex
from eidet.index.pgvector import PgvectorIndex, PgvectorSettings
from eidet.store import Derived, verbs
from eidet.store.sql.postgres import PostgresStore
from eidet.text import term_id

psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")

COUNT = 120
SETTINGS = PgvectorSettings(from_records=100, tail=20)
AT_ONCE = replace(SETTINGS, background=False)
TABLES = "SELECT relname FROM pg_class WHERE relname ~ '^pgvector_units_' AND relkind = 'r'"


def made(url: str) -> PostgresStore:
    store = PostgresStore(url)
    rows = np.random.default_rng(5).normal(size=(COUNT, WIDTH)).astype(np.float32)
    records = [
        replace(make_record(f"{n}", words=f"common w{n % 7} u{n}"), vector=row.tobytes())
        for n, row in enumerate(rows)
    ]
    verbs.put(store, records, now=NOW, unique=False)
    return store


@pytest.fixture(scope="module")
def damaged(postgres: Postgres) -> Iterator[PostgresStore]:
    """One database for all that is damaged and mended in turn."""
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE eidet_damaged TEMPLATE {TEMPLATE}")
    store = made(postgres.url("eidet_damaged"))
    yield store
    store.close()
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE eidet_damaged WITH (FORCE)")


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    store = made(postgres_url)
    yield store
    store.close()


def run(store: PostgresStore, sql: str) -> None:
    (table,) = tables(store)
    said = sql.format(units=table, words=table.replace("units", "words"))
    store.ask(lambda connection: connection.execute(said))


def tables(store: PostgresStore) -> list[str]:
    return [name for (name,) in store.ask(lambda c: c.execute(TABLES).fetchall())]


def asked(number: int = 7) -> Probe:
    vector = np.random.default_rng(number).normal(size=WIDTH).astype(np.float32)
    terms = (term_id("common"), term_id(f"u{number}"))
    return Probe(scope=Scope("a"), now=NOW, terms=terms, vector=vector, depth=40)


def scores(found: Candidates) -> dict[int, tuple[float, float]]:
    rows = zip(found.seq.tolist(), found.dense.tolist(), found.words.tolist(), strict=True)
    return {seq: (dense, words) for seq, dense, words in rows}


def check_right(index: PgvectorIndex, store: PostgresStore) -> None:
    """The answer of an index in RAM that was made just now."""
    here, there = scores(index.search(asked())), scores(EmbeddedIndex(store, WIDTH).search(asked()))
    assert len(here) >= 40
    for arm in (0, 1):
        assert max(there, key=lambda seq: there[seq][arm]) in here
    for seq, score in here.items():
        assert there[seq] == pytest.approx(score, abs=0.03)


def await_served(index: PgvectorIndex) -> None:
    def is_served() -> bool:
        index.search(asked())
        return bool(index.stats()["server_scopes"]) and not index.stats()["copying"]

    until(is_served, pause=0.1)


DAMAGE = {
    "no vectors": "DROP TABLE {units}",
    "no words": "DROP TABLE {words}",
    "emptied words": "TRUNCATE {words}",
    "no column": "ALTER TABLE {units} DROP COLUMN embedding CASCADE",
    "no extension": "DROP EXTENSION vector CASCADE",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_copy_that_somebody_damaged_is_made_anew_and_answers_stay_right(
    damage: str, damaged: PostgresStore
) -> None:
    index = PgvectorIndex(damaged, WIDTH, settings=SETTINGS)
    await_served(index)
    run(damaged, DAMAGE[damage])
    check_right(index, damaged)
    other = PgvectorIndex(damaged, WIDTH, settings=SETTINGS)  # the damage is no reason not to open
    check_right(other, damaged)
    other.close()
    await_served(index)
    check_right(index, damaged)
    assert index.check("a") == []
    assert len(tables(damaged)) == 1
    index.close()


@pytest.mark.parametrize("kind", ["units", "words"])
def test_a_file_of_the_copy_that_was_overwritten_is_made_anew(
    kind: str, damaged: PostgresStore, postgres: Postgres
) -> None:
    index = PgvectorIndex(damaged, WIDTH, settings=SETTINGS)
    await_served(index)
    (table,) = tables(damaged)
    place = f"SELECT pg_relation_filepath('{table.replace('units', kind)}')"
    ((path,),) = damaged.ask(lambda c: c.execute(place).fetchall())
    postgres.stop()
    with (postgres.data / path).open("r+b") as file:
        file.write(b"\xff" * 8192)
    postgres.start()
    check_right(index, damaged)
    await_served(index)
    check_right(index, damaged)
    assert index.check("a") == []
    index.close()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("DROP TABLE {units}", "damaged"),
        ("DELETE FROM {units} WHERE seq % 10 = 0", "misses 12 records"),
        ("UPDATE {units} SET seq = seq + 100000 WHERE seq % 10 = 0", "still holds 12 records"),
    ],
    ids=["dropped", "missing", "ghosts"],
)
def test_check_tells_of_damage_and_rebuild_mends_it(damage: str, told: str, damaged: PostgresStore) -> None:
    index = PgvectorIndex(damaged, WIDTH, settings=AT_ONCE)
    index.rebuild("a")
    run(damaged, damage)
    assert [fault for fault in index.check("a") if told in fault and "eidet rebuild" in fault]
    assert index.rebuild("a") == COUNT
    assert index.check("a") == []
    check_right(index, damaged)
    index.close()


def test_vectors_made_anew_while_a_copy_is_made_are_copied_next(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = store.find(Where(ids=("0",)))
    changes, rewritten = store.changes_here, threading.Event()

    def changed(*arguments: Any) -> Any:
        answer = changes(*arguments)
        if threading.current_thread() is not threading.main_thread() and not rewritten.is_set():
            rewritten.set()
            verbs.replace_derived(store, [Derived(first.seq, first.vector, first.terms)])
        return answer

    monkeypatch.setattr(store, "changes_here", changed)
    index = PgvectorIndex(store, WIDTH, settings=SETTINGS)
    index.search(asked())
    until(rewritten.is_set)
    await_served(index)
    check_right(index, store)
    index.close()


SLOW = """CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS
    $$BEGIN PERFORM pg_sleep(0.3); END$$;
CREATE EVENT TRIGGER slowly ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'CREATE INDEX')
    EXECUTE FUNCTION slow()"""


def test_a_timeout_for_statements_does_not_end_a_copy(store: PostgresStore, postgres: Postgres) -> None:
    PgvectorIndex(store, WIDTH, settings=AT_ONCE).close()
    store.ask(lambda c: c.execute(SLOW))
    name = store.ask(lambda c: c.info.dbname)
    store.ask(lambda c: c.execute(f"ALTER DATABASE {name} SET statement_timeout = 150"))
    hurried = PostgresStore(postgres.url(name))
    index = PgvectorIndex(hurried, WIDTH, settings=AT_ONCE)
    assert index.rebuild("a") == COUNT
    index.search(asked())
    assert index.stats()["server_scopes"] == 1
    index.close()
    hurried.close()


# Rights.


@pytest.fixture
def guest(postgres: Postgres, postgres_database: str) -> Iterator[str]:
    """A role that may read and write the store's tables, and no more."""
    role = f"guest_{postgres_database}"
    with psycopg.connect(postgres.url(postgres_database), autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {role} LOGIN")
        owner.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
    yield postgres.url(postgres_database).replace("postgres@", f"{role}@")
    with psycopg.connect(postgres.url(postgres_database), autocommit=True) as owner:
        owner.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_role_that_may_not_add_the_extension_is_told_what_to_do(guest: str) -> None:
    store = PostgresStore(guest)
    with pytest.raises(Misconfigured, match=r"permission denied.*CREATE EXTENSION vector as its owner"):
        PgvectorIndex(store, WIDTH)
    store.close()


def test_a_role_that_may_not_create_tables_is_told_what_to_do(guest: str, store: PostgresStore) -> None:
    store.ask(lambda c: c.execute("CREATE EXTENSION vector"))
    mine = PostgresStore(guest)
    with pytest.raises(Misconfigured, match=r"not set up.*open the memory once"):
        PgvectorIndex(mine, WIDTH)
    mine.close()


def test_an_extension_in_a_schema_that_is_not_searched_is_told_of(store: PostgresStore) -> None:
    store.ask(lambda c: c.execute("CREATE SCHEMA extensions"))
    store.ask(lambda c: c.execute("CREATE EXTENSION vector SCHEMA extensions"))
    with pytest.raises(Misconfigured, match="search_path"):
        PgvectorIndex(store, WIDTH)


def test_a_role_that_may_only_read_the_copy_searches_by_it(guest: str, store: PostgresStore) -> None:
    index = PgvectorIndex(store, WIDTH, settings=AT_ONCE)
    index.search(asked())
    index.close()
    role = guest.partition("//")[2].partition("@")[0]
    store.ask(lambda c: c.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"))
    mine = PostgresStore(guest)
    reading = PgvectorIndex(mine, WIDTH, settings=SETTINGS)
    check_right(reading, mine)
    assert reading.stats()["server_scopes"] == 1
    verbs.put(mine, [make_record(f"more{n}", words=f"more u{n}") for n in range(40)], now=NOW, unique=False)
    reading.search(asked())
    check_right(reading, mine)  # it cannot copy, and searches what is new in RAM
    reading.close()
    mine.close()
