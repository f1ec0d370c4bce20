"""Hooks around methods of every kind: generators, coroutines, streams, properties."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.hooks.agents import Agent, kept

from eidet import AsyncMemory, Memory
from eidet.hooks import install_hooks, with_hooks


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
