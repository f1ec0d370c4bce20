"""The SQL of a search, each in as few round trips as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...store import Entry
from ...store.postgres import Condition
from ...store.postgres_text import loaded
from .. import Floats
from .copying import Stale
from .words import READ, Seqs

if TYPE_CHECKING:
    from psycopg import Connection

    from .asked import Asked, Chosen
    from .tables import Build

DEEPEST: Final = 1_000  # of an HNSW index in one go
_CHUNK: Final = 2_000  # candidates by words that are looked at at once
_LABELS: Final = slice(Entry._fields.index("agent"), Entry._fields.index("source") + 1)
_COLUMNS: Final = ", ".join(
    "CASE WHEN records.seq IN (SELECT unnest(%s::bigint[])) THEN vector END" if name == "vector" else name
    for name in ("records.seq", *Entry._fields[1:])
)
_BESIDE: Final = """(SELECT r.seq FROM records r WHERE r.scope = l.scope AND r.session = l.session
    AND (r.occurred, r.seq) {} (l.occurred, l.seq) ORDER BY r.occurred {}, r.seq {} LIMIT 1)"""
_ENTRIES: Final = f"""WITH first AS (
    SELECT scope, session, occurred, seq FROM records
    WHERE seq = ANY(%s::bigint[]) AND scope = %s AND session IS NOT NULL),
wanted AS (
    SELECT unnest(%s::bigint[]) AS seq
    UNION SELECT {_BESIDE.format("<", "DESC", "DESC")} FROM first l
    UNION SELECT {_BESIDE.format(">", "ASC", "ASC")} FROM first l)
SELECT {_COLUMNS}, (SELECT min(u.embedding <=> %s::halfvec) FROM {{units}} u WHERE u.seq = records.seq)
FROM wanted JOIN records ON records.seq = wanted.seq WHERE {{test}} ORDER BY records.seq"""
_STATE: Final = """SELECT (SELECT version FROM pgvector_scopes WHERE code = %s),
    (SELECT count(*) FROM records WHERE scope = %s AND expires <= %s),
    set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', %s, true),
    set_config('enable_sort', %s, true), set_config('enable_hashjoin', %s, true),
    set_config('enable_indexscan', %s, true)"""
_LINES: Final = """SELECT ARRAY(SELECT r.seq FROM records r WHERE r.scope = %s AND r.session = s.session
             ORDER BY r.occurred, r.seq LIMIT %s)
