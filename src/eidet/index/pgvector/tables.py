"""The tables of a large scope: one with the vector and the words of each unit, one with counts of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from ...core.errors import Misconfigured
from ...net.retry import Hopeless
from ...store import Entry
from ...store.sql.postgres.searchable import SearchableDatabase
from .. import Floats, WordStatistics
from ..fill import VectorLost, VectorShelf, read_rows

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

LOCK: Final = 0x70677665
WIDEST: Final = 4_000  # dimensions that an HNSW index of halfvec supports
_PLAIN: Final = 3_900  # dimensions up to which a vector fits into its row
_PUT_SECONDS: Final = 300.0  # time limit for a page of changes …
_PREPARE_SECONDS: Final = 3_600.0  # … and for building indexes
_LOCK_SECONDS: Final = 10.0  # to wait for another process that builds an index
# Totals are kept with the words: what stands in place of a word for units, terms and records.
_UNITS, _TERMS, _RECORDS = 1 << 32, (1 << 32) + 1, (1 << 32) + 2

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
_ADVICE: Final = (
    "the index pgvector is not set up in this database yet ({}): it needs pgvector 0.8 or newer in a schema "
    "of the search_path; CREATE EXTENSION vector as its owner, and open the memory once with this index as a "
    "role that owns the table records and may CREATE in its schema"
)
# The column types for binary COPY: a vector is sent as the bytes that the server stores.
_TYPES: Final = {"seq": "int8", "unit": "int4", "length": "float4", "embedding": "bytea", "words": "int4[]"}
_COMPARE: Final = """SELECT
    (SELECT count(*) FROM records WHERE scope = %s AND seq <= %s
        AND NOT EXISTS (SELECT 1 FROM {units} u WHERE u.seq = records.seq)),
    (SELECT count(DISTINCT seq) FROM {units} u
        WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.seq = u.seq AND r.scope = %s))"""


class UnitRow(NamedTuple):
    """A unit of a record: the number of its terms, its vector as the server stores it, and its words."""

    seq: int
    unit: int
    length: float
    embedding: bytes | None
    words: list[int]


class Tables:
    """Creates, fills, checks and removes the tables of one store. Implements `Shelves`."""

    batch = 1 << 31  # all units of a record at once
    settle_seconds = 0.0

    def __init__(self, store: SearchableDatabase) -> None:
        """Creates what the database lacks: the extension and the indexes on `records`."""
        self._store = store
        self._prepare_database()

    def _prepare_database(self) -> None:
        if not self._store.ask(_is_ready):
            self._store.ask(_prepare, deadline_seconds=_PREPARE_SECONDS)

    def ask(self, job: Callable[[Connection[Any]], T], seconds: float | None = None) -> T:
        """Runs a job on a connection; raises `VectorLost` if the tables it needs are missing or damaged."""
        from psycopg import Error, errors

        def run(connection: Connection[Any]) -> T:
            try:
                return job(connection)
            except errors.InsufficientPrivilege:
                raise
            except errors.LockNotAvailable as error:
                raise Hopeless("another process builds an index on the same tables") from error
            except Error as error:
                if (error.sqlstate or "").startswith(("42", "XX")):  # a table is missing or unreadable
                    raise VectorLost(str(error).splitlines()[0]) from error
                raise

        return self._store.ask(run, deadline_seconds=seconds)

    def _change(self, job: Callable[[Connection[Any]], T], seconds: float = _PUT_SECONDS) -> T:
        """Runs a job in a transaction."""

        def run(connection: Connection[Any]) -> T:
            with connection.transaction():
                connection.execute(
                    f"SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = {_LOCK_SECONDS * 1000:.0f}"
                )
                return job(connection)

        return self.ask(run, seconds)

    def prepare(self, shelf: VectorShelf) -> None:
        self._prepare_database()  # somebody may have dropped the extension
        storage = "STORAGE PLAIN" if shelf.width <= _PLAIN else ""

        def create(connection: Connection[Any]) -> None:
            _drop(connection, shelf)
            connection.execute(
                f"CREATE TABLE {units_of(shelf)} (seq bigint, unit integer, length real, "
                f"embedding halfvec({shelf.width}) {storage}, words integer[], PRIMARY KEY (seq, unit))"
            )
            connection.execute(f"CREATE TABLE {_words_of(shelf)} (word bigint PRIMARY KEY, units bigint)")

        self._change(create)

    def put(self, shelf: VectorShelf, rows: Sequence[UnitRow], /) -> None:
        def copy(connection: Connection[Any]) -> None:
            _remove(connection, shelf, sorted({row.seq for row in rows}))
            sql = f"COPY {units_of(shelf)} ({', '.join(_TYPES)}) FROM STDIN (FORMAT BINARY)"
            with connection.cursor().copy(sql) as into:
                into.set_types(list(_TYPES.values()))
                for row in rows:
                    into.write_row(row)
            _count(connection, shelf, [(row.unit, row.length, row.words) for row in rows], 1)

        self._change(copy)

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        self._change(lambda connection: _remove(connection, shelf, list(seqs)))

    def discard(self, shelf: VectorShelf) -> None:
        self._change(lambda connection: _drop(connection, shelf))

    def index(self, shelf: VectorShelf) -> None:
        """Builds the indexes on vectors and words; takes long for a large scope."""

        def build(connection: Connection[Any]) -> None:
            units = units_of(shelf)
            connection.execute(f"CREATE INDEX ON {units} USING hnsw (embedding halfvec_cosine_ops)")
            connection.execute(f"CREATE INDEX ON {units} USING gin (words)")
            connection.execute(f"ANALYZE {units}, records")

        self._change(build, _PREPARE_SECONDS)

    def vacuum(self, shelf: VectorShelf) -> None:
        sql = f"VACUUM {units_of(shelf)}, {_words_of(shelf)}"
        self.ask(lambda connection: connection.execute(sql), _PUT_SECONDS)

    def compare(self, shelf: VectorShelf, scope: str, seq: int) -> tuple[int, int]:
        """Returns how many records up to `seq` the tables lack, and how many they should not have."""
        sql = _COMPARE.format(units=units_of(shelf))
        return self.ask(lambda c: c.execute(sql, [scope, seq, scope]).fetchone()) or (0, 0)


def units_of(shelf: VectorShelf) -> str:
    return f"pgvector_units_{shelf.name.replace('-', '_')}"


def _words_of(shelf: VectorShelf) -> str:
    return f"pgvector_words_{shelf.name.replace('-', '_')}"


def sign(terms: Sequence[int]) -> list[int]:
    """Converts ids of terms to the server's signed integers."""
    return [term - 2**32 if term >= 2**31 else term for term in terms]


