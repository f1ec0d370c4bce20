"""Records as rows of a table, which `from_tables` reads back: all fields that a caller can set.

Fields that only the memory can set (versions, uses, when it was stored) are in the column `eidet`.
"""

from __future__ import annotations

from typing import Any, Final

from ..core.draft import Draft
from ..core.record import Record, iso_time
from ..core.record_table import FIELDS
from .source_items import keep_present

_SAYABLE: Final = tuple(  # fields of a record that a caller can set
    field for field in FIELDS if field.name in {"scope", *Draft.__dataclass_fields__} - {"vector"}
)
_TIMES: Final = tuple(field.name for field in _SAYABLE if field.is_time)
_LISTS: Final = ("place", "derived_from")


def row_of(record: Record) -> dict[str, Any]:
    """Returns a record as a row from which it can be stored again, without fields that have no value.

    Times are in seconds. The expiry of a pinned record is the one that applies after the pin ends.
    """
    whole, pinned = record.whole, record.state.pinned
    row = {field.name: getattr(whole, field.name) for field in _SAYABLE}
    row |= {field.name: field.encode(row[field.name]) for field in _SAYABLE if field.encode is not None}
    row |= {name: list(row[name] or ()) or None for name in _LISTS}
    row |= {"meta": dict(record.meta) or None, "ttl": record.state.ttl}
    if pinned is not None:
        row |= {"pinned": True, "expires": pinned.expires}
    return keep_present(**row)


def _own_of(record: Record) -> dict[str, Any]:
    """Returns the fields that only the memory sets: when it was stored, versions, uses, state."""
    own: dict[str, Any] = {"created": iso_time(record.created), "version": record.version}
    if record.uses:
        own |= {"uses": record.uses, "last_used": iso_time(record.last_used)}
    return own | keep_present(state=record.state.to_json() or None)


def make_json_row(record: Record) -> dict[str, Any]:
    """Returns the row of a JSON line: times are ISO 8601 in UTC, to the microsecond."""
    row = row_of(record)
    times = {name: iso_time(row[name]) for name in _TIMES if name in row}
    return row | times | {"eidet": _own_of(record)}
