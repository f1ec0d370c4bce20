"""Records with a key: their ids tell nothing of it, and they are found by it wherever they are taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eidet import Memory, Where
from eidet.copy import copy
from eidet.core.record import is_reference, key_id
from eidet.views import Conversation

KEY = "00112233445566778899aabbccddeeff" * 2
Move = Callable[[Memory, Memory, Path], object]


def open_at(place: Path | None = None, **how: Any) -> Memory:
    return Memory(place, embedder="hashing:16", **how)


def by_export(source: Memory, target: Memory, folder: Path) -> None:
    source.export(folder / "all.jsonl", plain=True)
    target.load(folder / "all.jsonl")


MOVES: dict[str, Move] = {
    "export and load": by_export,
    "copy": lambda source, target, _: copy(source, target, embedder=target.parts.embedder),
}


def test_the_same_key_is_the_same_record_and_another_id_in_each_store() -> None:
    with open_at() as one, open_at() as other:
        first = one.remember("A Tern costs 38,900 euros.", key="price/tern")
        second = one.remember("A Tern costs 41,500 euros.", key="price/tern")
        assert (first.id, second.version) == (second.id, 2)
        assert not is_reference(first.id)
        assert other.remember("A Tern costs 41,500 euros.", key="price/tern").id != first.id


def test_verbs_take_a_reference_for_an_id() -> None:
    reference = key_id("price/tern")
    with open_at() as memory:
        assert memory.get(reference) is None
        assert memory.history(reference) == []
        record = memory.remember("A Tern costs 38,900 euros.", key="price/tern")
        assert memory.get([reference, "none"]) == [record, None]
        assert memory.find(where=Where(ids=(reference,)) | Where(ids=("none",))) == [record]
        assert memory.count(where=~Where(ids=(reference,))) == 0
        assert memory.revise(reference, importance=0.9).id == record.id
        assert [event.id for event in memory.history(reference)] == [record.id] * 2
        assert memory.forget(reference) == 1


@pytest.mark.parametrize("fresh", [True, False], ids=["a new memory", "one with keys of its own"])
@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("move", MOVES)
def test_what_was_taken_along_is_found_by_its_key(
    move: str, sealed: bool, fresh: bool, tmp_path: Path
) -> None:
    how = {"key": KEY} if sealed else {}
    with open_at(tmp_path / "a.db", **how) as source, open_at(tmp_path / "b.db", **how) as target:
        record = source.remember("A Tern costs 38,900 euros.", key="price/tern")
        Conversation(source, "s").add({"role": "user", "content": "hello to you"}, id="one")
        if not fresh:
            target.remember("A Gull costs 900 euros.", key="price/gull")
        MOVES[move](source, target, tmp_path)
        found = target.get(key_id("price/tern"))
        assert found is not None
        assert found.id == record.id
        again = target.remember("A Tern costs 41,500 euros.", key="price/tern")
        assert (again.id, again.version) == (record.id, 2)
        said = Conversation(target, "s").get("one")
        assert said is not None
        assert said.text == "hello to you"
        assert target.forget(key_id("price/tern")) == 1


def test_two_memories_of_one_store_give_a_key_one_id(tmp_path: Path) -> None:
    with open_at(tmp_path / "m.db") as one, open_at(tmp_path / "m.db") as other:
        record = one.remember("A Tern costs 38,900 euros.", key="price/tern")
        assert other.remember("A Tern costs 41,500 euros.", key="price/tern").id == record.id
