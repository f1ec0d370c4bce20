"""Timeline: writes, recalls, sessions, episodes and facts between two moments, in bins and day by day.

The overview: counts, the newest records, recalls by day, what waits for a person, and faults.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, Field

from ...core.errors import BadInput
from ...core.scope import Scope
from ...core.where import Where
from ...memory import Memory
from ...quality import DAY
from ...store import Entry, Store, verbs
from ..rest.replies import tell_records

PAGE: Final = 5_000  # entries that are read at once


class Row(NamedTuple):
    """The columns of a record that a timeline needs."""

    seq: int
    kind: str
    session: str | None
    occurred: float
    created: float


def _list_rows(store: Store, scope: Scope) -> list[tuple[str, Row]]:
    """Lists the times and labels of every record of a scope (and below, if asked), with its scope."""
    return [
        (path, Row(one.seq, one.kind, one.session, one.occurred, one.created))
        for path in verbs.count_scopes(store, scope)
        for one in _list_entries(store, path)
    ]


def _list_entries(store: Store, path: str) -> Iterator[Entry]:
    newest, seq = store.head().seq, 0
    while seq < newest:
        changes = store.changes(path, seq, PAGE)
        yield from changes.entries
        seq = changes.head.seq


_SINGLE: Final = 150  # more records than these are not listed one by one
LANES: Final = 120  # sessions shown at most
MARKED: Final = ("episode", "summary", "fact", "triple")  # kinds that the timeline marks one by one
MARKS: Final = 80

Placed = tuple[str, Row]


class TimelineForm(BaseModel):
    """The period shown, its number of bins, and which of a record's two times counts."""

    first: float | None = None
    last: float | None = None
    bins: int = Field(default=120, ge=1, le=400)
    by: Literal["occurred", "created"] = "occurred"


def read_timeline(memory: Memory, scope: Scope, form: TimelineForm) -> dict[str, Any]:
    """Returns the whole timeline by day, and the period shown by bins, sessions and single records."""
    rows = _list_rows(memory.parts.store, scope)
    times = [getattr(row, form.by) for _, row in rows]
    start, end = _whole_range(times, memory.parts.clock())
    result = {"start": start, "end": end, "total": len(rows), "days": _count_days(times)}
    return result | _read_stretch(memory, rows, form, start, end) | {"recalls": _count_recalls(memory, scope)}


def _read_stretch(
    memory: Memory, rows: list[Placed], form: TimelineForm, start: float, end: float
) -> dict[str, Any]:
    first = start if form.first is None else form.first
    last = end if form.last is None else form.last
    if not first < last:
        raise BadInput("a timeline needs a beginning before its end")
    within = [placed for placed in rows if first <= getattr(placed[1], form.by) <= last]
    return {
        "first": first,
        "last": last,
        "count": len(within),
        "series": _bin_kinds(within, form, first, last),
        "sessions": _find_sessions(rows, form.by, first, last),
        "marks": _read(memory, _spread(within, form.by)),
        "records": _read(memory, _single(within, form.by)),
    }


def _whole_range(times: Sequence[float], now: float) -> tuple[float, float]:
    """Returns the range from the first to the last record, with a margin; the last month if none."""
    if not times:
        return now - 30 * DAY, now
    first, last = min(times), max(times)
    margin = max((last - first) * 0.01, 3600.0)
    return first - margin, last + margin


def _bin_kinds(rows: Iterable[Placed], form: TimelineForm, first: float, last: float) -> dict[str, list[int]]:
    series: dict[str, list[int]] = {}
    scale = form.bins / (last - first)
    for _, row in rows:
        counts = series.setdefault(row.kind, [0] * form.bins)
        at = int((getattr(row, form.by) - first) * scale)
        counts[min(at, form.bins - 1)] += 1
    return series


