"""CPU time of a recall over five scopes beside the largest of them alone; both take turns in one process.

Questions that the process has not met cost more, as their words are compared first: each way gets its own.
Then both ways are asked the same ones again.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence

from common import folder, queries, real_texts, record
from eidet import Memory

LARGEST = (10_000, 50_000)
OTHERS = {"team/core": 2_000, "team/sales": 1_000, "family": 500, "club": 100}
WARM, ROUND, ROUNDS = 40, 40, 12


def main() -> None:
    for size in LARGEST:
        measure({"ann": size, **OTHERS})


def measure(sizes: dict[str, int]) -> None:
    texts, _ = real_texts(sum(sizes.values()))
    random.Random(4).shuffle(texts)
    with folder() as home, Memory(home / "memory.db") as memory:
        start = 0
        for scope, size in sizes.items():
            memory.remember(texts[start : start + size], scope=scope, keep_duplicates=True)
            start += size
        asked = queries(texts, WARM + ROUND * ROUNDS)
        ways: dict[str, str | list[str]] = {"largest": "ann", "all five": list(sizes)}
        for scope in ways.values():
            spend(memory, asked[:WARM], scope)
        rounds = [asked[at : at + ROUND] for at in range(WARM, len(asked), ROUND)]
        new = {
            name: statistics.median(spend(memory, some, scope) for some in rounds[at::2])
            for at, (name, scope) in enumerate(ways.items())
        }
        again = {
            name: statistics.median(spend(memory, some, scope) for some in rounds)
            for name, scope in ways.items()
        }
    for asking, spent in {"new questions": new, "asked again": again}.items():
        times = {"times (goal 1.5)": spent["all five"] / spent["largest"]}
        figures = {f"{name}, CPU ms": millis for name, millis in spent.items()}
        record(f"recall over five scopes, the largest of {sizes['ann']:,}, {asking}", figures | times)


def spend(memory: Memory, asked: Sequence[str], scope: str | list[str]) -> float:
    """CPU milliseconds of one recall."""
    began = time.process_time()
    for query in asked:
        memory.recall(query, scope=scope)
    return (time.process_time() - began) * 1000 / len(asked)


if __name__ == "__main__":
    main()
