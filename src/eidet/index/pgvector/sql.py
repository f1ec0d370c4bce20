"""The SQL of a search, each in as few round trips as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...store import Entry
from ...store.sql.postgres.record_search import array_of
from ...store.sql.postgres.text import loaded
from .. import Floats, Seqs
from ..change_pages import Stale
from .postings import READ, WIDTH

if TYPE_CHECKING:
    from psycopg import Connection

    from .query import ServerQuery, Shortlist
    from .tables import Build

DEEPEST: Final = 1_000  # of an HNSW index in one go
_LABELS: Final = slice(Entry._fields.index("agent"), Entry._fields.index("source") + 1)
_COLUMNS: Final = ", ".join(
    "CASE WHEN seq = ANY(%s::bigint[]) THEN vector END" if name == "vector" else name
    for name in Entry._fields
)
_BESIDE: Final = """(SELECT r.seq FROM records r WHERE r.scope = f.scope AND r.session = f.session
    AND (r.occurred, r.seq) {} (f.occurred, f.seq) ORDER BY r.occurred {}, r.seq {} LIMIT 1)"""
# Who stands beside a leading record is read off the line of its session; looked up where the line ends.
_ENTRIES: Final = f"""WITH placed AS MATERIALIZED (
    SELECT scope, session, occurred, seq FROM records
    WHERE seq = ANY(%s::bigint[]) AND scope = %s AND session IS NOT NULL),
lines AS MATERIALIZED (
    SELECT session, ARRAY(SELECT r.seq FROM records r WHERE r.scope = s.scope AND r.session = s.session
                          ORDER BY r.occurred, r.seq LIMIT %s) AS line
    FROM (SELECT DISTINCT scope, session FROM placed) s),
leaders AS MATERIALIZED (
    SELECT f.*, line, array_position(line, f.seq) AS at FROM placed f JOIN lines USING (session) WHERE %s),
wanted AS (
    SELECT unnest(%s::bigint[]) AS seq
    UNION ALL SELECT unnest(ARRAY[line[at - 1], line[at + 1]]) FROM leaders
    UNION ALL SELECT unnest(ARRAY[{_BESIDE.format("<", "DESC", "DESC")}, {_BESIDE.format(">", "ASC", "ASC")}])
    FROM leaders f WHERE coalesce(at, %s) >= %s)
SELECT {_COLUMNS},
    CASE WHEN seq <> ALL(%s::bigint[]) THEN
        (SELECT min(u.embedding <=> %s::halfvec) FROM {{units}} u WHERE u.seq = records.seq) END,
    NULL::bigint[]
