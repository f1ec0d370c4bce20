"""Upkeep in the background holds still while somebody asks, but not for good."""

from __future__ import annotations

import time
from pathlib import Path

from eidet import Memory
from eidet.core.settings import Upkeep
from eidet.upkeep.curve import DAY
from eidet.upkeep.lifecycle import MOVES

NOW = 1_700_000_000.0


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
