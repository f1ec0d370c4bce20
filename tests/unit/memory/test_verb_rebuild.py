"""`rebuild`, `reembed`, `check` and `close`: the same answers from another index, language or embedder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock, texts
from tests.unit.memory.given import HASHING

from eidet import Memory, Misconfigured, Recipe, Scope, Unavailable
from eidet.models.embed.hashing import Hashing


def test_a_rebuilt_index_answers_the_same(memory: Memory) -> None:
    memory.remember([f"fact number {n}" for n in range(20)])
    memory.remember("elsewhere", scope="a/b")
    before = memory.recall("number 7", limit=20)
    assert memory.admin.rebuild() == 21
    assert memory.admin.rebuild("default") == 20
    assert memory.admin.rebuild(Scope.under("a")) == 1
    after = memory.recall("number 7", limit=20)
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    assert memory.admin.check() == []


def test_a_rebuild_with_another_language_analyses_anew(memory: Memory) -> None:
    memory.remember("Die Häuser der Städte")
    assert memory.recall("Haus", recipe=Recipe(nothing=0.0))[0].matched == ()
    steps: list[tuple[int, int]] = []
    memory.admin.rebuild(language="de", progress=lambda *at: steps.append(at))
    assert memory.recall("Haus")[0].matched == ("haus",)
    assert memory.admin.stats()["language"] == "de"
    memory.remember("Viele Häuser")
    assert [hit.matched for hit in memory.recall("Haus")] == [("haus",)] * 2
    assert steps == [(1, 1)]


def test_a_memory_that_was_opened_with_a_language_can_change_it(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder=HASHING, language="en", clock=clock) as memory:
        memory.remember("Die Häuser")
        memory.admin.rebuild(language="de")
        memory.remember("Das Haus")
        assert len([hit for hit in memory.recall("Haus") if hit.matched]) == 2
    with pytest.raises(Misconfigured, match="analysed as 'de', not 'en'"):
        Memory(tmp_path / "m.db", embedder=HASHING, language="en")
    with Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as memory:
        assert memory.admin.stats()["language"] == "de"


def test_a_writer_learns_that_another_changed_the_language(tmp_path: Path, clock: Clock) -> None:
    with (
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as one,
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as other,
    ):
        one.remember("Die Häuser")
        other.admin.rebuild(language="de")
        with pytest.raises(Misconfigured, match="analysed as 'de', not 'en'"):
            one.remember("Das Haus")
        assert len(other.find()) == 1


def test_another_embedder_is_refused_until_reembedding(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder=HASHING, clock=clock) as memory:
        memory.remember(["Ann lives in Lisbon", "zebra"])
    with pytest.raises(
        Misconfigured, match=r"embedder 'hashing:64', not 'hashing:32': .*eidet rebuild --reembed"
    ):
        Memory(path, embedder="hashing:32")
    steps: list[tuple[int, int]] = []
    with Memory(path, embedder=HASHING, clock=clock) as memory:
        memory.recall("Ann")
        assert memory.admin.reembed("hashing:32", progress=lambda *at: steps.append(at)) == 2
        assert texts(memory.recall("Ann", limit=1)) == ["Ann lives in Lisbon"]
        assert {len(record.vector or b"") for record in memory.find()} == {128}
        memory.remember("Bob")
        assert memory.admin.stats()["embedder"] == "hashing:32"
    with Memory(path, embedder="hashing:32", clock=clock) as memory:
        assert len(memory.recall("Ann", least=0)) == 3
        assert memory.admin.check() == []
    assert steps == [(2, 2)]


class Tiring(Hashing):
    """Fails after a number of texts, once."""

    def __init__(self, width: int, texts: int) -> None:
        super().__init__(width)
        self.left: int | None = texts
        self.seen: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.seen += texts
        if self.left is not None and len(self.seen) > self.left:
            self.left = None
            raise ConnectionError("the model is gone")
        return super().embed(texts)


def test_an_interrupted_change_of_embedder_goes_on_where_it_stopped(memory: Memory) -> None:
    memory.remember([f"fact {n}" for n in range(600)])
    tiring = Tiring(32, 300)
    with pytest.raises(Unavailable, match="the model is gone"):
        memory.admin.reembed(tiring)
    assert memory.recall("fact 7", limit=1)[0].text == "fact 7"
    tiring.seen.clear()
    assert memory.admin.reembed(tiring) == 600
    assert len(tiring.seen) == 600 - 256
    assert {len(record.vector or b"") for record in memory.find(limit=600)} == {128}


def test_two_memories_on_one_file_see_each_other(tmp_path: Path, clock: Clock) -> None:
    with (
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as one,
        Memory(tmp_path / "m.db", embedder=HASHING, clock=clock) as other,
    ):
        record = one.remember("Ann lives in Lisbon")
        assert texts(other.recall("Ann")) == ["Ann lives in Lisbon"]
        other.revise(record.id, text="Ann lives in Porto")
        assert texts(one.recall("Ann")) == ["Ann lives in Porto"]
        one.forget(record.id)
        assert texts(other.recall("Ann")) == []


def test_a_closed_file_says_so(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "m.db", embedder=HASHING)
    record = memory.remember("Ann")
    memory.recall("Ann")
    memory.close()
    for verb in (
        lambda: memory.remember("Bob"),
        lambda: memory.recall("Ann"),
        lambda: memory.get(record.id),
        memory.find,
        lambda: memory.forget(record.id),
        memory.admin.stats,
    ):
        with pytest.raises(Misconfigured, match=r"m\.db was closed; open it again"):
            verb()


def test_a_memory_that_was_opened_before_another_embedder_wrote_says_so(tmp_path: Path) -> None:
    with (
        Memory(tmp_path / "m.db", embedder="hashing:16") as first,
        Memory(tmp_path / "m.db", embedder="hashing:32") as second,
    ):
        first.remember("Ann lives in Lisbon")
        with pytest.raises(Misconfigured, match="hashing:16"):
            second.recall("Lisbon")
