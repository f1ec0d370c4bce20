"""Records as rows of a table, which `table_rows` reads back: all that a caller can say of a record.

What only the memory itself can know (versions, uses, when it was stored) stands in the column `eidet`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, Final

from ..core.record import Record, iso_time
from ..core.validate import dump_json

PLAIN: Final = ("who", "agent", "session", "step", "importance", "source")
TEXTS: Final = ("data", "meta", "eidet")  # JSON inside of a cell, where cells have one type


def row_of(record: Record) -> dict[str, Any]:
    """A record as it can be said again; what has no value is left out."""
    whole = record.whole
    row: dict[str, Any] = {"id": record.id, "scope": record.scope, "text": whole.text}
    row |= {"kind": str(record.kind), "tier": str(record.tier), "trust": str(record.trust)}
    for name in PLAIN:
        value = getattr(record, name)
        if value is not None:
            row[name] = value
    if whole.data is not None:
        row["data"] = whole.data
    return row | _collections_of(record) | _times_of(record)


def _collections_of(record: Record) -> dict[str, Any]:
    collections = {"place": record.place, "derived_from": record.derived_from}
    found: dict[str, Any] = {}
    for name, values in collections.items():
        if values:
            found[name] = list(values)
    if record.meta:
        found["meta"] = dict(record.meta)
    return found


def _times_of(record: Record) -> dict[str, Any]:
    """Times in seconds; of a pinned record the expiry that waits for the pin to end."""
    times: dict[str, Any] = {"occurred": record.occurred}
    expires, state = record.expires, record.state
    if state.pinned is not None:
        times["pinned"] = True
        expires = state.pinned.expires
    if state.ttl is not None:
        times["ttl"] = state.ttl
    if expires is not None:
        times["expires"] = expires
    return times


def own_of(record: Record) -> dict[str, Any]:
    """What only the memory knows of a record."""
    own: dict[str, Any] = {"created": iso_time(record.created), "version": record.version}
    if record.uses:
        own |= {"uses": record.uses, "last_used": iso_time(record.last_used)}
    state = record.state.to_json()
    if state:
        own["state"] = state
    return own


def make_json_row(record: Record) -> dict[str, Any]:
    """The row of a JSON line: times are ISO 8601 in UTC, to the microsecond."""
    row = row_of(record)
    for name in ("occurred", "expires"):
        if name in row:
            row[name] = iso_time(row[name])
    return row | {"eidet": own_of(record)}


def make_typed_row(record: Record, width: int | None) -> dict[str, Any]:
    """The row of a table whose columns have types: data and meta are JSON texts, times are microseconds."""
    row = row_of(record) | {"eidet": own_of(record)}
    for name in TEXTS:
        if name in row:
            row[name] = dump_json(row[name])
    for name in ("occurred", "expires"):
        if name in row:
            row[name] = round(row[name] * 1e6)
    if width is not None:
        row["vectors"] = list(_list_vectors(record, width)) or None
    return row


def _list_vectors(record: Record, width: int) -> Iterator[list[float]]:
    """The vectors of a record, one for each of its chunks; none where its tier lowered them."""
    if record.vector is None or record.level:
        return
    numbers = array("f", record.vector)
    for start in range(0, len(numbers), width):
        yield list(numbers[start : start + width])
