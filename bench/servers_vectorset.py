"""Vector sets of Redis 8 at 20,000 and 100,000 records of one scope, beside the index in RAM."""

from __future__ import annotations

import random
import statistics
import time
from functools import partial
from typing import Any

import numpy as np

from common import folder, millis, queries, real_texts, record
from eidet import Draft, Memory, Settings
from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Probe
from eidet.index.vectordb.vectorset import VectorSets
from eidet.store import verbs
from eidet.store.redis import RedisStore
from eidet.write.ingest import Ingest

COUNTS = (20_000, 100_000)
DEPTH = 400  # candidates of the dense arm, as the default recipe asks for
ASKED = 100
KINDS = {"32 bits": "", "8 bits": "&bits=8"}


def vectorset(counts: tuple[int, ...] = COUNTS) -> None:
    from tests.servers.redis8 import Redis8

    with folder() as home:
        server = Redis8(home).start()
        try:
            for count in counts:
                made = _made(count)
                for kind, options in KINDS.items():
                    server.ask("FLUSHALL")
                    _measured(server.url, made, kind, options)
        finally:
            server.stop()


def _made(count: int) -> list[Record]:
    """Real sentences in sessions of 25, three speakers, with the default embedder; not stored yet."""
    texts, _ = real_texts(count)
    random.Random(3).shuffle(texts)
    drafts = [
        Draft(text=text, kind="message", session=f"s{n // 25}", who="abc"[n % 3], occurred=1.6e9 + n * 60)
        for n, text in enumerate(texts)
    ]
    with Memory() as memory:
        return Ingest.of(memory.parts).records(drafts, scope="big", now=1.7e9)


def _measured(url: str, made: list[Record], kind: str, options: str) -> None:
    store = RedisStore(url)
    for start in range(0, len(made), 5_000):
        verbs.put(store, made[start : start + 5_000], now=1.7e9, unique=False)
    by_server = Memory(RedisStore(url), settings=Settings(index=f"vectorset://?small=0&ship_rows=1{options}"))
    in_ram = Memory(RedisStore(url), settings=Settings(index="embedded"))
    index: Any = by_server.parts.index
    began = time.perf_counter()
    index._ships.ship("big")
    filled = time.perf_counter() - began
    told: dict[str, Any] = {
        "fill, vectors per second": len(made) / filled,
        "bytes per vector on the server (MEMORY USAGE)": _bytes(index) / len(made),
    }
    told |= _asked(by_server, in_ram, store, made)
    for name, memory in {"": by_server, " with the index in RAM": in_ram}.items():
        told[f"RAM of a process{name}, MB"] = memory.admin.stats()["index"]["memory_bytes"] / 1e6
    record(f"vector sets of {kind} at {len(made):,}", told)
    for memory in (by_server, in_ram):
        memory.close()
    store.close()


def _bytes(index: Any) -> int:
    key = index._database._key(index._ships.refresh("big").at)
    return int(index._database._wire.ask(key, ("MEMORY", "USAGE", key, "SAMPLES", "0")))


def _asked(by_server: Memory, in_ram: Memory, store: RedisStore, made: list[Record]) -> dict[str, Any]:
    """Both in turn, so that both see the same machine."""
    asked = queries([one.text for one in made], ASKED)
    vectors = [np.asarray(row, np.float32) for row in by_server.parts.embedder.embed(asked)]
    half = 1.6e9 + 60 * len(made) // 2
    told: dict[str, Any] = {}
    for name, how in {
        "": {},
        ", one speaker of three": {"who": "a"},
        ", the later half": {"since": half},
        ", one session": {"session": "s77"},
    }.items():
        spent: dict[Memory, list[float]] = {memory: [] for memory in (by_server, in_ram)}
        for query in asked[:5] + asked:
            for memory in spent:
                spent[memory] += millis(partial(memory.recall, scope="big", **how), [query])
        here, there = (statistics.median(times[5:]) for times in spent.values())
        told[f"recall{name}, p50 ms"] = here
        told[f"the same in RAM{name}, p50 ms"] = there
        here, there = (_work(partial(memory.recall, scope="big", **how), asked, store) for memory in spent)
        told[f"recall{name}, ms of work"] = here
        told[f"the same in RAM{name}, ms of work"] = there
    probes = [Probe(scope=Scope("big"), now=1.8e9, vector=vector, depth=DEPTH) for vector in vectors]
    bare = _bare(by_server)
    told["bare VSIM of 400, p50 ms"] = statistics.median(millis(bare, vectors))
    told |= _shares(by_server, probes, store, made)
    return told


def _work(ask: Any, asked: list[str], store: RedisStore) -> float:
    """Processor time of client and server for one question: what it takes where nobody else is at work."""

    def now() -> float:
        (told,) = store._wire.info("cpu")
        return time.process_time() + float(told["used_cpu_user"]) + float(told["used_cpu_sys"])

    began = now()
    for query in asked:
        ask(query)
    return (now() - began) / len(asked) * 1000


def _bare(memory: Memory) -> Any:
    index: Any = memory.parts.index
    database: VectorSets = index._database
    shelf = index._ships.placement("big", index._store.head().epoch).at
    from eidet.index.embedded.vectors import unit
    from eidet.index.vectordb.pushdown import EVERYTHING

    return lambda vector: database.near(shelf, unit(vector), DEPTH, only=EVERYTHING)


def _shares(memory: Memory, probes: list[Probe], store: RedisStore, made: list[Record]) -> dict[str, Any]:
    """How many of the exact ten nearest are among the ten best of the dense arm."""
    matrix = np.array([np.frombuffer(one.vector or b"", "<f4")[:256] for one in made])
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
    seqs = np.array(store.match(Where(scope=Scope("big"))), np.int64)
    shares = []
    for probe in probes:
        assert probe.vector is not None
        found = memory.parts.index.search(probe)
        mine = set(found.seq[np.argsort(-found.dense)[:10]].tolist())
        scores = matrix @ (probe.vector / np.linalg.norm(probe.vector))
        shares.append(len(mine & set(seqs[np.argpartition(-scores, 10)[:10]].tolist())) / 10)
    return {"recall@10 of the dense arm (goal 0.97)": statistics.mean(shares)}
