"""Whether a copy agrees with the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...store.sql.postgres.searchable import SearchableDatabase
from ..embedded.queries import report_faults
from .integrity import readable
from .postings import WIDTH
from .remote_scope import ServerScope

# Each term of a unit is in one block, and blocks are as long as they say.
_WORDS: Final = f"""(
    SELECT coalesce(sum(size), 0) = (SELECT coalesce(sum(octet_length(terms)), 0) / 4 FROM {{units}})
    AND coalesce(bool_and(octet_length(postings) = size * {WIDTH}), true) FROM {{words}})"""
_GRAPH: Final = """EXISTS (
    SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = to_regclass(%s) AND i.indisvalid AND a.amname = 'hnsw')"""


def check_copy(store: SearchableDatabase, scope: str, served: ServerScope) -> list[str]:
    """Where the copy and the store disagree, in words."""
    build = served.build
    held = f"EXISTS (SELECT 1 FROM {build.units} u WHERE u.seq = records.seq)"
    sql = (
        f"SELECT (SELECT count(*) FROM records WHERE scope = %s AND seq <= %s AND NOT {held} "
        "AND seq <> ALL(%s::bigint[])), "
        f"(SELECT count(DISTINCT seq) FROM {build.units} u "
        "WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.seq = u.seq AND r.scope = %s)), "
        f"{_WORDS.format(words=build.words, units=build.units)}, {_GRAPH}"
    )
    values = [scope, build.copied, list(build.damaged), scope, build.units]

    def ask(connection: Any) -> Sequence[Any]:
        with readable():
            return connection.execute(sql, values).fetchone() or (0, 0, True, True)

    missed, ghosts, worded, graph = store.ask(ask)
    told = report_faults(scope, missed, ghosts, len(served.damaged))
    if not worded:
        told.append(f"scope {scope}: words of the index are missing or damaged; run `eidet rebuild`")
    if not graph:
        told.append(f"scope {scope}: {build.units} has no HNSW index; run `eidet rebuild`")
    return told
