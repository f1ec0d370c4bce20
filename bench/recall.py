"""Reading: hybrid recall of the top 10 in one scope, from 1,000 to 1,000,000 records, and with a filter."""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from pathlib import Path

import numpy as np

from common import folder, median_ms, millis, queries, record, texts
from eidet import Draft, Memory


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    sizes = parser.parse_args().sizes
    with folder() as home:
        for size in sizes:
            measure(home / f"{size}.db", size)


def fill(memory: Memory, size: int) -> list[str]:
    """Records of 100 sessions, so that a session is a filter that keeps one percent."""
    sample: list[str] = []
    for at in range(0, size, 10_000):
        corpus = texts(min(10_000, size - at), seed=at + 1)
        drafts = [Draft(text=text, session=f"s{(at + i) % 100}") for i, text in enumerate(corpus)]
        memory.remember(drafts, keep_duplicates=True)
        sample += corpus[:200]
    return sample


def measure(path: Path, size: int) -> None:
    base = peak_mb()
    with Memory(path) as memory:
        asked = queries(fill(memory, size), 200)
        before, start = resident_mb(), time.perf_counter()
        memory.recall(asked[0])
        took, grown = time.perf_counter() - start, resident_mb() - before
        spent = sorted(millis(memory.recall, asked))
        filtered = median_ms(lambda q: memory.recall(q, session="s7"), asked[:100])
        scan = scan_ms(size)
        record(
            f"recall at {size:,}",
            {
                "recall p50 ms": statistics.median(spent),
                "recall p95 ms": spent[int(len(spent) * 0.95)],
                "with a 1 % filter, p50 ms": filtered,
                "floor: numpy float32 scan with top 10, ms": scan,
                "recall / scan": statistics.median(spent) / scan,
                "index in RAM, MB": memory.admin.stats()["index"]["memory_bytes"] / 2**20,
                "first recall after loading, s (goal 0.3 at 100,000)": took,
                "process grew on first recall, MB": grown,
                "process before, MB": base,
            },
        )


def scan_ms(size: int) -> float:
    matrix = np.random.default_rng(0).standard_normal((size, 256), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)

    def scan(row: int) -> np.ndarray:
        scores = matrix @ matrix[row]
        best = np.argpartition(scores, -10)[-10:]
        return best[np.argsort(-scores[best])]

    return median_ms(scan, list(range(min(size, 100))))


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