def count_words(
    connection: Connection[Any], shelf: VectorShelf, terms: Sequence[int]
) -> tuple[WordStatistics, int]:
    """Returns the statistics of the terms, and the number of records in the tables."""
    sql = f"SELECT word, units FROM {_words_of(shelf)} WHERE word = ANY(%s::bigint[])"
    words = sign(terms)
    held = dict(connection.execute(sql, [[*words, _UNITS, _TERMS, _RECORDS]]).fetchall())
    if _RECORDS not in held:
        raise VectorLost(f"{_words_of(shelf)} has lost its totals")
    holding = tuple(held.get(word, 0) for word in words)
    return WordStatistics(holding, held[_UNITS], float(held[_TERMS])), held[_RECORDS]


def _drop(connection: Connection[Any], shelf: VectorShelf) -> None:
    """Drops the tables, inside of DO because the driver forgets prepared statements when it sees a DROP."""
    connection.execute(f"DO $$BEGIN DROP TABLE IF EXISTS {units_of(shelf)}, {_words_of(shelf)}; END$$")


def _remove(connection: Connection[Any], shelf: VectorShelf, seqs: list[int]) -> None:
    sql = f"DELETE FROM {units_of(shelf)} WHERE seq = ANY(%s::bigint[]) RETURNING unit, length, words"
    removed = connection.execute(sql, [seqs]).fetchall()
    if removed:
        _count(connection, shelf, removed, -1)
        connection.execute(f"DELETE FROM {_words_of(shelf)} WHERE units <= 0 AND word < {_UNITS}")


def _count(
    connection: Connection[Any], shelf: VectorShelf, units: Sequence[tuple[int, float, list[int]]], by: int
) -> None:
    """Adds (`by` 1) or subtracts (-1) units in the counts for BM25."""
    counts = Counter(word for _, _, words in units for word in words)
    counts[_UNITS], counts[_TERMS] = len(units), int(sum(length for _, length, _ in units))
    counts[_RECORDS] = sum(unit == 0 for unit, _, _ in units)
    connection.execute(
        f"INSERT INTO {_words_of(shelf)} AS w SELECT word, {by:d} * units "
        "FROM unnest(%s::bigint[], %s::bigint[]) AS came (word, units) "
        "ON CONFLICT (word) DO UPDATE SET units = w.units + excluded.units",
        [list(counts), list(counts.values())],
    )


def _is_ready(connection: Connection[Any]) -> bool:
    sql = "SELECT count(to_regclass(n)), to_regtype('halfvec') IS NOT NULL FROM unnest(%s::text[]) n"
    return connection.execute(sql, [list(_LOOKUPS)]).fetchone() == (len(_LOOKUPS), True)


def _prepare(connection: Connection[Any]) -> None:
    from psycopg import errors

    try:
        with connection.transaction():
            connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
            connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            _check_extension(connection)
            for name, on in _LOOKUPS.items():
                connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON records {on}")
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        raise Misconfigured(_ADVICE.format(str(error).splitlines()[0])) from error


def _check_extension(connection: Connection[Any]) -> None:
    sql = "SELECT extversion, to_regtype('halfvec') IS NULL FROM pg_extension WHERE extname = 'vector'"
    version, hidden = connection.execute(sql).fetchone() or ("none", True)
    if hidden or tuple(map(int, version.split(".")[:2])) < (0, 8):
        raise Misconfigured(_ADVICE.format(f"finds {version}"))


def list_units(entries: Sequence[Entry], width: int) -> Iterator[UnitRow]:
    """Yields a row for each unit; for a damaged record, one without vector and words."""
    shard = read_rows(entries, width)
    terms, rows = shard.postings.pairs()
    order = np.argsort(rows, kind="stable")
    ends = np.cumsum(np.bincount(rows, minlength=shard.count))[:-1]
    words = np.split(terms[order].view(np.int32), ends)
    yield from map(
        UnitRow,
        shard.columns.seq.tolist(),
        shard.columns.unit.tolist(),
        shard.postings.lengths[: shard.count].tolist(),
        _pack_vectors(shard.vectors.read(slice(0, shard.count))),
        [row.tolist() for row in words],
    )
    yield from (UnitRow(seq, 0, 0.0, None, []) for seq in shard.damaged)


def _pack_vectors(vectors: Floats) -> Iterator[bytes | None]:
    """Packs each vector as a halfvec (two bytes of width, two zero bytes, two per number); None for zeros."""
    halves = vectors.astype(np.float16)
    packed = np.zeros((len(halves), 2 + halves.shape[1]), ">u2")
    packed[:, 0] = halves.shape[1]
    packed[:, 2:] = halves.view(np.uint16)
    for some, vector in zip((halves != 0).any(axis=1).tolist(), packed, strict=True):
        yield vector.tobytes() if some else None
