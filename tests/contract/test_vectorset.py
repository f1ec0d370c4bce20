"""Vector sets of Redis 8 as the index: the shared laws; and the store itself on such a server."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from tests.contract.test_vectordb import BY_SEARCH, VectorContract

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.index import Probe
from eidet.index.contract import NOW, WIDTH
from eidet.index.vectordb import Database, VectorSettings
from eidet.index.vectordb.vectorset import VectorSets
from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.redis import RedisStore
from eidet.store.redis.address import address_of
from eidet.store.redis.client import RedisClient
from eidet.store.redis.key_names import Keys

pytestmark = pytest.mark.needs("redis8")


class TestVectorSets(VectorContract):
    """Numbers of 32 bits: the laws ask for exact cosines."""

    bits: ClassVar[int] = 32

    @pytest.fixture(autouse=True)
    def server(self, redis8_url: str) -> None:
        self.url = redis8_url

    def database(self) -> Database:
        return VectorSets(RedisClient(address_of(self.url), None), Keys("eidet"), bits=self.bits)


class TestVectorSetsBySearch(TestVectorSets):
    """No set of records is so small that all of it is asked for."""

    settings: ClassVar[VectorSettings] = BY_SEARCH


class TestVectorSetsOfBytes(TestVectorSets):
    """Less memory, and cosines that are right to some thousandths."""

    bits: ClassVar[int] = 8

    def test_dense_scores_are_cosines(self) -> None:
        rows = np.random.default_rng(7).normal(size=(40, WIDTH)).astype(np.float32)
        self.put(*(Record(id=f"{n}", scope="a", text="", vector=row.tobytes()) for n, row in enumerate(rows)))
        found = self.scores(self.index.search(Probe(scope=Scope("a"), now=NOW, vector=rows[3])))
        for n, row in enumerate(rows):
            cosine = row @ rows[3] / (np.linalg.norm(row) * np.linalg.norm(rows[3]))
            assert abs(found[f"{n}"][0] - cosine) < 0.01


class TestRedis8(StoreContract):
    """The store itself, on a server of this age."""

    @pytest.fixture(autouse=True)
    def _server(self, redis8_url: str) -> None:
        self.url = redis8_url

    def make(self) -> Store:
        return RedisStore(self.url)

    def reopen(self, store: Store) -> Store:
        return self.make()
