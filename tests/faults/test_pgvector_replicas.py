"""A database that searches, with servers that follow it: those are searched while they know enough."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.faults.pairs import ask, paired
from tests.faults.pgvector_memories import (
    FROM,
    SCOPE,
    SERVED,
    await_served,
    check_complete,
    fill,
    index_of,
    opened,
    text,
)
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy
from tests.timing import until

from eidet import Memory
from eidet.core.errors import Misconfigured
from eidet.core.where import Condition, Where
from eidet.index.change_pages import Stale
from eidet.index.pgvector.tables import Damaged
from eidet.net.retry import RetryPolicy
from eidet.store.sql.postgres import PostgresStore

pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")

LONG = 60.0  # seconds that a replica may be behind, so that one that is paused is still read


@dataclass
class Three:
    """`near` has what was acknowledged; `far` may have it later."""

    primary: Postgres
    near: Postgres
    far: Postgres

    def url(self, *replicas: Postgres, lag: float = 1.0) -> str:
        places = ",".join(f"127.0.0.1:{server.port}" for server in replicas)
        return f"{self.primary.url()}?eidet_replicas={places}&eidet_lag_seconds={lag}"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Three]:
    folder: Path = tmp_path_factory.mktemp("three")
    with paired(folder) as pair:
        far = Postgres(folder / "far").copy_of(pair.primary, "far").start()
        with opened(pair.primary.url()) as memory:
            fill(memory, range(FROM))
            await_served(memory)
        yield Three(pair.primary, pair.standby, far)
        far.stop()


@pytest.fixture(autouse=True)
def _restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that was not the last one need not wait for the next."""
    monkeypatch.setattr("eidet.index.pgvector.fill.REST_SECONDS", 0.05)


def driver_of(memory: Memory) -> Any:
    store: Any = memory.parts.store
    return store._driver


def await_read(memory: Memory, count: int = 1) -> None:
    """Until so many replicas may be read."""
    replicas = driver_of(memory).replicas
    until(lambda: sum(one["fresh"] for one in replicas.describe()) == count)


@contextmanager
def paused(server: Postgres) -> Iterator[None]:
    """It receives, and does not take in what it received."""
    ask(server, "SELECT pg_wal_replay_pause()")
    until(lambda: ask(server, "SELECT pg_get_wal_replay_pause_state()") == "paused")
    try:
        yield
    finally:
        ask(server, "SELECT pg_wal_replay_resume()")


@contextmanager
def telling(*servers: Postgres) -> Iterator[Callable[[Postgres], int]]:
    """How often statements that a server has run meanwhile read records, or the index's own tables."""

    def set_to(value: str) -> None:
        for server in servers:
            ask(server, f"ALTER SYSTEM SET log_statement = '{value}'")
            ask(server, "SELECT pg_reload_conf()")

    set_to("all")
    begun = {server.port: len((server.folder / "log").read_bytes()) for server in servers}

    def told(server: Postgres) -> int:
        since = (server.folder / "log").read_bytes()[begun[server.port] :]
        return since.count(b"FROM records") + since.count(b"FROM pgvector_")

    try:
        yield told
    finally:
        set_to("none")


def test_replicas_search_and_the_primary_does_not(three: Three) -> None:
    with opened(three.url(three.near, three.far, lag=LONG)) as memory:
        memory.recall(text(1), scope=SCOPE)
        await_read(memory, 2)
        with telling(three.primary, three.near, three.far) as told:
            for number in range(20):
                assert memory.recall(text(number), scope=SCOPE, limit=1)[0].text == text(number)
                odd = Where(conditions=(Condition("data.odd", "exists", number % 2 == 1),))
                memory.recall(text(number), scope=SCOPE, where=odd)
                memory.recall(scope=SCOPE, limit=3)
                memory.context(text(number), scope=SCOPE, limit=3)
            assert told(three.primary) == 0
            assert min(told(three.near), told(three.far)) >= 80


def test_what_was_just_written_is_found_while_a_replica_is_read(three: Three) -> None:
    with opened(three.url(three.near, three.far)) as memory:
        await_served(memory)
        await_read(memory, 2)
        for number in range(FROM, FROM + 40):  # more than may wait, so that copies are made on the way
            memory.remember(text(number), scope=SCOPE)
            assert memory.recall(text(number), scope=SCOPE, limit=1)[0].text == text(number)
        gone = memory.recall(text(FROM), scope=SCOPE, limit=1)[0].id
        memory.forget(gone, scope=SCOPE)
        left = [hit.id for hit in memory.recall(text(FROM), scope=SCOPE)]
        assert left
        assert gone not in left
        memory.remember(text(FROM), scope=SCOPE, again=True)
        check_complete(memory, three.primary.url(), range(0, FROM + 40, 11))


def test_a_replica_that_is_behind_hides_nothing(three: Three) -> None:
    """Its tables may be of an earlier copy, or not be there yet."""
    with opened(three.url(three.near)) as memory:
        memory.recall("parcel", scope=SCOPE)
        await_read(memory)
        with paused(three.near):
            with opened(three.primary.url()) as other:
                other.remember(text("others"), scope=SCOPE)
                other.admin.rebuild()
            memory.remember(text("mine"), scope=SCOPE)
            assert memory.recall(text("mine"), scope=SCOPE, limit=1)[0].text == text("mine")
            time.sleep(1.3)
            check_complete(memory, three.primary.url(), [3, 50, "mine", "others"])


