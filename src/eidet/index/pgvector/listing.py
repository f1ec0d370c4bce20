"""Lists of records by a column, and whether a copy agrees with the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import BadInput
from ...core.scope import Scope
from ...core.where import Where
from ...store.rules import check_order
from .integrity import readable
from .postings import WIDTH

# Each term of a unit is in one block, and blocks are as long as they say.
_WORDS: Final = f"""(
    SELECT coalesce(sum(size), 0) = (SELECT coalesce(sum(octet_length(terms)), 0) / 4 FROM {{units}})
    AND coalesce(bool_and(octet_length(postings) = size * {WIDTH}), true) FROM {{words}})"""
_GRAPH: Final = """EXISTS (
    SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = to_regclass(%s) AND i.indisvalid AND a.amname = 'hnsw')"""

if TYPE_CHECKING:
    from ...store.sql.postgres import PostgresStore
    from .remote_scope import Served


def select(
    store: PostgresStore, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
) -> list[tuple[str, int]]:
    """(scope, seq) of the living records that pass, in an order."""
    name, descending = check_order(order)
    if name == "uses":
        raise BadInput("the index does not keep uses; `find` orders by them")
    living = Where(scope=scope, alive_at=now, every=() if where is None else (where,))
    condition = store.condition(living)
    if not condition.exact:
        return [(r.scope, r.seq) for r in store.find(living, order=order, limit=limit)]
    way = "DESC" if descending else "ASC"
    rows = store.look(
        lambda c: c.execute(
            f"SELECT scope, seq FROM records WHERE {condition.sql} "
            f"ORDER BY {name} {way} NULLS LAST, seq {way} LIMIT %s",
            [*condition.values, limit],
        ).fetchall()
    )
    return [(path, seq) for path, seq in rows]


def check(store: PostgresStore, scope: str, served: Served) -> list[str]:
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
    told = [
        f"scope {scope}: the index {verb} {count:,} records; run `eidet rebuild`"
        for verb, count in (("misses", missed), ("still holds", ghosts))
        if count
    ]
    if not worded:
        told.append(f"scope {scope}: words of the index are missing or damaged; run `eidet rebuild`")
    if not graph:
        told.append(f"scope {scope}: {build.units} has no HNSW index; run `eidet rebuild`")
    if damaged := {**build.damaged, **served.tail.damaged}:
        told.append(f"scope {scope}: {len(damaged):,} records are damaged; restore a copy or an export")
    return told
