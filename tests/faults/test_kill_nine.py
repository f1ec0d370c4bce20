"""kill -9 at any moment: what was acknowledged stays, and nothing is half done."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.faults import children
from tests.faults.children import BULK, EMBEDDER, SETTINGS, Slow
from tests.faults.nursery import Child, Nursery
from tests.making import rounds

from eidet import Memory, Misconfigured, Scope
from eidet.core.record import Record

ROUNDS = rounds(8, 20)
MANY = 3000
QUESTIONS = ("note7", "a process killed", "turn3 note12", "note40 going", "nothing like it")


def opened(path: Path, embedder: object = EMBEDDER) -> Memory:
    return Memory(path, embedder=embedder, settings=SETTINGS, clock=lambda: 2e9)


def answers(memory: Memory) -> list[list[tuple[str, float]]]:
    return [[(hit.record.id, hit.score) for hit in memory.recall(question)] for question in QUESTIONS]


def all_of(memory: Memory, scope: str = "default") -> list[Record]:
    return memory.find(scope=scope, limit=1_000_000)


def killed_within(child: Child, seconds: float) -> list[Any]:
    """Everything a child acknowledged until its death, so long after its first word."""
    first = child.hear()
    time.sleep(seconds)
    child.kill()
    return [first, *child.hear_rest()]


def test_many_kills_lose_nothing_that_was_acknowledged(start: Nursery, tmp_path: Path) -> None:
    path, chance = tmp_path / "m.db", random.Random(9)
    acknowledged: dict[str, str] = {}
    for turn in range(ROUNDS):
        told = dict(killed_within(start(children.write, path, turn), chance.uniform(0.1, 0.3)))
        acknowledged.update(told)
        with opened(path) as memory:
            found = [record.text if record else None for record in memory.get(list(told))]
            assert found == list(told.values()), f"round {turn} lost records"
            before = answers(memory)
            assert memory.admin.check() == []
            unacknowledged = memory.admin.rebuild() - len(acknowledged)
            assert 0 <= unacknowledged <= turn + 1, "more than one write a round was not acknowledged"
            assert answers(memory) == before, f"round {turn}: the index differs from a rebuilt one"
    with opened(path) as memory:
        stored = {record.id: record.text for record in all_of(memory)}
    assert acknowledged.items() <= stored.items()
    assert len(acknowledged) > ROUNDS * 10


def test_a_killed_bulk_write_is_there_as_a_whole_or_not_at_all(start: Nursery, tmp_path: Path) -> None:
    path, chance = tmp_path / "m.db", random.Random(10)
    acknowledged: set[object] = set()
    for turn in range(4):
        acknowledged.update(killed_within(start(children.write_bulk, path, turn), chance.uniform(0.02, 0.2)))
        with opened(path) as memory:
            sizes = Counter(record.session for record in all_of(memory))
            assert memory.admin.check() == []
        assert set(sizes.values()) == {BULK}, f"round {turn} left a part of a call: {sizes}"
        assert acknowledged <= sizes.keys(), f"round {turn} lost a whole call"


def test_a_file_whose_making_was_killed_is_made_anew(start: Nursery, tmp_path: Path) -> None:
    for turn in range(5):
        folder = tmp_path / str(turn)
        folder.mkdir()
        made = killed_within(start(children.create, folder), 0.05 + 0.01 * turn)
        for path in folder.glob("*.db"):
            with opened(path) as memory:
                assert len(all_of(memory)) >= (str(path) in made)
                memory.remember("another record")
                assert memory.admin.check() == []


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember([f"fact number{i} about thing{i % 50}" for i in range(MANY)])
    return path


def test_a_killed_reembed_goes_on_where_it_stopped(start: Nursery, filled: Path) -> None:
    child = start(children.reembed, filled, 32)
    done = [child.hear() for _ in range(4)][-1]
    child.kill()
    counting = Slow(32)
    with opened(filled) as memory:
        assert memory.recall("number77")[0].record.text.startswith("fact number77 ")
        assert memory.admin.reembed(counting) == MANY
        assert counting.asked <= MANY - done
        assert memory.recall("number77")[0].record.text.startswith("fact number77 ")
    with opened(filled, "hashing:32") as memory:
        assert memory.admin.check() == []
        for i in (0, done - 1, done, MANY - 1):
            best = memory.recall(f"number{i}")[0]
            assert best.record.text.startswith(f"fact number{i} ")
            assert next(s.value for s in best.signals if s.name == "dense") > 0.2
    with pytest.raises(Misconfigured, match="eidet rebuild --reembed"):
        opened(filled)


def test_a_killed_export_leaves_no_file_or_the_whole_old_one(
    start: Nursery, filled: Path, tmp_path: Path
) -> None:
    target = tmp_path / "all.jsonl"
    child = start(children.export, filled, target)
    child.hear()
    child.kill()
    assert not target.exists()

    with opened(filled) as memory:
        assert memory.export(target) == MANY
        memory.remember("one more")
    whole = target.read_bytes()
    child = start(children.export, filled, target)
    child.hear()
    child.kill()
    assert target.read_bytes() == whole

    with opened(filled) as memory, Memory(embedder=EMBEDDER) as copy:
        assert memory.export(target) == MANY + 1
        assert copy.load(target) == MANY + 1
    assert sorted(file.name for file in tmp_path.glob("all.jsonl*")) == ["all.jsonl"]


def test_a_killed_load_is_completed_by_loading_again(start: Nursery, filled: Path, tmp_path: Path) -> None:
    source, path = tmp_path / "all.jsonl", tmp_path / "copy.db"
    with opened(filled) as memory:
        memory.export(source)
        original = {record.id: record.text for record in all_of(memory)}
    child = start(children.load, path, source)
    while child.hear() < MANY // 2:
        pass
    child.kill()
    with opened(path) as memory:
        assert 1000 <= len(all_of(memory)) < MANY
        assert memory.load(source) == MANY
        assert {record.id: record.text for record in all_of(memory)} == original
        assert {record.version for record in all_of(memory)} == {1}
        assert memory.admin.check() == []
        assert memory.admin.stats(Scope.of("default"))["records"] == MANY
