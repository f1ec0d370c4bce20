"""The index over a vector database: words, columns and the newest vectors in RAM, other vectors there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from ...core.errors import Unavailable
from ...models.embed.quantise import find_cosines
from ...store import Head, Store
from ...text import Analyzer
from .. import Candidates, Floats, Probe, Seqs
from ..embedded.cache import ScopeCache
from ..embedded.lexicon import Lexicon
from ..embedded.queries import ShardIndex, merge_candidates
from ..embedded.vectors import unit
from ..fill import Filler, FillPlan
from . import NAMED, UNIT_BITS, Database, Point, VectorLost, VectorSettings, VectorShelf
from .recent import DatabaseScorer, RecentKeeper, RecentShard, RecentVectors, list_points

_TRIES: Final = 3  # of one search while other threads send
_SLACK: Final = 16  # matches requested beyond those wanted, as some records may be deleted
_READ: Final = 400  # candidates found by words or turns alone whose vectors are read from the store


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
            store, width, database, list_points, plan, sent=self._release, clock=clock, sleep=sleep
        )
        self._keeper = RecentKeeper(store, width, self._filler, self._how)
        cache = ScopeCache(store, self._keeper, memory_mb=memory_mb, renewed=renewed)
        super().__init__(store, cache, lexicon, analyzer)

    # Searching.

    def search(self, probe: Probe) -> Candidates:
        search = partial(self.search_scope, probe=probe)
        return merge_candidates(self.cache.ask_each(probe.scope, probe.head, search))

    def search_scope(self, scope: str, head: Head, probe: Probe) -> Candidates:
        """Searches a scope; repeats the search if vectors moved to the database meanwhile."""
        if probe.vector is None or not probe.vector.any():
            return super().search_scope(scope, head, probe)
        self._keep_up(scope, head)
        for _ in range(_TRIES):
            turn = self._turn_of(scope, head)
            found = self._search_once(scope, head, probe)
            if found.notes or self._turn_of(scope, head) == turn:
                break
        return found

    def _turn_of(self, scope: str, head: Head) -> int:
        return self.cache.ask(scope, head, lambda shard: shard.vectors.turn)

    def _search_once(self, scope: str, head: Head, probe: Probe) -> Candidates:
        """Searches once. While the database is down, searches by words alone and says so in the notes."""
        passing, held = self.cache.ask(scope, head, partial(self._list_passing, probe))
        if not len(passing):
            return super().search_scope(scope, head, probe)
        try:
            known, notes = self._ask_database(scope, head, probe, passing, held)
        except VectorLost as lost:
            self._filler.forget(scope)
            self.cache.drop(scope)
            again = Unavailable(f"{lost}; it is filled again", retry_after=1.0)
            return self._search_words(scope, head, probe, again)
        except Unavailable as away:
            return self._search_words(scope, head, probe, away)
        found, unknown = self._answer(scope, head, probe, known)
        if len(unknown):
            best = found.seq[np.argsort(-found.words, kind="stable")]
            wanted, query = best[np.isin(best, unknown)][:_READ], unit(_vector_of(probe))
            known |= _compare(self._store, scope, wanted, query)
            found, _ = self._answer(scope, head, probe, known)
        return replace(found, notes=(*found.notes, *notes))

    def _search_words(self, scope: str, head: Head, probe: Probe, why: Unavailable) -> Candidates:
        """Searches by words alone; raises the database's error if there are no words."""
        if not probe.terms:
            raise why
        found = super().search_scope(scope, head, replace(probe, vector=None))
        return replace(found, notes=(*found.notes, f"searched by words alone: {why}"))

    def _list_passing(self, probe: Probe, shard: RecentShard) -> tuple[Seqs, int]:
        """Returns the seqs in the database that pass, and the number of records there in total."""
        columns, vectors = shard.columns, shard.vectors
        keep = columns.select_passing(probe.where, probe.now, self.resolve_in(shard))
        held = np.flatnonzero(vectors.has[: vectors.base] & columns.alive[: vectors.base])
        seqs = np.unique(columns.seq[held])
        return seqs if keep is None else np.unique(columns.seq[held[keep[held]]]), len(seqs)

    def _ask_database(
        self, scope: str, head: Head, probe: Probe, passing: Seqs, held: int
    ) -> tuple[dict[int, float], list[str]]:
        """Returns the cosines of the nearest that pass, and notes on what is missing."""
        query, depth = unit(_vector_of(probe)), probe.depth
        shelf = self._filler.find_shelf(scope, head)
        known = _find_nearest(self._database, shelf, query, depth, passing, held)
        if _lacks(known, depth, passing) and shelf != self._filler.find_shelf(scope, head, anew=True):
            shelf = self._filler.find_shelf(scope, head)
            known = _find_nearest(self._database, shelf, query, depth, passing, held)
        missing = _lacks(known, depth, passing)
        lacks = f"{missing:,} vectors are missing in {self._database.retrier.name}; run `eidet rebuild`"
        return known, [lacks] if missing else []

    def _answer(
        self, scope: str, head: Head, probe: Probe, known: dict[int, float]
    ) -> tuple[Candidates, Seqs]:
        """Builds candidates from the known cosines, and returns the seqs whose cosines are unknown."""

        def search(shard: RecentShard) -> tuple[Candidates, Seqs]:
            scorer = DatabaseScorer(shard, known)
            return self.search_shard(probe, shard, scorer), scorer.unknown

        return self.cache.ask(scope, head, search)

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
        if self.cache.ask(scope, head, self._keeper.release_sent):
            self.cache.weigh(scope)

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

    def _release(self, scope: str) -> None:
        """Releases from RAM the vectors of a scope that were sent."""

        def settle(shard: RecentShard) -> bool:
            placed = self._filler.placement(scope, shard.head.epoch)
            if placed is not None and placed.seq >= shard.head.seq:
                shard.vectors.departed = 0
            return self._keeper.release_sent(shard)

        if self.cache.peek(scope) is None:
            return
        if self.cache.ask(scope, self.cache.read_head(), settle):
            self.cache.weigh(scope)

    # Maintenance.

    def rebuild(self, scope: str) -> int:
        """Fills an empty shelf. Until it is full, searches in other processes may note missing vectors."""
        before = self._filler.refresh(scope)
        self.cache.drop(scope)
        records = self.cache.ask(scope, self._store.head(), lambda shard: shard.records)
        placed = self._filler.refresh(scope)
        if before is None and placed is not None:
            return records  # the load just sent it
        if placed is not None or records > self._how.small:
            self.cache.drop(scope)  # the vectors in the old shelf are read again
            self._filler.insist(scope, anew=True)
        return records

    def check(self, scope: str) -> list[str]:
        faults = super().check(scope)
        if self._filler.refresh(scope) is None:
            return faults
        try:
            self._filler.send(scope)
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


