"""The door `eidet.compat.api`: storing, the shape of entries, errors, settings."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import eidet.compat.api as door
from eidet import Memory
from eidet.compat.api import (
    ActionData,
    ActionResult,
    AgentMemoryAPI,
    AgentState,
    MemoryAPIException,
    MemoryConfig,
    MemoryConfigException,
    MemoryMaintenanceException,
    MemoryRetrievalException,
    MemoryStoreException,
    RedisIMConfig,
    RedisSTMConfig,
    Severity,
    SQLiteLTMConfig,
    severity_of,
)
from eidet.core.errors import Corrupt, EidetError, Unavailable
from eidet.core.where import Near, Where
from eidet.net.retry import RetryPolicy
from eidet.store.redis import client as wire

STATE = {"position": [10, 20], "health": 0.85, "inventory": {"wood": 5, "stone": 2}}


@pytest.fixture
def api(memory: Memory) -> AgentMemoryAPI:
    return AgentMemoryAPI(memory=memory)


@pytest.mark.point(147)
def test_one_import_path_gives_the_whole_vocabulary() -> None:
    names = """
        AgentMemoryAPI MemorySpace MemoryConfig RedisSTMConfig RedisIMConfig SQLiteLTMConfig AgentState
        ActionData ActionResult BaseAgent install_memory_hooks with_memory cacheable MemoryAPIException
        MemoryStoreException MemoryRetrievalException MemoryMaintenanceException MemoryConfigException
    """
    for name in names.split():
        assert name in door.__all__
        assert hasattr(door, name)


@pytest.mark.point(148, 149, 150)
def test_the_documented_ways_to_begin_work(caplog: pytest.LogCaptureFixture) -> None:
    AgentMemoryAPI()
    AgentMemoryAPI(MemoryConfig(cleanup_interval=100, stm_config={"memory_limit": 10000}))
    redis = RedisSTMConfig(host="localhost", port=6379, memory_limit=10000, ttl=3600)
    config = MemoryConfig(cleanup_interval=100, memory_priority_decay=0.95, stm_config=redis)
    with caplog.at_level(logging.INFO, "eidet.compat.api"):
        api = AgentMemoryAPI(config)
    assert [r.message for r in caplog.records] == [
        "using no Redis server: tiers stay embedded unless you pass use_redis=True or a url"
    ]
    api.store_agent_state("a", STATE, 1)
    assert api.get_memory_statistics("a")["total_memories"] == 1


@pytest.mark.point(150, 193)
@pytest.mark.parametrize(
    "asked", [{"use_redis": True}, {"host": "redis.example"}, {"url": "redis://localhost:1/0?deadline=1"}]
)
def test_a_redis_server_that_is_asked_for_is_never_silently_replaced(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the redis backend is there and no server answers, that is an error as well."""
    monkeypatch.setattr(wire, "_retry_policy", lambda _: RetryPolicy(deadline_seconds=0.5))
    config = MemoryConfig(stm_config=RedisSTMConfig(port=1, **asked))
    assert str(config.place).startswith("redis://")
    if asked.get("host") is None:
        with pytest.raises(MemoryConfigException) as told:
            AgentMemoryAPI(config).store_agent_state("a", STATE, 1)
        assert told.value.severity is Severity.POTENTIALLY_RECOVERABLE


@pytest.mark.point(195)
def test_a_db_path_is_the_file_of_all_tiers(tmp_path: Path) -> None:
    config = MemoryConfig(ltm_config=SQLiteLTMConfig(db_path=tmp_path / "agents.db"))
    with AgentMemoryAPI(config) as api:
        api.store_agent_state("a", STATE, 1)
    with AgentMemoryAPI(config) as api:
        assert api.retrieve_recent_states("a")[0]["contents"] == STATE


