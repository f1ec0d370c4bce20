"""The same verbs for asyncio: the same signatures, the same answers, and your loop stays yours."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.making import PLACES, place_of

from eidet import AsyncMemory, Conflict, Memory, Misconfigured, Where
from eidet.aio import AsyncAdmin, AsyncFacts, AsyncKeys, AsyncTrust, AsyncUpkeep
from eidet.memory.admin import AdminNamespace
from eidet.memory.facts import FactsNamespace
from eidet.memory.keys import KeysNamespace
from eidet.memory.trust import TrustNamespace
from eidet.memory.upkeep import UpkeepNamespace
from eidet.models.embed.hashing import Hashing
from eidet.store.model import K, Table, V
from eidet.store.ram import RamStore

NOW = 1_700_000_000.0
HASHING = "hashing:64"


def verbs(of: type) -> dict[str, Callable[..., Any]]:
    return {
        name: verb for name, verb in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_")
    }


TWINS: dict[type, type] = {
    Memory: AsyncMemory,
    UpkeepNamespace: AsyncUpkeep,
    TrustNamespace: AsyncTrust,
    KeysNamespace: AsyncKeys,
    AdminNamespace: AsyncAdmin,
    FactsNamespace: AsyncFacts,
}
each_twin = pytest.mark.parametrize("kind", TWINS, ids=lambda kind: kind.__name__)


@each_twin
def test_both_have_the_same_verbs(kind: type) -> None:
    assert verbs(TWINS[kind]).keys() == verbs(kind).keys()
    twins = {name: verb for name, verb in verbs(TWINS[kind]).items() if name != "watch"}  # is iterated
    assert all(inspect.iscoroutinefunction(verb) for verb in twins.values())


@each_twin
def test_both_have_the_same_signatures_and_docstrings(kind: type) -> None:
    for name, verb in verbs(kind).items():
        twin = getattr(TWINS[kind], name)
        assert inspect.signature(twin) == inspect.signature(verb), name
        assert inspect.getdoc(twin) == inspect.getdoc(verb), name
        assert inspect.getdoc(twin), f"{name} says nothing of itself"


def test_both_are_opened_by_the_same_arguments() -> None:
    wanted = inspect.signature(Memory.__init__)
    assert inspect.signature(AsyncMemory.__init__) == wanted
    assert list(inspect.signature(AsyncMemory.open).parameters) == list(wanted.parameters)[1:]


def test_a_memory_has_at_most_twenty_four_public_names() -> None:
    assert len([name for name in dir(Memory) if not name.startswith("_")]) <= 24
    for kind in TWINS:
        assert len(verbs(kind)) <= 25


class SlowToOpen(RamStore):
    """A store whose server takes its time to say who it is."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.opened_in: set[int] = set()
        self._seconds = seconds

    def values(self, table: Table[K, V], keys: Iterable[K] | None = None, **limits: Any) -> dict[K, V]:
        """Every setting is asked for by name; the embedder's name comes late."""
        names = None if keys is None else list(keys)
        self.opened_in.add(threading.get_ident())
        if names == ["embedder"]:
            time.sleep(self._seconds)
        return super().values(table, names, **limits)


@pytest.mark.parametrize("how", ["open", "enter", "verb"])
def test_the_loop_goes_on_while_a_memory_is_opened(how: str) -> None:
    async def story() -> None:
        store, ticks = SlowToOpen(0.2), 0
        memory = AsyncMemory(store, embedder=HASHING)
        assert store.opened_in == set(), "the constructor opens nothing"
        opening: Coroutine[Any, Any, object] = memory.__aenter__()
        if how != "enter":
            opening.close()
            opening = memory.count() if how == "verb" else AsyncMemory.open(store, embedder=HASHING)
        task = asyncio.ensure_future(opening)
        while not task.done():
            await asyncio.sleep(0.001)
            ticks += 1
        await task
        assert ticks > 10
        assert threading.get_ident() not in store.opened_in or how == "verb"
        await memory.close()

    run(story())


