"""Every audit entry names its own caller, whoever's thread wrote it down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
from tests.making import rounds

import eidet
from eidet import AsyncMemory, Audit, Memory
from eidet.store import Transaction
from eidet.store.ram import RamStore
from eidet.trust.audit.chain import AuditEntry
from eidet.trust.audit.verify import entries

T = TypeVar("T")
CALLS = rounds(60, 150)
THREADS = 16
EMBEDDER = "hashing:16"
KEY = "00112233445566778899aabbccddeeff" * 2


def caller(number: int) -> dict[str, str]:
    return {"by": f"user {number}", "source": f"10.0.0.{number}", "why": f"ticket {number}"}


def check(path: Path, verbs: Sequence[str]) -> None:
    """Each entry about record `n` was caused by caller `n`, and there is one of each verb."""
    found: dict[str, set[int]] = {verb: set() for verb in verbs}
    for entry in entries(path):
        if entry.verb in found and entry.ids:
            number = int(entry.ids[0])
            assert said_by(entry) == caller(number), entry
            found[entry.verb].add(number)
    assert found == {verb: set(range(CALLS)) for verb in verbs}


def said_by(entry: AuditEntry) -> dict[str, str | None]:
    return {"by": entry.by, "source": entry.source, "why": entry.why}


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "sealed"])
def test_threads_under_group_commit_are_told_apart(tmp_path: Path, key: str | None) -> None:
    log = tmp_path / "audit.jsonl"

    def use(number: int) -> None:
        with eidet.acting(**caller(number)):
            memory.remember(f"note number {number} about something", id=str(number), scope=f"s{number}")
            memory.forget(str(number), scope=f"s{number}")

    memory = Memory(tmp_path / "m.db", embedder=EMBEDDER, audit=Audit(path=log), key=key)
    with memory, ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(use, range(CALLS)))
    check(log, ["put", "erase"])


def test_tasks_of_an_async_memory_are_told_apart(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"

    async def use(memory: AsyncMemory, number: int) -> None:
        with eidet.acting(**caller(number)):
            await memory.remember(f"note number {number} about something", id=str(number), scope=f"s{number}")
            await memory.forget(str(number), scope=f"s{number}")

    async def story() -> None:
        async with AsyncMemory(tmp_path / "m.db", embedder=EMBEDDER, audit=Audit(path=log)) as memory:
            await asyncio.gather(*(use(memory, number) for number in range(CALLS)))

    asyncio.run(story())
    check(log, ["put", "erase"])


def test_times_rise_with_the_numbers_whoever_writes(tmp_path: Path) -> None:
    """Two memories on one log, each with its own threads: nobody's entry is dated before an earlier one."""
    log = tmp_path / "audit.jsonl"
    both = [Memory(tmp_path / f"{name}.db", embedder=EMBEDDER, audit=Audit(path=log)) for name in "ab"]

    def use(number: int) -> None:
        both[number % 2].remember(f"note number {number} about something", id=str(number))

    with both[0], both[1], ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(use, range(CALLS)))
    told = list(entries(log))
    assert [entry.n for entry in told] == list(range(1, len(told) + 1))
    assert [entry.at for entry in told] == sorted(entry.at for entry in told)
    assert {int(entry.ids[0]) for entry in told if entry.verb == "put"} == set(range(CALLS))


class Restless(RamStore):
    """Runs each job twice, as a store on a server does that was overtaken."""

    def write(self, job: Callable[[Transaction], T]) -> T:
        def twice(transaction: Transaction) -> T:
            job(transaction)
            raise _Again

        with suppress(_Again):
            super().write(twice)
        return super().write(job)


class _Again(Exception):
    pass


def test_what_a_run_noted_that_was_not_committed_is_taken_back(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with eidet.acting(by="ann"), Memory(Restless(), embedder=EMBEDDER, audit=Audit(path=log)) as memory:
        memory.remember("a note about something", id="x")
        memory.forget("x")
    told = list(entries(log))
    first, second = [entry.n for entry in told if entry.verb == "erase"]
    failed = [entry.details["of"] for entry in told if entry.verb == "failed"]
    assert sum(first in of for of in failed) == 1
    assert not any(second in of for of in failed)
