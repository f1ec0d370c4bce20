"""Copying a scope from the store into tables of its own: all of it at once, then what was added since.

Everything is done in one transaction each, by one process at a time: a lock that ends with the
transaction sees to that, also when whoever holds it is killed.
"""

from __future__ import annotations

import contextlib
import logging
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ...core.errors import EidetError
from ...store import Head
from ...store.sql.postgres.searchable import SearchableDatabase
from .. import Seqs
from ..change_pages import Stale, read_changes
from ..scope_worker import ScopeWorker
from .postings import PlaneShard, begin_shard, list_units, pack_blocks, thin_block
from .tables import (
    LOCK,
    PgvectorSettings,
    begin,
    clear,
    create,
    find_code,
    read_build,
    read_soundly,
    write_build,
)

if TYPE_CHECKING:
    from psycopg import Connection

    from ...store.sql.postgres.pool import DeadlineConnection

log: logging.Logger = logging.getLogger("eidet.index")

T = TypeVar("T")

PAGE: Final = 5_000  # entries read from the store at once
BLOCK: Final = 50_000  # units whose words are kept together
WAIT_SECONDS: Final = 10.0  # for another process that copies the same scope
LONGEST_SECONDS: Final = 86_400.0  # for the same, when a scope is rebuilt: a call's deadline ends it sooner
SAMPLE: Final = 1_024
COPY_SECONDS: Final = 300.0  # that a page may take to copy …
EACH_SECONDS: Final = 0.01  # … and each record of a scope beyond that, when all of it is
CANCEL_SECONDS: Final = 1.0
JOIN_SECONDS: Final = 5.0
REST_SECONDS: Final = 5.0  # between two copies of a scope: another process may be at it, or the disk full

# Columns, and the types whose binary form COPY is given: a vector comes as the bytes that the server keeps.
_UNITS: Final = {"seq": "int8", "unit": "int4", "length": "float4", "embedding": "bytea", "terms": "bytea"}
_WORDS: Final = {"term": "int8", "first": "int8", "size": "int4", "postings": "bytea"}


class Stopped(Exception):
    """The index is being closed; nothing was changed."""


def begin_alone(connection: Connection[Any], scope: str, wait_seconds: float = 0.0) -> bool:
    """Begins a transaction in which nobody else copies the scope; waits so long for whoever does.

    False if somebody still does: then there is no transaction.
    """
    from psycopg.errors import LockNotAvailable

    begin(connection)
    connection.execute(f"SET LOCAL lock_timeout = {max(1, int(wait_seconds * 1000)):d}")
    try:
        which = [LOCK, zlib.crc32(scope.encode()) - 2**31]
        connection.execute("SELECT pg_advisory_xact_lock(%s::integer, %s::integer)", which)
    except LockNotAvailable:
        connection.execute("ROLLBACK")
        return False
    connection.execute("SET LOCAL lock_timeout = 0")
    return True


