"""Texts searched by meaning: the cosine of their vectors with that of the query."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np

from ...core.errors import Misconfigured, MissingExtra
from ...core.hit import Hit, Hits
from ...core.settings import Settings, settings_of
from ...memory import Memory
from ...models.embed import BUILT_IN, Embedder, Vectors, embedder_of
from ...models.embed.quantise import first_rows
from ...store.sql.inspect_file import file_of
from ...trust.seal.service import Key
from ..opening import COSINE, Place, embed_query, is_shared, open_with_embedder
from .stores import InMemoryStore, check_count

MODEL: Final = "all-MiniLM-L6-v2"
log: logging.Logger = logging.getLogger("eidet")


class VectorMemoryStore(InMemoryStore):
    """Texts with their vectors; `search` ranks by cosine. `memory.recall` ranks them in all other ways.

    `model_name` is looked up among the embedders; `model` is your own (an embedder, a callable, an object
    with `encode`) and takes precedence. A memory that has vectors already keeps the embedder that made
    them. `index` is the address of another vector database, for a memory that is opened here:
    "pinecone+https://INDEX-HOST?key=env:PINECONE_API_KEY", "weaviate+http://host:8080",
    "milvus+http://host:19530", "qdrant+http://host:6333" (see docs/operate/vector-databases.md).
    """

    def __init__(
        self,
        model_name: str = MODEL,
        *,
        model: object = None,
        index: str | None = None,
        memory: Place = None,
        privacy: object = None,
        key: Key | None = None,
        settings: Settings | None = None,
        **how: Any,
    ) -> None:
        self.last: Hits | None = None  # what the last search found, for `feedback`
        place = open_for_vectors(
            memory, model_name, model, settings=settings_with_index(settings, index), guard=privacy, key=key
        )
        super().__init__(memory=place, **{"name": "vectors", **how})
        self._owned = not is_shared(memory)

    @classmethod
    def over(cls, store: InMemoryStore) -> VectorMemoryStore:
        """Returns a view that searches the texts of another store by meaning; nothing is stored twice."""
        return cls(
            memory=store.memory,
            scope=store.scope,
            name=store.name,
            kind=store.kind,
            agent=store.agent,
            ttl_seconds=store.ttl_seconds,
        )

    def shares(self, store: object) -> bool:
        """Returns whether both are views of the same texts."""
        return (
            isinstance(store, InMemoryStore)
            and store.memory is self.memory
            and (store.scope, store.name) == (self.scope, self.name)
        )

    @property
    def model(self) -> Embedder:
        return self.memory.parts.embedder

    @property
    def keys(self) -> list[str]:
        return [self.key(record) for record in self.records()]

    @property
    def texts(self) -> list[str]:
        return [self.show(record) for record in self.records()]

    @property
    def embeds(self) -> list[Vectors]:
        """The vectors of the texts, of length one; for a long text, the vector of its beginning."""
        found = self.records()
        rows = first_rows([r.vector for r in found], [r.level for r in found], self.model.width)
        return [_unit(row) for row in rows]

    def _embed(self, txt: str) -> Vectors:
        return _unit(embed_query(self.memory, txt))

    def search(self, query: str, top_k: int = 5) -> list[tuple[str, str, float]]:
        count = check_count(top_k)
        if count == 0:
            return []
        asked = self._embed(query)
        self.last = self.memory.recall(
            query, scope=self.scope, where=self._where, limit=count, vector=asked, recipe=COSINE,
            understand=False,
        )  # fmt: skip
        scored = [(self.key(hit.record), self.show(hit.record), _cosine(hit)) for hit in self.last]
        return sorted(scored, key=lambda told: -told[2])


def open_for_vectors(memory: Place, model_name: str, model: object = None, **how: Any) -> Memory:
    """Opens the memory with `model`, or with `model_name`; an existing memory keeps its own by default."""
    embedder = None if model is None else embedder_of(model)
    if embedder is None and not is_shared(memory) and (model_name != MODEL or _is_new(memory)):
        embedder = _find_embedder(model_name)
    advice = "open it with embedder=…, or change it for good with `eidet rebuild --reembed`"
    return open_with_embedder(memory, embedder, advice, **how)


def _is_new(memory: Place) -> bool:
    """Returns whether the memory must be empty; False for a server, where that is unknown."""
    if memory is None or str(memory).startswith("ram://"):
        return True
    file = file_of(str(memory))
    return file is not None and not file.exists()


def _find_embedder(model_name: str) -> Embedder:
    """Returns our embedder of that name, else the sentence-transformers model.

    For the default model, weights from either extra are used. If neither is installed, the default
    embedder is used and a warning is logged.
    """
    if model_name.removeprefix("sentence-transformers/") == MODEL:
        return _minilm()
    if model_name.partition(":")[0] in BUILT_IN:
        return embedder_of(model_name)
    try:
        return embedder_of(model_name)
    except Misconfigured:
        return embedder_of(f"sentence-transformers:{model_name}")


def _minilm() -> Embedder:
    for name in ("minilm", f"sentence-transformers:{MODEL}"):
        try:
            return embedder_of(name)
        except MissingExtra:
            continue
    found = embedder_of()
    _say_once(
        f"{MODEL} is not installed (pip install 'eidet[minilm]'): vectors are made by {found.name} instead"
    )
    return found


@cache
def _say_once(words: str) -> None:
    log.warning(words)


def settings_with_index(settings: Settings | None, index: str | None) -> Settings | None:
    return settings if index is None else replace(settings_of(settings), index=index)


def _cosine(hit: Hit) -> float:
    return next((signal.value for signal in hit.signals if signal.name == "dense"), 0.0)


def _unit(row: Vectors) -> Vectors:
    length = float(np.linalg.norm(row))
    unit: Vectors = row / length if length > 0 else row
    return unit
