"""Overview: how much there is, what came lately, what was asked, what waits, and what is unhealthy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from ...core.scope import Scope
from ...memory import Memory
from ...quality import DAY
from ...store import verbs
from .entry_scan import EntryScan
from .record_json import records_as_json
from .timeline_view import count_recalls

DAYS: Final = 14  # that the bars show
NEWEST: Final = 6
REVIEWED: Final = 100  # more records to review are not counted
FEW_RECALLS: Final = 20  # too few to say that recalls find nothing


def read_overview(memory: Memory, scan: EntryScan, scope: Scope) -> dict[str, Any]:
    """One look at a scope; nothing of other scopes is told."""
    stats = memory.admin.stats(scope)
    newest = memory.find(scope=scope, order="-created", limit=NEWEST)
    return {
        "records": stats["records"],
        "scopes": len(verbs.count_scopes(memory.parts.store, scope)),
        "kinds": stats["kinds"],
        "newest": records_as_json(newest, 240),
        "days": _list_days(memory, scan, scope),
        "waiting": _count_waiting(memory, scope),
        "unhealthy": list(_find_faults(memory, stats)),
    }


def _list_days(memory: Memory, scan: EntryScan, scope: Scope) -> list[dict[str, int]]:
    """Counts for each of the last days: records stored, recalls, and recalls that found nothing."""
    today = int(memory.parts.clock() // DAY)
    stored = Counter(int(row.created // DAY) for _, row in scan.rows(memory.parts.store, scope))
    asked = count_recalls(memory, scope)
    nothing = {"recalls": 0, "empty": 0}
    return [
        {"day": day, "stored": stored[day], **asked.get(day, nothing)}
        for day in range(today - DAYS + 1, today + 1)
    ]


def _count_waiting(memory: Memory, scope: Scope) -> dict[str, int]:
    """Counts what waits for a person: reviews, contradictions, and records due for deletion."""
    return {
        "review": len(memory.trust.review(scope=scope, limit=REVIEWED)),
        "contradictions": len(memory.facts.contradictions(scope=scope)),
        "retention": sum(one.due for one in memory.upkeep.retention(scope)),
    }


def _find_faults(memory: Memory, stats: dict[str, Any]) -> Iterator[str]:
    """Says in words what is wrong with the memory."""
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
