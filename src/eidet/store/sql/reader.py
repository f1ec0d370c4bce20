"""Reads the tables: for a store, for a snapshot of it, and inside a transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt
from ...core.record import EXACT_KEY_BYTES, Event, Record
from ...core.scope import Scope
from ...core.where import Condition, Where
from ...quality import Survey
from .. import Changes, Entry, Head
from ..answers import count_records, sort_records
from ..model import SETTINGS, K, Table, V
from ..rules import check_order, hide_key
from .filters import compile_where, in_scope
from .ports import Ask, Cursor, JsonSql, Row, Sql
from .rows import (
    ALL,
    BARE,
    COLUMNS,
    COUNTS,
    DISTINCT,
    LIGHT,
    NULLABLE,
    STORED,
    VALUE_TABLES,
    Statements,
    ValueTable,
    bare_record_of,
    record_of,
)

# The part of a filter that a database can test.


class Sieve(NamedTuple):
    """The part and what it is worth: it passes at least the matches. Unless `exact`, records are checked."""

    coarse: Where
    exact: bool


def sieve(where: Where, answers: Callable[[Condition], bool]) -> Sieve:
    """Leaves out the conditions that a database cannot test, and alternatives and negations with such."""
    conditions = tuple([one for one in where.conditions if one.of_record or answers(one)])
    every = [sieve(part, answers) for part in where.every]
    some = where.some if all(sieve(part, answers).exact for part in where.some) else ()
    never = tuple([part for part in where.never if sieve(part, answers).exact])
    unchanged = (conditions, some, never) == (where.conditions, where.some, where.never)
    if unchanged and all(part.exact for part in every):
        return Sieve(where, True)
    parts = tuple([part.coarse for part in every])
    return Sieve(replace(where, conditions=conditions, every=parts, some=some, never=never), False)


# Reading.


PAGE: Final = 2_000  # records read at once
_AT_ONCE: Final = 500  # values that are bound to one statement


def ask_on(cursor: Cursor) -> Ask:
    """Returns a function that runs statements on a cursor and returns their rows."""

    def ask(sql: str, values: Sequence[Any]) -> list[Row]:
        cursor.execute(sql, values)
        return cursor.fetchall()

    return ask


class SqlReader:
    """A reader of records, histories and values. `ask` runs one statement, `secret` hides exact keys."""

    def __init__(self, sql: Statements, json: JsonSql, secret: bytes, ask: Ask) -> None:
        self.ask = ask
        self._secret = secret
        self._sql = sql
        self._json = json

    def rows(self, name: str, /, **values: Any) -> list[Row]:
        """Runs a fixed statement. Returns its rows."""
        statement = self._sql[name]
        return self.ask(statement.sql, statement.bind(**values))

    def sift(self, where: Where) -> Sieve:
        """Splits a filter into what the database can test and what is checked here."""
        return sieve(where, self._json.answers)

    def test(self, where: Where) -> tuple[str, list[Any]]:
        """Compiles a filter that the database can test to SQL and its values."""
        test = compile_where(where, self._json)
        return test.text, list(test.values)

    def select(
        self, columns: str, where: Where, rest: str, values: Sequence[Any] = (), *, after: int = 0
    ) -> list[Row]:
        """Selects columns of matching records with a seq above `after`; `rest` is SQL after the filter."""
        test, asked = self.test(where)
        if after:  # else it would only mislead the planner
            rest = f"AND seq > {self._sql.mark} {rest}"
            asked.append(after)
        return self.ask(f"SELECT {columns} FROM records WHERE ({test}) {rest}", [*asked, *values])

    def head(self) -> Head:
        return read_head(self.rows("head")[0])

    def read(
        self, scope: str, keys: Sequence[str] | Sequence[int], *, bare: bool = False
    ) -> list[Record | None]:
        """Reads records by ids or by seqs: one answer per key; None where absent."""
        build = bare_record_of if bare else record_of
        at = COLUMNS.index("id")
        if keys and isinstance(keys[0], int):
            at = COLUMNS.index("seq")
        found = {row[at]: build(row) for row in self._among(scope, COLUMNS[at], keys, bare)}
        return [found.get(key) for key in keys]

    def _among(self, scope: str, column: str, values: Sequence[Any], bare: bool = False) -> list[Row]:
        rows: list[Row] = []
        for start in range(0, len(values), _AT_ONCE):
            some = values[start : start + _AT_ONCE]
            rows += self.ask(self._sql.among(column, len(some), bare), (scope, *some))
        return rows

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        wanted = tuple(hide_key(key, self._secret) for key in keys)
        if all(len(key) == EXACT_KEY_BYTES for key in keys):
            rows = self._among(scope, "exact_key", wanted)
        else:
            seqs = [seq for seq, key in self.rows("keys", scope=scope) if key.startswith(wanted)]
            rows = self._among(scope, "seq", seqs)
        return sorted(map(record_of, rows), key=lambda record: record.seq)

    def walk(
        self, where: Where, *, after: int = 0, bare: bool = False, columns: str = ALL
    ) -> Iterator[Record]:
        """Yields matching records by ascending seq, page by page."""
        sifted = self.sift(where)
        build = record_of
        if bare and sifted.exact:
            build, columns = bare_record_of, BARE
        page = f"ORDER BY seq LIMIT {PAGE}"
        while rows := self.select(columns, sifted.coarse, page, after=after):
            found = map(build, rows)
            yield from found if sifted.exact else filter(where.matches, found)
            if len(rows) < PAGE:
                return
            after = rows[-1][0]

    def find_exact(
        self, where: Where, order: str, limit: int | None, offset: int, after: int
    ) -> list[Record]:
        """Works like `Store.find`, for a filter that the database can test."""
        rest = f"ORDER BY {_order_keys(order)} LIMIT {self._sql.mark} OFFSET {self._sql.mark}"
        slice_of = [2**62 if limit is None else limit, offset]
        return list(map(record_of, self.select(ALL, where, rest, slice_of, after=after)))

    def find_looking(
        self, where: Where, order: str, limit: int | None, offset: int, after: int
    ) -> list[Record]:
        """Works like `Store.find`, for a filter that must check each record. Call it as of one moment."""
        end = None if limit is None else offset + limit
        if order == "seq":
            return list(islice(self.walk(where, after=after), offset, end))
        light = self.walk(where, after=after, columns=LIGHT)
        places = [(record.scope, record.seq) for record in sort_records(light, order)[offset:end]]
        seqs = groupby(sorted(places), key=itemgetter(0))
        found = {
            record.seq: record
            for scope, some in seqs
            for record in self.read(scope, [seq for _, seq in some])
            if record is not None
        }
        return [found[seq] for _, seq in places]

    def match(self, where: Where) -> list[int]:
        if not self.sift(where).exact:
            return [record.seq for record in self.walk(where, columns=LIGHT)]
        return [seq for (seq,) in self.select("seq", where, "ORDER BY seq")]

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        if not self.sift(where).exact:
            return count_records(self.walk(where, columns=LIGHT), columns)
        if not columns:
            return {(): int(self.select("count(*)", where, "")[0][0])}
        by = ", ".join(columns)
        rows = self.select(f"{by}, count(*)", where, f"GROUP BY {by}")
        return {tuple(row[:-1]): int(row[-1]) for row in rows}

    def survey(self, alive: Where, *, fresh: float, ripe: float, stale: float) -> Survey:
        """Counts records, see `AnswersVerbs.survey`; ask it as of one moment."""
        test, values = self.test(alive)
        counts = self._sql.compile(COUNTS)
        asked = counts.bind(fresh=fresh, ripe=ripe, stale=stale)
        (counted,) = self.ask(f"{counts.sql} WHERE {test}", [*asked, *values])
        ((stored,),) = self.ask(STORED.format(test=test), values)
        ((distinct,),) = self.ask(DISTINCT.format(test=test), values)
        return Survey._make((*counted, distinct, stored - distinct))

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        head = self.head()
        entries = list(map(Entry._make, self.rows("entries", scope=scope, since=since, limit=limit)))
        if len(entries) == limit:
            head = Head(head.epoch, entries[-1].seq)
        gone = self.rows("gone", scope=scope, since=since, upto=head.seq)
        return Changes(head, entries, [row[0] for row in gone], self.read_pruned())

    def read_pruned(self) -> int:
        """Returns the last seq that was pruned from the history; 0 if none was."""
        return int(self.values(SETTINGS, ("pruned",)).get("pruned", 0))

    def history(self, scope: str, id: str) -> list[Event]:
        story = self.rows("history", scope=scope, id=id)
        return list(_story_of(scope, id, story, self.rows("living", scope=scope, id=id)))

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
        mark, tests = self._sql.mark, [Sql("1 = 1")]
        if within is not None:
            tests.append(in_scope(within, mark))
        if prefix:
            tests.append(Sql(f"substr({kept.key[0]}, 1, length({mark})) = {mark}", (prefix, prefix)))
        end = "" if limit is None else f" LIMIT {limit:d}"
        rest = f"{' AND '.join(test.text for test in tests)} ORDER BY {', '.join(kept.key)}{end}"
        sql = f"SELECT {kept.columns} FROM {kept.name} WHERE {rest}"
        return _values_by_key(kept, self.ask(sql, [value for test in tests for value in test.values]))

    def _value_rows(self, name: str, keys: Sequence[Any]) -> list[Row]:
        table, rows = VALUE_TABLES[name], []
        most, same = (
            _AT_ONCE // len(table.key),
            " AND ".join(f"{one} = {self._sql.mark}" for one in table.key),
        )
        for start in range(0, len(keys), most):
            some = keys[start : start + most]
            test = " OR ".join([same] * len(some))
            values = list(chain.from_iterable(map(table.key_row, some)))
            rows += self.ask(f"SELECT {table.columns} FROM {table.name} WHERE {test}", values)
        return rows


def read_head(row: Row) -> Head:
    last, removed, epoch, leapt = row
    return Head(int(epoch or 0), max(last or 0, removed or 0, int(leapt or 0)))


def _values_by_key(table: ValueTable, rows: Iterable[Row]) -> dict[Any, Any]:
    return {table.key_of_row(row): table.read_value(row) for row in rows}


def _order_keys(order: str) -> str:
    """Returns the sort keys. Absent values come last in either direction; equal ones are ordered by seq."""
    name, descending = check_order(order)
    keys = [name, "seq"]
    if descending:
        keys = [f"{key} DESC" for key in keys]
    if name in NULLABLE:
        keys.insert(0, f"{name} IS NULL")
    return ", ".join(keys)


def _story_of(
    scope: str, id: str, told: Iterable[Sequence[Any]], living: Iterable[Sequence[Any]]
) -> Iterator[Event]:
    """Yields the stored events, and the creation that began each life; forgetting ends a life."""
    alive = False
    for *row, born, author in told:
        if not alive:
            yield Event(what="created", id=id, scope=scope, at=born, by=author)
        event = _event_of(row)
        alive = event.what != "forgotten"
        yield event
    if not alive:
        for born, author in living:
            yield Event(what="created", id=id, scope=scope, at=born, by=author)


def _event_of(row: Sequence[Any]) -> Event:
    what, id, scope, at, by, version, earlier = row
    try:
        before = None if earlier is None else json.loads(earlier)
    except (TypeError, ValueError) as error:
        raise Corrupt(f"the history of {id!r} in scope {scope!r} is damaged ({error})") from error
    return Event(what=what, id=id, scope=scope, at=at, by=by, version=version, before=before)
