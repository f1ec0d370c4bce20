"""The dashboard data of one record: the curve of its strength, and its links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...core.record import Record
from ...core.scope import Scope
from ...memory import Memory
from ...store import verbs
from ...upkeep.curve import DAY, strength
from ..rest.replies import tell_record

_CURVE_POINTS: Final = 64
LINKS: Final = 50  # records listed for each kind of link


def tell_surroundings(memory: Memory, record: Record) -> dict[str, Any]:
    """Returns the strength and links of a record, and its text before its tier reduced it."""
    return {
        "strength": _tell_strength(memory, record),
        "links": _tell_links(memory, record),
        "whole": None if record.original is None else record.whole.text,
    }


def _tell_strength(memory: Memory, record: Record) -> dict[str, Any]:
    """Computes the present strength of a record, and its curve while unused."""
    now, settings = memory.parts.clock(), memory.parts.settings.upkeep
    last = max(record.created, record.last_used or 0.0)
    end = max(now + 90 * DAY, last + 2 * (now - last))
    times = [last + (end - last) * step / (_CURVE_POINTS - 1) for step in range(_CURVE_POINTS)]
    points = [(time, round(strength(record, time, settings), 4)) for time in times]
    value, least = strength(record, now, settings), settings.forget_below
    return {"now": now, "value": value, "points": points, "forget_below": least}


def _tell_links(memory: Memory, record: Record) -> dict[str, list[dict[str, Any]]]:
    store, at = memory.parts.store, record.scope
    derived = verbs.find_derived(store, Scope.exactly(at))
    linked: dict[str, Sequence[Record | None]] = {
        "made_of": store.read(at, list(record.derived_from[:LINKS])),
        "made_from_it": [other for other in derived if record.id in other.derived_from][:LINKS],
        "beside": _find_neighbours(memory, record),
    }
    return {name: [tell_record(one) for one in found if one] for name, found in linked.items()}


def _find_neighbours(memory: Memory, record: Record) -> list[Record | None]:
    """Finds the records before and after a record in its session, in order."""
    if record.session is None:
        return []
    near = memory.parts.index.around(record.scope, [record.seq], 2, None, now=memory.parts.clock())
    if record.seq not in near:
        return []
    beside = sorted(near[record.seq].beside, key=lambda pair: pair[1])
    return memory.parts.store.read(record.scope, [seq for seq, _ in beside])
