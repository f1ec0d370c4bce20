"""The relational store: SQLAlchemy Core for what varies, compiled SQL for what is hot.

The same code serves every SQL database; a database is a `Driver`, see `sqlite.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

from sqlalchemy import ColumnElement, Dialect, delete, func, select
from sqlalchemy.sql.elements import ClauseElement

from ...core.event import Event
from ...core.record import Record, record_digest
from ...core.scope import Scope
from ...core.validate import Json, dump_json
from ...core.where import Where
from ...quality import Survey, Tally
from .. import Changes, Claim, Derived, Entry, Erased, Erasure, Head, Look, Scrubbed, Stone, Uses, Watch
from ..legacy import LegacyStore
from ..pushdown import Sieve, sieve
from ..rules import (
    UNIQUE_KINDS,
    Since,
    check_entombed,
    check_epoch,
    check_expected,
    check_order,
    lease_of,
    may_lease,
    recast_of,
    said_before,
    says_the_same,
    succeed,
)
from .counting import survey_queries, tallied_in
from .filters import JsonSql, compile_where, in_scope
from .rows import record_of, row_of, story_of, tally_of
from .schema import records, tallies
from .statements import Statements

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Row = tuple[Any, ...]
LOOKED_AT = 2_000  # records read at once
SHORT_SPAN = 500  # writes that are looked through one by one rather than by an index
FEW = 1_000  # seqs that are named in a query


class Cursor(Protocol):
    """What a driver hands out to run statements on: DB-API, reduced to what is used here."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Driver(Protocol):
    """One SQL database. Raises Eidet's errors, never its own."""

    @property
    def dialect(self) -> Dialect: ...
    @property
    def json(self) -> JsonSql: ...
    @property
    def writable(self) -> bool: ...

    def read(self, sql: str, values: Sequence[Any]) -> list[Row]: ...

    def snapshot(self, job: Callable[[Cursor], T]) -> T:
        """Runs reads as of one moment."""

    def write(self, job: Callable[[Cursor], T]) -> T:
        """Runs a job alone in a transaction and commits it before it answers."""

    def trim(self, most: int) -> int:
        """Gives unused bytes back to the disk, see `Store.trim`."""

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Leaves nothing of what was deleted in the files, see `Store.scrub`."""

    def size(self) -> int: ...
    def close(self) -> None: ...


class RelationalStore(LegacyStore):
    """Keeps records in SQL tables."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._sql = Statements(driver.dialect)
        self._graves = False
        self.writable = driver.writable
        self.identity = self.setting("identity") or ""

    def put(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = True,
        expect: int | None = None,
        epoch: int | None = None,
        by: str | None = None,
        watch: Watch | None = None,
    ) -> list[Record]:
        def job(cursor: Cursor) -> list[Record]:
            return self._put(
                records, cursor, now=now, unique=unique, expect=expect, epoch=epoch, by=by, watch=watch
            )

        return self._driver.write(job) if records else []

    def _put(
        self,
        records: Sequence[Record],
        cursor: Cursor,
        *,
        now: float,
        unique: bool,
        expect: int | None,
        epoch: int | None,
        by: str | None,
        watch: Watch | None,
    ) -> list[Record]:
        scribe = self._scribe(cursor, now, by)
        check_epoch(epoch, scribe.epoch)
        if watch is not None and self._has_graves(cursor):
            scribe.mind(records, watch)
        return scribe.put_all(records, unique, expect)

    def _scribe(self, cursor: Cursor, now: float, by: str | None) -> Scribe:
        return Scribe(cursor, self._sql, now, by)

    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]:
        def job(cursor: Cursor) -> list[Record | None]:
            scribe = self._scribe(cursor, now, by)
            check_epoch(epoch, scribe.epoch)
            return [scribe.recast(given, form) for given, form in forms]

        return self._driver.write(job) if forms else []

    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]:
        def job(cursor: Cursor) -> list[str]:
            scribe = self._scribe(cursor, now, by)
            rows = list(
                filter(None, map(scribe.unchanged, dict.fromkeys((r.scope, r.id, r.seq) for r in records)))
            )
            scribe.bury(rows)
            return [row[2] for row in rows]

        return self._driver.write(job) if records else []

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        found = {record.id: record for record in self._among(scope, "id", ids)}
        return [found.get(id) for id in ids]

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        found = {record.seq: record for record in self._among(scope, "seq", seqs)}
        return [found.get(seq) for seq in seqs]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        name, descending = check_order(order)
        sifted = self._sifted(where)
        keys = [records.c[name].is_(None)] if records.c[name].nullable else []
        tail = [key.desc() if descending else key for key in (records.c[name], records.c.seq)]
        if not sifted.exact:
            kept = {seq for seq in self.match(where) if seq > after}
            coarse = select(records.c.scope, records.c.seq).where(self._where(sifted.coarse))
            if len(kept) <= FEW:
                coarse = coarse.where(records.c.seq.in_(kept))
            places = (row for row in self._select(coarse.order_by(*keys, *tail)) if row[1] in kept)
            return self._at(list(islice(places, offset, None if limit is None else offset + limit)))
        query = select(records).where(self._where(where)).order_by(*keys, *tail)
        if after:
            query = query.where(records.c.seq > after)
        query = query.limit(2**62 if limit is None else limit).offset(offset)
        return [record_of(row) for row in self._select(query)]

    def _at(self, places: Sequence[Row]) -> list[Record]:
        """The records at (scope, seq), in that order; some may have gone meanwhile."""
        by_scope: dict[str, list[int]] = {}
        for scope, seq in places:
            by_scope.setdefault(scope, []).append(seq)
        found = {r.seq: r for scope, seqs in by_scope.items() for r in self.fetch(scope, seqs) if r}
        return [found[seq] for _, seq in places if seq in found]

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        at, sifted = after, self._sifted(where)
        query = select(records).where(self._where(sifted.coarse)).order_by(records.c.seq).limit(batch)
        while rows := self._select(query.where(records.c.seq > at)):
            found = map(record_of, rows)
            yield from found if sifted.exact else filter(where.matches, found)
            at = rows[-1][0]

    def match(self, where: Where) -> list[int]:
        if not self._sifted(where).exact:
            return [record.seq for record in self.scan(where)]
        query = select(records.c.seq).where(self._where(where)).order_by(records.c.seq)
        return [row[0] for row in self._select(query)]

    def count(self, where: Where) -> int:
        if not self._sifted(where).exact:
            return len(self.match(where))
        return int(self._select(select(func.count()).select_from(records).where(self._where(where)))[0][0])

    def census(self, where: Where) -> dict[tuple[str, str], int]:
        if not self._sifted(where).exact:
            return dict(Counter((str(r.kind), str(r.tier)) for r in self.scan(where)))
        by = (records.c.kind, records.c.tier)
        query = select(*by, func.count()).where(self._where(where)).group_by(*by)
        return {(kind, tier): count for kind, tier, count in self._select(query)}

    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]:
        def job(cursor: Cursor) -> list[str]:
            rows = self._doomed(cursor, where)
            self._scribe(cursor, now, by).bury(rows)
            return [row[2] for row in rows]

        return self._driver.write(job)

    def _look(self, cursor: Cursor) -> _Look:
        return _Look(partial(self._rows, cursor), partial(self._asked, cursor), self._sifted, self._where)

    def _has_graves(self, cursor: Cursor) -> bool:
        """Once there were some, each lookup tells by itself; none is only true in this transaction."""
        self._graves = self._graves or bool(self._rows(cursor, "graves")[0][0])
        return self._graves

    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        def job(cursor: Cursor) -> Erased:
            wanted = plan(self._look(cursor))
            scribe = self._scribe(cursor, now, by)
            rows: list[Row] = [(r.seq, r.scope, r.id, r.version, r.created, r.agent) for r in wanted.gone]
            if wanted.where is not None:
                rows += self._doomed(cursor, wanted.where)
            histories = scribe.bury(rows) + sum(scribe.make_anew(*pair) for pair in wanted.anew)
            scribe.entomb(wanted.stones)
            self._configure(cursor, wanted.settings)
            return Erased([(row[1], row[2]) for row in rows], histories)

        return self._driver.write(job)

    def _doomed(self, cursor: Cursor, where: Where) -> list[Row]:
        """What `bury` needs of all that matches; the tallies of a scope that is meant as a whole go, too."""
        c = records.c
        doomed = select(c.seq, c.scope, c.id, c.version, c.created, c.agent)
        if self._sifted(where).exact:
            rows = self._asked(cursor, doomed.where(self._where(where)).order_by(c.seq))
        else:
            found = self._look(cursor).scan(where)
            rows = [(r.seq, r.scope, r.id, r.version, r.created, r.agent) for r in found]
        if where == Where(scope=where.scope):
            cursor.execute(*self._sql.prepare(delete(tallies).where(*tallied_in(where.scope))))
        return rows

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        def job(cursor: Cursor) -> dict[bytes, float]:
            found = {mark: self._rows(cursor, "grave", scope=scope, mark=mark) for mark in set(marks)}
            return {mark: rows[0][0] for mark, rows in found.items() if rows}

        return self._driver.snapshot(job)

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        def job(cursor: Cursor) -> int:
            there = [mark for mark in set(marks) if self._rows(cursor, "grave", scope=scope, mark=mark)]
            one = self._sql["exhume"]
            cursor.executemany(one.sql, [one.bind(scope=scope, mark=mark) for mark in there])
            return len(there)

        return self._driver.write(job)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        return self._driver.scrub(said)

    def note(self, uses: Uses) -> None:
        use = self._sql["use"]
        rows = [use.bind(count=n, when=at, scope=scope, id=id) for (scope, id), (n, at) in uses.items()]
        if rows:
            self._driver.write(lambda cursor: cursor.executemany(use.sql, rows))

    def tally(self, rows: Sequence[Tally], *, since: int) -> None:
        def job(cursor: Cursor) -> None:
            for row in rows:
                self._add_tally(cursor, row)
            prune = self._sql["prune_tallies"]
            scopes = dict.fromkeys(row.scope for row in rows)
            cursor.executemany(prune.sql, [prune.bind(scope=scope, since=since) for scope in scopes])

        if rows:
            self._driver.write(job)

    def _add_tally(self, cursor: Cursor, row: Tally) -> None:
        """Reads, adds and writes: the job is alone in its transaction."""
        there = self._rows(cursor, "tallied", scope=row.scope, day=row.day, what=row.what)
        total = Counter(tally_of(there[0]).counts) if there else Counter[str]()
        total.update(row.counts)
        write = self._sql["tally"]
        cursor.execute(write.sql, write.bind(**row._asdict() | {"counts": dump_json(total)}))

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        c = tallies.c
        query = select(tallies).where(c.day >= since, *tallied_in(scope)).order_by(c.scope, c.day, c.what)
        return list(map(tally_of, self._select(query)))

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        alive = self._where(Where(scope=scope, alive_at=now))
        asked = survey_queries(alive, fresh, ripe, stale)

        def job(cursor: Cursor) -> Survey:
            (counts,), ((stored,),), ((distinct,),) = (self._asked(cursor, query) for query in asked)
            return Survey._make((*counts, distinct, stored - distinct))

        return self._driver.snapshot(job)

    def history(self, scope: str, id: str) -> list[Event]:
        return self._driver.snapshot(lambda cursor: self._story(cursor, scope, id))

    def _story(self, cursor: Cursor, scope: str, id: str) -> list[Event]:
        told = self._rows(cursor, "history", scope=scope, id=id)
        living = self._rows(cursor, "living", scope=scope, id=id)
        return list(story_of(scope, id, told, living))

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        one = self._sql["retell"]

        def job(cursor: Cursor) -> int:
            count = 0
            for version, said in before.items():
                told = one.bind(scope=scope, id=id, version=version, earlier=dump_json(said))
                cursor.execute(one.sql, told)
                count += cursor.rowcount
            return count

        return self._driver.write(job) if before else 0

    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]:
        query = select(records.c.scope, func.count()).group_by(records.c.scope).order_by(records.c.scope)
        if scope is not None or alive_at is not None:
            query = query.where(self._where(Where(scope=scope, alive_at=alive_at)))
        return dict(self._select(query))

    def head(self) -> Head:
        return _head(self._driver.read(self._sql["head"].sql, ())[0])

    def leap(self, seq: int) -> None:
        """No write gets a seq up to this one any more: for whoever counts over several stores."""

        def job(cursor: Cursor) -> None:
            if _head(self._rows(cursor, "head")[0]).seq < seq:
                self._configure(cursor, {"leapt": str(seq)})

        self._driver.write(job)

    def twins(self, records: Sequence[Record], *, now: float) -> list[Record | None]:
        """A living fact or document of its scope that says what a record says; None where there is none."""

        def job(cursor: Cursor) -> list[Record | None]:
            asked = ({"scope": r.scope, "digest": record_digest(r), "now": now} for r in records)
            found = [self._rows(cursor, "twin", **one) for one in asked]
            rows = [self._rows(cursor, "by_seq", seq=seqs[0][0]) if seqs else [] for seqs in found]
            return [record_of(some[0]) if some else None for some in rows]

        return self._driver.snapshot(job)

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        def job(cursor: Cursor) -> Changes:
            head = _head(self._rows(cursor, "head")[0])
            way = self._way(cursor, scope, head.seq - since)
            rows = self._rows(cursor, way, scope=scope, since=since, limit=limit)
            entries = list(map(Entry._make, rows))
            if len(entries) == limit:
                head = Head(head.epoch, entries[-1].seq)
            gone = self._rows(cursor, "gone", scope=scope, since=since, upto=head.seq)
            return Changes(head, entries, [row[0] for row in gone], self._pruned(cursor))

        return self._driver.snapshot(job)

    def _way(self, cursor: Cursor, scope: str, span: int) -> str:
        """Along the table when little was written since, or mostly in this scope; else by its index."""
        if span > SHORT_SPAN and self._rows(cursor, "held", scope=scope)[0][0] * 8 < span:
            return "entries_along_scope"
        return "entries_along_table"

    def witness(self, seq: int) -> str | None:
        rows = self._read("witness", seq=seq)
        return rows[0][0] if rows else None

    def setting(self, name: str) -> str | None:
        rows = self._read("setting", name=name)
        return rows[0][0] if rows else None

    def settings(self, prefix: str) -> dict[str, str]:
        return dict(self._read("settings", prefix=prefix))

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        self._driver.write(
            lambda cursor: self._configure(cursor, settings, "claim" if fresh else "configure")
        )

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        row = f"lease:{name}"

        def job(cursor: Cursor) -> bool:
            held = self._rows(cursor, "setting", name=row)
            mine = may_lease(held[0][0] if held else None, owner, now)
            if mine:
                self._configure(cursor, {row: lease_of(owner, until)})
            return mine

        return self._driver.write(job)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        if not self._read("prunable", before=before, dead=dead, most=1):
            return 0

        def job(cursor: Cursor) -> int:
            seqs = [row[0] for row in self._rows(cursor, "prunable", before=before, dead=dead, most=most)]
            cursor.executemany(self._sql["prune"].sql, [(seq,) for seq in seqs])
            self._configure(cursor, {"pruned": str(max([*seqs, self._pruned(cursor)]))})
            return len(seqs)

        return self._driver.write(job)

    def _pruned(self, cursor: Cursor) -> int:
        rows = self._rows(cursor, "setting", name="pruned")
        return int(rows[0][0]) if rows else 0

    def trim(self, most: int) -> int:
        return self._driver.trim(most)

    def rewrite(self, derived: Iterable[Derived]) -> None:
        one = self._sql["rewrite"]
        rows = [one.bind(**row._asdict()) for row in derived]

        def job(cursor: Cursor) -> None:
            cursor.executemany(one.sql, rows)
            self._raise_epoch(cursor)

        self._driver.write(job)

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        one = self._sql["stage"]

        def job(cursor: Cursor) -> None:
            if not self._is_staged(cursor, name):
                cursor.execute(self._sql["unstage"].sql, ())
                self._configure(cursor, {"staged": name})
            cursor.executemany(one.sql, [one.bind(seq=seq, vector=vector) for seq, vector in vectors])

        self._driver.write(job)

    def staged(self, name: str) -> int:
        return (self._read("staged")[0][0] or 0) if self.setting("staged") == name else 0

    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        def job(cursor: Cursor) -> int:
            staged = self._is_staged(cursor, name)
            lacking = int(self._rows(cursor, "lacking" if staged else "with_vector")[0][0])
            if not lacking:
                cursor.execute(self._sql["adopt"].sql, ())
                cursor.execute(self._sql["unstage"].sql, ())
                self._configure(cursor, {**settings, "staged": ""})
                self._raise_epoch(cursor)
            return lacking

        return self._driver.write(job)

    def _is_staged(self, cursor: Cursor, name: str) -> bool:
        """Asked inside the transaction: another job of the same commit may have begun to stage."""
        return self._rows(cursor, "setting", name="staged") == [(name,)]

    def _configure(self, cursor: Cursor, settings: Mapping[str, str], how: str = "configure") -> None:
        one = self._sql[how]
        cursor.executemany(one.sql, [one.bind(name=name, value=value) for name, value in settings.items()])

    def _raise_epoch(self, cursor: Cursor) -> None:
        cursor.execute(self._sql["head"].sql, ())
        self._configure(cursor, {"epoch": str(_head(cursor.fetchone()).epoch + 1)})

    def size(self) -> int:
        return self._driver.size()

    def close(self) -> None:
        self._driver.close()

    def _among(self, scope: str, column: str, values: Sequence[Any]) -> Iterator[Record]:
        for start in range(0, len(values), 500):
            some = values[start : start + 500]
            yield from map(record_of, self._driver.read(self._sql.among(column, len(some)), (scope, *some)))

    def _sifted(self, where: Where) -> Sieve:
        """What the database can tell of a filter; where that is not all, records are looked at here."""
        return sieve(where, self._driver.json.answers)

    def _where(self, where: Where) -> ColumnElement[bool]:
        return compile_where(where, self._driver.json)

    def _select(self, query: ClauseElement) -> list[Row]:
        return self._driver.read(*self._sql.prepare(query))

    def _asked(self, cursor: Cursor, query: ClauseElement) -> list[Row]:
        cursor.execute(*self._sql.prepare(query))
        return cursor.fetchall()

    def _rows(self, cursor: Cursor, name: str, /, **values: Any) -> list[Row]:
        cursor.execute(self._sql[name].sql, self._sql[name].bind(**values))
        return cursor.fetchall()

    def _read(self, name: str, /, **values: Any) -> list[Row]:
        statement = self._sql[name]
        return self._driver.read(statement.sql, statement.bind(**values))


