"""A memory to copy from, and places to copy to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.making import Clock
from tests.servers.postgres import Postgres
from tests.unit.copy.given import KEY, database_of, ram

from eidet import Memory
from eidet.store.ram import RamStore


@pytest.fixture
def source() -> Memory:
    """Three scopes, and everything that can be said of a record."""
    memory = ram()
    memory.remember("Ann lives in Lisbon.", id="ann", meta={"a": [1, 2.5, None]}, importance=0.9)
    memory.revise("ann", text="Ann lives in Porto.", by="bob")
    memory.revise("ann", importance=0.3, place=(1, 2))
    memory.remember(
        [{"role": "user", "content": f"note {n}"} for n in range(10)], scope="acme/ann", session="s"
    )
    memory.remember("Bob rows on Sundays.", id="bob", scope="acme", occurred="2020-01-02", trust="web")
    memory.remember("Held by lawyers", id="held", scope="acme")
    memory.upkeep.hold("held", scope="acme", by="court")
    memory.remember("Pinned to the wall", id="pin", scope="acme", expires=timedelta(days=9))
    memory.upkeep.pin("pin", scope="acme")
    memory.recall("where does Ann live?")
    return memory


@pytest.fixture(params=["ram", "file", "sealed", "postgres", "redis"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    how: dict[str, Any] = {"embedder": "hashing:64", "clock": Clock(tick=1.0)}
    if request.param == "ram":
        yield Memory(RamStore(), **how)
        return
    served = request.param in ("postgres", "redis")
    place = request.getfixturevalue(f"{request.param}_url") if served else tmp_path / "target.db"
    with Memory(place, **how, key=KEY if request.param == "sealed" else None) as memory:
        yield memory


@pytest.fixture
def place(redis_url: str, postgres: Postgres, tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """Makes a new place of a kind, and says how it is opened."""
    numbers = count()

    def made(kind: str) -> dict[str, Any]:
        file, redis = tmp_path / f"{next(numbers)}.db", f"{redis_url}?prefix=p{next(numbers)}"
        both = f"tiered://?short={quote(redis, safe='')}&long={quote(str(file), safe='')}"
        told = {"redis": redis, "tiered": both, "sealed tiered": both, "postgres": ""}
        where = database_of(postgres) if kind == "postgres" else told.get(kind, str(file))
        return {"place": where, "key": KEY if kind.startswith("sealed") else None}

    return made
