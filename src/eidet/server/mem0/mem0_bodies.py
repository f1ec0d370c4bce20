"""What requests of mem0's client hold. What is not named here is let pass: newer clients may send more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...core.errors import BadInput
from ...core.limits import QUERY_CHARS
from ...integrations.mem0.entities import NAMES, Entities
from ...integrations.mem0.mem0_filters import read_time
from ...integrations.mem0.mem0_items import Writing, clean_metadata, read_expiration
from ...integrations.mem0.mem0_verbs import MemoryChange

EntityId = str | int
Time = int | float | str
MemoryKey = Annotated[str, Field(min_length=1, max_length=1000)]


class ClientBody(BaseModel):
    """A body of mem0's client."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")


class AddBody(ClientBody):
    """Messages to remember, and whose they are: by name, or in `filters`."""

    messages: str | dict[str, Any] | list[Any]
    user_id: EntityId | None = None
    agent_id: EntityId | None = None
    app_id: EntityId | None = None
    run_id: EntityId | None = None
    filters: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    timestamp: Time | None = None
    expiration_date: str | None = None

    def read(self, now: float) -> Writing:
        named: dict[str, Any] = dict(self.filters or {})
        for name in NAMES:
            value = getattr(self, name)
            if value is not None:
                named[name] = value
        return Writing(
            entities=read_entities(named),
            metadata=clean_metadata(self.metadata, "add()"),
            expiration_date=read_expiration(self.expiration_date),
            now=now,
        )

    def read_time(self) -> float | None:
        if self.timestamp is None:
            return None
        return read_time(self.timestamp, "timestamp")


class SelectionBody(ClientBody):
    """Which memories are meant."""

    filters: dict[str, Any] | None = None
    categories: list[str] | None = None
    show_expired: bool = False

    def read_filters(self) -> dict[str, Any]:
        """The filter, with what is said beside it."""
        if self.filters is None or not self.categories:
            return dict(self.filters or {})
        return {"AND": [self.filters, {"categories": {"in": self.categories}}]}


class ListBody(SelectionBody):
    """Which memories to list."""

    start_date: str | None = None
    end_date: str | None = None

    def read_filters(self) -> dict[str, Any]:
        found = super().read_filters()
        span: dict[str, Any] = {}
        if self.start_date is not None:
            span["gte"] = self.start_date
        if self.end_date is not None:
            span["lte"] = self.end_date
        if not span:
            return found
        return {"AND": [found, {"created_at": span}]}


class SearchBody(SelectionBody):
    """A question, and how to answer it."""

    query: Annotated[str, Field(max_length=QUERY_CHARS)]
    metadata: dict[str, Any] | None = None
    top_k: Annotated[int, Field(ge=1, le=10_000)] = 10
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.1
    fields: list[str] | None = None
    reference_date: Time | None = None
    latest_only: bool = False

    def read_filters(self) -> dict[str, Any]:
        found = super().read_filters()
        if not self.metadata:
            return found
        return {"AND": [found, {"metadata": self.metadata}]}

    def read_time(self) -> float | None:
        if self.reference_date is None:
            return None
        return read_time(self.reference_date, "reference_date")


class UpdateBody(ClientBody):
    """What a memory shall say from now on."""

    text: Annotated[str, Field(min_length=1)] | None = None
    metadata: dict[str, Any] | None = None
    timestamp: Time | None = None
    expiration_date: str | None = None

    def read(self) -> MemoryChange:
        given: dict[str, Any] = {"text": self.text, "metadata": self.metadata}
        if "expiration_date" in self.model_fields_set:
            given["expiration_date"] = read_expiration(self.expiration_date)
        if self.timestamp is not None:
            given["occurred"] = read_time(self.timestamp, "timestamp")
        if given == {"text": None, "metadata": None}:
            raise BadInput("give text, metadata, timestamp or expiration_date")
        return MemoryChange(**given)


class BatchUpdate(UpdateBody):
    """One memory of many, and its change."""

    memory_id: MemoryKey


class BatchUpdateBody(ClientBody):
    """Many changes."""

    memories: Annotated[list[BatchUpdate], Field(min_length=1)]


class BatchDelete(ClientBody):
    """One memory of many to delete."""

    memory_id: MemoryKey


class BatchDeleteBody(ClientBody):
    """Many memories to delete."""

    memories: Annotated[list[BatchDelete], Field(min_length=1)]


class JudgementBody(ClientBody):
    """Whether a memory was useful; null takes no side."""

    memory_id: MemoryKey
    feedback: Literal["POSITIVE", "NEGATIVE", "VERY_NEGATIVE"] | None = None
    feedback_reason: str | None = None


def read_entities(said: Mapping[str, Any]) -> Entities:
    """Entities of the platform, whose names may have spaces."""
    for name in NAMES:
        if not isinstance(said.get(name), EntityId | None):
            raise BadInput(f"{name} must be a text")
    return Entities.read(said, spaces=True)
