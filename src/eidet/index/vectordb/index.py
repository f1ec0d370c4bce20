"""The index over a vector database: words and columns in RAM, vectors in the database but for the newest."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ...core.errors import EidetError, Unavailable
from ...core.scope import Scope
from ...core.where import Where
from ...store import Changes, Head, Store, verbs
from ...text import Analyzer
from .. import Candidates, ChangeListener, Neighbours, Probe, Rows
from ..embedded.cache import ScopeCache
from ..embedded.lexicon import Lexicon
from ..embedded.merge import merge_candidates
from ..embedded.queries import ShardQueries, merge_voices
from ..embedded.shard import Shard
from ..scope_worker import ScopeWorker
from . import Database, Lost, VectorSettings
from .fill import Shipper
from .query import Asker
from .recent import RecentShard, RecentVectors, keys_of
from .search import DatabaseSearch
from .verify import count_points, count_wrong

log: logging.Logger = logging.getLogger("eidet.index")

PAUSE_SECONDS: Final = 0.05
STOP_SECONDS: Final = 30.0  # that a scope may take to be sent when the index is closed


class RecentKeeper:
    """Shards without the vectors that the database has. Nothing of them is kept in files."""

    def __init__(self, store: Store, width: int, ships: Shipper, settings: VectorSettings) -> None:
        self._store, self._width = store, width
        self._ships, self._settings = ships, settings

    def create(self, scope: str) -> RecentShard:
        return Shard(scope, RecentVectors(self._width))

    def load(self, shard: RecentShard, head: Head) -> RecentShard:
        """Sends a large scope that the database lacks before it is loaded: it need not fit into RAM."""
        placed = self._ships.placement(shard.scope, head.epoch)
        most = self._settings.small + self._settings.tail_rows
        count = verbs.count(self._store, Where(scope=Scope(shard.scope)))
        if count > most and (placed is None or placed.epoch != head.epoch):
            self._ships.try_to_ship(shard.scope)
        return shard

    def apply(self, shard: RecentShard, changes: Changes) -> None:
        shard.apply(changes)
        self.release_sent(shard)

    def release_sent(self, shard: RecentShard) -> bool:
        """Lets go of the vectors that the database has; whether there were any."""
        before = shard.vectors.base
        sent = self._ships.usable(shard.scope, shard.head.epoch)
        shard.vectors.release(int(np.searchsorted(shard.columns.seq, sent, side="right")))
        return shard.vectors.base > before

    def is_worth_saving(self, rows: int) -> bool:
        del rows
        return False

    def save(self, shard: RecentShard) -> None:
        """Never called: what the database has need not be kept, and the rest is short."""


class VectorIndex:
    """Follows the store as the embedded index does, and holds the same of a scope but for most vectors.

    A large scope is sent to the database in the order of seq. What is not there yet is searched in
    RAM, so that a search finds all that was stored before it.
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
        self._store, self._database, self._sleep = store, database, sleep
        self._ships = Shipper(store, width, database, self._how, clock)
        self._keeper = RecentKeeper(store, width, self._ships, self._how)
        self.cache: ScopeCache[RecentVectors] = ScopeCache(
            store, self._keeper, memory_mb=memory_mb, renewed=renewed
        )
        self.queries: ShardQueries[RecentVectors] = ShardQueries(store, self.cache, lexicon, analyzer)
        asker = Asker(database, self._how.whole)
        self._search = DatabaseSearch(self.cache, self.queries, self._ships, asker)
        self._worker = ScopeWorker("eidet-vectordb", self._try_to_send)

    def share_changes(self, listener: ChangeListener) -> None:
        """See `SharesChanges`."""
        self.cache.share_changes(listener)

    # Searching.

    def search(self, probe: Probe) -> Candidates:
        search = partial(self._search_scope, probe=probe)
        return merge_candidates(self.cache.ask_each(probe.scope, probe.head, search))

    def _search_scope(self, scope: str, head: Head, probe: Probe) -> Candidates:
        if probe.vector is None:
            return self.queries.search(scope, head, probe)
        self._keep_up(scope, head)
        return self._search.search(scope, head, probe)

    def select(
        self, scope: Scope, where: Where | None, *, now: float, order: str, limit: int
    ) -> list[tuple[str, int]]:
        return self.queries.select(scope, where, now=now, order=order, limit=limit)

    def around(
        self, scope: str, seqs: Sequence[int], reach: int, where: Where | None, *, now: float
    ) -> dict[int, Neighbours]:
        return self.queries.around(scope, seqs, reach, where, now=now)

    def voices(self, scope: Scope, head: Head | None = None) -> tuple[str, ...]:
        return merge_voices(self.cache.ask_each(scope, head, self.queries.list_voices))

    # Following.

    def follow(self, scope: str) -> None:
        """What went away leaves the database also where the scope was not asked for here."""
        if self.cache.peek(scope) is not None:
            self._keep_up(scope, self.cache.read_head())
        elif self._ships.refresh(scope) is not None:
            self._try_to_send(scope)

    def cleanse(self, scope: str) -> list[str]:
        if self._ships.refresh(scope) is None:
            self.queries.follow(scope)
            return []
        try:
            if self._insist(partial(self._send, scope)):
                return []
            error = "another process is filling it"
        except EidetError as failed:
            error = str(failed)
        return [f"scope {scope}: {self._database.retrier.name} may hold vectors of what is gone: {error}"]

    def _keep_up(self, scope: str, head: Head) -> None:
        """Lets the database be caught up where enough waits, or something that is gone is still there."""
        due = self.cache.ask(scope, head, self._is_due)
        if due and self._how.background:
            self._worker.ask(scope)
        elif due:
            self._try_to_send(scope)
        if self.cache.ask(scope, head, self._keeper.release_sent):
            self.cache.weigh(scope)

    def _is_due(self, shard: RecentShard) -> bool:
        vectors, head = shard.vectors, shard.head
        placed = self._ships.placement(shard.scope, head.epoch)
        if placed is None and shard.records <= self._how.small:
            return False
        sent = 0 if placed is None or placed.epoch != head.epoch else placed.seq
        first, vectors.compared = not vectors.compared, True
        waiting = shard.count - int(np.searchsorted(shard.columns.seq, sent, side="right"))
        wanted = waiting >= self._how.ship_rows or vectors.departed > 0 or (first and sent > 0)
        return sent < head.seq and wanted

    def _send(self, scope: str) -> bool:
        """Whether it was done here and now."""
        sent = self._ships.ship(scope)
        if sent and self.cache.peek(scope) is not None:
            self._settle(scope)
        return sent

    def _try_to_send(self, scope: str) -> None:
        try:
            self._send(scope)
        except EidetError as error:
            log.warning("scope %s was not sent to %s: %s", scope, self._database.retrier.name, error)

    def _settle(self, scope: str) -> None:
        """After a scope was sent: what the database has leaves RAM."""

        def settle(shard: RecentShard) -> bool:
            placed = self._ships.placement(scope, shard.head.epoch)
            if placed is not None and placed.seq >= shard.head.seq:
                shard.vectors.departed = 0
            return self._keeper.release_sent(shard)

        if self.cache.ask(scope, self.cache.read_head(), settle):
            self.cache.weigh(scope)

    # Care.

    def rebuild(self, scope: str) -> int:
        before = self._ships.refresh(scope)
        self.cache.drop(scope)
        records = self.cache.ask(scope, self._store.head(), lambda shard: shard.records)
        placed = self._ships.refresh(scope)
        if before is None and placed is not None:
            return records  # it was sent before it was loaded, just now
        if placed is not None or records > self._how.small:
            if not self._insist(partial(self._ships.rebuild, scope)):
                raise Unavailable(
                    f"another process fills {self._database.retrier.name} with scope {scope}; "
                    "try again later",
                    retry_after=self._how.lease_seconds,
                )
            self._settle(scope)
        return records

    def _insist(self, job: Callable[[], bool]) -> bool:
        """Waits for whoever is sending, for as long as for an answer."""
        for _ in range(max(1, int(self._database.retrier.policy.deadline_seconds / PAUSE_SECONDS))):
            if job():
                return True
            self._sleep(PAUSE_SECONDS)
        return False

    def check(self, scope: str) -> list[str]:
        faults = self.queries.check(scope)
        if self._ships.refresh(scope) is None:
            return faults
        try:
            self._send(scope)
            return faults + self._compare(scope)
        except Lost as lost:
            return [*faults, f"scope {scope}: {lost}; run `eidet rebuild`"]
        except Unavailable as away:
            return [
                *faults,
                f"scope {scope}: whether {self._database.retrier.name} agrees is not known: {away}",
            ]

    def _compare(self, scope: str) -> list[str]:
        """Counts, and the vectors of a sample."""
        head = self._store.head()
        placed = self._ships.placement(scope, head.epoch)
        if placed is None or placed.epoch != head.epoch:
            return []
        sent, keys = self.cache.ask(scope, head, partial(self._sample_keys, placed.seq))
        name, count = self._database.retrier.name, count_points(self._database, placed.at, sent, self._sleep)
        if count < sent:
            return [f"scope {scope}: {name} misses {sent - count:,} of {sent:,} vectors; run `eidet rebuild`"]
        if count > sent:
            more = f"still holds more than {count - sent:,} of {sent:,} vectors"
            return [f"scope {scope}: {name} {more}; run `eidet rebuild`"]
        wrong = count_wrong(self._database, placed.at, self._store, scope, keys)
        if not wrong:
            return []
        return [f"scope {scope}: {wrong:,} of {len(keys):,} vectors in {name} differ; run `eidet rebuild`"]

    def _sample_keys(self, seq: int, shard: RecentShard) -> tuple[int, list[int]]:
        """How many units were sent up to a seq and live, and the keys of some."""
        columns = shard.columns
        rows: Rows = np.flatnonzero(shard.vectors.has & columns.alive & (columns.seq <= seq))
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), self._how.sample)).astype(int)]
        return len(rows), np.unique(keys_of(columns, some)).tolist()

    def stats(self) -> dict[str, Any]:
        here = there = 0
        for shard in self.cache.shards:
            recent, sent = shard.vectors.count_living(shard.columns.alive)
            here, there = here + recent, there + sent
        return {
            **self.queries.stats(),
            "database": self._database.retrier.health().as_dict(),
            "rows_in_ram": here,
            "rows_in_database": there,
        }

    def close(self) -> None:
        """What waits is sent if the database is up: the next process then has less to do."""
        self._worker.close(STOP_SECONDS)
        if self._database.retrier.health().state == "up":
            for scope in self.cache.scopes:
                if self._ships.refresh(scope) is not None:
                    self._try_to_send(scope)
        self.cache.drop_all()
        self._database.close()
