"""A database that searches, with a standby that takes over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.faults.pairs import Pair, ask, paired
from tests.faults.pgvector_memories import (
    FROM,
    SCOPE,
    await_served,
    check_complete,
    fill,
    opened,
    text,
)
from tests.servers.postgres import Postgres
from tests.timing import until

from eidet import Memory

psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with paired(tmp_path_factory.mktemp("searched")) as pair:
        yield pair


def table_of(server: Postgres) -> object:
    return ask(server, "SELECT oid FROM pg_class WHERE relname LIKE 'pgvector_units%' AND relkind = 'r'")


def test_when_the_primary_dies_the_standby_searches_and_nothing_is_lost(pair: Pair) -> None:
    told: list[str] = []
    ended = threading.Event()

    def work(memory: Memory, name: str) -> None:
        number = 0
        while not ended.is_set():
            memory.remember(text(f"{name}y{number}"), scope=SCOPE)
            told.append(f"{name}y{number}")
            assert memory.recall(text(7), scope=SCOPE, limit=1)[0].text == text(7)
            number += 1

    with opened(pair.url()) as memory, ThreadPoolExecutor(3) as pool:
        fill(memory, range(FROM))
        await_served(memory)
        table = table_of(pair.primary)
        threads = [pool.submit(work, memory, name) for name in "de"]
        try:
            until(lambda: len(told) > 40)
            pair.primary.kill()
            pair.standby.promote()
            before = len(told)
            until(lambda: len(told) > before + 20 or any(thread.done() for thread in threads), 40)
        finally:
            ended.set()
        for thread in threads:
            thread.result(60)
        await_served(memory)
        assert table_of(pair.standby) == table  # what had been copied was not copied again
        assert memory.admin.check() == []
        check_complete(memory, pair.standby.url(), [3, 50, *told[::7], told[-1]])
        assert sum(1 for record in memory.find(scope=SCOPE, limit=10_000) if "y" in record.text) >= len(told)
