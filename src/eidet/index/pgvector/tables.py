"""The tables of the index in the store's database: a row for each scope that has its own, and those."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ...core.errors import Misconfigured
from ...core.settings import Settings
from ...net.url import Options
from ...store import Head
from .. import Floats
from ..change_pages import Stale

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

LOCK: Final = 0x70677665  # of whoever prepares the tables
WIDEST: Final = 4_000  # dimensions that an HNSW index of halfvec takes
PLAIN: Final = 3_900  # up to here a vector fits into its row

_SCOPES: Final = """CREATE TABLE IF NOT EXISTS pgvector_scopes (
    scope text PRIMARY KEY, code integer GENERATED ALWAYS AS IDENTITY, width integer NOT NULL,
    epoch bigint NOT NULL, copied bigint NOT NULL, version bigint NOT NULL,
    live bigint NOT NULL, records bigint NOT NULL, total double precision NOT NULL,
    damaged text NOT NULL, sample bytea NOT NULL)"""

# What the store's own tables need so that filters, turns and voices of large scopes are looked up.
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
_NO_TABLES: Final = (
    "the index pgvector is not set up in this database yet ({}): open the memory once with it as the role "
    "that owns the table records and may CREATE in its schema"
)
_STRAY: Final = """SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
    AND c.relkind = 'r' AND pg_has_role(c.relowner, 'USAGE') AND c.relname ~ '^pgvector_(units|words)_[0-9]+$'
    AND substring(c.relname FROM '[0-9]+$')::bigint NOT IN (SELECT code FROM pgvector_scopes)"""
_UNREADABLE: Final = (
    "42P01",  # no such table
    "42703",  # no such column
    "42704",  # no such type: the extension is gone
    "42883",  # no such operator: the same
    "42804",  # a column of another type
    "XX001",  # damaged pages
    "XX002",  # a damaged index
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PgvectorSettings:
    """From which size a scope is searched by the server, and how.

    `tail` units may wait in RAM before they are copied. `background`: copies are made by a thread of their
    own, and whoever searches does not wait for them.
    """

    from_records: int = 20_000
    tail: int = 2_000
    ef_search: int = 400
    m: int = 16
    ef_construction: int = 64
    memory_mb: int = 1024
    background: bool = True


_OPTIONS: Final = ("from_records", "tail", "ef_search", "m", "ef_construction")


def read_settings(settings: Settings | PgvectorSettings | None) -> PgvectorSettings:
    if not isinstance(settings, Settings):
        return settings or PgvectorSettings()
    options = Options.parse(settings.index.partition("?")[2], hint="see docs/operate/pgvector.md")
    options.check_known(_OPTIONS)
    given: dict[str, Any] = {name: options.read_whole(name, 0) for name in options.values}
    usual = PgvectorSettings(from_records=settings.sidecar_from, memory_mb=settings.index_memory_mb)
    return replace(usual, **given)


class Damaged(Stale):
    """What was copied cannot be read, or is not all there."""


def read_soundly(job: Callable[[Connection[Any]], T]) -> Callable[[Connection[Any]], T]:
    """The same job, with `Damaged` where the server cannot read the index's own tables."""
    from psycopg import Error

    def run(connection: Connection[Any]) -> T:
        try:
            return job(connection)
        except Error as error:
            if error.sqlstate in _UNREADABLE:
                raise Damaged(str(error).splitlines()[0]) from error
            raise

    return run


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What is known of a scope's tables: they hold everything up to seq `copied`.

    `code` is new with every build, `version` with every change of it. `live` and `total` count rows (units)
    and their terms. `sample` are some of its unit vectors.
    """

    code: int
    epoch: int
    copied: int
    version: int
    live: int
    records: int
    total: float
    damaged: dict[int, str]
    sample: Floats

    def is_of(self, head: Head) -> bool:
        """Whether the tables are complete, with the vectors that the store has now."""
        return self.version > 0 and self.epoch == head.epoch

    @property
    def units(self) -> str:
        return f"pgvector_units_{self.code}"

    @property
    def words(self) -> str:
        return f"pgvector_words_{self.code}"


def is_ready(connection: Connection[Any]) -> bool:
    names = ["pgvector_scopes", *_LOOKUPS]
    sql = "SELECT count(to_regclass(n)), to_regtype('halfvec') IS NOT NULL FROM unnest(%s::text[]) n"
    return connection.execute(sql, [names]).fetchone() == (len(names), True)


def prepare(connection: Connection[Any]) -> None:
    """Makes what is not there yet: the extension, the table of scopes, and lookups on the store's records."""
    lookups = [f"CREATE INDEX IF NOT EXISTS {name} ON records {on}" for name, on in _LOOKUPS.items()]
    begin(connection)
    connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
    _make(connection, ["CREATE EXTENSION IF NOT EXISTS vector"], _NO_EXTENSION)
    _check_extension(connection)
    _make(connection, [_SCOPES, *lookups], _NO_TABLES)
    connection.execute("COMMIT")


