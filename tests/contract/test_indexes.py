"""Every index obeys the laws of `Index`, over every store that it may follow."""

from __future__ import annotations

import numpy as np
import pytest

from eidet.core.where import Where
from eidet.index import Hints, Index
from eidet.index.contract import IndexContract, long, make_record
from eidet.index.embedded import EmbeddedIndex, shard
from eidet.store import Store
from eidet.store.sql.sqlite import SqliteStore
from eidet.text import term_id


class TestEmbeddedOverRam(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        return EmbeddedIndex(store, width)


class TestEmbeddedOverSqlite(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        return EmbeddedIndex(store, width)

    def make_store(self) -> Store:
        return SqliteStore(self.folder / "memory.db")

    def reopen(self, store: Store) -> Store:
        return self.make_store()


class TestEmbeddedWithFewCandidates(IndexContract):
    """As in a large scope, where not every row is a candidate."""

    @pytest.fixture(autouse=True)
    def _few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shard, "WHOLE", 0)

    def make(self, store: Store, width: int) -> Index:
        return EmbeddedIndex(store, width)

    def test_no_more_than_the_depth_of_each_arm_and_neighbours_are_candidates(self) -> None:
        self.put(*(make_record(f"{n}", words="common", axis=n % 8 + 1) for n in range(200)))
        self.put(make_record("near", words="filler", axis=0), make_record("rare", words="rare", axis=9))
        assert len(self.search("rare common", axis=0, depth=5)) <= 10
        turns = [
            make_record(f"t{n}", session="s", occurred=float(n), words="hit" if n == 5 else "")
            for n in range(11)
        ]
        self.put(*turns)
        assert self.find_scores("hit", depth=1).keys() == {"t4", "t5", "t6"}
        assert self.find_scores("hit", depth=1, where=~Where(ids=("t6",))).keys() == {"t4", "t5"}

    def test_one_unit_of_a_long_record_is_told_of_as_the_record(self) -> None:
        units = ["cat dog", "bird", "fish ann"]
        self.put(
            long("long", units, axes=(0, 1, 2), flags=5, days=((4, 5),), session="s", who="ann"),
            *(make_record(f"{n}", words="common", axis=9) for n in range(20)),
        )
        hints = Hints(names=((term_id("bird"),), (term_id("common"),)), sessions=("s",))
        found = self.search("fish", depth=1, hints=hints)
        assert self.scores(found).keys() == {"long"}
        assert found.traits.length.tolist() == [np.inf]
        assert found.traits.days.tolist() == [[0, 4, 5]]
        assert (found.traits.flags.tolist(), found.traits.turn.tolist()) == ([5], [0])
        assert [mask.tolist() for mask in found.traits.mentions] == [[True], [False]]


class TestEmbeddedWithCacheFiles(TestEmbeddedOverSqlite):
    """Every scope has a cache file, and hardly any fits into memory."""

    def make(self, store: Store, width: int) -> Index:
        return EmbeddedIndex(store, width, folder=self.folder / "index", memory_mb=0, sidecar_from=1)
