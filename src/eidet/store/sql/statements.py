"""The fixed statements of the relational store: plain SQL that every dialect here reads.

`:name` marks a parameter; each statement is compiled once for its dialect and bound by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Dialect, text
from sqlalchemy.sql.elements import ClauseElement

from .. import Entry
from ..rules import UNIQUE_KINDS
from .rows import COLUMNS
from .schema import events

_ALL: Final = ", ".join(COLUMNS)
_EVENT: Final = tuple(column.name for column in events.columns)
_ENTRY: Final = ", ".join(Entry._fields)
_KINDS: Final = ", ".join(f"'{kind}'" for kind in UNIQUE_KINDS)

_SQL: Final = {
    "insert": f"INSERT INTO records ({_ALL}) VALUES ({', '.join(':' + c for c in COLUMNS)}) "
    "ON CONFLICT (scope, id) DO NOTHING",
    "log": f"INSERT INTO events ({', '.join(_EVENT)}) VALUES ({', '.join(':' + c for c in _EVENT)})",
    "by_id": f"SELECT {_ALL} FROM records WHERE scope = :scope AND id = :id",
    "twin": "SELECT seq FROM records WHERE scope = :scope AND digest = :digest "
    f"AND kind IN ({_KINDS}) AND (expires IS NULL OR expires > :now) ORDER BY seq DESC LIMIT 1",
    "remove": "DELETE FROM records WHERE seq = :seq",
    "use": "UPDATE records SET uses = uses + :count, last_used = "
    "CASE WHEN last_used > :when THEN last_used ELSE :when END WHERE scope = :scope AND id = :id",
    "tallied": "SELECT scope, day, what, counts FROM tallies "
    "WHERE scope = :scope AND day = :day AND what = :what",
    "tally": "INSERT INTO tallies (scope, day, what, counts) VALUES (:scope, :day, :what, :counts) "
    "ON CONFLICT (scope, day, what) DO UPDATE SET counts = excluded.counts",
    "prune_tallies": "DELETE FROM tallies WHERE scope = :scope AND day < :since",
    "history": "SELECT what, id, scope, moment, actor, version, earlier, born, author FROM events "
    "WHERE scope = :scope AND id = :id ORDER BY seq",
    "living": "SELECT created, agent FROM records WHERE scope = :scope AND id = :id",
    "censor": "UPDATE events SET earlier = NULL WHERE scope = :scope AND id = :id AND earlier IS NOT NULL",
    "by_seq": f"SELECT {_ALL} FROM records WHERE seq = :seq",
    "state_of": "SELECT seq, version, created, uses, last_used, agent FROM records "
    "WHERE scope = :scope AND id = :id",
    "held": "SELECT count(*) FROM records WHERE scope = :scope",
    # The same rows by two ways: along the table, or along the scope's index. What is not a plain
    # column cannot be looked up in an index, which keeps each statement on its way.
    "entries_along_table": f"SELECT {_ENTRY} FROM records "
    "WHERE scope || '' = :scope AND seq > :since ORDER BY seq LIMIT :limit",
    "entries_along_scope": f"SELECT {_ENTRY} FROM records WHERE seq IN (SELECT seq FROM records "
    "WHERE scope = :scope AND +seq > :since ORDER BY +seq LIMIT :limit) ORDER BY seq",
    "gone": "SELECT gone FROM events "
    "WHERE scope = :scope AND seq > :since AND seq <= :upto AND gone <= :since",
    "prunable": "SELECT seq FROM events WHERE moment < :before AND seq < (SELECT max(seq) FROM events) "
    "AND (what = 'moved' OR (:dead AND NOT EXISTS (SELECT 1 FROM records "
    "WHERE records.scope = events.scope AND records.id = events.id))) ORDER BY seq LIMIT :most",
    "prune": "DELETE FROM events WHERE seq = :seq",
    "retell": "UPDATE events SET earlier = :earlier "
    "WHERE scope = :scope AND id = :id AND version = :version AND earlier IS NOT NULL",
    "settings": "SELECT name, value FROM settings "
    "WHERE substr(name, 1, length(:prefix)) = :prefix ORDER BY name",
    "setting": "SELECT value FROM settings WHERE name = :name",
    "configure": "INSERT INTO settings (name, value) VALUES (:name, :value) "
    "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    "claim": "INSERT INTO settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING",
    "head": "SELECT (SELECT max(seq) FROM records), (SELECT max(seq) FROM events), "
    "(SELECT value FROM settings WHERE name = 'epoch'), (SELECT value FROM settings WHERE name = 'leapt')",
    "witness": "SELECT id || ' ' || created FROM records WHERE seq = :seq "
    "UNION ALL SELECT id || ' ' || moment FROM events WHERE seq = :seq",
    "stage": "INSERT INTO vectors_next (seq, vector) VALUES (:seq, :vector) "
    "ON CONFLICT (seq) DO UPDATE SET vector = excluded.vector",
    "staged": "SELECT max(seq) FROM vectors_next",
    "unstage": "DELETE FROM vectors_next",
    "lacking": "SELECT count(*) FROM records WHERE vector IS NOT NULL "
    "AND seq NOT IN (SELECT seq FROM vectors_next)",
    "with_vector": "SELECT count(*) FROM records WHERE vector IS NOT NULL",
    "adopt": "UPDATE records SET vector = (SELECT vector FROM vectors_next n WHERE n.seq = records.seq) "
    "WHERE vector IS NOT NULL",
    "graves": "SELECT EXISTS (SELECT 1 FROM tombstones)",
    "grave": "SELECT moment FROM tombstones WHERE scope = :scope AND mark = :mark",
    "entomb": "INSERT INTO tombstones (scope, mark, moment) VALUES (:scope, :mark, :moment) "
    "ON CONFLICT (scope, mark) DO UPDATE SET moment = excluded.moment",
    "exhume": "DELETE FROM tombstones WHERE scope = :scope AND mark = :mark",
    "digests": "SELECT seq, digest FROM records WHERE scope = :scope",
    "rewrite": "UPDATE records SET vector = :vector, terms = :terms WHERE seq = :seq",
}


class Statement:
    """SQL text for one driver and the order of its parameters."""

    __slots__ = ("names", "sql")

    def __init__(self, sql: str, names: Sequence[str]) -> None:
        self.sql = sql
        self.names = tuple(names)

    def bind(self, **values: Any) -> list[Any]:
        return [values[name] for name in self.names]


class Statements:
    """The fixed statements, compiled for a dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._fixed = {name: self._compile(sql) for name, sql in _SQL.items()}
        self.among = lru_cache(maxsize=1024)(self._among)

    def __getitem__(self, name: str) -> Statement:
        return self._fixed[name]

    def _compile(self, sql: str) -> Statement:
        compiled: Any = text(sql).compile(dialect=self._dialect)
        return Statement(str(compiled), compiled.positiontup or ())

    def _among(self, column: str, count: int) -> str:
        """A scope's records whose id or seq is one of `count`. Parameters: the scope, then those."""
        return self._held(column, f"IN ({', '.join(f':v{i}' for i in range(count))})")

    def in_array(self, column: str, kind: str) -> str:
        """The same for a database that takes them as one value, an array of a kind."""
        return self._held(column, f"= ANY(CAST(:values AS {kind}[]))")

    def _held(self, column: str, test: str) -> str:
        scope = "scope || ''" if column == "seq" else "scope"  # by seq, the scope is only checked
        return self._compile(f"SELECT {_ALL} FROM records WHERE {scope} = :scope AND {column} {test}").sql

    def prepare(self, clause: ClauseElement) -> tuple[str, list[Any]]:
        """Any other statement, as text and values."""
        compiled: Any = clause.compile(dialect=self._dialect, compile_kwargs={"render_postcompile": True})
        return str(compiled), [compiled.params[name] for name in compiled.positiontup or ()]
