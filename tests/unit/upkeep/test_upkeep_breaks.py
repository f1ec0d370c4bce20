"""Upkeep in the background holds still while somebody asks, but not for good."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from eidet import Memory
from eidet.core.foreground import Foreground
from eidet.core.settings import Upkeep
from eidet.upkeep.curve import DAY
from eidet.upkeep.lifecycle import MOVES
from eidet.upkeep.worker import COURTESY, Breaks

NOW = 1_700_000_000.0


def never_stop(seconds: float) -> bool:
    del seconds
    return False


def test_nobody_is_waited_for_while_nobody_asks() -> None:
    foreground = Foreground()
    with foreground.enter():
        assert foreground.busy
    assert foreground.wait_until_idle(10.0) == 0.0


def test_waiting_ends_with_the_last_who_asks() -> None:
    foreground, ended = Foreground(), threading.Event()

    def wait() -> None:
        foreground.wait_until_idle(60.0)
        ended.set()

    with foreground.enter():
        with foreground.enter():
            waiting = threading.Thread(target=wait)
            waiting.start()
        assert not ended.wait(0.05)
    assert ended.wait(30.0)
    waiting.join()


def test_constant_recalls_cannot_stop_upkeep_for_good() -> None:
    foreground = Foreground()
    breaks = Breaks(never_stop, foreground)
    with foreground.enter():
        breaks.give_way()
        began = time.perf_counter()
        for _ in range(1000):
            breaks.give_way()
        assert time.perf_counter() - began < 1000 * COURTESY / 4


def test_upkeep_ends_although_somebody_asks_all_the_time(tmp_path: Path) -> None:
    clock = [NOW]
    with Memory(tmp_path / "memory.db", embedder="hashing:16", clock=lambda: clock[0]) as memory:
        memory.remember([f"number {n}" for n in range(200)])
        clock[0] += 1000 * DAY
        with (
            memory._parts.foreground.enter(),
            memory.upkeep.background(every=3600, settings=Upkeep(), only=MOVES) as worker,
        ):
            until = time.monotonic() + 60
            while not worker.rounds and time.monotonic() < until:
                time.sleep(0.01)
        assert memory.count(tiers="long") == 200


def test_what_upkeep_moved_is_known_before_the_next_question(tmp_path: Path) -> None:
    """A recall finds index and graph as far as the store: it has nothing to catch up with."""
    clock = [NOW]
    with Memory(tmp_path / "memory.db", embedder="hashing:16", clock=lambda: clock[0]) as memory:
        memory.remember([f"Ann number {n} lives in Lisbon" for n in range(50)])
        memory.recall("where does Ann number 7 live?")
        assert memory.facts.contradictions() == []
        clock[0] += 1000 * DAY
        memory.upkeep.maintain(only=MOVES)
        head, slots = memory._parts.store.head(), memory._parts.graphs._slots
        assert [slot.graph.head for slot in slots.values()] == [head]
        assert "number 7" in memory.recall("where does Ann number 7 live?")[0].text
