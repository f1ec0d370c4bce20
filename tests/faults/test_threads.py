"""Sixteen threads on one memory: no exception, and in the end what each of them did."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.faults.children import EMBEDDER
from tests.making import PLACES, place_of, rounds

from eidet import Memory, Misconfigured, Settings

THREADS = 16
SECONDS = rounds(1.5, 3.0)


@dataclass
class Worker:
    """Writes, reads, changes and forgets its own records, and knows what must be left."""

    memory: Memory
    number: int
    kept: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    counted: int = 0

    def __post_init__(self) -> None:
        self._chance = random.Random(self.number)

    def work(self, deadline: float) -> None:
        step = 0
        while time.monotonic() < deadline:
            step += 1
            self._remember(step)
            self._chance.choice((self._recall, self._recall, self._revise, self._forget, self._count))()

    def _remember(self, step: int) -> None:
        record = self.memory.remember(f"w{self.number}x{step} of a thread")
        self.kept[record.id] = record.text

    def _some(self) -> str:
        return self._chance.choice(list(self.kept))

    def _recall(self) -> None:
        id = self._some()
        hits = self.memory.recall(self.kept[id].split()[0], limit=3)
        assert id in [hit.id for hit in hits], f"{self.kept[id]} is not found by its word"

    def _revise(self) -> None:
        id = self._some()
        self.kept[id] = self.memory.revise(id, text=f"{self.kept[id]} again").text

    def _forget(self) -> None:
        id = self._some()
        assert self.memory.forget(id) == 1
        del self.kept[id]
        self.gone.add(id)

    def _count(self) -> None:
        self.memory.recall("usedword", scope="uses", limit=1)
        self.counted += 1


def run_threads(jobs: list[Callable[[], None]]) -> list[BaseException]:
    """Runs all at once; what went wrong."""
    errors: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001  the test looks at them all
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = place_of(request, tmp_path)
    with Memory(place, embedder=EMBEDDER, settings=Settings(sidecar_from=200, flush_uses=20)) as memory:
        yield memory


def test_sixteen_threads_leave_exactly_what_each_of_them_did(memory: Memory) -> None:
    memory.remember("usedword", scope="uses", id="used")
    workers = [Worker(memory, n) for n in range(THREADS)]
    deadline = time.monotonic() + SECONDS
    assert run_threads([lambda w=worker: w.work(deadline) for worker in workers]) == []  # type: ignore[misc]

    stored = {record.id: record.text for record in memory.find(limit=1_000_000)}
    assert stored == {id: text for worker in workers for id, text in worker.kept.items()}
    assert all(worker.gone for worker in workers)
    assert all(memory.get(id) is None for worker in workers for id in list(worker.gone)[:20])
    assert memory.admin.check() == []
    memory.admin.flush()
    used = memory.get("used", scope="uses")
    assert used is not None
    assert used.uses == sum(worker.counted for worker in workers)


def test_concurrent_changes_of_one_record_are_all_kept(memory: Memory) -> None:
    record = memory.remember("shared")
    fields = ("who", "agent", "session", "source")

    def revise(number: int) -> None:
        for i in range(10):
            change: dict[str, Any] = {fields[number % 4]: f"{number}-{i}"}
            memory.revise(record.id, **change)

    assert run_threads([lambda n=n: revise(n) for n in range(8)]) == []  # type: ignore[misc]
    final = memory.get(record.id)
    assert final is not None
    assert final.version == 1 + 80
    assert len(memory.history(record.id)) == 1 + 80
    for name in fields:
        assert str(getattr(final, name)).endswith("-9")


@pytest.mark.parametrize("seed", range(rounds(3, 6)))
def test_closing_while_others_work_gives_only_the_documented_error(tmp_path: Path, seed: int) -> None:
    acknowledged: list[str] = []
    memory = Memory(tmp_path / "m.db", embedder=EMBEDDER)
    memory.remember([f"note{i} of many" for i in range(2000)])

    def use(number: int) -> None:
        while True:
            acknowledged.append(memory.remember(f"w{number} {len(acknowledged)}").id)
            memory.recall("note7 many")
            memory.find(limit=300)
            memory.admin.stats()

    def close() -> None:
        time.sleep(random.Random(seed).uniform(0.05, 0.3))
        memory.close()

    errors = run_threads([*(lambda n=n: use(n) for n in range(8)), close])
    assert {(type(error), "was closed; open it again" in str(error)) for error in errors} == {
        (Misconfigured, True)
    }
    assert len(errors) == 8
    with Memory(tmp_path / "m.db", embedder=EMBEDDER) as memory:
        assert acknowledged
        assert all(memory.get(acknowledged))
        assert memory.admin.check() == []
