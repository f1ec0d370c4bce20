"""The input of callers: drafts of records, and messages as agent frameworks write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypedDict

from .scope import Scope
from .validate import Json, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation, in the form that agent frameworks use."""

    role: str  # user, assistant, system or tool
    content: str | None = None  # what was said
    timestamp: Moment | None = None  # when it was said
    metadata: Mapping[str, Json] = field(default_factory=dict)  # your own labels
    tool_calls: Sequence[Json] = ()  # the calls an assistant made
    tool_call_id: str | None = None  # the call a tool answers
    name: str | None = None  # the speaker's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A record to be stored, as a caller gives it. Fields that are left out get their defaults."""

    text: str | None = None  # the content to search and show; made from `data` if you give none
    data: Json = None  # structured content: anything JSON can hold
    kind: str | None = None  # what it is: fact, message, state …; guessed from the input if you give none
    tier: str | None = None  # how much detail it keeps: short, middle or long
    who: str | None = None  # the speaker or author
    agent: str | None = None  # the agent that stores it
    session: str | None = None  # the conversation or run it belongs to
    step: int | None = None  # the step of a simulation or task
    place: Sequence[float] | None = None  # coordinates: two or three numbers
    importance: float | None = None  # 0 to 1; 0.5 if you give none
    occurred: Moment | None = None  # when it happened; now if you give none
    expires: Moment | timedelta | None = None  # when Eidet drops it: a time, or a timedelta from now
    ttl: float | timedelta | None = None  # seconds or a timedelta it lives after its last read
    pinned: bool | None = None  # True: upkeep leaves it alone, and it does not expire
    source: str | None = None  # where it comes from: a file, a URL, a tool
    meta: Mapping[str, Json] | None = None  # your own labels; conditions can filter on them
    vector: Any = None  # an embedding of your own; Eidet computes one if you give none
    derived_from: Sequence[str] = ()  # ids of the records it was made from
    trust: str | None = None  # trusted, user, tool, web or unknown; user if you give none
    id: str | None = None  # your own id; storing the same id again makes a new version
    key: str | None = None  # any text of yours in place of an id; Eidet hashes it into one


class Details(TypedDict, total=False):
    """The options of `remember` beside the content itself."""

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
    version: int | None
    keep_duplicates: bool
    read_speakers: bool
    again: bool
