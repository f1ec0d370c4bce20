"""Finds candidates in the tables of a scope: one statement finds near vectors, one matching words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...core.scope import Scope
from ...core.where import Where
from ...store import Head
from ...store.sql.postgres.searchable import SearchableDatabase, SqlCondition
from ...store.sql.postgres.write import array_of, escape, unescape_row
from .. import Found, Probe, WordStatistics
from ..embedded.postings import Bm25
from ..embedded.vectors import unit
from ..fill import Filler, VectorShelf
from .tables import Tables, UnitRow, count_words, sign, units_of

if TYPE_CHECKING:
    from psycopg import Connection

_MATCHING_UNITS: Final = 5_000  # units whose words are compared: those with rare words
_SHORTLIST: Final = 200  # least number of candidates, the best of both arms together
_LEADING: Final = 40  # candidates whose neighbours in the session are candidates, too
_DEEPEST: Final = 1_000  # largest ef_search of the graph
_RANK: Final = 60  # of reciprocal ranks

_NEAREST: Final = """SELECT u.seq FROM {units} u JOIN records ON records.seq = u.seq WHERE {test}
    AND u.embedding IS NOT NULL ORDER BY u.embedding <=> %s::halfvec LIMIT %s"""
# The graph cannot order by a sum, so all that pass are compared.
_NEAREST_OF: Final = """SELECT u.seq FROM {units} u
    WHERE u.seq = ANY(ARRAY(SELECT seq FROM records WHERE {test})) AND u.embedding IS NOT NULL
    ORDER BY (u.embedding <=> %s::halfvec) + 0 LIMIT %s"""
_ALONG_THE_GRAPH: Final = """SELECT set_config('hnsw.ef_search', %s, true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('enable_sort', 'off', true), set_config('enable_hashjoin', 'off', true)"""
_MATCHING: Final = """WITH best AS MATERIALIZED (
    SELECT u.seq, {score} AS score, u.length FROM {units} u WHERE u.words && %s::integer[]
    ORDER BY score DESC, u.length, u.seq LIMIT %s)
SELECT best.seq FROM best JOIN records ON records.seq = best.seq WHERE {test}
ORDER BY best.score DESC, best.length, best.seq LIMIT %s"""
_VOICES: Final = """WITH RECURSIVE heard AS (
    (SELECT who FROM records WHERE scope = %s AND who IS NOT NULL ORDER BY who LIMIT 1)
    UNION ALL SELECT (SELECT who FROM records WHERE scope = %s AND who > heard.who ORDER BY who LIMIT 1)
    FROM heard WHERE heard.who IS NOT NULL)
SELECT who FROM heard WHERE who IS NOT NULL"""
_TURNS: Final = """SELECT array_agg(seq ORDER BY occurred, seq) FROM records
    WHERE scope = %s AND session = ANY(%s::text[]) GROUP BY session"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PgvectorSettings:
    """The size from which on the server searches a scope, and how it searches.

    Up to `tail` changes may wait before they are copied. Up to `few` records that pass a filter are compared
    one by one. With `background`, a thread copies large scopes, which are searched in RAM meanwhile.
    """

    from_records: int = 20_000
    tail: int = 200
    few: int = 10_000
    ef_search: int = 400
    memory_mb: int = 1024
    background: bool = True


class NotCopied(Exception):
    """Raised if the tables lack a scope, or many of its records."""


class PgvectorFinder:
    """A `Finder` over the tables of scopes; the order of sessions and the voices are read from `records`."""

    def __init__(
        self, store: SearchableDatabase, tables: Tables, filler: Filler[UnitRow], settings: PgvectorSettings
    ) -> None:
        self._store, self._tables, self._filler, self._how = store, tables, filler, settings

    def find(self, scope: str, probe: Probe) -> Found:
        """Searches the tables of a scope; raises `NotCopied` if they lack too much."""
        shelf, late = self._catch_up(scope, probe.head or self._store.head())
        test = self._state_condition(scope, probe)

        def find(connection: Connection[Any]) -> Found:
            with connection.transaction():  # the planner underrates the indexes of these tables
                connection.execute("SET LOCAL enable_seqscan = off")
                return _Search(connection, shelf, probe, test, self._how).find(late)

        return self._tables.ask(find)

    def _catch_up(self, scope: str, head: Head) -> tuple[VectorShelf, list[int]]:
        """Returns the shelf of a scope and the seqs written since; if they are many, copies them first."""
        for _ in range(2):
            placed = self._filler.refresh(scope)
            if placed is None or not placed.complete or self._filler.usable(scope, head.epoch) == 0:
                break
            changes = self._store.changes_here(scope, placed.seq, self._how.tail + 1)
            if placed.is_stale(changes):
                break
            if len(changes.entries) + len(changes.gone) <= self._how.tail:
                return placed.at, [entry.seq for entry in changes.entries]
            self._filler.ship(scope)
        raise NotCopied(f"scope {scope} has no copy of its present vectors")

    def _state_condition(self, scope: str, probe: Probe) -> SqlCondition:
        passing = () if probe.where is None else (probe.where,)
        living = Where(scope=Scope(scope), alive_at=probe.now, every=passing)
        condition = self._store.condition(living)
        if condition.exact:
            return condition
        seqs = array_of(self._store.match(living))
        return SqlCondition("records.seq = ANY(%s::bigint[])", [seqs], True)

    def list_turns(self, scope: str, sessions: Sequence[str]) -> list[list[int]]:
        rows = self._store.ask(lambda c: c.execute(_TURNS, [scope, escape(list(sessions))]).fetchall())
        return [line for (line,) in rows]

    def list_voices(self, scope: str) -> tuple[str, ...]:
        rows = self._store.ask(lambda c: c.execute(_VOICES, [scope, scope]).fetchall())
        return tuple(unescape_row(row)[0] for row in rows)

    def close(self) -> None:
        """Does nothing: it holds no resources."""


class _Search:
    """One question to one shelf; `test` is its filter."""

    def __init__(
        self,
        connection: Connection[Any],
        shelf: VectorShelf,
        probe: Probe,
        test: SqlCondition,
        settings: PgvectorSettings,
    ) -> None:
        self._connection, self._probe, self._how = connection, probe, settings
        self._shelf, self._units, self._test = shelf, units_of(shelf), test

    def find(self, late: Sequence[int]) -> Found:
        """Returns the best of both arms, and the records written since the shelf was filled."""
        depth = self._probe.depth
        statistics, records = count_words(self._connection, self._shelf, self._probe.terms)
        searched = records + len(late)
        passing = self._count_passing(searched)
        if passing <= depth:
            sql = f"SELECT seq FROM records WHERE {self._test.sql}"
            found = self._list_seqs(sql, self._test.values)
            return _answer(found, statistics=statistics, searched=searched, kept=passing)
        near = self._find_near(few=passing <= self._how.few)
        ranked = _fuse(near, self._find_matching(statistics, 2 * depth * searched // passing))
        return _answer(
            [*ranked[: max(_SHORTLIST, depth // 2)], *late],
            statistics=statistics,
            searched=searched,
            kept=passing,
            leading=ranked[:_LEADING],
        )

    def _list_seqs(self, sql: str, values: Sequence[Any]) -> list[int]:
        return [seq for (seq,) in self._connection.execute(sql, values)]

    def _count_passing(self, searched: int) -> int:
        """Returns how many records pass; of many, an estimate, because counting them would take long."""
        enough = max(self._how.few, self._probe.depth)
        explain = f"EXPLAIN (FORMAT JSON) SELECT 1 FROM records WHERE {self._test.sql}"
        ((plan,),) = self._connection.execute(explain, self._test.values)
        estimate = min(searched, int(plan[0]["Plan"]["Plan Rows"]))
        if estimate > enough:
            return estimate
        sql = f"SELECT count(*) FROM (SELECT 1 FROM records WHERE {self._test.sql} LIMIT %s) AS passing"
        return self._list_seqs(sql, [*self._test.values, enough + 1])[0]

    @property
    def _query(self) -> str:
        assert self._probe.vector is not None
        return f"[{','.join(map('%.6g'.__mod__, unit(self._probe.vector).tolist()))}]"

    def _find_near(self, *, few: bool) -> list[int]:
        """Finds the nearest records that pass, best first: along the graph, or among all if few pass."""
        if self._probe.vector is None:
            return []
        depth, near = self._probe.depth, list[int]()
        asked = [*self._test.values, self._query, depth]
        if not few:
            reach = min(max(self._how.ef_search, depth), _DEEPEST)
            self._connection.execute(_ALONG_THE_GRAPH, [str(reach)])
            near = self._list_seqs(_NEAREST.format(units=self._units, test=self._test.sql), asked)
        if len(near) < depth:  # few pass, or fewer than the planner estimated
            near = self._list_seqs(_NEAREST_OF.format(units=self._units, test=self._test.sql), asked)
        return near

    def _find_matching(self, stats: WordStatistics, looked_at: int) -> list[int]:
        """Finds the passing records that contain the rarest terms, best first; each term counts once.

        Only the best `looked_at` are tested against the filter.
        """
        words = zip(sign(self._probe.terms), stats.holding, strict=True)
        held = {word: count for word, count in words if count}
        rare = sorted(held, key=held.__getitem__)
        upto = int(np.searchsorted(np.cumsum([held[word] for word in rare]), _MATCHING_UNITS, side="right"))
        chosen = rare[: max(1, upto)]
        if not chosen:
            return []
        scale = Bm25.of_terms(np.array([held[word] for word in chosen], np.intp), stats.units, stats.terms)
        weighed = zip(chosen, scale.rarity.tolist(), strict=True)
        test_each = "CASE WHEN u.words @> '{{{:d}}}' THEN {:f}::real ELSE 0::real END"
        score = " + ".join(test_each.format(word, weight) for word, weight in weighed)
        sql = _MATCHING.format(units=self._units, test=self._test.sql, score=score)
        return self._list_seqs(sql, [chosen, looked_at, *self._test.values, self._probe.depth])


def _fuse(*arms: Iterable[int]) -> list[int]:
    """Fuses the seqs of all arms, best first, by the sum of their reciprocal ranks."""
    scores: dict[int, float] = {}
    for arm in arms:
        for rank, seq in enumerate(dict.fromkeys(arm)):
            scores[seq] = scores.get(seq, 0.0) + 1 / (_RANK + rank)
    return sorted(scores, key=lambda seq: -scores[seq])


def _answer(seqs: Sequence[int], **scores: Any) -> Found:
    return Found(seq=np.array(seqs, np.int64), **scores)
