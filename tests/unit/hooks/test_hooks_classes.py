"""Hooks on a whole class: every object of it, its children, copies and pickles."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import weakref
from dataclasses import dataclass
from typing import Any

import pytest
from tests.unit.hooks.agents import Agent, kept

from eidet import BadInput, Memory
from eidet.hooks import install_hooks, with_hooks


def test_a_decorated_class_captures_for_each_of_its_agents(memory: Memory) -> None:
    @install_hooks(memory=memory)
    class Decorated(Agent):
        """Its own words."""

    ann, bob = Decorated("ann"), Decorated("bob")
    ann.act()
    bob.act()
    bob.act()
    assert [record.agent for record in kept(memory, "action")] == ["ann", "bob", "bob"]
    assert Decorated.__doc__ == "Its own words."
    assert inspect.signature(Decorated.act) == inspect.signature(Agent.act)
    Agent("eve").act()
    assert len(kept(memory, "action")) == 3, "the class it inherits from is left alone"


def test_decorating_and_wrapping_again_captures_once(memory: Memory) -> None:
    @install_hooks(memory=memory)
    @install_hooks(memory=memory)
    class Twice(Agent): ...

    install_hooks(Twice, memory=memory)
    agent = with_hooks(with_hooks(Twice(), memory=memory), memory=memory)
    agent.act()
    assert agent.ran == 1
    assert len(kept(memory, "action")) == 1
    lone = with_hooks(with_hooks(Agent("bob"), memory=memory), memory=memory)
    lone.act()
    assert [record.agent for record in kept(memory, "action")] == ["ann", "bob"]


def test_overriding_and_calling_super_captures_once(memory: Memory) -> None:
    @install_hooks(memory=memory)
    class Base(Agent): ...

    class Middle(Base):
        def act(self, observation: dict[str, Any] | None = None, *, hurt: float = 0.0) -> dict[str, Any]:
            return super().act(observation, hurt=hurt) | {"middle": True}

    @install_hooks(memory=memory)
    class Top(Middle):
        def act(self, observation: dict[str, Any] | None = None, *, hurt: float = 0.0) -> dict[str, Any]:
            return super().act(observation, hurt=hurt) | {"top": True}

    class Silent(Base):
        def act(self, observation: dict[str, Any] | None = None, *, hurt: float = 0.0) -> dict[str, Any]:
            return {"silent": True}

    Top().act()
    [action] = kept(memory, "action")
    assert action.data["result"] | {"top": True, "middle": True} == action.data["result"]
    Silent().act()
    assert kept(memory, "action")[-1].data["result"] == {"silent": True}
    assert len(kept(memory, "action")) == 2


def test_a_class_keeps_its_own_say_about_subclasses(memory: Memory) -> None:
    born: list[str] = []

    @install_hooks(memory=memory)
    class Registry(Agent):
        def __init_subclass__(cls, label: str = "", **options: Any) -> None:
            super().__init_subclass__(**options)
            born.append(label)

    class Child(Registry, label="child"):
        def act(self, observation: dict[str, Any] | None = None, *, hurt: float = 0.0) -> dict[str, Any]:
            return {}

    with_hooks(Child(), memory=memory).act()
    with_hooks(Registry(), memory=memory).act()
    assert born == ["child"]
    assert len(kept(memory, "action")) == 2


def test_class_methods_static_methods_and_properties_are_left_alone(memory: Memory) -> None:
    @install_hooks(memory=memory, methods=("act", "make", "add", "mood"))
    class Mixed(Agent):
        @classmethod
        def make(cls) -> str:
            return cls.__name__

        @staticmethod
        def add(a: int, b: int) -> int:
            return a + b

        @property
        def mood(self) -> str:
            return "good"

    agent = Mixed()
    assert (Mixed.make(), agent.make(), Mixed.add(1, 2), agent.mood) == ("Mixed", "Mixed", 3, "good")
    assert kept(memory) == []


def test_several_methods_are_captured_by_name(memory: Memory) -> None:
    class Thinker:
        def act(self) -> str:
            return self.plan()

        def plan(self) -> str:
            return "left"

    agent = with_hooks(Thinker(), memory=memory, methods=("act", "plan"))
    assert agent.act() == "left"
    assert [record.data["method"] for record in kept(memory, "action")] == ["plan", "act"]


def test_slots_and_dataclasses_are_captured(memory: Memory) -> None:
    class Slotted:
        __slots__ = ("__weakref__", "health")

        def __init__(self) -> None:
            self.health = 1.0

        def act(self) -> None:
            self.health /= 2

    @install_hooks(memory=memory)
    @dataclass(slots=True)
    class Point:
        x: int = 0

        def act(self) -> None:
            self.x += 1

    @dataclass(slots=True)
    @install_hooks(memory=memory)
    class Below:
        x: int = 0

        def act(self) -> None:
            self.x += 1

    class Under(Below):
        def act(self) -> None:
            self.x += 10

    agent = with_hooks(Slotted(), memory=memory, agent_id="slotted")
    agent.act()
    agent.act()
    assert [record.data for record in kept(memory, "state")] == [
        {"health": 1.0},
        {"health": 0.5},
        {"health": 0.25},
    ]
    for other in (Point(), Below(), Under()):
        other.act()
    changes = [record.data["changes"]["x"]["new"] for record in kept(memory, "action")[2:]]
    assert changes == [1, 1, 10]


def test_a_hooked_agent_is_copied_and_pickled_as_it_was(memory: Memory) -> None:
    agent = with_hooks(Agent(), memory=memory)
    agent.act()
    for other in (copy.deepcopy(agent), copy.copy(agent), pickle.loads(pickle.dumps(agent))):
        assert type(other) is Agent
        assert other.health == agent.health
        other.act()
    assert len(kept(memory, "action")) == 1
    assert isinstance(agent, Agent)
    assert type(agent).__name__ == "Agent"


def test_nothing_is_known_of_an_agent_that_is_gone(memory: Memory) -> None:
    agent = with_hooks(Agent(), memory=memory)
    agent.act()
    known = weakref.ref(agent)
    del agent
    gc.collect()
    assert known() is None


def test_agents_that_cannot_be_referred_to_weakly_are_captured_as_a_class_only(memory: Memory) -> None:
    class Slotted:
        __slots__ = ()

        def act(self) -> None: ...

    with pytest.raises(BadInput, match="__weakref__"):
        with_hooks(Slotted(), memory=memory)
    install_hooks(Slotted, memory=memory)
    Slotted().act()
    assert len(kept(memory, "action")) == 1
