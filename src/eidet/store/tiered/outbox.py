"""What waits for a store that is down, and what a store would not take."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt, EidetError
from ...core.record import Record, Tier
from ...core.scope import Scope
from ...core.where import Where
from .. import verbs
from ..lives import Carry
from .member import LeapingStore, Member
from .outbox_file import Outbox

log: logging.Logger = logging.getLogger("eidet")

BATCH: Final = 500  # records that are sent at once …
BATCH_CHARS: Final = 1 << 21  # … unless they are so long that it would take long
TIERS: Final = {"short": (Tier.SHORT, Tier.MIDDLE), "long": (Tier.LONG,)}  # what belongs there
ASIDE_SECONDS: Final = 60.0  # before what a store would not take is offered again


class Refusal(NamedTuple):
    """Why a record stays where it is, and until when it is not offered again."""

    record: str
    why: str
    until: float


class Aside:
    """What would not go where it belongs: it is passed over for a while, so that the rest does not wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, int], Refusal] = {}

    def put(self, member: Member, seq: int, name: str, error: EidetError) -> None:
        if (member.name, seq) not in self._kept:
            log.warning("%s stays in the %s for now: %s", name, member.name, error)
        self._kept[member.name, seq] = Refusal(name, str(error), self._clock() + ASIDE_SECONDS)

    def seqs(self, member: Member) -> set[int]:
        """Those of a store that are passed over now."""
        now = self._clock()
        return {seq for (name, seq), one in self._kept.items() if name == member.name and now < one.until}

    def drop_gone(self, member: Member, there: Container[int]) -> None:
        """Forgets what is no longer there."""
        for name, seq in list(self._kept):
            if name == member.name and seq not in there:
                del self._kept[name, seq]

    def refusals(self, member: Member) -> list[Refusal]:
        return [kept for (name, _), kept in sorted(self._kept.items()) if name == member.name]

    def find_due(self, source: Member, target: Member) -> list[Record]:
        """What can be sent from one store to the one where it belongs: the first, in the order of writing."""
        passed = self.seqs(source)
        where = Where(tiers=TIERS[target.name])
        found = source.ask(lambda store: self._find(source, store, where, BATCH + len(passed)))
        return _first([record for record in found if record.seq not in passed])

    def _find(self, member: Member, store: LeapingStore, where: Where, limit: int) -> list[Record]:
        try:
            return store.find(where, limit=limit)
        except Corrupt:
            read: list[Record | None] = []
            for path in verbs.count_scopes(store):
                seqs = store.match(where.within(Scope(path)))
                read += [self._read_one(member, store, path, seq) for seq in seqs]
            readable = [record for record in read if record is not None]
            return sorted(readable, key=lambda record: record.seq)[:limit]

    def _read_one(self, member: Member, store: LeapingStore, scope: str, seq: int) -> Record | None:
        try:
            return store.read(scope, [seq])[0]
        except Corrupt as error:
            self.put(member, seq, "a damaged record", error)
            return None


class Waiting:
    """The outbox of this process, made when first needed, and those that others left behind."""

    def __init__(self, folder: Path | None, aside: Aside) -> None:
        self.folder = folder
        self._aside = aside
        self.box: Outbox | None = None
        self._lock = threading.RLock()
        self._unreadable: dict[str, str] = {}

    def make(self) -> None:
        with self._lock:
            if self.box is None and self.folder is not None:
                self.box = Outbox.new(self.folder)

    def adopt(self, carry: Carry) -> None:
        """What processes left behind that are no more. A file that cannot be read is left alone."""
        if self.folder is None:
            return
        with self._lock:
            self._unreadable.clear()
            for left in Outbox.list_abandoned(self.folder, self._unreadable):
                if not verbs.count(left.store, Where()):
                    left.remove()
                elif self.box is None:
                    self.box = left
                else:
                    self.box.take_over(left, carry)

    def put_away(self) -> None:
        """Removes the outbox if nothing waits in it any more."""
        with self._lock:
            if self.box is not None and not self.count():
                self.box.remove()
                self._aside.drop_gone(self.box, ())
                self.box = None

    def count(self) -> int:
        with self._lock:
            return 0 if self.box is None else verbs.count(self.box.store, Where())

    def stuck(self) -> list[Refusal]:
        """What the store it belongs to would not take."""
        with self._lock:
            box = self.box
            if box is None:
                return []
            if self._aside.refusals(box):
                self._aside.drop_gone(box, set(box.store.match(Where())))
            return self._aside.refusals(box)

    def reason_to_wait(self) -> str | None:
        """Why nothing may be done yet that needs every record in its store."""
        stuck = self.stuck()
        if waiting := self.count() - len(stuck):
            return f"{waiting:,} records still wait in the outbox: try again"
        if stuck:
            return f"{stuck[0].record} is rejected by its store ({stuck[0].why}): revise or forget it first"
        return None

    def health(self) -> dict[str, Any]:
        stuck = self.stuck()
        return {
            "waiting": self.count(),
            "stuck": len(stuck),
            "error": stuck[-1].why if stuck else None,
            "folder": None if self.folder is None else str(self.folder),
            "unreadable": dict(self._unreadable),
        }

    def close(self) -> None:
        if self.box is not None:
            self.box.close()
            self.box = None


def _first(records: list[Record]) -> list[Record]:
    """As many as can be sent at once; one at least."""
    chars = 0
    for at, record in enumerate(records[:BATCH]):
        chars += len(record.text)
        if at and chars > BATCH_CHARS:
            return records[:at]
    return records[:BATCH]
