"""Use counts, tallies and refreshed expiries: reads gather them in RAM, a later write stores them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from ..core.errors import EidetError
from ..core.hit import Hits
from ..core.record import Record
from ..core.scope import Scope
from ..core.settings import Settings
from ..quality import KEPT_DAYS, Tally, day_of
from . import Store, verbs
from .tallies import TallyBuffer
from .uses import Refreshes, UseBuffer, log_uses, refresh

log: logging.Logger = logging.getLogger("eidet")


class Usage:
    """Counts what is read. A store that is open for reading only counts nothing."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._most = settings.flush_uses
        self._access_log = None if settings.access_log is None else Path(settings.access_log)
        self._uses = UseBuffer()
        self._tallies = TallyBuffer()
        self._refreshes = Refreshes()

    def count_uses(self, records: Iterable[Record], now: float) -> None:
        if self._store.writable:
            self._uses.add(records, now)

    def count_reads(self, records: Iterable[Record], now: float) -> None:
        """Restarts the time to live of records that have one: see `eidet.store.uses.Refreshes`."""
        if self._store.writable and self._refreshes.add(records, now):
            self.flush_if_possible()

    def count_recall(self, hits: Hits, now: float, seconds: float, *, ranked: bool) -> None:
        """Counts a recall and the uses it made. Without a ranking, scores are not counted."""
        if not self._store.writable:
            return
        score = hits[0].score if ranked and hits else None
        what = "recall" if ranked else "list"
        self._tallies.count_recall(
            hits.scope, day_of(now), what, hits=len(hits), score=score, seconds=seconds
        )
        records = [hit.record for hit in hits]
        self._uses.add(records, now)
        self.count_reads(records, now)

    def tally(self, scope: str, what: str, counts: dict[str, int], now: float) -> None:
        if self._store.writable:
            self._tallies.add(scope, day_of(now), what, counts)

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        """Tallies from a day on: those in the store, and those that still wait here."""
        waiting = [row for row in self._tallies.rows() if scope is None or scope.holds(row.scope)]
        return verbs.read_counts(self._store, scope, since) + waiting

    def flush(self) -> None:
        """Writes everything to the store. If that fails, the counts are kept for another time."""
        if self._store.writable:
            self._flush_uses()
            self._flush_tallies()
            self._flush_refreshes()

    def flush_if_due(self) -> None:
        """Flushes once enough has gathered."""
        if max(len(self._uses), len(self._tallies)) >= self._most:
            self.flush_if_possible()

    def flush_if_possible(self) -> None:
        """For verbs whose own work is done: counts that must wait are no reason to fail."""
        try:
            self.flush()
        except EidetError as error:
            log.warning("use counts and tallies were not written: %s", error)

    def _flush_uses(self) -> None:
        uses = self._uses.take()
        if not uses:
            return
        try:
            verbs.add_uses(self._store, uses)
        except EidetError:
            self._uses.give_back(uses)
            raise
        if self._access_log is not None:
            log_uses(self._access_log, uses)

    def _flush_tallies(self) -> None:
        rows = self._tallies.take()
        if not rows:
            return
        try:
            verbs.add_counts(self._store, rows, since=min(row.day for row in rows) - KEPT_DAYS)
        except EidetError:
            self._tallies.give_back(rows)
            raise

    def _flush_refreshes(self) -> None:
        for scope, read in self._refreshes.take().items():
            there = filter(None, self._store.read(scope, list(read)))
            forms = [(record, refresh(record, read[record.id])) for record in there]
            due = [(old, new) for old, new in forms if new.expires != old.expires]
            verbs.rewrite_form(self._store, due, now=max(read.values()))
