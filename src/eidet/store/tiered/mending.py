"""Delivers what waits and finishes what broke off: now and then, and in the background meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from ...core.errors import EidetError, Unavailable
from ...net.worker import BackgroundWorker
from .. import Use, verbs
from ..lives import Carry
from .members import Members
from .moving import mend

log: logging.Logger = logging.getLogger("eidet")

MEND_SECONDS: Final = 15.0  # between looks for what is out of place, if nobody broke off that we know of
BACK_SECONDS: Final = 1.0  # the same while a store is down or something waits
GOODBYE_SECONDS: Final = 1.0  # that closing waits for a delivery that is under way


class Mender:
    """Mends while nobody writes: writers hold its lock."""

    def __init__(self, members: Members, clock: Callable[[], float], ticks: Callable[[], float]) -> None:
        self.lock = threading.RLock()
        self._members, self._clock, self._ticks = members, clock, ticks
        self._mended = -MEND_SECONDS
        self.waits = False  # for whoever seals what the store holds: only they can write it elsewhere
        self._uses: dict[tuple[str, str], tuple[int, float]] = {}
        self._worker = BackgroundWorker(
            "eidet-courier",
            self._deliver,
            delay_seconds=BACK_SECONDS,
            pause_seconds=BACK_SECONDS,
            on_error=_log_delay,
        )

    def mend_now(self) -> None:
        with self.lock:
            self._mended = self._ticks()
            if self.waits:
                return
            if self._members.writable:
                self._members.adopt_boxes()
            mend(self._members, self._clock())
            self._add_kept_uses()

    def carry_by(self, carry: Carry) -> None:
        """From now on what waited is written so: whoever seals records seals them anew."""
        self._members.carry, self.waits = carry, False
        if self._members.writable:
            self.mend_now()
            self.start_delivery()

    def mend_if_due(self) -> None:
        """Unless somebody writes or mends."""
        if self._members.writes_here:
            return
        hasty = self._members.outbox is not None or self._members.missing() or self._uses
        pause = BACK_SECONDS if hasty else MEND_SECONDS
        if self._ticks() - self._mended >= pause and self.lock.acquire(blocking=False):
            try:
                self.mend_now()
            finally:
                self.lock.release()

    def keep_uses(self, uses: Iterable[Use]) -> None:
        """Keeps the uses of a store that is down for later, in this process."""
        for use in uses:
            before, last = self._uses.get((use.scope, use.id), (0, 0.0))
            self._uses[use.scope, use.id] = before + use.times, max(use.when, last)

    def _add_kept_uses(self) -> None:
        if self._uses and not self._members.missing():
            uses, self._uses = self._uses, {}
            self._members.ask(lambda _, store: verbs.add_uses(store, uses))

    def start_delivery(self) -> None:
        """In the background, as long as something waits."""
        if self._members.outbox is not None:
            self._worker.start()

    def _deliver(self) -> float | None:
        with suppress(Unavailable):
            self._members.ask(lambda _, store: store.head())
        if self._members.deliverable():
            self.mend_now()
        return None if self._members.outbox is None else BACK_SECONDS

    def stop(self) -> None:
        self._worker.stop(GOODBYE_SECONDS)


def _log_delay(error: EidetError) -> None:
    log.debug("what waits is delivered later: %s", error)
