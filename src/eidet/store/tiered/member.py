"""One of the stores that a tiered store is made of, and how it does.

Seqs of all of them are one rising line: that of a store, times four, plus the number of the store. No store
gives a seq below what another one gave (see `leap`), so the line rises whoever writes. What is left over by
four stands for no record: it is how far everybody has come.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol, TypeVar

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.record import Record
from ...net.retry import Full
from ...net.worker import BackgroundWorker
from .. import Store

log = logging.getLogger("eidet")

T = TypeVar("T")

LONG, SHORT, OUTBOX, NOBODY = range(4)
STEP: Final = 4
REST_SECONDS: Final = 1.0  # before a store that did not answer is asked again
KNOCK_SECONDS: Final = 0.25  # that a caller waits to see whether a store is back; it may say nothing for long


class Leaping(Store, Protocol):
    """A store that can be told to give no seq up to some number."""

    def leap(self, seq: int) -> None: ...


Opening = Store | Callable[[], Store]


def settled(seq: int) -> int:
    """How far everybody has come when each store has come to this seq."""
    return seq * STEP + NOBODY


class Side:
    """A store with its place among the others; opened when first asked. Safe from many threads.

    While it is down, one caller after each rest sees whether it is back; nobody else waits for it.
    """

    def __init__(
        self, name: str, number: int, opening: Opening, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = name
        self.number = number
        self._clock = clock
        self._lock = threading.Lock()
        self._store: Leaping | None = None
        self._opening = opening if callable(opening) else lambda: opening
        self._door = threading.Lock()
        self._knocking = BackgroundWorker(f"eidet-{name}", self._look)
        self._again = 0.0
        self.error: str | None = None  # while it is down: why
        self.last_error: str | None = None
        self.came = 0  # the highest seq it is known to have come to

    @property
    def down(self) -> bool:
        return self.error is not None

    def ask(self, job: Callable[[Leaping], T]) -> T:
        """What the store answers. After `Unavailable` it is left alone for a moment."""
        if self.error is not None:
            self._knock()
        try:
            answer = job(self.store)
        except Unavailable as error:
            self._failed(error)
            raise
        self._answered()
        return answer

    def _answered(self) -> None:
        if self.error is not None:
            log.warning("the %s store is back", self.name)
            self.error = None

    def _failed(self, error: Unavailable) -> None:
        self.last_error = str(error)
        if isinstance(error, Full) or self._still_reads():
            return
        if self.error is None:
            log.warning("the %s store is down: %s", self.name, error)
        self.error, self._again = str(error), self._clock() + REST_SECONDS

    def _knock(self) -> None:
        """Whoever is first after the rest; `Unavailable` unless the store answers soon."""
        with self._door:
            if self._knocking.running or self._clock() < self._again:
                raise self._is_down()
            self._knocking.start()
        self._knocking.join(KNOCK_SECONDS)
        if self.error is not None:
            raise self._is_down()

    def _look(self) -> None:
        try:
            self.store.head()
        except Unavailable as error:
            self._failed(error)
        except EidetError:
            self._answered()  # whoever asks next is told what it says
        else:
            self._answered()

    def _is_down(self) -> Unavailable:
        return Unavailable(f"the {self.name} store is down: {self.error}", retry_after=REST_SECONDS)

    def _still_reads(self) -> bool:
        """A file on a full disk takes no writes, but is there."""
        if getattr(self._store, "path", None) is None or self._store is None:
            return False
        try:
            self._store.head()
        except Unavailable:
            return False
        return True

    @property
    def store(self) -> Leaping:
        with self._lock:
            if self._store is None:
                self._store = self._open()
            return self._store

    def _open(self) -> Leaping:
        """Those who waited while somebody else tried in vain do not try, too."""
        if self.error is not None and self._clock() < self._again:
            raise self._is_down()
        try:
            return _leaping(self._opening(), self.name)
        except Unavailable as error:
            self._failed(error)
            raise

    @property
    def opened(self) -> Store | None:
        return self._store

    def leap(self, seq: int) -> None:
        if self.came < seq:
            self.ask(lambda store: store.leap(seq))
            self.came = seq

    # Seqs of all, and of this store.

    def inside(self, seq: int) -> int:
        """What comes after `seq` of all comes after this one here."""
        return max((seq - self.number) // STEP, 0)

    def outside(self, seq: int) -> int:
        return seq * STEP + self.number

    def told(self, record: Record) -> Record:
        """As everybody sees it."""
        return record.but(seq=self.outside(record.seq))

    def own(self, record: Record) -> Record:
        """As this store knows it; one of another store has a seq that none has here."""
        here = record.seq % STEP == self.number
        return record.but(seq=record.seq // STEP if here else -1)

    def all_told(self, records: Iterable[Record]) -> Iterator[Record]:
        return map(self.told, records)

    def health(self) -> dict[str, Any]:
        kind = type(self._store).__name__ if self._store is not None else None
        tell = getattr(self._store, "health", None)
        return {
            "state": "down" if self.down else "up",
            "store": kind,
            "error": self.error,
            "last_error": self.last_error,
            **({} if tell is None else {"line": tell()}),
        }

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


def _leaping(store: Store, name: str) -> Leaping:
    if not hasattr(store, "leap"):
        store.close()
        raise Misconfigured(
            f"{type(store).__name__} cannot be the {name} store of a tiered one: it has no `leap(seq)`"
        )
    return store  # type: ignore[return-value]
