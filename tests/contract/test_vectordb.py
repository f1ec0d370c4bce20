"""Vector databases as indexes: the shared laws, with every vector really in the database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.servers.milvus import milvus_lite
from tests.servers.pinecone import Pinecone
from tests.servers.weaviate import Weaviate

from eidet.index import Index
from eidet.index.contract import WIDTH, IndexContract, make_record
from eidet.index.vectordb import Database, VectorSettings
from eidet.index.vectordb.address import parse_database_address
from eidet.index.vectordb.index import VectorIndex
from eidet.index.vectordb.pinecone import PineconeDatabase
from eidet.index.vectordb.weaviate import WeaviateDatabase
from eidet.store import Store

AT_ONCE = VectorSettings(small=0, ship_rows=1, background=False)


class VectorContract(IndexContract):
    """Nothing stays in RAM that can be in the database."""

    def database(self) -> Database:
        raise NotImplementedError

    def make(self, store: Store, width: int) -> Index:
        return VectorIndex(store, width, self.database(), settings=AT_ONCE)

    def test_the_vectors_are_really_in_the_database(self) -> None:
        self.put(
            *(make_record(f"{n}", words="word", axis=n) for n in range(5)), make_record("bare", words="word")
        )
        assert self.find_scores(axis=2)["2"][0] > 0.999
        told = self.index.stats()
        assert (told["rows_in_database"], told["rows_in_ram"]) == (5, 0)
        assert told["database"]["calls"] > 2


@pytest.mark.needs("qdrant")
class TestQdrant(VectorContract):
    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        from qdrant_client import QdrantClient

        self.client = QdrantClient(":memory:")
        yield
        self.client.close()

    def database(self) -> Database:
        from eidet.index.vectordb.qdrant import QdrantDatabase

        return QdrantDatabase(lambda: self.client, "qdrant in memory", local=True, owned=False)


class TestWeaviate(VectorContract):
    """Against a server of ours that speaks what is documented of Weaviate."""

    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        self.weaviate = Weaviate("let me in")
        yield
        self.index.close()
        self.weaviate.stop()

    def database(self) -> Database:
        url = f"weaviate+{self.weaviate.url}?key=let me in"
        return WeaviateDatabase(parse_database_address(url, {}, own=("settle",)))


class TestPinecone(VectorContract):
    """Against a server of ours that speaks what is documented of Pinecone, with nothing settling late."""

    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        self.pinecone = Pinecone(WIDTH)
        yield
        self.index.close()
        self.pinecone.stop()

    def database(self) -> Database:
        url = f"pinecone+{self.pinecone.url}?key=env:KEY&settle=0"
        return PineconeDatabase(parse_database_address(url, {"KEY": self.pinecone.key}, own=("settle",)))


@pytest.fixture(scope="module")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with milvus_lite(tmp_path_factory.mktemp("milvus")) as client:
        yield client


class TestMilvus(VectorContract):
    """Milvus Lite: the engine of Milvus, which pymilvus starts."""

    @pytest.fixture(autouse=True)
    def server(self, milvus: Any) -> None:
        self.client = milvus

    def database(self) -> Database:
        from eidet.index.vectordb.milvus import MilvusDatabase

        return MilvusDatabase(lambda: self.client, "milvus lite", lite=True, owned=False)