class Copy:
    """One transaction that brings a scope's tables further."""

    def __init__(self, connection: Connection[Any], scope: str, width: int) -> None:
        """`Stale` if the scope has no tables for vectors of this width."""
        build = read_build(connection, scope, width)
        if build is None:
            raise Stale
        self._connection = connection
        self.scope, self.width = scope, width
        self.build = build
        self.more = False  # whether there is more to copy

    def add(self, shard: PlaneShard) -> None:
        """All units of a shard."""
        shard.settle()
        self._copy_rows(self.build.units, _UNITS, list_units(shard))
        self._copy_rows(self.build.words, _WORDS, pack_blocks(shard))
        self.build = replace(
            self.build,
            copied=shard.head.seq,
            live=self.build.live + shard.live,
            records=self.build.records + shard.records,
            total=self.build.total + shard.total,
            damaged={**self.build.damaged, **shard.damaged},
        )

    def _copy_rows(self, table: str, columns: dict[str, str], rows: Iterable[Sequence[Any]]) -> None:
        sql = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
        with self._connection.cursor().copy(sql) as copy:
            copy.set_types(list(columns.values()))
            for row in rows:
                copy.write_row(row)

    def forget(self, gone: Sequence[int]) -> None:
        """Nothing is left of these seqs, nor of the words they had."""
        if not gone:
            return
        rows = self._connection.execute(
            f"DELETE FROM {self.build.units} WHERE seq = ANY(%s::bigint[]) "
            "RETURNING seq, unit, length, terms",
            [list(gone)],
        ).fetchall()
        terms = np.unique(np.frombuffer(b"".join(held for *_, held in rows), "<u4"))
        self._thin(terms.tolist(), np.array([seq for seq, *_ in rows], np.int64))
        self.build = replace(
            self.build,
            live=self.build.live - len(rows),
            records=self.build.records - sum(unit == 0 for _, unit, *_ in rows),
            total=self.build.total - sum(length for _, _, length, _ in rows),
            damaged={seq: tier for seq, tier in self.build.damaged.items() if seq not in set(gone)},
        )
        if rows:
            self._draw()  # they may have been in it

    def _thin(self, terms: list[int], gone: Seqs) -> None:
        """Takes seqs out of the blocks of terms."""
        words, cursor = self.build.words, self._connection.cursor(binary=True)
        rows = cursor.execute(
            f"SELECT term, first, size, postings FROM {words} WHERE term = ANY(%s::bigint[]) AND first <= %s",
            [terms, int(gone.max(initial=0))],
        ).fetchall()
        left = [(*thin_block(first, size, held, gone), term, first) for term, first, size, held in rows]
        if left:
            write = f"UPDATE {words} SET size = %s, postings = %s WHERE term = %s AND first = %s"
            cursor.executemany(write, left)
            cursor.execute(f"DELETE FROM {words} WHERE term = ANY(%s::bigint[]) AND size = 0", [terms])

    def index(self, m: int, ef_construction: int) -> None:
        """Makes what finds near vectors; takes long in a large scope."""
        self._connection.execute(
            f"CREATE INDEX ON {self.build.units} USING hnsw (embedding halfvec_cosine_ops) "
            f"WITH (m = {m:d}, ef_construction = {ef_construction:d})"
        )
        self._connection.execute(f"ANALYZE {self.build.units}, records")
        self._draw()

    def _draw(self) -> None:
        """A sample of the vectors, always the same of the same rows."""
        rows = self._connection.cursor(binary=True).execute(
            f"SELECT embedding FROM {self.build.units} WHERE embedding IS NOT NULL "
            f"ORDER BY hashint8(seq), seq, unit LIMIT {SAMPLE}"
        )
        sample = np.array([np.frombuffer(held, ">f2", -1, 4) for (held,) in rows.fetchall()], np.float32)
        self.build = replace(self.build, sample=sample.reshape(-1, self.width))

    def note(self, head: Head) -> None:
        """Writes down what the tables hold now, and up to which head."""
        self.build = replace(self.build, epoch=head.epoch, copied=head.seq, version=self.build.version + 1)
        write_build(self._connection, self.scope, self.build)


