"""A lost line to Redis: every verb succeeds or says in time that it could not; nothing happens twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from tests.servers.proxy import Proxy
from tests.servers.valkey import Valkey

from eidet.core.errors import Unavailable
from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.net.retry import RetryPolicy
from eidet.quality import Tally
from eidet.store import verbs
from eidet.store.redis import RedisStore

NOW = 1_700_000_000.0
QUICK = RetryPolicy(deadline_seconds=0.25, break_after=1000, rest_seconds=0.1)


@pytest.fixture
def proxy(valkey: Valkey, redis_url: str) -> Iterator[Proxy]:
    proxy = Proxy(valkey.port)
    yield proxy
    proxy.stop()


@pytest.fixture
def store(proxy: Proxy) -> Iterator[RedisStore]:
    store = RedisStore(f"redis://127.0.0.1:{proxy.port}/0", retry_policy=QUICK)
    verbs.put(store, [record("one"), record("two")], now=NOW)
    yield store
    store.close()


@pytest.fixture
def patient(store: RedisStore, proxy: Proxy) -> Iterator[RedisStore]:
    """The same records, for whoever has more time."""
    patient = RedisStore(
        f"redis://127.0.0.1:{proxy.port}/0", retry_policy=RetryPolicy(deadline_seconds=10, break_after=1000)
    )
    yield patient
    patient.close()


def record(id: str) -> Record:
    return Record(id=id, scope="a", text=f"the text of {id}", created=NOW, occurred=NOW)


WRITES: dict[str, Callable[[RedisStore, int], object]] = {
    "put": lambda store, n: verbs.put(store, [record(f"new {n}")], now=NOW),
    "revise": lambda store, n: verbs.put(store, [record("one").but(text=f"text {n}")], now=NOW),
    "expect": lambda store, n: verbs.put(store, [record("two").but(text=f"text {n}")], now=NOW, expect=n + 1),
    "note": lambda store, n: verbs.add_uses(store, {("a", "one"): (1, NOW)}),
    "tally": lambda store, n: verbs.add_counts(store, [Tally("a", 1, "recall", {"n": 1})], since=0),
    "twin": lambda store, n: verbs.put(store, [record(f"twin {n}").but(text="the text of both")], now=NOW),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_whose_answer_is_lost_happens_once(write: str, patient: RedisStore, proxy: Proxy) -> None:
    verbs.put(patient, [record("both")], now=NOW)
    for n in range(3):
        proxy.cut_after = 0  # of the line that is open: the write gets through, its answer does not
        healing = threading.Timer(0.05, proxy.heal)
        healing.start()
        WRITES[write](patient, n)
        healing.join()
    one, two, both = patient.read("a", ["one", "two", "both"])
    assert one is not None
    assert two is not None
    assert both is not None
    found = (one.version, two.version, one.uses, both.uses, verbs.count(patient, Where()))
    wanted = {
        "put": (1, 1, 0, 0, 6),
        "revise": (4, 1, 0, 0, 3),
        "expect": (1, 4, 0, 0, 3),
        "note": (1, 1, 3, 0, 3),
        "tally": (1, 1, 0, 0, 3),
        "twin": (1, 1, 0, 3, 3),
    }
    assert found == wanted[write]
    assert [row.counts for row in verbs.read_counts(patient, None, 0)] == (
        [{"n": 3}] if write == "tally" else []
    )
    assert len(patient.history("a", "one")) == one.version


@pytest.mark.parametrize("after", [0, 5, 2000, 8000])
def test_a_line_cut_again_and_again_is_tried_until_it_holds(
    after: int, patient: RedisStore, proxy: Proxy
) -> None:
    """Also while a new line is being made, and in the middle of a long reply."""
    proxy.cut()
    proxy.cut_after = after
    healing = threading.Timer(0.2, proxy.heal)
    healing.start()
    verbs.put(patient, [record("three").but(text="long " * 4000)], now=NOW)
    assert [r.id for r in patient.find(Where())] == ["one", "two", "three"]
    verbs.add_uses(patient, {("a", "one"): (1, NOW)})
    healing.join()
    assert [(r.version, r.uses) for r in patient.find(Where())] == [(1, 1), (1, 0), (1, 0)]


def test_what_was_acknowledged_while_lines_break_all_the_time_is_there_once(
    patient: RedisStore, proxy: Proxy
) -> None:
    ended = threading.Event()

    def shake() -> None:
        while not ended.wait(0.05):
            proxy.cut()

    shaking = threading.Thread(target=shake)
    shaking.start()
    told = []
    for number in range(60):
        told += [r.id for r in verbs.put(patient, [record(f"r{number}")], now=NOW)]
        verbs.add_uses(patient, {("a", "one"): (1, NOW)})
    ended.set()
    shaking.join()
    proxy.heal()
    assert told == [f"r{number}" for number in range(60)]
    assert [r.version for r in patient.find(Where(scope=Scope("a")))] == [1] * 62
    assert patient.find(Where(ids=("one",)))[0].uses == 60


def test_a_write_that_was_sent_again_and_again_happens_once(store: RedisStore, proxy: Proxy) -> None:
    proxy.silent = True
    with pytest.raises(Unavailable, match=r"may have taken effect|did not answer"):
        verbs.add_counts(store, [Tally("a", 1, "recall", {"n": 1})], since=0)
    with pytest.raises(Unavailable):
        verbs.add_uses(store, {("a", "one"): (1, NOW)})
    proxy.heal()
    proxy.cut()
    assert store.read("a", ["one"])[0].uses in (0, 1)  # type: ignore[union-attr]
    verbs.add_uses(store, {("a", "one"): (1, NOW)})
    assert store.read("a", ["one"])[0].uses in (1, 2)  # type: ignore[union-attr]


def test_a_server_that_is_down_is_left_alone_and_found_again(valkey: Valkey, proxy: Proxy) -> None:
    retry_policy = RetryPolicy(deadline_seconds=0.5, break_after=3, rest_seconds=1.0)
    store = RedisStore(f"redis://127.0.0.1:{proxy.port}/0", retry_policy=retry_policy)
    proxy.refuse()
    for _ in range(2):
        with pytest.raises(Unavailable):
            store.head()
    before = store.retrier.health()
    assert before.state == "down"
    with pytest.raises(Unavailable, match="is down"):
        store.head()
    after = store.retrier.health()
    assert (after.failures, after.retries) == (before.failures, before.retries), "it was not asked"
    proxy.heal()
    time.sleep(after.asked_again_in_seconds + 0.1)
    verbs.put(store, [record("x")], now=NOW)
    assert store.retrier.health().state == "up"
    store.close()
