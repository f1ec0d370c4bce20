"""Records as rows and back, and the fixed statements, in plain SQL that every dialect here reads.

The columns of `records` follow the table of fields. `:name` marks a parameter of a statement; each is
compiled once for its dialect and bound by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.record import Kind, Record, Tier
from ...core.record_table import AXES, FIELDS, RecordField
from ...core.state import NO_STATE, State
from ...core.validate import dump_json
from .. import Entry
from ..model import SETTINGS, STAGED, TALLIES, TOMBSTONES
from ..rules import UNIQUE_KINDS

_SEQ, _PLACE = Record.__slots__.index("seq"), Record.__slots__.index("place")
_STORED: Final = tuple(field for field in FIELDS if field.name not in ("seq", "place"))
_RECORD_COLUMNS: Final = {  # with their types in PostgreSQL
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
COLUMNS: Final = tuple(_RECORD_COLUMNS)
_BARE_COLUMNS: Final = (
    *("seq", "id", "scope", "kind", "tier", "agent"),
    *("created", "uses", "last_used", "level", "version", "state"),
)
_FIRST_AXIS: Final = COLUMNS.index("x")
_read_stored: Final = attrgetter(*(field.name for field in _STORED))
_BLANK: Final = Record(id="", scope="", text="")


def _dump(field: RecordField) -> Callable[[Any], Any] | None:
    """Returns the converter from a value to its column; None if it is stored as is."""
    blank, encode = getattr(_BLANK, field.name), field.encode
    if not field.in_json:
        return None if field.is_bytes else encode
    if encode is None:
        return lambda value: None if value is blank or value == blank else dump_json(value)
    return lambda value: None if value is blank else dump_json(encode(value))


def _load(field: RecordField) -> Callable[[Any], Any] | None:
    """Returns the converter from a column to its value; None if it is stored as is."""
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


def row_of(record: Record, seq: int, exact_key: bytes) -> tuple[Any, ...]:
    """Returns the columns of a record."""
    values = list(_read_stored(record))
    for at, dump in _DUMPS:
        values[at] = dump(values[at])
    axes = (*record.place, None)[:3] if record.place else (None, None, None)
    return (seq, *values, *axes, exact_key)


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
    """Builds a record from its identity alone. Never fails, so that damaged records can be deleted."""
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
    """Parses the hold of a record; returns no state if it is damaged."""
    if '"hold"' not in state:
        return NO_STATE
    try:
        return State.from_json(json.loads(state))
    except (KeyError, ValueError, TypeError):
        return NO_STATE


TABLES: Final[dict[str, dict[str, str]]] = {  # their columns with their types in PostgreSQL
    "records": _RECORD_COLUMNS,
    "events": EVENT_COLUMNS,
    "settings": {"name": "text", "value": "text"},
    "tombstones": {"scope": "text", "mark": "bytea", "moment": "float8"},
    "tallies": {"scope": "text", "day": "int4", "what": "text", "counts": "text"},
    "vectors_next": {"seq": "int8", "vector": "bytea"},
}


@dataclass(frozen=True, slots=True)
class ValueTable:
    """A SQL table whose rows are a key of some columns and one value."""

    name: str
    key: tuple[str, ...]
    value: str
    is_json: bool = False

    @property
    def columns(self) -> str:
        return ", ".join((*self.key, self.value))

    def key_row(self, key: Any) -> tuple[Any, ...]:
        return tuple(key) if len(self.key) > 1 else (key,)

    def key_of_row(self, row: tuple[Any, ...]) -> Any:
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


KINDS: Final = ", ".join(f"'{kind}'" for kind in UNIQUE_KINDS)
ALL: Final = ", ".join(COLUMNS)
BARE: Final = ", ".join(_BARE_COLUMNS)
_BULK: Final = ("vector", "terms", "original", "sealed")  # which no filter looks at
LIGHT: Final = ", ".join("NULL" if column in _BULK else column for column in COLUMNS)
_PARAMETER: Final = re.compile(r":(\w+)")
_ENTRY: Final = ", ".join(Entry._fields)
_TELLING: Final = _ENTRY.replace("vector", "NULL")
_TELLS: Final = "(kind = 'triple' OR substr(terms, 2, 1) >= :stating)"
_HEAD: Final = (
    "(SELECT max(seq) FROM records), (SELECT max(seq) FROM events), "
    "(SELECT value FROM settings WHERE name = 'epoch'), (SELECT value FROM settings WHERE name = 'leapt')"
)

_SQL: Final = {
    "insert_records": f"INSERT INTO records ({ALL}) VALUES ({', '.join(':' + c for c in COLUMNS)})",
    "insert_free": f"INSERT INTO records ({ALL}) VALUES ({', '.join(':' + c for c in COLUMNS)}) "
    "ON CONFLICT (scope, id) DO NOTHING",
    "insert_events": f"INSERT INTO events ({', '.join(EVENT_COLUMNS)}) "
    f"VALUES ({', '.join(':' + c for c in EVENT_COLUMNS)})",
    "remove": "DELETE FROM records WHERE seq = :seq",
    "use": "UPDATE records SET uses = uses + :times, last_used = "
    "CASE WHEN last_used > :when THEN last_used ELSE :when END WHERE scope = :scope AND id = :id",
    "replace_derived": "UPDATE records SET vector = :vector, terms = :terms WHERE seq = :seq",
    "history": "SELECT what, id, scope, moment, actor, version, earlier, born, author FROM events "
    "WHERE scope = :scope AND id = :id ORDER BY seq",
    "living": "SELECT created, agent FROM records WHERE scope = :scope AND id = :id",
    "censor": "UPDATE events SET earlier = NULL WHERE scope = :scope AND id = :id AND earlier IS NOT NULL",
    "edit": "UPDATE events SET earlier = :earlier "
    "WHERE scope = :scope AND id = :id AND version = :version AND earlier IS NOT NULL",
    "keys": "SELECT seq, exact_key FROM records WHERE scope = :scope",
    "entries": f"SELECT {_ENTRY} FROM records WHERE scope = :scope AND seq > :since "
    "ORDER BY seq LIMIT :limit",
    "telling": f"SELECT {_TELLING} FROM records WHERE scope = :scope AND seq > :since AND seq <= :upto "
    f"AND {_TELLS} ORDER BY seq",
    "gone": "SELECT gone FROM events "
    "WHERE scope = :scope AND seq > :since AND seq <= :upto AND gone <= :since",
    "prunable": "SELECT seq FROM events WHERE moment < :before AND seq < (SELECT max(seq) FROM events) "
    "AND (what = 'moved' OR (:dead AND NOT EXISTS (SELECT 1 FROM records "
    "WHERE records.scope = events.scope AND records.id = events.id))) ORDER BY seq LIMIT :most",
    "prune": "DELETE FROM events WHERE seq = :seq",
    "head": f"SELECT {_HEAD}",
    "head_and_twin": f"SELECT {_HEAD}, EXISTS (SELECT 1 FROM records WHERE scope || '' = :scope "
    f"AND exact_key IN (:k0, :k1, :k2, :k3) AND kind IN ({KINDS}) AND (expires IS NULL OR expires > :now)), "
    "EXISTS (SELECT 1 FROM tombstones)",
    "fingerprint": "SELECT id || ' ' || created FROM records WHERE seq = :seq "
    "UNION ALL SELECT id || ' ' || moment FROM events WHERE seq = :seq",
    "lacking": "SELECT count(*) FROM records WHERE vector IS NOT NULL "
    "AND seq NOT IN (SELECT seq FROM vectors_next)",
    "with_vector": "SELECT count(*) FROM records WHERE vector IS NOT NULL",
    "adopt": "UPDATE records SET vector = (SELECT vector FROM vectors_next n WHERE n.seq = records.seq) "
    "WHERE vector IS NOT NULL",
}
for _table in VALUE_TABLES.values():
    _own_key = " AND ".join(f"{name} = :{name}" for name in _table.key)
    _marks = ", ".join(f":{name}" for name in (*_table.key, _table.value))
    _SQL[f"clear_{_table.name}"] = f"DELETE FROM {_table.name}"
    _SQL[f"remove_{_table.name}"] = f"DELETE FROM {_table.name} WHERE {_own_key}"
    _SQL[f"set_{_table.name}"] = (
        f"INSERT INTO {_table.name} ({_table.columns}) VALUES ({_marks}) "
        f"ON CONFLICT ({', '.join(_table.key)}) DO UPDATE SET {_table.value} = excluded.{_table.value}"
    )


# Statements that count records for the survey.
_IDLE: Final = "created < :stale AND (last_used IS NULL OR last_used < :stale)"


def _how_many(test: str) -> str:
    return f"coalesce(sum(CASE WHEN {test} THEN 1 ELSE 0 END), 0)"


# The numbers of a `Survey`, in its order, up to those of duplicates; a filter follows.
COUNTS: Final = (
    f"SELECT count(*), {_how_many('uses > 0')}, {_how_many('created >= :fresh')}, min(created), "
    f"{_how_many('created < :ripe')}, {_how_many('created < :ripe AND uses = 0')}, {_how_many(_IDLE)} "
    "FROM records"
)
STORED: Final = f"SELECT count(*) FROM records WHERE ({{test}}) AND kind IN ({KINDS})"
_DISTINCT: Final = f"SELECT DISTINCT scope, exact_key FROM records WHERE ({{test}}) AND kind IN ({KINDS})"
DISTINCT: Final = f"SELECT count(*) FROM ({_DISTINCT}) AS said"


class _SqlStatement:
    """SQL text for one driver and the order of its parameters."""

    __slots__ = ("names", "sql")

    def __init__(self, sql: str, names: Sequence[str]) -> None:
        self.sql: str = sql
        self.names: tuple[str, ...] = tuple(names)

    def bind(self, **values: Any) -> list[Any]:
        return list(map(values.__getitem__, self.names))


class Statements(dict[str, _SqlStatement]):
    """The fixed statements, compiled for a driver; `mark` is its placeholder."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark
        self.among: Final = lru_cache(maxsize=1024)(self._among)

    def __missing__(self, name: str) -> _SqlStatement:
        statement = self[name] = self.compile(_SQL[name])
        return statement

    def compile(self, sql: str) -> _SqlStatement:
        """Replaces each `:name` by the placeholder; our statements have no other colons or percent signs."""
        return _SqlStatement(_PARAMETER.sub(self.mark, sql), _PARAMETER.findall(sql))

    def _among(self, column: str, count: int, bare: bool) -> str:
        """Returns SQL for a scope's records by `count` ids, seqs or keys. Parameters: the scope, these."""
        parameters = ", ".join(f":v{at}" for at in range(count))
        return self.compile(select_held(column, f"IN ({parameters})", bare)).sql


def select_held(column: str, test: str, bare: bool) -> str:
    """Returns SQL for a scope's records whose id, seq or key passes a test."""
    scope = "scope" if column == "id" else "scope || ''"  # by seq or key, it is only checked
    kinds = f" AND kind IN ({KINDS})" if column == "exact_key" else ""
    columns = BARE if bare else ALL
    return f"SELECT {columns} FROM records WHERE {scope} = :scope AND {column} {test}{kinds}"
