"""A lost line to PostgreSQL: every verb succeeds or says in time that it could not; nothing happens twice."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from tests.faults import lines
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy
from tests.timing import raised_within

from eidet import Memory
from eidet.core.errors import Misconfigured, Unavailable
from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.net.retry import RetryPolicy
from eidet.quality import Tally
from eidet.store import verbs
from eidet.store.sql.postgres import PostgresStore

NOW = 1_700_000_000.0
QUICK = RetryPolicy(deadline_seconds=0.6, break_after=1000, rest_seconds=0.1)
SLACK = 3.0  # seconds that a busy machine may take longer


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


VERBS: dict[str, Callable[[PostgresStore], object]] = {
    "put": lambda store: verbs.put(store, [record(uuid.uuid4().hex)], now=NOW),
    "put many": lambda store: verbs.put(store, [record(uuid.uuid4().hex) for _ in range(20)], now=NOW),
    "get": lambda store: store.read("a", ["one"]),
    "find": lambda store: store.find(Where(scope=Scope("a"))),
    "scan": lambda store: list(verbs.scan(store, Where())),
    "count": lambda store: verbs.count(store, Where()),
    "drop": lambda store: verbs.delete_where(store, Where(ids=("nobody",)), now=NOW),
    "note": lambda store: verbs.add_uses(store, {("a", "one"): (1, NOW)}),
    "tally": lambda store: verbs.add_counts(store, [Tally("a", 1, "recall", {"n": 1})], since=0),
    "history": lambda store: store.history("a", "one"),
    "head": lambda store: store.head(),
    "changes": lambda store: store.changes("a", 0, 10),
    "configure": lambda store: verbs.set_settings(store, {"name": "value"}),
    "lease": lambda store: verbs.take_lease(store, "work", "me", now=NOW, until=NOW + 1),
    "size": lambda store: store.size(),
}


WRITES = ("put", "put many", "drop", "note", "tally", "configure", "lease")


def fails_in_time(store: PostgresStore, verb: str) -> float:
    """How long it took. A write may have to wait for the one before it."""
    started = time.monotonic()
    with pytest.raises(Unavailable):
        VERBS[verb](store)
    return time.monotonic() - started


def check_all_fail_in_time(store: PostgresStore) -> None:
    """Every verb at once, each in a thread of its own."""
    with ThreadPoolExecutor(len(VERBS)) as pool:
        took = dict(zip(VERBS, pool.map(partial(fails_in_time, store), VERBS), strict=True))
    for verb, seconds in took.items():
        limit = QUICK.deadline_seconds * (2 if verb in WRITES else 1) + SLACK
        if seconds >= limit:  # of so many at once on a busy machine
            raised_within(limit, Unavailable, partial(VERBS[verb], store))


def test_a_black_hole_is_told_within_the_deadline(store: PostgresStore, proxy: Proxy) -> None:
    proxy.silent = True
    with pytest.raises(Unavailable, match=r"no answer within .* s.*eidet_deadline_seconds"):
        verbs.count(store, Where())
    check_all_fail_in_time(store)


def test_a_server_that_is_away_is_told_within_the_deadline(store: PostgresStore, proxy: Proxy) -> None:
    proxy.refuse()
    check_all_fail_in_time(store)


def test_lines_that_were_cut_are_not_noticed(patient: PostgresStore, proxy: Proxy) -> None:
    for name, verb in VERBS.items():
        lines.check_alike(name, partial(verb, patient), patient, proxy, lines.cut)


def test_a_slow_line_is_only_slow(patient: PostgresStore, proxy: Proxy) -> None:
    for name, verb in VERBS.items():
        lines.check_alike(name, partial(verb, patient), patient, proxy, lines.slow)


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


@pytest.mark.parametrize("fault", ["refused", "silent"])
def test_a_memory_is_closed_without_its_server(fault: str, proxy: Proxy, address: str) -> None:
    store = PostgresStore(address, retry_policy=QUICK)
    with Memory(store, embedder="hashing:64") as memory:
        memory.remember("Ann lives in Lisbon")
        memory.recall("Ann")
        if fault == "silent":
            proxy.silent = True
        else:
            proxy.refuse()
    with pytest.raises(Misconfigured, match="closed"):
        verbs.count(store, Where())
