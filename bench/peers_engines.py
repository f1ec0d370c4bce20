"""The memories and stores that `peers.py` compares, each behind the same five verbs.

Every engine gets the vectors of the same embedder and is called the way its own documentation shows.
An engine imports its package when it is opened: each runs in an environment of its own.
"""

# ruff: noqa: ARG002 -- all have the same verbs, also where an argument means nothing to an engine

from __future__ import annotations

import datetime as dt
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from eidet.models.embed.wordllama import WordLlama

WIDTH = 256
GROUP = "bench"  # of the nodes and edges in Graphiti


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One text to store. `labels` are for engines that take a speaker, a session and a time."""

    id: str
    text: str
    labels: dict[str, Any] = field(default_factory=dict)


class Engine(Protocol):
    """What a measurement needs. `search` returns ids, best first; `add` makes a text as safe as it gets."""

    def add(self, item: Item) -> None: ...
    def add_many(self, items: Sequence[Item]) -> None: ...
    def search(self, query: str, limit: int, now: float | None = None) -> list[str]: ...
    def count(self) -> int: ...
    def close(self) -> None: ...


class EidetEngine:
    """Eidet with its defaults: one SQLite file, all signals on."""

    def __init__(self, home: Path) -> None:
        from eidet import Memory

        self._memory = Memory(home / "memory.db")

    def add(self, item: Item) -> None:
        self._memory.remember(self._draft(item), keep_duplicates=True)

    def add_many(self, items: Sequence[Item]) -> None:
        drafts = []
        for item in items:
            drafts.append(self._draft(item))
        self._memory.remember(drafts, keep_duplicates=True)

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        return [hit.id for hit in self._memory.recall(query, limit=limit, now=now)]

    def count(self) -> int:
        return self._memory.count()

    def close(self) -> None:
        self._memory.close()

    def _draft(self, item: Item) -> Any:
        from eidet import Draft

        return Draft(id=item.id, **{"text": item.text, **item.labels})


class FloorEngine:
    """The least one could do: a SQLite table, the vectors in one numpy array, a scan for each question."""

    def __init__(self, home: Path) -> None:
        self._embedder = WordLlama()
        self._connection = sqlite3.connect(home / "floor.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS item (seq INTEGER PRIMARY KEY, id TEXT, text TEXT, vector BLOB)"
        )
        rows = self._connection.execute("SELECT vector FROM item ORDER BY seq").fetchall()
        self._used = len(rows)
        self._vectors = np.zeros((max(1024, len(rows)), WIDTH), dtype=np.float32)
        for at, (vector,) in enumerate(rows):
            self._vectors[at] = np.frombuffer(vector, dtype=np.float32)

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        vectors = self._embedder.embed([item.text for item in items])
        rows = []
        for at, item in enumerate(items):
            rows.append((self._used + at, item.id, item.text, vectors[at].tobytes()))
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO item VALUES (?, ?, ?, ?)", rows)
        self._connection.execute("COMMIT")
        self._grow(self._used + len(rows))
        self._vectors[self._used : self._used + len(rows)] = vectors
        self._used += len(rows)

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        scores = self._vectors[: self._used] @ self._embedder.embed([query])[0]
        best = np.argsort(-scores, kind="stable")[:limit]
        found = []
        for seq in best:
            row = self._connection.execute("SELECT id, text FROM item WHERE seq = ?", (int(seq),))
            found.append(row.fetchone()[0])
        return found

    def count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM item").fetchone()[0])

    def close(self) -> None:
        self._connection.close()

    def _grow(self, needed: int) -> None:
        if needed > len(self._vectors):
            larger = np.zeros((max(needed, 2 * len(self._vectors)), WIDTH), dtype=np.float32)
            larger[: self._used] = self._vectors[: self._used]
            self._vectors = larger


class Mem0Engine:
    """mem0 without an LLM: `infer=False` stores the text as it is."""

    store: ClassVar[dict[str, Any]]

    def __init__(self, home: Path) -> None:
        os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="unused", MEM0_DIR=str(home / "mem0"))
        from mem0 import Memory

        place = {"path": str(home / "vectors"), "collection_name": "items", "embedding_model_dims": WIDTH}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": self.store["provider"], "config": place | self.store["config"]},
                "history_db_path": str(home / "history.db"),
            }
        )
        self._memory.embedding_model = Mem0Embedder()

    def add(self, item: Item) -> None:
        self._memory.add(item.text, user_id="one", metadata={"key": item.id}, infer=False)

    def add_many(self, items: Sequence[Item]) -> None:
        for item in items:
            self.add(item)

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        found = self._memory.search(query, filters={"user_id": "one"}, top_k=limit, threshold=0.0)
        return [hit["metadata"]["key"] for hit in found["results"]]

    def count(self) -> int:
        return len(self._memory.get_all(filters={"user_id": "one"}, top_k=1_000_000)["results"])

    def close(self) -> None:
        self._memory.close()


class Mem0Embedder:
    """The shared embedder as mem0 calls it."""

    def __init__(self) -> None:
        self._embedder = WordLlama()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._embedder.embed([text])[0].tolist()  # type: ignore[no-any-return]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return self._embedder.embed(texts).tolist()  # type: ignore[no-any-return]


class Mem0QdrantEngine(Mem0Engine):
    store: ClassVar = {"provider": "qdrant", "config": {"on_disk": True}}


class Mem0FaissEngine(Mem0Engine):
    store: ClassVar = {"provider": "faiss", "config": {"distance_strategy": "cosine"}}


class LangGraphEngine:
    """LangGraph's `SqliteStore`, whose vectors are in sqlite-vec."""

    def __init__(self, home: Path) -> None:
        from langgraph.store.sqlite import SqliteStore

        embedder = WordLlama()
        index = {
            "dims": WIDTH,
            "embed": lambda texts: embedder.embed(texts).tolist(),
            "text_fields": ["text"],
        }
        self._context = SqliteStore.from_conn_string(str(home / "store.db"), index=index)
        self._store = self._context.__enter__()
        self._store.setup()

    def add(self, item: Item) -> None:
        self._store.put(("one",), item.id, {"text": item.text})

    def add_many(self, items: Sequence[Item]) -> None:
        from langgraph.store.base import PutOp

        jobs = []
        for item in items:
            jobs.append(PutOp(namespace=("one",), key=item.id, value={"text": item.text}))
        for at in range(0, len(jobs), 1000):
            self._store.batch(jobs[at : at + 1000])

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        return [found.key for found in self._store.search(("one",), query=query, limit=limit)]

    def count(self) -> int:
        return int(self._store.conn.execute("SELECT count(*) FROM store").fetchone()[0])

    def close(self) -> None:
        self._context.__exit__(None, None, None)


