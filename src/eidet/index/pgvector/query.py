"""A question to the server: how it is planned and put, in as few round trips as it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from ...core.scope import Scope
from ...core.where import Where
from ...store import Entry
from ...store.sql.postgres.record_search import estimate_passing, find_passing, select_living
from ...store.sql.postgres.searchable import SearchableDatabase, SqlCondition
from ...store.sql.postgres.text import array_of, unescape_row
from .. import Floats, Probe, Seqs
from ..change_pages import Stale
from ..embedded.scored import ScoredSeqs
from ..embedded.vectors import unit
from ..neighbours import LONG
from .postings import READ, WIDTH
from .tables import Build, read_soundly

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

FEW: Final = 2_000  # so many are compared one by one …
PART: Final = 5  # … and so many times more, where a filter lets them pass: the graph would be walked far
MOSTLY: Final = 0.8  # of a scope
FILTERS: Final = 64  # that are remembered
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

# Records that are missed, and those that should be gone; each term of a unit is in one block, and blocks are
# as long as they say; the vectors have a graph.
_COMPARE: Final = f"""SELECT
    (SELECT count(*) FROM records WHERE scope = %s AND seq <= %s AND seq <> ALL(%s::bigint[])
        AND NOT EXISTS (SELECT 1 FROM {{units}} u WHERE u.seq = records.seq)),
    (SELECT count(DISTINCT seq) FROM {{units}} u
        WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.seq = u.seq AND r.scope = %s)),
    (SELECT coalesce(sum(size), 0) = (SELECT coalesce(sum(octet_length(terms)), 0) / 4 FROM {{units}})
        AND coalesce(bool_and(octet_length(postings) = size * {WIDTH}), true) FROM {{words}}),
    EXISTS (SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
        WHERE i.indrelid = to_regclass(%s) AND i.indisvalid AND a.amname = 'hnsw')"""
_MEASURE: Final = """SELECT count(*), count(*) FILTER (WHERE unit = 0), coalesce(sum(length), 0) FROM {units}
    WHERE seq = ANY(%s::bigint[])"""
_NEAREST: Final = """SELECT u.seq, u.embedding <=> %s::halfvec FROM {units} u {joined}
    ORDER BY u.embedding <=> %s::halfvec LIMIT %s"""
_NEAREST_OF: Final = """SELECT seq, min(embedding <=> %s::halfvec) AS away FROM {units}
    WHERE seq = ANY(%s::bigint[]) AND embedding IS NOT NULL GROUP BY seq ORDER BY away LIMIT %s"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerQuery:
    """A question as the stages of a search hand it on."""

    probe: Probe
    query: Floats | None  # of length one
    condition: SqlCondition
    strict: bool  # what does not pass must not take the place of what does
    passing: Seqs | None = None  # all that pass, rising, where they are few or must be named

    @property
    def whole(self) -> bool:
        """Whether all that pass are candidates."""
        return self.passing is not None and len(self.passing) <= self.probe.depth


class Shortlist(NamedTuple):
    """Seqs of candidates; of those that are scored exactly; whose sessions are read, so that turns are known.

    Where not all that pass are candidates, the neighbours of the last are, too.
    """

    seqs: Seqs
    exact: Seqs
    placed: Seqs


class QueryPlanner:
    """Plans questions to one scope: by name where few pass, along the graph where many do."""

    def __init__(self, store: SearchableDatabase, scope: str) -> None:
        self._store, self._scope = store, scope
        self._estimates: dict[str, int] = {}
        self._filters: dict[str, SqlCondition] = {}

    def plan(self, probe: Probe, records: int) -> ServerQuery:
        """`records` says how many the scope has."""
        condition = self._state_condition(probe)
        query = None if probe.vector is None else unit(probe.vector)
        asked = ServerQuery(probe=probe, query=query, condition=condition, strict=probe.where is not None)
        if probe.where is not None and not condition.exact:
            living = Where(scope=Scope(self._scope), alive_at=probe.now, every=(probe.where,))
            return replace(asked, passing=np.array(self._store.match(living), np.int64))
        if records > max(FEW, probe.depth) and self._passes_mostly(asked, records):
            return replace(asked, strict=False)
        most = max(self._count_named(asked, records), probe.depth)
        seqs = self._store.ask(read_soundly(lambda c: find_passing(c, condition, most + 1)))
        if len(seqs) > most:
            return asked
        return replace(asked, passing=np.array(sorted(seqs), np.int64))

    def _state_condition(self, probe: Probe) -> SqlCondition:
        living = select_living(self._scope, probe.now)
        if probe.where is None:
            return living
        given = _recall(self._filters, probe.where, partial(self._store.condition, probe.where))
        return SqlCondition(f"{living.sql} AND ({given.sql})", living.values + given.values, given.exact)

    def estimate(self, asked: ServerQuery, records: int) -> int:
        """How many pass a filter, as the planner of the server judged when it was first asked for."""
        judge = read_soundly(lambda c: estimate_passing(c, asked.condition))
        return min(_recall(self._estimates, asked.probe.where, partial(self._store.ask, judge)), records)

    def _count_named(self, asked: ServerQuery, records: int) -> int:
        """How many are asked for by name, to see whether no more pass: few, where that is not likely."""
        likely = asked.probe.where is None or self.estimate(asked, records) <= 1.5 * FEW * PART
        return FEW * PART if likely else FEW

    def _passes_mostly(self, asked: ServerQuery, records: int) -> bool:
        """Whether a filter lets so much pass that it is enough to look at the candidates.

        So it is with the usual one, which leaves out what is in quarantine.
        """
        return asked.probe.where is None or self.estimate(asked, records) >= MOSTLY * records


