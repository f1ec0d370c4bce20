"""The doors that name servers, while those are away: errors that say so in time, and all of it later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.every_door import said as user
from tests.making import history
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy
from tests.servers.s3 import S3
from tests.servers.valkey import Valkey
from tests.timing import raised_within, within

from eidet.compat.api import AgentMemoryAPI, MemoryConfig, RedisSTMConfig, SQLiteLTMConfig
from eidet.compat.enhanced import RedisStore
from eidet.compat.messages import (
    BaseMemoryStore,
    PostgresMemoryStore,
    RedisMemoryStore,
    S3MemoryStore,
)
from eidet.core.errors import Unavailable

DEADLINE = 0.4
REDIS_DEADLINE = 1  # in whole seconds
WITHIN = 3.5  # seconds, on a machine that does other things as well


def _on_postgres(request: pytest.FixtureRequest) -> tuple[int, Callable[[int], BaseMemoryStore]]:
    server: Postgres = request.getfixturevalue("postgres")
    name = request.getfixturevalue("postgres_database")

    def make(port: int) -> BaseMemoryStore:
        return PostgresMemoryStore(
            f"postgresql://postgres@127.0.0.1:{port}/{name}?eidet_deadline_seconds={DEADLINE:g}"
        )

    return server.port, make


def _on_redis(request: pytest.FixtureRequest) -> tuple[int, Callable[[int], BaseMemoryStore]]:
    request.getfixturevalue("redis_url")
    server: Valkey = request.getfixturevalue("valkey")
    return server.port, lambda port: RedisMemoryStore(f"redis://127.0.0.1:{port}/0?deadline={REDIS_DEADLINE}")


def _in_s3(request: pytest.FixtureRequest) -> tuple[int, Callable[[int], BaseMemoryStore]]:
    server: S3 = request.getfixturevalue("s3")
    bucket = server.bucket()
    return server.port, lambda port: S3MemoryStore(f"{server.url(bucket, port=port)}&deadline={DEADLINE:g}")


STORES = {"postgres": _on_postgres, "redis": _on_redis, "s3": _in_s3}


@pytest.fixture(params=STORES)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Proxy, BaseMemoryStore, str]]:
    port, make = STORES[request.param](request)
    proxy = Proxy(port)
    store = make(proxy.port)
    asyncio.run(store.add_message(user("before")))
    yield proxy, store, request.param
    proxy.heal()
    asyncio.run(store.close())
    proxy.stop()


@pytest.mark.point(84, 85, 86)
def test_a_store_of_messages_says_in_time_that_its_server_is_away(
    opened: tuple[Proxy, BaseMemoryStore, str],
) -> None:
    proxy, store, kind = opened
    proxy.silent = True
    raised_within(WITHIN, Unavailable, lambda: asyncio.run(store.add_message(user("lost"))))
    if kind != "s3":  # what is in an archive was read when it was opened
        raised_within(WITHIN, Unavailable, lambda: asyncio.run(store.get_history()))
    proxy.heal()
    proxy.cut()
    _patiently(lambda: asyncio.run(store.add_message(user("after"))))
    assert [text for text in history(store) if text != "lost"] == ["before", "after"]


def _patiently(act: Callable[[], object]) -> None:
    """A server that was down is asked again after a rest."""
    ends = time.monotonic() + 40
    while True:
        try:
            act()
        except Unavailable:
            assert time.monotonic() < ends
            time.sleep(0.2)
        else:
            return


@pytest.mark.point(10)
def test_a_cache_says_in_time_that_its_server_is_away(redis_url: str, valkey: Valkey) -> None:
    proxy = Proxy(valkey.port)
    with RedisStore(f"redis://127.0.0.1:{proxy.port}/0?deadline={REDIS_DEADLINE}", ttl=60) as cache:
        cache.add("k", "v")
        proxy.silent = True
        for verb in (lambda: cache.add("x", "y"), lambda: cache.get("k"), lambda: cache.forget("k")):
            raised_within(3, Unavailable, verb)
        proxy.heal()
        proxy.cut()
        _patiently(lambda: cache.add("z", "there"))
        assert cache.get("z") == "there"
    proxy.stop()


@pytest.mark.point(188, 193, 195)
def test_agents_go_on_while_the_server_of_their_short_tier_is_away(
    redis_url: str, valkey: Valkey, tmp_path: Path
) -> None:
    """What they store waits beside the file of the long tier, and is there afterwards."""
    proxy = Proxy(valkey.port)
    config = MemoryConfig(
        stm_config=RedisSTMConfig(
            url=f"redis://127.0.0.1:{proxy.port}/0?deadline={REDIS_DEADLINE}", memory_limit=3
        ),
        im_config={"memory_limit": 2},
        ltm_config=SQLiteLTMConfig(db_path=tmp_path / "long.db"),
        cleanup_interval=100,
    )
    with AgentMemoryAPI(config) as api:
        for step in range(9):
            api.store_agent_state("a", {"n": step}, step)
        api.force_memory_maintenance("a")
        space = api.get_memory_space("a")
        long = {entry["step_number"] for entry in space.retrieve_recent_states(20, memory_tiers="ltm")}
        assert long
        proxy.refuse()
        api.store_agent_state("a", {"n": 9}, 9)
        found = within(6, lambda: space.retrieve_recent_states(20))
        assert {entry["step_number"] for entry in found} == long | {9}
        assert space.degraded.keys() == {"stm", "im"}
        assert "127.0.0.1" in space.degraded["stm"]
        space.retrieve_recent_states(20, memory_tiers="ltm")
        assert space.degraded == {}
        assert api.memory.admin.health()["state"] == "degraded"
        assert api.memory.admin.health()["store"]["waiting"]["records"] == 1
        proxy.heal()
        store: Any = api.memory.parts.store
        ends = time.monotonic() + 40
        while store.health()["waiting"]["records"] and time.monotonic() < ends:
            time.sleep(0.1)
            store.mend()
        steps = {entry["step_number"] for entry in space.retrieve_recent_states(20)}
        assert (steps, space.degraded) == (set(range(10)), {})
    proxy.stop()
