"""Models of the answers, and the conversion of values to JSON.

The models only document the answers. Most are made from the dataclass whose fields they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, create_model

from ...core.hit import Rejected, Signal, Trace
from ...core.record import TIMES, Event, Record
from ...core.session_summary import SessionSummary
from ...core.state import State
from ...graph.fact import Fact
from ...trust.erase import Forgotten, Preview, Receipt

_TIMES: Final = frozenset((*TIMES, "valid_from", "valid_to", "known_from", "known_to"))
_TIMES_OF: Final[Mapping[type, frozenset[str]]] = {
    Event: frozenset(("at",)),
    SessionSummary: frozenset(("first", "last")),
    Rejected: frozenset(("since",)),
}
_FURTHER: Final[Mapping[type, dict[str, Any]]] = {  # what JSON adds to the fields
    Fact: {"text": (str, ...)},
    Record: {
        "etag": (str, Field(description="For If-Match: changes with every version.")),
        "vector": (list[float] | None, Field(None, description="Only where it is asked for.")),
    },
}
_NAMES: Final[Mapping[type, str]] = {Record: "StoredMemory"}


def reply_type(shape: Any) -> Any:
    """Returns the type of a value in JSON: models for dataclasses, lists for tuples."""
    if get_origin(shape) in (tuple, list, Sequence):
        inner = [reply_type(one) for one in get_args(shape) if one is not ...]
        return list[inner[0]] if len(set(inner)) == 1 else list[Any]  # type: ignore[valid-type]
    if get_origin(shape) in (Union, UnionType):
        return Union[tuple(reply_type(one) for one in get_args(shape))]  # noqa: UP007
    if get_origin(shape) is not None:
        return dict[str, Any]
    if shape is State:
        return dict[str, Any]
    if is_dataclass(shape) and isinstance(shape, type):
        return _reply_model(shape)
    return str if isinstance(shape, type) and issubclass(shape, Enum) else shape


@cache
def _reply_model(kind: type) -> type[BaseModel]:
    """Builds a model with the public fields of a dataclass."""
    hints, times = get_type_hints(kind), _TIMES_OF.get(kind, _TIMES)
    told: dict[str, Any] = {}
    for one in fields(kind):
        shape = hints[one.name]
        if shape is not bytes and shape != bytes | None:
            if one.name in times:
                shape = str | None if type(None) in get_args(shape) else str
            told[one.name] = (reply_type(shape), ...)
    name = _NAMES.get(kind, f"{kind.__name__}Reply")
    about = (kind.__doc__ or "").partition("\n")[0]
    return create_model(name, __doc__=about, **(told | _FURTHER.get(kind, {})))


StoredMemory: Final[Any] = reply_type(Record)


class Remembering(BaseModel):
    """What was stored, in the order given; `rejected` was forgotten for good before."""

    memories: list[StoredMemory]
    rejected: list[reply_type(Rejected)]  # type: ignore[valid-type]


class HitBody(BaseModel):
    """A memory with its score from 0 to 1, and why it has it."""

    score: float
    superseded_by: str | None = Field(None, description="The id of the memory that says what holds instead.")
    why: str
    matched: list[str]
    signals: list[reply_type(Signal)]  # type: ignore[valid-type]
    record: StoredMemory


class RecallReply(BaseModel):
    """Hits, best first."""

    hits: list[HitBody]
    scope: str
    wants_all: bool
    answered: float = Field(description="How likely the memory has an answer at all.")
    trace: reply_type(Trace) | None = None  # type: ignore[valid-type]


class RecallAllReply(BaseModel):
    """Hits in order of time; `reason` says why the answer may not be complete, `maybe` what may belong."""

    hits: list[HitBody]
    maybe: list[HitBody]
    count: int
    complete: bool
    reason: str
    scope: str


class ContextReply(BaseModel):
    """A block for a prompt, never over its budget."""

    text: str
    tokens: int
    budget: int
    scope: str
    sections: dict[str, str]
    hits: list[HitBody] = Field(description="Those that are told, best first.")
    left_out: list[HitBody]
    records: list[StoredMemory] = Field(description="All that is told, in that order.")


class FoundPage(BaseModel):
    """One page of memories; `cursor` asks for the next one, and is null on the last."""

    memories: list[StoredMemory]
    cursor: str | None


class Lookup(BaseModel):
    """One answer per id, in the order asked; null where there is none."""

    memories: list[StoredMemory | None]


class CountReply(BaseModel):
    count: int


class HistoryReply(BaseModel):
    """Oldest first."""

    events: list[reply_type(Event)]  # type: ignore[valid-type]


class ForgetReply(BaseModel):
    """How many were forgotten, or would be."""

    count: int
    receipt: reply_type(Receipt) | None = None  # type: ignore[valid-type]
    preview: reply_type(Preview) | None = None  # type: ignore[valid-type]


class ScopeCount(BaseModel):
    scope: str
    records: int


class ScopesReply(BaseModel):
    """Scopes by name; `cursor` asks for the next page, and is null on the last."""

    scopes: list[ScopeCount]
    cursor: str | None


class SessionsReply(BaseModel):
    """Sessions, those that were active last first."""

    sessions: list[reply_type(SessionSummary)]  # type: ignore[valid-type]


def etag_of(record: Record) -> str:
    """Returns a tag of one version of a record; a record stored again under its old id gets another."""
    return f'"{record.version}-{int(record.created * 1e6):x}"'


def tell_record(record: Record, *, vectors: bool = False) -> dict[str, Any]:
    return record.to_dict(vectors=vectors) | {"etag": etag_of(record)}


def tell_records(records: Iterable[Record], *, vectors: bool = False) -> list[dict[str, Any]]:
    return [tell_record(record, vectors=vectors) for record in records]


def to_wire(value: Any) -> Any:
    """Converts a value to JSON: a record with its ETag, dataclasses by their fields."""
    if isinstance(value, Record):
        return tell_record(value)
    if isinstance(value, Forgotten):
        return tell_forgotten(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [to_wire(one) for one in value]
    if is_dataclass(value):
        return {one.name: to_wire(getattr(value, one.name)) for one in fields(value)}
    return value


def tell_forgotten(gone: Forgotten) -> dict[str, Any]:
    receipt = None if gone.receipt is None else asdict(gone.receipt)
    return {"count": int(gone), "receipt": receipt, "preview": None}
