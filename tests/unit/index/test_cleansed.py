"""What was forgotten for good has left the index when `forget` returns; else the receipt says so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.servers.pinecone import Pinecone

from eidet import Memory
from eidet.core.settings import Settings
from eidet.store import verbs
from eidet.text import term_id

WIDTH = 64
EMBEDDER = f"hashing:{WIDTH}"
SECRET = "the door opens with swordfish"


def said(count: int) -> list[str]:
    return [f"note number {n} about topic{n}" for n in range(count)]


def pending(forgotten: Any) -> tuple[str, ...]:
    told: tuple[str, ...] = forgotten.receipt.pending
    return told


# In PostgreSQL.


@contextlib.contextmanager
def on_server(url: str, **how: Any) -> Iterator[Memory]:
    settings = Settings(index="pgvector://?from_records=10&tail=1000")
    with Memory(url, embedder=how.get("embedder", EMBEDDER), settings=settings) as memory:
        yield memory


def asked(memory: Memory, sql: str) -> Any:
    store: Any = memory.parts.store

    def ask(connection: Any) -> Any:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else None

    return store.ask(ask)


def tables(memory: Memory) -> list[str]:
    sql = "SELECT relname FROM pg_class WHERE relname ~ '^pgvector_(units|words)_' AND relkind = 'r'"
    rows = asked(memory, sql)
    return sorted(name for (name,) in rows)


SIGNED = int(np.uint32(term_id("swordfish")).view(np.int32))


def holds(memory: Memory) -> tuple[int, int]:
    """How many units there are, and how many rows tell of the secret's word."""
    units, words = tables(memory)
    ((count,),) = asked(memory, f"SELECT count(*) FROM {units}")
    ((blocks,),) = asked(memory, f"SELECT count(*) FROM {words} WHERE word = {SIGNED}")
    return count, blocks


def copied(url: str, count: int = 30) -> str:
    """A scope that the server searches; the id of the secret in it."""
    with on_server(url) as memory:
        memory.remember(said(count))
        secret: Any = memory.remember(SECRET)
        memory.admin.rebuild()
        assert holds(memory) == (count + 1, 1)
        return str(secret.id)


@pytest.mark.parametrize("first", ["recalls", "only forgets"])
def test_a_copy_has_lost_what_was_forgotten(postgres_url: str, first: str) -> None:
    id = copied(postgres_url)
    with on_server(postgres_url) as memory:
        if first == "recalls":
            assert memory.recall("swordfish", limit=1)[0].text == SECRET
        memory.remember("written since")
        assert pending(memory.forget(id)) == ()
        assert holds(memory) == (31, 0)  # what was written since was copied along the way
        assert memory.recall("topic7", limit=1)[0].text == "note number 7 about topic7"
        assert memory.recall("written since", limit=1)[0].text == "written since"
        assert memory.admin.check() == []


def test_what_is_deleted_and_not_for_good_goes_later(postgres_url: str) -> None:
    id = copied(postgres_url)
    with on_server(postgres_url) as memory:
        memory.forget(id, for_good=False)
        assert holds(memory) == (31, 1)
        assert memory.admin.check() == []
        assert holds(memory) == (30, 0)


def test_a_scope_that_is_forgotten_has_no_tables(postgres_url: str) -> None:
    copied(postgres_url, 1_100)
    with on_server(postgres_url) as memory:
        assert pending(memory.forget(scope="default", everything=True)) == ()
        assert tables(memory) == []
        assert not memory.recall("topic7")


def test_a_small_scope_asks_for_no_tables(postgres_url: str) -> None:
    with on_server(postgres_url) as memory:
        secret: Any = memory.remember(SECRET)
        assert pending(memory.forget(secret.id)) == ()
        assert tables(memory) == []


def test_a_copy_of_an_earlier_state_goes_as_a_whole(postgres_url: str) -> None:
    id = copied(postgres_url)
    with on_server(postgres_url) as memory:
        memory.admin.reembed("hashing:32")
    with on_server(postgres_url, embedder="hashing:32") as memory:
        assert len(tables(memory)) == 2
        assert pending(memory.forget(id)) == ()
        assert tables(memory) == []
        assert memory.recall("topic7", limit=1)[0].text == "note number 7 about topic7"


def test_a_damaged_copy_goes_as_a_whole(postgres_url: str) -> None:
    id = copied(postgres_url)
    with on_server(postgres_url) as memory:
        memory.recall("topic7")
        units, _ = tables(memory)
        asked(memory, f"DROP TABLE {units}")
        assert pending(memory.forget(id)) == ()
        assert tables(memory) == []
        assert memory.recall("topic7", limit=1)[0].text == "note number 7 about topic7"


def test_while_somebody_copies_the_receipt_says_so_and_upkeep_finishes(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = copied(postgres_url)
    monkeypatch.setattr("eidet.index.pgvector._PATIENCE_SECONDS", 0.1)
    with on_server(postgres_url) as memory:
        store = memory.parts.store
        (name,) = verbs.get_settings(store, "vectordb.")
        assert verbs.take_lease(store, name, "somebody else", now=0.0, until=1e12)
        assert "another process fills" in pending(memory.forget(id))[0]
        assert memory.recall("swordfish", limit=1, least=0)[0].text != SECRET
        assert holds(memory) == (31, 1)
        assert verbs.take_lease(store, name, "somebody else", now=0.0, until=0.0)
        memory.upkeep.maintain()
        assert holds(memory) == (30, 0)


# In a vector database.


@pytest.fixture
def server() -> Iterator[Pinecone]:
    server = Pinecone(WIDTH)
    yield server
    server.stop()


def in_database(place: Path, server: Pinecone) -> Memory:
    options = "settle=0&small=5&ship_rows=1&background=no&deadline=0.4"
    index = f"pinecone+{server.url}?key={server.key}&{options}"
    return Memory(place, embedder=EMBEDDER, settings=Settings(index=index))


def sent(server: Pinecone) -> int:
    return sum(map(len, server.spaces.values()))


def shipped(place: Path, server: Pinecone) -> str:
    with in_database(place, server) as memory:
        memory.remember(said(30))
        secret: Any = memory.remember(SECRET)
        memory.recall("swordfish")
        assert sent(server) == 31
        return str(secret.id)


@pytest.mark.parametrize("first", ["recalls", "only forgets"])
def test_a_database_has_lost_what_was_forgotten(tmp_path: Path, server: Pinecone, first: str) -> None:
    id = shipped(tmp_path / "m.db", server)
    with in_database(tmp_path / "m.db", server) as memory:
        if first == "recalls":
            assert memory.recall("swordfish", limit=1)[0].text == SECRET
        assert pending(memory.forget(id)) == ()
        assert sent(server) == 30
        assert memory.admin.check() == []


def test_while_the_database_is_away_the_receipt_says_so_and_upkeep_finishes(
    tmp_path: Path, server: Pinecone
) -> None:
    id = shipped(tmp_path / "m.db", server)
    with in_database(tmp_path / "m.db", server) as memory:
        server.down = 503
        assert "may hold vectors of what is gone" in pending(memory.forget(id))[0]
        assert sent(server) == 31
        server.down = None
    with in_database(tmp_path / "m.db", server) as memory:
        memory.upkeep.maintain()
        assert sent(server) == 30
