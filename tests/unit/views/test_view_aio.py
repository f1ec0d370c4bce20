"""The views for asyncio are the views."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from pathlib import Path

import pytest

from eidet import AsyncMemory, BadInput
from eidet.views import (
    AsyncConversation,
    AsyncEpisodic,
    AsyncSemantic,
    AsyncWorking,
    Conversation,
    Episodic,
    Semantic,
    Working,
)

TWINS: dict[type, type] = {
    Conversation: AsyncConversation,
    Episodic: AsyncEpisodic,
    Semantic: AsyncSemantic,
    Working: AsyncWorking,
}


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


@pytest.mark.parametrize("view", TWINS, ids=lambda view: view.__name__)
def test_each_view_has_a_twin_with_the_same_names_and_signatures(view: type) -> None:
    twin = TWINS[view]
    assert public(twin) == public(view)
    for name in public(view):
        mine, theirs = inspect.getattr_static(view, name), inspect.getattr_static(twin, name)
        if callable(mine):
            assert inspect.signature(mine) == inspect.signature(theirs)
            assert inspect.iscoroutinefunction(theirs)
    mine, theirs = (list(inspect.signature(cls).parameters.values())[1:] for cls in (view, twin))
    assert mine == theirs, "beside the memory"


@pytest.mark.parametrize("place", ["ram", "file"])
def test_every_view_works_in_a_loop(place: str, tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(None if place == "ram" else tmp_path / "m.db") as memory:
            log = AsyncConversation(memory, "s", agent="a")
            await asyncio.gather(*(log.add(f"message {number}") for number in range(20)))
            await log.extend(["one", "two"])
            assert [message.content for message in await log.messages(2)] == ["one", "two"]
            assert await log.count() == 22
            assert await log.summary is None
            assert await log.summarise(keep=2, text="so far") == await log.summary == "so far"
            assert (log.session, log.agent, log.scope) == ("s", "a", "default")
            assert [message.content for message in await log.search("two", limit=1)] == ["two"]
            with pytest.raises(BadInput):
                await log.add(3)  # type: ignore[arg-type]
            working = AsyncWorking(memory, persist=True)
            await working.set_task("t")
            await asyncio.gather(*(working.think(str(number)) for number in range(5)))
            assert await working.task == "t"
            assert len(await working.scratchpad) == 5
            facts = AsyncSemantic(memory)
            record = await facts.add("Ann lives in Lisbon")
            assert (await facts.search("Ann"))[0].id == record.id
            assert (await facts.similar("Ann lives in Lisbon"))[0][1] == pytest.approx(1.0, abs=1e-3)
            lived = AsyncEpisodic(memory)
            episode = await lived.record("It rained", lessons=["Take a coat"])
            assert await lived.lessons("rain") == ["Take a coat"]
            assert [one.id for one in await lived.around(episode.id)] == [episode.id]

    asyncio.run(use())


def test_an_asynchronous_embedder_is_awaited_in_the_loop_of_the_caller() -> None:
    loops: list[object] = []

    async def embed(texts: Sequence[str]) -> list[list[float]]:
        loops.append(asyncio.get_running_loop())
        return [[float(len(text)), 1.0] for text in texts]

    async def use() -> None:
        async with AsyncMemory(embedder=embed) as memory:
            log = AsyncConversation(memory, "s")
            before = len(loops)
            await log.add("hello")
            await log.extend(["hi there", {"role": "user", "content": "and you"}])
            await log.search("greeting")
            assert loops[before:]
            assert set(loops[before:]) == {asyncio.get_running_loop()}

    asyncio.run(use())
