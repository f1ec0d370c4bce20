"""What the tests of copies share."""

from __future__ import annotations

import uuid
from typing import Any

from hypothesis import strategies as st
from tests.making import Clock
from tests.servers.fixtures import EMPTY, TEMPLATE
from tests.servers.postgres import Postgres
from tests.strategies import records

from eidet import Memory
from eidet.copy import Copied
from eidet.core.record import Record
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.trust.seal.service import new_key

NOW = 1_700_000_000.0
KEY = new_key()


def ram(**how: Any) -> Memory:
    chosen: dict[str, Any] = {"embedder": "hashing:64", "clock": Clock(tick=1.0)}
    return Memory(RamStore(), **chosen | how)


def all_of(memory: Memory) -> list[Record]:
    return [record.but(seq=0) for record in verbs.scan(memory.parts.store, Where())]


def by_id(memory: Memory) -> dict[tuple[str, str], Record]:
    return {(record.scope, record.id): record for record in all_of(memory)}


def counted(copied: Copied) -> dict[str, int]:
    names = ("created", "changed", "same", "forgotten", "left_out")
    return {name: count for name in names if (count := getattr(copied, name))}


def full(record: Record, n: int, life: tuple[int, float | None, int, int]) -> Record:
    uses, last_used, level, version = life
    return record.but(
        id=f"{n}-{record.id}",
        uses=uses,
        last_used=last_used,
        level=level,
        version=version,
        expires=None if record.expires is None else NOW + 1e6,
        derived_from=(record.id,) * (n % 3),
        vector=bytes([n]) * 64 * 4 if n % 2 else None,
        terms=bytes([n, 0, 0, 0, 1]) * (n % 4),
    )


lives = st.tuples(st.integers(0, 9), st.none() | st.just(NOW), st.integers(0, 3), st.integers(1, 5))


many = st.lists(st.tuples(records(), lives), max_size=5).map(
    lambda found: [full(record, n, life) for n, (record, life) in enumerate(found)]
)


def database_of(postgres: Postgres) -> str:
    import psycopg

    name = f"copied_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
    with psycopg.connect(postgres.url(name), autocommit=True) as connection:
        connection.execute(EMPTY)  # an identity of its own
    return postgres.url(name)
