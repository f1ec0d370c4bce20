"""What trust costs: one function per claim, `python bench/trust.py --only audit`."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from common import folder, median_ms, queries, record, texts
from eidet import Audit, Memory, Settings
from eidet.store import verbs
from eidet.trust.audit.verify import verify
from eidet.trust.privacy import Policy, guard, poison

WRITES = 2000


def per_write(memories: dict[str, Memory], corpus: list[str]) -> dict[str, float]:
    """The median milliseconds of a `remember`; they take turns, so that noise of the machine hits all alike.

    Each text goes to one of them only: a second one would find it embedded.
    """
    spent: dict[str, list[float]] = {name: [] for name in memories}
    turns = list(memories.items())
    for number, text in enumerate(corpus):
        name, memory = turns[(number + number // len(turns)) % len(turns)]
        start = time.perf_counter()
        memory.remember(text)
        spent[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(values) for name, values in spent.items()}


def audit() -> None:
    """`remember` into a file with an audit log is at most 1.2 times as slow as without."""
    corpus = texts(WRITES * 4)
    with folder() as home:
        logs: dict[str, Audit | None] = {
            "plain": None,
            "audit": Audit(path=home / "audit.jsonl"),
            "audit with a key": Audit(path=home / "keyed.jsonl", key="a key of many letters"),
        }
        found = _measured(home, logs, corpus[: WRITES * 3])
        synced: dict[str, Audit | None] = {"audit with sync": Audit(path=home / "synced.jsonl", sync=True)}
        found |= _measured(home, synced, corpus[WRITES * 3 : WRITES * 3 + 300])  # alone: the disk slows all
        entries, seconds = _verified(home / "audit.jsonl")
    record(
        "trust: audit",
        {f"ms a remember, {name}": ms for name, ms in found.items()}
        | {f"times as slow, {name}": ms / found["plain"] for name, ms in found.items() if name != "plain"}
        | {"entries verified a second": entries / seconds},
    )


def _measured(home: Path, logs: dict[str, Audit | None], corpus: list[str]) -> dict[str, float]:
    memories = {name: Memory(home / f"{name}.db", audit=log) for name, log in logs.items()}
    for memory in memories.values():
        memory.remember("the first write sets everything up")
    found = per_write(memories, corpus)
    for memory in memories.values():
        memory.close()
    return found


def _verified(path: Path) -> tuple[int, float]:
    start = time.perf_counter()
    found = verify(path)
    assert found.ok
    return found.entries, time.perf_counter() - start


def forget() -> None:
    """Forgetting a scope of 100,000 records takes at most 10 s, file bytes included."""
    corpus, found = texts(20_000, length=12), {}
    with folder() as home, Memory(home / "forget.db", embedder="hashing:16") as memory:
        for turn in range(5):
            memory.remember([f"{text} {turn}" for text in corpus], scope="doomed", keep_duplicates=True)
        memory.remember(corpus[:2000], scope="kept")
        ids = [kept.id for kept in memory.find(scope="doomed", limit=20)]
        start = time.perf_counter()
        for id in ids:
            memory.forget(id, scope="doomed")
        found["ms to forget one of 100,000"] = (time.perf_counter() - start) / len(ids) * 1000
        start = time.perf_counter()
        gone = memory.forget(scope="doomed", everything=True)
        found["s to forget 100,000 (goal 10)"] = time.perf_counter() - start
        assert gone == 100_000 - len(ids)
        assert not memory.count(scope="doomed")
    record("trust: forget", found)


def tombstone() -> None:
    """Whether a text was forgotten costs a `remember` at most 20 µs."""
    corpus = texts(6000)
    with folder() as home:
        memories = {name: Memory(home / f"{name}.db") for name in ("none forgotten", "10,000 forgotten")}
        many = [f"{text} long ago" for text in texts(10_000, seed=5, length=8)]
        memories["10,000 forgotten"].remember(many, scope="default")
        memories["10,000 forgotten"].forget(scope="default", everything=True, for_good=True)
        for memory in memories.values():
            memory.remember("the first write sets everything up")
        found = per_write(memories, corpus)
        checks = {name: _check_micros(memory, corpus) for name, memory in memories.items()}
        for memory in memories.values():
            memory.close()
    record(
        "trust: tombstone",
        {f"µs to check, {name} (goal 20)": micros for name, micros in checks.items()}
        | {f"ms a remember, {name}": ms for name, ms in found.items()},
    )


def _check_micros(memory: Memory, corpus: list[str]) -> float:
    """What the check adds to a write that changes nothing else: the same record again, with and without."""
    parts = memory.parts
    kept = memory.find(limit=1)
    spent: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(len(corpus)):
        watched = turn % 2 == 0
        watch = parts.tombstones.over_said(kept) if watched else None
        start = time.perf_counter()
        verbs.put(parts.store, kept, now=kept[0].created, watch=watch)
        spent[watched].append((time.perf_counter() - start) * 1e6)
    return statistics.median(spent[True]) - statistics.median(spent[False])


def pii() -> None:
    """A text of 30 words is looked through for personal data in at most 0.2 ms; what that adds to a write."""
    plain, policy = texts(3000, length=30), Policy()
    mixed = [f"{text} on 12.05.2026 at 10:30, order 88412" for text in texts(3000, length=24)]
    found = {
        "ms a scan, 30 words (goal 0.2)": median_ms(lambda text: guard(text, policy), plain),
        "ms a scan, 30 words with dates and numbers (goal 0.2)": median_ms(
            lambda text: guard(text, policy), mixed
        ),
        "ms a scan for orders, 30 words": median_ms(poison, plain),
    }
    writes = per_write_with(
        {
            "plain": Settings(poison="off"),
            "poison=untrusted": Settings(),
            "poison=all": Settings(poison="all"),
            "guard=redact": Settings(poison="off", guard="redact"),
        },
        texts(4 * WRITES, seed=9),
    )
    record(
        "trust: pii",
        found
        | {f"ms a remember, {name}": ms for name, ms in writes.items()}
        | {f"times as slow, {name}": ms / writes["plain"] for name, ms in writes.items() if name != "plain"},
    )


def per_write_with(settings: dict[str, Settings], corpus: list[str]) -> dict[str, float]:
    with folder() as home:
        memories = {name: Memory(home / f"{name}.db", settings=how) for name, how in settings.items()}
        for memory in memories.values():
            memory.remember("the first write sets everything up")
        found = per_write(memories, corpus)
        for memory in memories.values():
            memory.close()
    return found


def sealed() -> None:
    """`remember` and `recall` of a sealed file of 10,000 records take at most 1.5 times as long."""
    corpus = texts(10_600, seed=5)
    asked = queries(corpus, 200)
    found: dict[str, float] = {}
    with folder() as home:
        memories = {}
        for name, key in {"plain": None, "sealed": bytes(range(32))}.items():
            memories[name], first = _filled(home, name, key, corpus[:10_000])
            found[f"ms of the first recall, {name}"] = first
        writes, reads = per_write(memories, corpus[10_000:]), per_recall(memories, asked)
        for memory in memories.values():
            memory.close()
    for verb, spent in (("remember", writes), ("recall", reads)):
        found |= {f"ms a {verb}, {name}": ms for name, ms in spent.items()}
        found[f"times as slow, {verb}"] = spent["sealed"] / spent["plain"]
    record("trust: sealed", found)


def _filled(home: Path, name: str, key: bytes | None, corpus: list[str]) -> tuple[Memory, float]:
    """A file of its own, closed and opened again, and what its first recall takes: it reads the scope."""
    path, large = home / f"{name}.db", Settings(sidecar_from=10**9)
    with Memory(path, key=key) as memory:
        for start in range(0, len(corpus), 1000):
            memory.remember(corpus[start : start + 1000])
    memory = Memory(path, key=key, settings=large)
    memory.recall("anything", scope="empty")  # loads what has nothing to do with the file
    return memory, median_ms(memory.recall, [corpus[0]])


def per_recall(memories: dict[str, Memory], asked: list[str]) -> dict[str, float]:
    """The median milliseconds of a `recall`, taking turns."""
    spent: dict[str, list[float]] = {name: [] for name in memories}
    for query in asked:
        for name, memory in memories.items():
            spent[name].append(median_ms(memory.recall, [query]))
    return {name: statistics.median(values) for name, values in spent.items()}


CLAIMS: dict[str, Callable[[], None]] = {
    "sealed": sealed,
    "audit": audit,
    "forget": forget,
    "tombstone": tombstone,
    "pii": pii,
}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--only", choices=sorted(CLAIMS), action="append", help="several add up")
    for name in asked.parse_args().only or CLAIMS:
        CLAIMS[name]()


if __name__ == "__main__":
    main()
