"""The members of a tiered store: which are up, how far they have come, and who is asked for what.

The seqs of both stores form one rising sequence: that of a store, times four, plus the number of the store.
No store gives a seq below one that the other gave (see `leap`), so the sequence rises whichever store writes.
The last number stands for no record: such a seq says how far both stores have come.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, cast

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.record import Record, Tier
from ...net.retry import Full
from ...quality import health_of
from .. import STAGED, Head, Store, Table, Transaction
from ..abilities import Leaps
from ..model import K, V
from ..traits import home_of, path_of, paths_of

log: logging.Logger = logging.getLogger("eidet")

T = TypeVar("T")

LONG, SHORT, NOBODY = 0, 1, 3
STEP: Final = 4
_STAGED_FROM: Final = 1 << 60  # above all seqs
RETRY_SECONDS: Final = 1.0  # after which callers may ask a store that is down again
_ROUNDS: Final = 5  # of catching up with each other, while others write


class LeapingStore(Store, Leaps, Protocol):
    """A store that can reserve all seqs up to a number."""


Opening = Store | Callable[[], Store]


def common_seq(seq: int) -> int:
    """Returns the common seq at which each store has come to this seq."""
    return seq * STEP + NOBODY


class Member:
    """A store among others, opened on first use. Thread-safe.

    While it is down, nobody waits for it: `on_down` has it probed in the background until it is back.
    """

    def __init__(self, name: str, number: int, opening: Opening) -> None:
        self.name = name
        self.number = number
        self.on_down: Callable[[], object] = list  # starts the thread that probes it; set once there is one
        self._lock = threading.Lock()
        self._store: LeapingStore | None = None
        self._opening = opening if callable(opening) else lambda: opening
        self._closed = False
        self.error: str | None = None  # why it is down; None while it is up
        self.last_error: str | None = None
        self.leaps_inside = False  # whether its transactions leap, too; learned at the first write
        self.came = 0  # the highest seq that it is known to have reached

    @property
    def down(self) -> bool:
        return self.error is not None

    def ask(self, job: Callable[[LeapingStore], T]) -> T:
        """Runs a job on the store. After `Unavailable`, leaves the store alone until it is back."""
        if self.error is not None:
            self.on_down()
            raise self.down_error()
        try:
            return job(self.store)
        except Unavailable as error:
            self.note_failure(error)
            raise

    def probe(self) -> None:
        """Checks whether a store that was down is back."""
        if self.error is None:
            return
        try:
            self.store.head()
        except Unavailable as error:
            self.note_failure(error)
            return
        except EidetError:
            log.debug("the next caller gets the error itself")
        if not self._closed:
            log.warning("the %s store is back", self.name)
            self.error = None

    def note_failure(self, error: Unavailable) -> None:
        self.last_error = str(error)
        if isinstance(error, Full) or self._still_reads():
            return
        if self.error is None:
            log.warning("the %s store is down: %s", self.name, error)
        self.error = str(error)
        self.on_down()

    def down_error(self) -> Unavailable:
        return Unavailable(f"the {self.name} store is down: {self.error}", retry_after=RETRY_SECONDS)

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
                self._store = _check_leaps(self._opening(), self.name)
            return self._store

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
        """Closes the store: an answer that comes late changes and logs nothing."""
        self._closed = True
        if self._store is not None:
            self._store.close()


def _check_leaps(store: Store, name: str) -> LeapingStore:
    if not isinstance(store, Leaps):
        store.close()
        raise Misconfigured(
            f"{type(store).__name__} cannot be the {name} store of a tiered one: it has no `leap(seq)`"
        )
    return store


class Members:
    """The short and the long store."""

    def __init__(self, short: Opening, long: Opening) -> None:
        self.short: Member = Member("short", SHORT, lambda: self._open_another(short))
        self.long: Member = Member("long", LONG, long)
        self.all: tuple[Member, Member] = (
            self.long,
            self.short,
        )  # as a write nests them; the last commits first
        self.floor: int = 0  # no write may get a seq below
        self.writer: int | None = None  # the thread that writes now: it must not wait for itself
        self.turns: int = 0  # how often a member went down or came back
        self.epoch: int = 0  # of the long store, as it was last read
        self._turned_at = 0  # indexes made up to here ignore which members are up
        self._lock = threading.RLock()
        self._there: tuple[str, ...] = ("long", "short")

    def _open_another(self, short: Opening) -> Store:
        """Opens the short store; raises `Misconfigured` if it is the long one by another name."""
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

    # Which members are up.

    def home(self, record: Record) -> Member:
        """Returns the member that a record belongs to."""
        return self.long if record.tier == Tier.LONG else self.short

    def other(self, member: Member) -> Member:
        return self.short if member is self.long else self.long

    def missing(self) -> list[str]:
        return [member.name for member in self.all if member.down]

    def probe(self) -> None:
        """Checks whether members that were down are back."""
        for member in self.all:
            member.probe()
        self.notice()

    @property
    def writable(self) -> bool:
        return self.long.writable and self.short.writable

    def notice(self) -> None:
        """Makes indexes start over, above any seq in use, when members went down or came back."""
        there = tuple(member.name for member in self.all if not member.down)
        with self._lock:
            if there != self._there:
                self._there = there
                self.turns += 1
                self.floor += 1
                self._turned_at = self.floor

    # Asking.

    def ask(self, job: Callable[[Member, LeapingStore], T]) -> list[tuple[Member, T]]:
        """Asks each member that is up; raises `Unavailable` if neither is."""
        answers: list[tuple[Member, T]] = []
        errors: list[Unavailable] = []
        for member in self.all:
            try:
                answers.append((member, member.ask(partial(job, member))))
            except Unavailable as error:
                errors.append(error)
        self.notice()
        if not answers:
            raise errors[0]
        return answers

    def ask_everyone(self, job: Callable[[Member, LeapingStore], T]) -> list[tuple[Member, T]]:
        """Asks all members; raises `Unavailable` if one is down."""
        try:
            return [(member, member.ask(partial(job, member))) for member in self.all]
        finally:
            self.notice()

    # What the long store keeps for all.

    def read_values(
        self, source: LeapingStore | Transaction, table: Table[K, V], keys: Sequence[K] | None, **limits: Any
    ) -> dict[K, V]:
        """Reads from the long store, or from a transaction of it."""
        if table.name != STAGED.name:
            return source.values(table, keys, **limits)
        asked = None if keys is None else list(self.place_values(table, dict.fromkeys(keys)))
        staged = cast("Mapping[Any, V]", source.values(table, asked, **limits))
        return {cast("K", key % _STAGED_FROM): vector for key, vector in staged.items()}

    def place_values(self, table: Table[K, V], values: Mapping[K, V | None]) -> Mapping[K, V | None]:
        """Returns values by the keys under which the long store keeps them.

        A store that deletes a record deletes what is staged at the seq that it gave it, which may be the
        common seq of another. So vectors are staged from `_STAGED_FROM` on; none stays where 0.3.0 had it.
        """
        if table.name != STAGED.name:
            return values
        staged = cast("Mapping[Any, V | None]", values)
        return dict.fromkeys(values) | {_STAGED_FROM + seq: vector for seq, vector in staged.items()}

    # How far they have come.

    def head(self) -> Head:
        """Returns how far all have come; a store that lags behind leaps, so that it writes nothing below."""
        for _ in range(_ROUNDS):
            heads = self.ask(lambda _, store: store.head())
            for member, head in heads:
                self._learn(member, head)
            floor = self.floor
            late = [member for member, head in heads if head.seq < floor and member.store.writable]
            if not late or self.writes_here:
                break
            for member in late:  # it may leap further than asked: then the others follow
                member.try_leap(floor)
        if not self.writable:  # no member can leap, and no writer is misled by another epoch
            floor = min(head.seq for _, head in heads)
            return Head(self.epoch + self.turns, common_seq(floor) if floor else 0)
        return Head(self.epoch, common_seq(floor) if floor else 0)

    @property
    def writes_here(self) -> bool:
        """Returns whether this thread is in the middle of a write."""
        return self.writer == threading.get_ident()

    @property
    def pruned(self) -> int:
        """Works like `Changes.pruned`: readers that last read before this seq start over."""
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

    def close(self) -> None:
        for member in (self.short, self.long):
            member.close()

    def health(self) -> dict[str, Any]:
        return {"short": self.short.health(), "long": self.long.health()}
