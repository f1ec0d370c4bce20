"""The fixed statements of the relational store: plain SQL that every dialect here reads.

`:name` marks a parameter; each statement is compiled once for its dialect and bound by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from .. import Entry
from ..rules import UNIQUE_KINDS
from .rows import BARE_COLUMNS, COLUMNS, EVENT_COLUMNS, VALUE_TABLES, ValueTable

KINDS: Final = ", ".join(f"'{kind}'" for kind in UNIQUE_KINDS)
ALL: Final = ", ".join(COLUMNS)
BARE: Final = ", ".join(BARE_COLUMNS)
_PARAMETER: Final = re.compile(r":(\w+)")
_ENTRY: Final = ", ".join(Entry._fields)
_TELLING: Final = _ENTRY.replace("vector", "NULL")
_TELLS: Final = "(kind = 'triple' OR substr(terms, 2, 1) >= :stating)"
ALONG_TABLE: Final = "along_table"
ALONG_SCOPE: Final = "along_scope"
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
    "remove_staged": "DELETE FROM vectors_next WHERE seq = :seq",
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
    "held": "SELECT count(*) FROM (SELECT 1 FROM records WHERE scope = :scope LIMIT :enough) held",
    # The same rows by two ways: along the table, or along the scope's index. What is not a plain
    # column cannot be looked up in an index, which keeps each statement on its way.
    "entries_along_table": f"SELECT {_ENTRY} FROM records "
    "WHERE scope || '' = :scope AND seq > :since AND seq <= :upto ORDER BY seq LIMIT :limit",
    "entries_along_scope": f"SELECT {_ENTRY} FROM records WHERE seq IN (SELECT seq FROM records "
    "WHERE scope = :scope AND +seq > :since ORDER BY +seq LIMIT :limit) ORDER BY seq",
    "telling_along_table": f"SELECT {_TELLING} FROM records WHERE scope || '' = :scope "
    f"AND seq > :since AND seq <= :upto AND {_TELLS} ORDER BY seq",
    "telling_along_scope": f"SELECT {_TELLING} FROM records WHERE scope = :scope AND +seq > :since "
    f"AND +seq <= :upto AND {_TELLS} ORDER BY +seq",
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


# What is counted rather than read: the survey of the records.
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


class SqlStatement:
    """SQL text for one driver and the order of its parameters."""

    __slots__ = ("names", "sql")

    def __init__(self, sql: str, names: Sequence[str]) -> None:
        self.sql: str = sql
        self.names: tuple[str, ...] = tuple(names)

    def bind(self, **values: Any) -> list[Any]:
        return list(map(values.__getitem__, self.names))


class ValueStatements:
    """How one table of small values is written."""

    __slots__ = ("clear", "remove", "set")

    def __init__(self, table: ValueTable, statements: Statements) -> None:
        key = " AND ".join(f"{name} = :{name}" for name in table.key)
        marks = ", ".join(f":{name}" for name in (*table.key, table.value))
        self.set: str = statements.compile(
            f"INSERT INTO {table.name} ({table.columns}) VALUES ({marks}) "
            f"ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {table.value} = excluded.{table.value}"
        ).sql
        self.remove: str = statements.compile(f"DELETE FROM {table.name} WHERE {key}").sql
        self.clear: str = f"DELETE FROM {table.name}"


class Statements(dict[str, SqlStatement]):
    """The fixed statements, as a driver reads them; `mark` is what stands for a value in its SQL."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark
        self._writing: dict[str, ValueStatements] = {}
        self.among: Final = lru_cache(maxsize=1024)(self._among)
        self.values_among: Final = lru_cache(maxsize=1024)(self._values_among)
        self.values_where: Final = lru_cache(maxsize=256)(self._values_where)

    def __missing__(self, name: str) -> SqlStatement:
        statement = self[name] = self.compile(_SQL[name])
        return statement

    def write_values(self, table: str) -> ValueStatements:
        statements = self._writing.get(table)
        if statements is None:
            statements = self._writing[table] = ValueStatements(VALUE_TABLES[table], self)
        return statements

    def compile(self, sql: str) -> SqlStatement:
        """The statement with a mark for each `:name`; none of ours has a colon or a percent sign besides."""
        return SqlStatement(_PARAMETER.sub(self.mark, sql), _PARAMETER.findall(sql))

    def _among(self, column: str, count: int, bare: bool) -> str:
        """A scope's records whose id, seq or key is one of `count`. Parameters: the scope, then those."""
        parameters = ", ".join(f":v{at}" for at in range(count))
        return self.compile(select_held(column, f"IN ({parameters})", bare)).sql

    def _values_among(self, name: str, count: int) -> str:
        """The values of `count` keys of a table. Parameters: the columns of each key."""
        table = VALUE_TABLES[name]
        test = " OR ".join(_key_test(table, at) for at in range(count))
        return self.compile(f"SELECT {table.columns} FROM {table.name} WHERE {test}").sql

    def _values_where(self, name: str, tests: tuple[str, ...], limit: int | None) -> SqlStatement:
        """The values of a table that pass all tests, by rising key."""
        table = VALUE_TABLES[name]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        end = "" if limit is None else f" LIMIT {limit:d}"
        order = ", ".join(table.key)
        return self.compile(f"SELECT {table.columns} FROM {table.name}{where} ORDER BY {order}{end}")


def select_held(column: str, test: str, bare: bool) -> str:
    """A scope's records whose id, seq or key passes a test."""
    scope = "scope" if column == "id" else "scope || ''"  # by seq or key, it is only checked
    kinds = f" AND kind IN ({KINDS})" if column == "exact_key" else ""
    columns = BARE if bare else ALL
    return f"SELECT {columns} FROM records WHERE {scope} = :scope AND {column} {test}{kinds}"


def _key_test(table: ValueTable, at: int) -> str:
    return " AND ".join(f"{column} = :{column}_{at}" for column in table.key)
