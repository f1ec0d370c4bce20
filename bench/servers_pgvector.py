"""The index in PostgreSQL at 100,000 records of one scope: beside the bare query, and the index in RAM."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from common import DATA, folder, millis, queries, real_texts, record
from eidet import Draft, Memory, Settings
from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.eval import read_cases
from eidet.eval.ranking_metrics import score_figures
from eidet.eval.runner import QuestionAnswer, RunAnswers, Variant, ask
from eidet.index import Probe
from eidet.index.pgvector import PgvectorIndex
from eidet.store import verbs
from eidet.store.sql.postgres import PostgresStore
from eidet.write.ingest import Ingest

COUNT = 100_000
WARM = 1_500  # questions after which a process has met most words
DEPTH = 400  # candidates of the dense arm, as the default recipe asks for
SETS = {
    "LoCoMo": "locomo-dev.json",
    "LongMemEval": "longmemeval-dev.json.gz",
    "REALTALK": "realtalk-dev.jsonl.gz",
    "BEAM": "beam-dev.jsonl.gz",
    "everyday": "everyday-dev.jsonl",
}
SERVER = {"shared_buffers": "512MB", "maintenance_work_mem": "1GB", "max_parallel_maintenance_workers": "2"}


def pgvector() -> None:
    from tests.servers.postgres import Postgres

    with folder() as home:
        server = Postgres(home, **SERVER).create().start()
        try:
            made = _made()
            store = PostgresStore(_database(server, "big"))
            _load(store, made)
            _recall(store, made)
            store.close()
            _sets(partial(_database, server))
        finally:
            server.stop()


def _database(server: Any, name: str) -> str:
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return str(server.url(name))


def _made() -> list[Record]:
    """Real sentences in sessions of 25, three speakers, with the default embedder; not stored yet."""
    texts, _ = real_texts(COUNT)
    random.Random(3).shuffle(texts)
    drafts = [
        Draft(text=text, kind="message", session=f"s{n // 25}", who="abc"[n % 3], occurred=1.6e9 + n * 60)
        for n, text in enumerate(texts)
    ]
    with Memory() as memory:
        return Ingest.of(memory.parts).records(drafts, scope="big", now=1.7e9)


def _load(store: PostgresStore, made: list[Record]) -> None:
    """The store alone, before there is an index; then its indexes for filters, and the copy."""
    spent = []
    for start in range(0, COUNT, 10_000):
        began = time.perf_counter()
        verbs.put(store, made[start : start + 10_000], now=1.7e9, unique=False)
        spent.append(time.perf_counter() - began)
    began = time.perf_counter()
    index = PgvectorIndex(store, 256)
    prepared = time.perf_counter() - began
    index.rebuild("big")
    built = time.perf_counter() - began - prepared
    index.close()
    record(
        "pgvector, loading 100,000",
        {
            "store.put of 10,000 in one call, records per second (goal 5,000)": 10_000
            / statistics.median(spent),
            "indexes for filters on the store, s": prepared,
            "copy and HNSW index, s": built,
        },
    )


def _recall(store: PostgresStore, made: list[Record]) -> None:
    """Hybrid recalls and the bare query in turn, so that both see the same machine.

    Asked of a process that has just begun, and of one that has met most words of the scope.
    """
    memory = Memory(store, settings=Settings(index="pgvector"))
    memory.parts.binding.claim()  # as if it had been written through a memory
    asked = queries([one.text for one in made], 150)
    vectors = [np.asarray(row, np.float32) for row in memory.parts.embedder.embed(asked)]
    index = memory.parts.index
    for query in asked[:20]:
        memory.recall(query, scope="big")
    early, floor = _beside_bare(memory, store, asked[20:])
    for query in queries([one.text for one in made], WARM, seed=9):
        memory.recall(query, scope="big")
    hybrid, bare = _beside_bare(memory, store, asked)
    filtered = millis(lambda text: memory.recall(text, scope="big", who="a", session="s77"), asked[:50])
    matrix = np.array([np.frombuffer(one.vector or b"", "<f4") for one in made])
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
    seqs = np.array(store.match(Where(scope=Scope("big"))), np.int64)
    share = statistics.mean(_share(index, vector, matrix, seqs) for vector in vectors)
    p50 = statistics.median
    dated: dict[str, float] = {}
    for part in (0.5, 0.2, 0.1, 0.05):
        first = int(COUNT * (1 - part))
        since = 1.6e9 + 60 * first
        ask = partial(memory.recall, scope="big", since=since)
        dated[f"the latest {part:.0%} p50 ms"] = p50(millis(ask, asked[:50]))
        found = [_share(index, v, matrix[first:], seqs[first:], Where(since=since)) for v in vectors[:50]]
        dated[f"the latest {part:.0%}, recall@10 (goal 0.97)"] = statistics.mean(found)
    record(
        "pgvector, recall at 100,000",
        {
            "p50 ms": p50(hybrid),
            "the first 150 questions of a process, p50 ms": p50(early),
            "the same / bare": p50(early) / p50(floor),
            f"bare pgvector query, LIMIT {DEPTH}, p50 ms": p50(bare),
            "recall / bare (goal 3)": p50(hybrid) / p50(bare),
            "p95 ms": statistics.quantiles(hybrid, n=20)[-1],
            "one session of one speaker p50 ms": p50(filtered),
            "recall@10 of the dense arm (goal 0.97)": share,
            **dated,
        },
    )
    memory.close()


def _beside_bare(memory: Memory, store: PostgresStore, asked: list[str]) -> tuple[list[float], list[float]]:
    import psycopg

    hybrid, bare = [], []
    with psycopg.connect(store._driver.address.url, autocommit=True) as connection:
        connection.execute(f"SET hnsw.ef_search = {DEPTH}")
        named = "SELECT relname FROM pg_class WHERE relname LIKE 'pgvector\\_units%' AND relkind = 'r'"
        ((units,),) = connection.execute(named).fetchall()
        sql = (
            f"SELECT seq, embedding <=> %s::halfvec FROM {units} "
            f"ORDER BY embedding <=> %s::halfvec LIMIT {DEPTH}"
        )
        for query, vector in zip(asked, memory.parts.embedder.embed(asked), strict=True):
            hybrid += millis(lambda text: memory.recall(text, scope="big"), [query])
            told = f"[{','.join(map(str, np.asarray(vector, np.float32).tolist()))}]"
            bare += millis(lambda v: connection.execute(sql, [v, v]).fetchall(), [told])
    return hybrid, bare


def _share(index: Any, vector: Any, matrix: Any, seqs: Any, where: Where | None = None) -> float:
    """How many of the exact ten nearest are among the ten best of the dense arm."""
    found = index.search(Probe(scope=Scope("big"), now=1.8e9, vector=vector, depth=DEPTH, where=where))
    mine = set(found.seq[np.argsort(-found.dense)[:10]].tolist())
    scores = matrix @ (vector / np.linalg.norm(vector))
    return len(mine & set(seqs[np.argpartition(-scores, 10)[:10]].tolist())) / 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnServer(Variant):
    """Every scope is copied when it is first asked, however small."""

    url: str = ""

    def open_memory(self) -> Memory:
        index = "pgvector://?from_records=1&few=0&background=no"
        return Memory(PostgresStore(self.url), settings=Settings(index=index))


def _sets(database: Callable[[str], str]) -> None:
    """The same questions to the embedded index and to the server, where even small scopes use the graph."""
    for name, file in SETS.items():
        path = Path(DATA) / file
        if path.exists():
            run = partial(ask, read_cases(path), depth=10, budgets=(), tell=_tell_nobody)
            embedded = run(Variant())
            here = run(_OnServer(url=database(name.lower())))
            record(f"pgvector, {name}", _compare(embedded, here))


def _tell_nobody(_: int) -> None:
    return None


def _compare(embedded: RunAnswers, served_by: RunAnswers) -> dict[str, float]:
    """What is found, and what a score says: in RAM, on the server, and the difference."""
    told: dict[str, float] = {}
    for name, measure in (("R@10", _measure_recall), ("hit@1", _measure_first), ("calibration", _calibrate)):
        ram, server = measure(embedded), measure(served_by)
        told[f"{name} in RAM"] = ram
        told[f"{name} on the server"] = server
        told[f"{name}, difference (goal 0.02)"] = ram - server
    gaps = np.array(_list_best(embedded)) - np.array(_list_best(served_by))
    told["best score, mean difference"] = float(gaps.mean())
    told["best score, mean absolute difference"] = float(np.abs(gaps).mean())
    return told


def _measure_recall(asked: RunAnswers) -> float:
    """The mean share of the gold among the first ten."""
    shares = []
    for answer in asked.answers:
        gold = set(answer.question.gold)
        shares.append(len({one.id for one in answer.found[:10]} & gold) / len(gold))
    return statistics.mean(shares)


def _measure_first(asked: RunAnswers) -> float:
    return statistics.mean(map(_is_right, asked.answers))


def _is_right(answer: QuestionAnswer) -> bool:
    return bool(answer.found) and answer.found[0].gold


def _list_best(asked: RunAnswers) -> list[float]:
    """The best score of every question; 0 where nothing was answered."""
    scores = []
    for answer in asked.answers:
        scores.append(answer.found[0].score if answer.found else 0.0)
    return scores


def _calibrate(asked: RunAnswers) -> float:
    right = list(map(_is_right, asked.answers))
    return score_figures(_list_best(asked), right, asked.unanswerable)["calibration"]
