"""The request bodies of mem0's client. Unknown fields are ignored: newer clients may send more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...core.errors import BadInput
from ...core.validate import QUERY_CHARS
from ...integrations.mem0.entities import NAMES, Entities
from ...integrations.mem0.mem0_filters import parse_time
from ...integrations.mem0.mem0_items import Writing, clean_metadata, parse_expiration
from ...integrations.mem0.mem0_verbs import MemoryChange

_EntityId = str | int
Time = int | float | str
_MemoryKey = Annotated[str, Field(min_length=1, max_length=1000)]


class _ClientBody(BaseModel):
    """A body of mem0's client."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")


class AddBody(_ClientBody):
    """Messages to remember, and their owner: by name, or in `filters`."""

    messages: str | dict[str, Any] | list[Any]
    user_id: _EntityId | None = None
    agent_id: _EntityId | None = None
    app_id: _EntityId | None = None
    run_id: _EntityId | None = None
    filters: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    timestamp: Time | None = None
    expiration_date: str | None = None

    def parse(self, now: float) -> Writing:
        return Writing(
            entities=parse_entities(
                {**(self.filters or {}), **self.model_dump(include=set(NAMES), exclude_none=True)}
            ),
            metadata=clean_metadata(self.metadata, "add()"),
            expiration_date=parse_expiration(self.expiration_date),
            now=now,
        )


class _SelectionBody(_ClientBody):
    """A selection of memories."""

    filters: dict[str, Any] | None = None
    categories: list[str] | None = None
    show_expired: bool = False

    def join_filters(self) -> dict[str, Any]:
        """Combines the filter with what is given beside it."""
        if self.filters is None or not self.categories:
            return dict(self.filters or {})
        return {"AND": [self.filters, {"categories": {"in": self.categories}}]}


class ListBody(_SelectionBody):
    """Selects the memories to list."""

    start_date: str | None = None
    end_date: str | None = None

    def join_filters(self) -> dict[str, Any]:
        found, ends = super().join_filters(), {"gte": self.start_date, "lte": self.end_date}
        span = {name: day for name, day in ends.items() if day is not None}
        return {"AND": [found, {"created_at": span}]} if span else found


class SearchBody(_SelectionBody):
    """A question, and how to answer it."""

    query: Annotated[str, Field(max_length=QUERY_CHARS)]
    metadata: dict[str, Any] | None = None
    top_k: Annotated[int, Field(ge=1, le=10_000)] = 10
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.1
    fields: list[str] | None = None
    reference_date: Time | None = None
    latest_only: bool = False

    def join_filters(self) -> dict[str, Any]:
        found = super().join_filters()
        return {"AND": [found, {"metadata": self.metadata}]} if self.metadata else found


class UpdateBody(_ClientBody):
    """A change of a memory."""

    text: Annotated[str, Field(min_length=1)] | None = None
    metadata: dict[str, Any] | None = None
    timestamp: Time | None = None
    expiration_date: str | None = None

    def parse(self) -> MemoryChange:
        given: dict[str, Any] = {"text": self.text, "metadata": self.metadata}
        if "expiration_date" in self.model_fields_set:
            given["expiration_date"] = parse_expiration(self.expiration_date)
        if self.timestamp is not None:
            given["occurred"] = parse_time(self.timestamp, "timestamp")
        if given == {"text": None, "metadata": None}:
            raise BadInput("give text, metadata, timestamp or expiration_date")
        return MemoryChange(**given)


class _BatchUpdate(UpdateBody):
    """One memory of a batch, and its change."""

    memory_id: _MemoryKey


class BatchUpdateBody(_ClientBody):
    """Many changes."""

    memories: Annotated[list[_BatchUpdate], Field(min_length=1)]


class _NamedMemory(_ClientBody):
    """One memory of a batch."""

    memory_id: _MemoryKey


class BatchDeleteBody(_ClientBody):
    """Many memories to delete."""

    memories: Annotated[list[_NamedMemory], Field(min_length=1)]


class JudgementBody(_ClientBody):
    """Whether a memory was useful; null takes no side."""

    memory_id: _MemoryKey
    feedback: Literal["POSITIVE", "NEGATIVE", "VERY_NEGATIVE"] | None = None
    feedback_reason: str | None = None


def parse_entities(said: Mapping[str, Any]) -> Entities:
    """Parses the platform's entities, whose names may contain spaces."""
    for name in NAMES:
        if not isinstance(said.get(name), _EntityId | None):
            raise BadInput(f"{name} must be a text")
    return Entities.parse(said, spaces=True)
