"""Records as rows and back. The columns of `records` follow the table of fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.record import Kind, Record, Tier
from ...core.record_table import AXES, FIELDS, RecordField
from ...core.state import NO_STATE, State
from ...core.validate import dump_json
from ..model import SETTINGS, STAGED, TALLIES, TOMBSTONES
from ..record_keys import key_of

_SEQ, _PLACE = Record.__slots__.index("seq"), Record.__slots__.index("place")
_STORED: Final = tuple(field for field in FIELDS if field.name not in ("seq", "place"))
RECORD_COLUMNS: Final = {  # with their types in PostgreSQL
    "seq": "int8",
    **{field.name: field.column for field in _STORED},
    **dict.fromkeys(AXES, "float8"),
    "exact_key": "bytea",
}
EVENT_COLUMNS: Final = {
    "seq": "int8",
    "scope": "text",
    "id": "text",
    "what": "text",
    "moment": "float8",
    "actor": "text",
    "version": "int4",
    "gone": "int8",
    "born": "float8",
    "author": "text",
    "earlier": "text",
}
_EMPTY: Final = (field.name for field in _STORED if field.optional or field.in_json)
NULLABLE: Final = frozenset((*AXES, *_EMPTY))
COLUMNS: Final = tuple(RECORD_COLUMNS)
BARE_COLUMNS: Final = (
    *("seq", "id", "scope", "kind", "tier", "agent"),
    *("created", "uses", "last_used", "level", "version", "state"),
)
_FIRST_AXIS: Final = COLUMNS.index("x")
_read_stored: Final = attrgetter(*(field.name for field in _STORED))
_BLANK: Final = Record(id="", scope="", text="")


def _dump(field: RecordField) -> Callable[[Any], Any] | None:
    """How a value becomes that of its column; None: as it is."""
    blank, encode = getattr(_BLANK, field.name), field.encode
    if not field.in_json:
        return None if field.is_bytes else encode
    if encode is None:
        return lambda value: None if value is blank or value == blank else dump_json(value)
    return lambda value: None if value is blank else dump_json(encode(value))


def _load(field: RecordField) -> Callable[[Any], Any] | None:
    """The way back."""
    blank, decode = getattr(_BLANK, field.name), field.decode
    if not field.in_json:
        return None if field.is_bytes else decode
    if decode is not None:
        return lambda column: blank if column is None else decode(json.loads(column))
    if field.optional:
        return lambda column: None if column is None else json.loads(column)
    return lambda column: {} if column is None else json.loads(column)


_DUMPS: Final = tuple((at, dump) for at, field in enumerate(_STORED) if (dump := _dump(field)) is not None)
_LOADS: Final = tuple((at, load) for at, field in enumerate(_STORED) if (load := _load(field)) is not None)
_KINDS: Final = {str(kind): kind for kind in Kind}
_TIERS: Final = {str(tier): tier for tier in Tier}


def row_of(record: Record, seq: int) -> tuple[Any, ...]:
    """The columns of a record."""
    values = list(_read_stored(record))
    for at, dump in _DUMPS:
        values[at] = dump(values[at])
    axes = (*record.place, None)[:3] if record.place else (None, None, None)
    return (seq, *values, *axes, key_of(record))


def record_of(row: Sequence[Any]) -> Record:
    try:
        return _record_of(row)
    except (KeyError, ValueError, TypeError) as error:
        raise Corrupt(
            f"the stored row {row[0]} is damaged ({error!r}); restore a copy or an export"
        ) from error


def _record_of(row: Sequence[Any]) -> Record:
    values = list(row[1:_FIRST_AXIS])
    for at, load in _LOADS:
        values[at] = load(values[at])
    x, y, z = row[_FIRST_AXIS : _FIRST_AXIS + 3]
    values.insert(_PLACE, None if x is None else (x, y) if z is None else (x, y, z))
    values.insert(_SEQ, row[0])
    return Record.of(values)


def bare_record_of(row: Sequence[Any]) -> Record:
    """A record that tells which it is. It never fails: what is damaged can still be deleted."""
    seq, id, scope, kind, tier, agent, created, uses, last_used, level, version, state = row
    return _BLANK.but(
        id=id,
        scope=scope,
        meta={},
        kind=_KINDS.get(kind, Kind.FACT),
        tier=_TIERS.get(tier, Tier.SHORT),
        agent=agent,
        created=created,
        occurred=created,
        uses=uses,
        last_used=last_used,
        level=level,
        version=version,
        seq=seq,
        state=NO_STATE if state is None else _parse_hold(state),
    )


def _parse_hold(state: str) -> State:
    """A state that tells of a legal hold; of a damaged one nobody can tell."""
    if '"hold"' not in state:
        return NO_STATE
    try:
        return State.from_json(json.loads(state))
    except (KeyError, ValueError, TypeError):
        return NO_STATE


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


def _read_counts(row: tuple[Any, ...]) -> Mapping[str, int]:
    scope, day, _, counts = row
    try:
        return {name: int(count) for name, count in json.loads(counts).items()}
    except (AttributeError, ValueError, TypeError) as error:
        raise Corrupt(f"the tally of scope {scope} and day {day} is damaged ({error!r})") from error
