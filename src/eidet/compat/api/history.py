"""How an agent was, and how it changed."""

from __future__ import annotations

from typing import Any

from ...core.condition import Condition, resolve, same
from ...core.record import Kind, Record
from ...core.validate import Json
from ...core.where import Where
from .errors import MemoryRetrievalException
from .reader import Look


def state_at(look: Look, step: int) -> Record | None:
    """The newest state that was stored for a step."""
    found = look.find(Where(step_from=step, step_to=step, kinds=(Kind.STATE,)), order="-created", limit=1)
    return found[0] if found else None


def changes_of(look: Look, name: str, start: int | None, end: int | None) -> list[dict[str, Any]]:
    """One entry for each change of an attribute (a dotted path) between states; the first is one."""
    if not isinstance(name, str) or not name:
        raise MemoryRetrievalException(f"attribute_name is a text, not {name!r}")
    steps = name.split(".")
    there = Condition(("data", *steps), "exists", True)
    where = Where(step_from=start, step_to=end, kinds=(Kind.STATE,), conditions=(there,))
    changes: list[dict[str, Any]] = []
    for record in look.find(where, order="step"):
        value = resolve(record.data, steps)
        before = changes[-1]["new_value"] if changes else None
        if not changes or not same(before, value):
            changes.append(_change(record, before, value))
    return changes


def _change(record: Record, before: Json, after: Json) -> dict[str, Any]:
    return {
        "memory_id": record.id,
        "step_number": record.step,
        "timestamp": record.occurred,
        "previous_value": before,
        "new_value": after,
    }
