"""The index over a vector database: words, columns and the newest vectors in RAM, other vectors there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from ...core.errors import Unavailable
from ...core.scope import Scope
from ...core.where import Where
from ...models.embed.quantise import find_cosines
from ...store import Head, Store, verbs
from ...text import Analyzer
from .. import Candidates, Floats, Probe, Seqs
from ..embedded.arrays import distinct, run_starts
from ..embedded.cache import ScopeCache
from ..embedded.filters import among
from ..embedded.lexicon import Lexicon
from ..embedded.queries import ShardIndex, merge_candidates
from ..embedded.shard import Shard
from ..embedded.vectors import unit
from ..fill import Filler, FillPlan
from . import NAMED, UNIT_BITS, Database, Point, VectorLost, VectorSettings, VectorShelf
from .recent import KnownScores, RecentShard, RecentVectors, list_points

_SLACK: Final = 16  # matches requested beyond those wanted, as some records may be deleted
_READ: Final = 400  # candidates found by words or turns alone whose vectors are read from the store


class _Seen(NamedTuple):
    """What a shard knows of the records that pass a filter.

    recent   the cosines of those that are not in the database yet, by seq
    passing  the seqs of those in the database, and `held` the number of all records there
    """

    recent: dict[int, float]
    passing: Seqs
    held: int


class VectorIndex(ShardIndex[RecentVectors]):
    """Follows the store as the embedded index does, and holds the same in RAM except for most vectors.

    A large scope is sent to the database in the order of seq. Rows not sent yet are searched in RAM, so
    that a search finds everything stored before it.
    """

    def __init__(
        self,
        store: Store,
        width: int,
        database: Database,
        *,
        settings: VectorSettings | None = None,
        memory_mb: int = 1024,
        renewed: Callable[[], None] | None = None,
        lexicon: Lexicon | None = None,
        analyzer: Analyzer | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._how = settings or VectorSettings()
        self._database, self._sleep = database, sleep
        plan = FillPlan(
            name=database.retrier.name,
            prefix=self._how.prefix,
            form=UNIT_BITS,
            batch=self._how.batch,
            lease_seconds=self._how.lease_seconds,
            patience_seconds=database.retrier.policy.deadline_seconds,
        )
        self._filler: Filler[Point] = Filler(
            store, width, database, list_points, plan, clock=clock, sleep=sleep
        )
        cache = ScopeCache(
            store,
            lambda scope: Shard(scope, RecentVectors(width)),
            memory_mb=memory_mb,
            applied=self._release_sent,
            renewed=renewed,
        )
        super().__init__(store, cache, lexicon, analyzer)

    # Searching.

    def search(self, probe: Probe) -> Candidates:
        search = partial(self.search_scope, probe=probe)
        return merge_candidates(self.cache.ask_each(probe.scope, probe.head, search))

    def search_scope(self, scope: str, head: Head, probe: Probe) -> Candidates:
        """Searches a scope. While the database is down, searches by words alone and says so in the notes."""
        if probe.vector is None or not probe.vector.any():
            return super().search_scope(scope, head, replace(probe, vector=None))
        self._keep_up(scope, head)
        query = unit(probe.vector)
        seen = self.cache.ask(scope, head, partial(self._look_at, probe, query))
        if isinstance(seen, Candidates):
            return seen
        try:
            near, notes = self._ask_database(scope, head, probe.depth, query, seen)
        except VectorLost as lost:
            self._filler.forget(scope)
            self.cache.drop(scope)
            again = Unavailable(f"{lost}; it is filled again", retry_after=1.0)
            return self._search_words(scope, head, probe, again)
        except Unavailable as away:
            return self._search_words(scope, head, probe, away)

        def search(shard: RecentShard) -> tuple[Candidates, Seqs]:
            scores = KnownScores(shard, seen.recent | near, low=min([0.0, *near.values()]))
            return self.search_shard(probe, shard, scores), scores.unknown

        found, unknown = self.cache.ask(scope, head, search)
        dense = _fill_in(self._store, scope, found, unknown, query)
        return replace(found, dense=dense, notes=(*found.notes, *notes))

    def _search_words(self, scope: str, head: Head, probe: Probe, why: Unavailable) -> Candidates:
        """Searches by words alone; raises the database's error if there are no words."""
        if not probe.terms:
            raise why
        found = super().search_scope(scope, head, replace(probe, vector=None))
        return replace(found, notes=(*found.notes, f"searched by words alone: {why}"))

    def _look_at(self, probe: Probe, query: Floats, shard: RecentShard) -> Candidates | _Seen:
        """Returns what the shard knows of the records that pass; if it has all vectors, their candidates."""
        columns, vectors = shard.columns, shard.vectors
        if not vectors.base:
            return self.search_shard(probe, shard)
        keep = columns.select_passing(probe.where, probe.now, self.resolve_in(shard))
        rows = np.flatnonzero(vectors.has if keep is None else vectors.has & keep)
        base = int(np.searchsorted(rows, vectors.base))
        sent = slice(0, vectors.base)
        held = distinct(columns.seq[sent][vectors.has[sent] & columns.alive[sent]])
        recent = rows[base:]
        cosines = vectors.score(query, recent, probe.depth)
        seqs, starts = columns.seq[recent], run_starts(columns.seq[recent])
        best = np.maximum.reduceat(cosines, starts) if len(recent) else cosines
        known = dict(zip(seqs[starts].tolist(), best.tolist(), strict=True))
        return _Seen(known, distinct(columns.seq[rows[:base]]), len(held))

    def _ask_database(
        self, scope: str, head: Head, depth: int, query: Floats, seen: _Seen
    ) -> tuple[dict[int, float], list[str]]:
        """Returns the cosines of the nearest that pass, and notes on what is missing."""
        if not len(seen.passing):
            return {}, []
        shelf = self._filler.find_shelf(scope, head)
        known = _find_nearest(self._database, shelf, query, depth, seen)
        if _lacks(known, depth, seen) and shelf != self._filler.find_shelf(scope, head, anew=True):
            shelf = self._filler.find_shelf(scope, head)
            known = _find_nearest(self._database, shelf, query, depth, seen)
        missing = _lacks(known, depth, seen)
        lacks = f"{missing:,} vectors are missing in {self._database.retrier.name}; run `eidet rebuild`"
        return known, [lacks] if missing else []

    # Following.

    def follow(self, scope: str) -> None:
        """Removes deleted records from the database even if the scope is not loaded in this process."""
        if self.cache.peek(scope) is not None:
            self._keep_up(scope, self.cache.read_head())
        elif self._filler.refresh(scope) is not None:
            self._filler.try_to_send(scope)

    def cleanse(self, scope: str) -> list[str]:
        super().cleanse(scope)
        return self._filler.cleanse(scope)

    def _keep_up(self, scope: str, head: Head) -> None:
        """Updates the database if enough rows wait, or deleted records are still in it."""
        due = self.cache.ask(scope, head, self._is_due)
        if due and self._how.background:
            self._filler.ask(scope)
        elif due:
            self._filler.try_to_send(scope)
        if self.cache.ask(scope, head, self._release_sent):
            self.cache.weigh(scope)

    def _release_sent(self, shard: RecentShard) -> bool:
        """Releases the vectors that the database has; returns whether there were any."""
        before, placed = shard.vectors.base, self._filler.placement(shard.scope, shard.head.epoch)
        if placed is not None and placed.seq >= shard.head.seq:
            shard.vectors.departed = 0
        sent = self._filler.usable(shard.scope, shard.head.epoch)
        shard.vectors.release(int(np.searchsorted(shard.columns.seq, sent, side="right")))
        return shard.vectors.base > before

    def _is_due(self, shard: RecentShard) -> bool:
        vectors, head = shard.vectors, shard.head
        placed = self._filler.placement(shard.scope, head.epoch)
        if placed is None and shard.records <= self._how.small:
            return False
        sent = 0 if placed is None or placed.epoch != head.epoch else placed.seq
        first, vectors.compared = not vectors.compared, True
        waiting = shard.count - int(np.searchsorted(shard.columns.seq, sent, side="right"))
        wanted = waiting >= self._how.ship_rows or vectors.departed > 0 or (first and sent > 0)
        return sent < head.seq and wanted

    # Maintenance.

    def rebuild(self, scope: str) -> int:
        """Fills an empty shelf. Until it is full, searches in other processes may note missing vectors."""
        self.cache.drop(scope)  # the vectors in the old shelf are read again
        records = verbs.count(self._store, Where(scope=Scope(scope)))
        if self._filler.refresh(scope) is not None or records > self._how.small:
            self._filler.insist(scope, anew=True)
        return records

    def check(self, scope: str) -> list[str]:
        faults = super().check(scope)
        if self._filler.refresh(scope) is None:
            return faults
        try:
            self._filler.ship(scope)
            return faults + self._compare_counts(scope)
        except VectorLost as lost:
            return [*faults, f"scope {scope}: {lost}; run `eidet rebuild`"]
        except Unavailable as away:
            return [
                *faults,
                f"scope {scope}: whether {self._database.retrier.name} agrees is not known: {away}",
            ]

    def _compare_counts(self, scope: str) -> list[str]:
        """Compares the numbers of points; waits for a database that settles late."""
        head, name = self._store.head(), self._database.retrier.name
        placed = self._filler.placement(scope, head.epoch)
        if placed is None or placed.epoch != head.epoch:
            return []

        def count_sent(shard: RecentShard) -> int:
            columns = shard.columns
            return int((shard.vectors.has & columns.alive & (columns.seq <= placed.seq)).sum())

        sent, left = self.cache.ask(scope, head, count_sent), self._database.settle_seconds
        while (count := self._database.count(placed.at)) != sent and left > 0:
            self._sleep(min(left, 1.0))
            left -= 1.0
        if count == sent:
            return []
        fault = f"misses {sent - count:,}" if count < sent else f"still holds more than {count - sent:,}"
        return [f"scope {scope}: {name} {fault} of {sent:,} vectors; run `eidet rebuild`"]

    def stats(self) -> dict[str, Any]:
        here = there = 0
        for shard in self.cache.shards:
            recent, sent = shard.vectors.count_living(shard.columns.alive)
            here, there = here + recent, there + sent
        return {
            **super().stats(),
            "database": self._database.retrier.health(),
            "rows_in_ram": here,
            "rows_in_database": there,
        }

    def close(self) -> None:
        """Sends pending changes if the database is up, to leave less to the next process."""
        self._filler.close()
        if self._database.retrier.health()["state"] == "up":
            for scope in self.cache.scopes:
                if self._filler.refresh(scope) is not None:
                    self._filler.try_to_send(scope)
        self.cache.drop_all()
        self._database.close()


