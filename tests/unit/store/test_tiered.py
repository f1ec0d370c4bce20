"""Two stores as one memory: how it is opened, what lives where, and what a real server does to it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.servers.valkey import Valkey

from eidet import Memory, Settings
from eidet.core.errors import Misconfigured, Unavailable
from eidet.core.record import Tier
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.contract import NOW, fact
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tiered import TieredStore

ALL = Where()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"tiered://?short={tmp_path / 's.db'}&long={tmp_path / 'l.db'}"


def test_a_memory_is_opened_by_an_address(url: str, tmp_path: Path) -> None:
    with Memory(url, embedder="hashing:64") as memory:
        memory.remember("Ann is in the kitchen", id="now")
        memory.remember("Ann was born in Porto", id="then", tier="long")
        assert {hit.id for hit in memory.recall("Ann")} == {"now", "then"}
    with Memory(tmp_path / "l.db", embedder="hashing:64") as memory:
        assert [record.id for record in memory.find()] == ["then"]
    with Memory(url, embedder="hashing:64") as memory:
        assert [record.id for record in memory.find(order="seq")] == ["now", "then"]


def test_the_archive_of_an_address_is_that_of_upkeep(url: str, tmp_path: Path) -> None:
    folder = quote(str(tmp_path / "archive"), safe="")
    with Memory(f"{url}&archive={folder}", embedder="hashing:64") as memory:
        assert memory.parts.settings.upkeep.archive == str(tmp_path / "archive")


@pytest.mark.parametrize(
    "address",
    ["tiered://", "tiered://?short=a.db", "tiered://?long=a.db&short=", "tiered://?short=a&long=b&x=1"],
)
def test_an_address_that_is_none_is_told_with_an_example(address: str) -> None:
    with pytest.raises(Misconfigured, match=r"tiered://\?short="):
        Memory(address)


def test_one_store_under_two_names_is_refused(tmp_path: Path) -> None:
    one = quote(str(tmp_path / "a.db"), safe="")
    with pytest.raises(Misconfigured, match="the same: name two"):
        Memory(f"tiered://?short={one}&long={one}", embedder="hashing:64")
    with Memory(tmp_path / "a.db", embedder="hashing:64") as memory:
        assert memory.count() == 0


def test_a_key_for_a_memory_that_is_not_sealed_is_told_how_to_get_it_sealed(url: str) -> None:
    with Memory(url, embedder="hashing:64") as memory:
        memory.remember("Ann is in the kitchen")
    with pytest.raises(Misconfigured, match="is not sealed, but a key was given: `eidet copy "):
        Memory(url, embedder="hashing:64", key=bytes(range(32)))


def test_a_short_store_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    found: list[SqliteStore] = []

    def opening() -> SqliteStore:
        if not found:
            raise Unavailable("not yet")
        return found[0]

    store = TieredStore(opening, SqliteStore(tmp_path / "l.db"))
    verbs.put(store, [fact("x"), fact("y", tier=Tier.LONG)], now=NOW)
    assert [record.id for record in store.find(ALL)] == ["x", "y"]
    assert store.missing
    found.append(SqliteStore(tmp_path / "s.db"))
    store.probe()
    store.mend()
    assert (verbs.count(found[0], ALL), store.health()["waiting"]["records"], store.missing) == (1, 0, ())
    store.close()


def test_upkeep_moves_memories_between_the_stores(tmp_path: Path) -> None:
    short, long = RamStore(), RamStore()
    memory = Memory(TieredStore(short, long), embedder="hashing:64", settings=Settings(), clock=lambda: NOW)
    memory.remember("Ann lives in Lisbon since her studies", id="x")
    memory.revise("x", text="Ann lives in Porto since her studies")
    record = memory.get("x")
    assert record is not None
    store = memory.parts.store
    (moved,) = verbs.rewrite_form(store, [(record, record.but(tier=Tier.LONG, level=1))], now=NOW + 1)
    assert (verbs.count(short, ALL), verbs.count(long, ALL)) == (0, 1)
    assert moved is not None
    assert [hit.id for hit in memory.recall("Porto")] == ["x"]
    told = memory.history("x")
    assert [event.what for event in told] == ["created", "revised", "moved"]
    assert told[1].before is not None
    assert told[1].before["text"] == "Ann lives in Lisbon since her studies"
    (back,) = verbs.rewrite_form(store, [(moved, moved.but(tier=Tier.SHORT))], now=NOW + 2)
    assert back is not None
    assert (verbs.count(short, ALL), verbs.count(long, ALL), back.version) == (1, 0, 2)
    assert [event.what for event in memory.history("x")] == ["created", "revised", "moved", "moved"]


def test_tombstones_count_even_if_the_short_store_lost_its_own(tmp_path: Path) -> None:
    long = SqliteStore(tmp_path / "l.db")
    memory = Memory(TieredStore(RamStore(), long), embedder="hashing:64", clock=lambda: NOW)
    memory.remember("the code is 4711", id="x")
    memory.forget("x")
    memory.close()
    fresh = TieredStore(RamStore(), SqliteStore(tmp_path / "l.db"))
    with (
        Memory(fresh, embedder="hashing:64", clock=lambda: NOW) as memory,
        pytest.raises(Exception, match="forgotten for good"),
    ):
        memory.remember("the code is 4711")


def test_a_server_that_is_killed_under_load_loses_no_word_that_waited(tmp_path: Path) -> None:
    server = Valkey(tmp_path / "valkey", "--appendonly", "yes", "--appendfsync", "always").start()
    address = quote(f"{server.url}?deadline=1", safe="")
    with Memory(f"tiered://?short={address}&long={tmp_path / 'l.db'}", embedder="hashing:64") as memory:
        for n in range(5):
            memory.remember(f"before {n}", id=f"before {n}")
        server.kill()
        for n in range(5):
            memory.remember(f"outage {n}", id=f"outage {n}")
        assert {hit.id for hit in memory.recall("outage", limit=20)} >= {f"outage {n}" for n in range(5)}
        assert memory.admin.stats()["stores"]["short"]["state"] == "down"
        server.start()
        store: Any = memory.parts.store
        ends = time.monotonic() + 60
        while store.health()["waiting"]["records"] and time.monotonic() < ends:
            time.sleep(0.1)
            store.mend()
        assert store.health()["waiting"]["records"] == 0
        assert memory.count() == 10
        assert len(memory.recall("before outage", limit=20, least=0)) == 10
    server.stop()
