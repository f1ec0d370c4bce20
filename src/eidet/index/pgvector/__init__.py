"""Finds candidates with PostgreSQL, by near vectors and matching words, in scopes larger than RAM.

Small scopes are still searched in RAM. See `docs/operate/pgvector.md`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ...core.errors import EidetError, Misconfigured
from ...core.scope import Scope
from ...core.settings import Settings
from ...core.where import Where
from ...models.embed import Embedder
from ...net.url import Options
from ...store import Head, Store, verbs
from ...store.sql.postgres.searchable import SearchableDatabase, SqlCondition
from ...store.sql.postgres.write import array_of, escape, unescape_row
from ...store.traits import has_ability, is_sealed
from ...text import Analyzer
from .. import Candidates, Neighbours, Probe, Scores, WordStatistics
from ..embedded import EmbeddedIndex, EmbeddedSettings
from ..embedded.arrays import judge_lowest
from ..embedded.lexicon import make_lexicon
from ..embedded.postings import Bm25
from ..embedded.queries import merge_candidates, merge_voices, report_faults
from ..embedded.vectors import unit
from ..outside import OutsideIndex
from ..scope_worker import ScopeWorker
from .copies import WIDEST, BeingCopied, Copies, Copy, NoCopy

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PgvectorIndex", "PgvectorSettings"]

log: logging.Logger = logging.getLogger("eidet.index")

_MATCHING_UNITS: Final = 5_000  # units whose words are compared: those with rare words
_SHORTLIST: Final = 200  # least number of candidates, the best of both arms together
_LEADING: Final = 40  # candidates whose neighbours in the session are candidates, too
_SAMPLE: Final = 256  # vectors from which the lowest cosine is estimated
_DEEPEST: Final = 1_000  # largest ef_search of the graph
_RANK: Final = 60  # of reciprocal ranks
REST_SECONDS: Final = 1.0  # between two tries to copy a scope, as another process may copy it
_JOIN_SECONDS: Final = 5.0

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


def _parse_settings(settings: Settings | PgvectorSettings | None) -> PgvectorSettings:
    if not isinstance(settings, Settings):
        return settings or PgvectorSettings()
    options = Options.parse(settings.index.partition("?")[2], hint="see docs/operate/pgvector.md")
    numbers = ("from_records", "tail", "few", "ef_search")
    options.check_known((*numbers, "background"))
    given: dict[str, Any] = {name: options.parse_whole(name, 0) for name in numbers if name in options.values}
    given["background"] = options.parse_flag("background", True)
    usual = PgvectorSettings(from_records=settings.sidecar_from, memory_mb=settings.index_memory_mb)
    return replace(usual, **given)


class _PgvectorFinder:
    """A `Finder` over copies of scopes: one statement finds near vectors, one matching words."""

    def __init__(self, store: SearchableDatabase, copies: Copies, settings: PgvectorSettings) -> None:
        self._store, self._copies, self._how = store, copies, settings

    def find(self, scope: str, probe: Probe) -> Scores:
        """Searches the scope's copy; raises `NoCopy` if it has none."""
        copy, late = self._copies.catch_up(scope, probe.head or self._store.head())

        def find(connection: Connection[Any]) -> Scores:
            with connection.transaction():  # the planner underrates the indexes of a copy
                connection.execute("SET LOCAL enable_seqscan = off")
                return self._find(connection, scope, probe, copy, late)

        return self._copies.ask(find)

    def _find(
        self, connection: Connection[Any], scope: str, probe: Probe, copy: Copy, late: list[int]
    ) -> Scores:
        test = self._state_condition(scope, probe)
        statistics = _count_words(connection, probe, copy)
        searched, enough = copy.records + len(late), max(self._how.few, probe.depth)
        passing = _estimate_passing(connection, test, searched)
        if passing <= enough:  # counting more would take long
            passing = _count_passing(connection, test, enough + 1)
        if passing <= probe.depth:
            rows = connection.execute(f"SELECT seq FROM records WHERE {test.sql}", test.values)
            return _answer((seq for (seq,) in rows), statistics, searched, passing)
        looked_at = 2 * probe.depth * searched // max(passing, 1)
        matching = _find_matching(connection, probe, copy, test, statistics, looked_at)
        near, lowest = self._find_near(connection, probe, copy, test, few=passing <= self._how.few)
        ranked = _fuse(near, matching)
        found = _answer([*ranked[: max(_SHORTLIST, probe.depth // 2)], *late], statistics, searched, passing)
        return replace(found, leading=ranked[:_LEADING], lowest=lowest)

    def _state_condition(self, scope: str, probe: Probe) -> SqlCondition:
        living = Where(
            scope=Scope(scope), alive_at=probe.now, every=() if probe.where is None else (probe.where,)
        )
        condition = self._store.condition(living)
        if condition.exact:
            return condition
        passing = array_of(self._store.match(living))
        return SqlCondition("records.seq = ANY(%s::bigint[])", [passing], True)

    def _find_near(
        self, connection: Connection[Any], probe: Probe, copy: Copy, test: SqlCondition, *, few: bool
    ) -> tuple[list[int], float]:
        """Finds the nearest records that pass, best first, and estimates the lowest cosine from a sample."""
        if probe.vector is None:
            return [], 0.0
        query = f"[{','.join(map('%.6g'.__mod__, unit(probe.vector).tolist()))}]"
        asked = [*test.values, query, probe.depth]
        near: list[tuple[int]] = []
        if not few:
            reach = min(max(self._how.ef_search, probe.depth), _DEEPEST)
            connection.execute(_ALONG_THE_GRAPH, [str(reach)])
            sql = _NEAREST.format(units=copy.units_table, test=test.sql)
            near = connection.execute(sql, asked).fetchall()
        if len(near) < probe.depth:  # few pass, or fewer than the planner estimated
            sql = _NEAREST_OF.format(units=copy.units_table, test=test.sql)
            near = connection.execute(sql, asked).fetchall()
        sample = connection.execute(
            f"SELECT 1 - (embedding <=> %s::halfvec) FROM {copy.units_table} "
            f"WHERE embedding IS NOT NULL LIMIT {_SAMPLE}",
            [query],
        ).fetchall()
        cosines = np.array([cosine for (cosine,) in sample], np.float32)
        return [seq for (seq,) in near], judge_lowest(cosines, copy.units)

    def list_turns(self, scope: str, sessions: Sequence[str]) -> list[list[int]]:
        rows = self._store.ask(lambda c: c.execute(_TURNS, [scope, escape(list(sessions))]).fetchall())
        return [line for (line,) in rows]

    def list_voices(self, scope: str) -> tuple[str, ...]:
        rows = self._store.ask(lambda c: c.execute(_VOICES, [scope, scope]).fetchall())
        return tuple(unescape_row(row)[0] for row in rows)

    def close(self) -> None:
        """Does nothing: it holds no resources."""


def _count_words(connection: Connection[Any], probe: Probe, copy: Copy) -> WordStatistics:
    sql = f"SELECT word, units FROM {copy.words_table} WHERE word = ANY(%s::integer[])"
    words = _sign(probe.terms)
    held = dict(connection.execute(sql, [words]).fetchall()) if words else {}
    return WordStatistics(tuple(held.get(word, 0) for word in words), copy.units, copy.terms)


def _count_passing(connection: Connection[Any], test: SqlCondition, most: int) -> int:
    sql = f"SELECT count(*) FROM (SELECT 1 FROM records WHERE {test.sql} LIMIT {most:d}) AS passing"
    row = connection.execute(sql, test.values).fetchone()
    return 0 if row is None else int(row[0])


def _estimate_passing(connection: Connection[Any], test: SqlCondition, most: int) -> int:
    """Returns the planner's estimate of how many records pass a filter, at most `most`."""
    sql = f"EXPLAIN (FORMAT JSON) SELECT 1 FROM records WHERE {test.sql}"
    row = connection.execute(sql, test.values).fetchone()
    return most if row is None else min(most, int(row[0][0]["Plan"]["Plan Rows"]))


def _find_matching(
    connection: Connection[Any],
    probe: Probe,
    copy: Copy,
    test: SqlCondition,
    stats: WordStatistics,
    looked_at: int,
) -> list[int]:
    """Returns the passing records that contain the rarest terms, best first; each term counts once.

    Only the best `looked_at` are tested against the filter.
    """
    held = {word: count for word, count in zip(_sign(probe.terms), stats.holding, strict=True) if count}
    rare = sorted(held, key=held.__getitem__)
    upto = int(np.searchsorted(np.cumsum([held[word] for word in rare]), _MATCHING_UNITS, side="right"))
    chosen = rare[: max(1, upto)]
    if not chosen:
        return []
    scale = Bm25.of_terms(np.array([held[word] for word in chosen], np.intp), stats.units, stats.terms)
    weighed = zip(chosen, scale.rarity.tolist(), strict=True)
    test_each = "CASE WHEN u.words @> '{{{:d}}}' THEN {:f}::real ELSE 0::real END"
    score = " + ".join(test_each.format(word, weight) for word, weight in weighed)
    sql = _MATCHING.format(units=copy.units_table, test=test.sql, score=score)
    rows = connection.execute(sql, [chosen, looked_at, *test.values, probe.depth])
    return [seq for (seq,) in rows.fetchall()]


def _sign(terms: Iterable[int]) -> list[int]:
    """Converts ids of terms to the server's signed integers."""
    return [term - 2**32 if term >= 2**31 else term for term in terms]


def _fuse(*arms: Iterable[int]) -> list[int]:
    """Fuses the seqs of all arms, best first, by the sum of their reciprocal ranks."""
    scores: dict[int, float] = {}
    for arm in arms:
        for rank, seq in enumerate(dict.fromkeys(arm)):
            scores[seq] = scores.get(seq, 0.0) + 1 / (_RANK + rank)
    return sorted(scores, key=lambda seq: -scores[seq])


def _answer(seqs: Iterable[int], statistics: WordStatistics, searched: int, kept: int) -> Scores:
    found = np.array(list(seqs), np.int64)
    return Scores(seq=found, statistics=statistics, searched=searched, kept=kept)


class PgvectorIndex:
    """Follows a PostgreSQL store. Any number of processes share the copies."""

    def __init__(
        self,
        store: Store,
        width: int,
        *,
        settings: Settings | PgvectorSettings | None = None,
        renewed: Callable[[], None] | None = None,
        embedder: Embedder | None = None,
        analyzer: Analyzer | None = None,
    ) -> None:
        self._how, self._store = _parse_settings(settings), _check_fits(store, width)
        self._ram = EmbeddedIndex(
            store,
            width,
            settings=EmbeddedSettings(memory_mb=self._how.memory_mb),
            renewed=renewed,
            lexicon=make_lexicon(embedder, analyzer),
            analyzer=analyzer,
        )
        self._copies = Copies(self._store, width, self._how.tail)
        finder = _PgvectorFinder(self._store, self._copies, self._how)
        self._served = OutsideIndex(store, width, finder, words_in=self._ram.queries.words_in)
        self._damaged: set[str] = set()  # scopes whose copies must be rebuilt
        self._worker = ScopeWorker("eidet-pgvector", self._try_to_copy, rest_seconds=REST_SECONDS)

    def search(self, probe: Probe) -> Candidates:
        search = partial(self._search, probe=probe)
        return merge_candidates(self._ram.cache.ask_each(probe.scope, probe.head, search))

    def _search(self, path: str, head: Head, probe: Probe) -> Candidates:
        try:
            if not self._is_in_ram(path):
                found = self._served.search_scope(path, replace(probe, head=head))
                self._ram.cache.drop(path)  # a search may have loaded it while its copy was made
                return found
        except NoCopy as lack:
            if lack.damaged:
                log.warning("scope %s: its index on the server is damaged and made anew: %s", path, lack)
                self._damaged.add(path)
            if self._is_large(path):
                if not self._how.background:
                    self._copy(path)
                    return self._served.search_scope(path, replace(probe, head=head))
                self._worker.ask(path)
        except (Misconfigured, BeingCopied) as refused:  # such as a role that may read but not extend a copy
            log.warning("scope %s is searched in RAM: %s", path, refused)
        return self._ram.queries.search(path, head, probe)

    def _is_in_ram(self, path: str) -> bool:
        """Returns whether a scope is loaded and small enough to stay in RAM."""
        shard = self._ram.cache.peek(path)
        return shard is not None and shard.records < self._how.from_records

    def _is_large(self, path: str) -> bool:
        return verbs.count(self._store, Where(scope=Scope(path))) >= max(1, self._how.from_records)

    def _copy(self, path: str) -> None:
        self._copies.extend(path, anew=path in self._damaged)
        self._damaged.discard(path)
        self._ram.cache.drop(path)

    def _try_to_copy(self, path: str) -> None:
        try:
            self._copy(path)
        except (EidetError, NoCopy) as error:
            log.warning("scope %s could not be copied for the server's index: %s", path, error)

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        return self._served.select(scope, where, now=now, order=order, limit=limit)

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        index = self._ram if self._is_in_ram(scope) else self._served
        return index.around(scope, seqs, reach, where, now=now)

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        def hear(path: str, head: Head) -> tuple[str, ...]:
            if self._is_in_ram(path):
                return self._ram.queries.list_voices(path, head)
            return self._served.list_voices(path, head)

        return merge_voices(self._ram.cache.ask_each(scope, head, hear))

    def follow(self, scope: str) -> None:
        self._ram.follow(scope)
        if not self._is_in_ram(scope) and self._copies.find(scope) is not None:
            self._worker.ask(scope)

    def rebuild(self, scope: str) -> int:
        if self._copies.find(scope) is None and not self._is_large(scope):
            return self._ram.rebuild(scope)
        self._damaged.add(scope)
        self._copy(scope)
        return verbs.count(self._store, Where(scope=Scope(scope)))

    def check(self, scope: str) -> list[str]:
        if self._copies.find(scope) is None:
            return self._ram.check(scope)
        try:
            missed, ghosts = self._copies.compare(scope)
        except NoCopy:
            return [f"scope {scope}: the index on the server is damaged; run `eidet rebuild`"]
        except (Misconfigured, BeingCopied) as refused:
            return [f"scope {scope}: whether the index on the server agrees is not known: {refused}"]
        return report_faults(scope, missed, ghosts, 0)

    def cleanse(self, scope: str) -> list[str]:
        self._ram.follow(scope)
        try:
            self._copies.cleanse(scope)
        except (Misconfigured, BeingCopied) as refused:
            return [f"scope {scope}: its index on the server may hold what is gone: {refused}"]
        return []

    def stats(self) -> dict[str, Any]:
        sql = "SELECT count(*), coalesce(sum(records), 0)::bigint FROM pgvector_scopes WHERE indexed"
        try:
            scopes, records = self._copies.ask(lambda c: c.execute(sql).fetchone()) or (0, 0)
        except NoCopy:
            scopes, records = 0, 0
        served = {"server_scopes": scopes - len(self._damaged), "server_records": records}
        return self._ram.stats() | served | {"copying": self._worker.busy}

    def close(self) -> None:
        self._worker.close(_JOIN_SECONDS)
        self._ram.close()


def _check_fits(store: Store, width: int) -> SearchableDatabase:
    if is_sealed(store):
        raise Misconfigured("a sealed memory cannot be searched by the server: use index='embedded'")
    if not has_ability(store, SearchableDatabase):
        raise Misconfigured(
            "the index pgvector follows a memory on PostgreSQL: postgresql://user@host/database"
        )
    if width > WIDEST:
        raise Misconfigured(
            f"the index pgvector takes vectors of up to {WIDEST:,} dimensions, not {width:,}: "
            "use index='embedded' or an embedder with shorter ones"
        )
    return cast("SearchableDatabase", store)
