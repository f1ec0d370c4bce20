"""Vector databases as indexes: the shared laws, with every vector really in the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.needs import each
from tests.servers.databases import DATABASES, Opens

from eidet.index import Index
from eidet.index.contract import WIDTH, IndexContract, make_record
from eidet.index.vectordb import VectorSettings
from eidet.index.vectordb.index import VectorIndex
from eidet.store import Store

AT_ONCE = VectorSettings(small=0, ship_rows=1, background=False)


@pytest.fixture(scope="module", params=each(DATABASES))
def opens(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opens]:
    with ExitStack() as stack:
        yield DATABASES[request.param](stack, tmp_path_factory.mktemp(request.param), WIDTH)


class TestVectorDatabases(IndexContract):
    """Nothing stays in RAM that can be in the database."""

    @pytest.fixture(autouse=True)
    def _server(self, opens: Opens) -> None:
        self.opens = opens

    def make(self, store: Store, width: int) -> Index:
        return VectorIndex(store, width, self.opens(), settings=AT_ONCE)

    def test_the_vectors_are_really_in_the_database(self) -> None:
        self.put(
            *(make_record(f"{n}", words="word", axis=n) for n in range(5)), make_record("bare", words="word")
        )
        assert self.find_scores(axis=2)["2"][0] > 0.999
        told = self.index.stats()
        assert (told["rows_in_database"], told["rows_in_ram"]) == (5, 0)
        assert told["database"]["calls"] > 2
