"""Hooks: captured around an agent, which never notices."""

from __future__ import annotations

import asyncio
import copy
import gc
import inspect
import logging
import pickle
import threading
import time
from collections.abc import AsyncGenerator, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eidet import AsyncMemory, BadInput, Memory, Record
from eidet.hooks import Captured, install_hooks, with_hooks
from eidet.hooks.keep import Agents, Quiet, agents, quiet
from eidet.hooks.plain import changes_between, plain, state_of


@pytest.fixture
def memory() -> Memory:
    return Memory(embedder="hashing")


@pytest.fixture(autouse=True)
def _every_warning_is_told() -> Iterator[None]:
    quiet._told.clear()
    yield
    quiet._told.clear()


class Agent:
    """As people write them: it knows nothing of memory."""

    def __init__(self, agent_id: str = "ann") -> None:
        self.agent_id = agent_id
        self.step_number = 0
        self.health = 1.0
        self.inventory: dict[str, int] = {}
        self.ran = 0
        self._secret = "hidden"

    def act(self, observation: dict[str, Any] | None = None, *, hurt: float = 0.0) -> dict[str, Any]:
        self.ran += 1
        self.step_number += 1
        self.health -= hurt
        self.inventory["wood"] = self.inventory.get("wood", 0) + 1
        return {"action_type": "gather", "reward": 0.5, "seen": observation}


def kept(memory: Memory, kind: str | None = None) -> list[Record]:
    return memory.find(kinds=kind, order="seq", limit=1_000)


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


# Classes.


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


def test_a_hooked_instance_does_not_announce_a_subclass(memory: Memory) -> None:
    born: list[type] = []

    class Registry:
        def __init_subclass__(cls, *, label: str) -> None:
            born.append(cls)

        def act(self) -> None: ...

    agent = with_hooks(Registry(), memory=memory)
    agent.act()
    assert isinstance(agent, Registry)
    assert born == []
    assert len(kept(memory, "action")) == 1


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


def test_an_agent_that_calls_its_own_method_is_captured(memory: Memory) -> None:
    class Runner(Agent):
        def run(self) -> None:
            for _ in range(3):
                self.act()

    with_hooks(Runner(), memory=memory).run()
    assert len(kept(memory, "action")) == 3


def test_slots_and_dataclasses_are_captured(memory: Memory) -> None:
    class Slotted:
        __slots__ = ("health",)

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
    at = id(agent)
    assert at in agents._known
    del agent
    gc.collect()
    assert at not in agents._known


def test_agents_that_cannot_be_referred_to_weakly_are_kept_but_not_all() -> None:
    class Slotted:
        __slots__ = ()

    table, many = Agents(), [Slotted() for _ in range(1_100)]
    for agent in many:
        table.of(agent).calls = 5
    assert table.find(many[0]) is None
    assert table.of(many[-1]).calls == 5


# Methods of every kind.


def test_a_coroutine_method_is_captured_when_it_is_done(tmp_path: Path) -> None:
    class Async(Agent):
        async def act(self, observation: Any = None, *, hurt: float = 0.0) -> Any:  # type: ignore[override]
            await asyncio.sleep(0)
            self.health -= hurt
            await asyncio.sleep(0)
            return {"reward": 1.0}

    async def use() -> None:
        async with AsyncMemory(tmp_path / "m.db") as memory:
            team = [with_hooks(Async(f"a{number}"), memory=memory) for number in range(5)]
            assert inspect.iscoroutinefunction(team[0].act)
            await asyncio.gather(*(agent.act(hurt=0.5) for agent in team for _ in range(3)))
            actions = await memory.find(kinds="action", limit=100)
            assert sorted(record.agent or "" for record in actions) == sorted([f"a{n}" for n in range(5)] * 3)

    asyncio.run(use())


