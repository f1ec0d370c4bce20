"""Many tenants: 10,000 scopes of 100 records, warm and at the first touch."""

from __future__ import annotations

import random

from common import folder, median_ms, queries, record, texts
from eidet import Memory


def main() -> None:
    count, each = 10_000, 100
    with folder() as home:
        corpus = texts(20_000)
        pick = random.Random(3)
        with Memory(home / "scopes.db") as memory:
            for at in range(count):
                start = pick.randrange(len(corpus) - each)
                memory.remember(corpus[start : start + each], scope=f"tenant/{at}")
        asked = queries(corpus, 400)
        with Memory(home / "scopes.db") as memory:
            memory.recall(asked[0], scope="tenant/0")
            places = [(query, f"tenant/{pick.randrange(1, count)}") for query in asked]
            first = median_ms(lambda ask: memory.recall(ask[0], scope=ask[1]), places)
            warm = median_ms(lambda ask: memory.recall(ask[0], scope=ask[1]), places)
    record("10,000 scopes of 100", {"first touch p50 ms (goal 2)": first, "warm p50 ms (goal 0.4)": warm})


if __name__ == "__main__":
    main()