FROM records WHERE seq = ANY(ARRAY(SELECT seq FROM wanted)) AND {{test}}
UNION ALL SELECT {", ".join(["NULL"] * len(Entry._fields))}, NULL, line FROM lines
ORDER BY 1"""
_STATE: Final = """SELECT (SELECT version FROM pgvector_scopes WHERE code = %s),
    (SELECT count(*) FROM records WHERE scope = %s AND expires <= %s),
    set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', %s, true),
    set_config('enable_sort', %s, true), set_config('enable_hashjoin', %s, true),
    set_config('enable_indexscan', %s, true)"""

# Each term of a unit is in one block, and blocks are as long as they say.
_WORDS: Final = f"""(
    SELECT coalesce(sum(size), 0) = (SELECT coalesce(sum(octet_length(terms)), 0) / 4 FROM {{units}})
    AND coalesce(bool_and(octet_length(postings) = size * {WIDTH}), true) FROM {{words}})"""
_GRAPH: Final = """EXISTS (
    SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = to_regclass(%s) AND i.indisvalid AND a.amname = 'hnsw')"""


def compare(connection: Connection[Any], build: Build, scope: str) -> tuple[int, int, bool, bool]:
    """Records that the copy misses, those it should not hold; whether its words and its graph are sound."""
    held = f"EXISTS (SELECT 1 FROM {build.units} u WHERE u.seq = records.seq)"
    row = connection.execute(
        f"SELECT (SELECT count(*) FROM records WHERE scope = %s AND seq <= %s AND NOT {held} "
        "AND seq <> ALL(%s::bigint[])), "
        f"(SELECT count(DISTINCT seq) FROM {build.units} u "
        "WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.seq = u.seq AND r.scope = %s)), "
        f"{_WORDS.format(words=build.words, units=build.units)}, {_GRAPH}",
        [scope, build.copied, list(build.damaged), scope, build.units],
    ).fetchone()
    return row or (0, 0, True, True)


def measure(connection: Connection[Any], build: Build, seqs: Seqs) -> tuple[int, int, float]:
    """Rows, records and terms of some seqs that were copied."""
    row = connection.execute(
        f"SELECT count(*), count(*) FILTER (WHERE unit = 0), coalesce(sum(length), 0) FROM {build.units} "
        "WHERE seq = ANY(%s::bigint[])",
        [_array(seqs)],
    ).fetchone()
    return (0, 0, 0.0) if row is None else (row[0], row[1], float(row[2]))


def ask_arms(
    connection: Connection[Any], build: Build, asked: ServerQuery, scope: str, ef_search: int, most: int
) -> tuple[tuple[Seqs, Floats], list[Sequence[Any]], int]:
    """The nearest by vector, blocks of words, and how many have expired; in one round trip."""
    near = words = None
    with connection.pipeline():
        state = connection.execute(
            _STATE, [build.code, scope, asked.probe.now, *_choose_settings(asked, ef_search)]
        )
        if asked.query is not None:
            near = _find_nearest(connection, build, asked)
        if asked.probe.terms:
            words = _cursor(connection).execute(
                READ.format(words=build.words), [list(asked.probe.terms), most]
            )
        version, expired, *_ = state.fetchone() or (None, 0)
        rows = [] if near is None else near.fetchall()
        told = [] if words is None else words.fetchall()
    if version != build.version:
        raise Stale
    return _read_scores(rows), told, expired


def _choose_settings(asked: ServerQuery, ef_search: int) -> list[str]:
    """How the graph is searched; not at all where more is wanted than it gives.

    A filter is looked up along it, not the other way round; the nearest need not come in their order.
    """
    deep, filtered = asked.probe.depth > DEEPEST, asked.passing is None and asked.strict
    other = "off" if filtered and not deep else "on"
    order = "relaxed_order" if filtered else "off"
    return [
        str(min(max(ef_search, asked.probe.depth), DEEPEST)),
        order,
        other,
        other,
        "off" if deep else "on",
    ]


def _read_scores(rows: Sequence[Sequence[Any]]) -> tuple[Seqs, Floats]:
    return (
        np.array([seq for seq, _ in rows], np.int64),
        np.array([1.0 - away for _, away in rows], np.float32),
    )


def _find_nearest(connection: Connection[Any], build: Build, asked: ServerQuery) -> Any:
    """Compared one by one where few pass, else along the graph: under the filter, where it is strict."""
    vector = halfvec(asked.query)
    if asked.passing is not None:
        sql = (
            f"SELECT seq, min(embedding <=> %s::halfvec) AS away FROM {build.units} "
            "WHERE seq = ANY(%s::bigint[]) AND embedding IS NOT NULL GROUP BY seq ORDER BY away LIMIT %s"
        )
        values = [vector, _array(asked.passing), asked.probe.depth]
    else:
        joined = f"JOIN records ON records.seq = u.seq WHERE {asked.condition.sql}" if asked.strict else ""
        sql = (
            f"SELECT u.seq, u.embedding <=> %s::halfvec FROM {build.units} u {joined} "
            "ORDER BY u.embedding <=> %s::halfvec LIMIT %s"
        )
        values = [vector, *(asked.condition.values if asked.strict else ()), vector, asked.probe.depth]
    return _cursor(connection).execute(sql, values)


def read_entries(
    connection: Connection[Any],
    build: Build,
    asked: ServerQuery,
    scope: str,
    chosen: Shortlist,
    known: Seqs,
    long: int,
) -> tuple[list[Entry], tuple[Seqs, Floats], list[list[int]]]:
    """The candidates and the neighbours of the leading ones, as far as they pass, by rising seq.

    Then the cosines of what was copied, but for those that are `known`; and sessions, each as its seqs in
    the order they happened, up to `long` of them.
    """
    leads = len(chosen.leading) > 0
    values = [
        *(_array(chosen.placed), scope, long, leads, _array(chosen.seqs), long, long),
        *(_array(chosen.exact), _array(known), halfvec(asked.query), *asked.condition.values),
    ]
    sql = _ENTRIES.format(units=build.units, test=asked.condition.sql)
    rows = _cursor(connection).execute(sql, values).fetchall()
    lines = [row[-1] for row in rows if row[0] is None]
    rows = rows[: len(rows) - len(lines)]
    near = [(row[0], row[-2]) for row in rows if row[-2] is not None]
    return [Entry._make(row[:-2]) for row in _load_labels(rows)], _read_scores(near), lines


def _load_labels(rows: list[Any]) -> list[Any]:
    """Rows as they were stored; only labels can have characters that are kept in another way."""
    labels = chain.from_iterable(row[_LABELS] for row in rows)
    return list(map(loaded, rows)) if "\x1a" in "".join(filter(None, labels)) else rows


def halfvec(vector: Floats | None) -> str | None:
    return None if vector is None else f"[{','.join(map('%.6g'.__mod__, vector.tolist()))}]"


def _array(seqs: Seqs) -> str:
    return array_of(seqs.tolist())


def _cursor(connection: Connection[Any]) -> Any:
    return connection.cursor(binary=True)