@pytest.mark.point(152, 153, 154, 192)
def test_an_entry_has_exactly_the_documented_structure(api: AgentMemoryAPI) -> None:
    stored = api.store_agent_state("agent-123", STATE, 1234, priority=0.75)
    entry = api.retrieve_state_by_id("agent-123", stored)
    assert entry is not None
    assert list(entry) == [
        "memory_id", "agent_id", "step_number", "timestamp", "contents", "metadata", "embeddings",
    ]  # fmt: skip
    assert (entry["memory_id"], entry["agent_id"], entry["step_number"]) == (stored, "agent-123", 1234)
    assert entry["contents"] == STATE
    metadata = entry["metadata"]
    assert list(metadata) == [
        "creation_time", "last_access_time", "compression_level", "importance_score", "retrieval_count",
        "memory_type",
    ]  # fmt: skip
    assert (metadata["importance_score"], metadata["memory_type"]) == (0.75, "state")
    assert (metadata["compression_level"], metadata["retrieval_count"]) == (0, 0)
    assert metadata["creation_time"] == metadata["last_access_time"] == entry["timestamp"]
    vectors = entry["embeddings"]
    assert list(vectors) == ["full_vector", "compressed_vector", "abstract_vector"]
    assert {len(vector) for vector in vectors.values()} == {len(vectors["full_vector"])}
    assert len(set(vectors["abstract_vector"])) == 2
    near = zip(vectors["full_vector"], vectors["compressed_vector"], strict=True)
    assert max(abs(one - other) for one, other in near) < 0.01


@pytest.mark.point(192)
def test_an_entry_is_a_plain_dict_to_whoever_looks_at_it(api: AgentMemoryAPI) -> None:
    stored = api.store_agent_state("a", STATE, 1)

    def fresh() -> dict[str, Any]:
        found = api.retrieve_state_by_id("a", stored)
        assert found is not None
        return found

    plain = json.loads(json.dumps(fresh()))
    assert len(plain["embeddings"]["full_vector"]) > 8
    for same in (copy.deepcopy(fresh()), pickle.loads(pickle.dumps(fresh())), {**fresh()}):
        assert same == plain
    assert dict(fresh()["embeddings"]) == plain["embeddings"]
    assert {**fresh()["embeddings"]} == plain["embeddings"]
    assert fresh()["embeddings"] | {"x": []} == {**plain["embeddings"], "x": []}
    assert list(fresh()["embeddings"].items()) == list(plain["embeddings"].items())
    assert len(fresh()["embeddings"]) == 3
    assert "full_vector" in fresh()["embeddings"]
    assert fresh()["embeddings"].get("nothing") is None
    assert fresh()["embeddings"].copy() == plain["embeddings"]
    assert str(fresh()["embeddings"]).startswith("{'full_vector': [")
    changed = fresh()["embeddings"]
    changed["own"] = [1.0]
    assert len(changed) == 4
    assert fresh()["embeddings"].pop("full_vector") == plain["embeddings"]["full_vector"]
    emptied = fresh()["embeddings"]
    emptied.clear()
    assert emptied == {}


@pytest.mark.point(192)
def test_two_states_of_one_step_are_two_memories(api: AgentMemoryAPI) -> None:
    ids = {api.store_agent_state("a", STATE, 7) for _ in range(3)}
    assert len(ids) == 3
    assert {entry["memory_id"] for entry in api.retrieve_by_time_range("a", 7, 7)} == ids


def test_what_a_caller_does_to_an_entry_stays_with_the_caller(api: AgentMemoryAPI) -> None:
    api.store_agent_state("a", STATE, 1)
    for _ in range(2):  # the second answer is a kept one
        entry = api.retrieve_recent_states("a")[0]
        assert entry["contents"] == STATE
        entry["contents"]["inventory"]["wood"] = 99


