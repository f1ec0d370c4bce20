"""Summaries of sessions, gathered from their records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
        return {
            "session": self.session,
            "scope": self.scope,
            "count": self.count,
            "first": iso_time(self.first),
            "last": iso_time(self.last),
            "title": self.title,
        }


@dataclass(slots=True)
class _Gathered:
    count: int
    last: float
    opening: Record  # the earliest so far


def gather_sessions(records: Iterable[Record]) -> list[SessionSummary]:
    """Summarises the sessions of records given in any order; the most recently active come first."""
    found: dict[tuple[str, str], _Gathered] = {}
    for record in records:
        if record.session is None:
            continue
        kept = found.get((record.scope, record.session))
        if kept is None:
            found[record.scope, record.session] = _Gathered(1, record.occurred, record)
            continue
        kept.count += 1
        kept.last = max(kept.last, record.occurred)
        if (record.occurred, record.seq) < (kept.opening.occurred, kept.opening.seq):
            kept.opening = record
    summaries = [_summarise(kept) for kept in found.values()]
    return sorted(summaries, key=lambda one: (-one.last, one.scope, one.session))


def _summarise(kept: _Gathered) -> SessionSummary:
    opening = kept.opening
    return SessionSummary(
        session=opening.session or "",
        scope=opening.scope,
        count=kept.count,
        first=opening.occurred,
        last=kept.last,
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
