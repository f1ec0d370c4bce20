"""The life of 100,000 memories: moving them to the long tier in the background, while recalls go on.

    python bench/life.py [--records 100000] [--locomo FILE]

Tells the size of the file before and after, how long it took, the memory it took, what recalls cost
meanwhile, and how much of LoCoMo's gold the long tier alone still finds.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import folder, queries, record, texts
from eidet import Memory
from eidet.core.settings import Upkeep
from eidet.eval import read_cases

DAY = 86_400.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--only", choices=["moves", "locomo"])
    given = parser.parse_args()
    if given.only != "locomo":
        record("life of memories", moves(given.records))
    if given.locomo and given.only != "moves":
        record("life of memories: LoCoMo", locomo(given.locomo))


def moves(count: int) -> dict[str, Any]:
    said = texts(count)
    asked = queries(said, 400)
    now = [1_700_000_000.0]
    with folder() as place:
        path = place / "memory.db"
        with Memory(path, clock=lambda: now[0]) as memory:
            for start in range(0, count, 2000):
                memory.remember(said[start : start + 2000], keep_duplicates=True)
        before = path.stat().st_size
        with Memory(path, clock=lambda: now[0]) as memory:
            memory.recall("warm")
            quiet = _costs(memory.recall, asked[:200])
            held = _resident()
            now[0] += 1000 * DAY
            busy, seconds, peak = _meanwhile(memory, asked[200:])
            stats = memory.admin.stats()
            after = _costs(memory.recall, asked[:200])
        size = path.stat().st_size
    return {
        "records": count,
        "seconds": seconds,
        "peak MB above the open memory": (peak - held) / 2**20,
        "recall p50 quiet, ms": statistics.median(quiet),
        "recall p50 meanwhile, ms": statistics.median(busy),
        "recall p95 meanwhile, ms": sorted(busy)[int(len(busy) * 0.95)],
        "recalls meanwhile": len(busy),
        "recall p50 afterwards, ms": statistics.median(after),
        "file before, MB": before / 2**20,
        "file after, MB": size / 2**20,
        "file ratio": size / before,
        "tiers": json.dumps(stats["tiers"]),
    }


def _meanwhile(memory: Memory, asked: list[str]) -> tuple[list[float], float, int]:
    """Recalls, ten a second, until the background upkeep has gone through once."""
    busy: list[float] = []
    peak, began = 0, time.perf_counter()
    with memory.upkeep.background(
        every=3600, settings=Upkeep(), only=("expire", "forget", "promote", "move")
    ) as worker:
        at = 0
        while worker.rounds == 0 and not worker.errors:
            busy += _costs(memory.recall, [asked[at % len(asked)]])
            peak = max(peak, _resident())
            at += 1
            threading.Event().wait(0.05)
        seconds = time.perf_counter() - began
        print(worker.stats())
    return busy, seconds, peak


def _costs(ask: Callable[[str], object], queries: list[str]) -> list[float]:
    spent = []
    for query in queries:
        began = time.perf_counter()
        ask(query)
        spent.append((time.perf_counter() - began) * 1000)
    return spent


def _resident() -> int:
    """Bytes of this process in RAM now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def locomo(file: Path) -> dict[str, Any]:
    """recall@10 at full detail, and of the same memories in the long tier alone."""
    full, lowered = [], []
    for case in read_cases(file):
        now = [max(float(draft.occurred) for draft in case.records) + 1.0]  # type: ignore[arg-type]
        with Memory(clock=lambda now=now: now[0]) as memory:
            memory.remember(list(case.records), scope=case.scope, keep_duplicates=True)
            full += _found(memory, case)
            now[0] += 10_000 * DAY
            memory.upkeep.maintain(only="move")
            now[0] -= 10_000 * DAY
            lowered += _found(memory, case)
    return {
        "questions": len(full),
        "R@10 full": statistics.mean(full),
        "R@10 long tier": statistics.mean(lowered),
        "ratio": statistics.mean(lowered) / statistics.mean(full),
    }


def _found(memory: Memory, case: Any) -> list[float]:
    shares = []
    for question in case.questions:
        hits = memory.recall(question.text, scope=case.scope, limit=10, now=question.asked)
        shares.append(len({hit.id for hit in hits} & set(question.gold)) / len(question.gold))
    return shares


if __name__ == "__main__":
    main()
