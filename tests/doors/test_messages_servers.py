"""The message stores on real servers: PostgreSQL and Redis."""

from __future__ import annotations

from asyncio import run
from typing import Any

import pytest
from tests.doors.every_door import said as user
from tests.making import contents
from tests.servers.valkey import Valkey

from eidet import Memory
from eidet.compat.messages import (
    BaseMemoryStore,
    Message,
    PostgresMemoryStore,
    RedisMemoryStore,
)
from eidet.core.errors import EidetError

HOUR = 3600.0


@pytest.fixture(params=["postgres", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


def store_at(url: str, **how: Any) -> BaseMemoryStore:
    make = PostgresMemoryStore if url.startswith("postgres") else RedisMemoryStore
    return make(url, **how)


@pytest.mark.point(84, 85)
def test_a_session_is_cleared_and_others_stay(url: str) -> None:
    async def work() -> tuple[list[Message], list[str | None]]:
        async with store_at(url, session_id="a") as one, store_at(url, session_id="b") as other:
            await one.add_message(user("x"))
            await other.add_message(user("y"))
            await one.clear()
            return await one.get_history(), contents(await other.get_history())

    assert run(work()) == ([], ["y"])


@pytest.mark.point(84)
def test_initialize_opens_the_pool_and_close_gives_it_back(postgres_url: str) -> None:
    async def work() -> None:
        store = PostgresMemoryStore(postgres_url, session_id="s")
        pools = [store.pool]
        await store.initialize()
        pools.append(store.pool)
        await store.add_message(user("x"))
        await store.close()
        pools.append(store.pool)
        assert [isinstance(pool, Memory) for pool in pools] == [False, True, False]
        assert contents(await store.get_history()) == ["x"]
        await store.close()

    run(work())


@pytest.mark.point(84)
def test_the_old_name_of_the_scheme_means_the_same(postgres_url: str) -> None:
    async def work() -> list[str | None]:
        async with PostgresMemoryStore(postgres_url.replace("postgresql://", "postgres://", 1)) as store:
            await store.add_message(user("x\0y é 🙂"))
            return contents(await store.get_history())

    assert run(work()) == ["x\0y é 🙂"]


@pytest.mark.point(84, 85)
@pytest.mark.parametrize(
    "url", ["postgresql://nobody@127.0.0.1:1/x?eidet_deadline_seconds=1", "redis://127.0.0.1:1/0?deadline=1"]
)
def test_a_server_that_does_not_answer_is_told_at_initialize(url: str) -> None:
    with pytest.raises(EidetError, match=r"127\.0\.0\.1"):
        run(store_at(url).initialize())


@pytest.mark.point(85)
def test_only_the_newest_messages_stay_in_redis(redis_url: str) -> None:
    async def work() -> list[str | None]:
        async with RedisMemoryStore(redis_url, max_messages=3) as store:
            for n in range(6):
                await store.add_message(user(f"n{n}"))
            assert store.client is not None
            assert store.client.count() == 3, "what is over the limit is gone from the server too"
            await store.add_messages([user("x"), user("y")])
        async with RedisMemoryStore(redis_url) as other:
            return contents(await other.get_history())

    assert run(work()) == ["n5", "x", "y"]


@pytest.mark.point(85)
def test_a_session_that_nobody_asks_for_ends_on_the_server_by_itself(redis_url: str, valkey: Valkey) -> None:
    now = [1_000_000.0]
    with Memory(f"{redis_url}?linger=0", clock=lambda: now[0]) as memory:
        store = RedisMemoryStore(redis_url, ttl_hours=1, memory=memory)
        run(store.add_messages([user(f"n{n}") for n in range(100)]))
        now[0] += HOUR / 2
        run(store.add_message(user("late")))
        ends = {record.expires for record in memory.find(limit=1000)}
        assert ends == {now[0] + 1.1 * HOUR}, "all of it ends at once, a little after the door lets it go"
        assert {record.version for record in memory.find(limit=1000)} == {1}
        now[0] += 2 * HOUR
        assert memory.count() == 0
