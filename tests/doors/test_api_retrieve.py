"""The door `eidet.compat.api`: finding memories, the cache of answers, tiers that fail."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import Clock, examples

from eidet import Memory
from eidet.compat.api import (
    AgentMemoryAPI,
    MemoryConfigException,
    MemoryRetrievalException,
    MemorySpace,
    MemoryStoreException,
    Severity,
    TimeWindow,
    cacheable,
    merge_sorted,
)
from eidet.core.errors import Unavailable
from eidet.core.record import Record
from eidet.store.ram import RamStore


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def api(place: Path | None, clock: Clock) -> Any:
    with AgentMemoryAPI(memory=place, clock=clock) as opened:
        yield opened


def filled(api: AgentMemoryAPI) -> MemorySpace:
    """Ten states, and an action and an interaction in the middle."""
    for step in range(10):
        state = {
            "position": [step, step],
            "health": step / 10,
            "mood": ["calm", "angry"][step % 2],
            "inventory": {"wood": step},
        }
        api.store_agent_state("a", state, step, priority=step / 10)
    trade = {"action_type": "trade", "items_given": {"wood": 2}, "outcome": "success"}
    api.store_agent_action("a", trade, 5)
    api.store_agent_interaction("a", {"content": "Hello, do you have any wood to trade?"}, 6)
    return api.get_memory_space("a")


def steps(entries: Sequence[dict[str, Any]]) -> list[int]:
    return [entry["step_number"] for entry in entries]


@pytest.mark.point(158, 201)
def test_recent_states_are_the_newest_steps_first(api: AgentMemoryAPI) -> None:
    space = filled(api)
    assert steps(space.retrieve_recent_states(count=3, memory_type="state")) == [9, 8, 7]
    assert steps(api.retrieve_recent_states("a", 2, "action")) == [5]
    assert len(space.retrieve_recent_states()) == 10
    assert space.retrieve_recent_states(memory_type="triple") == []


@pytest.mark.point(160)
def test_a_step_range_has_both_ends_and_is_in_order(api: AgentMemoryAPI) -> None:
    space = filled(api)
    found = space.retrieve_by_time_range(agent_id="a", start_step=4, end_step=6)
    assert steps(found) == [4, 5, 5, 6, 6]
    assert steps(api.retrieve_by_time_range("a", 4, 6, memory_type="action")) == [5]
    assert steps(api.retrieve_by_time_range("a", start_step=9)) == [9]
    assert api.retrieve_by_time_range("a", 100, 200) == []
    with pytest.raises(MemoryRetrievalException, match="start_step 6 is after end_step 4"):
        api.retrieve_by_time_range("a", 6, 4)
    with pytest.raises(MemoryRetrievalException, match="whole number"):
        api.retrieve_by_time_range("a", "1", 2)


@pytest.mark.point(160)
def test_a_space_does_not_answer_for_another_agent(api: AgentMemoryAPI) -> None:
    space = filled(api)
    asks: tuple[Callable[[], Any], ...] = (
        lambda: space.retrieve_by_time_range(0, 9, agent_id="b"),
        lambda: space.retrieve_similar_states({"x": 1}, agent_id="b"),
        lambda: space.retrieve_by_attributes({"x": 1}, agent_id="b"),
    )
    for ask in asks:
        with pytest.raises(MemoryRetrievalException, match="the memory of agent 'a', not of 'b'"):
            ask()


@pytest.mark.point(161)
def test_attributes_are_found_nested_ones_too(api: AgentMemoryAPI) -> None:
    space = filled(api)
    found = api.retrieve_by_attributes(
        "a", {"action_type": "trade", "outcome": "success"}, memory_type="action"
    )
    assert steps(found) == [5]
    assert steps(space.retrieve_by_attributes({"inventory.wood": 7})) == [7]
    assert steps(space.retrieve_by_attributes({"inventory": {"wood": 7}})) == [7]
    assert steps(space.retrieve_by_attributes({"position": [3, 3]})) == [3]
    assert steps(space.retrieve_by_attributes({"position.0": 3})) == [3]
    assert space.retrieve_by_attributes({"mood": "calm"}, memory_type="action") == []
    assert len(space.retrieve_by_attributes({"mood": "calm"})) == 5
    assert len(space.retrieve_by_attributes({"mood": "calm"}, k=2)) == 2
    assert len(space.retrieve_by_attributes({})) == 12
    with pytest.raises(MemoryRetrievalException, match="attributes are a dict"):
        space.retrieve_by_attributes(["mood"])  # type: ignore[arg-type]


def test_a_key_with_dots_is_a_name_as_well(api: AgentMemoryAPI) -> None:
    api.store_agent_state("a", {"a.b": 1}, 1)
    api.store_agent_state("a", {"a": {"b": 1}}, 2)
    for _ in range(3):
        assert steps(api.retrieve_by_attributes("a", {"a.b": 1})) == [2, 1]
        api.clear_cache()
    api.store_agent_state("a", {"c": 1}, 3)
    without = api.get_memory_space("a").query().path("a.b", "exists", False)
    assert steps(without.run()) == [3]


@pytest.mark.point(159, 179)
def test_similar_states_are_the_nearest_in_meaning_and_numbers(api: AgentMemoryAPI) -> None:
    filled(api)
    found = api.retrieve_similar_states("a", {"position": [8, 8], "health": 0.8, "mood": "calm"}, k=3)
    assert found[0]["step_number"] == 8
    assert len(found) == 3
    only = api.retrieve_similar_states("a", {"position": [8, 8]}, k=3, memory_type="action")
    assert steps(only) == [5]
    with pytest.raises(MemoryRetrievalException, match="k must be a whole number from 1 up"):
        api.retrieve_similar_states("a", {}, k=0)
    with pytest.raises(MemoryRetrievalException, match="a state to compare with is a dict or a text"):
        api.retrieve_similar_states("a", 7)


@pytest.mark.point(201)
def test_the_weights_of_a_hybrid_search_act(api: AgentMemoryAPI) -> None:
    api.store_agent_state("a", {"note": "the harbour is full of ships", "health": 0.1}, 1)
    api.store_agent_state("a", {"note": "nothing to see", "health": 0.9}, 2)
    asked = {"note": "ships in the harbour", "health": 0.9}
    for vector, attribute, best in ((1.0, 0.0, 1), (0.0, 1.0, 2)):
        assert api.hybrid_retrieve("a", asked, 1, None, vector, attribute)[0]["step_number"] == best
    with pytest.raises(MemoryRetrievalException, match="weights"):
        api.hybrid_retrieve("a", asked, vector_weight=0, attribute_weight=0)


@pytest.mark.point(175, 197)
def test_a_raw_vector_finds_what_it_is_the_vector_of(api: AgentMemoryAPI) -> None:
    space = filled(api)
    entry = space.retrieve_by_time_range(5, 5, "action")[0]
    found = space.search_by_embedding(
        query_embedding=entry["embeddings"]["full_vector"], k=1, memory_tiers=["stm", "im"]
    )
    assert [one["memory_id"] for one in found] == [entry["memory_id"]]
    assert space.search_by_embedding(entry["embeddings"]["full_vector"], k=3, memory_tiers="ltm") == []
    with pytest.raises(MemoryRetrievalException, match="shape"):
        space.search_by_embedding([0.1, 0.2, 0.3])
    with pytest.raises(MemoryRetrievalException, match="list of numbers"):
        space.search_by_embedding(["x"])  # type: ignore[list-item]
    with pytest.raises(MemoryRetrievalException, match=r"no tier \['wtm'\]; there are stm, im and ltm"):
        space.search_by_embedding([0.1], memory_tiers=["wtm"])


@pytest.mark.point(176)
def test_content_is_searched_by_words_and_meaning(api: AgentMemoryAPI) -> None:
    space = filled(api)
    kinds = [e["metadata"]["memory_type"] for e in space.search_by_content(content_query="trade wood", k=2)]
    assert set(kinds) == {"action", "interaction"}
    assert space.search_by_content({"outcome": "success"}, k=1)[0]["step_number"] == 5
    with pytest.raises(MemoryRetrievalException, match="empty"):
        space.search_by_content("  ")


@pytest.mark.point(166, 201)
def test_changes_of_an_attribute_are_told_one_by_one(api: AgentMemoryAPI) -> None:
    for step, (health, wood) in enumerate([(1.0, 1), (1.0, 2), (0.5, 2), (None, 2), (1.0, 3)]):
        api.store_agent_state("a", {"health": health, "inventory": {"wood": wood}}, step)
    api.store_agent_state("a", {"other": 1}, 7)
    api.store_agent_action("a", {"health": 0.0}, 8)
    told = api.get_attribute_change_history("a", "health")
    assert [(c["step_number"], c["previous_value"], c["new_value"]) for c in told] == [
        (0, None, 1.0), (2, 1.0, 0.5), (3, 0.5, None), (4, None, 1.0),
    ]  # fmt: skip
    assert list(told[0]) == ["memory_id", "step_number", "timestamp", "previous_value", "new_value"]
    within = api.get_attribute_change_history("a", "inventory.wood", start_step=1, end_step=3)
    assert [(c["step_number"], c["previous_value"], c["new_value"]) for c in within] == [(1, None, 2)]
    assert api.get_attribute_change_history("a", "nothing") == []


@pytest.mark.point(201)
def test_snapshots_are_the_states_of_steps(api: AgentMemoryAPI) -> None:
    filled(api)
    api.store_agent_state("a", {"again": True}, 3)
    found = api.get_memory_snapshots("a", [3, 5, 99])
    assert found[3] is not None
    assert found[5] is not None
    assert (found[3]["contents"], found[5]["contents"]["health"], found[99]) == ({"again": True}, 0.5, None)


@pytest.mark.point(201)
def test_importance_can_be_set_and_memories_cleared(api: AgentMemoryAPI) -> None:
    space = filled(api)
    some = space.retrieve_recent_states(1)[0]["memory_id"]
    assert api.set_importance_score("a", some, 0.25)
    told = api.retrieve_state_by_id("a", some)
    assert told is not None
    assert told["metadata"]["importance_score"] == 0.25
    assert not api.set_importance_score("a", "unknown", 0.5)
    with pytest.raises(MemoryStoreException, match="from 0 to 1"):
        api.set_importance_score("a", some, 3)
    api.store_agent_state("b", {"x": 1}, 1)
    assert api.clear_agent_memory("a", memory_tiers=["im", "ltm"]) == 0
    assert api.clear_agent_memory("a", ["stm"]) == 12
    assert api.retrieve_recent_states("a") == []
    assert len(api.retrieve_recent_states("b")) == 1
    assert api.clear_agent_memory("b") == 1
    assert api.retrieve_state_by_id("a", some) is None


def test_what_was_cleared_may_be_stored_again(api: AgentMemoryAPI) -> None:
    for _ in range(2):
        api.store_agent_state("a", {"x": 1}, 1)
        assert len(api.retrieve_by_attributes("a", {"x": 1})) == 1
        assert api.clear_agent_memory("a") == 1


@pytest.mark.point(163, 199)
def test_statistics_are_flat_and_by_tier(api: AgentMemoryAPI) -> None:
    space = filled(api)
    space.flush_to_ltm()
    api.store_agent_state("a", {"x": 1}, 20)
    stats = api.get_memory_statistics(agent_id="a")
    assert (stats["total_memories"], stats["stm_count"], stats["ltm_count"]) == (13, 1, 12)
    assert stats["memory_type_distribution"] == {"state": 11, "action": 1, "interaction": 1}
    assert stats["tiers"]["ltm"]["memory_types"] == {"state": 10, "action": 1, "interaction": 1}
    assert stats["tiers"]["ltm"]["vector_bytes"] < 12 * stats["tiers"]["stm"]["vector_bytes"]


@pytest.mark.point(187, 190)
def test_bad_questions_are_told_in_words(api: AgentMemoryAPI) -> None:
    space = filled(api)
    asks: tuple[Callable[[Any], Any], ...] = (
        space.retrieve_recent_states,
        lambda wrong: space.retrieve_recent_states(1, wrong),
        lambda wrong: space.retrieve_recent_states(1, memory_tiers=wrong),
        space.retrieve_state_by_id,
        space.focus,
        lambda wrong: space.set_importance_score(wrong, 1),
        lambda wrong: space.get_memory_snapshots([wrong]),
        space.get_attribute_change_history,
        space.retrieve_by_attributes,
        space.retrieve_similar_states,
        space.search_by_content,
        space.search,
        lambda wrong: space.hybrid_retrieve({}, 1, None, wrong),
        api.retrieve_recent_states,
    )
    for ask in asks:
        with pytest.raises(MemoryRetrievalException):
            ask(object())
    with pytest.raises(MemoryStoreException, match="a batch is a list"):
        space.store_batch({"contents": {}})  # type: ignore[arg-type]
    assert steps(space.search("trade with success", 1, "action")) == [5]


# The cache.


@pytest.mark.point(185)
def test_an_answer_is_kept_and_given_again(api: AgentMemoryAPI) -> None:
    space = filled(api)
    first = space.retrieve_similar_states(query_state={"health": 0.4}, k=5, agent_id="a")
    assert space.retrieve_similar_states({"health": 0.4}, 5) == first
    info = space.cache_info()
    assert (info["hits"], info["misses"], info["entries"], info["memories"]) == (1, 1, 1, 5)
    assert api.cache_info()["entries"] == 1
    space.retrieve_similar_states({"health": 0.5}, 5)
    space.retrieve_similar_states({"health": 0.4}, 4)
    space.retrieve_similar_states({"health": 0.4}, 5, "state")
    assert space.cache_info()["hits"] == 1


@pytest.mark.point(185)
def test_no_answer_outlives_a_write_to_its_agent(api: AgentMemoryAPI) -> None:
    space = filled(api)
    asks: tuple[Callable[[], list[dict[str, Any]]], ...] = (
        lambda: space.retrieve_by_attributes({"mood": "calm"}),
        lambda: space.retrieve_by_time_range(0, 100),
        lambda: space.retrieve_recent_states(100),
        lambda: space.retrieve_similar_states({"mood": "calm"}, 100),
        lambda: space.search_by_content("calm", 100),
    )
    before = [len(ask()) for ask in asks]
    api.store_agent_state("a", {"mood": "calm"}, 50)
    assert [len(ask()) for ask in asks] == [n + 1 for n in before]
    some = space.retrieve_by_time_range(50, 50)[0]["memory_id"]
    api.memory.forget(some, scope="a")
    assert [len(ask()) for ask in asks] == before


@pytest.mark.point(185, 202)
def test_an_answer_that_goes_by_the_clock_does_not_outlive_it(api: AgentMemoryAPI, clock: Clock) -> None:
    space = filled(api)
    window = space.query().within(minutes=1).limit(None)
    assert len(window.run()) == 12
    clock.now += 61
    assert window.run() == []
    weighed = space.query().weigh(TimeWindow(minutes=2), 1.0).any_of(TimeWindow(minutes=2)).limit(None)
    assert len(weighed.run()) == 12
    clock.now += 61
    assert weighed.run() == []


@pytest.mark.point(185)
def test_a_write_of_another_agent_leaves_answers_alone(api: AgentMemoryAPI) -> None:
    space = filled(api)
    space.retrieve_by_attributes({"mood": "calm"})
    api.store_agent_state("b", {"mood": "calm"}, 1)
    space.retrieve_by_attributes({"mood": "calm"})
    assert space.cache_info()["hits"] == 1


@pytest.mark.point(185)
def test_a_write_of_another_process_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with AgentMemoryAPI(memory=file) as one, AgentMemoryAPI(memory=file) as two:
        one.store_agent_state("a", {"x": 1}, 1)
        assert len(two.retrieve_by_attributes("a", {"x": 1})) == 1
        one.store_agent_state("a", {"x": 1}, 2)
        assert len(two.retrieve_by_attributes("a", {"x": 1})) == 2
        one.store_agent_state("b", {"x": 1}, 2)
        assert len(two.retrieve_by_attributes("a", {"x": 1})) == 2
        assert two.get_memory_space("a").cache_info()["hits"] == 1


@pytest.mark.point(164, 165, 185)
def test_ttl_and_clearing_act_on_api_and_space(api: AgentMemoryAPI, clock: Clock) -> None:
    space = filled(api)

    def hits() -> int:
        space.retrieve_recent_states(3)
        return int(space.cache_info()["hits"])

    assert (hits(), hits()) == (0, 1)
    clock.now += 299
    assert hits() == 2
    clock.now += 2
    assert (hits(), hits()) == (2, 3)
    api.set_cache_ttl(10)
    clock.now += 11
    assert (hits(), hits()) == (3, 4)
    space.set_cache_ttl(0)
    assert (hits(), hits(), space.cache_info()["entries"]) == (4, 4, 0)
    space.set_cache_ttl(60)
    assert (hits(), hits()) == (4, 5)
    space.clear_cache()
    assert (hits(), hits()) == (5, 6)
    api.clear_cache()
    assert hits() == 6
    for wrong in (-1, "long", float("inf"), None):
        with pytest.raises(MemoryConfigException):
            api.set_cache_ttl(wrong)  # type: ignore[arg-type]
        with pytest.raises(MemoryConfigException):
            space.set_cache_ttl(wrong)  # type: ignore[arg-type]


@pytest.mark.point(185, 199)
def test_the_least_recently_used_answer_goes_first() -> None:
    api = AgentMemoryAPI({"cache_size": 2})
    space = filled(api)
    for n in (1, 2, 1, 3):  # 3 takes the place of 2
        space.retrieve_recent_states(n)
    before = space.cache_info()["hits"]
    space.retrieve_recent_states(1)
    assert space.cache_info()["hits"] == before + 1
    space.retrieve_recent_states(2)
    assert (space.cache_info()["hits"], space.cache_info()["entries"]) == (before + 1, 2)


@pytest.mark.point(177)
def test_a_cacheable_function_runs_once_for_the_same_arguments() -> None:
    numbers, clock = count(), Clock()

    @cacheable(ttl=60, clock=clock)
    def expensive(agent_id: str, query: Any, *, deep: bool = False) -> int:
        """Doc."""
        return next(numbers)

    assert [expensive("a", "wood"), expensive("a", "wood"), expensive("a", "stone")] == [0, 0, 1]
    assert [expensive("a", ["x"]), expensive("a", ["x"]), expensive("a", {"x": [1]})] == [2, 2, 3]
    assert [expensive("a", 1), expensive("a", True), expensive("a", 1.0)] == [4, 5, 6]
    assert [expensive("a", "wood", deep=True), expensive("a", "wood")] == [7, 0]
    clock.now += 61
    assert expensive("a", "wood") == 8
    expensive.cache_clear()
    assert expensive("a", "wood") == 9
    assert expensive.cache_info()["entries"] == 1
    assert expensive.__name__ == "expensive"


@pytest.mark.point(177)
def test_a_result_of_none_is_kept_and_an_error_is_not() -> None:
    calls = count()

    @cacheable(ttl=60)
    def nothing() -> None:
        next(calls)

    nothing()
    nothing()
    assert next(calls) == 1

    @cacheable(ttl=60)
    def fails() -> None:
        next(calls)
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            fails()
    assert next(calls) == 4
    with pytest.raises(MemoryConfigException):
        cacheable(ttl=-1)


# Tiers.


@pytest.mark.point(184)
@given(st.lists(st.lists(st.integers()).map(sorted), max_size=6), st.none() | st.integers(0, 10))
@settings(derandomize=True, max_examples=examples(60))
def test_merging_sorted_lists_is_sorting_them_all(parts: list[list[int]], limit: int | None) -> None:
    assert merge_sorted(parts, lambda n: n, limit) == sorted(n for part in parts for n in part)[:limit]


class Failing(RamStore):
    """A store whose long tier cannot be read for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.down: tuple[str, ...] = ()

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        found = super().read(scope, keys)
        if any(record is not None and record.tier in self.down for record in found):
            raise Unavailable("the disk of this tier does not answer")
        return found


