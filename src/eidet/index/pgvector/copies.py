"""Copies of large scopes in tables of their own: the vector and the words of each unit.

A copy is made and updated page by page, each page in one transaction under a lock: any number of processes
share it, and if one is killed, the copy stays as it was after the previous page.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from ...core.errors import EidetError, Misconfigured
from ...core.scope import Scope
from ...core.where import Where
from ...store import Changes, Head, verbs
from ...store.sql.postgres.searchable import SearchableDatabase
from .. import Floats
from ..embedded.shard import Shard
from ..embedded.vectors import VectorPlanes

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

LOCK: Final = 0x70677665
PAGE: Final = 5_000  # entries copied at once
WAIT_SECONDS: Final = 10.0  # for another process that copies the same scope
_COPY_SECONDS: Final = 300.0  # time limit for copying a page …
_EACH_SECONDS: Final = 0.01  # … and in addition for each record of the scope, when its graph is built
WIDEST: Final = 4_000  # dimensions that an HNSW index of halfvec supports
_PLAIN: Final = 3_900  # dimensions up to which a vector fits into its row
_PREPARE_SECONDS: Final = 3_600.0  # time limit for building indexes on a store's records

_SCOPES: Final = """CREATE TABLE IF NOT EXISTS pgvector_scopes (
    scope text PRIMARY KEY, width integer NOT NULL, epoch bigint NOT NULL,
    copied bigint NOT NULL DEFAULT 0, indexed boolean NOT NULL DEFAULT false,
    units bigint NOT NULL DEFAULT 0, records bigint NOT NULL DEFAULT 0,
    terms double precision NOT NULL DEFAULT 0)"""
# Indexes on the store's own table, for filters, turns and voices of large scopes.
_LOOKUPS: Final = {
    "records_by_turn": "(scope, session, occurred, seq) WHERE session IS NOT NULL",
    "records_by_who": "(scope, who) WHERE who IS NOT NULL",
    "records_by_agent": "(scope, agent) WHERE agent IS NOT NULL",
    "records_by_occurred": "(scope, occurred, seq)",
    "records_by_created": "(scope, created, seq)",
    "records_by_importance": "(scope, importance, seq)",
    "records_by_step": "(scope, step, seq) WHERE step IS NOT NULL",
    "records_by_expiry": "(scope, expires) WHERE expires IS NOT NULL",
    "records_by_place": "(scope, x, y) WHERE x IS NOT NULL",
    "records_by_data": "USING gin ((data::jsonb) jsonb_path_ops) WHERE data IS NOT NULL",
    "records_by_meta": "USING gin ((meta::jsonb) jsonb_path_ops) WHERE meta IS NOT NULL",
}
_NO_EXTENSION: Final = (
    "the index pgvector needs the extension vector in this database ({}): install pgvector 0.8 or newer on "
    "the server and run CREATE EXTENSION vector as its owner"
)
_OLD_EXTENSION: Final = (
    "the index pgvector needs pgvector 0.8 or newer in a schema of the search_path, and finds {}: install a "
    "newer one and run ALTER EXTENSION vector UPDATE, or ALTER ROLE … SET search_path = public, extensions"
)
_NO_TABLES: Final = (
    "the index pgvector is not set up in this database yet ({}): open the memory once with it as the role "
    "that owns the table records and may CREATE in its schema"
)
# The column types for binary COPY: a vector is sent as the bytes that the server stores.
_UNITS: Final = {"seq": "int8", "unit": "int4", "length": "float4", "embedding": "bytea", "words": "int4[]"}
_COMPARE: Final = """SELECT
    (SELECT count(*) FROM records WHERE scope = %s AND seq <= {copy.copied}
        AND NOT EXISTS (SELECT 1 FROM {copy.units_table} u WHERE u.seq = records.seq)),
    (SELECT count(DISTINCT seq) FROM {copy.units_table} u
        WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.seq = u.seq AND r.scope = %s))"""


class NoCopy(Exception):
    """A scope has no usable copy; `damaged` if it has one whose tables cannot be read."""

    damaged = False


class BeingCopied(EidetError):
    """Another process has been copying the scope for too long to wait for it."""


class Copy(NamedTuple):
    """The copy of a scope: its tables hold everything up to seq `copied`."""

    scope: str
    width: int
    epoch: int
    copied: int = 0
    indexed: bool = False
    units: int = 0
    records: int = 0
    terms: float = 0.0

    @property
    def units_table(self) -> str:
        return f"pgvector_units_{_short(self.scope)}"

    @property
    def words_table(self) -> str:
        return f"pgvector_words_{_short(self.scope)}"


def _short(scope: str) -> str:
    return blake2b(scope.encode(), digest_size=8).hexdigest()


class Copies:
    """Makes, extends, checks and removes the copies of one store, for vectors of one width."""

    def __init__(self, store: SearchableDatabase, width: int, few_changes: int) -> None:
        """Creates what the database lacks. Up to `few_changes` may wait before they are copied."""
        self._store, self._width, self._few_changes = store, width, few_changes
        self.prepare()

    def prepare(self) -> None:
        """Creates the extension, the list of copies and the indexes on `records` if they are missing."""
        if not self._store.ask(_is_ready):
            self._store.ask(_prepare, deadline_seconds=_PREPARE_SECONDS)

    def ask(self, job: Callable[[Connection[Any]], T], seconds: float | None = None) -> T:
        """Runs a job on a connection; raises `NoCopy` if the tables it needs are missing or damaged."""
        from psycopg import Error, errors

        def run(connection: Connection[Any]) -> T:
            try:
                return job(connection)
            except errors.InsufficientPrivilege:
                raise
            except Error as error:
                if (error.sqlstate or "").startswith(("42", "XX")):  # a table is missing or unreadable
                    lack = NoCopy(str(error).splitlines()[0])
                    lack.damaged = True
                    raise lack from error
                raise

        return self._store.ask(run, deadline_seconds=seconds)

    def find(self, scope: str) -> Copy | None:
        """Returns the copy of a scope, usable or not; None if it has none."""
        try:
            return self.ask(lambda connection: _read_copy(connection, scope))
        except NoCopy:
            return None

    def _is_usable(self, copy: Copy, head: Head) -> bool:
        """Returns whether a copy is complete and matches the store's present vectors."""
        return copy.indexed and (copy.width, copy.epoch) == (self._width, head.epoch)

    def catch_up(self, scope: str, head: Head) -> tuple[Copy, list[int]]:
        """Returns the copy of a scope and the seqs written since; if they are many, copies them first."""
        copy = self.find(scope)
        while copy is not None and self._is_usable(copy, head):
            if copy.copied >= head.seq:
                return copy, []
            changes = self._store.changes_here(scope, copy.copied, self._few_changes + 1)
            if self._is_stale(copy, changes):
                break
            if len(changes.entries) + len(changes.gone) <= self._few_changes:
                return copy, [entry.seq for entry in changes.entries]
            self.extend(scope)
            copy = self.find(scope)
        raise NoCopy(f"scope {scope} has no copy of its present vectors")

    def extend(self, scope: str, *, anew: bool = False) -> None:
        """Copies the changes that the copy of a scope lacks; with `anew`, copies everything.

        Raises `BeingCopied` if another process copies it for longer than `WAIT_SECONDS`.
        """
        self.prepare()  # they may have been dropped
        if anew:
            self._do_alone(scope, self._create)
        while self._do_alone(scope, self._add_page):
            pass
        self._do_alone(scope, _index, verbs.count(self._store, Where(scope=Scope(scope))))

    def compare(self, scope: str) -> tuple[int, int]:
        """Updates a copy; returns how many records it lacks and how many it should not have."""
        self.extend(scope)
        copy = self.find(scope)
        if copy is None:
            return 0, 0
        sql = _COMPARE.format(copy=copy)
        return self.ask(lambda connection: connection.execute(sql, [scope, scope]).fetchone()) or (0, 0)

    def cleanse(self, scope: str) -> None:
        """Removes deleted records from a copy; drops a copy that is unusable or empty then."""
        copy = self.find(scope)
        if copy is None:
            return
        if self._is_usable(copy, self._store.head()) and self._vacuum(scope):
            return
        self._do_alone(scope, _drop)

    def _vacuum(self, scope: str) -> bool:
        """Updates a copy and vacuums it; returns whether any record is left in it."""
        try:
            self.extend(scope)
            copy = self.find(scope)
            if copy is None or not copy.records:
                return False
            sql = f"VACUUM {copy.units_table}, {copy.words_table}"
            self.ask(lambda connection: connection.execute(sql), _COPY_SECONDS)
        except NoCopy:
            return False
        return True

    def _do_alone(self, scope: str, job: Callable[[Connection[Any], str], T], records: int = 0) -> T:
        """Runs a job in a transaction while no other process copies the scope."""
        from psycopg.errors import LockNotAvailable

        def run(connection: Connection[Any]) -> T:
            with connection.transaction():
                connection.execute(
                    f"SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = {int(WAIT_SECONDS * 1000):d}"
                )
                try:
                    connection.execute(
                        "SELECT pg_advisory_xact_lock(%s::integer, %s::integer)", lock_of(scope)
                    )
                except LockNotAvailable:
                    raise BeingCopied(f"scope {scope} is being copied by another process") from None
                return job(connection, scope)

        return self.ask(run, _COPY_SECONDS + _EACH_SECONDS * records)

    def _create(self, connection: Connection[Any], scope: str) -> None:
        """Replaces the tables of a scope with empty ones."""
        _drop(connection, scope)
        copy = Copy(scope, self._width, self._store.head().epoch)
        connection.execute(
            "INSERT INTO pgvector_scopes (scope, width, epoch) VALUES (%s, %s, %s)", list(copy[:3])
        )
        storage = "STORAGE PLAIN" if self._width <= _PLAIN else ""
        connection.execute(
            f"CREATE TABLE {copy.units_table} (seq bigint, unit integer, length real, "
            f"embedding halfvec({self._width}) {storage}, words integer[], PRIMARY KEY (seq, unit))"
        )
        connection.execute(f"CREATE TABLE {copy.words_table} (word integer PRIMARY KEY, units bigint)")

    def _is_stale(self, copy: Copy, changes: Changes) -> bool:
        """Returns whether vectors were rewritten since, or the store no longer lists what was deleted."""
        fits = (copy.width, copy.epoch) == (self._width, changes.head.epoch)
        return not fits or 0 < copy.copied < changes.pruned

    def _add_page(self, connection: Connection[Any], scope: str) -> bool:
        """Copies a page of changes; returns whether there may be more."""
        copy = _read_copy(connection, scope)
        changes = self._store.changes_here(scope, 0 if copy is None else copy.copied, PAGE)
        if copy is None or self._is_stale(copy, changes):
            self._create(connection, scope)
            return True
        gone = f"DELETE FROM {copy.units_table} WHERE seq = ANY(%s::bigint[]) RETURNING unit, length, words"
        removed = connection.execute(gone, [list(changes.gone)]).fetchall() if changes.gone else []
        rows = list(_list_units(scope, self._width, changes)) if changes.entries else []
        if rows:
            sql = f"COPY {copy.units_table} ({', '.join(_UNITS)}) FROM STDIN (FORMAT BINARY)"
            with connection.cursor().copy(sql) as into:
                into.set_types(list(_UNITS.values()))
                for row in rows:
                    into.write_row(row)
        _count(connection, copy, removed, -1)
        _count(connection, copy, [(unit, length, words) for _, unit, length, _, words in rows], 1)
        sql = "UPDATE pgvector_scopes SET copied = %s WHERE scope = %s"
        connection.execute(sql, [changes.head.seq, scope])
        return len(changes.entries) == PAGE


