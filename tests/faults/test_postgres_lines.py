"""A lost line to PostgreSQL: every verb succeeds or says in time that it could not; nothing happens twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.net.retry import RetryPolicy
from eidet.quality import Tally
from eidet.store import verbs
from eidet.store.sql.postgres import PostgresStore

NOW = 1_700_000_000.0
QUICK = RetryPolicy(deadline_seconds=0.6, break_after=1000, rest_seconds=0.1)


@pytest.fixture
def proxy(postgres: Postgres) -> Iterator[Proxy]:
    proxy = Proxy(postgres.port)
    yield proxy
    proxy.stop()


@pytest.fixture
def address(proxy: Proxy, postgres_emptied: str) -> str:
    return f"postgresql://postgres@127.0.0.1:{proxy.port}/{postgres_emptied.rpartition('/')[2]}"


@pytest.fixture
def store(proxy: Proxy, address: str) -> Iterator[PostgresStore]:
    store = PostgresStore(address, retry_policy=QUICK)
    verbs.put(store, [record("one"), record("two")], now=NOW)
    yield store
    proxy.heal()
    store.close()


@pytest.fixture
def patient(store: PostgresStore, proxy: Proxy, address: str) -> Iterator[PostgresStore]:
    """The same database, for whoever has more time and asks again soon."""
    retry_policy = RetryPolicy(deadline_seconds=10, break_after=1000, longest_pause_seconds=0.1)
    patient = PostgresStore(address, retry_policy=retry_policy)
    yield patient
    proxy.heal()
    patient.close()


def record(id: str) -> Record:
    return Record(id=id, scope="a", text=f"the text of {id}", created=NOW, occurred=NOW)


@pytest.mark.parametrize("after", [0, 40, 120, 300, 700, 1200])
def test_a_line_cut_in_the_middle_of_a_reply_neither_loses_nor_doubles_a_write(
    after: int, patient: PostgresStore, proxy: Proxy
) -> None:
    proxy.cut()
    proxy.cut_after = after
    healing = threading.Timer(0.25, proxy.heal)
    healing.start()
    verbs.put(patient, [record("three")], now=NOW)
    verbs.put(patient, [record(f"many{n}") for n in range(9)], now=NOW)
    verbs.add_counts(patient, [Tally("a", 1, "recall", {"n": 1})], since=0)
    healing.join()
    assert [r.version for r in patient.find(Where(ids=("three",)))] == [1]
    assert [r.version for r in patient.find(Where())] == [1] * 12
    assert [row.counts for row in verbs.read_counts(patient, None, 0)] == [{"n": 1}]


def test_what_was_acknowledged_while_lines_break_all_the_time_is_there_once(
    patient: PostgresStore, proxy: Proxy
) -> None:
    ended = threading.Event()

    def shake() -> None:
        while not ended.wait(0.1):
            proxy.cut()

    shaking = threading.Thread(target=shake)
    shaking.start()
    told = []
    for number in range(30):
        told += [r.id for r in verbs.put(patient, [record(f"r{number}")], now=NOW)]
        verbs.add_uses(patient, {("a", "one"): (1, NOW)})
    ended.set()
    shaking.join()
    proxy.heal()
    assert told == [f"r{number}" for number in range(30)]
    assert [r.version for r in patient.find(Where(scope=Scope("a")))] == [1] * 32
    assert patient.find(Where(ids=("one",)))[0].uses == 30


def test_a_restarted_server_is_found_again(postgres: Postgres, patient: PostgresStore) -> None:
    postgres.stop()
    postgres.start()
    assert verbs.put(patient, [record("three")], now=NOW)[0].id == "three"
    assert verbs.count(patient, Where()) == 3
