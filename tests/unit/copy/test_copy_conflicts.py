"""What is there already, and what has other vectors or words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.copy.given import all_of, by_id, counted, ram

from eidet import Memory, Misconfigured
from eidet.copy import copy
from eidet.models.embed.hashing import Hashing

# Conflicts.


def test_what_was_changed_in_the_target_is_left_and_told(source: Memory, target: Memory) -> None:
    copy(source, target)
    target.revise("ann", text="Ann lives in Oslo.")
    source.revise("bob", scope="acme", text="Bob sails.")
    target.revise("bob", scope="acme", text="Bob swims.")
    target.upkeep.unpin("pin", scope="acme")
    source.revise("pin", scope="acme", importance=0.9)  # as many versions, and the same words
    again = copy(source, target)
    assert not again.ok
    assert counted(again) == {"same": 11}
    why = "was changed in the target itself"
    assert sorted(again.differences) == [("acme", "bob", why), ("acme", "pin", why), ("default", "ann", why)]
    ann, bob = target.get("ann"), target.get("bob", scope="acme")
    assert ann is not None
    assert bob is not None
    assert (ann.text, bob.text) == ("Ann lives in Oslo.", "Bob swims.")


def test_the_targets_own_record_of_the_same_id_is_not_lost(source: Memory, target: Memory) -> None:
    target.remember("My own Ann", id="ann")
    target.revise("ann", text="My own Anna", meta={"mine": True})
    target.revise("ann", text="My own Annie")
    copied = copy(source, target)
    assert not copied.ok
    assert counted(copied) == {"created": 13}
    ann = target.get("ann")
    assert ann is not None
    assert ann.text == "My own Annie"


def test_a_change_behind_its_back_is_mended(source: Memory, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "m.db"
    assert copy(source, path).ok
    with sqlite3.connect(path) as database:
        database.execute("UPDATE records SET importance = 0.31 WHERE id = 'ann'")
        database.execute("DELETE FROM records WHERE id = 'bob'")
    database.close()
    assert counted(copy(source, path)) == {"created": 1, "changed": 1, "same": 12}
    with Memory(path) as memory:
        assert by_id(memory) == by_id(source)


# Other vectors and words.


def test_with_another_embedder_vectors_are_made_anew(source: Memory, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    copied = copy(source, path, embedder="hashing:128")
    assert copied.ok
    assert (copied.embedder, copied.embedded) == ("hashing:128", True)
    with Memory(path) as memory:
        assert memory.admin.stats()["embedder"] == "hashing:128"
        assert memory.recall("where does Ann live?")[0].id == "ann"
        assert {len(record.vector or b"") for record in all_of(memory)} == {128 * 4}
        assert memory.admin.check() == []
    assert copy(source, path).ok


class Counting(Hashing):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.asked = 0

    def embed(self, texts: Any) -> Any:
        self.asked += len(texts)
        return super().embed(texts)


def test_with_the_same_embedder_nothing_is_embedded(source: Memory) -> None:
    embedder = Counting(64)
    assert copy(source, ram(embedder=embedder)).ok
    assert embedder.asked == 0


def test_with_another_language_words_are_analysed_anew(tmp_path: Path) -> None:
    source, path = ram(language="en"), tmp_path / "m.db"
    source.remember("Die Katzen schlafen im Haus", id="katzen")
    copied = copy(source, path, language="de")
    assert copied.ok
    with Memory(path) as memory:
        assert memory.admin.stats()["language"] == "de"
        assert memory.admin.check() == []
        assert by_id(memory)["default", "katzen"].terms != by_id(source)["default", "katzen"].terms
        assert by_id(memory)["default", "katzen"].vector == by_id(source)["default", "katzen"].vector


def test_a_new_target_takes_embedder_and_language_of_the_source(tmp_path: Path) -> None:
    source = ram(language="de", embedder="hashing:32")
    source.remember("Die Katzen schlafen")
    copy(source, tmp_path / "m.db")
    with Memory(tmp_path / "m.db") as memory:
        assert memory.admin.stats()["embedder"] == "hashing:32"
        assert memory.admin.stats()["language"] == "de"


def test_an_open_target_cannot_be_given_another_embedder_or_language(source: Memory) -> None:
    with pytest.raises(Misconfigured, match="hashing:64"):
        copy(source, ram(), embedder="hashing:32")
    with pytest.raises(Misconfigured, match="'en'"):
        copy(source, ram(), language="de")


def test_a_target_that_is_there_keeps_its_own_embedder(source: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:32") as memory:
        memory.remember("mine")
    copied = copy(source, tmp_path / "m.db")
    assert copied.ok
    assert copied.embedder == "hashing:32"
    with pytest.raises(Misconfigured):
        copy(source, tmp_path / "m.db", embedder="hashing:128")
