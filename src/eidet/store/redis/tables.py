"""Where the tables of small values are kept: hashes of the store, or of each scope."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...core.validate import dump_json
from ..model import EPOCH, SETTINGS, STAGED, TALLIES, TOMBSTONES, Table

Hash = tuple[str, str]  # a scope, or "" for the store itself, and the letter of a key of its own
Place = tuple[str, str, Any]  # a hash and a field of it


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table becomes a hash. `key_of` takes the scope and a field as the server tells it."""

    letter: str
    scoped: bool
    field_of: Callable[[Any], str | bytes]
    key_of: Callable[[str, bytes], Any]
    dump: Callable[[Any], str | bytes]
    load: Callable[[bytes], Any]

    def version_of(self, scope: str) -> Place:
        """Rises with each change of the table."""
        return scope, "m" if self.scoped else "h", f"t:{self.letter}"


def layout_of(table: Table[Any, Any]) -> Layout:
    return LAYOUTS[table.name]


def place_of(table: Table[Any, Any], key: Any) -> Place:
    """Where one value is kept. The epoch is part of the store's head."""
    if table.name == SETTINGS.name and key == EPOCH:
        return "", "h", EPOCH
    layout = LAYOUTS[table.name]
    return key[0] if layout.scoped else "", layout.letter, layout.field_of(key)


def read_hash(table: Table[Any, Any], scope: str, fields: Mapping[bytes, bytes]) -> dict[Any, Any]:
    """The values of a table as one hash of the server holds them."""
    layout = LAYOUTS[table.name]
    found: dict[Any, Any] = {}
    for field, value in fields.items():
        if table.name == TALLIES.name and field.count(b"\0") > 1:
            _add_former_count(found, scope, field, value)
        else:
            _add(found, layout.key_of(scope, field), layout.load(value))
    return found


def _add(found: dict[Any, Any], key: Any, value: Any) -> None:
    """Counts of both layouts add up."""
    if isinstance(value, dict) and key in found:
        value = dict(Counter(found[key]) + Counter(value))
    found[key] = value


def _add_former_count(found: dict[Any, Any], scope: str, field: bytes, value: bytes) -> None:
    """A field of the former layout, which had one for each count: day, thing and name."""
    day, thing, name = field.decode().split("\0", 2)
    _add(found, (scope, int(day), thing), {name: int(value)})


def _tally_field(key: tuple[str, int, str]) -> str:
    return f"{key[1]}\0{key[2]}"


def _tally_key(scope: str, field: bytes) -> tuple[str, int, str]:
    day, _, thing = field.decode().partition("\0")
    return scope, int(day), thing


def _tombstone_field(key: tuple[str, bytes]) -> bytes:
    return key[1]


def _dump_time(since: float) -> str:
    return repr(float(since))


LAYOUTS: Final = {
    SETTINGS.name: Layout("s", False, str, lambda _, field: field.decode(), str, bytes.decode),
    STAGED.name: Layout("v", False, str, lambda _, field: int(field), bytes, bytes),
    TOMBSTONES.name: Layout(
        "b", True, _tombstone_field, lambda scope, field: (scope, field), _dump_time, float
    ),
    TALLIES.name: Layout("y", True, _tally_field, _tally_key, dump_json, json.loads),
}
