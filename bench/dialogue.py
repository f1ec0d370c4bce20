"""Reading with all signals on: questions that name a speaker, a time and ask when, over conversations."""

from __future__ import annotations

import random
import statistics
from datetime import UTC, datetime, timedelta

from common import median_ms, millis, queries, real_texts, record
from eidet import Draft, Memory
from recall import scan_ms

BEGAN = datetime(2024, 1, 7, 12, tzinfo=UTC)
TURNS = 20  # of a session
SPEAKERS = ("Ann Berg", "Ben Ito")
FORMS = ("When did Ann {}?", "What did Ben say about {} in March?", "Which {} did Ann see last week?")


def main() -> None:
    for size in (600, 10_000):
        measure(size)


def measure(size: int) -> None:
    corpus, _ = real_texts(size)
    asked = questions(corpus, 300)
    with Memory() as memory:
        memory.remember(list(map(turn, range(size), corpus)))
        first = millis(lambda q: memory.recall(q, now=BEGAN + timedelta(days=120)), asked[:1])[0]
        spent = sorted(millis(lambda q: memory.recall(q, now=BEGAN + timedelta(days=120)), asked))
        written = median_ms(lambda at: again(memory, size + at, asked[at]), list(range(100)))
        scan = scan_ms(size)
        record(
            f"dialogue of {size:,} turns",
            {
                "recall p50 ms": statistics.median(spent),
                "recall p95 ms": spent[int(len(spent) * 0.95)],
                "first recall, which learns the words, ms": first,
                "remember one turn, then recall, p50 ms": written,
                "floor: numpy float32 scan with top 10, ms": scan,
            },
        )


def turn(at: int, text: str) -> Draft:
    return Draft(
        text=text + ("?" if at % 5 == 0 else " yesterday." if at % 7 == 0 else "."),
        who=SPEAKERS[at % 2],
        session=f"s{at // TURNS}",
        occurred=BEGAN + timedelta(hours=at),
        kind="message",
    )


def again(memory: Memory, at: int, query: str) -> None:
    memory.remember([turn(at, query)])
    memory.recall(query)


def questions(corpus: list[str], count: int) -> list[str]:
    pick = random.Random(3)
    return [pick.choice(FORMS).format(words) for words in queries(corpus, count)]


if __name__ == "__main__":
    main()