def test_what_one_replica_has_told_another_does_not_take_back(three: Three) -> None:
    with opened(three.url(three.near, three.far, lag=LONG)) as memory:
        memory.recall("parcel", scope=SCOPE)
        await_read(memory, 2)
        with paused(three.far), opened(three.primary.url()) as other:
            old = other.remember(text("ahead"), scope=SCOPE)
            until(lambda: memory.recall(text("ahead"), scope=SCOPE, limit=1)[0].text == text("ahead"))
            await_read(memory, 2)
            for _ in range(6):
                assert memory.recall(text("ahead"), scope=SCOPE, limit=1)[0].text == text("ahead")
            other.forget(old.id, scope=SCOPE)
            until(lambda: memory.recall(text("ahead"), scope=SCOPE, limit=1)[0].text != text("ahead"))
            for _ in range(6):
                left = [hit.text for hit in memory.recall(text("ahead"), scope=SCOPE)]
                assert left
                assert text("ahead") not in left


def test_a_copy_that_a_replica_lacks_is_searched_on_the_primary(three: Three) -> None:
    with opened(three.url(three.near, lag=LONG)) as memory:
        memory.recall("parcel", scope=SCOPE)
        await_read(memory)
        with paused(three.near):
            memory.admin.rebuild()
            await_read(memory)
            with telling(three.primary, three.near) as told:
                check_complete(memory, three.primary.url(), [3, 50, 99])
                assert index_of(memory)["server_scopes"] == 1  # a replica that passes is no damage
                assert told(three.near) > 0  # it was asked, and had to pass
                assert told(three.primary) > 0


def test_a_replica_that_is_cut_or_silent_is_not_noticed(three: Three) -> None:
    way = Proxy(three.near.port)
    url = f"{three.primary.url()}?eidet_replicas=127.0.0.1:{way.port}&eidet_lag_seconds=2"
    store = PostgresStore(url, retry_policy=RetryPolicy(deadline_seconds=4, rest_seconds=0.2))
    with Memory(store, embedder="hashing:64", settings=SERVED) as memory:
        memory.recall("parcel", scope=SCOPE)
        for fault in (way.refuse, lambda: setattr(way, "silent", True)):
            await_read(memory)
            fault()
            for number in (3, 50):
                assert memory.recall(text(number), scope=SCOPE, limit=1)[0].text == text(number)
            way.heal()
    way.stop()


# What the store says of it.


def in_recovery(store: PostgresStore) -> bool:
    rows: list[Any] = store.look(lambda c: c.execute("SELECT pg_is_in_recovery()").fetchall())
    return bool(rows[0][0])


def await_replica(store: PostgresStore) -> None:
    until(lambda: in_recovery(store))


@pytest.fixture
def store(three: Three) -> Iterator[PostgresStore]:
    store = PostgresStore(three.url(three.near))
    await_replica(store)
    yield store
    store.close()


def test_one_question_is_asked_of_one_server(three: Three) -> None:
    store = PostgresStore(three.url(three.near, three.far, lag=LONG))
    until(lambda: all(one["fresh"] for one in store.health()["replicas"]))

    def port(store: PostgresStore) -> int:
        found: int = store.look(lambda c: c.info.port)
        return found

    # Servers are picked by chance: of sixty questions, all go to one server once in 2 ** 59 runs.
    asked = [store.at_one(lambda: [port(store) for _ in range(5)]) for _ in range(60)]
    assert all(len(set(ports)) == 1 for ports in asked)
    assert {ports[0] for ports in asked} == {three.near.port, three.far.port}
    store.close()


@pytest.mark.parametrize("wrong", [Stale, Damaged])
def test_what_a_replica_must_not_answer_the_primary_does(
    store: PostgresStore, wrong: type[Exception]
) -> None:
    def told() -> str:
        if in_recovery(store):
            raise wrong
        return "by the primary"

    assert store.at_one(told, unless=Stale) == "by the primary"
    await_replica(store)  # that was this question's alone


def test_a_replica_that_cannot_answer_is_complained_of_once(
    store: PostgresStore, caplog: pytest.LogCaptureFixture
) -> None:
    def told() -> str:
        if in_recovery(store):
            raise Misconfigured("no such library")
        return "by the primary"

    with caplog.at_level(logging.WARNING, "eidet.store"):
        assert [store.at_one(told) for _ in range(3)] == ["by the primary"] * 3
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ["no such library"]


def test_what_the_primary_refuses_is_refused(store: PostgresStore) -> None:
    def told() -> None:
        raise Stale

    with pytest.raises(Stale):
        store.at_one(told, unless=Stale)


def test_inside_of_a_question_to_the_primary_no_replica_is_asked(store: PostgresStore) -> None:
    driver: Any = store._driver
    nested = driver.at_primary(
        lambda: (driver.at_primary(lambda: in_recovery(store)), store.at_one(lambda: in_recovery(store)))
    )
    assert nested == (False, False)
    assert store.at_one(lambda: (driver.at_primary(lambda: in_recovery(store)), in_recovery(store))) == (
        False,
        True,
    )
