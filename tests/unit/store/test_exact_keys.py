"""The exact key by which a store finds who said the same: nobody can guess a text by it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from eidet.core.record import record_digest
from eidet.core.settings import Settings
from eidet.open import open_store
from eidet.store import Store, Transaction, verbs
from eidet.store.contract import NOW, fact
from eidet.store.rules import key_of

SAID = fact("x", text="The gate code is 7731", meta={"pin": "4711"})


def read_file(url: str) -> bytes:
    return Path(url).read_bytes() + Path(f"{url}-wal").read_bytes()


def read_database(url: str) -> bytes:
    import psycopg

    with psycopg.connect(url) as connection:
        return b"".join(key for (key,) in connection.execute("SELECT exact_key FROM records"))


def read_server(url: str) -> bytes:
    import redis

    with closing(redis.Redis.from_url(url)) as server:
        values: list[Any] = [server.get(key) for key in server.scan_iter("*r:*")]
        listed: list[Any] = [name for key in server.scan_iter("*}:d") for name in server.hkeys(key)]
        assert values
        assert listed
        return b"".join(values + listed)


READERS: dict[str, Callable[[str], bytes]] = {
    "file": read_file,
    "postgres_emptied": read_database,
    "redis_url": read_server,
}


@pytest.fixture(params=READERS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Callable[[str], bytes]]:
    """Where a store is, and what reads all that could tell of exact keys there."""
    name = request.param
    return str(tmp_path / "m.db") if name == "file" else request.getfixturevalue(name), READERS[name]


def open_at(url: str) -> Store:
    return open_store(url, Settings())


def test_no_unkeyed_hash_of_a_content_is_written(backend: tuple[str, Callable[[str], bytes]]) -> None:
    url, read = backend
    with closing(open_at(url)) as store:
        (stored,) = verbs.put(store, [SAID], now=NOW)
        written = read(url)
        assert record_digest(stored) not in written
        assert key_of(stored)[16:] not in written


def test_what_was_said_before_is_known_after_opening_again(
    backend: tuple[str, Callable[[str], bytes]],
) -> None:
    def find_same(transaction: Transaction) -> list[str]:
        return [twin.id for twin in transaction.same("a", [record_digest(SAID)])]

    url, _ = backend
    with closing(open_at(url)) as store:
        verbs.put(store, [SAID], now=NOW)
    with closing(open_at(url)) as store:
        (again,) = verbs.put(store, [SAID.but(id="y")], now=NOW)
        assert (again.id, again.uses) == ("x", 1)
        assert store.write(find_same) == ["x"]