def test_a_memory_that_was_closed_before_it_was_used_says_so() -> None:
    async def story() -> None:
        memory = AsyncMemory(embedder=HASHING)
        await memory.close()
        with pytest.raises(Misconfigured, match="closed before it was used"):
            await memory.count()

    run(story())


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return place_of(request, tmp_path)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_every_verb_answers_as_its_twin(place: Path | None, tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(place, embedder=HASHING, clock=lambda: NOW) as memory:
            one, two = await memory.remember(["Ann lives in Lisbon", "Bob lives in Porto"])
            assert (await memory.recall("Ann", limit=1))[0].record == one
            assert "Lisbon" in (await memory.context("Ann")).text
            assert await memory.get(two.id) == two
            assert await memory.get([two.id, "no"]) == [two, None]
            assert len(await memory.find()) == await memory.count() == 2
            revised = await memory.revise(one.id, text="Ann lives in Faro", version=1)
            assert revised.version == 2
            with pytest.raises(Conflict):
                await memory.revise(one.id, text="x", version=1)
            assert [event.what for event in await memory.history(one.id)] == ["created", "revised"]
            assert await memory.scopes() == {"default": 2}
            await memory.feedback(await memory.recall("Ann"), useful=True, by="ann")
            stats = await memory.admin.stats()
            assert (stats["records"], stats["retrieval"]["success_rate"]["of"]) == (2, 1)
            assert await memory.export(tmp_path / "export.jsonl") == 2
            assert await memory.forget(two.id, for_good=False) == 1
            assert await memory.load(tmp_path / "export.jsonl") == 2
            await memory.admin.flush()
            assert await memory.admin.rebuild() == 2
            assert await memory.admin.reembed("hashing:32") == 2
            assert await memory.admin.check() == []

    run(story())


def test_fifty_tasks_at_once_lose_nothing(place: Path | None) -> None:
    async def story() -> None:
        async with AsyncMemory(place, embedder=HASHING) as memory:

            async def work(n: int) -> None:
                record = await memory.remember(f"the number{n} is mine", session=f"s{n % 5}")
                found = await memory.recall(f"number{n}", limit=1)
                assert found[0].id == record.id
                await memory.revise(record.id, importance=0.9)

            await asyncio.gather(*(work(n) for n in range(50)))
            assert await memory.count() == 50
            assert {record.importance for record in await memory.find()} == {0.9}
            assert await memory.count(Where(session="s3")) == 10

    run(story())


def test_the_loop_goes_on_while_a_file_is_written(tmp_path: Path) -> None:
    class Slow(Hashing):
        def embed(self, texts: Sequence[str]) -> Any:
            started.set()
            assert go_on.wait(60)
            return super().embed(texts)

    started, go_on = threading.Event(), threading.Event()

    async def story() -> None:
        async with AsyncMemory(tmp_path / "memory.db", embedder=Slow(16)) as memory:
            task = asyncio.create_task(memory.remember("slow"))
            while not started.is_set():  # noqa: ASYNC110  it is set by another thread
                await asyncio.sleep(0.001)
            go_on.set()  # from the loop: had it been blocked, nobody would come here
            assert (await task).text == "slow"

    run(story())


class Awaited:
    """An embedder of coroutines that notes in which loops it ran."""

    name = "awaited"

    def __init__(self) -> None:
        self.loops: set[Any] = set()
        self.texts: list[str] = []
        self._hashing = Hashing(16)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(0)
        self.loops.add(asyncio.get_running_loop())
        self.texts += texts
        rows: list[list[float]] = self._hashing.embed(texts).tolist()
        return rows


CALLS: list[Callable[[AsyncMemory], Coroutine[Any, Any, Any]]] = [
    lambda memory: memory.remember("a text"),
    lambda memory: memory.remember(["two", "texts"]),
    lambda memory: memory.remember({"role": "user", "content": [{"type": "text", "text": "part"}]}),
    lambda memory: memory.remember({"hp": 1}),
    lambda memory: memory.recall("a question"),
    lambda memory: memory.context("another question"),
    lambda memory: memory.revise("there", text="a new text"),
    lambda memory: memory.revise("there", who="Ann"),
    lambda memory: memory.remember(data={"hp": 2}),
    lambda memory: memory.revise("there", data={"hp": 3}),
]


def test_an_asynchronous_embedder_is_awaited_in_the_callers_loop(place: Path | None) -> None:
    async def story() -> None:
        embedder = Awaited()
        async with AsyncMemory(place, embedder=embedder) as memory:
            await memory.remember({"hp": 0}, id="there")
            for call in CALLS:
                embedder.loops.clear()
                await call(memory)
                assert embedder.loops <= {asyncio.get_running_loop()}
            assert len(embedder.texts) >= len(CALLS)

    run(story())


def test_a_text_is_embedded_once(place: Path | None) -> None:
    async def story() -> None:
        embedder = Awaited()
        async with AsyncMemory(place, embedder=embedder) as memory:
            await memory.remember("first")
            embedder.texts.clear()
            await memory.remember(["one", "two"])
            assert sorted(embedder.texts) == ["one", "two"]

    run(story())


def test_one_memory_serves_several_loops_in_turn(tmp_path: Path) -> None:
    memory = AsyncMemory(tmp_path / "memory.db", embedder=HASHING)
    record = asyncio.run(memory.remember("one"))
    assert asyncio.run(memory.get(record.id)) == record
    asyncio.run(memory.close())


def test_closing_twice_is_fine(place: Path | None) -> None:
    async def story() -> None:
        memory = AsyncMemory(place, embedder=HASHING)
        await memory.remember("one")
        await memory.close()
        await memory.close()

    run(story())


def test_upkeep_is_awaited_and_entered(place: Path | None) -> None:
    async def story() -> None:
        async with AsyncMemory(place, embedder=HASHING) as memory:
            record = await memory.remember("Ann lives in Lisbon")
            assert (await memory.upkeep.maintain()).counts == {}
            async with await memory.upkeep.background(every=3600) as worker:
                assert worker.stats()["running"]
                assert (await memory.upkeep.detail(record.id)).text == "Ann lives in Lisbon"
                await memory.upkeep.pin(record.id)
            assert not worker.stats()["running"]
            assert (await memory.upkeep.unpin(record.id)).meta == {}

    run(story())
