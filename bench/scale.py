"""A million records: in one scope and in 10,000 on SQLite, and in one scope on PostgreSQL with pgvector.

    python bench/scale.py                              # all parts, 1,000,000 records
    python bench/scale.py --count 20000 --only sqlite-one --results /tmp/scale.json

    python bench/scale.py --keep /data/scale           # leaves its data there, and only asks it the next time

Each part loads, asks in a new process, asks with filters that 1, 10 and 50 % pass, and lets three clients
ask at once. Results go to `bench/scale.json`. Beside the time of the clock stands that of the CPU, which says
more on a busy machine: of the asking process alone, not of a server.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import common
from common import folder, millis, queries, real_texts
from eidet import Draft, Memory, Settings
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Probe
from eidet.models.embed import embedder_of

RESULTS = Path(__file__).parent / "scale.json"
BEGAN = 1.6e9
STEP = 60  # seconds between two records
BATCH = 10_000
SCOPES = 10_000
CLIENTS = 3
SHARES = (0.01, 0.1, 0.5)
SERVER = {"shared_buffers": "2GB", "maintenance_work_mem": "2GB", "max_parallel_maintenance_workers": "2"}


def main() -> None:
    options = parse_options()
    if options.client:
        print(json.dumps(run_client(options)))
        return
    found = json.loads(options.results.read_text()) if options.results.exists() else {}
    for name in options.only or PARTS:
        load = os.getloadavg()[0]
        with open_folder(options.keep, name) as home:
            found[name] = PARTS[name](home, options.count)
        found[name] |= {"records": options.count, "cores": os.cpu_count()}
        found[name] |= {"load before": load, "load after": os.getloadavg()[0]}
        options.results.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(name, json.dumps(found[name], indent=1), flush=True)


@contextmanager
def open_folder(keep: Path | None, name: str) -> Iterator[Path]:
    """A folder of the part's own, which goes at the end unless it is to be kept."""
    if keep is None:
        with folder() as home:
            yield home
        return
    (keep / name).mkdir(parents=True, exist_ok=True)
    yield keep / name


