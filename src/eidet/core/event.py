"""Events: the history of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .validate import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened to a record: `what` is created, revised, moved (kept otherwise) or forgotten."""

    what: str
    id: str
    scope: str
    at: float
    by: str | None = None
    version: int = 1
    before: Mapping[str, Json] | None = None
