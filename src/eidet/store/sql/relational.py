"""The relational store: plain SQL for every database, as text.

The same code serves every SQL database; a database is a `Driver`, see `sqlite.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from ...core.errors import Corrupt
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.where import Where
from ...quality import Survey
from .. import Changes, Entry, Head, Scrubbed, Transaction
from ..model import EPOCH, SETTINGS, STAGED, STAGED_NAME, STAGED_UP_TO, TOMBSTONES, K, NewRecord, Table, V
from ..rules import check_order
from .migrate import HIDES_KEYS
from .ports import Cursor, Driver
from .reader import SqlReader, ask_on
from .rows import Statements
from .transaction import SqlTransaction

T = TypeVar("T")


class RelationalStore:
    """Keeps records in SQL tables."""

    _reader_type: type[SqlReader] = SqlReader
    _transaction_type: type[SqlTransaction] = SqlTransaction

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._sql = Statements(driver.json.mark)
        self.identity, self._secret = _read_identity(driver)
        self._reader = self._reader_type(self._sql, driver.json, self._secret, driver.read)
        self.list_telling: Final = partial(_list_telling, self._snapshot)
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

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        return self._reader.read(scope, keys)

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        check_order(order)
        if self._reader.sift(where).exact:
            return self._reader.find_exact(where, order, limit, offset, after)
        return self._snapshot(lambda reader: reader.find_looking(where, order, limit, offset, after))

    def match(self, where: Where) -> list[int]:
        return self._reader.match(where)

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        return self._reader.count_by(where, columns)

    def head(self) -> Head:
        return self._reader.head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        return self._snapshot(lambda reader: reader.changes(scope, since, limit))

    def history(self, scope: str, id: str) -> list[Event]:
        return self._snapshot(lambda reader: reader.history(scope, id))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        return self._reader.values(table, keys, within=within, prefix=prefix, limit=limit)

    def write(self, job: Callable[[Transaction], T]) -> T:
        return self._write(job)

    def close(self) -> None:
        self._driver.close()

    # Abilities, see `eidet.store.abilities`.

    def put_new(self, new: NewRecord, job: Callable[[Transaction], list[Record]]) -> list[Record]:
        def try_first(transaction: SqlTransaction) -> list[Record]:
            watched = new.watch is not None
            if watched and self._has_tombstones and transaction.values(TOMBSTONES, new.marks()):
                return job(transaction)
            stored = transaction.insert_new(new, refuse=watched and not self._has_tombstones)
            return job(transaction) if stored is None else [stored]

        return self._write(try_first)

    def list_derived(self, scope: Scope) -> list[Record]:
        return self._reader.list_derived(scope)

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

    def size(self) -> int:
        return self._driver.size()

    def trim(self, most: int) -> int:
        return self._driver.trim(most)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        return self._driver.scrub(said)


def _read_identity(driver: Driver) -> tuple[str, bytes]:
    """The identity of the store, and the secret that hides exact keys; both were made with the tables."""
    asked = f"SELECT name, value FROM settings WHERE name IN ('identity', '{HIDES_KEYS}')"
    known: dict[str, str] = dict(driver.read(asked, ()))
    try:
        return known["identity"], bytes.fromhex(known[HIDES_KEYS])
    except (KeyError, ValueError):
        raise Corrupt("the store has lost its identity or a secret: restore a copy or an export") from None


WALKED: Final = 100_000  # seqs that one statement walks along the table, so that no deadline ends it
STATING: Final = (
    b"\x80"  # the second byte of an analysis with statements, at least; see `eidet.text.analysis`
)

_Snapshot = Callable[[Callable[[SqlReader], Any]], Any]  # gives a job a reader, as of one moment


def _list_telling(snapshot: _Snapshot, scope: str, head: Head) -> list[Entry] | None:
    """As `ListsTelling.list_telling`. Each part is read as of a moment of its own.

    What is deleted meanwhile is told by the changes after the head.
    """
    found: list[Entry] = []
    for since in range(0, head.seq, WALKED):
        part = snapshot(partial(_read_part, scope, head, since))
        if part is None:
            return None
        found += part
    return found


def _read_part(scope: str, head: Head, since: int, reader: SqlReader) -> list[Entry] | None:
    if reader.head() < head:
        return None
    upto = min(since + WALKED, head.seq)
    return list(
        map(Entry._make, reader.rows("telling", scope=scope, since=since, upto=upto, stating=STATING))
    )
