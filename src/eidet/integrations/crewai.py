"""`EidetStorage`: a `StorageBackend` that keeps the records of a CrewAI memory.

All records of a storage are in one scope of a memory; the paths of CrewAI (`/company/team`) are kept with
them. CrewAI ranks by the vectors that its embedder makes, so let the memory make them:
`crewai.Memory(storage=storage, embedder=storage.embed)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final, Self

from ..compat.opening import find_nearest
from ..core.draft import Draft
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.where import Condition, Where
from ..memory import Memory
from ..models.embed.quantise import list_rows
from .extras import finishing, make_missing

try:
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
    from crewai.memory.types import MemoryRecord, ScopeInfo
except ModuleNotFoundError as error:
    raise make_missing("CrewAI", "crewai") from error

_OURS: Final = Where(conditions=(Condition("meta.crewai", "=", "memory"),))
_HINT: Final = (
    "This memory has vectors of another embedder: pass embedder=storage.embed to crewai.Memory, "
    "or open the eidet.Memory with the embedder that CrewAI uses."
)


class EidetStorage:
    """Keeps the records of a CrewAI memory in one scope of a memory."""

    def __init__(self, memory: Memory, *, scope: str = "crewai") -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path

    def __deepcopy__(self, _memo: object) -> Self:
        """Returns itself: copies of a crew share the memory, which is opened once."""
        return self

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns vectors of the memory's own embedder, one per text, in their order."""
        rows: list[list[float]] = self.memory.parts.embedder.embed(list(texts)).tolist()
        return rows

    def save(self, records: list[MemoryRecord]) -> None:
        """Stores records, all or none; one with an existing id replaces that record."""
        drafts = []
        for record in records:
            self._check_width(record.embedding)
            drafts.append(_draft(record))
        self.memory.remember(drafts, scope=self.scope, keep_duplicates=True, again=True, read_speakers=True)

    def update(self, record: MemoryRecord) -> None:
        """Replaces the record with this id. Its earlier versions stay in the memory's history."""
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Returns records by the cosine of their vectors, best first, with that cosine (at least 0)."""
        self._check_width(query_embedding)
        if limit <= 0:
            return []
        where = _where(scope_prefix, categories, metadata_filter)
        near = find_nearest(self.memory, query_embedding, scope=self.scope, where=where, limit=limit, least=0)
        scored = ((record, max(0.0, cosine)) for record, cosine in near)
        return [(self._restore(record), score) for record, score in scored if score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Deletes records that meet all criteria, or all without any. An empty `record_ids` means none."""
        where = _where(scope_prefix, categories, metadata_filter)
        if record_ids is not None:
            where &= Where(ids=[key_id(id) for id in record_ids])
        if older_than is not None:
            where &= Where(conditions=(Condition("meta.created", "<", _seconds(older_than)),))
        return int(self.memory.forget(where=where, scope=self.scope, for_good=False))

    def get_record(self, record_id: str) -> MemoryRecord | None:
        record = self.memory.get(key_id(record_id), scope=self.scope)
        return None if record is None else self._restore(record)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Lists records, newest first."""
        if limit <= 0 or offset < 0:
            return []
        found = self.memory.find(
            _where(scope_prefix), scope=self.scope, order="-occurred", limit=limit, offset=offset
        )
        return [self._restore(record) for record in found]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        records, path = self._read_below(scope), _path(scope)
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=path,
            record_count=len(records),
            categories=sorted(self.list_categories(scope)),
            oldest_record=min(times, key=_seconds, default=None),
            newest_record=max(times, key=_seconds, default=None),
            child_scopes=_children(path, records),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Returns the paths one step below `parent`."""
        return _children(_path(parent), self._read_below(parent))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        return dict(Counter(chain.from_iterable(one.categories for one in self._read_below(scope_prefix))))

    def count(self, scope_prefix: str | None = None) -> int:
        return self.memory.count(_where(scope_prefix), scope=self.scope)

    def reset(self, scope_prefix: str | None = None) -> None:
        self.delete(scope_prefix=scope_prefix)

    asave = finishing(save)
    asearch = finishing(search)
    adelete = finishing(delete)

    def _restore(self, record: Record) -> MemoryRecord:
        """Returns the record with its vector, so that CrewAI keeps it when it updates another field."""
        restored = _read(record)
        (rows,) = list_rows([record], self.memory.parts.embedder.width)
        if record.vector is not None and len(rows) == 1:
            restored.embedding = rows[0].tolist()
        return restored

    def _read_below(self, scope_prefix: str | None) -> list[MemoryRecord]:
        return [_read(one) for one in self.memory.find(_where(scope_prefix), scope=self.scope, limit=None)]

    def _check_width(self, vector: Sequence[float] | None) -> None:
        """Raises CrewAI's own error for vectors that cannot be compared with those of this memory."""
        width = self.memory.parts.embedder.width
        if vector and len(vector) != width:
            mismatch = EmbeddingDimensionMismatchError(width, len(vector))
            mismatch.add_note(_HINT)
            raise mismatch


