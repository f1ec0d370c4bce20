"""The tables of the index in the store's database: a row for each scope that has its own, and those."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...errors import Misconfigured
from .. import Floats

if TYPE_CHECKING:
    from psycopg import Connection

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
_BUILD: Final = "code, epoch, copied, version, live, records, total, damaged, sample"


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

    @property
    def units(self) -> str:
        return f"pgvector_units_{self.code}"

    @property
    def words(self) -> str:
        return f"pgvector_words_{self.code}"


def is_ready(connection: Connection[Any]) -> bool:
    names = ["pgvector_scopes", *_LOOKUPS]
    found = connection.execute("SELECT count(to_regclass(n)) FROM unnest(%s::text[]) n", [names]).fetchone()
    return found is not None and found[0] == len(names)


def prepare(connection: Connection[Any]) -> None:
    """Makes what is not there yet: the extension, the table of scopes, and lookups on the store's records."""
    connection.execute("BEGIN")
    connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
    _extend(connection)
    connection.execute(_SCOPES)
    for name, columns in _LOOKUPS.items():
        connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON records {columns}")
    connection.execute("COMMIT")


def _extend(connection: Connection[Any]) -> None:
    from psycopg import errors

    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        raise Misconfigured(
            f"the index pgvector needs the extension vector in this database ({str(error).splitlines()[0]}): "
            "install pgvector 0.8 or newer on the server and run CREATE EXTENSION vector as its owner"
        ) from error
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    if row is None or tuple(map(int, row[0].split(".")[:2])) < (0, 8):
        raise Misconfigured(
            f"the index pgvector needs pgvector 0.8 or newer, and the server has {row and row[0]}: "
            "install a newer one and run ALTER EXTENSION vector UPDATE"
        )


def read_build(connection: Connection[Any], scope: str, width: int) -> Build | None:
    """What there is of a scope; None if nothing, or only for vectors of another width."""
    cursor = connection.cursor(binary=True)
    row = cursor.execute(
        f"SELECT {_BUILD} FROM pgvector_scopes WHERE scope = %s AND width = %s", [scope, width]
    ).fetchone()
    if row is None:
        return None
    code, epoch, copied, version, live, records, total, damaged, sample = row
    return Build(
        code=code,
        epoch=epoch,
        copied=copied,
        version=version,
        live=live,
        records=records,
        total=total,
        damaged={int(seq): tier for seq, tier in json.loads(damaged).items()},
        sample=np.frombuffer(sample, "<f2").reshape(-1, width).astype(np.float32),
    )


def create(connection: Connection[Any], scope: str, width: int) -> int:
    """New, empty tables in place of those that a scope had; their code."""
    discard(connection, scope)
    row = connection.execute(
        "INSERT INTO pgvector_scopes (scope, width, epoch, copied, version, live, records, total, damaged, "
        "sample) VALUES (%s, %s, 0, 0, 0, 0, 0, 0, '{}', '') RETURNING code",
        [scope, width],
    ).fetchone()
    assert row is not None
    code = int(row[0])
    storage = "STORAGE PLAIN" if width <= PLAIN else ""
    connection.execute(
        f"CREATE TABLE pgvector_units_{code} (seq bigint, unit integer, length real, "
        f"embedding halfvec({width}) {storage}, terms bytea, PRIMARY KEY (seq, unit))"
    )
    connection.execute(
        f"CREATE TABLE pgvector_words_{code} (term bigint, first bigint, size integer, "
        "postings bytea STORAGE EXTERNAL, PRIMARY KEY (term, first))"
    )
    return code


def discard(connection: Connection[Any], scope: str) -> None:
    """Removes what there is of a scope."""
    rows = connection.execute(
        "DELETE FROM pgvector_scopes WHERE scope = %s RETURNING code", [scope]
    ).fetchall()
    for (code,) in rows:
        # inside of DO, because the driver forgets all prepared statements when it sees a DROP
        connection.execute(
            f"DO $$BEGIN DROP TABLE IF EXISTS pgvector_units_{code:d}, pgvector_words_{code:d}; END$$"
        )


def keep(connection: Connection[Any], scope: str, build: Build) -> None:
    """Writes down what a scope's tables hold now."""
    connection.execute(
        "UPDATE pgvector_scopes SET epoch = %s, copied = %s, version = %s, live = %s, records = %s, "
        "total = %s, damaged = %s, sample = %s WHERE scope = %s",
        [
            build.epoch,
            build.copied,
            build.version,
            build.live,
            build.records,
            build.total,
            json.dumps(build.damaged),
            build.sample.astype("<f2").tobytes(),
            scope,
        ],
    )