@pytest.mark.point(155, 156)
def test_models_tell_themselves_as_dicts() -> None:
    state = AgentState(
        agent_id="agent-123", step_number=1234, health=0.85, position_x=10, position_y=20,
        extra_data={"inventory": {"wood": 5}},
    )  # fmt: skip
    told = state.as_dict()
    assert told == {
        "agent_id": "agent-123", "step_number": 1234, "health": 0.85, "position_x": 10, "position_y": 20,
        "inventory": {"wood": 5},
    }  # fmt: skip
    result = ActionResult(action_type="trade", params={"target": "agent-456", "item": "wood"}, reward=0.5)
    assert result.as_dict() == {"action_type": "trade", "params": result.params, "reward": 0.5}
    action = ActionData(action_type="move", agent_id="a", state_after={"x": 1}, reward=0.0)
    assert action.as_dict() == {
        "action_type": "move",
        "agent_id": "a",
        "state_after": {"x": 1},
        "reward": 0.0,
    }


@pytest.mark.point(155)
def test_a_model_can_be_stored_as_it_is(api: AgentMemoryAPI) -> None:
    api.store_agent_state("a", AgentState(agent_id="a", step_number=3, health=0.5), 3)
    api.store_agent_action("a", ActionResult(action_type="rest"), 3)
    assert [e["contents"].get("health") for e in api.retrieve_by_time_range("a", 3, 3)] == [0.5, None]


@pytest.mark.point(154, 187, 190)
@pytest.mark.parametrize("priority", [-0.1, 1.1, float("nan"), "high", None, True])
def test_a_priority_is_from_0_to_1(api: AgentMemoryAPI, priority: Any) -> None:
    for store in (api.store_agent_state, api.store_agent_interaction, api.store_agent_action):
        with pytest.raises(MemoryStoreException, match="priority must be a number from 0 to 1"):
            store("a", STATE, 1, priority)
    assert api.get_memory_statistics("a")["total_memories"] == 0


@pytest.mark.point(187, 190, 191)
@pytest.mark.parametrize(
    ("contents", "step", "words"),
    [
        (["not", "a", "dict"], 1, "the contents of a memory are a dict, not list"),
        (None, 1, "dict, not NoneType"),
        (STATE, "1", "step_number must be a whole number, not '1'"),
        (STATE, 1.5, "step_number must be a whole number"),
        (STATE, True, "step_number must be a whole number"),
        (STATE, 2**60, "step"),
        ({"x": float("nan")}, 1, "nan, which JSON cannot represent"),
        ({"x": object()}, 1, "holds a object"),
        ({1: 2}, 1, "JSON keys are strings"),
    ],
)
def test_bad_input_is_told_before_anything_is_written(
    api: AgentMemoryAPI, contents: Any, step: Any, words: str
) -> None:
    with pytest.raises(MemoryStoreException, match=words) as told:
        api.store_agent_state("a", contents, step)
    assert told.value.severity is Severity.RECOVERABLE
    assert api.get_memory_statistics("a")["total_memories"] == 0


@pytest.mark.point(198)
def test_a_batch_is_stored_whole_or_not_at_all(api: AgentMemoryAPI) -> None:
    good = [{"contents": {"n": n}, "step_number": n, "memory_type": "action"} for n in range(5)]
    with pytest.raises(MemoryStoreException, match="priority"):
        api.store_batch("a", [*good, {"contents": {}, "priority": 2}])
    with pytest.raises(MemoryStoreException, match="memory 1 of the batch"):
        api.store_batch("a", [good[0], {"step_number": 1}])
    assert api.get_memory_statistics("a")["total_memories"] == 0
    ids = api.store_batch("a", good)
    assert [e["memory_id"] for e in api.retrieve_by_time_range("a", 0, 9, "action")] == ids
    assert api.store_batch("a", []) == []


