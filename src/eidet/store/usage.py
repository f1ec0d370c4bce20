"""Use counts, tallies and refreshed expiries: reads gather them in RAM, a later write stores them."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from ..core.errors import EidetError
from ..core.hit import Hits
from ..core.record import Record
from ..core.scope import Scope
from ..core.settings import Settings
from ..quality import KEPT_DAYS, RESPONSIVE, Tally, day_of, score_name, time_name
from . import Store, verbs

_FRESH: Final = 0.9  # of its time to live: a record with so much left is not refreshed
_URGENT: Final = 0.5  # with less than so much left it is refreshed at once


def _refresh(record: Record, read: float) -> Record:
    """Restarts the record's time to live, if it was alive when read."""
    ttl = record.state.ttl
    if ttl is None or record.expires is None or record.expires <= read:
        return record
    return record.but(expires=max(record.expires, read + ttl))


class TallyBuffer:
    """A buffer of counts in RAM. A process that dies before they are written loses counts, never records."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[tuple[str, int, str], dict[str, int]] = {}
        self._waiting = 0

    def count_recall(
        self, scope: str, day: int, what: str, *, hits: int, score: float | None, seconds: float
    ) -> None:
        """Counts a recall; `score` is the best one, None if scores mean nothing. Must be cheap."""
        spent, best = time_name(seconds), None if score is None else score_name(score)
        with self._lock:
            self._waiting += 1
            row = self._rows.get((scope, day, what)) or self._row((scope, day, what))
            row["recalls"] += 1
            row["micros"] += int(seconds * 1e6)
            row[spent] += 1
            if seconds <= RESPONSIVE:
                row["quick"] += 1
            if hits:
                row["hits"] += hits
            else:
                row["empty"] += 1
            if best is not None:
                row[best] += 1

    def add(self, scope: str, day: int, what: str, counts: Mapping[str, int]) -> None:
        self.give_back([Tally(scope, day, what, counts)])

    def __len__(self) -> int:
        """Returns how many additions were made since the last `take`."""
        return self._waiting

    def rows(self) -> list[Tally]:
        """Returns the waiting rows, and keeps them."""
        with self._lock:
            return [Tally(*key, dict(counts)) for key, counts in self._rows.items()]

    def take(self) -> list[Tally]:
        """Returns the waiting rows, and empties the buffer."""
        with self._lock:
            rows, self._rows, self._waiting = self._rows, {}, 0
        return [Tally(*key, counts) for key, counts in rows.items()]

    def give_back(self, rows: Iterable[Tally]) -> None:
        """Puts rows back that could not be written."""
        with self._lock:
            for scope, day, what, counts in rows:
                self._waiting += 1
                row = self._row((scope, day, what))
                for name, count in counts.items():
                    row[name] += count

    def _row(self, key: tuple[str, int, str]) -> dict[str, int]:
        return self._rows.setdefault(key, defaultdict(int))


log: logging.Logger = logging.getLogger("eidet")


class Usage:
    """The counter of reads and uses. It counts nothing for a store opened read-only."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._most = settings.flush_uses
        self._lock = threading.Lock()
        self._uses: dict[tuple[str, str], tuple[int, float]] = {}
        self._read: dict[str, dict[str, float]] = {}  # by scope and id: when it was read, for a time to live
        self._tallies = TallyBuffer()

    def count_uses(self, records: Iterable[Record], now: float) -> None:
        if self._store.writable:
            self._add_uses((record.scope, record.id, 1, now) for record in records)

    def _add_uses(self, uses: Iterable[tuple[str, str, int, float]]) -> None:
        with self._lock:
            for scope, id, count, last in uses:
                before, latest = self._uses.get((scope, id), (0, last))
                self._uses[scope, id] = (before + count, max(latest, last))

    def count_reads(self, records: Iterable[Record], now: float) -> None:
        """Restarts the time to live (`state.ttl`) of records that have one; soon, if little of it is left."""
        if not self._store.writable:
            return
        urgent = False
        for record in records:
            if record.expires is not None and (ttl := record.state.ttl) is not None:
                left = (record.expires - now) / ttl
                if left < _FRESH:
                    with self._lock:
                        self._read.setdefault(record.scope, {})[record.id] = now
                    urgent = urgent or left < _URGENT
        if urgent:
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
        self.count_uses(records, now)
        self.count_reads(records, now)

    def tally(self, scope: str, what: str, counts: dict[str, int], now: float) -> None:
        if self._store.writable:
            self._tallies.add(scope, day_of(now), what, counts)

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        """Returns the tallies from a day on: those in the store, and those that still wait here."""
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
        """Flushes counts after a verb's own work is done; ignores failure, because counts can wait."""
        try:
            self.flush()
        except EidetError as error:
            log.warning("use counts and tallies were not written: %s", error)

    def _flush_uses(self) -> None:
        with self._lock:
            uses, self._uses = self._uses, {}
        try:
            verbs.add_uses(self._store, uses)
        except EidetError:
            self._add_uses((*key, *use) for key, use in uses.items())
            raise

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
        with self._lock:
            refreshes, self._read = self._read, {}
        for scope, read in refreshes.items():
            there = filter(None, self._store.read(scope, list(read)))
            forms = [(record, _refresh(record, read[record.id])) for record in there]
            due = [(old, new) for old, new in forms if new.expires != old.expires]
            verbs.rewrite_form(self._store, due, now=max(read.values()))
