"""The door `eidet.compat.api`: agents whose memories are made by themselves."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.testing.altered import Altered

from eidet import Memory
from eidet.compat.api import (
    ActionResult,
    AgentMemoryAPI,
    AgentState,
    BaseAgent,
    MemoryConfig,
    MemoryConfigException,
    default_memory_api,
    install_memory_hooks,
    set_default_memory_api,
    with_memory,
)
from eidet.core.errors import Unavailable
from eidet.store.ram import RamStore


@pytest.fixture(autouse=True)
def default() -> Iterator[AgentMemoryAPI]:
    api = AgentMemoryAPI()
    set_default_memory_api(api)
    yield api
    set_default_memory_api(None)


@install_memory_hooks
class Walker(BaseAgent):
    """Walks to the right, and tells how far it is."""

    def __init__(self, config: Any = None, agent_id: str | None = None) -> None:
        super().__init__(config, agent_id)
        self.x = 0
        self.calls = 0

    def act(self, observation: Any) -> Any:
        self.calls += 1
        if observation == "wall":
            raise RuntimeError("there is a wall")
        self.x += 1
        return ActionResult(action_type="walk", params={"to": self.x}, reward=0.5)

    def get_state(self) -> AgentState:
        state = super().get_state()
        state.extra_data["x"] = self.x
        return state


class Plain:
    """An agent that knows nothing of memories."""

    def __init__(self) -> None:
        self.energy = 3

    def act(self, observation: dict[str, Any]) -> dict[str, Any]:
        self.energy -= 1
        return {"action_type": "answer", "said": observation.get("user_input"), "reward": 1.0}


def told(api: AgentMemoryAPI, agent: str, kind: str) -> list[dict[str, Any]]:
    return api.get_memory_space(agent).retrieve_by_time_range(memory_type=kind)


@pytest.mark.point(167, 169, 170, 171, 172, 173)
def test_a_class_is_remembered_by_a_decorator(memory: Memory) -> None:
    api = AgentMemoryAPI(memory=memory)
    agent = Walker({"memory": api}, agent_id="walker-1")
    began = time.perf_counter()
    result = agent.act("free")
    took = time.perf_counter() - began
    assert (result.action_type, agent.calls) == ("walk", 1)
    agent.act("free")
    states = told(api, "walker-1", "state")
    assert [(s["step_number"], s["contents"]["x"]) for s in states] == [(0, 0), (1, 1), (2, 2)]
    assert states[0]["contents"]["agent_id"] == "walker-1"
    actions = told(api, "walker-1", "action")
    assert [a["step_number"] for a in actions] == [0, 1]
    first = actions[0]["contents"]
    assert (first["action_type"], first["reward"], first["outcome"]) == ("walk", 0.5, "success")
    assert first["action_params"] == {"observation": "free"}
    assert (first["state_before"]["x"], first["state_after"]["x"]) == (0, 1)
    assert "x" in str(first["state_difference"])
    assert first["result"]["params"] == {"to": 1}
    assert 0 < first["execution_time"] < took
    assert agent.memory_space.retrieve_recent_states(1)[0]["contents"]["x"] == 2
    assert api.get_attribute_change_history("walker-1", "x")[-1]["new_value"] == 2


@pytest.mark.point(168, 170, 172)
def test_an_agent_that_is_there_already_is_given_a_memory(memory: Memory) -> None:
    api = AgentMemoryAPI(memory=memory)
    agent = Plain()
    same = with_memory(agent, agent_id="agent-456", memory=api)
    assert same is agent
    assert same.act({"user_input": "What's the weather today?"})["reward"] == 1.0
    assert [s["contents"] for s in told(api, "agent-456", "state")] == [{"energy": 3}, {"energy": 2}]
    (action,) = told(api, "agent-456", "action")
    assert action["contents"]["action_type"] == "answer"
    assert api.get_memory_space("agent-456").search_by_content("weather", k=1)[0]["step_number"] == 0
    Plain().act({})
    assert len(told(api, "agent-456", "action")) == 1


@pytest.mark.point(168, 200)
def test_without_an_api_the_default_one_is_used(default: AgentMemoryAPI) -> None:
    assert default_memory_api() is default
    with_memory(Plain(), "someone").act({})
    Walker(agent_id="other").act("free")
    assert set(default.agents()) == {"someone", "other"}


@pytest.mark.point(168)
def test_a_space_is_a_place_as_well(default: AgentMemoryAPI) -> None:
    space = AgentMemoryAPI().get_memory_space("one")
    with_memory(Plain(), memory=space).act({})
    assert [e["agent_id"] for e in space.retrieve_recent_states(9)] == ["one"] * 3
    assert default.agents() == []
    with pytest.raises(MemoryConfigException, match="an AgentMemoryAPI or a MemorySpace"):
        with_memory(Plain(), memory="a.db")  # type: ignore[arg-type]
    with pytest.raises(MemoryConfigException, match="no method act"):
        with_memory(object())


@pytest.mark.point(169)
def test_a_config_of_the_agent_may_say_how_it_is_remembered() -> None:
    agent = Walker(MemoryConfig(stm_config={"memory_limit": 7}), "a")
    agent.act("free")
    assert agent.memory_api.config.stm.memory_limit == 7
    assert agent.memory_api.agents() == ["a"]
    assert len({Walker().agent_id for _ in range(3)}) == 3
    with pytest.raises(NotImplementedError, match="act"):
        BaseAgent().act("x")


@pytest.mark.point(173)
def test_steps_that_an_agent_counts_itself_are_kept() -> None:
    @install_memory_hooks
    class Counting(Walker):
        def act(self, observation: Any) -> Any:
            self.step_number = (self.step_number or 40) + 1
            return super().act(observation)

    agent = Counting(agent_id="c")
    agent.step_number = 40
    agent.act("free")
    agent.act("free")
    assert [s["step_number"] for s in told(agent.memory_api, "c", "state")] == [40, 41, 42]
    assert agent.calls == 2


@pytest.mark.point(174)
def test_what_an_agent_raises_is_its_own_and_is_remembered() -> None:
    agent = Walker(agent_id="w")
    with pytest.raises(RuntimeError, match="there is a wall"):
        agent.act("wall")
    (action,) = told(agent.memory_api, "w", "action")
    assert (action["contents"]["outcome"], action["contents"]["error"]) == (
        "error",
        "RuntimeError: there is a wall",
    )
    assert agent.calls == 1


class _NoSpace(Altered):
    def insert(self, records: Any) -> Any:
        raise Unavailable("no space left")


class Broken(RamStore):
    def write(self, job: Any) -> Any:
        return super().write(lambda transaction: job(_NoSpace(transaction)))


@pytest.mark.point(174, 189)
def test_act_runs_exactly_once_when_memory_fails(caplog: pytest.LogCaptureFixture) -> None:
    api = AgentMemoryAPI(memory=Memory(Broken()))
    agent = Walker({"memory": api}, "w")
    with caplog.at_level(logging.WARNING, "eidet"):
        assert agent.act("free").action_type == "walk"
    assert agent.calls == 1
    assert "no space left" in caplog.text
    api.memory.close()
    agent.act("free")
    assert agent.calls == 2


@pytest.mark.point(174)
def test_a_state_that_cannot_be_told_does_not_disturb_the_agent(caplog: pytest.LogCaptureFixture) -> None:
    class Shy(Walker):
        def get_state(self) -> AgentState:
            raise ValueError("I will not say")

    agent = Shy(agent_id="shy")
    with caplog.at_level(logging.WARNING, "eidet"):
        agent.act("free")
    assert agent.calls == 1
    assert [a["contents"]["action_type"] for a in told(agent.memory_api, "shy", "action")] == ["walk"]


@pytest.mark.point(209)
def test_what_is_kept_has_the_importance_of_what_happened() -> None:
    class Hurt(Plain):
        health = 1.0

        def get_state(self) -> dict[str, float]:
            return {"health": self.health}

        def act(self, observation: Any) -> dict[str, Any]:
            self.health = 0.1
            return {"reward": -1.0}

    api = AgentMemoryAPI({"memory_priority_decay": 1.0})
    with_memory(Hurt(), "h", memory=api).act({})
    assert [s["metadata"]["importance_score"] for s in told(api, "h", "state")] == [0.5, 0.9]
    assert [a["metadata"]["importance_score"] for a in told(api, "h", "action")] == [1.0]


@pytest.mark.point(167)
def test_an_asynchronous_agent_is_remembered_too() -> None:
    class Later(Plain):
        async def act(self, observation: Any) -> Any:  # type: ignore[override]
            await asyncio.sleep(0)
            return "done"

    api = AgentMemoryAPI()
    assert asyncio.run(with_memory(Later(), "later", memory=api).act({})) == "done"
    assert [a["contents"]["result"] for a in told(api, "later", "action")] == ["done"]