@pytest.mark.point(180, 188, 189)
def test_a_tier_that_fails_is_told_and_the_others_answer(caplog: pytest.LogCaptureFixture) -> None:
    store = Failing()
    api = AgentMemoryAPI(memory=Memory(store))
    space = filled(api)
    space.flush_to_ltm()
    for step in range(20, 25):
        api.store_agent_state("a", {"mood": "calm", "health": 0.5}, step)
    asks: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "range": lambda: space.retrieve_by_time_range(0, 100),
        "recent": lambda: space.retrieve_recent_states(100),
        "attributes": lambda: space.retrieve_by_attributes({"mood": "calm"}),
        "similar": lambda: space.retrieve_similar_states({"mood": "calm"}, 50),
        "content": lambda: space.search_by_content("calm", 50),
    }
    whole = {name: len(ask()) for name, ask in asks.items()}
    api.clear_cache()
    store.down = ("long",)
    with caplog.at_level(logging.WARNING, "eidet.compat.api"):
        for name, ask in asks.items():
            found = ask()
            assert set(steps(found)) == set(range(20, 25)), name
            assert space.degraded == {"ltm": "the disk of this tier does not answer"}
    assert "could not read tier ltm of scope a; answering from the others" in caplog.text
    store.down = ()
    assert {name: len(ask()) for name, ask in asks.items()} == whole  # what was left out is not kept
    assert space.degraded == {}
    api.clear_cache()
    store.down = ("short", "middle", "long")
    with pytest.raises(MemoryRetrievalException, match="no tier could be read") as told:
        space.retrieve_by_time_range(0, 100, memory_tiers=["stm", "ltm"])
    assert told.value.severity is Severity.POTENTIALLY_RECOVERABLE


@pytest.mark.point(188, 191)
def test_a_damaged_row_of_a_tier_does_not_hide_the_others(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with AgentMemoryAPI(memory=file) as api:
        filled(api).flush_to_ltm()
        api.store_agent_state("a", {"mood": "calm"}, 20)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE records SET data = '{broken' WHERE tier = 'long'")
    connection.close()
    with AgentMemoryAPI(memory=file) as api:
        space = api.get_memory_space("a")
        assert steps(space.retrieve_by_time_range(0, 100)) == [20]
        assert list(space.degraded) == ["ltm"]
        with pytest.raises(MemoryRetrievalException) as told:
            space.retrieve_by_time_range(0, 100, memory_tiers="ltm")
        assert told.value.severity is Severity.FATAL
