"""`count`, `stats`, `export` and `load`: nothing is lost and nothing is added."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.making import Clock, texts
from tests.unit.memory.given import HASHING, everything, head

from eidet import Memory, Misconfigured, Scope, Unavailable, Where

# count and stats


def test_count_counts_what_matches_in_a_scope(memory: Memory) -> None:
    memory.remember(["one", "two"], session="s1")
    memory.remember("three", scope="a/b")
    assert (memory.count(), memory.count(Where(session="s1")), memory.count(Where(session="x"))) == (2, 2, 0)
    assert (memory.count(scope="a"), memory.count(scope=Scope.under("a"))) == (0, 1)


def test_stats_count_by_kind_and_tier(memory: Memory) -> None:
    memory.remember(["one", "two"])
    memory.remember({"hp": 1}, tier="long")
    memory.remember("three", scope="a/b")
    stats = memory.admin.stats()
    assert (stats["records"], stats["scopes"]) == (4, 2)
    assert stats["kinds"] == {"fact": 3, "state": 1}
    assert stats["tiers"] == {"short": 3, "long": 1}
    assert (stats["embedder"], stats["language"]) == ("hashing:64", "en")
    assert stats["store_bytes"] > 0
    assert memory.admin.stats("a")["records"] == 0
    assert memory.admin.stats(Scope.under("a"))["records"] == 1
    memory.recall("one")
    assert memory.admin.stats()["index"]["loaded_records"] == 3


# export and load


def test_an_export_is_loaded_without_loss(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    memory.remember(
        "one", data={"n": [2**70, "\0"]}, vector=np.eye(64)[3], place=(1, 2), expires=timedelta(1)
    )
    memory.revise(memory.remember("two").id, text="two and a half")
    memory.remember("three", scope="other/scope", who="Ann")
    memory.recall("one")
    steps: list[tuple[int, int]] = []
    path = tmp_path / "export.jsonl"
    assert memory.export(path, scope=None, progress=lambda *at: steps.append(at)) == 3
    with Memory(embedder=HASHING, clock=clock) as other:
        assert other.load(path, progress=lambda *at: steps.append(at)) == 3
        assert [r.but(seq=0) for r in everything(other)] == [r.but(seq=0) for r in everything(memory)]
        assert other.admin.check() == []
        assert texts(other.recall("three", scope="other/scope")) == ["three"]
        before = head(other)
        assert other.load(path) == 3
        assert head(other) == before
    assert steps == [(3, 3), (3, 3)]
    assert [file.name for file in tmp_path.glob("export*")] == ["export.jsonl"]


def test_an_export_of_another_embedder_or_language_is_derived_anew(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "export.jsonl"
    with Memory(embedder="hashing:32", clock=clock) as memory:
        memory.remember(["running dogs", "cats"])
        memory.export(path)
    with Memory(embedder=HASHING, language="none", clock=clock) as other:
        other.load(path)
        assert other.recall("running")[0].matched == ("running",)
        assert {len(record.vector or b"") for record in other.find()} == {256}


def test_a_vector_of_ones_own_outlives_a_change_of_language(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "export.jsonl"
    east = np.eye(64, dtype=np.float32)[0]
    with Memory(embedder=HASHING, clock=clock) as memory:
        memory.remember("running dogs", vector=east)
        memory.export(path)
    with Memory(embedder=HASHING, language="none", clock=clock) as other:
        other.load(path)
        assert other.find()[0].vector == east.tobytes()


def test_files_that_cannot_be_read_or_written_are_named(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"none\.jsonl cannot be read: No such file"):
        memory.load(tmp_path / "none.jsonl")
    with pytest.raises(Misconfigured, match="cannot be read"):
        memory.load(tmp_path)
    with pytest.raises(Unavailable, match="could not be written"):
        memory.export(tmp_path / "no" / "folder.jsonl")
    path = tmp_path / "newer.jsonl"
    path.write_text('{"eidet":"export","format":99}\n{}\n')
    with pytest.raises(Misconfigured, match="pip install --upgrade eidet"):
        memory.load(path)