def _vector_of(probe: Probe) -> Floats:
    assert probe.vector is not None
    return probe.vector


def _find_nearest(
    database: Database, shelf: VectorShelf, query: Floats, depth: int, passing: Seqs, held: int
) -> dict[int, float]:
    """Returns the best cosine of each passing record near the query.

    The database gets a filter as the seqs that pass. If they are too many for one request, it is first asked
    for enough matches among all records: with so many passing, usually enough of them do.
    """
    enough = depth + _SLACK if len(passing) == held else 2 * depth * held // len(passing)
    if len(passing) == held or (len(passing) > NAMED and enough <= database.most):
        known = _search_among(database, shelf, query, depth, passing, enough)
        if len(known) >= depth or len(passing) == held:
            return known
    pages = (passing[start : start + NAMED].tolist() for start in range(0, len(passing), NAMED))
    found = (_search_among(database, shelf, query, depth, passing, depth + _SLACK, page) for page in pages)
    return {seq: cosine for known in found for seq, cosine in known.items()}


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
        known: dict[int, float] = {}
        for match in found:  # best first
            if _holds(passing, match.key >> UNIT_BITS):
                known.setdefault(match.key >> UNIT_BITS, match.score)
        if len(known) >= depth or len(found) < limit or limit >= database.most:
            return known
        limit *= 2


def _compare(store: Store, scope: str, seqs: Seqs, query: Floats) -> dict[int, float]:
    """Computes the cosines of records from the vectors in the store."""
    records = [record for record in store.read(scope, seqs.tolist()) if record is not None]
    return dict(zip([record.seq for record in records], find_cosines(records, query), strict=True))


def _holds(rising: Seqs, seq: int) -> bool:
    at = int(np.searchsorted(rising, seq))
    return at < len(rising) and int(rising[at]) == seq


def _lacks(known: dict[int, float], depth: int, passing: Seqs) -> int:
    """Returns how many matches are missing; 0 for the few that an approximate search may lose."""
    wanted = min(depth, len(passing))
    return wanted - len(known) if wanted - len(known) > wanted // 20 else 0
