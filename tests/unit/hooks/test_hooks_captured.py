"""Hooks around the methods of an agent: what is captured, and what may be asked for."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.unit.hooks.agents import Agent, kept

from eidet import BadInput, Memory
from eidet.hooks import Captured, install_hooks, with_hooks

# What is captured.


def test_the_state_before_and_after_and_the_action_are_kept(memory: Memory) -> None:
    agent = with_hooks(Agent(), memory=memory)
    began = time.perf_counter()
    assert agent.act({"tree": True}, hurt=0.25)["action_type"] == "gather"
    took = time.perf_counter() - began
    before, action, after = kept(memory)
    assert [record.kind for record in (before, action, after)] == ["state", "action", "state"]
    assert {record.agent for record in (before, action, after)} == {"ann"}
    assert [record.step for record in (before, action, after)] == [0, 0, 1]
    assert before.data == {"agent_id": "ann", "step_number": 0, "health": 1.0, "inventory": {}, "ran": 0}
    assert after.data["inventory"] == {"wood": 1}
    told = action.data
    assert (told["action"], told["method"], told["reward"]) == ("gather", "act", 0.5)
    assert told["arguments"] == {"observation": {"tree": True}, "hurt": 0.25}
    assert told["result"]["seen"] == {"tree": True}
    assert told["changes"]["health"] == {"previous": 1.0, "new": 0.75}
    assert told["changes"]["inventory"] == {"previous": {}, "new": {"wood": 1}}
    assert "agent_id" not in told["changes"]
    assert (told["state_before"], told["state_after"]) == (before.id, after.id)
    assert 0 < told["seconds"] < took
    assert action.importance == pytest.approx(min(1, 0.5 * 0.5 + 0.5 * 4 / 5))
    assert after.importance == pytest.approx(max(0.5, 1 - 0.75, 0.5 / 5))
    assert memory.recall("who gathered?", kinds="action")[0].id == action.id


def test_what_comes_goes_or_turns_into_another_type_is_a_change(memory: Memory) -> None:
    class Turning:
        def __init__(self) -> None:
            self.flag: object = 1
            self.left: object = None

        def act(self) -> None:
            self.flag = True
            self.came = None
            del self.left

    with_hooks(Turning(), memory=memory).act()
    (action,) = kept(memory, "action")
    assert action.data["changes"] == {
        "flag": {"previous": 1, "new": True},
        "left": {"previous": None, "new": None},
        "came": {"previous": None, "new": None},
    }


def test_a_state_that_the_last_call_led_to_is_kept_once(memory: Memory) -> None:
    agent = with_hooks(Agent(), memory=memory)
    for _ in range(3):
        agent.act()
    assert [record.step for record in kept(memory, "state")] == [0, 1, 2, 3]
    assert [record.step for record in kept(memory, "action")] == [0, 1, 2]
    agent.health = 0.1
    agent.act()
    states = kept(memory, "state")
    assert [(record.step, record.data["health"]) for record in states[-2:]] == [(3, 0.1), (4, 0.1)]
    assert states[-1].importance == pytest.approx(0.9)


def test_steps_are_counted_where_the_agent_does_not_tell_them(memory: Memory) -> None:
    class Plain:
        def act(self) -> None: ...

    one, two = with_hooks(Plain(), memory=memory), with_hooks(Plain(), memory=memory, agent_id="two")
    one.act()
    one.act()
    two.act()
    actions = kept(memory, "action")
    assert [record.step for record in actions] == [0, 1, 0]
    assert actions[0].agent == actions[1].agent != "two"
    assert (actions[0].agent or "").startswith("Plain-")
    assert actions[2].agent == "two"


@dataclass
class Told:
    health: float
    step_number: int
    extra_data: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"health": self.health, "step_number": self.step_number, **self.extra_data}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (Told(0.4, 7, {"mood": "good"}), {"health": 0.4, "step_number": 7}),
        (
            {"health": 0.4, "step_number": 7, "pair": (1, 2)},
            {"health": 0.4, "step_number": 7, "pair": [1, 2]},
        ),
        (type("State", (), {"__init__": lambda self: setattr(self, "health", 0.4)})(), {"health": 0.4}),
    ],
)
def test_get_state_says_what_the_state_is(memory: Memory, told: Any, expected: dict[str, Any]) -> None:
    class Teller:
        hidden = 3

        def __init__(self) -> None:
            self.noise = 1

        def get_state(self) -> Any:
            return told

        def act(self) -> None: ...

    with_hooks(Teller(), memory=memory, agent_id="t").act()
    state = kept(memory, "state")[0]
    assert {name: state.data[name] for name in expected} == expected
    assert "noise" not in state.data
    assert state.importance == pytest.approx(0.6)
    assert state.step == expected.get("step_number", 0)


def test_what_json_cannot_say_is_left_out_and_secrets_are(memory: Memory) -> None:
    class Odd:
        def __init__(self) -> None:
            self.api_key = "sk-123"
            self.tokens_used = 3
            self.lock = threading.Lock()
            self.call = print
            self.seen = {3, 1, 2}
            self.nan = float("nan")
            self.me: Any = self

        def act(self, password: str, thing: object) -> object:
            return thing

    thing = object()
    assert with_hooks(Odd(), memory=memory).act("hunter2", thing) is thing
    state, action = kept(memory, "state")[0], kept(memory, "action")[0]
    assert state.data == {"tokens_used": 3, "seen": [1, 2, 3], "nan": "nan"}
    assert action.data["arguments"] == {}
    assert action.data["result"] == "object"
    assert "hunter2" not in str([record.data for record in kept(memory)])


@pytest.mark.parametrize(
    ("reward", "importance"), [(-2.0, 1.0), (float("nan"), 0.0), ("much", 0.0), (None, 0.0)]
)
def test_the_reward_is_that_of_the_result(memory: Memory, reward: Any, importance: float) -> None:
    class Result:
        def __init__(self) -> None:
            self.reward = reward

    class Player:
        def act(self) -> Result:
            return Result()

    with_hooks(Player(), memory=memory).act()
    assert kept(memory, "action")[0].importance == importance


def test_captures_go_to_a_function_instead_of_a_memory() -> None:
    got: list[Captured] = []
    agent = with_hooks(Agent(), store=got.append, agent_id="x")
    agent.act(hurt=0.5)
    [captured] = got
    assert (captured.agent, captured.method, captured.step, captured.step_after) == ("x", "act", 0, 1)
    assert captured.changes["health"] == {"previous": 1.0, "new": 0.5}
    assert captured.state_change == pytest.approx(4 / 5)
    assert captured.before is not None
    assert captured.before["health"] == 1.0
    with pytest.raises(BadInput, match="both"):
        with_hooks(Agent(), memory=Memory(), store=got.append)


# What may be asked for.


def test_the_memory_may_be_the_agents_own_or_chosen_for_each(memory: Memory) -> None:
    @install_hooks
    class Own(Agent):
        def __init__(self, memory: Memory) -> None:
            super().__init__()
            self.memory = memory

    @install_hooks(memory=lambda agent: memory, scope="team", session="monday")
    class Chosen(Agent): ...

    Own(memory).act()
    Chosen().act()
    assert len(kept(memory, "action")) == 1
    assert memory.find(scope="team", session="monday", kinds="action")[0].agent == "ann"


@pytest.mark.parametrize(
    "how",
    [
        {"methods": ()},
        {"methods": "no name"},
        {"methods": ("fly",)},
        {"memory": 3},
        {"store": 3},
        {"methods": (3,)},
    ],
)
def test_what_cannot_be_captured_is_refused_at_once(how: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        with_hooks(Agent(), **how)
    with pytest.raises(BadInput):
        install_hooks(type("Fresh", (Agent,), {}), **how)
    with pytest.raises(BadInput):
        install_hooks(Agent(), memory=Memory())  # type: ignore[call-overload]