def lock_of(scope: str) -> list[int]:
    """Returns the key of the advisory lock for copying a scope."""
    return [LOCK, zlib.crc32(scope.encode()) - 2**31]


def _drop(connection: Connection[Any], scope: str) -> None:
    """Drops a copy, inside of DO because the driver forgets all prepared statements when it sees a DROP."""
    connection.execute("DELETE FROM pgvector_scopes WHERE scope = %s", [scope])
    copy = Copy(scope, 0, 0)
    connection.execute(f"DO $$BEGIN DROP TABLE IF EXISTS {copy.units_table}, {copy.words_table}; END$$")


def _count(connection: Connection[Any], copy: Copy, units: Sequence[tuple[Any, ...]], sign: int) -> None:
    """Adds (`sign` 1) or subtracts (-1) units and their words in the counts for BM25."""
    if not units:
        return
    words = Counter(word for _, _, some in units for word in some)
    connection.execute(
        f"INSERT INTO {copy.words_table} AS w SELECT word, {sign:d} * units "
        "FROM unnest(%s::integer[], %s::bigint[]) AS came (word, units) "
        "ON CONFLICT (word) DO UPDATE SET units = w.units + excluded.units",
        [list(words), list(words.values())],
    )
    if sign < 0:
        connection.execute(f"DELETE FROM {copy.words_table} WHERE units <= 0")
    records, terms = sum(unit == 0 for unit, _, _ in units), sum(length for _, length, _ in units)
    connection.execute(
        "UPDATE pgvector_scopes SET units = units + %s, records = records + %s, terms = terms + %s "
        "WHERE scope = %s",
        [sign * len(units), sign * records, sign * terms, copy.scope],
    )