def test_tasks_of_one_agent_are_captured_each(memory: Memory) -> None:
    class Async(Agent):
        async def act(self, observation: Any = None, *, hurt: float = 0.0) -> Any:  # type: ignore[override]
            if observation == "outer":
                await asyncio.gather(self.act("inner"), self.act("inner"))
                await self.act("part of this one")
            return observation

    asyncio.run(with_hooks(Async(), memory=memory).act("outer"))
    assert [record.data["result"] for record in kept(memory, "action")] == ["inner", "inner", "outer"]


def test_a_cancelled_coroutine_is_a_failed_action(memory: Memory) -> None:
    class Sleeper:
        async def act(self) -> None:
            await asyncio.sleep(60)

    async def use() -> None:
        task = asyncio.create_task(with_hooks(Sleeper(), memory=memory).act())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(use())
    assert kept(memory, "action")[0].data["error"].startswith("CancelledError")


class Streams:
    def __init__(self) -> None:
        self.got: list[Any] = []

    def act(self) -> Generator[int, Any, str]:
        for number in range(3):
            try:
                self.got.append((yield number))
            except KeyError:
                self.got.append("caught")
        return "done"


class Delegates(Streams):
    def act(self) -> Generator[int, Any, str]:
        return (yield from super().act()) + "!"


@pytest.mark.parametrize(("kind", "answer"), [(Streams, "done"), (Delegates, "done!")])
def test_a_generator_is_captured_when_exhausted_and_takes_what_is_sent(
    memory: Memory, kind: type[Streams], answer: str
) -> None:
    agent = with_hooks(kind(), memory=memory)
    assert inspect.isgeneratorfunction(agent.act)
    stream = agent.act()
    assert kept(memory) == []
    assert next(stream) == 0
    assert stream.send("a") == 1
    assert stream.throw(KeyError("b")) == 2
    assert kept(memory) == []
    with pytest.raises(StopIteration) as end:
        stream.send("c")
    assert end.value.value == answer
    assert agent.got == ["a", "caught", "c"]
    [action] = kept(memory, "action")
    assert action.data["result"] == answer
    assert action.data["changes"]["got"]["new"] == ["a", "caught", "c"]


def test_streams_that_call_super_are_captured_once(memory: Memory) -> None:
    @install_hooks(memory=memory)
    class Base(Streams): ...

    class Top(Base):
        def act(self) -> Generator[int, Any, str]:
            return (yield from super().act())

    @install_hooks(memory=memory)
    class AsyncBase(AsyncStreams): ...

    class AsyncTop(AsyncBase):
        async def act(self) -> AsyncGenerator[int, Any]:
            async for number in super().act():
                yield number

    async def use() -> list[int]:
        return [number async for number in AsyncTop().act()]

    assert list(Top().act()) == asyncio.run(use()) == [0, 1, 2]
    assert [(record.agent or "").split("-")[0] for record in kept(memory, "action")] == ["Top", "AsyncTop"]


def test_a_generator_that_will_not_be_closed_says_so_itself(memory: Memory) -> None:
    class Stubborn:
        def act(self) -> Iterator[int]:
            try:
                yield 1
            finally:
                yield 2

    stream = with_hooks(Stubborn(), memory=memory).act()
    next(stream)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        stream.close()  # type: ignore[attr-defined]
    assert kept(memory, "action")[0].data["error"].startswith("RuntimeError")


def test_a_generator_that_is_closed_or_fails_is_captured(memory: Memory) -> None:
    closed: list[str] = []

    class Closing:
        def act(self) -> Iterator[int]:
            try:
                yield 1
                raise LookupError("empty")
            finally:
                closed.append("closed")

    agent = with_hooks(Closing(), memory=memory)
    stream = agent.act()
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert closed == ["closed"]
    assert "error" not in kept(memory, "action")[0].data
    with pytest.raises(LookupError):
        list(agent.act())
    assert kept(memory, "action")[1].data["error"] == "LookupError: empty"
    agent.act()
    assert len(kept(memory, "action")) == 2, "one that never ran did nothing"


def test_two_streams_of_one_agent_side_by_side_are_both_captured(memory: Memory) -> None:
    agent = with_hooks(Streams(), memory=memory)
    for one, two in zip(agent.act(), agent.act(), strict=True):
        assert one == two
    assert len(kept(memory, "action")) == 2


