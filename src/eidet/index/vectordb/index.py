"""The index over a vector database: words and columns in RAM, vectors in the database but for the newest."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from ...core.errors import EidetError, Unavailable
from ...core.scope import Scope
from ...core.where import Where
from ...store import Head, Store, verbs
from ...text import Analyzer
from .. import Found, Probe, Rows
from ..embedded import BATCH, EmbeddedIndex, EmbeddedSettings, _apply, merged
from ..embedded.lexicon import Lexicon
from ..embedded.shard import Shard
from . import Database, Lost, Shelf, VectorSettings
from .fill import Shipper
from .pushdown import pushed
from .query import Asker, Question, joined, query_of
from .recent import NOTHING_KNOWN, Chosen, Known, LeanShard
from .verify import counted, differing
from .worker import Worker

log = logging.getLogger("eidet.index")

PAUSE_SECONDS: Final = 0.05
TRIES: Final = 3  # of one search while others send


class VectorIndex(EmbeddedIndex):
    """Follows the store as the embedded index does, and holds the same of a scope but for most vectors.

    A large scope is sent to the database in the order of seq. What is not there yet is searched in
    RAM, so that a search finds all that was stored before it. What the database finds is checked
    against the columns in RAM: its filters only spare it work, and a point that should be gone harms
    nothing. While the database cannot be asked, words alone answer, and `Found.notes` says so.
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
        super().__init__(
            store,
            width,
            settings=EmbeddedSettings(memory_mb=memory_mb),
            renewed=renewed,
            lexicon=lexicon,
            analyzer=analyzer,
        )
        self._how = settings or VectorSettings()
        self._database = database
        self._clock, self._sleep = clock, sleep
        self._ships = Shipper(store, width, database, self._how, clock)
        self._asker = Asker(database, self._how.whole)
        self._worker = Worker(self._send)

    # Searching.

    def search(self, probe: Probe) -> Found:
        head = self._head(probe.head)
        if probe.vector is None:
            return super().search(probe)
        parts = [self._search(path, head, probe) for path in self._scopes(probe.scope)]
        return parts[0] if len(parts) == 1 else merged(parts)

    def _search(self, scope: str, head: Head, probe: Probe) -> Found:
        """Asked again where vectors have left for the database since it was asked for those it had."""
        self._keep_up(scope, head)
        for _ in range(TRIES):
            turn = self._ask(scope, head, self._turn)
            found = self._searched_once(scope, head, probe)
            if found.notes or self._ask(scope, head, self._turn) == turn:
                break
        return found

    def _turn(self, shard: Shard) -> int:
        return self._lean(shard).turn

    def _searched_once(self, scope: str, head: Head, probe: Probe) -> Found:
        question = self._ask(scope, head, partial(self._question, probe))
        if question is None or not query_of(probe).any():
            return self._ask(scope, head, partial(self._answer, probe, NOTHING_KNOWN))[0]
        try:
            return self._consulted(scope, head, probe, question)
        except Lost as lost:
            self._ships.forget(scope)
            self._drop(scope)
            again = Unavailable(f"{lost}; it is filled again", retry_after=1.0)
            return self._by_words(scope, head, probe, again)
        except Unavailable as away:
            return self._by_words(scope, head, probe, away)

    def _by_words(self, scope: str, head: Head, probe: Probe, why: Unavailable) -> Found:
        """Without the database; where there are no words to go by, its error is the answer."""
        if not probe.terms:
            raise why
        found = self._ask(scope, head, partial(self._searched, replace(probe, vector=None)))
        found.notes = (*found.notes, f"searched by words alone: {why}")
        return found

    def _consulted(self, scope: str, head: Head, probe: Probe, question: Question) -> Found:
        """One round for the best, and one for the candidates that only their words or turns made."""
        known, missing = self._known(scope, head, probe, question)
        found, lacking = self._ask(scope, head, partial(self._answer, probe, known))
        if lacking.rows and (not missing or question.all.rows > self._asker.all_of(probe)):
            told = self._asker.among(self._shelf(scope, head), query_of(probe), lacking)
            known = joined(known, told)
            found, _ = self._ask(scope, head, partial(self._answer, probe, known))
        if missing:
            found.notes = (
                *found.notes,
                f"{missing:,} vectors are missing in {self._database.line.name}; run `eidet rebuild`",
            )
        return found

    def _known(self, scope: str, head: Head, probe: Probe, question: Question) -> tuple[Known, int]:
        """What the database tells, and how many vectors it should have but has not."""
        told = self._asker.told(self._shelf(scope, head), probe, question)
        if (missing := self._asker.missing(told[0], question, probe)) and self._moved(scope, head):
            told = self._asker.told(self._shelf(scope, head), probe, question)
            missing = self._asker.missing(told[0], question, probe)
        return Known.of(*told), missing

    def _moved(self, scope: str, head: Head) -> bool:
        """Whether another process has changed over to another shelf."""
        before = self._ships.placement(scope, head.epoch)
        after = self._ships.refresh(scope)
        return before is not None and after is not None and before.shelf != after.shelf

    def _shelf(self, scope: str, head: Head) -> Shelf:
        found = self._ships.placement(scope, head.epoch)
        if found is None:
            raise Lost(f"scope {scope} is not in {self._database.line.name}")
        return found.at

    def _question(self, probe: Probe, shard: Shard) -> Question | None:
        """What must be asked of the database; nothing where no vector that passes is there."""
        lean = self._lean(shard)
        keep = lean.passing(probe.where, probe.now, self._resolver(lean))
        held = lean.elsewhere(None)
        held = held[lean.alive[held]]
        rows = held if keep is None else held[keep[held]]
        if not len(rows):
            return None
        return Question(
            all=Chosen.of(lean.seq[rows]),
            held=len(held),
            pushed=pushed(probe.where, lean.scope, probe.now),
        )

    def _answer(self, probe: Probe, known: Known, shard: Shard) -> tuple[Found, Chosen]:
        """Candidates with the scores that are known, and those whose scores are not."""
        lean = self._lean(shard)
        lean.known = known
        try:
            return self._searched(probe, lean), lean.lacking
        finally:
            lean.known = NOTHING_KNOWN

    # Following.

    def follow(self, scope: str) -> None:
        """What went away leaves the database also where the scope was not asked for here."""
        if scope in self._slots:
            self._keep_up(scope, self._head())
        elif self._ships.refresh(scope) is not None:
            self._try_to_send(scope)

    def cleanse(self, scope: str) -> list[str]:
        if self._ships.refresh(scope) is None:
            return super().cleanse(scope)
        try:
            if self._insisted(partial(self._send, scope)):
                return []
            error = "another process is filling it"
        except EidetError as failed:
            error = str(failed)
        return [f"scope {scope}: {self._database.line.name} may hold vectors of what is gone: {error}"]

    def _keep_up(self, scope: str, head: Head) -> None:
        """Lets the database be caught up where enough waits, or something that is gone is still there."""
        due = self._ask(scope, head, self._due)
        if due and self._how.background:
            self._worker.ask(scope)
        elif due:
            self._try_to_send(scope)
        if self._ask(scope, head, self._released):
            self._weigh(self._slot(scope))

    def _due(self, shard: Shard) -> bool:
        lean = self._lean(shard)
        placed = self._ships.placement(lean.scope, lean.head.epoch)
        if placed is None and lean.records <= self._how.small:
            return False
        sent = 0 if placed is None or placed.epoch != lean.head.epoch else placed.seq
        behind, first, lean.loaded = sent < lean.head.seq, not lean.loaded, True
        waiting = lean.count - int(np.searchsorted(lean.seq, sent, side="right"))
        return behind and (waiting >= self._how.ship_rows or lean.departed > 0 or (first and sent > 0))

    def _released(self, shard: Shard) -> bool:
        """Lets go of the vectors that the database has; whether there were any."""
        lean = self._lean(shard)
        before = lean.base
        lean.release(self._ships.usable(lean.scope, lean.head.epoch))
        return lean.base > before

    def _send(self, scope: str) -> bool:
        """Whether it was done here and now."""
        sent = self._ships.ship(scope)
        if sent and scope in self._slots and self._ask(scope, self._head(), self._settled):
            self._weigh(self._slot(scope))
        return sent

    def _settled(self, shard: Shard) -> bool:
        lean = self._lean(shard)
        placed = self._ships.placement(lean.scope, lean.head.epoch)
        if placed is not None and placed.seq >= lean.head.seq:
            lean.departed = 0
        return self._released(lean)

    def _try_to_send(self, scope: str) -> None:
        try:
            self._send(scope)
        except EidetError as error:
            log.warning("scope %s was not sent to %s: %s", scope, self._database.line.name, error)

    def _slot(self, scope: str) -> Any:
        slot = super()._slot(scope)
        with slot.lock:
            if not isinstance(slot.shard, LeanShard):
                slot.shard = LeanShard(scope, self._width)
        return slot

    def _catch_up(self, slot: Any, head: Head) -> None:
        shard: LeanShard = slot.shard
        if shard.head.seq == 0:
            self._send_first(shard.scope, head)
        away = shard.head.seq
        while shard.head.seq < head.seq or shard.head.epoch < head.epoch:
            changes = self._store.changes(shard.scope, shard.head.seq, BATCH)
            stale = changes.head.epoch != shard.head.epoch and shard.head.seq > 0
            if stale or 0 < away < changes.pruned:
                shard, away = LeanShard(shard.scope, self._width), 0
            else:
                away = 0
                _apply(shard, changes)
                shard.release(self._ships.usable(shard.scope, changes.head.epoch))
        slot.shard = shard
        self._weigh(slot)

    def _send_first(self, scope: str, head: Head) -> None:
        """A large scope that the database lacks is sent before it is loaded: it need not fit into RAM."""
        placed = self._ships.placement(scope, head.epoch)
        count = verbs.count(self._store, Where(scope=Scope(scope)))
        if count > self._how.small + self._how.tail_rows and (placed is None or placed.epoch != head.epoch):
            try:
                self._ships.ship(scope)
            except EidetError as error:
                log.warning("scope %s was not sent to %s: %s", scope, self._database.line.name, error)

    # Care.

    def rebuild(self, scope: str) -> int:
        before = self._ships.refresh(scope)
        records = super().rebuild(scope)
        placed = self._ships.refresh(scope)
        if before is None and placed is not None:
            return records  # it was sent before it was loaded, just now
        if placed is not None or records > self._how.small:
            if not self._insisted(partial(self._ships.rebuild, scope)):
                raise Unavailable(
                    f"another process fills {self._database.line.name} with scope {scope}; try again later",
                    retry_after=self._how.lease_seconds,
                )
            if self._ask(scope, self._head(), self._settled):
                self._weigh(self._slot(scope))
        return records

    def _insisted(self, job: Callable[[], bool]) -> bool:
        """Waits for whoever is sending, for as long as for an answer."""
        for _ in range(max(1, int(self._database.line.patience.deadline_seconds / PAUSE_SECONDS))):
            if job():
                return True
            self._sleep(PAUSE_SECONDS)
        return False

    def check(self, scope: str) -> list[str]:
        told = super().check(scope)
        if self._ships.refresh(scope) is None:
            return told
        try:
            self._send(scope)
            return told + self._compared(scope)
        except Lost as lost:
            return [*told, f"scope {scope}: {lost}; run `eidet rebuild`"]
        except Unavailable as away:
            return [*told, f"scope {scope}: whether {self._database.line.name} agrees is not known: {away}"]

    def _compared(self, scope: str) -> list[str]:
        """Counts, and the vectors of a sample."""
        head = self._store.head()
        placed = self._ships.placement(scope, head.epoch)
        if placed is None or placed.epoch != head.epoch:
            return []
        sent, keys = self._ask(scope, head, partial(self._expected, placed.seq))
        name, count = self._database.line.name, counted(self._database, placed.at, sent, self._sleep)
        faults = [
            f"scope {scope}: {name} {verb} {n:,} of {sent:,} vectors; run `eidet rebuild`"
            for verb, n in (("misses", sent - count), ("still holds more than", count - sent))
            if n > 0
        ]
        if (wrong := differing(self._database, placed.at, self._store, scope, keys)) and not faults:
            faults = [
                f"scope {scope}: {wrong:,} of {len(keys):,} vectors in {name} differ; run `eidet rebuild`"
            ]
        return faults

    def _expected(self, seq: int, shard: Shard) -> tuple[int, list[int]]:
        """How many units were sent up to a seq and live, and the keys of some."""
        lean = self._lean(shard)
        rows: Rows = np.flatnonzero(lean.vectors.has & lean.alive & (lean.seq <= seq))
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), self._how.sample)).astype(int)]
        return len(rows), np.unique(lean.keys(some)).tolist()

    def stats(self) -> dict[str, Any]:
        with self._lock:
            shards = [self._lean(slot.shard) for slot in self._slots.values()]
        return {
            **super().stats(),
            "database": self._database.line.told(),
            "rows_in_ram": sum(shard.vectors_here for shard in shards),
            "rows_in_database": sum(shard.vectors_elsewhere for shard in shards),
        }

    def close(self) -> None:
        """What waits is sent if the database is up: the next process then has less to do."""
        self._worker.close()
        if self._database.line.health().state == "up":
            for scope in [scope for scope in self._slots if self._ships.refresh(scope) is not None]:
                self._try_to_send(scope)
        super().close()
        self._database.close()

    def _lean(self, shard: Shard) -> LeanShard:
        assert isinstance(shard, LeanShard)
        return shard
