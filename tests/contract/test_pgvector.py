"""The index in PostgreSQL obeys the laws of `Index`, on a real server, with nothing left to RAM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eidet.core.scope import Scope
from eidet.index import Index, Probe
from eidet.index.contract import NOW, WIDTH, IndexContract, make_record
from eidet.index.pgvector import PgvectorIndex, PgvectorSettings
from eidet.index.pgvector import query as served
from eidet.store import Store
from eidet.store.sql.postgres import PostgresStore
from eidet.text import term_id


class TestPgvector(IndexContract):
    """Every scope is searched by the server, and everything is copied before it is searched."""

    settings = PgvectorSettings(from_records=1, tail=0, background=False)

    @pytest.fixture(autouse=True)
    def _server(self, postgres_url: str) -> None:
        self.url = postgres_url

    def make(self, store: Store, width: int) -> Index:
        return PgvectorIndex(store, width, settings=self.settings)

    def make_store(self) -> Store:
        return PostgresStore(self.url)

    def reopen(self, store: Store) -> Store:
        return self.make_store()


class TestPgvectorAlongTheGraph(TestPgvector):
    """As in a large scope: not all that pass are looked at, and some of it was not copied yet."""

    settings = PgvectorSettings(from_records=1, tail=7, background=False)

    @pytest.fixture(autouse=True)
    def _few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(served, "FEW", 0)

    def test_the_best_of_each_arm_are_among_few_candidates(self) -> None:
        """With vectors that differ: among copies of a few, a graph does not find its way to the rest."""
        rng = np.random.default_rng(3)
        rows = rng.normal(size=(600, WIDTH)).astype(np.float32)
        self.put(
            *(
                replace(make_record(f"{n}", words="common"), vector=row.tobytes())
                for n, row in enumerate(rows)
            )
        )
        self.put(make_record("rare", words="rare"))
        probe = Probe(scope=Scope("a"), now=NOW, vector=rows[3], terms=(term_id("rare"),), depth=20)
        found = self.index.search(probe)
        assert {"3", "rare"} <= self.scores(found).keys()
        assert (found.searched, found.kept) == (601, 601)
        assert len(found) < 300
