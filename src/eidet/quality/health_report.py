"""Reports whether the servers behind a memory are up, degraded or down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.health import HasHealth


def health_of(thing: object) -> Mapping[str, Any] | None:
    """The health that a part reports about its server; None if it uses none."""
    return None if not isinstance(thing, HasHealth) else thing.health() or None


def format_health(parts: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """The parts that report their health, and the overall state: up, degraded or down.

    A memory is down only if no store answers. Without any other part it works on, with less.
    """
    present = {name: part for name, part in parts.items() if part is not None}
    stores = list(_states(present.get("store", {})))
    states: list[str] = []
    for part in present.values():
        states.extend(_states(part))
    state = "degraded"
    if stores and all(one == "down" for one in stores):
        state = "down"
    elif all(one == "up" for one in states) and not _waits(present.get("store", {})):
        state = "up"
    return {"state": state, **present}


def _states(part: Mapping[str, Any]) -> Iterator[str]:
    """The state of one server, or of each store of a tiered memory."""
    if "state" in part:
        yield part["state"]
    else:
        yield from (one["state"] for one in part.values() if "state" in one)


def _waits(store: Mapping[str, Any]) -> bool:
    box = store.get("outbox", {})
    return bool(box.get("waiting") or box.get("unreadable"))
