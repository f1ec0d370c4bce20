"""The index in PostgreSQL obeys the laws of `Index`, on a real server, with nothing left to RAM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eidet.core.scope import Scope
from eidet.index import Index, Probe
from eidet.index.contract import NOW, WIDTH, IndexContract, make_record
from eidet.index.pgvector import PgvectorIndex, PgvectorSettings
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

    def test_few_candidates_come_back_of_a_scope_that_is_larger(self) -> None:
        rows = np.random.default_rng(3).normal(size=(600, WIDTH)).astype(np.float32)
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