def _recall(known: dict[str, T], where: Where | None, ask: Callable[[], T]) -> T:
    """What was learnt of a filter when it was first asked for; most questions ask for the same."""
    key = repr(where)
    if key not in known:
        if len(known) >= FILTERS:
            known.clear()
        known[key] = ask()
    return known[key]


class CopyReader:
    """Reads what was copied of one scope, on whichever connection it is given."""

    def __init__(self, build: Build, scope: str, ef_search: int) -> None:
        self._build, self._scope, self._ef_search = build, scope, ef_search

    def compare(self, connection: Connection[Any]) -> tuple[int, int, bool, bool]:
        """Records that the copy misses, those it should not hold; whether words and graph are sound."""
        build, scope = self._build, self._scope
        sql = _COMPARE.format(units=build.units, words=build.words)
        values = [scope, build.copied, list(build.damaged), scope, build.units]
        return connection.execute(sql, values).fetchone() or (0, 0, True, True)

    def measure(self, connection: Connection[Any], seqs: Seqs) -> tuple[int, int, float]:
        """Rows, records and terms of some seqs that were copied."""
        sql = _MEASURE.format(units=self._build.units)
        rows, records, terms = connection.execute(sql, [_array(seqs)]).fetchone() or (0, 0, 0.0)
        return rows, records, float(terms)

    def ask_arms(
        self, connection: Connection[Any], asked: ServerQuery, most: int
    ) -> tuple[ScoredSeqs, list[Sequence[Any]], int]:
        """The nearest by vector, blocks of words, and how many have expired; in one round trip."""
        near = words = None
        settings = _choose_settings(asked, self._ef_search)
        with connection.pipeline():
            state = connection.execute(_STATE, [self._build.code, self._scope, asked.probe.now, *settings])
            if asked.query is not None:
                near = self._find_nearest(connection, asked)
            if asked.probe.terms:
                read = READ.format(words=self._build.words)
                words = connection.cursor(binary=True).execute(read, [list(asked.probe.terms), most])
            version, expired, *_ = state.fetchone() or (None, 0)
            rows = [] if near is None else near.fetchall()
            blocks = [] if words is None else words.fetchall()
        if version != self._build.version:
            raise Stale
        return _read_scores(rows), blocks, expired

    def _find_nearest(self, connection: Connection[Any], asked: ServerQuery) -> Any:
        """Compared one by one where few pass, else along the graph: under the filter, where it is strict."""
        units, vector, depth = self._build.units, halfvec(asked.query), asked.probe.depth
        if asked.passing is not None:
            sql, values = _NEAREST_OF.format(units=units), [vector, _array(asked.passing), depth]
        elif asked.strict:
            joined = f"JOIN records ON records.seq = u.seq WHERE {asked.condition.sql}"
            sql = _NEAREST.format(units=units, joined=joined)
            values = [vector, *asked.condition.values, vector, depth]
        else:
            sql, values = _NEAREST.format(units=units, joined=""), [vector, vector, depth]
        return connection.cursor(binary=True).execute(sql, values)

    def read_entries(
        self, connection: Connection[Any], asked: ServerQuery, chosen: Shortlist, known: Seqs
    ) -> tuple[list[Entry], ScoredSeqs, list[list[int]]]:
        """The candidates and the neighbours of the leading ones, as far as they pass, by rising seq.

        Then the cosines of what was copied, but for those that are `known`; and sessions, each as its seqs in
        the order they happened, up to one more than `LONG`.
        """
        long = LONG + 1
        values = [
            *(_array(chosen.placed), self._scope, long, not asked.whole, _array(chosen.seqs), long, long),
            *(_array(chosen.exact), _array(known), halfvec(asked.query), *asked.condition.values),
        ]
        sql = _ENTRIES.format(units=self._build.units, test=asked.condition.sql)
        rows = connection.cursor(binary=True).execute(sql, values).fetchall()
        lines = [row[-1] for row in rows if row[0] is None]
        rows = rows[: len(rows) - len(lines)]
        near = [(row[0], row[-2]) for row in rows if row[-2] is not None]
        entries = [Entry._make(row[:-2]) for row in _load_labels(rows)]
        if asked.passing is not None and not asked.condition.exact:
            allowed = set(asked.passing.tolist())
            entries = [entry for entry in entries if entry.seq in allowed]
        return entries, _read_scores(near), lines


def _choose_settings(asked: ServerQuery, ef_search: int) -> list[str]:
    """How the graph is searched; not at all where more is wanted than it gives.

    A filter is looked up along it, not the other way round; the nearest need not come in their order.
    """
    depth, deep = asked.probe.depth, asked.probe.depth > DEEPEST
    filtered = asked.passing is None and asked.strict
    other = "off" if filtered and not deep else "on"
    order = "relaxed_order" if filtered else "off"
    return [str(min(max(ef_search, depth), DEEPEST)), order, other, other, "off" if deep else "on"]


def _read_scores(rows: Sequence[Sequence[Any]]) -> ScoredSeqs:
    """Of (seq, distance); seqs need not rise before they are merged."""
    seqs = np.array([seq for seq, _ in rows], np.int64)
    return ScoredSeqs(seqs, np.array([1.0 - away for _, away in rows], np.float32))


def _load_labels(rows: list[Any]) -> list[Any]:
    """Rows as they were stored; only labels can have characters that are kept in another way."""
    labels = chain.from_iterable(row[_LABELS] for row in rows)
    return list(map(unescape_row, rows)) if "\x1a" in "".join(filter(None, labels)) else rows


def halfvec(vector: Floats | None) -> str | None:
    return None if vector is None else f"[{','.join(map('%.6g'.__mod__, vector.tolist()))}]"


def _array(seqs: Seqs) -> str:
    return array_of(seqs.tolist())
