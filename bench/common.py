"""What the benchmarks share: texts, clocks, floors, and a file of results."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import platform
import random
import re
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")

RESULTS = Path(__file__).parent / "results.json"
MET = 3_000  # sentences that a process has stored before it is measured
DATA = Path(__file__).parents[2] / "shared" / "data"

_SYLLABLES = [
    *("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui"),
    *("ro", "su", "ta", "ve", "wi", "xo", "zu", "bri", "cla", "dre", "fli", "gro"),
]


def words(count: int = 30_000) -> list[str]:
    """Pronounceable words, the same each time."""
    pick = random.Random(7)
    found = {"".join(pick.choices(_SYLLABLES, k=pick.randint(2, 4))) for _ in range(count * 2)}
    return sorted(found)[:count]


def texts(count: int, *, seed: int = 1, length: int = 30) -> list[str]:
    """Texts of `length` words with the frequencies of natural language (Zipf)."""
    pick, known = random.Random(seed), words()
    pick.shuffle(known)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(known))))
    return [" ".join(pick.choices(known, cum_weights=weights, k=length)) for _ in range(count)]


def queries(of: list[str], count: int, *, seed: int = 2) -> list[str]:
    """Four words of some text each, as a question would have them."""
    pick = random.Random(seed)
    long = [text for text in of if len(text.split()) >= 4]
    return [" ".join(pick.sample(pick.choice(long).split(), 4)) for _ in range(count)]


def real_texts(count: int) -> tuple[list[str], int]:
    """Real sentences and pairs of them as far as the data goes, then made-up texts; how many are real."""
    found: dict[str, None] = {}
    pairs: dict[str, None] = {}
    path = DATA / "longmemeval-dev.json.gz"
    if path.exists():
        for question in json.loads(gzip.decompress(path.read_bytes())):
            for turn in itertools.chain.from_iterable(question["haystack_sessions"]):
                said = [s for s in re.split(r"(?<=[.!?])\s+|\n+", turn["content"]) if len(s) > 20]
                found.update(dict.fromkeys(said))
                pairs.update(dict.fromkeys(map(" ".join, itertools.pairwise(said))))
    found.update(pairs)
    made = texts(max(0, count - len(found)))
    return (list(found) + made)[:count], min(count, len(found))


def sentences(count: int) -> list[str]:
    """What people said, where the data is at hand: a process that has met some knows most words of the next.

    In `texts` every third word is new to it.
    """
    found, real = real_texts(20_000)
    return random.Random(3).sample(found[: max(real, count)], count)


def median_ms(run: Callable[[Any], object], items: list[Any]) -> float:
    return statistics.median(millis(run, items))


def millis(run: Callable[[Any], object], items: list[Any]) -> list[float]:
    spent = []
    for item in items:
        start = time.perf_counter()
        run(item)
        spent.append((time.perf_counter() - start) * 1000)
    return spent


def rate(run: Callable[[Any], object], items: list[Any]) -> float:
    """Items per second, one after the other."""
    start = time.perf_counter()
    for item in items:
        run(item)
    return len(items) / (time.perf_counter() - start)


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="eidet-bench-") as name:
        yield Path(name)


class BareSqlite:
    """The floor of a write: one INSERT and COMMIT of the same bytes into one table, nothing else."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(f"PRAGMA synchronous = {synchronous}")
        self.connection.execute(
            "CREATE TABLE bare (seq INTEGER PRIMARY KEY, id TEXT, text TEXT, vector BLOB)"
        )

    def insert(self, text: str) -> None:
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        run(
            "INSERT INTO bare (id, text, vector) VALUES (?, ?, ?)", (f"{time.time_ns():x}", text, bytes(1124))
        )
        run("COMMIT")


def record(name: str, values: dict[str, Any]) -> None:
    """Adds a result to the file, and shows it."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known["machine"] = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "arch": platform.machine(),
    }
    known[name] = values
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    print(name)
    for key, value in values.items():
        print(f"  {key:<42} {value:,.3f}" if isinstance(value, float) else f"  {key:<42} {value}")
