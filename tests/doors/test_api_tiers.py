"""The door `eidet.compat.api`: tiers, their limits, priorities that fade, files, events."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock
from tests.unit.testing.altered import Altered

from eidet import Memory
from eidet.compat.api import (
    AgentMemoryAPI,
    Importance,
    MemoryConfig,
    MemoryConfigException,
    MemoryMaintenanceException,
    MemoryStoreException,
    action_importance,
    importance,
    move_score,
    state_importance,
)
from eidet.core.errors import Unavailable
from eidet.store.ram import RamStore

HOUR = 3600.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def made(place: Path | None, clock: Clock) -> Iterator[Any]:
    """A function that opens an API on a memory that goes by the clock."""
    memory = Memory(place, clock=clock)
    yield lambda **config: AgentMemoryAPI(MemoryConfig(**config), memory=memory)
    memory.close()


def counts(api: AgentMemoryAPI, agent: str = "a") -> tuple[int, int, int]:
    stats = api.get_memory_statistics(agent)
    return stats["stm_count"], stats["im_count"], stats["ltm_count"]


def store(api: AgentMemoryAPI, count: int, *, start: int = 0, priority: float = 1.0) -> None:
    for step in range(start, start + count):
        api.store_agent_state("a", {"n": step, "health": step / 7}, step, priority)


@pytest.mark.point(193, 194, 196)
def test_over_its_limit_a_tier_moves_the_oldest_down(made: Any, clock: Clock) -> None:
    api = made(cleanup_interval=5, stm_config={"memory_limit": 10}, im_config={"memory_limit": 8})
    for step in range(25):
        clock.now += 1
        api.store_agent_state("a", {"n": step}, step)
    assert counts(api) == (10, 8, 7)
    recent = api.get_memory_space("a").retrieve_recent_states(100, memory_tiers="stm")
    assert [entry["step_number"] for entry in recent] == list(range(24, 14, -1))
    assert api.get_memory_statistics("a")["total_memories"] == 25


@pytest.mark.point(193, 194, 196)
def test_a_tier_is_never_over_its_limit_once_it_was_looked_at(made: Any, clock: Clock) -> None:
    api = made(cleanup_interval=1, stm_config={"memory_limit": 20}, im_config={"memory_limit": 10})
    for step in range(33):
        clock.now += 1
        api.store_agent_state("a", {"n": step}, step)
        short, middle, long = counts(api)
        assert (short, middle, long) == (min(step + 1, 20), min(max(step - 19, 0), 10), max(step - 29, 0))


@pytest.mark.point(196)
def test_limits_are_looked_at_every_so_many_insertions(made: Any) -> None:
    api = made(cleanup_interval=6, stm_config={"memory_limit": 3})
    store(api, 5)
    assert counts(api) == (5, 0, 0)
    store(api, 1, start=5)
    assert counts(api) == (3, 3, 0)


@pytest.mark.point(193, 194, 196)
def test_a_ttl_moves_down_what_was_not_used_for_so_long_whatever_its_priority(
    made: Any, clock: Clock
) -> None:
    api = made(cleanup_interval=1, stm_config={"ttl": HOUR}, im_config={"ttl": 3 * HOUR})
    store(api, 3, priority=1.0)
    clock.now += HOUR - 60
    store(api, 1, start=3)
    assert counts(api) == (4, 0, 0)
    clock.now += 120
    store(api, 1, start=4)
    assert counts(api) == (2, 3, 0)
    clock.now += 2 * HOUR
    store(api, 1, start=5)
    assert counts(api) == (1, 2, 3)


@pytest.mark.point(182, 193)
def test_what_was_used_meanwhile_stays(made: Any, clock: Clock) -> None:
    api = made(stm_config={"ttl": HOUR})
    store(api, 4)
    clock.now += 0.9 * HOUR
    api.store_agent_state("a", {"n": 9}, 9)
    used = api.retrieve_by_attributes("a", {"n": 2})[0]["memory_id"]
    api.get_memory_space("a").focus(used)
    clock.now += 0.2 * HOUR
    api.force_memory_maintenance("a")
    stays = api.get_memory_space("a").retrieve_recent_states(9, memory_tiers="stm")
    assert [entry["contents"]["n"] for entry in stays] == [9, 2]


@pytest.mark.point(193, 209)
def test_what_matters_less_moves_sooner(made: Any, clock: Clock) -> None:
    api = made(stm_config={"ttl": HOUR})
    for priority in (0.0, 0.4, 0.9):
        api.store_agent_state("a", {"p": priority}, 1, priority)
    clock.now += 0.6 * HOUR
    api.force_memory_maintenance("a")
    moved = api.get_memory_space("a").retrieve_recent_states(9, memory_tiers="im")
    assert [entry["contents"]["p"] for entry in moved] == [0.0]
    assert move_score(0.6, 1.0, 0.0) >= 0.5 > move_score(0.6, 1.0, 0.4)


@pytest.mark.point(193, 194)
def test_steps_limit_tiers_where_they_are_set(made: Any) -> None:
    api = made(
        cleanup_interval=10,
        stm_config={"retention_steps": 4, "ttl": None},
        im_config={"retention_steps": 7, "ttl": None},
    )
    store(api, 20)
    assert counts(api) == (5, 3, 12)


@pytest.mark.point(162)
def test_maintenance_can_be_forced_for_one_agent_or_for_all(made: Any) -> None:
    api = made(cleanup_interval=1000, stm_config={"memory_limit": 1})
    for agent in ("a", "b", "c/d"):
        api.store_batch(agent, [{"contents": {"n": n}, "step_number": n} for n in range(3)])
    api.memory.remember("a note of somebody else", scope="notes")
    assert list(api.force_memory_maintenance(agent_id="b")) == ["b"]
    assert (counts(api, "a")[0], counts(api, "b")[0]) == (3, 1)
    again = AgentMemoryAPI(api.config, memory=api.memory)  # which has met no agent yet
    assert set(again.force_memory_maintenance()) == {"a", "b", "c/d"}
    assert [counts(api, agent)[0] for agent in ("a", "b", "c/d")] == [1, 1, 1]


@pytest.mark.point(194, 195, 181)
def test_lower_tiers_show_less_and_focus_brings_all_of_it_back(made: Any) -> None:
    api = made()
    contents = {"health": 0.123456789, "note": "the old mill by the river"}
    stored = api.store_agent_state("a", contents, 1)
    space = api.get_memory_space("a")
    full = space.retrieve_recent_states(1)[0]["embeddings"]["full_vector"]
    assert api.flush_to_ltm("a") == {"stm": 1, "im": 0}
    low = space.retrieve_recent_states(1)[0]
    assert low["metadata"]["compression_level"] == 2
    assert low["contents"] == {**contents, "health": 0.123}
    assert low["embeddings"]["full_vector"] == full  # nothing is lost
    assert counts(api) == (0, 0, 1)
    whole = space.focus(stored)
    assert whole["contents"] == contents
    assert whole["metadata"]["compression_level"] == 0
    assert counts(api) == (0, 1, 0)
    assert api.flush_to_ltm("a", include_stm=False) == {"stm": 0, "im": 1}


@pytest.mark.point(182, 183)
def test_focus_counts_and_what_is_used_often_is_promoted(made: Any, clock: Clock) -> None:
    api = made(stm_config={"memory_limit": 1}, promote_uses=3)
    store(api, 2)
    space = api.get_memory_space("a")
    api.force_memory_maintenance("a")
    (low,) = space.retrieve_recent_states(5, memory_tiers="im")
    for n in (1, 2, 3):
        clock.now += 1
        told = space.focus(low["memory_id"])
        assert told["metadata"]["retrieval_count"] == n
        assert told["metadata"]["last_access_time"] == clock.now
    api.configure_memory_system({"stm_config.memory_limit": 10})
    api.force_memory_maintenance("a")
    assert counts(api) == (2, 0, 0)
    with pytest.raises(Exception, match="there is no memory 'nowhere'"):
        space.focus("nowhere")


@pytest.mark.point(151)
def test_priorities_of_older_memories_fade(made: Any, clock: Clock) -> None:
    api = made(memory_priority_decay=0.5, stm_config={"ttl": HOUR}, cache_ttl=0)
    api.store_agent_state("a", {"age": "old"}, 1, priority=0.8)
    clock.now += 2.5 * HOUR
    api.store_agent_state("a", {"age": "new"}, 2, priority=0.6)
    space = api.get_memory_space("a")
    told = {e["contents"]["age"]: e["metadata"]["importance_score"] for e in space.retrieve_recent_states(2)}
    assert told == {"old": 0.2, "new": 0.6}
    assert [e["contents"]["age"] for e in space.search(Importance(top=2))] == ["new", "old"]
    assert [e["contents"]["age"] for e in space.search(Importance(minimum=0.5))] == ["new"]
    assert [e["contents"]["age"] for e in space.search(Importance(level="low"))] == ["old"]
    assert api.get_memory_statistics("a")["average_importance"] == pytest.approx(0.4)
    api.configure_memory_system({"memory_priority_decay": 1.0})
    assert [e["contents"]["age"] for e in space.search(Importance(top=2))] == ["old", "new"]


@pytest.mark.point(209)
def test_importances_are_those_that_are_documented() -> None:
    assert action_importance(0.5, 0.25) == 0.375
    assert action_importance(-9, 1) == 1.0
    assert (state_importance(0.9, 0), state_importance(0.2, 0), state_importance(1, 4)) == (0.5, 0.8, 0.8)
    assert move_score(30, 60, 0.5) == 0.25
    assert importance("x", reward=5.0, uses=9, age_days=0) > importance("x", reward=0.0, age_days=90)


class _Immovable(Altered):
    def remove(self, records: Any, events: Any) -> Any:
        raise Unavailable("the disk is full")


class Crowded(RamStore):
    """A store that cannot move records for a while."""

    def write(self, job: Any) -> Any:
        return super().write(lambda transaction: job(_Immovable(transaction)))


@pytest.mark.point(186, 189)
def test_upkeep_that_fails_does_not_undo_what_was_stored(caplog: pytest.LogCaptureFixture) -> None:
    config = {"cleanup_interval": 1, "stm_config.memory_limit": 0}
    api = AgentMemoryAPI(config, memory=Memory(Crowded()))
    with caplog.at_level(logging.WARNING, "eidet.compat.api"):
        stored = api.store_agent_state("a", {"n": 1}, 1)
    assert api.retrieve_state_by_id("a", stored) is not None
    assert "upkeep of agent a failed" in caplog.text
    with pytest.raises(MemoryMaintenanceException, match="the disk is full") as told:
        api.force_memory_maintenance()
    assert told.value.context == {"failed": ["a"]}


# Files.


@pytest.fixture
def full(made: Any, clock: Clock) -> AgentMemoryAPI:
    api: AgentMemoryAPI = made()
    for agent in ("a", "b/c"):
        for step in range(4):
            clock.now += 1
            api.store_agent_state(agent, {"n": step, "x": 0.1 + 0.2, "tags": ["é", None]}, step, 0.25)
        api.get_memory_space(agent).focus(api.retrieve_recent_states(agent, 1)[0]["memory_id"])
    api.flush_to_ltm("a")
    api.store_agent_action("a", {"action_type": "rest"}, 9)
    return api


def everything(api: AgentMemoryAPI) -> dict[tuple[str, str], Any]:
    return {
        (agent, record.id): record.but(seq=0, scope="", version=1)
        for agent in sorted(api.agents())
        for record in api.memory.find(scope=api.get_memory_space(agent).scope, order="created")
    }


@pytest.mark.point(203)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_file_gives_everything_back_exactly(full: AgentMemoryAPI, suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"agents.{suffix}"
    assert full.save(file) == 9
    other = AgentMemoryAPI(scope="elsewhere", memory=Memory())
    assert other.load(file) == 9
    assert everything(other) == everything(full)
    assert other.load(file) == 9  # again does no harm
    assert everything(other) == everything(full)
    alone = tmp_path / f"one.{suffix}"
    assert full.save(alone, "b/c") == 4
    third = AgentMemoryAPI(memory=Memory())
    third.load(alone)
    assert third.agents() == ["b/c"]


@pytest.mark.point(203)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_file_that_was_tampered_with_is_refused(full: AgentMemoryAPI, suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"agents.{suffix}"
    full.save(file)
    sound = file.read_text()
    empty = AgentMemoryAPI(memory=Memory())
    for changed in (
        sound.replace("0.25", "0.95", 1),
        sound.replace("rest", "rust", 1),
        sound[: len(sound) // 2],
        "\n".join(sound.splitlines()[:-1]),
        sound.replace('"n"', '"m"', 1),
    ):
        assert changed != sound
        file.write_text(changed)
        with pytest.raises(MemoryStoreException, match="was not loaded"):
            empty.load(file)
    assert empty.agents() == []
    file.write_text(sound)
    assert empty.load(file) == 9


@pytest.mark.point(203)
def test_a_file_of_another_version_says_so(full: AgentMemoryAPI, tmp_path: Path) -> None:
    file = tmp_path / "agents.json"
    full.save(file)
    document = json.loads(file.read_text())
    assert any((line.get("data") or {}).get("x") == 0.1 + 0.2 for line in document)
    file.write_text(json.dumps([{**document[0], "format": 3}, *document[1:]]))
    with pytest.raises(MemoryStoreException, match="format 3, this version reads 1"):
        full.load(file)


@pytest.mark.point(203)
def test_a_file_that_cannot_be_written_or_read_is_told(full: AgentMemoryAPI, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="saved as"):
        full.save(tmp_path / "agents.txt")
    with pytest.raises(Exception, match="could not be written"):
        full.save(tmp_path / "nowhere" / "agents.json")
    with pytest.raises(MemoryStoreException, match="cannot be read"):
        full.load(tmp_path / "nowhere.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MemoryStoreException, match="not a text file"):
        full.load(tmp_path / "binary.json")
    assert [path.name for path in tmp_path.iterdir() if "agents" in path.name] == []


@pytest.mark.point(203)
@pytest.mark.parametrize("lines", [False, True])
def test_plain_entries_of_others_are_read_with_contents_or_content(lines: bool, tmp_path: Path) -> None:
    entries = [
        {"memory_id": "m1", "agent_id": "a", "step_number": 3, "timestamp": 1679233344,
         "contents": {"health": 0.5}, "metadata": {"importance_score": 0.75, "memory_type": "state"}},
        {"memory_id": "m2", "agent_id": "b", "step_number": 4, "content": {"action_type": "rest"},
         "metadata": {"memory_type": "action"}},
    ]  # fmt: skip
    file = tmp_path / ("entries.jsonl" if lines else "entries.json")
    file.write_text("\n".join(map(json.dumps, entries)) if lines else json.dumps(entries))
    api = AgentMemoryAPI()
    assert api.load(file) == 2
    assert api.load(file) == 2
    found = api.retrieve_state_by_id("a", "m1")
    assert found is not None
    assert (found["timestamp"], found["metadata"]["importance_score"]) == (1679233344, 0.75)
    assert [e["contents"] for e in api.retrieve_recent_states("b", 5, "action")] == [{"action_type": "rest"}]


@pytest.mark.point(203)
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"contents": {}}, "agent_id is a text"),
        ({"agent_id": "a", "contents": [1]}, "the contents of a memory are a dict"),
        ({"agent_id": "a", "contents": {}, "step_number": "x"}, "step_number must be a whole number"),
        ({"agent_id": "a", "contents": {}, "metadata": {"memory_type": "dream"}}, "memory_type is state"),
        ({"agent_id": "a", "contents": {}, "metadata": []}, None),
        ({"agent_id": "a", "contents": {}, "metadata": 7}, "an entry is a dict, as its metadata are"),
        (7, "an entry is a dict"),
    ],
)
def test_entries_are_checked_before_any_is_stored(entry: Any, words: str | None, tmp_path: Path) -> None:
    good = {"agent_id": "a", "contents": {"x": 1}, "step_number": 1}
    file = tmp_path / "entries.json"
    file.write_text(json.dumps([good, entry]))
    api = AgentMemoryAPI()
    if words is None:
        assert api.load(file) == 2
        return
    with pytest.raises(MemoryStoreException, match=f"memory 1: {words}"):
        api.load(file)
    assert api.agents() == []


# Events.


@pytest.mark.point(204)
def test_hooks_are_called_by_priority_with_the_data(made: Any) -> None:
    api, called = made(), []
    api.register_hook("state_stored", lambda data, _: called.append(("low", data["step_number"])), priority=1)
    api.register_hook("state_stored", lambda data, space: called.append(("high", space.agent_id)), priority=9)
    api.register_hook(
        "state_stored", lambda data, _: called.append(("low too", data["contents"])), priority=1
    )
    api.store_agent_state("a", {"x": 1}, 4)
    assert called == [("high", "a"), ("low", 4), ("low too", {"x": 1})]
    api.store_agent_action("a", {"x": 1}, 4)
    assert len(called) == 3


@pytest.mark.point(204)
def test_own_events_give_the_answers_of_their_hooks(made: Any) -> None:
    api = made()
    space = api.get_memory_space("a")

    space.register_hook("found", lambda data, _: data["x"], priority=9)
    space.register_hook("found", lambda data, _: data["x"] * 2)
    assert space.trigger_event("found", {"x": 2}) == [2, 4]
    assert api.trigger_event("b", "found", {"x": 3}) == [3, 6]
    assert space.trigger_event("unknown") == []
    with pytest.raises(MemoryConfigException):
        space.register_hook("found", "no function")


@pytest.mark.point(204)
def test_a_hook_may_store_a_memory(made: Any) -> None:
    api = made()

    def notice(data: dict[str, Any], _: Any) -> dict[str, Any] | None:
        if data["contents"].get("health", 1) > 0.2:
            return None
        memory = {"action_type": "alarm", "because": data["memory_id"]}
        return {"store_memory": True, "memory_data": memory, "memory_type": "action", "priority": 0.9}

    api.register_hook("state_stored", notice)
    api.store_agent_state("a", {"health": 0.9}, 1)
    stored = api.store_agent_state("a", {"health": 0.1}, 2)
    (alarm,) = api.retrieve_recent_states("a", 5, "action")
    assert (alarm["contents"]["because"], alarm["step_number"]) == (stored, 2)
    assert alarm["metadata"]["importance_score"] == 0.9


@pytest.mark.point(204)
def test_hooks_that_fail_or_call_themselves_do_no_harm(made: Any, caplog: pytest.LogCaptureFixture) -> None:
    api = made()
    called: list[dict[str, Any]] = []
    api.register_hook("state_stored", lambda *_: 1 / 0, priority=9)
    api.register_hook("state_stored", lambda *_: {"store_memory": True, "memory_data": 7}, priority=8)
    api.register_hook("state_stored", lambda *_: {"store_memory": True, "memory_data": {"again": 1}})
    api.register_hook("state_stored", lambda data, _: called.append(data))
    with caplog.at_level(logging.WARNING, "eidet.compat.api"):
        api.store_agent_state("a", {"x": 1}, 1)
    assert len(called) == 5  # and no further
    assert "division by zero" in caplog.text
    assert "memory_data, a dict" in caplog.text
    assert api.get_memory_statistics("a")["total_memories"] == 6
