"""Bulk operations in PostgreSQL: keys are sent as one array, new rows by COPY, deletions as sets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from ....core.record import Record
from ...model import NewRecord
from ..ports import Row
from ..reader import SqlReader
from ..relational import SqlTransaction
from ..rows import KINDS, TABLES, VALUE_TABLES, ValueTable, select_held
from .write import PostgresCursor, array_of

FEW: Final = 3  # fewer rows are written one by one
AT_ONCE: Final = 1000
_REMOVE: Final = (
    "WITH doomed AS (SELECT unnest(%s::bigint[]) AS seq), "
    "staged AS (DELETE FROM vectors_next WHERE seq IN (SELECT seq FROM doomed)) "
    "DELETE FROM records WHERE seq IN (SELECT seq FROM doomed)"
)
_STORED: Final = {name: type for name, type in TABLES["records"].items() if name != "seq"}
_INSERT_NEW: Final = (
    f"INSERT INTO records (seq, {', '.join(_STORED)}) SELECT greatest("
    "(SELECT max(seq) FROM records), (SELECT max(seq) FROM events), "
    "(SELECT value::bigint FROM settings WHERE name = 'leapt'), 0) + 1, "
    f"{', '.join(f'%s::{type}' for type in _STORED.values())} "
    "WHERE NOT EXISTS (SELECT 1 FROM records WHERE scope || '' = %s AND exact_key IN (%s, %s, %s, %s) "
    f"AND kind IN ({KINDS}) AND (expires IS NULL OR expires > %s)) "
    "AND (%s::text IS NULL OR %s = (SELECT value FROM settings WHERE name = 'epoch')) "
    "AND NOT (%s AND EXISTS (SELECT 1 FROM tombstones)) ON CONFLICT (scope, id) DO NOTHING RETURNING seq"
)


class PostgresReader(SqlReader):
    """A reader that needs fewer round trips."""

    def _among(self, scope: str, column: str, values: Sequence[Any], bare: bool = False) -> list[Row]:
        """Selects by any number of values with one prepared statement."""
        if len(values) <= 1:
            return super()._among(scope, column, values, bare)
        return self.ask(_select_keys(column, bare), (list(dict.fromkeys(values)), scope))

    def _value_rows(self, name: str, keys: Sequence[Any]) -> list[Row]:
        table = VALUE_TABLES[name]
        if len(keys) <= 1 or len(table.key) == 1:
            return super()._value_rows(name, keys)
        columns = zip(*map(table.key_row, keys), strict=True)
        return self.ask(_select_values(table), [list(column) for column in columns])


class PostgresTransaction(PostgresReader, SqlTransaction):
    """A transaction that writes in fewer round trips, too."""

    _cursor: PostgresCursor

    def insert_new(self, new: NewRecord, *, refuse: bool = False) -> Record | None:
        """Checks for conflicts and inserts the record in one statement."""
        record, keys = new.record, self._list_keys(new)
        epoch = None if new.epoch is None else str(new.epoch)
        row = self._row_of(record, 0)[1:]
        self._cursor.execute(_INSERT_NEW, [*row, record.scope, *keys, new.now, epoch, epoch, refuse])
        found = self._cursor.fetchone()
        return None if found is None else record.but(seq=found[0])

    def _add_rows(self, table: str, rows: Sequence[Row]) -> None:
        if len(rows) < FEW:
            return super()._add_rows(table, rows)
        types = TABLES[table]
        copy = f"COPY {table} ({', '.join(types)}) FROM STDIN (FORMAT BINARY)"
        for start in range(0, len(rows), AT_ONCE):
            self._cursor.copy(copy, types, rows[start : start + AT_ONCE])
        return None

    def _remove_rows(self, seqs: Sequence[int]) -> None:
        for start in range(0, len(seqs), AT_ONCE):
            self._cursor.execute(_REMOVE, [array_of(seqs[start : start + AT_ONCE])])


@cache
def _select_keys(column: str, bare: bool) -> str:
    """Returns a statement. Its parameters: the values of the column, then the scope."""
    held = select_held(column, "= g.key", bare).replace(":scope", "%s")
    return _look_up(f"%s::{TABLES['records'][column]}[]", "key", held)


@cache
def _select_values(table: ValueTable) -> str:
    """Returns a statement for the values of many keys, given as an array for each column of the key."""
    types = TABLES[table.name]
    arrays = ", ".join(f"%s::{types[name]}[]" for name in table.key)
    same = " AND ".join(f"{name} = g.key_{name}" for name in table.key)
    keys = ", ".join(f"key_{name}" for name in table.key)
    return _look_up(arrays, keys, f"SELECT {table.columns} FROM {table.name} WHERE {same}")


def _look_up(arrays: str, keys: str, one: str) -> str:
    """Looks up each key by itself; OFFSET keeps the planner from reading a scope as a whole instead.

    It would do so without statistics, as after the first records of a new database.
    """
    return f"SELECT f.* FROM unnest({arrays}) AS g ({keys}) CROSS JOIN LATERAL ({one} OFFSET 0) AS f"