def _index(connection: Connection[Any], scope: str) -> None:
    """Builds the indexes on vectors and words; takes long in a large scope."""
    copy = _read_copy(connection, scope)
    if copy is None or copy.indexed:
        return
    connection.execute(f"CREATE INDEX ON {copy.units_table} USING hnsw (embedding halfvec_cosine_ops)")
    connection.execute(f"CREATE INDEX ON {copy.units_table} USING gin (words)")
    connection.execute(f"ANALYZE {copy.units_table}, records")
    connection.execute("UPDATE pgvector_scopes SET indexed = true WHERE scope = %s", [scope])


def _is_ready(connection: Connection[Any]) -> bool:
    names = ["pgvector_scopes", *_LOOKUPS]
    sql = "SELECT count(to_regclass(n)), to_regtype('halfvec') IS NOT NULL FROM unnest(%s::text[]) n"
    return connection.execute(sql, [names]).fetchone() == (len(names), True)


def _prepare(connection: Connection[Any]) -> None:
    lookups = [f"CREATE INDEX IF NOT EXISTS {name} ON records {on}" for name, on in _LOOKUPS.items()]
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
        _make(connection, ["CREATE EXTENSION IF NOT EXISTS vector"], _NO_EXTENSION)
        _check_extension(connection)
        _make(connection, [_SCOPES, *lookups], _NO_TABLES)


