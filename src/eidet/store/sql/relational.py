"""The relational store: plain SQL for every database, as text.

The same code serves every SQL database; a database is a `Driver`, see `sqlite.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar, cast

from ...core.errors import Corrupt
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.validate import Json, dump_json
from ...core.where import Where
from ...quality import Survey
from .. import Changes, Entry, Transaction
from ..model import (
    EPOCH,
    SETTINGS,
    STAGED,
    STAGED_NAME,
    STAGED_UP_TO,
    TOMBSTONES,
    Derived,
    Head,
    K,
    NewRecord,
    Table,
    Use,
    V,
)
from ..rules import check_order, hide_key, key_of, list_marks
from .migrate import HIDES_KEYS
from .ports import Cursor, Driver, JsonSql, Row
from .reader import SqlReader, ask_on, read_head
from .rows import VALUE_TABLES, Statements, row_of

# Writing.


_EPOCH_ONLY: Final = (EPOCH,)
_Edits = Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]


class SqlTransaction(SqlReader):
    """A transaction that reads and writes on one cursor."""

    def __init__(self, sql: Statements, json: JsonSql, secret: bytes, cursor: Cursor) -> None:
        super().__init__(sql, json, secret, ask_on(cursor))
        self._cursor = cursor
        self._head: Head | None = None
        self.saw_tombstones: bool = False

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        return self.walk(where, bare=bare)

    def insert(self, records: Sequence[Record]) -> list[Record]:
        first = self._take_seqs(len(records))
        self._add_rows("records", [self._row_of(record, seq) for seq, record in enumerate(records, first)])
        return [record.but(seq=seq) for seq, record in enumerate(records, first)]

    def insert_new(self, new: NewRecord, *, refuse: bool = False) -> Record | None:
        """Inserts a record unless the epoch or a live twin forbids it, or its id is taken.

        With `refuse`, any tombstone of the store forbids it, too: the caller has to check them first.
        """
        record = new.record
        look, cursor = self._sql["head_and_twin"], self._cursor
        wanted = dict(zip(("k0", "k1", "k2", "k3"), self._list_keys(new), strict=True))
        cursor.execute(look.sql, look.bind(scope=record.scope, now=new.now, **wanted))
        last, removed, epoch, leapt, has_twin, has_tombstones = cursor.fetchone()
        head = self._head = read_head((last, removed, epoch, leapt))
        if refuse and has_tombstones:
            self.saw_tombstones = True
            return None
        if has_twin or new.epoch not in (None, head.epoch):
            return None
        seq = head.seq + 1
        cursor.execute(self._sql["insert_free"].sql, self._row_of(record, seq))
        if cursor.rowcount == 0:
            return None
        self._head = Head(head.epoch, seq)
        return record.but(seq=seq)

    def _list_keys(self, new: NewRecord) -> list[bytes]:
        """Returns four exact keys of possible twins, some repeated; empty ones if there can be no twin."""
        return ([hide_key(key, self._secret) for key in new.repeats] * 4)[:4] or [b""] * 4

    def _row_of(self, record: Record, seq: int) -> Row:
        return row_of(record, seq, hide_key(key_of(record), self._secret))

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        first = self._take_seqs(len(records))  # before they go: the last seq may be one of theirs
        self._remove_rows([record.seq for record in records])
        pairs = enumerate(zip(records, events, strict=True), first)
        rows = [_event_row(seq, record, event) for seq, (record, event) in pairs]
        self._add_rows("events", rows)

    def _add_rows(self, table: str, rows: Sequence[Row]) -> None:
        self._run_many(self._sql[f"insert_{table}"].sql, rows)

    def _remove_rows(self, seqs: Sequence[int]) -> None:
        for statement in ("remove", "remove_vectors_next"):
            self._run_many(self._sql[statement].sql, [(seq,) for seq in seqs])

    def update(self, changes: Iterable[Use | Derived]) -> None:
        use, replace = self._sql["use"], self._sql["replace_derived"]
        rows = list(changes)
        self._run_many(use.sql, [use.bind(**row._asdict()) for row in rows if isinstance(row, Use)])
        derived = [replace.bind(**row._asdict()) for row in rows if isinstance(row, Derived)]
        self._run_many(replace.sql, derived)

    def edit_history(self, edits: _Edits) -> int:
        one = self._sql["edit"]
        censored = [key for key, before in edits.items() if before is None]
        rows = [
            one.bind(scope=scope, id=id, version=version, earlier=dump_json(earlier))
            for (scope, id), before in edits.items()
            for version, earlier in (before or {}).items()
        ]
        return self._run_many(self._sql["censor"].sql, censored) + self._run_many(one.sql, rows)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        if keys == _EPOCH_ONLY and table.name == SETTINGS.name:
            return cast("dict[K, V]", {EPOCH: str(self.head().epoch)})  # read along with the last seq
        found = super().values(table, keys, within=within, prefix=prefix, limit=limit)
        if found and table.name == TOMBSTONES.name:
            self.saw_tombstones = True
        return found

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        kept = VALUE_TABLES[table.name]
        if clear:
            self._cursor.execute(self._sql[f"clear_{kept.name}"].sql, ())
        if table.name == SETTINGS.name and EPOCH in values:
            self._head = Head(int(cast("dict[str, str]", values)[EPOCH]), self.head().seq)
        put = ((key, value) for key, value in values.items() if value is not None)
        removed = [kept.key_row(key) for key, value in values.items() if value is None]
        rows = [(*kept.key_row(key), kept.store_value(value)) for key, value in put]
        self._run_many(self._sql[f"set_{kept.name}"].sql, rows)
        self._run_many(self._sql[f"remove_{kept.name}"].sql, removed)

    def adopt_vectors(self, *, staged: bool) -> int:
        """Makes the staged vectors those of the records, unless some lack one. Returns how many do."""
        lacking = int(self.rows("lacking" if staged else "with_vector")[0][0])
        if not lacking:
            self._cursor.execute(self._sql["adopt"].sql, ())
        return lacking

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        found = self.rows("prunable", before=before, dead=dead, most=most)
        self._run_many(self._sql["prune"].sql, found)
        last = max([self.read_pruned(), *(seq for (seq,) in found)])
        self.set_values(SETTINGS, {"pruned": str(last)})
        return len(found)

    def leap(self, seq: int) -> None:
        """Makes the next write come after this seq."""
        epoch, last = self.head()
        self._head = Head(epoch, max(last, seq))

    def head(self) -> Head:
        """Returns the head of the store, including this transaction."""
        if self._head is None:
            self._head = super().head()
        return self._head

    def _take_seqs(self, count: int) -> int:
        """Reserves `count` seqs. Returns the first."""
        epoch, last = self.head()
        self._head = Head(epoch, last + count)
        return last + 1

    def _run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Runs a statement for each row. Returns how many rows of the database it changed."""
        if len(rows) == 1:
            self._cursor.execute(sql, rows[0])
        elif rows:
            self._cursor.executemany(sql, rows)
        else:
            return 0
        return self._cursor.rowcount


