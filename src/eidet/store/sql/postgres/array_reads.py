"""Reads with as few round trips as PostgreSQL allows: however many keys there are, they are one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from ....core.where import Where
from ...pushdown import untold
from ..filters import compile_where
from ..ports import Row
from ..reader import SqlReader
from ..value_tables import VALUE_TABLES, ValueTable
from .json_sql import PostgresJson
from .match import matching

_TYPES: Final = {"id": "text", "seq": "bigint", "digest": "bytea"}  # of columns that records are read by
_KEY_TYPES: Final = {
    "name": "text",
    "seq": "bigint",
    "scope": "text",
    "mark": "bytea",
    "day": "int",
    "what": "text",
}


class PostgresReader(SqlReader):
    """Asks PostgreSQL."""

    _json: PostgresJson

    def _among(self, scope: str, column: str, values: Sequence[Any], bare: bool = False) -> list[Row]:
        """One statement for any number of them, which the server has planned already."""
        if not values:
            return []
        sql = self._sql.among_array(column, _TYPES[column], bare)
        array = list(values) if column != "seq" else f"{{{','.join(map(str, values))}}}"
        return self.ask(sql, (scope, array))

    def _value_rows(self, name: str, keys: Sequence[Any]) -> Iterator[Row]:
        table = VALUE_TABLES[name]
        if len(keys) <= 1 or len(table.key) == 1:
            return super()._value_rows(name, keys)
        columns = zip(*map(table.key_row, keys), strict=True)
        return iter(self.ask(_join_keys(table), [list(column) for column in columns]))

    def match(self, where: Where) -> list[int]:
        conditions = untold(where, self._json.answers)
        if not conditions or not all(map(self._json.finds, conditions)):
            return super().match(where)
        coarse = compile_where(self.sift(where).coarse, self._json)
        return list(
            matching(coarse, conditions, self._json, lambda query: self.ask(*self._sql.prepare(query)))
        )


@cache
def _join_keys(table: ValueTable) -> str:
    """The values of many keys, given as an array for each column of the key."""
    arrays = ", ".join(f"%s::{_KEY_TYPES[name]}[]" for name in table.key)
    same = " AND ".join(f"t.{name} = g.{name}" for name in table.key)
    columns = ", ".join(f"t.{name}" for name in (*table.key, table.value))
    names = ", ".join(table.key)
    return f"SELECT {columns} FROM {table.name} t JOIN unnest({arrays}) AS g ({names}) ON {same}"
