"""What tests of all folders share: a clock, places, texts, and how many rounds a test takes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest

if TYPE_CHECKING:
    from eidet.store import Store

T = TypeVar("T")

IS_FULL = os.environ.get("EIDET_TEST_ROUNDS") == "full"
NOW = 1_700_000_000.0
DAY = 86_400.0
PLACES = ("ram", "file")


def rounds(quick: T, full: T) -> T:
    """How often, how long or with how many: fewer for whoever tries Eidet, more before a change lands."""
    return full if IS_FULL else quick


def examples(full: int) -> int:
    """How many examples Hypothesis makes: a quarter of the full number, but not fewer than ten."""
    return rounds(min(full, max(full // 4, 10)), full)


class Clock:
    """A time that passes when told to, or by one tick whenever it is asked."""

    def __init__(self, now: float = NOW, *, tick: float = 0.0) -> None:
        self.now = now
        self.tick = tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now

    def pass_(self, seconds: float = 1.0) -> float:
        self.now += seconds
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def days(self, days: float) -> None:
        self.now += days * DAY


def place_of(request: pytest.FixtureRequest, folder: Path) -> Path | None:
    """For a fixture over PLACES: None for RAM, else the path of a file that is not there yet."""
    return None if request.param == "ram" else folder / "memory.db"


class HasContent(Protocol):
    @property
    def content(self) -> str | None: ...


class HasHistory(Protocol):
    def get_history(self) -> Coroutine[Any, Any, Sequence[HasContent]]: ...


def contents(messages: Iterable[HasContent]) -> list[str | None]:
    """What messages say, in their order."""
    return [message.content for message in messages]


def history(store: HasHistory) -> list[str | None]:
    """What the messages of a store say, oldest first."""
    return contents(asyncio.run(store.get_history()))


class HasText(Protocol):
    @property
    def text(self) -> str: ...


def texts(found: Iterable[HasText]) -> list[str]:
    return [one.text for one in found]


def make_store(backend: str, folder: Path, request: pytest.FixtureRequest) -> Store:
    """An empty store of a kind: "sealed sqlite" is one around another, and "tiered on redis" has two."""
    from eidet.store.ram import RamStore
    from eidet.store.sql.sqlite import SqliteStore
    from eidet.store.tiered import TieredStore

    if backend.startswith("sealed "):
        from eidet.trust.seal.service import LocalKeys
        from eidet.trust.seal.store import SealedStore

        inner = make_store(backend.removeprefix("sealed "), folder, request)
        return SealedStore(inner, LocalKeys(bytes(range(32))))
    if backend == "postgres":
        from eidet.store.sql.postgres import PostgresStore

        return PostgresStore(request.getfixturevalue("postgres_emptied"))
    if backend == "redis":
        from eidet.store.redis import RedisStore

        return RedisStore(request.getfixturevalue("redis_url"))
    if backend.startswith("tiered"):
        short = make_store("redis" if backend == "tiered on redis" else "ram", folder, request)
        return TieredStore(short, SqliteStore(folder / "long.db"))
    return RamStore() if backend == "ram" else SqliteStore(folder / "memory.db")


def wrapping(backend: str, folder: Path) -> dict[str, Any]:
    """How a memory over the store of a kind is opened: that of "sealed" has a key, of "audited" a log."""
    ways: dict[str, dict[str, Any]] = {
        "sealed": {"key": "00112233445566778899aabbccddeeff" * 2},
        "audited": {"audit": folder / "audit.jsonl"},
    }
    return ways.get(backend, {})
