"""What waits for a store that is down, and what a store would not take."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt, EidetError, Unavailable
from ...core.record import Record, Tier
from ...core.scope import Scope
from ...core.where import Where
from .. import verbs
from .member import OUTBOX, Leaping, Side
from .outbox_file import Outbox

log = logging.getLogger("eidet")

BATCH: Final = 500  # records that are sent at once …
BATCH_CHARS: Final = 1 << 21  # … unless they are so long that it would take long
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

    def put(self, side: Side, seq: int, name: str, error: EidetError) -> None:
        if (side.name, seq) not in self._kept:
            log.warning("%s stays in the %s for now: %s", name, side.name, error)
        self._kept[side.name, seq] = Refusal(name, str(error), self._clock() + ASIDE_SECONDS)

    def seqs(self, side: Side) -> set[int]:
        """Those of a store that are passed over now."""
        now = self._clock()
        return {seq for (name, seq), one in self._kept.items() if name == side.name and now < one.until}

    def gone(self, side: Side, there: Container[int]) -> None:
        """Forgets what is no longer there."""
        for name, seq in list(self._kept):
            if name == side.name and seq not in there:
                del self._kept[name, seq]

    def told(self, side: Side) -> list[Refusal]:
        return [kept for (name, _), kept in sorted(self._kept.items()) if name == side.name]


class Waiting:
    """The outbox of this process, made when first needed, and those that others left behind."""

    def __init__(self, folder: Path | None, aside: Aside) -> None:
        self.folder = folder
        self.side: Side | None = None
        self._aside = aside
        self._box: Outbox | None = None
        self._lock = threading.RLock()
        self._unreadable: dict[str, str] = {}

    def made(self) -> Side:
        with self._lock:
            if self.side is None:
                if self.folder is None:
                    raise Unavailable("there is no outbox: name a folder for it, TieredStore(…, outbox=…)")
                self._hold(Outbox.new(self.folder))
            assert self.side is not None
            return self.side

    def _hold(self, box: Outbox) -> None:
        self._box = box
        self.side = Side("outbox", OUTBOX, box.store)

    def adopt(self) -> None:
        """What processes left behind that are no more. A file that cannot be read is left alone."""
        if self.folder is None:
            return
        with self._lock:
            self._unreadable.clear()
            for left in Outbox.left_behind(self.folder, self._unreadable):
                if not verbs.count(left.store, Where()):
                    left.remove()
                elif self._box is None:
                    self._hold(left)
                else:
                    self._box.take_over(left)

    def due(self, tiers: Sequence[Tier]) -> list[Record]:
        """The first that can be sent, in the order they were written; those set aside are passed over."""
        if self.side is None:
            return []
        passed = self._aside.seqs(self.side)
        where = Where(tiers=tuple(tiers))
        found = self.side.ask(lambda store: self._found(store, where, BATCH + len(passed)))
        return _first([record for record in found if record.seq not in passed])

    def _found(self, store: Leaping, where: Where, limit: int) -> list[Record]:
        try:
            return store.find(where, limit=limit)
        except Corrupt:
            seqs = sorted(
                (seq, path)
                for path in verbs.count_scopes(store)
                for seq in store.match(where.within(Scope(path)))
            )
            read = (self._one(store, path, seq) for seq, path in seqs)
            return [record for record in read if record is not None][:limit]

    def _one(self, store: Leaping, scope: str, seq: int) -> Record | None:
        assert self.side is not None
        try:
            return store.read(scope, [seq])[0]
        except Corrupt as error:
            self._aside.put(self.side, seq, "a damaged record", error)
            return None

    def put_away(self) -> bool:
        """Removes the outbox if nothing waits in it any more; whether it did."""
        with self._lock:
            if self._box is None or verbs.count(self._box.store, Where()):
                return False
            self._box.remove()
            self._aside.gone(self._held, ())
            self._box = self.side = None
            return True

    @property
    def _held(self) -> Side:
        assert self.side is not None
        return self.side

    def count(self) -> int:
        with self._lock:
            return 0 if self._box is None else verbs.count(self._box.store, Where())

    def stuck(self) -> list[Refusal]:
        """What the store it belongs to would not take."""
        with self._lock:
            if self._box is None:
                return []
            if refused := self._aside.told(self._held):
                self._aside.gone(self._held, set(self._box.store.match(Where())))
                refused = self._aside.told(self._held)
            return refused

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
        if self._box is not None:
            self._box.close()
            self._box = self.side = None


def _first(records: list[Record]) -> list[Record]:
    """As many as can be sent at once; one at least."""
    chars = 0
    for at, record in enumerate(records[:BATCH]):
        chars += len(record.text)
        if at and chars > BATCH_CHARS:
            return records[:at]
    return records[:BATCH]
