"""`EidetDocumentStore` and its retriever."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

from ...core.draft import Draft
from ...core.errors import BadInput, Misconfigured
from ...core.record import Record, key_id
from ...core.scope import Scope
from ...core.where import Condition, Where
from ...memory import Memory
from ...store.traits import path_of
from ..extras import RisingTimes, finish, finishing, make_missing, walk
from .metadata_filters import DocumentFields, document_of, narrow, recall_filtered

try:
    from haystack.utils import Secret
except ModuleNotFoundError as error:
    raise make_missing("Haystack", "haystack") from error

Place: TypeAlias = Memory | str | Path | Secret


class OpenedPlace:
    """A memory, or the place of one that is opened when it is first used; only a place can be serialized."""

    def __init__(self, given: Place) -> None:
        self.given = given
        self._memory: Memory | None = None
        self._lock = threading.Lock()
        if isinstance(given, Memory):
            self._memory = given

    @property
    def memory(self) -> Memory:
        with self._lock:
            if self._memory is None:
                self._memory = Memory(_resolve(self.given))
            return self._memory

    def to_dict(self) -> Any:
        given = self.given
        if isinstance(given, Secret):
            return given.to_dict()
        if isinstance(given, Memory):
            path = path_of(given.parts.store)
            if path is None:
                raise Misconfigured("only a memory in a file can be serialized; name its place instead")
            return str(path)
        place = str(given)
        if "://" in place and ("@" in place or "?" in place):
            raise Misconfigured(
                "an address with a login or options is not serialized; give it as Secret.from_env_var('…')"
            )
        return place

    def close(self) -> None:
        """Closes the memory if it was opened here."""
        with self._lock:
            if self._memory is not None and not isinstance(self.given, Memory):
                self._memory.close()
                self._memory = None


def _resolve(given: Any) -> str | Path:
    if not isinstance(given, Secret):
        return given
    place = given.resolve_value()
    if not place:
        raise Misconfigured("the secret that names the memory is empty")
    return str(place)


def check_list(given: Any, kind: type) -> None:
    """`BadInput`, which is a ValueError, unless it is a list of these."""
    if not isinstance(given, list):
        raise BadInput(f"give a list of {kind.__name__}, not {type(given).__name__}")
    for item in given:
        if not isinstance(item, kind):
            raise BadInput(f"give a list of {kind.__name__}, not one with {type(item).__name__}")


try:
    from haystack import component, default_from_dict, default_to_dict
    from haystack.dataclasses import Document
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.types import DuplicatePolicy
    from haystack.utils.filters import document_matches_filter
except ModuleNotFoundError as error:
    raise make_missing("Haystack", "haystack") from error

_DOCUMENT: Final = Where(conditions=(Condition("meta.haystack", "=", "document"),))


class EidetDocumentStore(DocumentFields):
    """Documents in one scope of a memory. They come back exactly; `memory.recall` finds them, too.

    With `use_embeddings`, the embeddings of documents are the vectors of the memory, whose embedder must be
    the same model. Otherwise the memory embeds the texts itself, and embeddings are kept beside them.
    """

    def __init__(self, memory: Place, *, scope: str = "default", use_embeddings: bool = False) -> None:
        self.scope: str = Scope.exactly(scope).path
        self.use_embeddings = use_embeddings
        self._place = OpenedPlace(memory)
        self._lock = threading.Lock()
        self._times: RisingTimes | None = None

    @property
    def memory(self) -> Memory:
        return self._place.memory

    def close(self) -> None:
        self._place.close()

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self, memory=self._place.to_dict(), scope=self.scope, use_embeddings=self.use_embeddings
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return default_from_dict(cls, data)

    def count_documents(self) -> int:
        return self.memory.count(_DOCUMENT, scope=self.scope)

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        return len(self.filter_documents(filters))

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """The documents that match, in the order in which they were written."""
        return [document for _, document in self._read(filters)]

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Writes documents, all or none; how many. Without a policy, a document that exists is an error."""
        check_list(documents, Document)
        with self._lock:
            fresh: dict[str, Document] = {}
            there = self._existing(documents)
            for document in documents:
                known = document.id in there or document.id in fresh
                if known and policy in (DuplicatePolicy.NONE, DuplicatePolicy.FAIL):
                    raise DuplicateDocumentError(f"ID '{document.id}' already exists.")
                if not known or policy is DuplicatePolicy.OVERWRITE:
                    fresh[document.id] = document
            self._store(fresh)
        return len(documents) if policy is DuplicatePolicy.OVERWRITE else len(fresh)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Deletes documents; ids that are not there are passed over."""
        ids = [key_id(name) for name in document_ids]
        self.memory.forget(ids, scope=self.scope, for_good=False)

    def delete_all_documents(self) -> None:
        self.memory.forget(where=_DOCUMENT, scope=self.scope, for_good=False)

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Deletes the documents that match; how many."""
        with self._lock:
            names = [document.id for document in self.filter_documents(filters)]
            self.delete_documents(names)
        return len(names)

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Merges metadata into the documents that match, all or none; how many."""
        with self._lock:
            drafts = []
            for record, document in self._read(filters):
                document.meta.update(meta)
                drafts.append(_draft_document(document, record.occurred, self.use_embeddings))
            self.memory.remember(
                drafts, scope=self.scope, keep_duplicates=True, again=True, read_speakers=True
            )
        return len(drafts)

    def search(
        self,
        query: str = "",
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
        query_embedding: Sequence[float] | None = None,
    ) -> list[Document]:
        """Finds documents for a query or an embedding, best first, scored from 0 to 1."""
        options = {"vector": query_embedding}
        found = recall_filtered(self.memory, query, self.scope, top_k, _DOCUMENT, filters, options)
        return [document for _, document in found]

    count_documents_async = finishing(count_documents)
    count_documents_by_filter_async = finishing(count_documents_by_filter)
    filter_documents_async = finishing(filter_documents)
    write_documents_async = finishing(write_documents)
    delete_documents_async = finishing(delete_documents)
    delete_all_documents_async = finishing(delete_all_documents)
    delete_by_filter_async = finishing(delete_by_filter)
    update_by_filter_async = finishing(update_by_filter)

    def _existing(self, documents: Sequence[Document]) -> set[str]:
        ids = [key_id(document.id) for document in documents]
        found = self.memory.get(ids, scope=self.scope)
        return {str(record.meta["id"]) for record in found if record}

    def _store(self, documents: Mapping[str, Document]) -> None:
        if self._times is None:
            self._times = RisingTimes(self.memory.parts.clock)
        drafts = [
            _draft_document(document, at, self.use_embeddings)
            for document, at in zip(documents.values(), self._times.take(len(documents)), strict=True)
        ]
        self.memory.remember(drafts, scope=self.scope, keep_duplicates=True, again=True, read_speakers=True)

    def _read(self, filters: dict[str, Any] | None) -> list[tuple[Record, Document]]:
        found = []
        for record in walk(self.memory, narrow(_DOCUMENT, filters), self.scope):
            document = document_of(record)
            if not filters or document_matches_filter(filters, document):
                found.append((record, document))
        return found


def _draft_document(document: Document, at: float, use_embeddings: bool) -> Draft:
    """Text and metadata where the memory looks for them; all else, and a blank text, in `data`."""
    about = document.to_dict(flatten=False)
    data = {
        name: about[name]
        for name in ("embedding", "sparse_embedding", "blob", "score")
        if about[name] is not None
    }
    text = document.content
    if text is None or not text.strip():
        data["content"] = text
        text = document.id
    return Draft(
        key=document.id,
        kind="document",
        text=text,
        data=data or None,
        meta={"haystack": "document", "id": document.id, "meta": document.meta},
        occurred=at,
        vector=document.embedding if use_embeddings else None,
    )


@component
class EidetDocumentRetriever:
    """A component that recalls documents: by meaning, words, names and dates, or by an embedding."""

    def __init__(
        self,
        document_store: EidetDocumentStore,
        *,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
    ) -> None:
        self.document_store = document_store
        self.top_k = top_k
        self.filters = filters

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self, document_store=self.document_store.to_dict(), top_k=self.top_k, filters=self.filters
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        """Filters and `top_k` of a run take the place of the retriever's own."""
        documents = self.document_store.search(
            query,
            filters=filters or self.filters,
            top_k=top_k or self.top_k,
            query_embedding=query_embedding,
        )
        return {"documents": documents}

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    async def run_async(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        return await finish(partial(self.run, query, filters, top_k, query_embedding))
