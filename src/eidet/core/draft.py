"""What a caller hands in: drafts of records, and messages as agent frameworks write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypedDict

from .scope import Scope
from .validate import Json, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation, as agent frameworks write it."""

    role: str
    content: str | None = None
    timestamp: Moment | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    tool_calls: Sequence[Json] = ()
    tool_call_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A record to be: what a caller says of it. What is left out gets its default."""

    text: str | None = None
    data: Json = None
    kind: str | None = None
    tier: str | None = None
    who: str | None = None
    agent: str | None = None
    session: str | None = None
    step: int | None = None
    place: Sequence[float] | None = None
    importance: float | None = None
    occurred: Moment | None = None
    expires: Moment | timedelta | None = None
    ttl: float | timedelta | None = None
    pinned: bool | None = None
    source: str | None = None
    meta: Mapping[str, Json] | None = None
    vector: Any = None
    derived_from: Sequence[str] = ()
    trust: str | None = None
    id: str | None = None
    key: str | None = None


class Details(TypedDict, total=False):
    """What `remember` may be told beside the thing itself."""

    scope: str | Scope
    kind: str | None
    tier: str | None
    who: str | None
    agent: str | None
    session: str | None
    step: int | None
    place: Sequence[float] | None
    importance: float | None
    occurred: Moment | None
    expires: Moment | timedelta | None
    ttl: float | timedelta | None
    pinned: bool | None
    source: str | None
    data: Json
    meta: Mapping[str, Json] | None
    vector: Any
    derived_from: Sequence[str]
    trust: str | None
    id: str | None
    key: str | None
    keep_duplicates: bool
    again: bool
