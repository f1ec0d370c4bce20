"""Servers that die, and others that take over."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest
from tests.faults import postgres_children
from tests.faults.nursery import Nursery
from tests.faults.pairs import Pair, ask, paired
from tests.servers.postgres import Postgres
from tests.timing import until

from eidet import Memory, Settings
from eidet.core.errors import EidetError
from eidet.core.where import Where
from eidet.net.retry import RetryPolicy
from eidet.store import verbs
from eidet.store.contract import NOW, fact
from eidet.store.sql.postgres import PostgresStore

pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")

PATIENT = RetryPolicy(deadline_seconds=30.0, break_after=1_000_000, longest_pause_seconds=0.2)
RECOVERED_SECONDS = 20.0  # after the other server has taken over; a busy machine takes its time


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The last test here lets the primary die."""
    with paired(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@dataclass
class Writers:
    """Threads that write one record after the other, and count a use with each."""

    store: PostgresStore
    count: int = 6
    told: dict[str, float] = field(default_factory=dict)
    noted: int = 0
    failed: list[EidetError] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self._write, args=[n]) for n in range(self.count)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for thread in self._threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self._threads)

    def _write(self, thread: int) -> None:
        number = 0
        while not self.ended.is_set():
            id = f"{thread}-{number}"
            number += 1
            try:
                (stored,) = verbs.put(self.store, [fact(id)], now=NOW)
                verbs.add_uses(self.store, {("a", "used"): (1, NOW)})
            except EidetError as error:
                self.failed.append(error)
                continue
            with self.lock:
                self.told[stored.id] = time.monotonic()
                self.noted += 1

    def since(self, moment: float) -> bool:
        with self.lock:
            return any(at > moment for at in self.told.values())


def check_all_there_once(writers: Writers) -> None:
    """Without an error: what was told is there, in its first version, and each use was counted once."""
    found = {r.id: r for r in writers.store.find(Where())}
    assert writers.failed == []
    assert set(writers.told) == set(found) - {"used"}
    assert {r.version for r in found.values()} == {1}
    assert found["used"].uses == writers.noted
    seqs = [r.seq for r in found.values()]
    assert len(set(seqs)) == len(seqs)


# Failover.


def test_tables_are_made_on_the_server_that_takes_writes_wherever_it_is_named(pair: Pair) -> None:
    ask(pair.primary, "CREATE DATABASE eidet_elsewhere")
    until(
        lambda: ask(pair.standby, "SELECT count(*) FROM pg_database WHERE datname = 'eidet_elsewhere'") == 1
    )
    places = f"127.0.0.1:{pair.standby.port},127.0.0.1:{pair.primary.port}"
    store = PostgresStore(f"postgresql://postgres@{places}/eidet_elsewhere")
    assert verbs.put(store, [fact("one")], now=NOW)[0].seq == 1
    store.close()


def test_after_a_restart_under_load_nothing_is_lost_or_twice(postgres: Postgres, postgres_url: str) -> None:
    store = PostgresStore(postgres_url, retry_policy=PATIENT)
    verbs.put(store, [fact("used")], now=NOW)
    with Writers(store) as writers:
        until(lambda: len(writers.told) > 30)
        postgres.kill()
        postgres.start()
        started = time.monotonic()
        until(lambda: writers.since(started))
    check_all_there_once(writers)
    store.close()


def test_many_processes_write_without_an_error(postgres_emptied: str, start: Nursery) -> None:
    children = [start(postgres_children.write_many, postgres_emptied, f"p{n}", "15") for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        seqs = [seq for some in pool.map(lambda child: child.result(), children) for seq in some]
    assert sorted(seqs) == list(range(1, 61))


def test_when_the_primary_dies_the_standby_takes_over_and_nothing_is_lost_or_twice(pair: Pair) -> None:
    store = PostgresStore(pair.url(), retry_policy=PATIENT)
    verbs.delete_where(store, Where(), now=NOW)
    verbs.put(store, [fact("used")], now=NOW)
    with Writers(store) as writers:
        until(lambda: len(writers.told) > 30)
        pair.primary.kill()
        pair.standby.promote()
        promoted = time.monotonic()
        until(lambda: writers.since(promoted), RECOVERED_SECONDS)
    check_all_there_once(writers)
    store.close()


@pytest.mark.parametrize("index", ["embedded", "pgvector://?from_records=1"])
def test_after_a_failover_that_lost_writes_what_is_new_is_found(tmp_path: Path, index: str) -> None:
    """The new primary gives the seqs of what was lost again."""
    primary = Postgres(tmp_path / "primary").create().start()
    standby = Postgres(tmp_path / "standby").copy_of(primary, "standby").start()
    url, settings = Pair(primary, standby).url(), Settings(index=index)
    try:
        with Memory(url, embedder="hashing", settings=settings) as old:
            old.remember([f"Ann has lived in Oslo for {n} years" for n in range(30)])
            old.admin.rebuild()  # the standby has the copy, too, where the server searches
            place = ask(primary, "SELECT pg_current_wal_flush_lsn()::text")
            until(lambda: bool(ask(standby, f"SELECT pg_last_wal_replay_lsn() >= '{place}'::pg_lsn")))
            standby.stop()
            old.remember([f"the cellar holds {n} barrels" for n in range(5)])
            assert len(old.recall("How many barrels?", limit=5)) == 5
            primary.kill()
            standby.start()
            standby.promote()
            with Memory(url, embedder="hashing", settings=settings) as new:
                new.remember([f"the harbour has {n} boats" for n in range(5)])
            hits = old.recall("How many boats has the harbour?", limit=5)
            assert {hit.text for hit in hits} == {f"the harbour has {n} boats" for n in range(5)}
            with Memory(url, embedder="hashing", settings=settings) as new:
                truth = new.recall("How many boats has the harbour?", limit=5)
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in truth], abs=1e-3)
            old.remember("the harbour has a crane")
            assert old.recall("crane", limit=1)[0].text == "the harbour has a crane"
            assert old.count() == 36
    finally:
        standby.stop()
        primary.stop()