def _event_row(seq: int, record: Record, event: Event) -> Row:
    """Builds a row of the table `events`."""
    return (
        seq,
        event.scope,
        event.id,
        event.what,
        event.at,
        event.by,
        event.version,
        record.seq,
        record.created,
        record.agent,
        None if event.before is None else dump_json(event.before),
    )


T = TypeVar("T")
WALKED: Final = 100_000  # seqs that one statement walks along the table, so that no deadline ends it
STATING: Final = (
    b"\x80"  # the second byte of an analysis with statements, at least; see `eidet.text.analysis`
)


class RelationalStore:
    """A store that keeps records in SQL tables."""

    _reader_type: type[SqlReader] = SqlReader
    _transaction_type: type[SqlTransaction] = SqlTransaction

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._sql = Statements(driver.json.mark)
        self.identity, self._secret = _read_identity(driver)
        self._reader = reader = self._reader_type(self._sql, driver.json, self._secret, driver.read)
        self.read, self.match, self.count_by = reader.read, reader.match, reader.count_by
        self.values = reader.values
        self.trim, self.scrub, self.size, self.close = driver.trim, driver.scrub, driver.size, driver.close
        self._has_tombstones = False  # whether some were seen; they may have been lifted since
        self.writable: bool = driver.writable

    def _write(self, job: Callable[[SqlTransaction], T]) -> T:
        return self._driver.write(partial(self._run, job))

    def _run(self, job: Callable[[SqlTransaction], T], cursor: Cursor) -> T:
        transaction = self._transaction_type(self._sql, self._driver.json, self._secret, cursor)
        try:
            return job(transaction)
        finally:
            self._has_tombstones = self._has_tombstones or transaction.saw_tombstones

    def _snapshot(self, job: Callable[[SqlReader], T]) -> T:
        """Reads as of one moment."""
        make = partial(self._reader_type, self._sql, self._driver.json, self._secret)
        return self._driver.snapshot(lambda cursor: job(make(ask_on(cursor))))

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        check_order(order)
        if self._reader.sift(where).exact:
            return self._reader.find_exact(where, order, limit, offset, after)
        return self._snapshot(lambda reader: reader.find_looking(where, order, limit, offset, after))

    def head(self) -> Head:
        return self._reader.head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        return self._snapshot(lambda reader: reader.changes(scope, since, limit))

    def history(self, scope: str, id: str) -> list[Event]:
        return self._snapshot(lambda reader: reader.history(scope, id))

    def write(self, job: Callable[[Transaction], T]) -> T:
        return self._write(job)

    # Abilities, see `eidet.store.abilities`.

    def put_new(self, new: NewRecord, job: Callable[[Transaction], list[Record]]) -> list[Record]:
        def try_first(transaction: SqlTransaction) -> list[Record]:
            watch, marks = new.watch, list[tuple[str, bytes]]()
            if watch is not None and self._has_tombstones:
                marks = list_marks([new.record], watch.claims(), watch)
            if marks and transaction.values(TOMBSTONES, marks):
                return job(transaction)
            stored = transaction.insert_new(new, refuse=watch is not None and not self._has_tombstones)
            return job(transaction) if stored is None else [stored]

        return self._write(try_first)

    def list_telling(self, scope: str) -> Changes:
        """Works like `ListsTelling.list_telling`. Deletions meanwhile are in the changes after its head."""
        head = self.head()
        rows: list[Row] = []
        for since in range(0, head.seq, WALKED):
            upto = min(since + WALKED, head.seq)
            rows += self._reader.rows("telling", scope=scope, since=since, upto=upto, stating=STATING)
        return Changes(head, list(map(Entry._make, rows)), [])

    def fingerprint(self, seq: int) -> str | None:
        rows = self._reader.rows("fingerprint", seq=seq)
        return rows[0][0] if rows else None

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        alive = Where(scope=scope, alive_at=now)
        return self._snapshot(lambda reader: reader.survey(alive, fresh=fresh, ripe=ripe, stale=stale))

    def leap(self, seq: int) -> None:
        def job(transaction: SqlTransaction) -> None:
            if transaction.head().seq < seq:
                transaction.set_values(SETTINGS, {"leapt": str(seq)})

        self._write(job)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        if not self._reader.rows("prunable", before=before, dead=dead, most=1):
            return 0
        return self._write(lambda transaction: transaction.prune(before, dead=dead, most=most))

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        def job(transaction: SqlTransaction) -> int:
            staged = transaction.values(SETTINGS, (STAGED_NAME,)).get(STAGED_NAME) == name
            lacking = transaction.adopt_vectors(staged=staged)
            if not lacking:
                transaction.set_values(STAGED, {}, clear=True)
                epoch = str(transaction.head().epoch + 1)
                done = {STAGED_NAME: None, STAGED_UP_TO: None, EPOCH: epoch}
                transaction.set_values(SETTINGS, {**settings, **done})
            return lacking

        return self._write(job)


def _read_identity(driver: Driver) -> tuple[str, bytes]:
    """Reads the store's identity and the secret that hides exact keys; both were made with the tables."""
    asked = f"SELECT name, value FROM settings WHERE name IN ('identity', '{HIDES_KEYS}')"
    known: dict[str, str] = dict(driver.read(asked, ()))
    try:
        return known["identity"], bytes.fromhex(known[HIDES_KEYS])
    except (KeyError, ValueError):
        raise Corrupt("the store has lost its identity or a secret: restore a copy or an export") from None
