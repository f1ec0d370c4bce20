"""Memories on servers: what a write, a recall and many clients cost, beside a bare client.

Each part starts its own server on loopback, from a wheel of the `test` extra. `--only NAME` runs one part.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from common import MET, folder, median_ms, millis, queries, rate, record, sentences, texts
from eidet import Memory
from eidet.core.record import Record
from eidet.store import verbs


def redis() -> None:
    """Valkey without persistence; all figures of one run, one after the other."""
    from tests.servers.valkey import Valkey

    with folder() as home:
        server = Valkey(home).start()
        try:
            _redis_writes(server.url)
            server.ask("FLUSHALL")
            _redis_recall(server.url)
            server.ask("FLUSHALL")
            _redis_clients(server.url)
        finally:
            server.stop()


def _redis_writes(url: str) -> None:
    """One record a call, each way in turn. The bare client writes as many bytes and keys, in a pipeline."""
    from eidet.store.redis import RedisStore

    corpus = texts(1500)
    store, given, bare_write = RedisStore(f"{url}?prefix=put"), [_record(text) for text in corpus], _bare(url)
    ways: dict[str, Callable[[int], object]] = {
        "bare": lambda n: bare_write(given[n]),
        "put": lambda n: verbs.put(store, [given[n]], now=1.0),
    }
    spent: dict[str, list[float]] = {}
    said = sentences(550 + MET)
    with Memory(url) as memory:
        memory.remember(said[550:])
        ways |= {
            "remember": lambda n: memory.remember(corpus[n]),
            "sentence": lambda n: memory.remember(said[n]),
        }
        for n in range(550):
            for name, way in ways.items():
                spent.setdefault(name, []).extend(millis(way, [n]))
    bare, put, remembered, sentence = (1000 / statistics.mean(spent[name][50:]) for name in ways)
    batch = (
        rate(
            lambda some: verbs.put(store, some, now=1.0),
            [given[at : at + 50] for at in range(1050, 1500, 50)],
        )
        * 50
    )
    store.close()
    record(
        "redis, writing",
        {
            "bare pipeline per record, per second": bare,
            "store.put one by one, per second": put,
            "remember one by one, per second": remembered,
            "remember a sentence, per second": sentence,
            "put / bare (goal 0.4)": put / bare,
            "remember / bare (goal 0.4)": remembered / bare,
            "remember a sentence / bare (goal 0.4)": sentence / bare,
            "store.put by 50, records per second": batch,
        },
    )


def _bare(url: str) -> Callable[[Record], object]:
    """SET, two HSET and four ZADD in one pipeline: the keys that a record takes in the store."""
    from redis import Redis

    from eidet.store.redis.codec import record_bytes

    client = Redis.from_url(url)

    def write(one: Record) -> None:
        seq = uuid.uuid4().hex
        pipe = client.pipeline(transaction=False)
        pipe.set(f"bare:r:{seq}", record_bytes(one, os.urandom(16)))
        pipe.hset("bare:i", one.id, seq)
        pipe.hset("bare:d", os.urandom(16), seq)
        for name in ("s", "o", "c", "p"):
            pipe.zadd(f"bare:{name}", {seq: one.occurred})
        pipe.execute()

    return write


def _redis_recall(url: str) -> None:
    corpus = texts(10_000)
    with Memory(url) as memory:
        for start in range(0, len(corpus), 500):
            memory.remember(corpus[start : start + 500])
    asked = queries(corpus, 200)
    with Memory() as memory:
        memory.remember(corpus)
        memory.recall(asked[0])
        in_ram = median_ms(memory.recall, asked)
    with Memory(url) as memory:
        started = time.perf_counter()
        memory.recall(asked[0])
        first = time.perf_counter() - started
        warm = median_ms(memory.recall, asked)
        store = memory.parts.store
        head = median_ms(lambda _: store.head(), list(range(200)))
    record(
        "redis, recall at 10,000",
        {
            "p50 ms (goal 5)": warm,
            "the same in RAM, p50 ms": in_ram,
            "first recall s (loads the index)": first,
            "of it asking the head, ms": head,
        },
    )


def _redis_clients(url: str) -> None:
    """Threads that write to one scope for two seconds: through one store, and each through its own."""
    from eidet.store.redis import RedisStore

    told: dict[str, Any] = {}
    for shared in (True, False):
        rates = {}
        for count in (8, 32):
            stores = [RedisStore(f"{url}?prefix=clients") for _ in range(1 if shared else count)]
            rates[count], errors = _together(stores, count)
            how = "one store" if shared else "a store each"
            told[f"{count} clients, {how}: records per second"] = rates[count]
            told[f"{count} clients, {how}: errors"] = errors
            for store in stores:
                store.close()
        told[f"32 / 8 clients, {how} (goal 1)"] = rates[32] / rates[8]
    record("redis, clients at once", told)


def _together(stores: list[Any], count: int, seconds: float = 2.0) -> tuple[float, int]:
    from eidet.core.errors import EidetError

    ended, errors, written = threading.Event(), [], [0] * count

    def write(mine: int) -> None:
        while not ended.is_set():
            try:
                verbs.put(stores[mine % len(stores)], [_record(uuid.uuid4().hex)], now=1.0)
                written[mine] += 1
            except EidetError as error:
                errors.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    ended.set()
    for thread in threads:
        thread.join()
    return sum(written) / seconds, len(errors)


def _record(text: str) -> Record:
    return Record(
        id=uuid.uuid4().hex,
        scope="a",
        text=text,
        created=1.0,
        occurred=1.0,
        vector=bytes(512),
        terms=bytes(240),
    )


def postgres() -> None:
    from servers_postgres import postgres

    postgres()


def pgvector() -> None:
    from servers_pgvector import pgvector

    pgvector()


PARTS: dict[str, Callable[[], None]] = {
    "redis": redis,
    "postgres": postgres,
    "pgvector": pgvector,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS))
    only = parser.parse_args().only
    for name, part in PARTS.items():
        if only in (None, name):
            part()


if __name__ == "__main__":
    main()