def _find_sessions(rows: Iterable[Placed], by: str, first: float, last: float) -> list[dict[str, Any]]:
    """Returns sessions that overlap the period, by their start; the largest if there are too many."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for scope, row in rows:
        if row.session is None:
            continue
        at = getattr(row, by)
        fresh = {"session": row.session, "scope": scope, "first": at, "last": at, "count": 0}
        one = found.setdefault((scope, row.session), fresh)
        one["first"], one["last"] = min(one["first"], at), max(one["last"], at)
        one["count"] += 1
    within = [one for one in found.values() if one["last"] >= first and one["first"] <= last]
    within.sort(key=lambda one: -int(one["count"]))
    return sorted(within[:LANES], key=lambda one: float(one["first"]))


def _spread(rows: Iterable[Placed], by: str) -> list[Placed]:
    """Returns episodes, summaries, facts and triples by time, evenly thinned to at most `MARKS`."""
    found = sorted(
        (placed for placed in rows if placed[1].kind in MARKED), key=lambda placed: getattr(placed[1], by)
    )
    step = -(-len(found) // MARKS) or 1
    return found[::step]


def _single(rows: list[Placed], by: str) -> list[Placed]:
    if len(rows) > _SINGLE:
        return []
    return sorted(rows, key=lambda placed: getattr(placed[1], by))


def _read(memory: Memory, rows: Iterable[Placed]) -> list[dict[str, Any]]:
    by_scope: dict[str, list[int]] = {}
    for scope, row in rows:
        by_scope.setdefault(scope, []).append(row.seq)
    records: list[dict[str, Any]] = []
    for scope, seqs in by_scope.items():
        records += tell_records(one for one in memory.parts.store.read(scope, seqs) if one is not None)
    return records


def _count_days(times: Iterable[float]) -> dict[int, int]:
    return dict(Counter(int(at // DAY) for at in times))


def _count_recalls(memory: Memory, scope: Scope) -> dict[int, dict[str, int]]:
    """Counts recalls by day, and how many of them found nothing."""
    found: dict[int, dict[str, int]] = {}
    for tally in memory.parts.usage.tallies(scope, 0):
        if tally.what == "recall":
            day = found.setdefault(tally.day, {"recalls": 0, "empty": 0})
            day["recalls"] += tally.counts.get("recalls", 0)
            day["empty"] += tally.counts.get("empty", 0)
    return found


DAYS: Final = 14  # shown as bars
NEWEST: Final = 6
_REVIEWED: Final = 100  # more records to review are not counted
FEW_RECALLS: Final = 20  # too few to say that recalls find nothing


def read_overview(memory: Memory, scope: Scope) -> dict[str, Any]:
    """Summarises a scope; reveals nothing of other scopes."""
    stats = memory.admin.stats(scope)
    newest = memory.find(scope=scope, order="-created", limit=NEWEST)
    return {
        "records": stats["records"],
        "scopes": len(verbs.count_scopes(memory.parts.store, scope)),
        "kinds": stats["kinds"],
        "newest": tell_records(newest),
        "days": _list_days(memory, scope),
        "waiting": _count_waiting(memory, scope),
        "unhealthy": list(_find_faults(memory, stats)),
    }


def _list_days(memory: Memory, scope: Scope) -> list[dict[str, int]]:
    """Counts for each of the last days: records stored, recalls, and recalls that found nothing."""
    today = int(memory.parts.clock() // DAY)
    asked = _count_recalls(memory, scope)
    nothing = {"recalls": 0, "empty": 0}
    return [
        {"day": day, "stored": _count_stored(memory, scope, day), **asked.get(day, nothing)}
        for day in range(today - DAYS + 1, today + 1)
    ]


def _count_stored(memory: Memory, scope: Scope, day: int) -> int:
    end = math.nextafter((day + 1) * DAY, 0.0)
    return memory.count(Where(created_since=day * DAY, created_until=end), scope=scope)


def _count_waiting(memory: Memory, scope: Scope) -> dict[str, int]:
    """Counts what waits for a person: reviews, contradictions, and records due for deletion."""
    return {
        "review": len(memory.trust.review(scope=scope, limit=_REVIEWED)),
        "contradictions": len(memory.facts.contradictions(scope=scope)),
        "retention": sum(one.due for one in memory.upkeep.retention(scope)),
    }


def _find_faults(memory: Memory, stats: dict[str, Any]) -> Iterator[str]:
    """Yields a sentence for each fault of the memory."""
    state = memory.admin.health()["state"]
    if state != "up":
        yield f"What the memory stands on is {state}."
    if not memory.parts.store.writable:
        yield "The memory is open for reading only."
    retrieval = stats["retrieval"]
    found = retrieval["hit_ratio"]
    if found and retrieval["recalls"] >= FEW_RECALLS and found["value"] < 0.5:
        yield "More than half of all recalls find nothing."
    drift = retrieval.get("drift") or {}
    if drift.get("verdict") == "drifted" and drift.get("worse"):
        yield "Recalls do worse than they did before."
