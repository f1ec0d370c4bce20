"""Copying a scope from the store into tables of its own: all of it at once, then what was added since.

Everything is done in one transaction each, by one process at a time: a lock that ends with the
transaction sees to that, also when whoever holds it is killed.
"""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...store import Head
from ...store.sql.postgres.searchable import SearchableDatabase
from .. import Seqs
from ..change_pages import Stale, read_changes
from ..embedded.shard import Shard
from ..embedded.vectors import VectorPlanes
from .integrity import readable
from .postings import PlaneShard, list_terms, pack_blocks, thin_block
from .settings import PgvectorSettings
from .tables import LOCK, Build, begin, clear, create, find_code, read_build, write_build

if TYPE_CHECKING:
    from psycopg import Connection

log = logging.getLogger("eidet.index")

PAGE: Final = 5_000  # entries read from the store at once
BLOCK: Final = 50_000  # units whose words are kept together
WAIT_SECONDS: Final = 10.0  # for another process that copies the same scope
LONGEST_SECONDS: Final = 86_400.0  # for the same, when a scope is rebuilt: a call's deadline ends it sooner
SAMPLE: Final = 1_024
_ROW: Final = struct.Struct(">hiqiiif")  # the number of fields; then the size of each, and it
_SIZE: Final = struct.Struct(">i")
_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER: Final = b"\xff\xff"


class Stopped(Exception):
    """The index is being closed; nothing was changed."""


def try_lock(connection: Connection[Any], scope: str, wait_seconds: float = 0.0) -> bool:
    """Whether nobody else copies this scope until the transaction ends; waits so long for whoever does."""
    from psycopg.errors import LockNotAvailable

    which = [LOCK, zlib.crc32(scope.encode()) - 2**31]
    if not wait_seconds:
        ask = "SELECT pg_try_advisory_xact_lock(%s::integer, %s::integer)"
        row = connection.execute(ask, which).fetchone()
        return bool(row and row[0])
    connection.execute(f"SAVEPOINT waiting; SET LOCAL lock_timeout = {int(wait_seconds * 1000):d}")
    try:
        connection.execute("SELECT pg_advisory_xact_lock(%s::integer, %s::integer)", which)
    except LockNotAvailable:
        connection.execute("ROLLBACK TO waiting")
        return False
    return True


def _begin_alone(connection: Connection[Any], scope: str, wait_seconds: float = 0.0) -> bool:
    """Begins a transaction in which nobody else copies the scope; begins none where somebody does."""
    begin(connection)
    if try_lock(connection, scope, wait_seconds):
        return True
    connection.execute("COMMIT")
    return False


class Copy:
    """One transaction that brings a scope's tables further."""

    def __init__(self, connection: Connection[Any], scope: str, width: int, build: Build) -> None:
        self._connection = connection
        self.scope, self.width = scope, width
        self.build = build
        self.more = False  # whether there is more to copy

    def begin_shard(self, head: Head) -> PlaneShard:
        """An empty one that goes on from a head."""
        shard = Shard(self.scope, VectorPlanes(self.width))
        shard.head = head
        return shard

    def add(self, shard: PlaneShard) -> None:
        """All units of a shard."""
        shard.settle()
        self._copy_units(shard)
        with self._connection.cursor().copy(
            f"COPY {self.build.words} (term, first, size, postings) FROM STDIN (FORMAT BINARY)"
        ) as copy:
            copy.set_types(["int8", "int8", "int4", "bytea"])
            for row in pack_blocks(shard):
                copy.write_row(row)
        self.build = replace(
            self.build,
            copied=shard.head.seq,
            live=self.build.live + shard.live,
            records=self.build.records + shard.records,
            total=self.build.total + shard.total,
            damaged={**self.build.damaged, **shard.damaged},
        )

    def _copy_units(self, shard: PlaneShard) -> None:
        terms = list_terms(shard)
        with self._connection.cursor().copy(
            f"COPY {self.build.units} (seq, unit, length, embedding, terms) FROM STDIN (FORMAT BINARY)"
        ) as copy:
            copy.write(_HEADER)
            for start in range(0, shard.count, PAGE):
                copy.write(_unit_rows(shard, slice(start, min(start + PAGE, shard.count)), terms))
            copy.write(_TRAILER)

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
        cursor = self._connection.cursor(binary=True)
        rows = cursor.execute(
            f"SELECT term, first, size, postings FROM {self.build.words} WHERE term = ANY(%s::bigint[]) "
            "AND first <= %s",
            [terms, int(gone.max(initial=0))],
        ).fetchall()
        left = [(*thin_block(first, size, held, gone), term, first) for term, first, size, held in rows]
        write = f"UPDATE {self.build.words} SET size = %s, postings = %s WHERE term = %s AND first = %s"
        if left:
            cursor.executemany(write, left)
            cursor.execute(
                f"DELETE FROM {self.build.words} WHERE term = ANY(%s::bigint[]) AND size = 0", [terms]
            )

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
        rows = (
            self._connection.cursor(binary=True)
            .execute(
                f"SELECT embedding FROM {self.build.units} WHERE embedding IS NOT NULL "
                f"ORDER BY hashint8(seq), seq, unit LIMIT {SAMPLE}"
            )
            .fetchall()
        )
        sample = np.array([np.frombuffer(held, ">f2", -1, 4) for (held,) in rows], np.float32)
        self.build = replace(self.build, sample=sample.reshape(-1, self.width))

    def commit(self, head: Head) -> None:
        self.build = replace(self.build, epoch=head.epoch, copied=head.seq, version=self.build.version + 1)
        write_build(self._connection, self.scope, self.build)
        self._connection.execute("COMMIT")


