"""What an agent's memory holds, in numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.record import Record
from ...core.where import Where
from ...memory import Memory
from .entries import TIERS
from .reader import everything


def statistics(memory: Memory, scope: str, importance: Callable[[Record], float]) -> dict[str, Any]:
    """Flat counts and the same by tier. Reads every memory of the agent."""
    memory.admin.flush()
    records = everything(memory, None, scope, "seq")
    tiers = {
        name: _of([record for record in records if record.tier is tier], importance)
        for name, tier in TIERS.items()
    }
    whole = _of(records, importance)
    return {
        "total_memories": whole["count"],
        **{f"{name}_count": tier["count"] for name, tier in tiers.items()},
        "memory_type_distribution": whole["memory_types"],
        "average_importance": whole["average_importance"],
        "retrievals": whole["retrievals"],
        "oldest_step": min((r.step for r in records if r.step is not None), default=None),
        "newest_step": max((r.step for r in records if r.step is not None), default=None),
        "text_bytes": whole["text_bytes"],
        "vector_bytes": whole["vector_bytes"],
        "tiers": tiers,
    }


def _of(records: list[Record], importance: Callable[[Record], float]) -> dict[str, Any]:
    types: dict[str, int] = {}
    for record in records:
        types[str(record.kind)] = types.get(str(record.kind), 0) + 1
    return {
        "count": len(records),
        "memory_types": types,
        "average_importance": sum(map(importance, records)) / len(records) if records else 0.0,
        "retrievals": sum(record.uses for record in records),
        "text_bytes": sum(len(record.text.encode()) for record in records),
        "vector_bytes": sum(len(record.vector or b"") for record in records),
    }


def agents_in(memory: Memory, scope: str | None, own: set[str]) -> list[str]:
    """The scopes of agents: those directly below the base; without one, those that hold what agents store."""
    if scope is not None:
        depth = scope.count("/") + 1
        return [path for path in memory.scopes(scope) if path != scope and path.count("/") == depth]
    paths = [path for path in memory.scopes() if "/" not in path]
    return [path for path in paths if path in own or _is_agent(memory, path)]


def _is_agent(memory: Memory, path: str) -> bool:
    return bool(memory.find(Where(kinds=("state", "action", "interaction")), scope=path, limit=1))