FROM (SELECT DISTINCT session FROM records WHERE seq = ANY(%s::bigint[]) AND scope = %s
      AND session IS NOT NULL) s"""


def living(scope: str, now: float) -> Condition:
    """What every search asks for, without a detour over a filter."""
    return Condition(
        "records.scope = %s AND (records.expires IS NULL OR records.expires > %s)", [scope, now], True
    )


def passing(connection: Connection[Any], condition: Condition, most: int) -> Seqs:
    """The seqs that pass a filter, in no order; at most so many."""
    rows = _cursor(connection).execute(
        f"SELECT seq FROM records WHERE {condition.sql} LIMIT {most:d}", condition.values
    )
    return np.array([seq for (seq,) in rows.fetchall()], np.int64)


def passing_after(connection: Connection[Any], condition: Condition, seq: int) -> Seqs:
    rows = _cursor(connection).execute(
        f"SELECT seq FROM records WHERE {condition.sql} AND seq > {seq:d}", condition.values
    )
    return np.array([seq for (seq,) in rows.fetchall()], np.int64)


def first_passing(connection: Connection[Any], condition: Condition, order: Seqs, depth: int) -> Seqs:
    """Of seqs in an order, the first that pass: looked at some at a time until there are enough."""
    found: list[int] = []
    for start in range(0, len(order), _CHUNK):
        some = order[start : start + _CHUNK].tolist()
        rows = _cursor(connection).execute(
            f"SELECT seq FROM records WHERE seq = ANY(%s::bigint[]) AND {condition.sql}",
            [some, *condition.values],
        )
        held = {seq for (seq,) in rows.fetchall()}
        found += [seq for seq in some if seq in held]
        if len(found) >= depth:
            break
    return np.array(found[:depth], np.int64)


def estimate(connection: Connection[Any], condition: Condition) -> int:
    """How many pass a filter, as the planner judges."""
    row = connection.execute(
        f"EXPLAIN (FORMAT JSON) SELECT 1 FROM records WHERE {condition.sql}", condition.values
    ).fetchone()
    return 0 if row is None else int(row[0][0]["Plan"]["Plan Rows"])


def size_of(connection: Connection[Any], build: Build, seqs: Seqs) -> tuple[int, int, float]:
    """Rows, records and terms of some seqs that were copied."""
    row = connection.execute(
        f"SELECT count(*), count(*) FILTER (WHERE unit = 0), coalesce(sum(length), 0) FROM {build.units} "
        "WHERE seq = ANY(%s::bigint[])",
        [seqs.tolist()],
    ).fetchone()
    return (0, 0, 0.0) if row is None else (row[0], row[1], float(row[2]))


def arms(
    connection: Connection[Any], build: Build, asked: Asked, scope: str, ef_search: int, most: int
) -> tuple[tuple[Seqs, Floats], list[Sequence[Any]], int]:
    """The nearest by vector, blocks of words, and how many have expired; in one round trip."""
    near = words = None
    with connection.pipeline():
        state = connection.execute(_STATE, [build.code, scope, asked.probe.now, *_settings(asked, ef_search)])
        if asked.query is not None:
            near = _nearest(connection, build, asked)
        if asked.probe.terms:
            words = _cursor(connection).execute(
                READ.format(words=build.words), [list(asked.probe.terms), most]
            )
        version, expired, *_ = state.fetchone() or (None, 0)
        rows = [] if near is None else near.fetchall()
        told = [] if words is None else words.fetchall()
    if version != build.version:
        raise Stale
    return _scored(rows), told, expired


def _settings(asked: Asked, ef_search: int) -> list[str]:
    """How the graph is searched; not at all where more is wanted than it gives.

    A filter is looked up along it, not the other way round.
    """
    deep, filtered = asked.probe.depth > DEEPEST, asked.passing is None and asked.strict
    other = "off" if filtered and not deep else "on"
    order = "strict_order" if filtered else "off"
    return [
        str(min(max(ef_search, asked.probe.depth), DEEPEST)),
        order,
        other,
        other,
        "off" if deep else "on",
    ]


def _scored(rows: Sequence[Sequence[Any]]) -> tuple[Seqs, Floats]:
    return (
        np.array([seq for seq, _ in rows], np.int64),
        np.array([1.0 - away for _, away in rows], np.float32),
    )


def _nearest(connection: Connection[Any], build: Build, asked: Asked) -> Any:
    """Compared one by one where few pass, else along the graph: under the filter, where it is strict."""
    vector = halfvec(asked.query)
    if asked.passing is not None:
        sql = (
            f"SELECT seq, min(embedding <=> %s::halfvec) AS away FROM {build.units} "
            "WHERE seq = ANY(%s::bigint[]) AND embedding IS NOT NULL GROUP BY seq ORDER BY away LIMIT %s"
        )
        values = [vector, asked.passing.tolist(), asked.probe.depth]
    else:
        joined = f"JOIN records ON records.seq = u.seq WHERE {asked.condition.sql}" if asked.strict else ""
        sql = (
            f"SELECT u.seq, u.embedding <=> %s::halfvec FROM {build.units} u {joined} "
            "ORDER BY u.embedding <=> %s::halfvec LIMIT %s"
        )
        values = [vector, *(asked.condition.values if asked.strict else ()), vector, asked.probe.depth]
    return _cursor(connection).execute(sql, values)


def entries(
    connection: Connection[Any],
    build: Build,
    asked: Asked,
    scope: str,
    chosen: Chosen,
    long: int,
) -> tuple[list[Entry], tuple[Seqs, Floats], list[list[int]]]:
    """The candidates and the neighbours of the leading ones, as far as they pass, by rising seq.

    Then the cosines of what was copied; and sessions, each as its seqs in the order they happened, up to
    `long` of them.
    """
    seqs, exact, leading, placed = (part.tolist() for part in chosen)
    values = [leading, scope, seqs, exact, halfvec(asked.query)]
    with connection.pipeline():
        told = _cursor(connection).execute(
            _ENTRIES.format(units=build.units, test=asked.condition.sql), values + asked.condition.values
        )
        lines = _cursor(connection).execute(_LINES, [scope, long, placed, scope])
        rows, sessions = told.fetchall(), lines.fetchall()
    near = [(row[0], row[-1]) for row in rows if row[-1] is not None]
    return [Entry._make(row[:-1]) for row in _loaded(rows)], _scored(near), [line for (line,) in sessions]


def windows(connection: Connection[Any], scope: str, seqs: Sequence[int], reach: int) -> list[list[int]]:
    """For each record the stretch of its session around it, in the order things happened."""
    side = """ARRAY(SELECT r.seq FROM records r WHERE r.scope = c.scope AND r.session = c.session
        AND (r.occurred, r.seq) {than} (c.occurred, c.seq) ORDER BY r.occurred {way}, r.seq {way} LIMIT %s)"""
    before, after = side.format(than="<", way="DESC"), side.format(than=">", way="ASC")
    rows = _cursor(connection).execute(
        f"SELECT c.seq, {before}, {after} FROM records c WHERE c.seq = ANY(%s::bigint[]) AND c.scope = %s "
        "AND c.session IS NOT NULL ORDER BY c.session, c.occurred, c.seq",
        [reach, reach, list(seqs), scope],
    )
    return [[*reversed(early), seq, *late] for seq, early, late in rows.fetchall()]


def _loaded(rows: list[Any]) -> list[Any]:
    """Rows as they were stored; only labels can have characters that are kept in another way."""
    labels = "".join(label for row in rows for label in row[_LABELS] if label)
    return list(map(loaded, rows)) if "\x1a" in labels else rows


def voices(connection: Connection[Any], scope: str) -> tuple[str, ...]:
    """Everybody who speaks, hopping along the index from one to the next."""
    rows = connection.execute(
        """WITH RECURSIVE heard AS (
            (SELECT who FROM records WHERE scope = %s AND who IS NOT NULL ORDER BY who LIMIT 1)
            UNION ALL SELECT (SELECT who FROM records WHERE scope = %s AND who > heard.who
                              ORDER BY who LIMIT 1) FROM heard WHERE heard.who IS NOT NULL)
        SELECT who FROM heard WHERE who IS NOT NULL""",
        [scope, scope],
    ).fetchall()
    return tuple(loaded(row)[0] for row in rows)


def halfvec(vector: Floats | None) -> str | None:
    return None if vector is None else f"[{','.join(map('%.6g'.__mod__, vector.tolist()))}]"


def _cursor(connection: Connection[Any]) -> Any:
    return connection.cursor(binary=True)
