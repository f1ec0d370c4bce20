"""How the servers do that a memory stands on, out of what each line tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def health_of(thing: object) -> Mapping[str, Any] | None:
    """What a part tells of its line to a server; None if it has none."""
    tell = getattr(thing, "health", None)
    if tell is None:
        return None
    return tell() or None


def format_health(parts: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """Those parts that have something to tell, and what it comes to: up, degraded or down.

    It is down where no store answers: what is missing otherwise is done without, or waits.
    """
    told = {name: part for name, part in parts.items() if part is not None}
    stores = list(_states(told.get("store", {})))
    states: list[str] = []
    for part in told.values():
        states.extend(_states(part))
    state = "degraded"
    if stores and all(one == "down" for one in stores):
        state = "down"
    elif all(one == "up" for one in states) and not _waits(told.get("store", {})):
        state = "up"
    return {"state": state, **told}


def _states(part: Mapping[str, Any]) -> Iterator[str]:
    """Of a line, or of each store of several."""
    if "state" in part:
        yield part["state"]
    else:
        yield from (one["state"] for one in part.values() if "state" in one)


def _waits(store: Mapping[str, Any]) -> bool:
    box = store.get("outbox", {})
    return bool(box.get("waiting") or box.get("unreadable"))