def _draft(record: MemoryRecord) -> Draft:
    """Stores the whole record in `data`; `meta` has what filters use, which no tier rounds."""
    whole = record.model_dump(mode="json")
    return Draft(
        key=record.id,
        kind="fact",
        text=record.content.strip() or "[empty]",
        data=whole,
        vector=record.embedding or None,
        importance=record.importance,
        occurred=_seconds(record.created_at),
        source=record.source or None,
        meta={
            "crewai": "memory",
            "paths": _paths(record.scope),
            "categories": list(record.categories),
            "metadata": whole["metadata"],
            "created": _seconds(record.created_at),
        },
    )


def _read(record: Record) -> MemoryRecord:
    """Returns the record as saved, without its vector; recalls update when it was last used."""
    saved = MemoryRecord.model_validate(record.whole.data)
    if record.last_used is not None and record.last_used > _seconds(saved.last_accessed):
        saved.last_accessed = datetime.fromtimestamp(record.last_used, UTC).replace(tzinfo=None)
    return saved


def _seconds(at: datetime) -> float:
    """Returns seconds since 1970; CrewAI's times without a zone are in UTC."""
    return at.replace(tzinfo=UTC).timestamp() if at.tzinfo is None else at.timestamp()


def _path(scope: str | None) -> str:
    steps = [step for step in (scope or "").split("/") if step]
    return "/" + "/".join(steps)


def _paths(scope: str) -> list[str]:
    """Returns a path and all paths above it, so that a record is found below each of them."""
    steps = [step for step in scope.split("/") if step]
    return ["/" + "/".join(steps[:count]) for count in range(len(steps) + 1)]


def _children(parent: str, records: Sequence[MemoryRecord]) -> list[str]:
    depth = len(_paths(parent))
    return sorted({below[depth] for one in records if len(below := _paths(one.scope)) > depth})


def _where(
    scope_prefix: str | None,
    categories: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Where:
    """Selects records at a path or below it, with one of the categories and all of the metadata."""
    where = _OURS
    if _path(scope_prefix) != "/":
        where &= Where(conditions=(Condition("meta.paths", "contains", _path(scope_prefix)),))
    if categories:
        where &= Where(some=tuple(map(_has_category, categories)))
    for name, value in (metadata or {}).items():
        where &= _has_metadata(name, value)
    return where


def _has_category(name: str) -> Where:
    return Where(conditions=(Condition("meta.categories", "contains", name),))


def _has_metadata(name: str, value: Any) -> Where:
    """Tests `record.metadata.get(name) == value`: None also matches a missing name."""
    path = ("meta", "metadata", name)
    equal = Where(conditions=(Condition(path, "=", value),))
    if value is None:
        return equal | Where(conditions=(Condition(path, "exists", False),))
    return equal
