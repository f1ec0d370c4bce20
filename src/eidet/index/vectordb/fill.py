"""Fills a database from the store in order of seq; one process at a time, each continuing the last."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import TypeVar

import numpy as np

from ...core.errors import Corrupt, Unavailable
from ...models.embed.quantise import dequantise_all
from ...store import Changes, Entry, Head, Store, verbs
from .. import Floats
from ..embedded.vectors import normalise
from . import UNIT_BITS, Database, Point, VectorLost, VectorSettings, VectorShelf, key_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placement:
    """The place of a scope in a database, and the last seq sent. Kept in the store's settings.

    `settled` is the seq sent so long before `sent_at` that everything up to it is surely found.
    """

    collection: str
    shelf: str
    width: int
    epoch: int
    generation: int
    seq: int = 0
    settled: int = 0
    sent_at: float = 0.0
    scope: str = ""  # not stored: it is in the name of the setting

    @property
    def at(self) -> VectorShelf:
        return VectorShelf(self.collection, self.shelf, self.width)

    def usable(self, now: float, settle_seconds: float) -> int:
        """Returns the seq up to which the database finds everything."""
        return self.seq if now - self.sent_at >= settle_seconds else self.settled

    def advance(self, seq: int, now: float, settle_seconds: float) -> _Placement:
        return replace(self, seq=seq, settled=self.usable(now, settle_seconds), sent_at=now)


class Shipper:
    """Keeps the placements of scopes, and sends new records to the database. Thread-safe."""

    def __init__(
        self,
        store: Store,
        width: int,
        database: Database,
        settings: VectorSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._width, self._database, self._settings = store, width, database, settings
        self._clock = clock
        self._owner = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._placements: dict[str, _Placement | None] = {}
        self._where = _short(f"{settings.prefix} {database.retrier.name} {UNIT_BITS}")

    def placement(self, scope: str, epoch: int) -> _Placement | None:
        """Returns the cached placement; reads it again if it is of another epoch."""
        if scope not in self._placements:
            return self.refresh(scope)
        known = self._placements[scope]
        return known if known is None or known.epoch == epoch else self.refresh(scope)

    def refresh(self, scope: str) -> _Placement | None:
        text = verbs.get_setting(self._store, self._name(scope))
        found = _Placement(**json.loads(text), scope=scope) if text else None
        self._placements[scope] = found
        return found

    def usable(self, scope: str, epoch: int) -> int:
        """Returns the seq up to which the database finds everything; 0 if it is not filled for this epoch."""
        found = self.placement(scope, epoch)
        if found is None or found.epoch != epoch or found.width != self._width:
            return 0
        return found.usable(self._clock(), self._database.settle_seconds)

    def find_shelf(self, scope: str, head: Head, *, anew: bool = False) -> VectorShelf:
        """Returns a scope's shelf; `anew` reads the placement again, as another process may have moved it."""
        found = self.refresh(scope) if anew else self.placement(scope, head.epoch)
        if found is None:
            raise VectorLost(f"scope {scope} is not in {self._database.retrier.name}")
        return found.at

    def ship(self, scope: str, *, anew: bool = False) -> bool:
        """Sends new records, or all with `anew`, and removes deleted ones; False if another process sends."""
        with self._lock:
            if not self._take_lease(scope):
                self.refresh(scope)
                return False
            try:
                self._forward(scope, anew=anew)
            except VectorLost:
                self.forget(scope)
                raise
            finally:
                verbs.take_lease(self._store, self._name(scope), self._owner, now=self._clock(), until=0.0)
            return True

    def forget(self, scope: str) -> None:
        """Notes that the database lost its vectors, so that it is filled from the beginning."""
        with self._lock:
            found = self.refresh(scope)
            if found is not None:
                self._placements[scope] = empty = replace(found, seq=0, settled=0)
                if self._store.writable:
                    self._keep(scope, empty)

    def _forward(self, scope: str, *, anew: bool = False) -> None:
        """Sends pages until the store's head is reached; notes progress after each.

        Begins an empty shelf if vectors were rewritten, or the store no longer lists all deletions.
        """
        known, head = self.refresh(scope), self._store.head()
        if anew or known is None or known.epoch != head.epoch or known.width != self._width:
            fresh = self._fresh(scope)
            self._keep(scope, fresh)
            if known is not None:
                self._database.discard(known.at)
                self._database.prepare(fresh.at)  # a collection may go with its last shelf
            known = fresh
        elif known.seq == 0:
            self._database.prepare(known.at)
        away = known.seq
        while known.seq < head.seq:
            changes = self._store.changes(scope, known.seq, self._settings.batch)
            if changes.head.epoch != known.epoch or 0 < away < changes.pruned:
                return self._forward(scope, anew=True)
            away = 0
            known = self._send_page(known, changes)
            self._keep(scope, known)
            if not self._take_lease(scope):
                raise Unavailable(f"another process fills {self._database.retrier.name}", retry_after=1.0)
        return None

    def _fresh(self, scope: str) -> _Placement:
        """Prepares an empty shelf under an unused name; removes leftovers of an earlier attempt."""
        known = self._placements.get(scope)
        generation = 1 if known is None else known.generation + 1
        found = _Placement(
            collection=f"{self._settings.prefix}_{_short(self._store.identity)}_{self._width}",
            shelf=f"{_short(f'{self._store.identity}/{scope}')}-{generation}",
            width=self._width,
            epoch=self._store.head().epoch,
            generation=generation,
            scope=scope,
        )
        self._database.discard(found.at)
        self._database.prepare(found.at)
        return found

    def _send_page(self, known: _Placement, changes: Changes) -> _Placement:
        if changes.gone:
            for seqs in _pages(list(changes.gone), self._database.batch):
                self._database.remove(known.at, seqs)
        points = list(_list_points(changes.entries, self._width))
        for page in _pages(points, self._database.batch):
            self._database.put(known.at, page)
        return known.advance(changes.head.seq, self._clock(), self._database.settle_seconds)

    def _keep(self, scope: str, placement: _Placement) -> None:
        fields = {name: value for name, value in asdict(placement).items() if name != "scope"}
        verbs.set_settings(self._store, {self._name(scope): json.dumps(fields)})
        self._placements[scope] = placement

    def _take_lease(self, scope: str) -> bool:
        if not self._store.writable:
            return False
        now = self._clock()
        until = now + self._settings.lease_seconds
        return verbs.take_lease(self._store, self._name(scope), self._owner, now=now, until=until)

    def _name(self, scope: str) -> str:
        return f"vectordb.{self._where}.{_short(scope)}"


def list_vectors(entries: Sequence[Entry], width: int) -> Iterator[tuple[Entry, Floats]]:
    """Yields the unit vectors of records, a row for each unit; leaves out records without vectors."""
    for entry, blob in zip(entries, _raise_levels(entries, width), strict=True):
        if blob and len(blob) % (4 * width) == 0:
            yield entry, normalise(np.frombuffer(blob, np.float32).reshape(-1, width))


def _list_points(entries: Sequence[Entry], width: int) -> Iterator[Point]:
    """Yields the points of entries; leaves out damaged vectors and those without direction."""
    for entry, rows in list_vectors(entries, width):
        for number, row in enumerate(rows):
            if np.isfinite(row).all() and row.any():
                yield Point(key_of(entry.seq, number), row)


def _raise_levels(entries: Sequence[Entry], width: int) -> Sequence[bytes | None]:
    """Returns the vectors, whatever their level, as float32; None if unreadable."""
    try:
        return dequantise_all([e.vector for e in entries], [e.level for e in entries], width)
    except (Corrupt, ValueError):
        if len(entries) == 1:
            return [None]
        return [_raise_levels([entry], width)[0] for entry in entries]


def _pages(items: list[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _short(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