class _Look:
    """Reads what the transaction of a cursor sees."""

    def __init__(
        self,
        rows: Callable[..., list[Row]],
        asked: Callable[[ClauseElement], list[Row]],
        sifted: Callable[[Where], Sieve],
        test: Callable[[Where], ColumnElement[bool]],
    ) -> None:
        self._rows = rows
        self._asked = asked
        self._sifted = sifted
        self._test = test

    def scan(self, where: Where) -> Iterator[Record]:
        at, sifted = 0, self._sifted(where)
        chosen = self._test(sifted.coarse)
        query = select(records).where(chosen).order_by(records.c.seq).limit(LOOKED_AT)
        while rows := self._asked(query.where(records.c.seq > at)):
            found = map(record_of, rows)
            yield from found if sifted.exact else filter(where.matches, found)
            if len(rows) < LOOKED_AT:
                return
            at = rows[-1][0]

    def twins(self, given: Sequence[Record]) -> list[Record]:
        known = {record.seq for record in given}
        said: dict[str, set[bytes]] = {}
        for record in given:
            said.setdefault(record.scope, set()).add(record_digest(record))
        found = []
        for scope, digests in said.items():
            rows = self._rows("digests", scope=scope)
            seqs = [seq for seq, digest in rows if digest in digests and seq not in known]
            found += [row for seq in seqs for row in self._rows("by_seq", seq=seq)]
        return list(map(record_of, found))

    def derived(self, scope: Scope) -> list[Record]:
        query = select(records).where(in_scope(scope, records.c.scope), records.c.derived_from.is_not(None))
        return list(map(record_of, self._asked(query.order_by(records.c.seq))))

    def history(self, scope: str, id: str) -> list[Event]:
        told, living = (self._rows(name, scope=scope, id=id) for name in ("history", "living"))
        return list(story_of(scope, id, told, living))

    def setting(self, name: str) -> str | None:
        rows = self._rows("setting", name=name)
        return rows[0][0] if rows else None


