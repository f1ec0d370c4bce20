"""Long labels come back from every door of a sealed memory, though their tokens are longer than any label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eidet import Memory, Record
from eidet.copy import copy
from eidet.core.settings import Upkeep

KEY = b"k" * 32
YEARS = 4000 * 86_400.0


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def _load(memory: Memory, _: Clock, folder: Path) -> Record | None:
    memory.export(folder / "out.jsonl", plain=True)
    with Memory(embedder="hashing:16", key=KEY) as other:
        other.load(folder / "out.jsonl")
        return other.get("r")


def _unarchive(memory: Memory, clock: Clock, folder: Path) -> Record | None:
    clock.now += YEARS
    fades = Upkeep(forget_below=0.99, archive_above=0.0)
    memory.upkeep.maintain(archive=folder / "archive", settings=fades)
    assert memory.get("r") is None
    memory.upkeep.unarchive(folder / "archive")
    return memory.get("r")


def _copy(memory: Memory, _: Clock, folder: Path) -> Record | None:
    with Memory(embedder="hashing:16", key=KEY) as other:
        assert copy(memory, other).ok
        return other.get("r")


DOORS: dict[str, Callable[[Memory, Clock, Path], Record | None]] = {
    "load": _load,
    "unarchive": _unarchive,
    "copy": _copy,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("letter", ["x", "\N{GRINNING FACE}"], ids=["one byte", "four bytes"])
def test_long_labels_come_back(tmp_path: Path, door: str, letter: str) -> None:
    clock, label = Clock(), letter * 1000
    with Memory(tmp_path / "m.db", embedder="hashing:16", key=KEY, clock=clock) as memory:
        memory.remember("a text", id="r", who=label, agent=label, session=label, source=label)
        back = DOORS[door](memory, clock, tmp_path)
    assert back is not None
    assert (back.who, back.agent, back.session, back.source) == (label, label, label, label)