class AsyncStreams:
    def __init__(self) -> None:
        self.got: list[Any] = []

    async def act(self) -> AsyncGenerator[int, Any]:
        try:
            for number in range(3):
                await asyncio.sleep(0)
                try:
                    self.got.append((yield number))
                except KeyError:
                    self.got.append("caught")
        finally:
            self.got.append("closed")


class AsyncDelegates(AsyncStreams):
    async def act(self) -> AsyncGenerator[int, Any]:
        async for number in super().act():
            yield number


def test_an_async_generator_is_captured_when_exhausted_or_closed(memory: Memory) -> None:
    async def use() -> None:
        agent = with_hooks(AsyncStreams(), memory=memory)
        assert inspect.isasyncgenfunction(agent.act)
        stream = agent.act()
        assert await anext(stream) == 0
        assert await stream.asend("a") == 1
        assert await stream.athrow(KeyError("b")) == 2
        assert kept(memory) == []
        with pytest.raises(StopAsyncIteration):
            await stream.asend("c")
        assert agent.got == ["a", "caught", "c", "closed"]
        assert len(kept(memory, "action")) == 1
        stream = agent.act()
        await anext(stream)
        await stream.aclose()
        assert agent.got.count("closed") == 2
        assert len(kept(memory, "action")) == 2
        stream = agent.act()
        await anext(stream)
        with pytest.raises(ZeroDivisionError):
            await stream.athrow(ZeroDivisionError("x"))
        assert kept(memory, "action")[2].data["error"] == "ZeroDivisionError: x"
        assert [number async for number in with_hooks(AsyncDelegates(), memory=memory).act()] == [0, 1, 2]
        assert len(kept(memory, "action")) == 4

    asyncio.run(use())


def test_a_plain_method_may_give_something_that_has_yet_to_run(memory: Memory) -> None:
    class Lazy:
        def act(self, how: str) -> Any:
            return {"coroutine": self._later, "generator": self._steps, "stream": self._stream}[how]()

        async def _later(self) -> str:
            return "late"

        def _steps(self) -> Iterator[int]:
            yield 1

        async def _stream(self) -> AsyncGenerator[int, None]:
            yield 2

    async def use() -> None:
        agent = with_hooks(Lazy(), memory=memory)
        later, steps, stream = agent.act("coroutine"), agent.act("generator"), agent.act("stream")
        assert kept(memory) == []
        assert await later == "late"
        assert list(steps) == [1]
        assert [number async for number in stream] == [2]
        assert [record.data["arguments"]["how"] for record in kept(memory, "action")] == [
            "coroutine",
            "generator",
            "stream",
        ]

    asyncio.run(use())


# Nothing disturbs the agent.


def test_the_agents_own_exception_passes_untouched_and_is_a_failed_action(memory: Memory) -> None:
    error = KeyError("lost")

    class Failing(Agent):
        def act(self, observation: Any = None, *, hurt: float = 0.0) -> dict[str, Any]:
            self.ran += 1
            raise error

    agent = with_hooks(Failing(), memory=memory)
    with pytest.raises(KeyError) as caught:
        agent.act()
    assert caught.value is error
    assert error.__context__ is None
    assert agent.ran == 1
    assert kept(memory, "action")[0].data["error"] == "KeyError: 'lost'"
    with pytest.raises(TypeError, match="unexpected"):
        agent.act(nonsense=1)  # type: ignore[call-arg]


class Broken(Agent):
    def get_state(self) -> Any:
        raise RuntimeError("no state today")


class AsyncState(Agent):
    async def get_state(self) -> Any:
        return {}


class Evil(Agent):
    @property
    def trap(self) -> Any:
        raise ValueError("do not look")

    def __getattribute__(self, name: str) -> Any:
        if name in ("step_number", "name") and object.__getattribute__(self, "__dict__").get("armed"):
            raise OSError("armed")
        return super().__getattribute__(name)


