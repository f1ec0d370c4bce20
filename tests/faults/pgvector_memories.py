"""Memories that PostgreSQL searches, for the fault tests: in the same process and in others."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

import pytest
from tests.faults.children import tell
from tests.timing import until

from eidet import Memory
from eidet.core.settings import Settings
from eidet.index import pgvector
from eidet.net.retry import RetryPolicy
from eidet.store import Changes
from eidet.store.sql.postgres import PostgresStore

EMBEDDER = "hashing:64"
SCOPE = "post"
FROM = 100
SERVED = Settings(index=f"pgvector://?from_records={FROM}&tail=20")
PATIENT = RetryPolicy(deadline_seconds=30.0, break_after=1_000_000, longest_pause_seconds=0.2)
CITIES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Accra", "Turin", "Bergen")


def opened(url: str, retry_policy: RetryPolicy = PATIENT) -> Memory:
    return Memory(PostgresStore(url, retry_policy=retry_policy), embedder=EMBEDDER, settings=SERVED)


def text(number: int | str) -> str:
    at = number if isinstance(number, int) else len(number)
    return f"The parcel p{number} went to {CITIES[at % len(CITIES)]}"


def fill(memory: Memory, numbers: Iterable[int]) -> None:
    memory.remember([text(number) for number in numbers], scope=SCOPE)


def index_of(memory: Memory) -> dict[str, Any]:
    told: dict[str, Any] = memory.admin.stats()["index"]
    return told


def await_served(memory: Memory) -> None:
    """Until the server searches the scope, and nothing waits to be copied."""

    def is_served() -> bool:
        memory.recall("parcel", scope=SCOPE)
        told = index_of(memory)
        return bool(told["server_scopes"]) and not told["copying"]

    until(is_served, pause=0.1)


def check_complete(memory: Memory, url: str, numbers: Iterable[int | str]) -> None:
    """Every parcel is found first by its words, and all answers are those of an index in RAM.

    Scores may differ a little: they are scaled by the lowest cosine among the candidates.
    """
    with Memory(url, embedder=EMBEDDER) as other:
        for number in numbers:
            asked = text(number)
            found = memory.recall(asked, scope=SCOPE, limit=5)
            assert found[0].text == asked
            truth = other.recall(asked, scope=SCOPE, limit=5)
            assert [hit.score for hit in found] == pytest.approx([hit.score for hit in truth], abs=0.1)
        counted = other.count(scope=SCOPE)
    assert memory.count(scope=SCOPE) == counted


# Other processes.


class SlowStore(PostgresStore):
    """Tells when so many pages were read for a copy, and then takes its time."""

    pages = 0

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        changes = super().changes_here(scope, since, limit)
        if limit == pgvector.PAGE:
            self.pages -= 1
            if self.pages == 0:
                tell("copying")
                time.sleep(60)
        return changes


def copy_slowly(url: str, pages: str) -> None:
    """Copies a scope, some records at a time; whoever goes on with it need not wait for long."""
    pgvector.PAGE = 20  # type: ignore[misc]
    pgvector._LEASE_SECONDS = 2.0  # type: ignore[misc]
    store = SlowStore(url, retry_policy=PATIENT)
    store.pages = int(pages)
    memory = Memory(store, embedder=EMBEDDER, settings=SERVED)
    memory.recall("parcel", scope=SCOPE)
    until(lambda: not index_of(memory)["copying"])
    sys.exit("nobody killed this process")


def write(url: str, name: str, rounds: str) -> None:
    """Remembers one after the other; each is found at once. Tells what it wrote."""
    with opened(url) as memory:
        said = [f"{name}x{number}" for number in range(int(rounds))]
        for one in said:
            memory.remember(text(one), scope=SCOPE)
            assert memory.recall(text(one), scope=SCOPE, limit=1)[0].text == text(one)
        tell(said)


def read(url: str, rounds: str) -> None:
    """Recalls while others write. What it once found it finds again; tells how much it was at the end."""
    seen = 0
    with opened(url) as memory:
        for number in range(int(rounds)):
            hits = memory.recall(text(number % FROM), scope=SCOPE, limit=3)
            assert hits[0].text == text(number % FROM)
            assert memory.count(scope=SCOPE) >= seen
            seen = memory.count(scope=SCOPE)
    tell(seen)
