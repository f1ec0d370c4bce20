"""Questions about the table `records` that an index in the same database asks beside the store's own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from ....core.errors import BadInput
from ....core.scope import Scope
from ....core.where import Where
from ...rules import check_order
from .searchable import SearchableDatabase, SqlCondition
from .text import array_of, unescape_row

if TYPE_CHECKING:
    from psycopg import Connection

_CHUNK: Final = 2_000  # candidates that are looked at at once
_SESSIONS: Final = """SELECT session, seq, ({test}) FROM records WHERE scope = %s AND session IN (
    SELECT session FROM records WHERE scope = %s AND seq = ANY(%s::bigint[]) AND session IS NOT NULL)
ORDER BY session, occurred, seq"""


def select_ordered(
    store: SearchableDatabase, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
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
    rows = store.ask(
        lambda c: c.execute(
            f"SELECT scope, seq FROM records WHERE {condition.sql} "
            f"ORDER BY {name} {way} NULLS LAST, seq {way} LIMIT %s",
            [*condition.values, limit],
        ).fetchall()
    )
    return [(path, seq) for path, seq in rows]


def read_sessions(
    store: SearchableDatabase, scope: str, seqs: Sequence[int], where: Where | None, now: float
) -> dict[str, list[tuple[int, bool]]]:
    """The sessions of records as a whole, in their order: (seq, whether it lives and passes)."""
    living = Where(scope=Scope(scope), alive_at=now, every=() if where is None else (where,))
    condition = store.condition(living)
    values = [*condition.values, scope, scope, list(seqs)]
    rows = store.ask(lambda c: c.execute(_SESSIONS.format(test=condition.sql), values).fetchall())
    if not condition.exact:
        found = store.read(scope, [seq for _, seq, _ in rows])
        passing = {record.seq for record in found if record and living.matches(record)}
        rows = [(session, seq, seq in passing) for session, seq, _ in rows]
    sessions = {}
    for session, group in groupby(rows, key=lambda row: row[0]):
        sessions[session] = [(seq, passes) for _, seq, passes in group]
    return sessions


def select_living(scope: str, now: float) -> SqlCondition:
    """What every search asks for, without a detour over a filter."""
    return SqlCondition(
        "records.scope = %s AND (records.expires IS NULL OR records.expires > %s)", [scope, now], True
    )


def find_passing(connection: Connection[Any], condition: SqlCondition, most: int) -> list[int]:
    """The seqs that pass a filter, in no order; at most so many."""
    rows = connection.cursor(binary=True).execute(
        f"SELECT seq FROM records WHERE {condition.sql} LIMIT {most:d}", condition.values
    )
    return [seq for (seq,) in rows.fetchall()]


def find_first_passing(
    connection: Connection[Any], condition: SqlCondition, order: Sequence[int], depth: int
) -> list[int]:
    """Of seqs in an order, the first that pass: looked at some at a time until there are enough."""
    found: list[int] = []
    for start in range(0, len(order), _CHUNK):
        some = order[start : start + _CHUNK]
        rows = connection.cursor(binary=True).execute(
            f"SELECT seq FROM records WHERE seq = ANY(%s::bigint[]) AND {condition.sql}",
            [array_of(some), *condition.values],
        )
        held = {seq for (seq,) in rows.fetchall()}
        found += [seq for seq in some if seq in held]
        if len(found) >= depth:
            break
    return found[:depth]


def estimate_passing(connection: Connection[Any], condition: SqlCondition) -> int:
    """How many pass a filter, as the planner judges."""
    row = connection.execute(
        f"EXPLAIN (FORMAT JSON) SELECT 1 FROM records WHERE {condition.sql}", condition.values
    ).fetchone()
    return 0 if row is None else int(row[0][0]["Plan"]["Plan Rows"])


def read_windows(connection: Connection[Any], scope: str, seqs: Sequence[int], reach: int) -> list[list[int]]:
    """For each record the stretch of its session around it, in the order things happened."""
    side = """ARRAY(SELECT r.seq FROM records r WHERE r.scope = c.scope AND r.session = c.session
        AND (r.occurred, r.seq) {than} (c.occurred, c.seq) ORDER BY r.occurred {way}, r.seq {way} LIMIT %s)"""
    before, after = side.format(than="<", way="DESC"), side.format(than=">", way="ASC")
    rows = connection.cursor(binary=True).execute(
        f"SELECT c.seq, {before}, {after} FROM records c WHERE c.seq = ANY(%s::bigint[]) AND c.scope = %s "
        "AND c.session IS NOT NULL ORDER BY c.session, c.occurred, c.seq",
        [reach, reach, list(seqs), scope],
    )
    return [[*reversed(early), seq, *late] for seq, early, late in rows.fetchall()]


def list_voices(connection: Connection[Any], scope: str) -> tuple[str, ...]:
    """Everybody who speaks, hopping along the index from one to the next."""
    rows = connection.execute(
        """WITH RECURSIVE heard AS (
            (SELECT who FROM records WHERE scope = %s AND who IS NOT NULL ORDER BY who LIMIT 1)
            UNION ALL SELECT (SELECT who FROM records WHERE scope = %s AND who > heard.who
                              ORDER BY who LIMIT 1) FROM heard WHERE heard.who IS NOT NULL)
        SELECT who FROM heard WHERE who IS NOT NULL""",
        [scope, scope],
    ).fetchall()
    return tuple(unescape_row(row)[0] for row in rows)