def _refusing(captured: Captured) -> None:
    raise ConnectionError("the store is away")


@pytest.mark.parametrize(
    ("agent", "how"),
    [
        (Broken(), {"memory": Memory(embedder="hashing")}),
        (AsyncState(), {"memory": Memory(embedder="hashing")}),
        (Agent(), {"store": _refusing}),
        (Agent("x" * 2_000), {"memory": Memory(embedder="hashing")}),
        (Agent(), {}),
    ],
    ids=["broken state", "async state", "broken store", "refused", "no memory"],
)
def test_whatever_goes_wrong_the_method_runs_once_and_the_log_tells(
    agent: Agent, how: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    hooked = with_hooks(agent, **how)
    with caplog.at_level(logging.WARNING, logger="eidet"):
        for number in range(5):
            assert hooked.act({"n": number})["seen"] == {"n": number}
    assert hooked.ran == 5
    places = [record.args[0] for record in caplog.records if isinstance(record.args, tuple)]
    assert places
    assert len(places) == len(set(places)), "once a minute for each place"
    assert all("act" in str(place) for place in places)


def test_an_agent_whose_state_is_not_known_still_has_its_actions_kept(memory: Memory) -> None:
    with_hooks(Broken("b"), memory=memory).act()
    [action] = kept(memory)
    assert (action.kind, action.agent, action.data["changes"]) == ("action", "b", {})


def test_a_closed_memory_disturbs_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory(tmp_path / "m.db")
    agent = with_hooks(Agent(), memory=memory)
    memory.close()
    assert agent.act()["reward"] == 0.5
    assert agent.ran == 1
    assert "act" in caplog.text

    class Async:
        async def act(self) -> int:
            return 3

    assert asyncio.run(with_hooks(Async(), memory=memory).act()) == 3


def test_an_agent_that_raises_when_looked_at_still_acts(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Evil()
    agent.__dict__["armed"] = True
    agent.__dict__.pop("step_number")

    class Calm(Evil):
        def act(self, observation: Any = None, *, hurt: float = 0.0) -> dict[str, Any]:
            return {"calm": True}

    agent.__class__ = Calm
    assert with_hooks(agent, memory=memory).act() == {"calm": True}
    assert "armed" in caplog.text


def test_trouble_is_told_once_a_minute_for_each_place(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    told = Quiet(clock=lambda: now[0])
    for at in (0.0, 1.0, 59.9, 60.0, 61.0):
        now[0] = at
        told.tell("here", ValueError(f"at {at}"))
        told.tell("there", ValueError(f"at {at}"))
    assert [record.getMessage() for record in caplog.records if "here:" in record.getMessage()] == [
        f"hooks: {place}: ValueError: at {at}" for at in (0.0, 60.0) for place in ("here", "there")
    ]


def test_many_threads_are_captured_each(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing") as memory:

        @install_hooks(memory=memory)
        class Counting:
            def __init__(self) -> None:
                self.lock_free = 0

            def act(self, who: int, number: int) -> tuple[int, int]:
                return who, number

        agent = Counting()

        def run(who: int) -> None:
            for number in range(10):
                assert agent.act(who, number) == (who, number)

        threads = [threading.Thread(target=run, args=(who,)) for who in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        actions = kept(memory, "action")
        assert sorted(tuple(record.data["result"]) for record in actions) == [
            (w, n) for w in range(6) for n in range(10)
        ]
        assert sorted(record.step or 0 for record in actions) == list(range(60))


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


def test_values_in_plain_json() -> None:
    assert plain({"a": (1, {2}), "b": object(), 3: b"x"}) == {"a": [1, [2]]}
    loop: list[Any] = []
    loop.append(loop)
    assert str(plain(loop)).startswith("[[[")
    assert changes_between({"a": 1, "b": None}, {"a": True, "c": None}) == {
        "a": {"previous": 1, "new": True},
        "b": {"previous": None, "new": None},
        "c": {"previous": None, "new": None},
    }
    assert state_of(Agent())["inventory"] == {}
