"""One of the stores that a tiered store is made of, and how it does.

Seqs of all of them are one rising line: that of a store, times four, plus the number of the store. No store
gives a seq below what another one gave (see `leap`), so the line rises whoever writes. What is left over by
four stands for no record: it is how far everybody has come.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol, TypeVar

from ...errors import Misconfigured, Unavailable
from ...model import Record
from .. import Store

T = TypeVar("T")

LONG, SHORT, OUTBOX, NOBODY = range(4)
STEP: Final = 4
REST_SECONDS: Final = 1.0  # before a store that did not answer is asked again


class Leaping(Store, Protocol):
    """A store that can be told to give no seq up to some number."""

    def leap(self, seq: int) -> None: ...


Opening = Store | Callable[[], Store]


def settled(seq: int) -> int:
    """How far everybody has come when each store has come to this seq."""
    return seq * STEP + NOBODY


class Side:
    """A store with its place among the others; opened when first asked. Safe from many threads."""

    def __init__(
        self, name: str, number: int, opening: Opening, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = name
        self.number = number
        self._clock = clock
        self._lock = threading.Lock()
        self._store: Leaping | None = None
        self._opening = opening if callable(opening) else lambda: opening
        self._again = 0.0
        self.error: str | None = None  # while it is down: why
        self.came = 0  # the highest seq it is known to have come to

    @property
    def down(self) -> bool:
        return self.error is not None

    def ask(self, job: Callable[[Leaping], T]) -> T:
        """What the store answers. After `Unavailable` it is left alone for a moment."""
        if self.error is not None and self._clock() < self._again:
            raise Unavailable(f"the {self.name} store is down: {self.error}", retry_after=REST_SECONDS)
        try:
            answer = job(self.store)
        except Unavailable as error:
            if not self._still_reads():
                self.error, self._again = str(error), self._clock() + REST_SECONDS
            raise
        self.error = None
        return answer

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
                self._store = _leaping(self._opening(), self.name)
            return self._store

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
        return {"state": "down" if self.down else "up", "store": kind, "error": self.error}

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
