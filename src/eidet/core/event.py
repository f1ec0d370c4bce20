"""Events: the history of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .validate import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened to a record: `what` is created, revised, moved (kept otherwise) or forgotten."""

    what: str  # created, revised, moved or forgotten
    id: str  # of the record
    scope: str  # of the record
    at: float  # when, in seconds since 1970
    by: str | None = None  # who did it, if known
    version: int = 1  # of the record after it
    before: Mapping[str, Json] | None = None  # the content before it
