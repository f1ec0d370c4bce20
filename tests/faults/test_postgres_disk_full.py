"""A server whose disk is full: a clear error at once, reading goes on, and writing when there is room again.

The tables are on a small tmpfs in namespaces of the server's own, which need no rights where a user may make
some. The write-ahead log is elsewhere: PostgreSQL stops altogether when that has no room.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.faults.pgvector_memories import EMBEDDER, FROM, SCOPE, SERVED, await_served, check_complete, fill
from tests.faults.pgvector_memories import text as parcel
from tests.servers import Child, _dies_with_parent
from tests.servers.postgres import Postgres, binaries

from eidet import Memory
from eidet.core.errors import Unavailable
from eidet.core.record import Record
from eidet.core.where import Where
from eidet.net.retry import Full
from eidet.store import verbs
from eidet.store.sql.postgres import PostgresStore

psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")

NOW = 1_700_000_000.0
PRIVATE = ("unshare", "--user", "--map-root-user", "--mount")
MOUNT = 'mount -t tmpfs -o size={size}m,mode=0777 tmpfs "$0" && exec "$@"'
SOMEBODY = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
BALLAST = "INSERT INTO ballast SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 30000)"


class SmallPostgres(Postgres):
    """Has a tablespace `small` of so many megabytes, for as long as it runs."""

    def start(self, size: int = 40) -> Postgres:
        small = self.folder / "small"
        small.mkdir(exist_ok=True)
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        server = [str(binaries() / "postgres"), "-D", str(self.data), "-p", str(self.port), *options]
        inside = ["sh", "-c", MOUNT.format(size=size), str(small), *SOMEBODY, *_dies_with_parent(), *server]
        self._child = Child([*PRIVATE, *inside], self.folder / "log", stop=signal.SIGINT)
        self._child.command = [*PRIVATE, *inside]  # who dies with its parent is said within
        self._child.start()
        self._child.await_ready(self._answers)
        return self


def check_mounts(folder: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare: apt-get install util-linux")
    attempt = [*PRIVATE, "sh", "-c", MOUNT.format(size=1), str(folder), *SOMEBODY, "true"]
    if subprocess.run(attempt, capture_output=True, check=False).returncode:
        pytest.skip("needs user namespaces in which tmpfs can be mounted")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    folder = tmp_path_factory.mktemp("small")
    check_mounts(folder)
    server = SmallPostgres(folder / "server").create().start()
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{folder / 'server' / 'small'}'")
    yield server
    server.stop()


@pytest.fixture
def url(server: Postgres) -> Iterator[str]:
    name = f"eidet_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TABLESPACE small")
    with psycopg.connect(server.url(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE ballast (held text STORAGE EXTERNAL)")
    yield server.url(name)
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def close_the_room(url: str) -> None:
    """Fills the disk to the last page of the tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        for row in (BALLAST, BALLAST.replace("30000", "200")):
            with contextlib.suppress(psycopg.errors.DiskFull):
                while True:
                    connection.execute(row)


def make_room(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE ballast")  # TRUNCATE would need room first


def record(id: str) -> Record:
    body = np.random.default_rng(abs(len(id))).bytes(6000).hex()
    return Record(id=id, scope="a", text=f"says {id} {body}", created=NOW, occurred=NOW)


def until_full(store: PostgresStore, told: list[str]) -> Unavailable:
    for number in range(1000):
        try:
            told += [stored.id for stored in verbs.put(store, [record(f"r{number}")], now=NOW)]
        except Unavailable as error:
            return error
    pytest.fail("the disk has room for ever")


def test_a_full_disk_is_told_at_once_and_nothing_of_a_call_is_stored(url: str) -> None:
    store = PostgresStore(url)
    (kept,) = verbs.put(store, [record("kept")], now=NOW)
    close_the_room(url)
    told = ["kept"]
    error = until_full(store, told)
    assert "is full" in str(error)
    assert "free some space" in str(error)
    started = time.monotonic()
    for count in (1, 2, 60):  # one statement, a transaction, a COPY
        with pytest.raises(Unavailable, match="is full"):
            verbs.put(store, [record(f"new{count}-{n}") for n in range(count)], now=NOW)
    with ThreadPoolExecutor(8) as pool:  # written together
        tries = [pool.submit(verbs.put, store, [record(f"thread{n}")], now=NOW) for n in range(8)]
        assert all(isinstance(attempt.exception(60), Unavailable) for attempt in tries)
    assert time.monotonic() - started < 8  # it is not tried until the deadline
    for _ in range(8):
        assert store.read("a", ["kept"]) == [kept]
    assert {r.id for r in store.find(Where())} == set(told)
    assert store.health()["state"] == "up"
    make_room(url)
    verbs.put(store, [record("late")], now=NOW)
    verbs.put(store, [record(f"many{n}") for n in range(20)], now=NOW)
    assert {r.id for r in store.find(Where())} == {*told, "late", *(f"many{n}" for n in range(20))}
    store.close()


def remember_until_full(memory: Memory) -> int:
    for number in range(10_000):
        padding = np.random.default_rng(number).bytes(3000).hex()
        try:
            memory.remember(f"{parcel(f'more{number}')} {padding}", scope=SCOPE)
        except Full:
            return number
    pytest.fail("the disk has room for ever")


def test_a_memory_that_the_server_searches_lives_through_a_full_disk(url: str) -> None:
    memory = Memory(PostgresStore(url), embedder=EMBEDDER, settings=SERVED)
    fill(memory, range(FROM))
    await_served(memory)
    close_the_room(url)
    more = remember_until_full(memory)
    assert memory.count(scope=SCOPE) == FROM + more
    for number in (3, 50):
        assert memory.recall(parcel(number), scope=SCOPE, limit=1)[0].text == parcel(number)
    with pytest.raises(Unavailable, match="is full"):
        memory.admin.rebuild()
    assert memory.recall(parcel(7), scope=SCOPE, limit=1)[0].text == parcel(7)
    make_room(url)
    fill(memory, range(10_000, 10_060))
    memory.admin.rebuild()
    assert memory.admin.check() == []
    check_complete(memory, url, [3, 50, 10_000, 10_059])
    assert memory.count(scope=SCOPE) == FROM + more + 60
    memory.close()