class Scribe:
    """The writing side of one transaction. It holds the write lock, so seqs can be counted here."""

    def __init__(self, cursor: Cursor, sql: Statements, now: float, by: str | None) -> None:
        self._cursor = cursor
        self._sql = sql
        self._now = now
        self._by = by
        cursor.execute(sql["head"].sql, ())
        self.epoch, self._seq = _head(cursor.fetchone())

    def put_all(self, records: Sequence[Record], unique: bool, expect: int | None) -> list[Record]:
        return [self.put(record, unique, expect) for record in records]

    def put(self, record: Record, unique: bool, expect: int | None) -> Record:
        if expect is not None:
            check_expected(expect, self._one("by_id", scope=record.scope, id=record.id), record.id)
        elif (fresh := self._create(record, unique)) is not None:
            return fresh
        old = self._one("by_id", scope=record.scope, id=record.id)
        assert old is not None, "an insert that did nothing left a row behind"
        before = said_before(old, record)
        return old if says_the_same(old, record, before, expect) else self._revise(old, record, before)

    def _create(self, record: Record, unique: bool) -> Record | None:
        """The record as stored, or its twin with a use counted; None if its id is taken."""
        if unique and record.kind in UNIQUE_KINDS and (twin := self._twin(record)) is not None:
            return twin
        self._cursor.execute(self._sql["insert"].sql, row_of(record, self._seq + 1))
        if self._cursor.rowcount == 0:
            return None
        self._seq += 1
        return record.but(seq=self._seq)

    def _twin(self, record: Record) -> Record | None:
        digest = record_digest(record)
        self._run("twin", scope=record.scope, digest=digest, now=self._now)
        if (row := self._cursor.fetchone()) is None:
            return None
        twin = self._one("by_seq", seq=row[0])
        if twin is None or self._one("by_id", scope=record.scope, id=record.id) is not None:
            return None
        self._run("use", count=1, when=self._now, scope=twin.scope, id=twin.id)
        last = self._now if twin.last_used is None else max(self._now, twin.last_used)
        return twin.but(uses=twin.uses + 1, last_used=last)

    def _revise(self, old: Record, record: Record, before: dict[str, Any] | None) -> Record:
        new = succeed(old, record).but(seq=self._seq + 2)
        self._run("remove", seq=old.seq)
        self._log("revised", old.seq, new.scope, new.id, new.version, old.created, old.agent, before)
        self._cursor.execute(self._sql["insert"].sql, row_of(new, new.seq))
        self._seq = new.seq
        return new

    def recast(self, given: Record, form: Record) -> Record | None:
        row = self._state(given.scope, given.id)
        if row is None:
            return None
        seq, version, created, uses, last_used, agent = row
        old = given.but(version=version, created=created, uses=uses, last_used=last_used)
        new = recast_of(old if seq == given.seq else None, given, form)
        if new is None:
            return None
        self._run("remove", seq=seq)
        self._log("moved", seq, new.scope, new.id, version, created, agent, None)
        self._seq += 1
        new = new.but(seq=self._seq)
        self._cursor.execute(self._sql["insert"].sql, row_of(new, new.seq))
        return new

    def unchanged(self, which: tuple[str, str, int]) -> Row | None:
        """What `bury` needs of a record that still has its seq."""
        scope, id, seq = which
        row = self._state(scope, id)
        return None if row is None or row[0] != seq else (seq, scope, id, row[1], row[2], row[5])

    def _state(self, scope: str, id: str) -> Row | None:
        self._run("state_of", scope=scope, id=id)
        row: Row | None = self._cursor.fetchone()
        return row

    def bury(self, rows: Sequence[Row]) -> int:
        """Deletes rows of (seq, scope, id, version, created, agent) and notes that it happened.

        How many notes of the history lost what they told of the content.
        """
        censored = 0
        for seq, scope, id, version, created, agent in rows:
            self._run("remove", seq=seq)
            censored += self._censor(scope, id)
            self._log("forgotten", seq, scope, id, version, created, agent, None)
        return censored

    def _censor(self, scope: str, id: str) -> int:
        self._run("censor", scope=scope, id=id)
        return self._cursor.rowcount

    def make_anew(self, old: Record, record: Record) -> int:
        """The next version, without a word of those before; how many notes lost what they told."""
        self._revise(old, record, None)
        return self._censor(old.scope, old.id)

    def mind(self, records: Sequence[Record], watch: Watch) -> None:
        """`Entombed`, or the tombstones are lifted where that is meant."""
        claims = watch.claims()
        check_entombed(records, claims, watch, self._graves_of(records, claims), self._there)
        if watch.again:
            for record, claim in zip(records, claims, strict=True):
                for mark in claim.says:
                    self._run("exhume", scope=record.scope, mark=mark)

    def entomb(self, stones: Sequence[Stone]) -> None:
        one = self._sql["entomb"]
        rows = [one.bind(scope=scope, mark=mark, moment=self._now) for scope, mark in stones]
        self._cursor.executemany(one.sql, rows)

    def _graves_of(self, records: Sequence[Record], claims: Sequence[Claim]) -> Since:
        """Tells of the graves that claims ask for; here, each is looked up when it is asked for."""
        del records, claims
        return self._since

    def _since(self, scope: str, mark: bytes) -> float | None:
        grave = self._sql["grave"]
        self._cursor.execute(grave.sql, grave.bind(scope=scope, mark=mark))
        row = self._cursor.fetchone()
        return None if row is None else float(row[0])

    def _there(self, scope: str, id: str) -> bool:
        return self._state(scope, id) is not None

    def _log(
        self,
        what: str,
        gone: int,
        scope: str,
        id: str,
        version: int,
        born: float,
        author: str | None,
        before: dict[str, Any] | None,
    ) -> None:
        self._seq += 1
        self._run(
            "log",
            seq=self._seq,
            scope=scope,
            id=id,
            what=what,
            moment=self._now,
            actor=self._by,
            version=version,
            gone=gone,
            born=born,
            author=author,
            earlier=None if before is None else dump_json(before),
        )

    def _run(self, name: str, /, **values: Any) -> None:
        statement = self._sql[name]
        self._cursor.execute(statement.sql, statement.bind(**values))

    def _one(self, name: str, /, **values: Any) -> Record | None:
        self._run(name, **values)
        row = self._cursor.fetchone()
        return None if row is None else record_of(row)


def _head(row: Row) -> Head:
    last, told, epoch, leapt = row
    return Head(int(epoch or 0), max(last or 0, told or 0, int(leapt or 0)))
