"""Vector databases: real engines in this process, or servers of ours that speak as documented."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.servers.milvus import milvus_lite
from tests.servers.pinecone import Pinecone
from tests.servers.weaviate import Weaviate

from eidet.index.vectordb import Database
from eidet.index.vectordb.address import parse_database_address
from eidet.index.vectordb.pinecone import PineconeDatabase
from eidet.index.vectordb.weaviate import WeaviateDatabase

Opens = Callable[[], Database]  # each call opens the same database again


def _qdrant(stack: ExitStack, folder: Path, width: int) -> Opens:
    from qdrant_client import QdrantClient

    from eidet.index.vectordb.qdrant import QdrantDatabase

    client = QdrantClient(":memory:")
    stack.callback(client.close)
    return lambda: QdrantDatabase(parse_database_address("qdrant://:memory:", {}), client)


def _milvus(stack: ExitStack, folder: Path, width: int) -> Opens:
    from eidet.index.vectordb.milvus import MilvusDatabase

    client = stack.enter_context(milvus_lite(folder))
    return lambda: MilvusDatabase(parse_database_address("milvus+file:///lite.db", {}), client)


def _weaviate(stack: ExitStack, folder: Path, width: int) -> Opens:
    server = Weaviate("let me in")
    stack.callback(server.stop)
    url = f"weaviate+{server.url}?key=let me in"
    return lambda: WeaviateDatabase(parse_database_address(url, {}, own=("settle",)))


def _pinecone(stack: ExitStack, folder: Path, width: int) -> Opens:
    server = Pinecone(width)
    stack.callback(server.stop)
    url = f"pinecone+{server.url}?key=env:KEY&settle=0"
    return lambda: PineconeDatabase(parse_database_address(url, {"KEY": server.key}, own=("settle",)))


DATABASES: dict[str, Callable[[ExitStack, Path, int], Opens]] = {
    "qdrant": _qdrant,
    "milvus": _milvus,
    "weaviate": _weaviate,
    "pinecone": _pinecone,
}
