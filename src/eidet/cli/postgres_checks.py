"""What `eidet doctor` tells of a PostgreSQL server: its version, pgvector, and rights that the role lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

from ..store import Store
from ..store.traits import has_ability
from .doctor_checks import CheckResult, fault, ok

if TYPE_CHECKING:
    from ..store.sql.postgres.searchable import SearchableDatabase

TABLES: Final = ("records", "events", "settings", "tombstones", "tallies", "vectors_next")
RIGHTS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE")
_SERVER: Final = """
    SELECT current_setting('server_version'), current_user, current_schema(),
        (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
        (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')"""
_LACKING: Final = """
    SELECT kind, string_agg(relname, ', ' ORDER BY relname) FROM pg_class, unnest(%s::text[]) AS kind
    WHERE relname = ANY(%s) AND relnamespace = to_regnamespace(%s) AND NOT has_table_privilege(oid, kind)
    GROUP BY kind"""
_FOREIGN: Final = """
    SELECT count(*) FROM pg_class
    WHERE relname = ANY(%s) AND relnamespace = to_regnamespace(%s) AND NOT pg_has_role(relowner, 'USAGE')"""


def check_postgres(place: str, store: Store) -> Iterator[CheckResult]:
    """Checks version, pgvector and rights; yields nothing for other stores."""
    if not place.startswith(("postgres://", "postgresql://")):
        return
    from ..store.sql.postgres.searchable import SearchableDatabase

    if has_ability(store, SearchableDatabase):
        yield from _check_server(cast("SearchableDatabase", store))


def _check_server(store: SearchableDatabase) -> Iterator[CheckResult]:
    version, role, schema, vector, available = _ask_one(store, _SERVER)
    yield ok("server", f"PostgreSQL {version}, {_describe_vector(vector, available)}")
    lacking = store.ask(lambda line: line.execute(_LACKING, (list(RIGHTS), list(TABLES), schema)).fetchall())
    for right, tables in lacking:
        todo = f'GRANT {", ".join(RIGHTS)} ON ALL TABLES IN SCHEMA "{schema}" TO "{role}"'
        yield fault("rights", f"the role {role} may not {right} on {tables}", todo)
    if not lacking:
        [foreign] = _ask_one(store, _FOREIGN, list(TABLES), schema)
        yield ok("rights", _describe_rights(role, foreign))


def _ask_one(store: SearchableDatabase, sql: str, *values: Any) -> tuple[Any, ...]:
    row = store.ask(lambda line: line.execute(sql, values).fetchone())
    assert row is not None
    return tuple(row)


def _describe_vector(installed: str | None, available: str | None) -> str:
    if installed is not None:
        return f"pgvector {installed}"
    if available is not None:
        return f"pgvector {available} is there but not switched on (CREATE EXTENSION vector)"
    return "no pgvector, which large scopes need"


def _describe_rights(role: str, foreign: int) -> str:
    if foreign:
        return f"{role} reads and writes, but does not own the tables: deleted rows wait for autovacuum"
    return f"{role} reads, writes and cleans up"