class ChromaEngine:
    """Chroma in the process, kept in a folder."""

    def __init__(self, home: Path) -> None:
        import chromadb
        from chromadb.config import Settings

        self._embedder = WordLlama()
        settings = Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(path=str(home / "chroma"), settings=settings)
        self._items = self._client.get_or_create_collection(
            "items", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        size = min(5000, self._client.get_max_batch_size())
        for at in range(0, len(items), size):
            part = items[at : at + size]
            texts = [item.text for item in part]
            vectors = self._embedder.embed(texts)
            self._items.add(ids=[item.id for item in part], documents=texts, embeddings=vectors)

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        found = self._items.query(
            query_embeddings=self._embedder.embed([query]), n_results=limit, include=["documents"]
        )
        return list(found["ids"][0])

    def count(self) -> int:
        return int(self._items.count())

    def close(self) -> None:
        self._client.close()


def embed_texts(texts: Sequence[str]) -> Any:
    """The shared embedder as txtai calls it: by the name of a function, which it saves with the index."""
    return WordLlama().embed(texts)


class TxtaiEngine:
    """txtai, hybrid with content; everything is in memory until it is saved."""

    def __init__(self, home: Path) -> None:
        os.environ["ALLOW_RESOLVE_TRANSFORM"] = "True"  # txtai's leave to load a function by its name
        from txtai import Embeddings

        self._path = str(home / "txtai")
        self._unsaved = False
        transform = f"{__name__}.embed_texts"
        self._embeddings = Embeddings(method="external", transform=transform, hybrid=True, content=True)
        if Path(self._path).exists():
            self._embeddings.load(self._path)

    def add(self, item: Item) -> None:
        self._embeddings.upsert([(item.id, item.text)])
        self._unsaved = True

    def add_many(self, items: Sequence[Item]) -> None:
        rows = []
        for item in items:
            rows.append((item.id, item.text))
        self._embeddings.upsert(rows)
        self._embeddings.save(self._path)

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        return [found["id"] for found in self._embeddings.search(query, limit)]

    def count(self) -> int:
        if self._embeddings.config is None or not self._embeddings.ann:
            return 0
        return int(self._embeddings.count())

    def close(self) -> None:
        if self._unsaved:
            self._embeddings.save(self._path)
        self._embeddings.close()


class LanceEngine:
    """LanceDB with a vector column and a full-text index, asked for both at once."""

    def __init__(self, home: Path) -> None:
        import lancedb
        import pyarrow as pa

        self._embedder = WordLlama()
        database = lancedb.connect(str(home / "lance"))
        if "items" in database.list_tables().tables:
            self._table = database.open_table("items")
            return
        columns = [("id", pa.string()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), WIDTH))]
        self._table = database.create_table("items", schema=pa.schema(columns))
        self._table.create_fts_index("text")

    def add(self, item: Item) -> None:
        self._insert([item])

    def add_many(self, items: Sequence[Item]) -> None:
        self._insert(items)
        self._table.optimize()

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        words = "".join(letter if letter.isalnum() else " " for letter in query)
        asked = self._table.search(query_type="hybrid").vector(self._embedder.embed([query])[0]).text(words)
        return [str(row["id"]) for row in asked.limit(limit).to_list()]

    def count(self) -> int:
        return int(self._table.count_rows())

    def close(self) -> None:
        pass

    def _insert(self, items: Sequence[Item]) -> None:
        vectors = self._embedder.embed([item.text for item in items])
        rows = []
        for at, item in enumerate(items):
            rows.append({"id": item.id, "text": item.text, "vector": vectors[at]})
        self._table.add(rows)


