"""The members of a tiered store: which are up, how far they have come, and who is asked for what."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.private_files import OWNER_FOLDER
from ...core.record import Record, Tier
from ...core.where import Where
from .. import Head, Store, verbs
from ..sql.sqlite import SqliteStore
from ..traits import home_of, paths_of
from .member import LONG, OUTBOX, SHORT, LeapingStore, Member, Opening, common_seq

log: logging.Logger = logging.getLogger("eidet")

T = TypeVar("T")

_ROUNDS: Final = 5  # of catching up with each other, while others write


class Members:
    """The short and the long store, and the outbox once something had to wait for one of them.

    All processes that share the folder of the outbox share its file, so each sees what waits for a store.
    """

    def __init__(
        self, short: Opening, long: Opening, folder: Path | None, clock: Callable[[], float]
    ) -> None:
        self.short: Member = Member("short", SHORT, lambda: self._open_another(short), clock)
        self.long: Member = Member("long", LONG, long, clock)
        self.folder = folder
        self.unreadable: dict[str, str] = {}  # the file of an outbox that cannot be opened, and why
        self.floor: int = 0  # no write may get a seq below
        self.writer: int | None = None  # the thread that writes now: it must not wait for itself
        self.turns: int = 0  # how often a member went down or came back
        self.epoch: int = 0  # of the long store, as it was last read
        self._outbox: Member | None = None
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

    @property
    def all(self) -> list[Member]:
        """All members in the order a write nests them; the innermost, the short store, commits first."""
        return [self.long, *([self.outbox] if self.outbox else []), self.short]

    def home(self, record: Record) -> Member:
        """Returns the member that a record belongs to."""
        return self.long if record.tier == Tier.LONG else self.short

    def missing(self) -> list[str]:
        return [member.name for member in self.all if member.down]

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

    # The outbox.

    @property
    def outbox(self) -> Member | None:
        """The outbox; None until something had to wait."""
        file = self._outbox_file
        if self._outbox is None and file is not None and str(file) not in self.unreadable and file.exists():
            self._open_outbox(file)
        return self._outbox

    @property
    def _outbox_file(self) -> Path | None:
        return None if self.folder is None else self.folder / "outbox.db"

    def _open_outbox(self, file: Path) -> None:
        """Opens the outbox; leaves a file that cannot be opened as it is, and keeps the reason."""
        with self._lock:
            try:
                store = SqliteStore(file, durability="power")
            except EidetError as error:
                log.warning("the outbox %s cannot be opened and is left as it is: %s", file, error)
                self.unreadable[str(file)] = str(error)
            else:
                self._outbox = self._outbox or Member("outbox", OUTBOX, store)

    def make_outbox(self) -> None:
        """Creates the outbox; raises `Unavailable` if that is impossible."""
        if self.folder is None or self._outbox_file is None:
            raise Unavailable(
                "there is no outbox: name a folder for it (the option outbox of a tiered memory)"
            )
        try:
            self.folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"{self.folder} cannot be written ({error.strerror})") from error
        self._open_outbox(self._outbox_file)
        if self._outbox is None:
            raise Unavailable(f"the outbox cannot be opened: {self.unreadable}")
        self.notice()

    def count_waiting(self) -> int:
        return 0 if self.outbox is None else self.outbox.ask(lambda store: verbs.count(store, Where()))

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
        if all(member is self._outbox for member, _ in answers):
            raise errors[0]
        return answers

    def ask_everyone(self, job: Callable[[Member, LeapingStore], T]) -> list[tuple[Member, T]]:
        """Asks all members; raises `Unavailable` if one is down."""
        try:
            return [(member, member.ask(partial(job, member))) for member in self.all]
        finally:
            self.notice()

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
        for member in (self._outbox, self.short, self.long):
            if member is not None:
                member.close()

    def health(self) -> dict[str, Any]:
        return {"short": self.short.health(), "long": self.long.health()}