@pytest.mark.parametrize(
    "agent_id",
    ["agent-123", "a/b", "100%", " edge ", "näher", "tab\tin", "🙂", "%2F", "a" * 200, "..", "x\0y"],
)
def test_any_text_can_name_an_agent_and_no_two_share_memories(api: AgentMemoryAPI, agent_id: str) -> None:
    api.store_agent_state(agent_id, {"own": agent_id}, 1)
    api.store_agent_state("another", {"own": "another"}, 1)
    assert [e["contents"] for e in api.retrieve_recent_states(agent_id)] == [{"own": agent_id}]
    assert [e["agent_id"] for e in api.retrieve_recent_states(agent_id)] == [agent_id]
    assert set(AgentMemoryAPI(memory=api.memory).agents()) == {agent_id, "another"}


@pytest.mark.parametrize("agent_id", ["", None, 7, "a" * 201, "/" * 70])
def test_what_cannot_name_an_agent_is_an_error(api: AgentMemoryAPI, agent_id: Any) -> None:
    with pytest.raises(MemoryStoreException, match="agent_id"):
        api.store_agent_state(agent_id, STATE, 1)


def test_a_base_scope_keeps_worlds_apart(memory: Memory) -> None:
    one, two = (AgentMemoryAPI(memory=memory, scope=f"worlds/{n}") for n in (1, 2))
    one.store_agent_state("a", {"world": 1}, 1)
    two.store_agent_state("a", {"world": 2}, 1)
    assert memory.scopes() == {"worlds/1/a": 1, "worlds/2/a": 1}
    assert [e["contents"]["world"] for e in two.retrieve_recent_states("a")] == [2]
    assert one.agents() == ["a"]
    with pytest.raises(MemoryConfigException, match="scope"):
        AgentMemoryAPI(memory=memory, scope="a//b")


@pytest.mark.point(178, 200)
def test_the_native_verbs_see_what_the_door_stored_and_the_other_way_round(api: AgentMemoryAPI) -> None:
    api.store_agent_state("scout", STATE, 12, priority=0.6)
    (record,) = api.memory.find(scope="scout")
    assert (record.kind, record.agent, record.step, record.importance) == ("state", "scout", 12, 0.6)
    assert (record.data, record.place) == (STATE, (10.0, 20.0))
    assert api.memory.find(Where(near=Near(place=(11, 20), radius=2)), scope="scout") == [record]
    api.memory.remember("The bridge in the north is broken.", scope="scout")
    (told,) = api.get_memory_space("scout").search_by_content("bridge", k=1)
    assert told["contents"] == {"content": "The bridge in the north is broken."}
    assert told["metadata"]["memory_type"] == "fact"


@pytest.mark.point(178)
@pytest.mark.parametrize(
    ("contents", "place"),
    [
        ({"position": [1, 2]}, (1.0, 2.0)),
        ({"position": [1, 2, 3]}, (1.0, 2.0, 3.0)),
        ({"position": {"x": 1, "y": 2}}, (1.0, 2.0)),
        ({"position_x": 1, "position_y": 2}, (1.0, 2.0)),
        ({"location": [4, 5.5]}, (4.0, 5.5)),
        ({"position": "the forest"}, None),
        ({"position": [1, "2"]}, None),
        ({"position": [1]}, None),
        ({"position": [1, 10**400]}, None),
        ({}, None),
    ],
)
def test_a_place_is_read_from_position_fields(contents: Any, place: Any) -> None:
    api = AgentMemoryAPI()
    api.store_agent_state("a", contents, 1)
    assert api.memory.find(scope="a")[0].place == place


@pytest.mark.point(186)
def test_exceptions_form_one_tree() -> None:
    for kind in (
        MemoryStoreException, MemoryRetrievalException, MemoryMaintenanceException, MemoryConfigException,
    ):  # fmt: skip
        assert issubclass(kind, MemoryAPIException)
    assert issubclass(MemoryAPIException, EidetError)