class GraphitiEngine:
    """Graphiti over embedded Kuzu. Its own way in needs a language model; here each text becomes an edge."""

    def __init__(self, home: Path) -> None:
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        import asyncio

        from graphiti_core import Graphiti
        from graphiti_core.cross_encoder.client import CrossEncoderClient
        from graphiti_core.driver.kuzu_driver import KuzuDriver
        from graphiti_core.embedder.client import EmbedderClient
        from graphiti_core.llm_client.client import LLMClient

        embedder = self._embedder = WordLlama()

        class Embedder(EmbedderClient):  # type: ignore[misc, unused-ignore]
            async def create(self, input_data: Any) -> Any:
                return embedder.embed([input_data if isinstance(input_data, str) else input_data[0]])[
                    0
                ].tolist()

        class Nobody(LLMClient, CrossEncoderClient):  # type: ignore[misc, unused-ignore]
            def __init__(self) -> None:
                pass

            async def _generate_response(self, *_: Any, **__: Any) -> Any:
                raise NotImplementedError

            async def rank(self, query: str, passages: list[str]) -> Any:
                raise NotImplementedError

        made = (home / "graph.kuzu").exists()
        self._loop = asyncio.new_event_loop()
        self._driver = KuzuDriver(db=str(home / "graph.kuzu"))
        self._graph = Graphiti(
            graph_driver=self._driver, llm_client=Nobody(), embedder=Embedder(), cross_encoder=Nobody()
        )
        self._nodes = [f"{name}-of-the-bench" for name in ("user", "memory")]
        if not made:
            self._loop.run_until_complete(self._prepare())

    async def _prepare(self) -> None:
        from graphiti_core.nodes import EntityNode

        await self._driver.graph_ops.build_indices_and_constraints(self._driver)
        for uuid in self._nodes:
            vector = self._embedder.embed([uuid])[0].tolist()
            await EntityNode(uuid=uuid, name=uuid, group_id=GROUP, name_embedding=vector).save(self._driver)

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        vectors = self._embedder.embed([item.text for item in items])
        for item, vector in zip(items, vectors, strict=True):
            self._loop.run_until_complete(self._write(item, vector.tolist()))

    async def _write(self, item: Item, vector: list[float]) -> None:
        from graphiti_core.edges import EntityEdge

        edge = EntityEdge(
            uuid=item.id,
            group_id=GROUP,
            source_node_uuid=self._nodes[0],
            target_node_uuid=self._nodes[1],
            created_at=dt.datetime.now(dt.UTC),
            name="SAID",
            fact=item.text,
            fact_embedding=vector,
        )
        await edge.save(self._driver)

    def search(self, query: str, limit: int, now: float | None = None) -> list[str]:
        asked = self._graph.search(query, group_ids=[GROUP], num_results=limit)
        return [edge.uuid for edge in self._loop.run_until_complete(asked)]

    def count(self) -> int:
        asked = self._driver.execute_query("MATCH (e:RelatesToNode_) RETURN count(e) AS count")
        return int(self._loop.run_until_complete(asked)[0][0]["count"])

    def close(self) -> None:
        self._loop.run_until_complete(self._graph.close())
        self._loop.close()


ENGINES: dict[str, type[Any]] = {
    "eidet": EidetEngine,
    "mem0-qdrant": Mem0QdrantEngine,
    "mem0-faiss": Mem0FaissEngine,
    "langgraph": LangGraphEngine,
    "chroma": ChromaEngine,
    "txtai": TxtaiEngine,
    "lancedb": LanceEngine,
    "graphiti": GraphitiEngine,
    "floor": FloorEngine,
}
