"""The stores of a tiered store as one: who is there, how far they have come, and who is asked for what."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from ...core.errors import Misconfigured, Unavailable
from ...core.record import Record, Tier
from .. import Head, Store, verbs
from ..rules import check_epoch
from .member import LONG, SHORT, Leaping, Opening, Side, settled
from .outbox import Aside, Waiting

T = TypeVar("T")
R = TypeVar("R", Record, Record | None)

ROUNDS: Final = 5  # of catching up with each other, while others write
HOMES: Final = {Tier.SHORT: SHORT, Tier.MIDDLE: SHORT, Tier.LONG: LONG}


class Together:
    """The short and the long store, and an outbox while something waits for one of them."""

    def __init__(
        self, short: Opening, long: Opening, folder: Path | None, clock: Callable[[], float]
    ) -> None:
        self.short = Side("short", SHORT, lambda: self._another(short), clock)
        self.long = Side("long", LONG, long, clock)
        self.aside = Aside(clock)
        self.waiting = Waiting(folder, self.aside)
        self._lock = threading.RLock()
        self._pool: ThreadPoolExecutor | None = None
        self._floor = 0  # no write may get a seq below
        self._epoch = 0  # of the long store, as it was last told
        self._turns = 0  # how often it changed who is there: what was indexed before says nothing then
        self._there: tuple[str, ...] = ("long", "short")
        self._graves = False
        self._meant: dict[int, int] = {}  # the epoch of the long store behind each that was told
        self.gate = Gate()

    def _another(self, short: Opening) -> Store:
        """The short store; `Misconfigured` if it is the long one by another name."""
        opened = short() if callable(short) else short
        if opened.identity != self.long.store.identity:
            return opened
        opened.close()
        raise Misconfigured(
            "the short and the long store are the same: name two, or use one without tiered://"
        )

    # Who is there.

    @property
    def outbox(self) -> Side | None:
        return self.waiting.side

    @property
    def sides(self) -> list[Side]:
        """In the order of their claims: the newest word on a record is that which waits in the outbox."""
        box = self.outbox
        return [self.long, self.short, *([] if box is None else [box])]

    def side(self, number: int) -> Side | None:
        return next((side for side in self.sides if side.number == number), None)

    def home(self, record: Record) -> Side:
        return self.short if HOMES[record.tier] == SHORT else self.long

    def missing(self) -> list[str]:
        return [side.name for side in self.sides if side.down]

    def changed(self) -> int:
        """How often this process saw a store go or come back; 0 if never."""
        return self._turns

    def _notice(self) -> None:
        there = tuple(side.name for side in self.sides if not side.down)
        with self._lock:
            if there != self._there:
                self._there = there
                self._turns += 1

    # Asking.

    def asked(self, job: Callable[[Side, Leaping], T]) -> list[tuple[Side, T]]:
        """What each store answers that is there; `Unavailable` if none is."""
        sides = self.sides
        waiting = [self._workers.submit(self._one, side, job) for side in sides[1:]]
        answers = [self._one(sides[0], job), *(one.result() for one in waiting)]
        self._notice()
        found = [
            (side, answer)
            for side, answer in zip(sides, answers, strict=True)
            if not isinstance(answer, Unavailable)
        ]
        if not found:
            raise next(answer for answer in answers if isinstance(answer, Unavailable))
        return found

    @staticmethod
    def _one(side: Side, job: Callable[[Side, Leaping], T]) -> T | Unavailable:
        try:
            return side.ask(lambda store: job(side, store))
        except Unavailable as error:
            return error

    def everyone(self, job: Callable[[Side, Leaping], T]) -> list[tuple[Side, T]]:
        """The same of all stores, one after the other; `Unavailable` if one is missing."""
        try:
            return [(side, side.ask(lambda store, side=side: job(side, store))) for side in self.sides]  # type: ignore[misc]
        finally:
            self._notice()

    @property
    def _workers(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(8, thread_name_prefix="eidet-tiers")
            return self._pool

    # How far they have come.

    def head(self) -> Head:
        """Up to where everybody has come: a store that lags behind leaps, so that it writes nothing below."""
        for _ in range(ROUNDS):
            heads = self.asked(lambda _, store: store.head())
            floor = self._learned(heads)
            late = [side for side, head in heads if head.seq < floor and side.store.writable]
            if not late:
                break
            for side in late:  # it may leap further than asked: then the others follow
                self._one(side, lambda _, store, floor=floor: store.leap(floor))  # type: ignore[misc]
        if not self.writable:
            floor = min(head.seq for _, head in heads)
        return Head(self._told_epoch(), settled(floor) if floor else 0)

    def _learned(self, heads: list[tuple[Side, Head]]) -> int:
        with self._lock:
            for side, head in heads:
                side.came = max(side.came, head.seq)
                if side is self.long:
                    self._epoch = head.epoch
            self._floor = max(self._floor, *(side.came for side, _ in heads))
            return self._floor

    @property
    def writable(self) -> bool:
        known = [side.opened for side in (self.long, self.short)]
        return all(store is None or store.writable for store in known)

    def _told_epoch(self) -> int:
        """That of the long store, raised whenever a store goes or comes back: indexes begin anew then."""
        with self._lock:
            told = self._epoch + self._turns
            self._meant[told] = self._epoch
            return told

    def check_epoch(self, epoch: int | None) -> None:
        """For writers, who need not care who is there: only whether vectors were replaced."""
        if epoch is None:
            return
        try:
            self._epoch = self.long.ask(lambda store: store.head()).epoch
        except Unavailable:
            self._notice()
        if self._meant.get(epoch, epoch) != self._epoch:
            check_epoch(epoch, self._told_epoch())

    def write(self, side: Side, job: Callable[[Leaping], T]) -> T:
        """A write whose seqs come after all that this process has seen."""
        side.leap(self._floor)
        try:
            done = side.ask(job)
            self._came(side, side.ask(lambda store: store.head()).seq)
        finally:
            self._notice()
        return done

    def stored(self, side: Side, job: Callable[[Leaping], list[R]]) -> list[R]:
        """The same; how far the store came can be seen by the records."""
        side.leap(self._floor)
        try:
            records = side.ask(job)
        finally:
            self._notice()
        self._came(side, max((record.seq for record in records if record is not None), default=0))
        return records

    def _came(self, side: Side, seq: int) -> None:
        with self._lock:
            side.came = max(side.came, seq)
            self._floor = max(self._floor, side.came)

    def has_graves(self) -> bool:
        """Whether anything was ever forgotten for good, as far as can be told."""
        if not self._graves:
            try:
                self._graves = self.long.ask(lambda store: verbs.get_setting(store, "graves")) is not None
            except Unavailable:
                self._notice()
        return self._graves

    def know_graves(self, some: bool) -> None:
        self._graves = self._graves or some

    # The outbox.

    def box(self) -> Side:
        """Where writes wait; made when first needed."""
        side = self.waiting.made()
        self._notice()
        return side

    def adopt_boxes(self) -> None:
        self.waiting.adopt()
        self._notice()

    def deliverable(self) -> bool:
        """Whether anything waits for a store that is there."""
        homes = (self.short, SHORT), (self.long, LONG)
        return any(
            not side.down and self.waiting.due([tier for tier, home in HOMES.items() if home == number])
            for side, number in homes
        )

    def put_box_away(self) -> None:
        """If nothing waits in it any more, and nobody is reading it."""
        if self.outbox is not None:
            with self.gate.moving():
                self.waiting.put_away()
            self._notice()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        self.waiting.close()
        self.short.close()
        self.long.close()

    def health(self) -> dict[str, Any]:
        sides = {side.name: side.health() for side in (self.short, self.long)}
        return {**sides, "outbox": self.waiting.health()}


class Gate:
    """Many read at once; while a record is on its way between two stores, nobody counts it twice."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._readers = 0
        self._mover: int | None = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        me = threading.get_ident()
        with self._free:
            self._free.wait_for(lambda: self._mover in (None, me))
            self._readers += 1
        try:
            yield
        finally:
            with self._free:
                self._readers -= 1
                self._free.notify_all()

    @contextmanager
    def moving(self) -> Iterator[None]:
        with self._free:
            self._free.wait_for(lambda: self._mover is None and self._readers == 0)
            self._mover = threading.get_ident()
        try:
            yield
        finally:
            with self._free:
                self._mover = None
                self._free.notify_all()


def monotonic() -> float:
    return time.monotonic()
