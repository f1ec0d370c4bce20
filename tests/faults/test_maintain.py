"""Upkeep that is killed, or done by two at once, loses nothing and does nothing twice."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from tests.faults import children
from tests.faults.children import EMBEDDER, SETTINGS
from tests.faults.nursery import Nursery

from eidet import Memory
from eidet.upkeep.archive import FolderArchive

MANY = 600
LONG = "and then, as nobody had thought, the ship came back to the harbour of Lisbon. " * 12


def opened(path: Path) -> Memory:
    return Memory(path, embedder=EMBEDDER, settings=SETTINGS)


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A memory of records that upkeep moves (all) and forgets (those that matter go to the archive)."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        texts = [f"log {n} {LONG if n % 3 else 'short'}" for n in range(MANY)]
        records = memory.remember(texts, importance=0.6, keep_duplicates=True)
    return path, {record.id: record.text for record in records}


def kept(path: Path, folder: Path) -> dict[str, str]:
    """What is in the memory or in its archive, in full."""
    archive = FolderArchive(folder)
    with opened(path) as memory:
        assert memory.admin.check() == []
        there = {r.id: memory.upkeep.detail(r.id).text for r in memory.find(limit=10_000)}
    return {r.id: r.whole.text for name in archive.names() for r in archive.read(name)} | there


def test_killed_upkeep_loses_nothing(
    start: Nursery, filled: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    path, texts = filled
    chance, folder = random.Random(11), tmp_path / "archive"
    for _ in range(5):
        child = start(children.maintain, path, folder)
        child.hear()
        time.sleep(chance.uniform(0.0, 0.15))
        child.kill()
        assert kept(path, folder) == texts
    child = start(children.maintain, path, folder)
    assert child.result()[2] == []
    assert kept(path, folder) == texts
    with opened(path) as memory:
        assert memory.count() == 0


def test_two_that_maintain_one_file_share_the_work(
    start: Nursery, filled: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    path, texts = filled
    folder = tmp_path / "archive"
    both = [start(children.maintain, path, folder) for _ in range(2)]
    told = [[said for said in child.hear_rest() if isinstance(said, list)] for child in both]
    moved = [one[0][0].get("move", 0) for one in told]
    assert sum(moved) == MANY
    assert all(failed == [] for one in told for _, _, failed in one)
    forgotten = [one[1][0].get("forget", 0) for one in told]
    assert sum(forgotten) == MANY
    assert kept(path, folder) == texts


def test_writers_go_on_while_another_process_maintains(
    start: Nursery, filled: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    path, _ = filled
    child = start(children.maintain, path, tmp_path / "archive")
    child.hear()
    with opened(path) as memory:
        revised = []
        for n, record in enumerate(memory.find(limit=40, order="created")):
            memory.remember(f"new {n}", importance=1.0, pinned=True)
            try:
                revised.append(memory.revise(record.id, pinned=True, source="me"))
            except LookupError:
                continue  # forgotten before it could be pinned
        child.hear_rest()
        there = memory.get([record.id for record in revised])
        assert [r is not None and r.source == "me" for r in there] == [True] * len(revised)
        assert memory.count() == 40 + len(revised)
        assert memory.admin.check() == []
