"""The stores of a tiered store as one: who is there, how far they have come, and who is asked for what."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from ...core.errors import Misconfigured, Unavailable
from ...core.record import Record, Tier
from .. import Head, Store
from ..lives import Carry, put_lives
from ..traits import home_of, paths_of
from .member import LONG, SHORT, LeapingStore, Member, Opening, common_seq
from .move_gate import Gate
from .outbox import Aside, Waiting

T = TypeVar("T")

ROUNDS: Final = 5  # of catching up with each other, while others write


class Members:
    """The short and the long store, and an outbox while something waits for one of them."""

    def __init__(
        self, short: Opening, long: Opening, folder: Path | None, clock: Callable[[], float]
    ) -> None:
        self.short: Member = Member("short", SHORT, lambda: self._open_another(short), clock)
        self.long: Member = Member("long", LONG, long, clock)
        self.aside: Aside = Aside(clock)
        self.waiting: Waiting = Waiting(folder, self.aside)
        self.gate: Gate = Gate()
        self.carry: Carry = put_lives  # writes what waited into the store that it belongs to
        self.floor: int = 0  # no write may get a seq below
        self.writer: int | None = None  # the thread that writes now: it must not wait for itself
        self.turns: int = 0  # how often a store went or came back
        self.epoch: int = 0  # of the long store, as it was last told
        self._turned_at = 0  # what was indexed up to here says nothing of who is there now
        self._lock = threading.RLock()
        self._pool: ThreadPoolExecutor | None = None
        self._there: tuple[str, ...] = ("long", "short")

    def _open_another(self, short: Opening) -> Store:
        """The short store; `Misconfigured` if it is the long one by another name."""
        opened = short() if callable(short) else short
        if opened.identity != self.long.store.identity:
            return opened
        opened.close()
        raise Misconfigured(
            "the short and the long store are the same: name two, or use one without tiered://"
        )

    def list_files(self) -> tuple[Path, ...]:
        return (*paths_of(self.long.store), *paths_of(self.short.store))

    def tell_home(self) -> str:
        return "\n".join((home_of(self.long.store), home_of(self.short.store)))

    # Who is there.

    @property
    def outbox(self) -> Member | None:
        return self.waiting.box

    @property
    def all(self) -> list[Member]:
        """In the order in which a write holds them."""
        members = [self.long, self.short]
        if self.outbox is not None:
            members.append(self.outbox)
        return members

    def home(self, record: Record) -> Member:
        return self.long if record.tier == Tier.LONG else self.short

    def missing(self) -> list[str]:
        return [member.name for member in self.all if member.down]

    def notice(self) -> None:
        """Sees whether it changed who is there: indexes begin anew then, above a seq that nobody has."""
        there = tuple(member.name for member in self.all if not member.down)
        with self._lock:
            if there != self._there:
                self._there = there
                self.turns += 1
                self.floor += 1
                self._turned_at = self.floor

    # Asking.

    def ask(self, job: Callable[[Member, LeapingStore], T]) -> list[tuple[Member, T]]:
        """What each store answers that is there; `Unavailable` if none is."""
        first, *others = self.all
        asked: list[tuple[Member, Callable[[], T]]] = [(first, partial(_ask_one, first, job))]
        for member in others:
            asked.append((member, self._workers.submit(_ask_one, member, job).result))
        answers: list[tuple[Member, T]] = []
        errors: list[Unavailable] = []
        for member, answer in asked:
            try:
                answers.append((member, answer()))
            except Unavailable as error:
                errors.append(error)
        self.notice()
        if not answers:
            raise errors[0]
        return answers

    def ask_everyone(self, job: Callable[[Member, LeapingStore], T]) -> list[tuple[Member, T]]:
        """The same of all stores, one after the other; `Unavailable` if one is missing."""
        try:
            return [(member, _ask_one(member, job)) for member in self.all]
        finally:
            self.notice()

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
            heads = self.ask(lambda _, store: store.head())
            for member, head in heads:
                self._learn(member, head)
            floor = self.floor
            late = [member for member, head in heads if head.seq < floor and member.store.writable]
            if not late or self.writes_here:
                break
            for member in late:  # it may leap further than asked: then the others follow
                member.try_leap(floor)
        if not self.writable:  # nobody can leap; and nobody who writes is misled by another epoch
            floor = min(head.seq for _, head in heads)
            return Head(self.epoch + self.turns, common_seq(floor) if floor else 0)
        return Head(self.epoch, common_seq(floor) if floor else 0)

    @property
    def writes_here(self) -> bool:
        """Whether this thread is in the middle of a write."""
        return self.writer == threading.get_ident()

    @property
    def pruned(self) -> int:
        """See `Changes`: whoever was here last before this seq begins anew."""
        return common_seq(self._turned_at) if self._turned_at else 0

    def _learn(self, member: Member, head: Head) -> None:
        self.note_seq(member, head.seq)
        if member is self.long:
            self.epoch = head.epoch

    def note_head(self, member: Member) -> None:
        self._learn(member, member.ask(lambda store: store.head()))

    def note_seq(self, member: Member, seq: int) -> None:
        with self._lock:
            member.came = max(member.came, seq)
            self.floor = max(self.floor, member.came)

    @property
    def writable(self) -> bool:
        return self.long.writable and self.short.writable

    # The outbox.

    def open_outbox(self) -> None:
        """Where writes wait; made when first needed."""
        self.waiting.make()
        self.notice()

    def adopt_boxes(self) -> None:
        self.waiting.adopt(self.carry)
        self.notice()

    def deliverable(self) -> bool:
        """Whether anything waits for a store that is there."""
        box = self.outbox
        if box is None:
            return False
        return any(not home.down and self.aside.find_due(box, home) for home in (self.short, self.long))

    def put_box_away(self) -> None:
        """If nothing waits in it any more, and nobody is reading it."""
        if self.outbox is not None:
            with self.gate.moving():
                self.waiting.put_away()
            self.notice()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        self.waiting.close()
        self.short.close()
        self.long.close()

    def health(self) -> dict[str, Any]:
        return {"short": self.short.health(), "long": self.long.health(), "outbox": self.waiting.health()}


def _ask_one(member: Member, job: Callable[[Member, LeapingStore], T]) -> T:
    return member.ask(lambda store: job(member, store))
