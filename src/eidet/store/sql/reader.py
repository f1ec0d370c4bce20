"""Reads the tables: the same code for a store, for a moment of it, and inside of a transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.sql.elements import ClauseElement

from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from .. import Changes, Entry, Head
from ..model import SETTINGS, K, Table, V
from ..pushdown import Sieve, sieve
from ..rules import check_order
from .filters import JsonSql, compile_where, in_scope
from .ports import Ask, Row
from .rows import BARE_COLUMNS, bare_record_of, record_of, story_of
from .schema import events, records
from .statements import Statements
from .value_tables import VALUE_TABLES, ValueTable, scope_range

PAGE: Final = 2_000  # records read at once
SHORT_SPAN: Final = 500  # writes that are looked through one by one rather than by an index
FEW: Final = 1_000  # seqs that are named in a query
_AT_ONCE: Final = 500  # values that are bound to one statement
_BARE: Final = [records.c[name] for name in BARE_COLUMNS]


class SqlReader:
    """Asks for records, histories and small values. `ask` runs one statement."""

    def __init__(self, sql: Statements, json: JsonSql, ask: Ask) -> None:
        self.ask = ask
        self._sql = sql
        self._json = json

    def rows(self, name: str, /, **values: Any) -> list[Row]:
        """Runs a fixed statement."""
        statement = self._sql[name]
        return self.ask(statement.sql, statement.bind(**values))

    def select(self, query: ClauseElement) -> list[Row]:
        return self.ask(*self._sql.prepare(query))

    def sift(self, where: Where) -> Sieve:
        """What the database can tell of a filter; where that is not all, records are looked at here."""
        return sieve(where, self._json.answers)

    def compile(self, where: Where) -> ColumnElement[bool]:
        return compile_where(where, self._json)

    def head(self) -> Head:
        return read_head(self.rows("head")[0])

    def read(
        self, scope: str, keys: Sequence[str] | Sequence[int], *, bare: bool = False
    ) -> list[Record | None]:
        """Records by ids or by seqs."""
        build = bare_record_of if bare else record_of
        if keys and isinstance(keys[0], int):
            by_seq = {row[0]: build(row) for row in self._among(scope, "seq", keys, bare)}
            return [by_seq.get(cast("int", seq)) for seq in keys]
        by_id = {row[1]: build(row) for row in self._among(scope, "id", keys, bare)}
        return [by_id.get(cast("str", id)) for id in keys]

    def _among(self, scope: str, column: str, values: Sequence[Any], bare: bool = False) -> Iterator[Row]:
        for start in range(0, len(values), _AT_ONCE):
            some = values[start : start + _AT_ONCE]
            yield from self.ask(self._sql.among(column, len(some), bare), (scope, *some))

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        if every_kind:
            wanted = set(digests)
            seqs = [seq for seq, digest in self.rows("digests", scope=scope) if digest in wanted]
            rows = self._among(scope, "seq", seqs)
        else:
            rows = self._among(scope, "digest", digests)
        return sorted(map(record_of, rows), key=lambda record: record.seq)

    def list_revised(self, scope: Scope, most: int) -> list[tuple[str, str]] | None:
        query = select(events.c.scope, events.c.id).where(in_scope(scope, events.c.scope))
        found = self.select(query.where(events.c.earlier.is_not(None)).distinct().limit(most + 1))
        if len(found) > most:
            return None
        return [(path, id) for path, id in found]

    def derived(self, scope: Scope) -> list[Record]:
        query = select(records).where(in_scope(scope, records.c.scope), records.c.derived_from.is_not(None))
        return list(map(record_of, self.select(query.order_by(records.c.seq))))

    def walk(self, where: Where, *, after: int = 0, bare: bool = False) -> Iterator[Record]:
        """Matching records by rising seq, some at a time."""
        sifted = self.sift(where)
        bare = bare and sifted.exact
        build = bare_record_of if bare else record_of
        query = select(*_BARE) if bare else select(records)
        query = query.where(self.compile(sifted.coarse)).order_by(records.c.seq).limit(PAGE)
        while rows := self.select(query.where(records.c.seq > after)):
            found = map(build, rows)
            yield from found if sifted.exact else filter(where.matches, found)
            if len(rows) < PAGE:
                return
            after = rows[-1][0]

    def find(self, where: Where, order: str, limit: int | None, offset: int, after: int) -> list[Record]:
        """As `Store.find`, for a filter that the database can tell."""
        query = select(records).where(self.compile(where)).order_by(*_order_keys(order))
        if after:
            query = query.where(records.c.seq > after)
        query = query.limit(2**62 if limit is None else limit).offset(offset)
        return [record_of(row) for row in self.select(query)]

    def find_looking(
        self, where: Where, order: str, limit: int | None, offset: int, after: int
    ) -> list[Record]:
        """As `Store.find`, for a filter that needs a look at each record; ask it as of one moment."""
        end = None if limit is None else offset + limit
        if order == "seq":
            return list(islice(self.walk(where, after=after), offset, end))
        kept = {seq for seq in self.match(where) if seq > after}
        coarse = select(records.c.scope, records.c.seq).where(self.compile(self.sift(where).coarse))
        if len(kept) <= FEW:
            coarse = coarse.where(records.c.seq.in_(kept))
        places = (row for row in self.select(coarse.order_by(*_order_keys(order))) if row[1] in kept)
        return self._read_places(list(islice(places, offset, end)))

    def _read_places(self, places: Sequence[Row]) -> list[Record]:
        """The records at (scope, seq), in that order."""
        by_scope: dict[str, list[int]] = {}
        for scope, seq in places:
            by_scope.setdefault(scope, []).append(seq)
        found = {}
        for scope, seqs in by_scope.items():
            for row in self._among(scope, "seq", seqs):
                found[row[0]] = record_of(row)
        return [found[seq] for _, seq in places]

    def match(self, where: Where) -> list[int]:
        if not self.sift(where).exact:
            return [record.seq for record in self.walk(where)]
        query = select(records.c.seq).where(self.compile(where)).order_by(records.c.seq)
        return [row[0] for row in self.select(query)]

    def count_by(self, where: Where, columns: Sequence[str]) -> dict[tuple[str, ...], int]:
        if not self.sift(where).exact:
            return self._count_looking(where, columns)
        by = [records.c[name] for name in columns]
        query = select(*by, func.count()).select_from(records).where(self.compile(where)).group_by(*by)
        return {tuple(row[:-1]): int(row[-1]) for row in self.select(query)}

    def _count_looking(self, where: Where, columns: Sequence[str]) -> dict[tuple[str, ...], int]:
        if not columns:
            return {(): len(self.match(where))}
        return dict(Counter(tuple(str(getattr(r, name)) for name in columns) for r in self.walk(where)))

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        head = self.head()
        way = self._entries_way(scope, head.seq - since)
        entries = list(map(Entry._make, self.rows(way, scope=scope, since=since, limit=limit)))
        if len(entries) == limit:
            head = Head(head.epoch, entries[-1].seq)
        gone = self.rows("gone", scope=scope, since=since, upto=head.seq)
        return Changes(head, entries, [row[0] for row in gone], self.pruned())

    def _entries_way(self, scope: str, span: int) -> str:
        """Along the table when little was written since, or mostly in this scope; else by its index."""
        if span > SHORT_SPAN and self.rows("held", scope=scope)[0][0] * 8 < span:
            return "entries_along_scope"
        return "entries_along_table"

    def pruned(self) -> int:
        """The last seq that was pruned from the history; 0 if none was."""
        return int(self.values(SETTINGS, ("pruned",)).get("pruned", 0))

    def history(self, scope: str, id: str) -> list[Event]:
        story = self.rows("history", scope=scope, id=id)
        return list(story_of(scope, id, story, self.rows("living", scope=scope, id=id)))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        kept = VALUE_TABLES[table.name]
        if keys is not None:
            wanted = list(keys)
            found = _values_by_key(kept, self._value_rows(table.name, wanted))
            return {key: found[key] for key in wanted if key in found}
        test, values = scope_range(within)
        tests = [test] if test else []
        if prefix:
            tests.append(f"substr({kept.key[0]}, 1, length(:prefix)) = :prefix")
        statement = self._sql.values_where(table.name, tuple(tests), limit)
        return _values_by_key(kept, self.ask(statement.sql, statement.bind(**values, prefix=prefix)))

    def _value_rows(self, name: str, keys: Sequence[Any]) -> Iterator[Row]:
        table = VALUE_TABLES[name]
        most = _AT_ONCE // len(table.key)
        for start in range(0, len(keys), most):
            some = keys[start : start + most]
            values = [part for key in some for part in table.key_row(key)]
            yield from self.ask(self._sql.values_among(name, len(some)), values)


def read_head(row: Row) -> Head:
    last, removed, epoch, leapt = row
    return Head(int(epoch or 0), max(last or 0, removed or 0, int(leapt or 0)))


def _values_by_key(table: ValueTable, rows: Iterable[Row]) -> dict[Any, Any]:
    return {table.read_key(row): table.read_value(row) for row in rows}


def _order_keys(order: str) -> list[ColumnElement[Any]]:
    """Absent values come last in either direction; equal ones are ordered by seq."""
    name, descending = check_order(order)
    column = records.c[name]
    keys: list[ColumnElement[Any]] = []
    if column.nullable:
        keys.append(column.is_(None))
    for key in (column, records.c.seq):
        keys.append(key.desc() if descending else key)
    return keys
