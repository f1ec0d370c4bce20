"""The tables of a relational store. Each table of small values of the port is one of the database.

The migrations make them, and `sqlite_tables.sql` does for a new file; tests keep all three equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.scope import Scope
from ...core.validate import dump_json
from ..model import SETTINGS, STAGED, TALLIES, TOMBSTONES
from .rows import EVENT_COLUMNS, RECORD_COLUMNS

TABLES: Final[dict[str, dict[str, str]]] = {  # their columns with their types in PostgreSQL
    "records": RECORD_COLUMNS,
    "events": EVENT_COLUMNS,
    "settings": {"name": "text", "value": "text"},
    "tombstones": {"scope": "text", "mark": "bytea", "moment": "float8"},
    "tallies": {"scope": "text", "day": "int4", "what": "text", "counts": "text"},
    "vectors_next": {"seq": "int8", "vector": "bytea"},
}


@dataclass(frozen=True, slots=True)
class ValueTable:
    """A SQL table whose rows are a key of some columns, and one value."""

    name: str
    key: tuple[str, ...]
    value: str
    is_json: bool = False

    @property
    def columns(self) -> str:
        return ", ".join((*self.key, self.value))

    def key_row(self, key: Any) -> tuple[Any, ...]:
        return tuple(key) if len(self.key) > 1 else (key,)

    def read_key(self, row: tuple[Any, ...]) -> Any:
        return row[:-1] if len(self.key) > 1 else row[0]

    def store_value(self, value: Any) -> Any:
        return dump_json(value) if self.is_json else value

    def read_value(self, row: tuple[Any, ...]) -> Any:
        return _read_counts(row) if self.is_json else row[-1]


VALUE_TABLES: Final = {
    SETTINGS.name: ValueTable("settings", ("name",), "value"),
    STAGED.name: ValueTable("vectors_next", ("seq",), "vector"),
    TOMBSTONES.name: ValueTable("tombstones", ("scope", "mark"), "moment"),
    TALLIES.name: ValueTable("tallies", ("scope", "day", "what"), "counts", is_json=True),
}


def scope_range(scope: Scope | None) -> tuple[str, dict[str, str]]:
    """The condition that a row belongs to a scope, and its values."""
    if scope is None:
        return "", {}
    if not scope.below:
        return "scope = :path", {"path": scope.path}
    values = {"path": scope.path, "low": f"{scope.path}/", "high": f"{scope.path}0"}
    return "(scope = :path OR (scope >= :low AND scope < :high))", values


def _read_counts(row: tuple[Any, ...]) -> Mapping[str, int]:
    scope, day, _, counts = row
    try:
        return {name: int(count) for name, count in json.loads(counts).items()}
    except (AttributeError, ValueError, TypeError) as error:
        raise Corrupt(f"the tally of scope {scope} and day {day} is damaged ({error!r})") from error
