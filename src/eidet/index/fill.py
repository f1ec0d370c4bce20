"""Fills an outside database from the store in order of seq, one process at a time."""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from ..core.errors import EidetError, Unavailable
from ..store import Changes, Entry, Head, Store, verbs
from .embedded.shard import Shard
from .embedded.vectors import VectorPlanes
from .scope_worker import ScopeWorker

T = TypeVar("T")
P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)

_PAUSE_SECONDS: Final = 0.05
_STOP_SECONDS: Final = 30.0  # time limit for sending a scope when the index is closed
log: logging.Logger = logging.getLogger("eidet.index")


class VectorLost(EidetError):
    """The database answers, but what it was filled with is gone or unreadable."""


class VectorShelf(NamedTuple):
    """The place for one scope alone. Eidet names it: letters, digits, - and _."""

    collection: str
    name: str
    width: int


class Shelves(Protocol[P_contra]):
    """A database that can be filled with rows. Thread-safe; all calls are idempotent.

    Every call ends within a deadline, and raises `Unavailable` if a retry may help, `VectorLost` if the shelf
    is gone, and `Misconfigured` otherwise. Rows are found at the latest `settle_seconds` after `put`.
    """

    batch: int  # rows in one request
    settle_seconds: float

    def prepare(self, shelf: VectorShelf) -> None:
        """Makes room for a shelf that is missing, or is filled from the beginning."""

    def put(self, shelf: VectorShelf, rows: Sequence[P_contra], /) -> None:
        """Adds rows; replaces those with the same key."""

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        """Removes all rows of these records; missing ones are ignored."""

    def discard(self, shelf: VectorShelf) -> None:
        """Removes a shelf with all its rows, and its collection if that is empty then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placement:
    """The place of a scope in a database, and the last seq sent. Kept in the store's settings.

    `settled` is the seq sent so long before `sent_at` that everything up to it is surely found; `complete`
    says whether the shelf ever held everything.
    """

    collection: str
    shelf: str
    width: int
    epoch: int
    generation: int
    seq: int = 0
    settled: int = 0
    sent_at: float = 0.0
    complete: bool = False
    scope: str = ""  # not stored: it is in the name of the setting

    @property
    def at(self) -> VectorShelf:
        return VectorShelf(self.collection, self.shelf, self.width)

    def usable(self, now: float, settle_seconds: float) -> int:
        """Returns the seq up to which the database finds everything."""
        return self.seq if now - self.sent_at >= settle_seconds else self.settled

    def advance(self, seq: int, now: float, settle_seconds: float) -> _Placement:
        return replace(self, seq=seq, settled=self.usable(now, settle_seconds), sent_at=now)

    def is_stale(self, changes: Changes) -> bool:
        """Returns whether vectors were rewritten since, or the store no longer lists all deletions."""
        return changes.head.epoch != self.epoch or 0 < self.seq < changes.pruned


@dataclass(frozen=True, slots=True, kw_only=True)
class FillPlan:
    """How a database is filled: its name, the prefix of its collections, and the pace.

    `form` is a number for the form of the rows: with another one, everything is sent anew.
    """

    name: str
    prefix: str
    form: int
    batch: int = 2_000  # records read from the store at once
    lease_seconds: float = 60.0
    patience_seconds: float = 10.0  # how long to wait for another process that fills the same scope


class Filler(Generic[P]):
    """Keeps the placements of scopes, and sends new records to the database. Thread-safe.

    `list_rows` makes the rows of entries, for vectors of one width. `finish` is called with a shelf that
    holds everything for the first time.
    """

    def __init__(
        self,
        store: Store,
        width: int,
        shelves: Shelves[P],
        list_rows: Callable[[Sequence[Entry], int], Iterable[P]],
        plan: FillPlan,
        *,
        finish: Callable[[VectorShelf], object] | None = None,
        read_changes: Callable[[str, int, int], Changes] | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store, self._width, self._shelves, self._list_rows = store, width, shelves, list_rows
        self._plan, self._finish = plan, finish
        self._read_changes = read_changes or store.changes
        self._clock, self._sleep = clock, sleep
        self._owner = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._placements: dict[str, _Placement | None] = {}
        self._where = _short(f"{plan.prefix} {plan.name} {plan.form}")
        self._worker = ScopeWorker("eidet-fill", self.try_to_send)

    # Placements.

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
        return found.usable(self._clock(), self._shelves.settle_seconds)

    def find_shelf(self, scope: str, head: Head, *, anew: bool = False) -> VectorShelf:
        """Returns a scope's shelf; `anew` reads the placement again, as another process may have moved it."""
        found = self.refresh(scope) if anew else self.placement(scope, head.epoch)
        if found is None:
            raise VectorLost(f"scope {scope} is not in {self._plan.name}")
        return found.at

    def forget(self, scope: str) -> None:
        """Notes that the database lost its vectors, so that it is filled from the beginning."""
        with self._lock:
            found = self.refresh(scope)
            if found is not None:
                self._placements[scope] = empty = replace(found, seq=0, settled=0, complete=False)
                if self._store.writable:
                    self._keep(scope, empty)

    # Sending.

    def ask(self, scope: str) -> None:
        """Sends new records in the background."""
        self._worker.ask(scope)

    @property
    def busy(self) -> list[str]:
        """The scopes that are sent, or wait for it, in the background."""
        return self._worker.busy

    def try_to_send(self, scope: str) -> None:
        try:
            self.ship(scope)
        except EidetError as error:
            log.warning("scope %s was not sent to %s: %s", scope, self._plan.name, error)

    def insist(self, scope: str, *, anew: bool = False) -> None:
        """Sends as soon as no other process does; raises `Unavailable` if one does for too long."""
        for _ in range(max(1, int(self._plan.patience_seconds / _PAUSE_SECONDS))):
            if self.ship(scope, anew=anew):
                return
            self._sleep(_PAUSE_SECONDS)
        raise Unavailable(
            f"another process fills {self._plan.name} with scope {scope}; try again later",
            retry_after=self._plan.lease_seconds,
        )

    def cleanse(self, scope: str) -> list[str]:
        """Removes deleted records from the database. Returns sentences on what could not be removed yet.

        A shelf that has to be filled anew is removed.
        """
        try:
            placed = self.refresh(scope)
            if placed is None:
                return []
            if (placed.epoch, placed.width) != (self._store.head().epoch, self._width):
                self.drop(scope)
            else:
                self.insist(scope)
        except VectorLost:
            self.drop(scope)
        except EidetError as failed:
            return [f"scope {scope}: {self._plan.name} may hold vectors of what is gone: {failed}"]
        return []

    def drop(self, scope: str) -> None:
        """Removes a scope from the database."""
        with self._lock:
            if placed := self.refresh(scope):
                self._shelves.discard(placed.at)
                verbs.set_settings(self._store, {self._name(scope): ""})
                self._placements[scope] = None

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

    def _forward(self, scope: str, *, anew: bool = False) -> None:
        """Sends pages until the store's head is reached; notes progress after each.

        Begins an empty shelf if vectors were rewritten, or the store no longer lists all deletions.
        """
        known, head = self.refresh(scope), self._store.head()
        if anew or known is None or known.epoch != head.epoch or known.width != self._width:
            fresh = self._fresh(scope)
            self._keep(scope, fresh)
            if known is not None:
                self._shelves.discard(known.at)
                self._shelves.prepare(fresh.at)  # a collection may go with its last shelf
            known = fresh
        elif known.seq == 0:
            self._shelves.prepare(known.at)
        first = True
        while known.seq < head.seq:
            changes = self._read_changes(scope, known.seq, self._plan.batch)
            if changes.head.epoch != known.epoch or (first and known.is_stale(changes)):
                return self._forward(scope, anew=True)
            first = False
            known = self._send_page(known, changes)
            self._keep(scope, known)
            if not self._take_lease(scope):
                raise Unavailable(f"another process fills {self._plan.name}", retry_after=1.0)
        if not known.complete:
            if self._finish is not None:
                self._finish(known.at)
            self._keep(scope, replace(known, complete=True))
        return None

    def _fresh(self, scope: str) -> _Placement:
        """Prepares an empty shelf under an unused name; removes leftovers of an earlier attempt."""
        known = self._placements.get(scope)
        generation = 1 if known is None else known.generation + 1
        found = _Placement(
            collection=f"{self._plan.prefix}_{_short(self._store.identity)}_{self._width}",
            shelf=f"{_short(f'{self._store.identity}/{scope}')}-{generation}",
            width=self._width,
            epoch=self._store.head().epoch,
            generation=generation,
            scope=scope,
        )
        self._shelves.discard(found.at)
        self._shelves.prepare(found.at)
        return found

    def _send_page(self, known: _Placement, changes: Changes) -> _Placement:
        for seqs in _pages(changes.gone, self._shelves.batch):
            self._shelves.remove(known.at, seqs)
        for rows in _pages(list(self._list_rows(changes.entries, self._width)), self._shelves.batch):
            self._shelves.put(known.at, rows)
        return known.advance(changes.head.seq, self._clock(), self._shelves.settle_seconds)

    def _keep(self, scope: str, placement: _Placement) -> None:
        fields: dict[str, Any] = {name: value for name, value in asdict(placement).items() if name != "scope"}
        verbs.set_settings(self._store, {self._name(scope): json.dumps(fields)})
        self._placements[scope] = placement

    def _take_lease(self, scope: str) -> bool:
        if not self._store.writable:
            return False
        now = self._clock()
        until = now + self._plan.lease_seconds
        return verbs.take_lease(self._store, self._name(scope), self._owner, now=now, until=until)

    def _name(self, scope: str) -> str:
        return f"vectordb.{self._where}.{_short(scope)}"

    def close(self) -> None:
        """Ends the background thread after the scope that it is sending."""
        self._worker.close(_STOP_SECONDS)


def read_rows(entries: Sequence[Entry], width: int) -> Shard[VectorPlanes]:
    """Returns the units of entries as rows; what is damaged is noted."""
    shard = Shard("", VectorPlanes(width))
    shard.apply(Changes(Head(0, 0), list(entries), ()))
    return shard


def _pages(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _short(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