@pytest.mark.point(191)
def test_a_program_can_tell_what_to_do_about_an_error(api: AgentMemoryAPI) -> None:
    with pytest.raises(MemoryStoreException) as bad:
        api.store_agent_state("a", STATE, 1, priority=7)
    with pytest.raises(MemoryConfigException) as config:
        MemoryConfig(cleanup_interval=0)
    told = [
        severity_of(error) for error in (bad.value, config.value, Unavailable("x"), Corrupt("x"), KeyError())
    ]
    assert told == [
        Severity.RECOVERABLE,
        Severity.POTENTIALLY_RECOVERABLE,
        Severity.POTENTIALLY_RECOVERABLE,
        Severity.FATAL,
        Severity.FATAL,
    ]


@pytest.mark.point(189, 190, 191)
def test_errors_of_the_memory_are_said_as_errors_of_the_door(caplog: pytest.LogCaptureFixture) -> None:
    api = AgentMemoryAPI(memory=Memory())
    api.store_agent_state("a", STATE, 1)
    api.memory.close()
    with caplog.at_level(logging.WARNING, "eidet.compat.api"):
        with pytest.raises(
            MemoryStoreException, match="was not stored: the memory on RAM was closed"
        ) as told:
            api.store_agent_state("scout", STATE, 42)
        with pytest.raises(MemoryRetrievalException):
            api.retrieve_by_attributes("a", {"x": 1})
        with pytest.raises(MemoryMaintenanceException):
            api.force_memory_maintenance("a")
    assert isinstance(told.value.__cause__, EidetError)
    assert told.value.context == {"agent_id": "scout", "step_number": 42}
    assert "agent_id='scout', step_number=42" in caplog.text


@pytest.mark.point(149, 186)
@pytest.mark.parametrize(
    "wrong",
    [
        {"cleanup_interval": 0},
        {"cleanup_interval": "often"},
        {"memory_priority_decay": 0},
        {"memory_priority_decay": 1.5},
        {"cache_ttl": -1},
        {"stm_config": {"memory_limit": -1}},
        {"stm_config": {"ttl": 0}},
        {"stm_config": {"size": 3}},
        {"stm_config": 7},
        {"stm_config": RedisIMConfig()},
        {"im_config": {"port": 0}},
    ],
)
def test_a_wrong_setting_is_a_config_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(MemoryConfigException):
        MemoryConfig(**wrong)


@pytest.mark.point(201)
def test_settings_are_changed_by_dotted_names_all_or_none(api: AgentMemoryAPI) -> None:
    before = api.config
    for wrong in (
        {"cleanup_interval": 5, "stm_config.ttl": -1},
        {"stm.size": 1},
        {"nothing": 1},
        {"cleanup_interval.x": 1},
        {"ltm_config.db_path": "elsewhere.db"},
    ):
        with pytest.raises(MemoryConfigException):
            api.configure_memory_system(wrong)
    assert api.config is before
    api.configure_memory_system(
        {"stm_config.memory_limit": 3, "im.ttl": 60, "cleanup_interval": 2, "cache_ttl": 1.5}
    )
    assert api.config == replace(
        before,
        stm_config=RedisSTMConfig(memory_limit=3),
        im_config=RedisIMConfig(ttl=60),
        cleanup_interval=2,
        cache_ttl=1.5,
    )
    for step in range(8):
        api.store_agent_state("a", {"n": step}, step)
    assert api.get_memory_statistics("a")["stm_count"] <= 4


def test_settings_may_be_a_dict() -> None:
    api = AgentMemoryAPI({"stm_config.memory_limit": 5, "cleanup_interval": 7})
    assert (api.config.stm.memory_limit, api.config.cleanup_interval) == (5, 7)
    for wrong in (7, {"size": 1}):
        with pytest.raises(MemoryConfigException):
            AgentMemoryAPI(wrong)  # type: ignore[arg-type]


def test_a_memory_that_was_given_is_not_closed_by_the_door() -> None:
    memory = Memory()
    with AgentMemoryAPI(memory=memory) as api:
        api.store_agent_state("a", STATE, 1)
    assert memory.count(scope="a") == 1
    with pytest.raises(MemoryConfigException, match="embedder cannot be changed"):
        AgentMemoryAPI(memory=memory, embedder="hashing")
