"""Large scopes: a new process opens one from its cache file, and RAM is bounded."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from eidet import Memory, Settings
from eidet.store.sql.reader import SqlReader

MANY = 1_200
TEXTS = [f"note {number} about lamp {number % 7}" for number in range(MANY)]


def open_file(path: Path, memory_mb: int = 64, sidecar_from: int = 100) -> Memory:
    settings = Settings(index_memory_mb=memory_mb, sidecar_from=sidecar_from)
    return Memory(path, embedder="hashing:256", settings=settings)


def fill(path: Path, *scopes: str) -> None:
    with closing(open_file(path)) as memory:
        for scope in scopes:
            memory.remember(TEXTS, scope=scope)
            memory.remember("Ann lives in Lisbon.", scope=scope)
            memory.recall("lamp", scope=scope)


def test_a_new_process_reads_no_page_of_a_scope_with_a_cache_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "m.db", "a")
    read: list[int] = []
    changes = SqlReader.changes

    def count(self: SqlReader, scope: str, since: int, limit: int) -> object:
        read.append(since)
        return changes(self, scope, since, limit)

    monkeypatch.setattr(SqlReader, "changes", count)
    with closing(open_file(tmp_path / "m.db")) as memory:
        (best,) = memory.recall("where does Ann live?", scope="a", limit=1)
        assert best.text == "Ann lives in Lisbon."
        assert [fact.object for fact in memory.facts.about("Ann", scope="a")] == ["Lisbon"]
        memory.remember("Ann moved to Porto.", scope="a")
        assert [fact.object for fact in memory.facts.about("Ann", scope="a")] == ["Porto"]
    assert [since for since in read if since < MANY] == []


def ask_small_scopes(path: Path, memory_mb: int) -> tuple[int, int]:
    """The bytes of the indexes of 48 scopes as counted, and how many are left in RAM."""
    with closing(Memory(path, settings=Settings(index_memory_mb=memory_mb))) as memory:
        for number in range(48):
            memory.remember([f"word{number}x{n} and lamp{n}" for n in range(60)], scope=f"t{number}")
            memory.recall("word and lamp", scope=f"t{number}")
        shards = memory.parts.index.cache.shards  # type: ignore[attr-defined]
        counted = memory.parts.index.stats()["memory_bytes"]
        assert counted == sum(shard.nbytes for shard in shards)
        return counted, len(shards)


def test_what_words_take_counts_as_memory(tmp_path: Path) -> None:
    counted, left = ask_small_scopes(tmp_path / "much.db", memory_mb=64)
    assert left == 48
    assert counted > 2 * 2**20
    counted, left = ask_small_scopes(tmp_path / "little.db", memory_mb=2)
    assert counted <= 2 * 2**20
    assert 0 < left < 48


def test_the_best_of_several_large_scopes_are_those_of_one_that_has_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eidet.index.embedded.shard.WHOLE", 0)
    texts = [f"lamp {n % 7} of room {n} has bulb {n % 13} and switch {n % 5}" for n in range(900)]
    parts = {"a": texts[:700], "b": texts[700:890], "c": texts[890:]}
    with Memory() as memory:
        memory.remember(texts, scope="all")
        for scope, some in parts.items():
            memory.remember(some, scope=scope)
        for question in ("lamp 3 with bulb 12", "room 899", "switch 4 of room 705"):
            together = memory.recall(question, scope=["a", "b", "c"], least=0)
            alone = memory.recall(question, scope="all", least=0)
            assert [hit.text for hit in together] == [hit.text for hit in alone]
            assert [hit.score for hit in together] == pytest.approx([hit.score for hit in alone], abs=1e-3)