def _unit_rows(shard: PlaneShard, rows: slice, terms: Sequence[bytes]) -> bytes:
    """Rows as COPY reads them."""
    vectors = shard.vectors.read(rows).astype(np.float16)
    body = np.zeros((len(vectors), 2 + shard.vectors.width), ">u2")
    body[:, 0] = shard.vectors.width
    body[:, 2:] = vectors.view(np.uint16)
    parts = []
    columns, lengths = shard.columns, shard.postings.lengths[rows].tolist()
    for seq, unit, length, some, vector, held in zip(
        columns.seq[rows].tolist(),
        columns.unit[rows].tolist(),
        lengths,
        (vectors != 0).any(axis=1).tolist(),
        body,
        terms[rows],
        strict=True,
    ):
        parts.append(_ROW.pack(5, 8, seq, 4, unit, 4, length))
        parts.append(_field(vector.tobytes() if some else None))
        parts.append(_field(held))
    return b"".join(parts)


def _field(held: bytes | None) -> bytes:
    return _SIZE.pack(-1) if held is None else _SIZE.pack(len(held)) + held


class Filler:
    """Copies scopes of one store, each step in a transaction of its own."""

    def __init__(
        self, store: SearchableDatabase, width: int, how: PgvectorSettings, stopped: Callable[[], bool]
    ) -> None:
        self._store, self._width, self._how, self._stopped = store, width, how, stopped

    def build(self, connection: Connection[Any], scope: str, *, known: int | None, wait: bool) -> bool:
        """Copies a scope into new tables; a small one gets none. False if somebody else is at it.

        `known` is the code of what is to be replaced: if something else is there, somebody was faster.
        With `wait`, others are waited for, and all is copied in any case.
        """
        if not _begin_alone(connection, scope, LONGEST_SECONDS if wait else 0.0):
            return False
        if not wait and find_code(connection, scope) not in (None, known):
            connection.execute("COMMIT")
            return True
        create(connection, scope, self._width)
        copy = self._open_copy(connection, scope)
        head = self._copy_changes(copy, Head(0, 0))
        if copy.build.records < max(1, self._how.from_records // 2):
            clear(connection, scope)
            connection.execute("COMMIT")
            return False
        copy.index(self._how.m, self._how.ef_construction)
        copy.commit(head)
        log.info("scope %s: %s records are indexed on the server", scope, copy.build.records)
        return True

    def extend(self, connection: Connection[Any], scope: str, *, wait: bool = False) -> bool:
        """Copies a page of what was added since; whether there is more. `Stale` if all must be copied anew.

        With `wait`, somebody else who is at it is waited for, but not forever.
        """
        if not _begin_alone(connection, scope, WAIT_SECONDS if wait else 0.0):
            return False
        copy = self._open_copy(connection, scope)
        with readable():
            head = self._copy_changes(copy, Head(copy.build.epoch, copy.build.copied), most=1)
        copy.commit(head)
        return copy.more

    def cleanse(self, connection: Connection[Any], scope: str, gone: Sequence[int] | None) -> bool:
        """Takes seqs out of a copy, or (None) removes it; False if somebody else is at it for too long."""
        if not _begin_alone(connection, scope, WAIT_SECONDS):
            return False
        if gone is None or read_build(connection, scope, self._width) is None:
            clear(connection, scope)
            connection.execute("COMMIT")
            return True
        copy = self._open_copy(connection, scope)
        copy.forget(gone)
        copy.commit(Head(copy.build.epoch, copy.build.copied))
        return True

    def _open_copy(self, connection: Connection[Any], scope: str) -> Copy:
        build = read_build(connection, scope, self._width)
        if build is None:
            raise Stale
        return Copy(connection, scope, self._width, build)

    def _copy_changes(self, copy: Copy, since: Head, most: int | None = None) -> Head:
        """Everything after a head, or so many pages of it; up to where that went."""
        shard, head = copy.begin_shard(since), since
        pages = read_changes(partial(self._store.changes_here, copy.scope), since, PAGE)
        for changes in islice(pages, most):
            if self._stopped():
                raise Stopped
            head, copy.more = changes.head, len(changes.entries) == PAGE
            copy.forget([seq for seq in changes.gone if seq <= copy.build.copied])
            shard.apply(changes)
            if shard.count >= BLOCK:
                copy.add(shard)
                shard = copy.begin_shard(head)
        copy.add(shard)
        return head
