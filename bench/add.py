"""Writing: one by one (surviving kill -9, and power loss), from eight threads, and in bulk."""

from __future__ import annotations

import threading
import time

from common import BareSqlite, folder, rate, record, texts
from eidet import Memory
from eidet.models.embed import embedder_of


def main() -> None:
    corpus = texts(20_000)
    with folder() as home:
        embedder = embedder_of(None)
        embedder.embed(corpus[-5000:])  # the words of the language are known, the texts are new
        embed = rate(lambda text: embedder.embed([text]), corpus[5000:8000])
        bare = rate(BareSqlite(home / "bare.db", "NORMAL").insert, corpus[:5000])
        with Memory(home / "one.db") as memory:
            memory.remember(corpus[-1])
            one = rate(memory.remember, corpus[:5000])
        floor = 1 / (1 / embed + 1 / bare)
        record(
            "add one by one",
            {
                "remember per second": one,
                "floor: embedding per second": embed,
                "floor: bare insert+commit per second": bare,
                "times the floor (goal 2.5)": floor / one,
            },
        )
        with Memory(home / "bulk.db") as memory:
            memory.remember(corpus[-1])
            start = time.perf_counter()
            memory.remember(corpus[:10_000])
            record(
                "add in bulk",
                {"remember 10,000 in one call, per second": 10_000 / (time.perf_counter() - start)},
            )
        power(home, corpus)


def power(home, corpus) -> None:  # type: ignore[no-untyped-def]
    bare = rate(BareSqlite(home / "bare-full.db", "FULL").insert, corpus[:400])
    with Memory(home / "power.db", durability="power") as memory:
        memory.remember(corpus[-1])
        one = rate(memory.remember, corpus[:400])
        parts = [corpus[1000 + i * 300 : 1300 + i * 300] for i in range(8)]
        threads = [threading.Thread(target=lambda part=part: rate(memory.remember, part)) for part in parts]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        many = 2400 / (time.perf_counter() - start)
    record(
        "add with power-loss durability",
        {
            "one thread, per second": one,
            "eight threads, per second": many,
            "floor: bare FULL commits per second": bare,
            "one thread / floor (goal 0.8)": one / bare,
            "eight threads / floor (goal 3)": many / bare,
        },
    )


if __name__ == "__main__":
    main()
