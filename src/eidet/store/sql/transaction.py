"""A transaction on the tables. It holds the write lock, so seqs can be counted here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.validate import Json, dump_json
from ...core.where import Where
from ..model import EPOCH, SETTINGS, TOMBSTONES, Derived, Head, K, NewRecord, Table, Use, V
from ..record_keys import hide_key, key_of
from .ports import Cursor, JsonSql, Row
from .reader import SqlReader, ask_on, read_head
from .rows import VALUE_TABLES, Statements, row_of

_EPOCH_ONLY: Final = (EPOCH,)
_Edits = Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]


class SqlTransaction(SqlReader):
    """Reads and writes on one cursor."""

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
        """Inserts a record unless the epoch or a living twin forbids it, or its id is taken.

        With `refuse`, any tombstone of the store forbids it too: somebody has to look at them first.
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
        """Four exact keys under which a twin could be: there are none, 1, 2 or 4."""
        return ([hide_key(key, self._secret) for key in new.repeats] * 4)[:4] or [b""] * 4

    def _row_of(self, record: Record, seq: int) -> Row:
        return row_of(record, seq, hide_key(key_of(record), self._secret))

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        first = self._take_seqs(len(records))  # before they go: the last seq may be one of theirs
        self._remove_rows([record.seq for record in records])
        rows = []
        for seq, (record, event) in enumerate(zip(records, events, strict=True), first):
            rows.append(_event_row(seq, record, event))
        self._add_rows("events", rows)

    def _add_rows(self, table: str, rows: Sequence[Row]) -> None:
        self._run_many(self._sql[f"insert_{table}"].sql, rows)

    def _remove_rows(self, seqs: Sequence[int]) -> None:
        for statement in ("remove", "remove_staged"):
            self._run_many(self._sql[statement].sql, [(seq,) for seq in seqs])

    def update(self, changes: Iterable[Use | Derived]) -> None:
        use, replace = self._sql["use"], self._sql["replace_derived"]
        uses, derived = [], []
        for change in changes:
            if isinstance(change, Use):
                scope, id, times, when = change
                uses.append(use.bind(scope=scope, id=id, times=times, when=when))
            else:
                seq, vector, terms = change
                derived.append(replace.bind(seq=seq, vector=vector, terms=terms))
        self._run_many(use.sql, uses)
        self._run_many(replace.sql, derived)

    def edit_history(self, edits: _Edits) -> int:
        one = self._sql["edit"]
        censored, rows = [], []
        for key, before in edits.items():
            if before is None:
                censored.append(key)
                continue
            scope, id = key
            for version, earlier in before.items():
                rows.append(one.bind(scope=scope, id=id, version=version, earlier=dump_json(earlier)))
        return self._censor(censored) + self._run_many(one.sql, rows)

    def _censor(self, keys: Sequence[tuple[str, str]]) -> int:
        """Removes what events of these records say was before; how many said something."""
        return self._run_many(self._sql["censor"].sql, keys)

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
        kept, sql = VALUE_TABLES[table.name], self._sql.write_values(table.name)
        if clear:
            self._cursor.execute(sql.clear, ())
        if table.name == SETTINGS.name and EPOCH in values:
            self._head = Head(int(cast("dict[str, str]", values)[EPOCH]), self.head().seq)
        put, removed = [], []
        for key, value in values.items():
            if value is None:
                removed.append(kept.key_row(key))
            else:
                put.append((*kept.key_row(key), kept.store_value(value)))
        self._run_many(sql.set, put)
        self._run_many(sql.remove, removed)

    def adopt_vectors(self, *, staged: bool) -> int:
        """Makes the staged vectors those of the records, unless some lack one; how many do."""
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
        """What is written next comes after this seq."""
        epoch, last = self.head()
        self._head = Head(epoch, max(last, seq))

    def head(self) -> Head:
        """How far the store has come with this transaction."""
        if self._head is None:
            self._head = super().head()
        return self._head

    def _take_seqs(self, count: int) -> int:
        """The first of `count` new seqs."""
        epoch, last = self.head()
        self._head = Head(epoch, last + count)
        return last + 1

    def _run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Runs a statement for each row; how many rows of the database it changed."""
        if len(rows) == 1:
            self._cursor.execute(sql, rows[0])
        elif rows:
            self._cursor.executemany(sql, rows)
        else:
            return 0
        return self._cursor.rowcount


def _event_row(seq: int, record: Record, event: Event) -> Row:
    """The columns of the table `events`."""
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