def do_once(home: Path, name: str, count: int, job: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a stage of loading measured, now or when the folder that was kept was loaded."""
    file = home / f"{name}.json"
    if file.exists():
        told: dict[str, Any] = json.loads(file.read_text())
        if told.pop("records") != count:
            raise SystemExit(f"{home} holds another number of records; name another folder with --keep")
        return told
    load = os.getloadavg()[0]
    told = job() | {f"{name}: load before": load, f"{name}: load after": os.getloadavg()[0]}
    file.write_text(json.dumps(told | {"records": count}))
    return told


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", choices=list(PARTS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--keep", type=Path, help="a folder whose data is asked again, or loaded and kept")
    parser.add_argument("--data", type=Path, default=common.DATA, help="where the real texts are")
    parser.add_argument("--client", help="asks the memory at this address; used by the benchmark itself")
    parser.add_argument("--index", default="")
    parser.add_argument("--scopes", type=int, default=1)
    parser.add_argument("--asked", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    common.DATA = options.data
    return options


def measure_one(home: Path, count: int) -> dict[str, Any]:
    """One scope in a file."""
    address = home / "one.db"
    texts = make_texts(count)
    found = do_once(home, "loading", count, lambda: load_one(Memory(address), texts))
    found["bytes per record"] = measure_bytes(home, "one.db*") / count
    found["bytes per record, index cache"] = measure_bytes(home, "*-index/*") / count
    return found | ask_one(home, str(address), "", texts)


def measure_postgres(home: Path, count: int) -> dict[str, Any]:
    """One scope in PostgreSQL, its vectors and words in tables of pgvector."""
    from tests.servers.postgres import Postgres

    server = Postgres(home, **SERVER)
    if not server.data.exists():
        server.create()
    server.start()
    try:
        address = str(server.url())
        texts = make_texts(count)
        found = do_once(home, "loading", count, lambda: load_one(open_memory(address, ""), texts))
        found |= do_once(home, "copying", count, lambda: copy_scope(address))
        found["bytes per record"] = measure_bytes(server.data, "**/*") / count
        return found | ask_one(home, address, "pgvector", texts)
    finally:
        server.stop()


def copy_scope(address: str) -> dict[str, Any]:
    """Makes the tables of pgvector."""
    with open_memory(address, "pgvector") as memory:
        began = time.perf_counter()
        memory.parts.index.rebuild("big")
        return {"copy and HNSW index, s": time.perf_counter() - began}


def measure_many(home: Path, count: int) -> dict[str, Any]:
    """The same number of records in 10,000 scopes of a file, some of which are asked."""
    address = home / "many.db"
    texts = make_texts(count)
    found = do_once(home, "loading", count, lambda: load_many(address, texts))
    found["bytes per record"] = measure_bytes(home, "many.db*") / count
    asked = write_questions(home, texts)
    return found | ask_clients(str(address), "", asked, SCOPES)


def load_many(address: Path, texts: list[str]) -> dict[str, Any]:
    """A call for each scope."""
    each = len(texts) // SCOPES
    with Memory(address) as memory:
        began, used = time.perf_counter(), time.process_time()
        for at in range(SCOPES):
            memory.remember(texts[at * each : (at + 1) * each], scope=f"tenant/{at}", keep_duplicates=True)
        return describe_load(len(texts), began, used)


def load_one(memory: Memory, texts: list[str]) -> dict[str, Any]:
    """Loads in calls of 10,000; then the first recall, which takes in what the index has not seen."""
    began, used = time.perf_counter(), time.process_time()
    with memory:
        for start in range(0, len(texts), BATCH):
            memory.remember(list(make_drafts(texts, start)), scope="big", keep_duplicates=True)
        found = describe_load(len(texts), began, used)
        first = millis(lambda query: memory.recall(query, scope="big"), [texts[7]])[0]
    return found | {"first recall after loading, s": first / 1000}


def describe_load(count: int, began: float, used: float) -> dict[str, Any]:
    return {
        "loaded per second": count / (time.perf_counter() - began),
        "loaded per second of CPU": count / (time.process_time() - used),
    }


def ask_one(home: Path, address: str, index: str, texts: list[str]) -> dict[str, Any]:
    asked = write_questions(home, texts)
    found = ask_clients(address, index, asked, 1)
    matrix = embed_all(texts)
    with open_memory(address, index) as memory:
        found |= measure_recall(memory, texts, matrix)
        found |= measure_filters(memory, texts, matrix)
    return found


def measure_recall(memory: Memory, texts: list[str], matrix: Any) -> dict[str, Any]:
    """Beside the floor: a float32 scan over all vectors with the ten best."""
    asked = queries(texts, 120, seed=9)
    for query in asked[:20]:
        memory.recall(query, scope="big")
    spent = time_each(lambda query: memory.recall(query, scope="big"), asked[20:])
    vectors = [np.asarray(row, np.float32) for row in memory.parts.embedder.embed(asked[20:50])]
    floor = statistics.median(millis(lambda vector: find_nearest(matrix, vector), vectors))
    found = {"floor: numpy float32 scan, ms": floor}
    found |= describe_times("recall", spent)
    found["recall / scan"] = found["recall p50 ms"] / floor
    found["recall@10 of the dense arm"] = measure_share(memory, matrix, vectors, 0)
    return found


def measure_filters(memory: Memory, texts: list[str], matrix: Any) -> dict[str, Any]:
    """The latest 1, 10 and 50 %."""
    asked = queries(texts, 60, seed=10)
    vectors = [np.asarray(row, np.float32) for row in memory.parts.embedder.embed(asked[:20])]
    found: dict[str, Any] = {}
    for share in SHARES:
        first = int(len(texts) * (1 - share))
        since = BEGAN + STEP * first
        spent = time_each(filtered_recall(memory, since), asked)
        found |= describe_times(f"filter of {share:.0%},", spent)
        found[f"filter of {share:.0%}, recall@10"] = measure_share(memory, matrix, vectors, first)
    return found


def filtered_recall(memory: Memory, since: float) -> Callable[[str], object]:
    return lambda query: memory.recall(query, scope="big", since=since)


def measure_share(memory: Memory, matrix: Any, vectors: list[Any], first: int) -> float:
    """The share of the exact ten nearest, from record `first` on, among the ten best of the dense arm."""
    where = Where(since=BEGAN + STEP * first) if first else None
    shares = []
    for vector in vectors:
        probe = Probe(scope=Scope("big"), now=BEGAN + 1e9, vector=vector, where=where)
        found = memory.parts.index.search(probe)
        best = found.seq[np.argsort(-found.dense)[:10]].tolist()
        mine = set()
        for record in memory.parts.store.read("big", best):
            if record is not None:
                mine.add(int(record.id.removeprefix("r")))
        exact = find_nearest(matrix[first:], vector) + first
        shares.append(len(mine & set(exact.tolist())) / 10)
    return statistics.mean(shares)


def find_nearest(matrix: Any, vector: Any) -> Any:
    scores = matrix @ vector
    return np.argpartition(-scores, 10)[:10]


def ask_clients(address: str, index: str, asked: Path, scopes: int) -> dict[str, Any]:
    """One new process, then three at once, each with questions of its own."""
    found: dict[str, Any] = {}
    for count in (1, CLIENTS):
        began = [start_client(address, index, asked, scopes, seed) for seed in range(count)]
        told = []
        for client in began:
            output, _ = client.communicate()
            if client.returncode:
                raise SystemExit(f"a client ended with {client.returncode}")
            told.append(json.loads(output))
        name = f"{count} new process" + ("es at once" if count > 1 else "")
        for key in told[0]:
            found[f"{name}: {key}"] = statistics.mean(one[key] for one in told)
    return found


def start_client(address: str, index: str, asked: Path, scopes: int, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--client", address, "--index", index, "--asked", str(asked)]
    command += ["--scopes", str(scopes), "--seed", str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run_client(options: argparse.Namespace) -> dict[str, float]:
    """Opens, asks for the first time, then 300 times, and the same again when its scopes are warm."""
    pick = random.Random(options.seed)
    asked = []
    for query in pick.sample(json.loads(options.asked.read_text()), 300):
        scope = "big"
        if options.scopes > 1:
            scope = f"tenant/{pick.randrange(options.scopes)}"
        asked.append((query, scope))
    began, used = time.perf_counter(), time.process_time()
    with open_memory(options.client, options.index) as memory:
        memory.recall(asked[0][0], scope=asked[0][1])
        found = {"open and first recall, s": time.perf_counter() - began}
        found["open and first recall, s of CPU"] = time.process_time() - used
        ask: Callable[[tuple[str, str]], object] = lambda one: memory.recall(one[0], scope=one[1])  # noqa: E731
        found |= describe_times("first round", time_each(ask, asked))
        found |= describe_times("second round", time_each(ask, asked))
        found["memory MB"] = read_memory()
    return found


Spent = tuple[list[float], list[float]]  # ms of the clock, and of the CPU


def time_each(run: Callable[[Any], object], items: list[Any]) -> Spent:
    clock, cpu = [], []
    for item in items:
        began, used = time.perf_counter(), time.process_time()
        run(item)
        cpu.append((time.process_time() - used) * 1000)
        clock.append((time.perf_counter() - began) * 1000)
    return clock, cpu


def describe_times(name: str, spent: Spent) -> dict[str, float]:
    clock, cpu = spent
    return {
        f"{name} p50 ms": statistics.median(clock),
        f"{name} p95 ms": statistics.quantiles(clock, n=20)[18],
        f"{name} p50 ms of CPU": statistics.median(cpu),
    }


def open_memory(address: str, index: str) -> Memory:
    if index:
        return Memory(address, settings=Settings(index=index))
    return Memory(address)


def make_texts(count: int) -> list[str]:
    found, _ = real_texts(count)
    random.Random(3).shuffle(found)
    return found


def make_drafts(texts: list[str], start: int) -> Iterator[Draft]:
    for at in range(start, min(start + BATCH, len(texts))):
        yield Draft(id=f"r{at}", text=texts[at], session=f"s{at // 25}", occurred=BEGAN + STEP * at)


def embed_all(texts: list[str]) -> Any:
    embedder = embedder_of(None)
    rows = np.zeros((len(texts), embedder.width), np.float32)
    for start in range(0, len(texts), BATCH):
        rows[start : start + BATCH] = embedder.embed(texts[start : start + BATCH])
    return rows


def write_questions(home: Path, texts: list[str]) -> Path:
    file = home / "questions.json"
    file.write_text(json.dumps(queries(texts, 1000)))
    return file


def measure_bytes(home: Path, files: str) -> int:
    total = 0
    for file in home.glob(files):
        if file.is_file():
            total += file.stat().st_size
    return total


def read_memory() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise LookupError("/proc/self/status has no VmRSS")


PARTS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "sqlite-one": measure_one,
    "sqlite-many": measure_many,
    "postgres": measure_postgres,
}

if __name__ == "__main__":
    main()