def _make(connection: Connection[Any], statements: Sequence[str], advice: str) -> None:
    from psycopg import errors

    try:
        for sql in statements:
            connection.execute(sql)
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        raise Misconfigured(advice.format(str(error).splitlines()[0])) from error


def _check_extension(connection: Connection[Any]) -> None:
    sql = "SELECT extversion, to_regtype('halfvec') IS NULL FROM pg_extension WHERE extname = 'vector'"
    version, hidden = connection.execute(sql).fetchone() or ("none", True)
    if hidden or tuple(map(int, version.split(".")[:2])) < (0, 8):
        raise Misconfigured(_OLD_EXTENSION.format(version))


def _read_copy(connection: Connection[Any], scope: str) -> Copy | None:
    sql = f"SELECT {', '.join(Copy._fields)} FROM pgvector_scopes WHERE scope = %s"
    row = connection.execute(sql, [scope]).fetchone()
    return None if row is None else Copy(*row)


def _list_units(scope: str, width: int, changes: Changes) -> Iterator[tuple[Any, ...]]:
    """Yields a row of the table for each unit; for a damaged record, one without vector and words."""
    shard = Shard(scope, VectorPlanes(width))
    shard.apply(Changes(changes.head, changes.entries, ()))
    terms, rows = shard.postings.pairs()
    order = np.argsort(rows, kind="stable")
    ends = np.cumsum(np.bincount(rows, minlength=shard.count))[:-1]
    words = np.split(terms[order].view(np.int32), ends)
    yield from zip(
        shard.columns.seq.tolist(),
        shard.columns.unit.tolist(),
        shard.postings.lengths[: shard.count].tolist(),
        _pack_vectors(shard.vectors.read(slice(0, shard.count))),
        [row.tolist() for row in words],
        strict=True,
    )
    yield from ((seq, 0, 0.0, None, []) for seq in shard.damaged)


def _pack_vectors(vectors: Floats) -> Iterator[bytes | None]:
    """Packs each vector as a halfvec (two bytes of width, two zero bytes, two per number); None for zeros."""
    halves = vectors.astype(np.float16)
    packed = np.zeros((len(halves), 2 + halves.shape[1]), ">u2")
    packed[:, 0] = halves.shape[1]
    packed[:, 2:] = halves.view(np.uint16)
    for some, vector in zip((halves != 0).any(axis=1).tolist(), packed, strict=True):
        yield vector.tobytes() if some else None
