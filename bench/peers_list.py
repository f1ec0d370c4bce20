"""Who is compared: pinned packages, and what has to be said about each. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """An engine with what has to be said about it."""

    title: str
    environment: str
    packages: tuple[str, ...]  # pinned; the first names the peer
    durable: str  # what `add` promises once it returned
    bulk: str  # the call that was used for many
    ranking: str
    chunk: int = 1_000_000  # texts per call of `add_many`: few where each text is a call of its own


PEERS = {
    "eidet": Peer(
        title="Eidet",
        environment="eidet",
        packages=(),
        durable="survives kill -9 (SQLite, WAL, NORMAL)",
        bulk="`remember([...])`",
        ranking="hybrid, all signals",
    ),
    "mem0-qdrant": Peer(
        title="mem0 + Qdrant local",
        environment="mem0",
        packages=("mem0ai==2.2.1", "qdrant-client==1.20.0", "faiss-cpu==1.15.1"),
        durable="written to SQLite by the local Qdrant",
        bulk="none without an LLM: one `add(infer=False)` for each text",
        ranking="vectors",
        chunk=200,
    ),
    "mem0-faiss": Peer(
        title="mem0 + FAISS",
        environment="mem0",
        packages=("mem0ai==2.2.1", "faiss-cpu==1.15.1", "qdrant-client==1.20.0"),
        durable="the whole index file is written again",
        bulk="none without an LLM: one `add(infer=False)` for each text",
        ranking="vectors",
        chunk=200,
    ),
    "langgraph": Peer(
        title="LangGraph SqliteStore",
        environment="langgraph",
        packages=("langgraph-checkpoint-sqlite==3.1.2", "sqlite-vec==0.1.9"),
        durable="SQLite commit",
        bulk="`batch` of 1,000 `PutOp`",
        ranking="vectors",
        chunk=1000,
    ),
    "chroma": Peer(
        title="Chroma",
        environment="chroma",
        packages=("chromadb==1.5.9",),
        durable="SQLite commit of its log",
        bulk="`add` of 5,000",
        ranking="vectors (HNSW)",
    ),
    "txtai": Peer(
        title="txtai hybrid",
        environment="txtai",
        packages=("txtai==9.14.0", "torch==2.13.0"),
        durable="none until `save`",
        bulk="`upsert` of all, then `save`",
        ranking="vectors (FAISS) and BM25",
    ),
    "lancedb": Peer(
        title="LanceDB hybrid",
        environment="lancedb",
        packages=("lancedb==0.40.0",),
        durable="a new version of the table on disk",
        bulk="`add` of all, then `optimize`",
        ranking="vectors (scan) and BM25, merged by rank",
    ),
    "graphiti": Peer(
        title="Graphiti + Kuzu",
        environment="graphiti",
        packages=("graphiti-core[kuzu]==0.31.1", "httpx==0.28.1"),
        durable="Kuzu commit",
        bulk="none without an LLM: one `EntityEdge.save` for each text",
        ranking="vectors (scan) and BM25 over edges, merged by rank",
        chunk=200,
    ),
    "floor": Peer(
        title="SQLite + numpy (floor)",
        environment="floor",
        packages=(),
        durable="SQLite commit (WAL, NORMAL)",
        bulk="one transaction",
        ranking="vectors (scan)",
    ),
}
