"""Reading records of the time when Eidet kept its own state in the caller's `meta`.

Only values of the shape that Eidet itself wrote are taken for state. Whatever else a caller kept under
such a name was always the caller's, and stays in `meta`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from .state import NO_STATE, PROTECTIONS, Misshapen, Protection, State, read_field
from .validate import Json

BY_UPKEEP: Final = "upkeep"  # the source of records that upkeep made
NAMES: Final = (
    *("pinned", "hold", "ttl", "poison", "quarantine", "reviewed", "merged", "echo_of"),
    *("weighed", "used_before_move", "pii", "by"),
)


class Origin(NamedTuple):
    """What tells whether a name in `meta` was Eidet's: who made the record, when, and of what."""

    created: float
    source: str | None
    derived_from: Sequence[str]


def may_hold_state(text: str) -> bool:
    """Whether a `meta`, as JSON, names anything that could be state."""
    return any(f'"{name}"' in text for name in NAMES)


def split_meta(meta: Mapping[str, Json], origin: Origin) -> tuple[dict[str, Json], State]:
    """The caller's part of an old `meta`, and the state that was in it."""
    kept, found = dict(meta), dict[str, Any]()
    for name in NAMES:
        if name not in kept:
            continue
        value = kept[name]
        if name in PROTECTIONS and value is True:
            # said by a caller, and it did protect: the record stays protected, the word stays the caller's
            found[name] = Protection(at=origin.created)
            continue
        try:
            field, read = _read(name, value, origin)
        except Misshapen:
            continue
        found[field] = read
        del kept[name]
    return kept, State(**found) if found else NO_STATE


def _read(name: str, value: Json, origin: Origin) -> tuple[str, Any]:
    if name == "by":
        if origin.source != BY_UPKEEP:
            raise Misshapen("only upkeep noted who worded a record")
        return "worded_by", read_field("worded_by", value)
    if name == "merged":
        return name, read_field(name, [_part(part, origin) for part in _read_list(value)])
    return name, read_field(name, value)


def _read_list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise Misshapen("parts are a list")
    return value


def _part(part: Json, origin: Origin) -> Json:
    """A merged record kept its own state in its own `meta`."""
    if not isinstance(part, dict) or not isinstance(part.get("meta"), dict):
        return part
    source = part.get("source")
    meta, state = split_meta(part["meta"], Origin(origin.created, source, ()))
    return part | {"meta": meta, "state": state.to_json()}
