"""Moves read what may move, not the whole scope."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eidet import Memory, Where
from eidet.core.record import Record, Tier
from eidet.core.settings import Upkeep
from eidet.store import Store
from eidet.upkeep.curve import DAY
from eidet.upkeep.lifecycle import MOVES

NOW = 1_700_000_000.0


class Read:
    """Counts the records that a store hands out, and how many at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, memory: Memory) -> None:
        self.count = 0
        self.most = 0
        for name in ("find", "read"):
            self._count_answers(monkeypatch, memory.parts.store, name)

    def _count_answers(self, monkeypatch: pytest.MonkeyPatch, store: Store, name: str) -> None:
        ask = getattr(store, name)

        def answer(*asked: Any, **how: Any) -> list[Record | None]:
            records: list[Record | None] = ask(*asked, **how)
            self.count += len(records)
            self.most = max(self.most, len(records))
            return records

        monkeypatch.setattr(store, name, answer)


def test_what_cannot_move_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(tmp_path / "memory.db", embedder="hashing:16", clock=lambda: NOW) as memory:
        memory.remember([f"number {n}" for n in range(400)])
        memory.remember([f"old {n}" for n in range(100)], tier="middle")
        read = Read(monkeypatch, memory)
        done = memory.upkeep.maintain(only=MOVES)
        assert (done.counts, done.examined, read.count) == ({}, 500, 0)


def test_of_a_crowded_tier_little_more_is_read_than_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [NOW]
    with Memory(tmp_path / "memory.db", embedder="hashing:16", clock=lambda: clock[0]) as memory:
        for n in range(60):
            clock[0] += 1
            memory.remember([f"number {n} {m}" for m in range(10)])
        read = Read(monkeypatch, memory)
        done = memory.upkeep.maintain(only=MOVES, settings=Upkeep(short_entries=590))
        assert done.counts == {"move": 10}
        assert read.count <= 10 + 200
        assert memory.count(Where(tiers=(Tier.SHORT,))) == 590


def test_what_became_old_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [NOW]
    with Memory(tmp_path / "memory.db", embedder="hashing:16", clock=lambda: clock[0]) as memory:
        memory.remember([f"old {n}" for n in range(7)])
        memory.remember([f"dear {n}" for n in range(50)], importance=0.9)
        clock[0] += 31 * DAY
        memory.remember([f"new {n}" for n in range(300)])
        read = Read(monkeypatch, memory)
        assert memory.upkeep.maintain(only=MOVES).counts == {"move": 7}
        assert read.count == 7


def test_of_a_tier_that_mostly_is_too_many_never_much_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [NOW]
    with Memory(tmp_path / "memory.db", embedder="hashing:16", clock=lambda: clock[0]) as memory:
        for n in range(9):
            clock[0] += 1
            memory.remember([f"number {n} {m}" for m in range(100)])
        used = memory.find(order="created", limit=5)
        clock[0] += 10
        for record in used:
            memory.recall(record.text, where=Where(ids=(record.id,)))
        memory.admin.flush()
        read = Read(monkeypatch, memory)
        done = memory.upkeep.maintain(only=MOVES, settings=Upkeep(short_entries=100))
        assert done.counts == {"move": 800}
        assert read.most <= 200
        kept = {record.id for record in memory.find(tiers="short", limit=1000)}
        assert kept >= {record.id for record in used}
