"""Four processes with four threads each on one file: nothing lost, nobody locked out, all see all."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.faults import children
from tests.faults.children import opened
from tests.faults.nursery import Child, Nursery
from tests.making import rounds

PROCESSES = 4
SECONDS = rounds(2.5, 20)
LISTENING_SECONDS = 60


@dataclass
class Run:
    """What the processes told, and what they left in the file."""

    path: Path
    told: dict[int, list[Any]] = field(default_factory=dict)
    missed: dict[int, list[Any]] = field(default_factory=dict)

    def of(self, kind: str) -> list[Any]:
        return [said for told in self.told.values() for said in told if said[0] == kind]

    def counts(self) -> str:
        kinds = {number: dict(Counter(said[0] for said in told)) for number, told in self.told.items()}
        slowest = max((said[3] for said in self.of("wrote")), default=0.0)
        return f"per process: {kinds}; slowest write {slowest * 1000:.0f} ms"


def listen(number: int, children: list[Child], heard: list[Any]) -> None:
    """Notes what a child tells, and asks the others in turn for every third record it has written."""
    others = [child for child in children if child is not children[number]]
    while (said := children[number].hear()) != ["stopped"]:
        heard.append(said)
        if said[0] == "wrote" and len(heard) % 3 == 0:
            others[len(heard) // 3 % len(others)].say("ask", *said[1:3])


@pytest.fixture(scope="module")
def run(start_for_module: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = Run(tmp_path_factory.mktemp("shared") / "m.db")
    with opened(str(run.path)) as memory:
        memory.remember(data={"n": 0}, id="counter", scope="counters")
    sharers = [start_for_module(children.share, run.path, n, SECONDS) for n in range(PROCESSES)]
    run.told = {n: [] for n in range(PROCESSES)}
    for child in sharers:
        assert child.hear() == ["ready"]
    listeners = [
        threading.Thread(target=listen, args=(n, sharers, run.told[n]), daemon=True) for n in range(PROCESSES)
    ]
    for child, listener in zip(sharers, listeners, strict=True):
        child.say("go")
        listener.start()
    for listener in listeners:
        listener.join(SECONDS + LISTENING_SECONDS)
    chance = random.Random(4)
    wrote = {n: [said[1:3] for said in told if said[0] == "wrote"] for n, told in run.told.items()}
    some = [pair for written in wrote.values() for pair in chance.sample(written, min(20, len(written)))]
    for child in sharers:
        child.say("finals", some)
    run.missed = {n: child.result() for n, child in enumerate(sharers)}
    return run


def test_nobody_gets_an_error_or_is_locked_out(run: Run) -> None:
    assert run.of("error") == [], run.counts()


def test_every_acknowledged_record_is_there_exactly_once(run: Run) -> None:
    acknowledged = {id: word for _, id, word, _ in run.of("wrote")}
    with opened(str(run.path)) as memory:
        stored = {record.id: record.text for record in memory.find(limit=1_000_000)}
        assert memory.admin.check() == []
    assert len(acknowledged) == len(run.of("wrote")), run.counts()
    assert stored == {id: f"the {word} seen by many processes" for id, word in acknowledged.items()}
    assert len(set(stored.values())) == len(stored) > 50 * SECONDS, run.counts()


def test_no_change_of_a_shared_record_is_lost(run: Run) -> None:
    with opened(str(run.path)) as memory:
        counter = memory.get("counter", scope="counters")
    assert counter is not None
    assert counter.data == {"n": len(run.of("raised"))}, run.counts()
    assert counter.version == 1 + len(run.of("raised"))


def test_everyone_finds_what_the_others_acknowledged_at_once(run: Run) -> None:
    looked = run.of("looked")
    assert len(looked) > 5 * SECONDS, run.counts()
    assert [word for _, word, found, _ in looked if not found] == [], run.counts()
    for number, told in run.told.items():
        writers = {said[1][1] for said in told if said[0] == "looked"}
        assert writers == {str(n) for n in range(PROCESSES)} - {str(number)}


def test_at_the_end_everyone_finds_something_of_everyone(run: Run) -> None:
    assert run.missed == {n: ["missed", [], []] for n in range(PROCESSES)}, run.counts()
