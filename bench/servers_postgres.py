"""PostgreSQL: what a write costs beside a bare INSERT of the same row, many at once, and many clients.

The server syncs to disk. Run by `servers.py --only postgres`.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import uuid
from collections.abc import Callable
from statistics import mean, median
from typing import Any

from common import MET, folder, median_ms, millis, queries, record, sentences, texts
from eidet import Memory
from eidet.core.record import Record
from eidet.store import verbs
from eidet.store.sql.postgres import PostgresStore
from eidet.store.sql.rows import COLUMNS, row_of

ROUNDS = 500
SECONDS = 4.0  # that processes write
FIRST = 20  # records that each has written before: a connection is slow until the server knows its statements


def postgres() -> None:
    from tests.servers.postgres import Postgres

    with folder() as home:
        server = Postgres(home, fsync="on").create().start()
        try:
            for part in (_writing, _bulk, _clients, _recall):
                name = part.__name__.strip("_")
                _ask(server.url(), f"CREATE DATABASE {name}")
                part(server.url(name))
        finally:
            server.stop()


def _ask(url: str, sql: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql)


def _made(scope: str = "a") -> Record:
    """A fact with a vector of 1 KB."""
    text = f"the {uuid.uuid4().hex} is kept beside the {uuid.uuid4().hex} in the hall"
    return Record(id=uuid.uuid4().hex, scope=scope, text=text, created=1.0, occurred=1.0,
                  vector=os.urandom(1024), terms=bytes(240))  # fmt: skip


def _bare(url: str) -> Callable[[tuple[Record, int]], object]:
    """One connection, autocommit, prepared, into the table with its indexes."""
    import psycopg

    connection = psycopg.connect(url, autocommit=True)
    sql = f"INSERT INTO records ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))})"
    return lambda given: connection.execute(sql, row_of(*given, os.urandom(16)), prepare=True)


def _writing(url: str) -> None:
    """One record a call, each way in turn, since the disk is not always as fast."""
    store, bare = PostgresStore(url), _bare(url)
    said = sentences(ROUNDS + MET)
    spent: dict[str, list[float]] = {"bare INSERT": [], "store.put": [], "remember": []}
    with Memory(url) as memory:
        memory.remember(texts(50) + said[ROUNDS:])
        for text, sentence in zip(texts(ROUNDS, seed=3), said, strict=False):
            row = (_made(), store.head().seq + 1)
            spent["bare INSERT"] += millis(bare, [row])
            spent["store.put"] += millis(lambda one: verbs.put(store, [one], now=1.0), [_made()])
            spent["remember"] += millis(memory.remember, [text])
            spent.setdefault("remember a sentence", []).extend(millis(memory.remember, [sentence]))
    store.close()
    told = {f"{name}, ms p50": median(some) for name, some in spent.items()}
    told |= {f"{name}, per second": 1000 / mean(some) for name, some in spent.items()}
    for name in list(spent)[1:]:
        told[f"{name} / bare, by p50"] = median(spent["bare INSERT"]) / median(spent[name])
        told[f"{name} / bare, by mean (goal 0.5)"] = mean(spent["bare INSERT"]) / mean(spent[name])
    record("postgres, writing", told)


def _bulk(url: str) -> None:
    store = PostgresStore(url)
    empty, given = store.size(), [_made(f"s{n % 10}") for n in range(10_000)]
    started = time.perf_counter()
    verbs.put(store, given, now=1.0)
    took = time.perf_counter() - started
    grown = store.size() - empty
    started = time.perf_counter()
    verbs.delete_where(store, _all(), now=1.0)
    gone = time.perf_counter() - started
    store.close()
    record(
        "postgres, 10,000 in one call",
        {
            "records per second (goal 5000)": 10_000 / took,
            "bytes per record, with indexes": grown / 10_000,
            "of them vector, text and terms": sum(len(r.text) + 1264 for r in given) / 10_000,
            "dropped per second": 10_000 / gone,
        },
    )


def _all() -> Any:
    from eidet.core.where import Where

    return Where()


def _clients(url: str) -> None:
    """Threads on one store, which write for two seconds, and processes with a store each, for four."""
    from servers import _together

    told: dict[str, Any] = {}
    rates = {}
    for count in (8, 32):
        store = PostgresStore(url)
        rates["threads", count], errors = _together([store], count)
        store.close()
        rates["processes", count], failed = _processes(url, count)
        for kind, wrong in (("threads", errors), ("processes", failed)):
            told[f"{count} {kind}: records per second"] = rates[kind, count]
            told[f"{count} {kind}: errors"] = wrong
    for kind in ("threads", "processes"):
        told[f"32 / 8 {kind} (goal 1)"] = rates[kind, 32] / rates[kind, 8]
    record("postgres, clients at once", told)


def _processes(url: str, count: int) -> tuple[float, int]:
    fork = multiprocessing.get_context("fork")
    told: Any = fork.Queue()
    begin = fork.Barrier(count)
    children = [fork.Process(target=_child, args=(url, begin, told)) for _ in range(count)]
    for child in children:
        child.start()
    counts = [told.get(timeout=120) for _ in children]
    for child in children:
        child.join()
    return sum(written for written, _ in counts) / SECONDS, sum(failed for _, failed in counts)


def _child(url: str, begin: Any, told: Any) -> None:
    from eidet.core.errors import EidetError

    store = PostgresStore(f"{url}?eidet_connections=2")
    written = failed = 0
    for _ in range(FIRST):
        verbs.put(store, [_made()], now=1.0)
    begin.wait(60)
    ends = time.perf_counter() + SECONDS
    while time.perf_counter() < ends:
        try:
            verbs.put(store, [_made()], now=1.0)
            written += 1
        except EidetError:
            failed += 1
    store.close()
    told.put((written, failed))


def _recall(url: str) -> None:
    corpus = texts(10_000)
    with Memory(url) as memory:
        for start in range(0, len(corpus), 500):
            memory.remember(corpus[start : start + 500])
    asked = queries(corpus, 200)
    with Memory(url) as memory:
        started = time.perf_counter()
        memory.recall(asked[0])
        first = time.perf_counter() - started
        warm = median_ms(memory.recall, asked)
    record("postgres, recall at 10,000", {"p50 ms": warm, "first recall s (loads the index)": first})
