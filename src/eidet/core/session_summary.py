"""Summaries of sessions, gathered from their records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from .record import Record, iso_time

TITLE: Final = 60  # characters of a title at most


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """One session: its number of records, when they happened, and how the first begins."""

    session: str
    scope: str
    count: int
    first: float  # when its first record happened, in seconds since 1970
    last: float  # when its last one happened
    title: str

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON; times are ISO 8601 in UTC."""
        return asdict(self) | {"first": iso_time(self.first), "last": iso_time(self.last)}


def gather_sessions(records: Iterable[Record]) -> list[SessionSummary]:
    """Summarises the sessions of records given in any order; the most recently active come first."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.session is not None:
            found.setdefault((record.scope, record.session), []).append(record)
    summaries = [_summarise(scope, session, kept) for (scope, session), kept in found.items()]
    return sorted(summaries, key=lambda one: (-one.last, one.scope, one.session))


def _summarise(scope: str, session: str, records: list[Record]) -> SessionSummary:
    opening = min(records, key=lambda record: (record.occurred, record.seq))
    return SessionSummary(
        session=session,
        scope=scope,
        count=len(records),
        first=opening.occurred,
        last=max(record.occurred for record in records),
        title=_shorten_title(opening.text),
    )


def _shorten_title(text: str) -> str:
    """Returns the first words of a text, on one line."""
    words = " ".join(text.split())
    if len(words) <= TITLE:
        return words
    start = words[:TITLE]
    whole, _, _ = start.rpartition(" ")
    return f"{whole or start}…"
