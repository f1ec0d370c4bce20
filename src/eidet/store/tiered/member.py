"""One of the stores of a tiered store: its health, and its seqs among those of all.

The seqs of all stores form one rising sequence: that of a store, times four, plus the number of the store. No
store gives a seq below one that another gave (see `leap`), so the sequence rises whichever store writes. The
fourth number stands for no record: such a seq says how far all stores have come.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.record import Record
from ...net.retry import Full
from ...net.worker import BackgroundWorker
from ...quality import health_of
from .. import Store
from ..abilities import Leaps
from ..traits import path_of

log: logging.Logger = logging.getLogger("eidet")

T = TypeVar("T")

LONG, SHORT, OUTBOX, NOBODY = range(4)
STEP: Final = 4
REST_SECONDS: Final = 1.0  # before a store that did not answer is asked again
_KNOCK_SECONDS: Final = 0.25  # how long a caller waits to see whether a silent store is back


class LeapingStore(Store, Leaps, Protocol):
    """A store that can reserve all seqs up to a number."""


Opening = Store | Callable[[], Store]


def common_seq(seq: int) -> int:
    """Returns the common seq at which each store has come to this seq."""
    return seq * STEP + NOBODY


class Member:
    """A store among others, opened on first use. Thread-safe.

    While it is down, one caller after each rest checks whether it is back; no other caller waits for it.
    """

    def __init__(
        self, name: str, number: int, opening: Opening, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = name
        self.number = number
        self._clock = clock
        self._lock = threading.Lock()
        self._store: LeapingStore | None = None
        self._opening = opening if callable(opening) else lambda: opening
        self._door = threading.Lock()
        self._knocking = BackgroundWorker(f"eidet-{name}", self._look)
        self._again = 0.0
        self.error: str | None = None  # why it is down; None while it is up
        self.last_error: str | None = None
        self.leaps_inside = False  # whether its transactions leap, too; learned at the first write
        self.came = 0  # the highest seq that it is known to have reached

    @property
    def down(self) -> bool:
        return self.error is not None

    def ask(self, job: Callable[[LeapingStore], T]) -> T:
        """Runs a job on the store. After `Unavailable`, leaves the store alone for a moment."""
        if self.error is not None:
            self._knock()
        try:
            answer = job(self.store)
        except Unavailable as error:
            self.note_failure(error)
            raise
        self._note_answer()
        return answer

    def _note_answer(self) -> None:
        if self.error is not None and not self._knocking.stopping:
            log.warning("the %s store is back", self.name)
            self.error = None

    def note_failure(self, error: Unavailable) -> None:
        self.last_error = str(error)
        if isinstance(error, Full) or self._still_reads():
            return
        if self.error is None:
            log.warning("the %s store is down: %s", self.name, error)
        self.error, self._again = str(error), self._clock() + REST_SECONDS

    def _knock(self) -> None:
        """Probes the store after a pause; raises `Unavailable` unless it answers soon."""
        with self._door:
            if self._knocking.running or self._clock() < self._again:
                raise self.down_error()
            self._knocking.start()
        self._knocking.join(_KNOCK_SECONDS)
        if self.error is not None:
            raise self.down_error()

    def _look(self) -> None:
        try:
            self.store.head()
        except Unavailable as error:
            self.note_failure(error)
        except EidetError:
            self._note_answer()  # the next caller gets the error itself
        else:
            self._note_answer()

    def down_error(self) -> Unavailable:
        return Unavailable(f"the {self.name} store is down: {self.error}", retry_after=REST_SECONDS)

    def _still_reads(self) -> bool:
        """Returns whether the store can still be read: a file on a full disk only refuses writes."""
        if self._store is None or path_of(self._store) is None:
            return False
        try:
            self._store.head()
        except Unavailable:
            return False
        return True

    @property
    def store(self) -> LeapingStore:
        with self._lock:
            if self._store is None:
                self._store = self._open()
            return self._store

    def _open(self) -> LeapingStore:
        """Opens the store. Threads that waited for another's failed attempt do not try again."""
        if self.error is not None and self._clock() < self._again:
            raise self.down_error()
        try:
            return _check_leaps(self._opening(), self.name)
        except Unavailable as error:
            self.note_failure(error)
            raise

    @property
    def writable(self) -> bool:
        """Whether the store can be written; one that is not yet opened counts as writable."""
        return self._store is None or self._store.writable

    def try_leap(self, seq: int) -> None:
        """Leaps if the store is up; otherwise a later caller makes it leap."""
        with suppress(Unavailable):
            self.ask(lambda store: store.leap(seq))

    def leap_outside(self, seq: int) -> None:
        """Leaps before a write, if the store's transactions cannot."""
        if not self.leaps_inside and self.came < seq:
            self.ask(lambda store: store.leap(seq))
            self.came = seq

    def answers(self) -> bool:
        """Returns whether the store is up, as far as known; checks again when it is time."""
        if self.error is not None:
            with suppress(Unavailable):
                self._knock()
        return self.error is None

    # Seqs of all members, and of this one.

    def inner_seq(self, seq: int) -> int:
        """Returns the seq here after which everything comes that follows `seq` of all members."""
        return max((seq - self.number) // STEP, 0)

    def outer_seq(self, seq: int) -> int:
        return seq * STEP + self.number

    def owns(self, seq: int) -> bool:
        return seq % STEP == self.number

    def outer(self, records: Iterable[Record | None]) -> list[Record]:
        """Returns the records that exist, with their seqs among those of all members."""
        return [record.but(seq=self.outer_seq(record.seq)) for record in records if record is not None]

    def health(self) -> dict[str, Any]:
        store: object = self._store
        report: dict[str, Any] = {
            "state": "down" if self.down else "up",
            "store": None if store is None else type(store).__name__,
            "error": self.error,
            "last_error": self.last_error,
        }
        if (line := health_of(store)) is not None:
            report["line"] = dict(line)
        return report

    def close(self) -> None:
        """Stops asking the store and closes it: an answer that comes late changes and logs nothing."""
        self._knocking.stop(_KNOCK_SECONDS)
        if self._store is not None:
            self._store.close()


def _check_leaps(store: Store, name: str) -> LeapingStore:
    if not isinstance(store, Leaps):
        store.close()
        raise Misconfigured(
            f"{type(store).__name__} cannot be the {name} store of a tiered one: it has no `leap(seq)`"
        )
    return store