def _find_nearest(
    database: Database, shelf: VectorShelf, query: Floats, depth: int, seen: _Seen
) -> dict[int, float]:
    """Returns the best cosine of each passing record near the query.

    The database gets a filter as the seqs that pass. If they are too many for one request, it is first asked
    for enough matches among all records: with so many passing, usually enough of them do.
    """
    passing, held = seen.passing, seen.held
    search = partial(_search_among, database, shelf, query, depth, passing)
    enough = depth + _SLACK if len(passing) == held else 2 * depth * held // len(passing)
    if len(passing) == held or (len(passing) > NAMED and enough <= database.most):
        known = search(enough)
        if len(known) >= depth or len(passing) == held:
            return known
    pages = (passing[start : start + NAMED].tolist() for start in range(0, len(passing), NAMED))
    return {seq: cosine for page in pages for seq, cosine in search(depth + _SLACK, page).items()}


def _search_among(
    database: Database,
    shelf: VectorShelf,
    query: Floats,
    depth: int,
    passing: Seqs,
    limit: int,
    seqs: Sequence[int] | None = None,
) -> dict[int, float]:
    """Asks for more matches until enough records pass: several may be units of one record, or be deleted."""
    while True:
        found = database.near(shelf, query, min(limit, database.most), seqs=seqs)
        seqs_found = np.array([match.key >> UNIT_BITS for match in found], np.int64)
        known: dict[int, float] = {}
        for at in np.flatnonzero(among(seqs_found, passing)).tolist():  # best first
            known.setdefault(found[at].key >> UNIT_BITS, found[at].score)
        if len(known) >= depth or len(found) < limit or limit >= database.most:
            return known
        limit *= 2


def _fill_in(store: Store, scope: str, found: Candidates, unknown: Seqs, query: Floats) -> Floats:
    """Returns the cosines of candidates; those unknown of the best by words come from the store's vectors.

    Those that stay unknown score no more than any that was read.
    """
    if not len(unknown):
        return found.dense
    lacking = np.isin(found.seq, unknown)
    wanted = found.seq[lacking][np.argsort(-found.words[lacking], kind="stable")][:_READ].tolist()
    records = [record for record in store.read(scope, wanted) if record is not None]
    cosines, dense = find_cosines(records, query), found.dense.copy()
    dense[lacking] = min([*dense[lacking].tolist(), *cosines])
    dense[np.searchsorted(found.seq, [record.seq for record in records])] = cosines
    return dense


def _lacks(known: dict[int, float], depth: int, seen: _Seen) -> int:
    """Returns how many matches are missing; 0 for the few that an approximate search may lose."""
    wanted = min(depth, len(seen.passing))
    return wanted - len(known) if wanted - len(known) > wanted // 20 else 0