def begin(connection: Connection[Any]) -> None:
    """A transaction that may take as long as it takes, whatever others are allowed."""
    connection.execute("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")


def _make(connection: Connection[Any], statements: Sequence[str], advice: str) -> None:
    from psycopg import errors

    try:
        for sql in statements:
            connection.execute(sql)
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        raise Misconfigured(advice.format(str(error).splitlines()[0])) from error


def _check_extension(connection: Connection[Any]) -> None:
    sql = "SELECT extversion, to_regtype('halfvec') IS NULL FROM pg_extension WHERE extname = 'vector'"
    version, hidden = connection.execute(sql).fetchone() or ("0.0", False)
    if tuple(map(int, version.split(".")[:2])) < (0, 8):
        raise Misconfigured(
            f"the index pgvector needs pgvector 0.8 or newer, and the server has {version}: "
            "install a newer one and run ALTER EXTENSION vector UPDATE"
        )
    if hidden:
        raise Misconfigured(
            "the extension vector is in a schema that is not searched: add it to the search_path, as with "
            "ALTER ROLE … SET search_path = public, extensions"
        )


_KEPT: Final = tuple(field.name for field in fields(Build))
_SET: Final = ", ".join(f"{name} = %({name})s" for name in _KEPT if name != "code")


def read_build(connection: Connection[Any], scope: str, width: int) -> Build | None:
    """What there is of a scope; None if nothing, or only for vectors of another width."""
    from psycopg.rows import dict_row

    sql = f"SELECT {', '.join(_KEPT)} FROM pgvector_scopes WHERE scope = %s AND width = %s"
    row = connection.cursor(binary=True, row_factory=dict_row).execute(sql, [scope, width]).fetchone()
    try:
        return None if row is None else _decode(row, width)
    except (ValueError, TypeError, AttributeError) as error:
        raise Damaged(f"what pgvector_scopes says of {scope} cannot be read") from error


def _decode(row: dict[str, Any], width: int) -> Build:
    damaged = {int(seq): tier for seq, tier in json.loads(row["damaged"]).items()}
    sample = np.frombuffer(row["sample"], "<f2").reshape(-1, width).astype(np.float32)
    return Build(**{**row, "damaged": damaged, "sample": sample})


def check_held(connection: Connection[Any], build: Build) -> None:
    """`Damaged` if a table that must hold something is empty."""
    sql = f"SELECT EXISTS (SELECT 1 FROM {build.units}), EXISTS (SELECT 1 FROM {build.words})"
    units, words = connection.execute(sql).fetchone() or (False, False)
    if (build.live > 0 and not units) or (build.total > 0 and not words):
        raise Damaged(f"{build.units} or {build.words} was emptied")


def write_build(connection: Connection[Any], scope: str, build: Build) -> None:
    """Notes what a scope's tables hold now."""
    damaged, sample = json.dumps(build.damaged), build.sample.astype("<f2").tobytes()
    values = {**asdict(build), "damaged": damaged, "sample": sample, "scope": scope}
    connection.execute(f"UPDATE pgvector_scopes SET {_SET} WHERE scope = %(scope)s", values)


def find_code(connection: Connection[Any], scope: str) -> int | None:
    """Which tables a scope has, of whatever width, also where nothing else can be read of it."""
    row = connection.execute("SELECT code FROM pgvector_scopes WHERE scope = %s", [scope]).fetchone()
    return None if row is None else int(row[0])


def create(connection: Connection[Any], scope: str, width: int) -> None:
    """New, empty tables in place of those that a scope had."""
    clear(connection, scope)
    row = connection.execute(
        "INSERT INTO pgvector_scopes (scope, width, epoch, copied, version, live, records, total, damaged, "
        "sample) VALUES (%s, %s, 0, 0, 0, 0, 0, 0, '{}', '') RETURNING code",
        [scope, width],
    ).fetchone()
    assert row is not None
    storage = "STORAGE PLAIN" if width <= PLAIN else ""
    connection.execute(
        f"CREATE TABLE pgvector_units_{row[0]:d} (seq bigint, unit integer, length real, "
        f"embedding halfvec({width}) {storage}, terms bytea, PRIMARY KEY (seq, unit))"
    )
    connection.execute(
        f"CREATE TABLE pgvector_words_{row[0]:d} (term bigint, first bigint, size integer, "
        "postings bytea STORAGE EXTERNAL, PRIMARY KEY (term, first))"
    )


def clear(connection: Connection[Any], scope: str) -> None:
    """Removes the tables of a scope, and those that no scope owns: they would keep what is forgotten.

    Inside of DO, because the driver forgets all prepared statements when it sees a DROP.
    """
    held = connection.execute("DELETE FROM pgvector_scopes WHERE scope = %s RETURNING code", [scope])
    names = {name for (name,) in connection.execute(_STRAY).fetchall()}
    for (code,) in held.fetchall():
        names |= {f"pgvector_units_{code:d}", f"pgvector_words_{code:d}"}
    if names:
        connection.execute(f"DO $$BEGIN DROP TABLE IF EXISTS {', '.join(sorted(names))}; END$$")
