"""Reading for the adapter to Haystack: its filters, and what is known of the metadata of documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from ...core.record import Record
from ...core.validate import dump_json
from ...core.where import Condition, Where
from ...memory import Memory
from ..extras import finishing, make_missing

try:
    from haystack.dataclasses import ByteStream, Document, SparseEmbedding
    from haystack.utils.filters import document_matches_filter
except ModuleNotFoundError as error:
    raise make_missing("Haystack", "haystack") from error

Filters = dict[str, Any]

DATE: Final = 10  # characters of the shortest date, such as 2026-11-17
_FIELDS: Final = ("id", "content", "blob", "score", "embedding", "sparse_embedding")


def document_of(record: Record, score: float | None = None) -> Document:
    """The document or message that a record holds, as Haystack's filters and components see it."""
    whole = record.whole
    more: dict[str, Any] = {}
    if isinstance(whole.data, dict):
        more.update(whole.data)
    if more.get("blob") is not None:
        more["blob"] = ByteStream.from_dict(more["blob"])
    if more.get("sparse_embedding") is not None:
        more["sparse_embedding"] = SparseEmbedding.from_dict(more["sparse_embedding"])
    if score is not None:
        more["score"] = score
    about: Any = {"content": whole.text, **more}
    return Document(id=str(record.meta["id"]), meta=deepcopy(record.meta["meta"]), **about)


def recall_filtered(
    memory: Memory,
    query: str,
    scope: str,
    limit: int,
    where: Where,
    filters: Filters | None,
    options: Mapping[str, Any],
) -> list[tuple[Record, Document]]:
    """The best `limit` that pass Haystack's filters; asks for more until there are enough, or no more."""
    narrowed, wanted = narrow(where, filters), limit
    while True:
        hits = memory.recall(query, scope=scope, limit=wanted, where=narrowed, least=0, **options)
        found = []
        for hit in hits:
            document = document_of(hit.record, hit.score)
            if not filters or document_matches_filter(filters, document):
                found.append((hit.record, document))
        if len(found) >= limit or len(hits) < wanted:
            return found[:limit]
        wanted *= 2


def _check_filters(filters: Filters | None) -> None:
    if filters and "operator" not in filters and "conditions" not in filters:
        raise ValueError("invalid filter: it needs an operator, and conditions or a field with a value")


def narrow(where: Where, filters: Filters | None) -> Where:
    """A filter that the store can apply and that lets pass whatever Haystack's would; often a few more."""
    _check_filters(filters)
    implied = _imply(filters or {})
    return where if implied is None else where & implied


def _imply(filters: Any) -> Where | None:
    """A condition that a filter implies; None if the store cannot express what Haystack means."""
    if not isinstance(filters, dict):
        return None
    if "field" in filters:
        return _imply_comparison(filters)
    parts = [_imply(inner) for inner in filters.get("conditions") or ()]
    if filters.get("operator") == "AND":
        return _join([part for part in parts if part is not None], "every")
    if filters.get("operator") == "OR" and None not in parts:
        return _join([part for part in parts if part is not None], "some")
    return None


def _join(parts: Sequence[Where], how: str) -> Where | None:
    if not parts:
        return None
    if how == "every":
        return Where(every=tuple(parts))
    return Where(some=tuple(parts))


def _imply_comparison(filters: Filters) -> Where | None:
    """Translates equality of plain strings; Haystack compares all else by its own rules, dates above all."""
    field, operator, value = filters["field"], filters.get("operator"), filters.get("value")
    if operator == "==":
        value = [value]
    elif operator != "in":
        return None
    if not isinstance(field, str) or field in _FIELDS or not isinstance(value, list):
        return None
    for one in value:
        if not isinstance(one, str) or (len(one) >= DATE and one[:4].isdigit()):
            return None
    steps = field.removeprefix("meta.").split(".")
    if "" in steps:
        return None
    return Where(conditions=(Condition(("meta", "meta", *steps), "in", value),))


class DocumentFields(ABC):
    """Statistics of document metadata. Each call reads all documents that match."""

    @abstractmethod
    def filter_documents(self, filters: Filters | None = None) -> list[Document]: ...

    def count_unique_metadata_by_filter(
        self, filters: dict[str, Any], metadata_fields: list[str]
    ) -> dict[str, int]:
        """Counts the different values of each field among the documents that match."""
        values: dict[str, set[str]] = {}
        documents = self.filter_documents(filters)
        for field in metadata_fields:
            name = field.removeprefix("meta.")
            values[name] = set(_distinct(documents, name))
        return {name: len(found) for name, found in values.items()}

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """The type of each field: boolean, int, float, or keyword for all else."""
        return {
            name: {"type": _TYPES.get(type(value), "keyword")}
            for document in self.filter_documents()
            for name, value in document.meta.items()
            if value is not None
        }

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        """Returns the least and greatest value; None if there are none or they do not compare."""
        found = _distinct(self.filter_documents(), metadata_field.removeprefix("meta."))
        values = [value for value in found.values() if isinstance(value, int | float | str)]
        try:
            return {"min": min(values, default=None), "max": max(values, default=None)}
        except TypeError:  # numbers and strings
            return {"min": None, "max": None}

    def get_metadata_field_unique_values(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: dict[str, Any] | None = None,
    ) -> tuple[list[Any], int]:
        """A page of the different values of a field, in order, and how many there are."""
        wanted = (search_term or "").lower()
        found = [
            (str(value), name, value)
            for name, value in _distinct(
                self.filter_documents(filters), metadata_field.removeprefix("meta.")
            ).items()
            if wanted in str(value).lower()
        ]
        found.sort(key=lambda entry: entry[:2])
        return [value for _, _, value in found[from_ : from_ + size]], len(found)

    count_unique_metadata_by_filter_async = finishing(count_unique_metadata_by_filter)
    get_metadata_fields_info_async = finishing(get_metadata_fields_info)
    get_metadata_field_min_max_async = finishing(get_metadata_field_min_max)
    get_metadata_field_unique_values_async = finishing(get_metadata_field_unique_values)


_TYPES: Final = {bool: "boolean", int: "int", float: "float"}


def _distinct(documents: Sequence[Document], name: str) -> dict[str, Any]:
    """The values of a field, each once: 1, 1.0, "1" and true are four."""
    found: dict[str, Any] = {}
    for document in documents:
        value = document.meta.get(name)
        if value is not None:
            found.setdefault(f"{type(value).__name__} {dump_json(value)}", value)
    return found
