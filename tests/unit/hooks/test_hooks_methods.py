"""Hooks around coroutines and generators."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.hooks.agents import Agent, kept

from eidet import AsyncMemory, BadInput, Memory
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


def test_a_plain_method_may_give_a_coroutine(memory: Memory) -> None:
    class Lazy:
        def act(self) -> Any:
            return self._later()

        async def _later(self) -> str:
            return "late"

    async def use() -> None:
        later = with_hooks(Lazy(), memory=memory).act()
        assert kept(memory) == []
        assert await later == "late"

    asyncio.run(use())
    assert kept(memory, "action")[0].data["result"] == "late"


class Streams:
    def act(self) -> Iterator[int]:
        yield 1


class AsyncStreams:
    async def act(self) -> AsyncGenerator[int, None]:
        yield 1


@pytest.mark.parametrize("kind", [Streams, AsyncStreams])
def test_a_generator_is_left_alone(memory: Memory, kind: type) -> None:
    with pytest.raises(BadInput, match="has no method act to capture that returns"):
        with_hooks(kind(), memory=memory)

    @install_hooks(memory=memory)
    class Plain(Agent): ...

    class Streaming(Plain):
        act = kind.act  # type: ignore[attr-defined]

    assert not inspect.iscoroutinefunction(Streaming.act)
    assert Streaming.act is kind.act  # type: ignore[attr-defined]
