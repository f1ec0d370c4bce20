"""The tiers of agents on real servers: short and middle in Redis, long in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock
from tests.servers.valkey import Valkey

from eidet import Memory
from eidet.compat.api import (
    AgentMemoryAPI,
    MemoryConfig,
    MemoryConfigException,
    RedisIMConfig,
    RedisSTMConfig,
    SQLiteLTMConfig,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def config(url: str, path: Path, **more: Any) -> MemoryConfig:
    return MemoryConfig(
        stm_config=RedisSTMConfig(url=url, memory_limit=10),
        im_config=RedisIMConfig(url=url, memory_limit=8),
        ltm_config=SQLiteLTMConfig(db_path=path),
        **{"cleanup_interval": 5} | more,
    )


@pytest.fixture
def api(redis_url: str, tmp_path: Path, clock: Clock) -> Iterator[AgentMemoryAPI]:
    with AgentMemoryAPI(config(redis_url, tmp_path / "long.db"), clock=clock) as opened:
        yield opened


def counts(api: AgentMemoryAPI) -> tuple[int, int, int]:
    stats = api.get_memory_statistics("a")
    return stats["stm_count"], stats["im_count"], stats["ltm_count"]


def tiers_at(place: str | Path) -> dict[str, int]:
    with Memory(place) as memory:
        return dict(memory.admin.stats()["tiers"])


def fill(api: AgentMemoryAPI, clock: Clock, count: int) -> None:
    for step in range(count):
        clock.now += 1
        api.store_agent_state("a", {"n": step, "health": step / 7, "note": f"step {step} of the walk"}, step)


@pytest.mark.point(193, 194, 195)
def test_each_tier_lives_where_the_config_says(
    api: AgentMemoryAPI, clock: Clock, redis_url: str, tmp_path: Path
) -> None:
    fill(api, clock, 25)
    assert counts(api) == (10, 8, 7)
    api.close()
    assert tiers_at(redis_url) == {"short": 10, "middle": 8}
    assert tiers_at(tmp_path / "long.db") == {"long": 7}


@pytest.mark.point(193, 194, 195)
def test_one_question_is_answered_from_all_tiers(api: AgentMemoryAPI, clock: Clock) -> None:
    fill(api, clock, 25)
    space = api.get_memory_space("a")
    steps = [entry["step_number"] for entry in space.retrieve_recent_states(100)]
    assert steps == list(range(24, -1, -1))
    assert space.retrieve_by_time_range(2, 3)[0]["step_number"] in (2, 3)


@pytest.mark.point(193, 194, 195)
def test_all_of_it_is_there_after_a_restart(
    api: AgentMemoryAPI, clock: Clock, redis_url: str, tmp_path: Path
) -> None:
    fill(api, clock, 25)
    before = {e["memory_id"] for e in api.get_memory_space("a").retrieve_recent_states(100)}
    api.close()
    with AgentMemoryAPI(config(redis_url, tmp_path / "long.db"), clock=clock) as again:
        assert counts(again) == (10, 8, 7)
        assert {e["memory_id"] for e in again.get_memory_space("a").retrieve_recent_states(100)} == before


@pytest.mark.point(194, 195)
def test_what_was_compressed_is_brought_back_in_full(api: AgentMemoryAPI, clock: Clock) -> None:
    fill(api, clock, 25)
    long = api.get_memory_space("a").retrieve_recent_states(100, memory_tiers="ltm")
    assert long
    for entry in long:
        step = entry["step_number"]
        whole = api.memory.upkeep.detail(entry["memory_id"], scope="a")
        assert whole.data == {"n": step, "health": step / 7, "note": f"step {step} of the walk"}


@pytest.mark.point(193)
def test_without_a_file_all_tiers_are_on_the_server(redis_url: str, clock: Clock) -> None:
    asked = MemoryConfig(stm_config=RedisSTMConfig(url=redis_url, memory_limit=3), cleanup_interval=2)
    with AgentMemoryAPI(asked, clock=clock) as api:
        fill(api, clock, 6)
    assert sum(tiers_at(redis_url).values()) == 6


@pytest.mark.point(193)
def test_host_port_and_use_redis_name_the_server(valkey: Valkey, clock: Clock) -> None:
    own = RedisSTMConfig(host="127.0.0.1", port=valkey.port, db=3, use_redis=True)
    with AgentMemoryAPI(MemoryConfig(stm_config=own), clock=clock) as api:
        fill(api, clock, 2)
    assert tiers_at(f"redis://127.0.0.1:{valkey.port}/3") == {"short": 2}


@pytest.mark.point(150, 193, 194)
@pytest.mark.parametrize(
    ("short", "middle"),
    [
        ({"url": "redis://:secret@one:6379/0"}, {"url": "redis://two:6379/0"}),
        ({"host": "one", "db": 0}, {"host": "one", "db": 1}),
        ({"host": "one", "port": 6379}, {"host": "one", "port": 6380}),
    ],
)
def test_two_servers_for_the_short_and_the_middle_tier_are_refused(
    short: dict[str, Any], middle: dict[str, Any]
) -> None:
    with pytest.raises(MemoryConfigException, match="one server") as refused:
        MemoryConfig(stm_config=RedisSTMConfig(**short), im_config=RedisIMConfig(**middle))
    assert "secret" not in str(refused.value)
    config = MemoryConfig(stm_config=RedisSTMConfig(**short))
    with pytest.raises(MemoryConfigException, match="one server"):
        config.but({"im_config": middle})


@pytest.mark.point(150, 193, 194)
def test_one_server_may_be_named_for_one_tier_or_for_both() -> None:
    config = MemoryConfig(
        stm_config=RedisSTMConfig(url="redis://somewhere"), im_config=RedisIMConfig(url="redis://somewhere")
    )
    assert config.server == "redis://somewhere"
    only = MemoryConfig(im_config=RedisIMConfig(host="somewhere"))
    assert only.server == "redis://somewhere:6379/0"


@pytest.mark.point(199)
def test_what_the_server_holds_is_told_in_bytes(api: AgentMemoryAPI, clock: Clock) -> None:
    before = api.memory.admin.stats()["store_bytes"]
    fill(api, clock, 25)
    after = api.memory.admin.stats()["store_bytes"]
    assert after > before
    stats = api.get_memory_statistics("a")
    assert stats["total_memories"] == 25
    assert stats["vector_bytes"] > 0