class Copier:
    """Copies scopes of one store, each step in a transaction of its own.

    The worker copies in a thread what it is asked for. Closing ends the copy that is under way, and the
    server undoes it.
    """

    def __init__(
        self, store: SearchableDatabase, width: int, how: PgvectorSettings, copy: Callable[[str], None]
    ) -> None:
        self._store, self._width, self._how, self._copy = store, width, how, copy
        self._connection: DeadlineConnection | None = None
        self.worker: ScopeWorker = ScopeWorker("eidet-pgvector", self._try_to_copy, rest_seconds=REST_SECONDS)

    def _try_to_copy(self, path: str) -> None:
        try:
            self._copy(path)
        except Stopped:
            log.debug("scope %s: its copy was given up because the index is closed", path)
        except EidetError as error:
            log.warning("scope %s could not be copied for the server's index: %s", path, error)

    def build(self, scope: str, *, records: int, wait: bool) -> None:
        """Copies a scope of so many records into new tables; a small one gets none.

        With `wait`, others who are at it are waited for, and all is copied in any case.
        """
        known = self._store.ask(partial(find_code, scope=scope))
        job = partial(self._build_on, scope=scope, known=known, wait=wait)
        with contextlib.suppress(Stale):  # vectors were made anew meanwhile: the next copy is of those
            self._run(job, COPY_SECONDS + EACH_SECONDS * records)

    def extend(self, scope: str, *, wait: bool) -> bool:
        """Copies what was added since. False if all must be copied anew.

        With `wait`, somebody else who is at it is waited for, but not forever.
        """
        job = read_soundly(partial(self._extend_on, scope=scope, wait=wait))
        try:
            while self._run(job, COPY_SECONDS):
                pass
        except Stale:
            return False
        return True

    def cleanse(self, scope: str, gone: Sequence[int] | None) -> bool:
        """Takes seqs out of a copy, or (None) removes it; False if somebody else is at it for too long."""
        job = partial(self._cleanse_on, scope=scope, gone=gone)
        return self._store.ask(job, deadline_seconds=COPY_SECONDS)

    def _build_on(self, connection: Connection[Any], scope: str, known: int | None, wait: bool) -> None:
        """`known` is the code of what is to be replaced: if something else is there, somebody was faster."""
        if not begin_alone(connection, scope, LONGEST_SECONDS if wait else 0.0):
            return
        if wait or find_code(connection, scope) in (None, known):
            create(connection, scope, self._width)
            copy = Copy(connection, scope, self._width)
            head = self._copy_changes(copy, Head(0, 0))
            if copy.build.records >= max(1, self._how.from_records // 2):
                copy.index(self._how.m, self._how.ef_construction)
                copy.note(head)
                log.info("scope %s: %s records are indexed on the server", scope, copy.build.records)
            else:
                clear(connection, scope)
        connection.execute("COMMIT")

    def _extend_on(self, connection: Connection[Any], scope: str, wait: bool) -> bool:
        """Copies a page; whether there is more."""
        if not begin_alone(connection, scope, WAIT_SECONDS if wait else 0.0):
            return False
        copy = Copy(connection, scope, self._width)
        copy.note(self._copy_changes(copy, Head(copy.build.epoch, copy.build.copied), most=1))
        connection.execute("COMMIT")
        return copy.more

    def _cleanse_on(self, connection: Connection[Any], scope: str, gone: Sequence[int] | None) -> bool:
        if not begin_alone(connection, scope, WAIT_SECONDS):
            return False
        if gone is None or read_build(connection, scope, self._width) is None:
            clear(connection, scope)
        else:
            copy = Copy(connection, scope, self._width)
            copy.forget(gone)
            copy.note(Head(copy.build.epoch, copy.build.copied))
        connection.execute("COMMIT")
        return True

    def _copy_changes(self, copy: Copy, since: Head, most: int | None = None) -> Head:
        """Everything after a head, or so many pages of it; up to where that went."""
        shard, head = begin_shard(copy.scope, self._width, since), since
        pages = read_changes(partial(self._store.changes_here, copy.scope), since, PAGE)
        for changes in islice(pages, most):
            if self.worker.thread.stopping:
                raise Stopped
            head, copy.more = changes.head, len(changes.entries) == PAGE
            copy.forget([seq for seq in changes.gone if seq <= copy.build.copied])
            shard.apply(changes)
            if shard.count >= BLOCK:
                copy.add(shard)
                shard = begin_shard(copy.scope, self._width, head)
        copy.add(shard)
        return head

    def _run(self, job: Callable[[Connection[Any]], T], seconds: float) -> T:
        """Does a part of a copy on a connection that `close` can cancel; then it is not tried again."""
        return self._store.ask(partial(self._run_on, job=job), deadline_seconds=seconds)

    def _run_on(self, connection: DeadlineConnection, job: Callable[[Connection[Any]], T]) -> T:
        from psycopg import Error

        if self.worker.thread.stopping:
            raise Stopped
        self._connection = connection
        try:
            return job(connection)
        except (Error, EidetError) as error:
            if self.worker.thread.stopping:
                raise Stopped from error
            raise
        finally:
            self._connection = None

    def close(self) -> None:
        """Asks the server to end what it does; closes the connection if it does not answer."""
        thread = self.worker.thread
        thread.ask_to_stop()
        connection = self._connection
        if thread.running and connection is not None:
            with contextlib.suppress(Exception):  # it may have ended by itself just now
                connection.cancel_safe(timeout=CANCEL_SECONDS)
            if not thread.join(CANCEL_SECONDS):
                connection.allow(0.0)
        self.worker.close(JOIN_SECONDS)
