"""A lost line to a server that stores: every write happens once, and what was acknowledged is there once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy
from tests.servers.valkey import Valkey

from eidet.core.errors import Unavailable
from eidet.core.where import Where
from eidet.net.retry import RetryPolicy
from eidet.quality import Tally
from eidet.store import Store, verbs
from eidet.store.contract import NOW, fact
from eidet.store.redis import RedisStore
from eidet.store.sql.postgres import PostgresStore

QUICK = RetryPolicy(deadline_seconds=0.25, break_after=1000, rest_seconds=0.1)
PATIENT = RetryPolicy(deadline_seconds=10, break_after=1000, longest_pause_seconds=0.1)
COUNT = Tally("a", 1, "recall", {"n": 1})


@dataclass(frozen=True, slots=True)
class Line:
    """A server behind a proxy; it holds two records."""

    proxy: Proxy
    open: Callable[[RetryPolicy], Store]

    def heal_in(self, seconds: float) -> threading.Timer:
        healing = threading.Timer(seconds, self.proxy.heal)
        healing.start()
        return healing


def on_postgres(request: pytest.FixtureRequest) -> tuple[int, Callable[[int, RetryPolicy], Store]]:
    server: Postgres = request.getfixturevalue("postgres")
    name = request.getfixturevalue("postgres_emptied").rpartition("/")[2]
    address = "postgresql://postgres@127.0.0.1:{}/" + name
    return server.port, lambda port, policy: PostgresStore(address.format(port), retry_policy=policy)


def on_redis(request: pytest.FixtureRequest) -> tuple[int, Callable[[int, RetryPolicy], Store]]:
    server: Valkey = request.getfixturevalue("valkey")
    request.getfixturevalue("redis_url")
    return server.port, lambda port, policy: RedisStore(f"redis://127.0.0.1:{port}/0", retry_policy=policy)


SERVERS = {"postgres": on_postgres, "redis": on_redis}


@pytest.fixture(params=SERVERS)
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    port, open_store = SERVERS[request.param](request)
    proxy = Proxy(port)
    opened: list[Store] = []

    def open_line(policy: RetryPolicy) -> Store:
        opened.append(open_store(proxy.port, policy))
        return opened[-1]

    made = Line(proxy, open_line)
    verbs.put(made.open(PATIENT), [fact("one"), fact("two")], now=NOW)
    yield made
    proxy.heal()
    for store in opened:
        store.close()
    proxy.stop()


WRITES: dict[str, Callable[[Store, int], object]] = {
    "put": lambda store, n: verbs.put(store, [fact(f"new {n}")], now=NOW),
    "put many": lambda store, n: verbs.put(store, [fact(f"new {n} {i}") for i in range(3)], now=NOW),
    "revise": lambda store, n: verbs.put(store, [fact("one").but(text=f"text {n}")], now=NOW),
    "expect": lambda store, n: verbs.put(store, [fact("two").but(text=f"text {n}")], now=NOW, expect=n + 1),
    "use": lambda store, n: verbs.add_uses(store, {("a", "one"): (1, NOW)}),
    "count": lambda store, n: verbs.add_counts(store, [COUNT], since=0),
    "twin": lambda store, n: verbs.put(store, [fact(f"twin {n}", text="two of a")], now=NOW),
}
# what three of them leave: versions of one and two, uses of one and two, how many records, and the count
LEFT = {
    "put": (1, 1, 0, 0, 5, 0),
    "put many": (1, 1, 0, 0, 11, 0),
    "revise": (4, 1, 0, 0, 2, 0),
    "expect": (1, 4, 0, 0, 2, 0),
    "use": (1, 1, 3, 0, 2, 0),
    "count": (1, 1, 0, 0, 2, 3),
    "twin": (1, 1, 0, 3, 2, 0),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_whose_answer_is_lost_happens_once(write: str, line: Line) -> None:
    store = line.open(PATIENT)
    store.head()
    for n in range(3):
        line.proxy.cut_after = 0  # of the line that is open: the write gets through, its answer does not
        healing = line.heal_in(0.05)
        WRITES[write](store, n)
        healing.join()
    one, two = store.read("a", ["one", "two"])
    assert one is not None
    assert two is not None
    counted = sum(row.counts["n"] for row in verbs.read_counts(store, None, 0))
    found = (one.version, two.version, one.uses, two.uses, verbs.count(store, Where()), counted)
    assert found == LEFT[write]
    assert len(store.history("a", "one")) == one.version


@pytest.mark.parametrize("after", [0, 5, 120, 700, 2000, 8000])
def test_a_line_cut_again_and_again_is_tried_until_it_holds(after: int, line: Line) -> None:
    """Also while a new line is being made, and in the middle of a long reply."""
    store = line.open(PATIENT)
    store.head()
    line.proxy.cut()
    line.proxy.cut_after = after
    healing = line.heal_in(0.2)
    verbs.put(store, [fact("three").but(text="long " * 4000)], now=NOW)
    assert [r.id for r in store.find(Where())] == ["one", "two", "three"]
    verbs.add_uses(store, {("a", "one"): (1, NOW)})
    healing.join()
    assert [(r.version, r.uses) for r in store.find(Where())] == [(1, 1), (1, 0), (1, 0)]


def test_what_was_acknowledged_while_lines_break_all_the_time_is_there_once(line: Line) -> None:
    store, ended = line.open(PATIENT), threading.Event()

    def shake() -> None:
        while not ended.wait(0.07):
            line.proxy.cut()

    shaking = threading.Thread(target=shake)
    shaking.start()
    told = []
    for number in range(40):
        told += [r.id for r in verbs.put(store, [fact(f"r{number}")], now=NOW)]
        verbs.add_uses(store, {("a", "one"): (1, NOW)})
    ended.set()
    shaking.join()
    assert told == [f"r{number}" for number in range(40)]
    assert [r.version for r in store.find(Where())] == [1] * 42
    assert store.find(Where(ids=("one",)))[0].uses == 40


def test_a_write_that_was_given_up_happened_once_or_not_at_all(line: Line) -> None:
    store = line.open(QUICK)
    store.head()
    line.proxy.silent = True
    with pytest.raises(Unavailable):
        verbs.add_uses(store, {("a", "one"): (1, NOW)})
    line.proxy.heal()
    line.proxy.cut()
    patient = line.open(PATIENT)
    verbs.add_uses(patient, {("a", "one"): (1, NOW)})
    assert patient.find(Where(ids=("one",)))[0].uses in (1, 2)


def test_a_restarted_server_is_found_again(postgres: Postgres, postgres_emptied: str) -> None:
    store = PostgresStore(postgres_emptied, retry_policy=PATIENT)
    verbs.put(store, [fact("one")], now=NOW)
    postgres.stop()
    postgres.start()
    assert verbs.put(store, [fact("two")], now=NOW)[0].id == "two"
    assert verbs.count(store, Where()) == 2
    store.close()


def test_a_server_that_is_down_is_left_alone_and_found_again(valkey: Valkey) -> None:
    proxy = Proxy(valkey.port)
    policy = RetryPolicy(deadline_seconds=0.5, break_after=3, rest_seconds=1.0)
    store = RedisStore(f"redis://127.0.0.1:{proxy.port}/0", retry_policy=policy)
    proxy.refuse()
    for _ in range(2):
        with pytest.raises(Unavailable):
            store.head()
    before = store.retrier.health()
    assert before["state"] == "down"
    with pytest.raises(Unavailable, match="is down"):
        store.head()
    after = store.retrier.health()
    assert (after["failures"], after["retries"]) == (before["failures"], before["retries"]), (
        "it was not asked"
    )
    proxy.heal()
    time.sleep(after["asked_again_in_seconds"] + 0.1)
    verbs.put(store, [fact("x")], now=NOW)
    assert store.retrier.health()["state"] == "up"
    store.close()
    proxy.stop()
