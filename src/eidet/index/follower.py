"""Takes in what was written, in a thread of its own, so that the next recall need not.

An index follows its store: the first recall after a large write reads all of it. A loader that writes many
records and then asks would wait for seconds. The follower reads along while the loader goes on writing. What
it has not read yet, the next recall reads, as before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final

from ..core.errors import EidetError
from ..net.worker import BackgroundWorker

MANY: Final = 500  # records of one write from which on it is worth a thread
log: logging.Logger = logging.getLogger("eidet")


class Follower:
    """Calls `take_in` for the scopes that were written to. The thread ends when there is none left."""

    def __init__(self, take_in: Callable[[str], None]) -> None:
        self._take_in = take_in
        self._waiting: dict[str, None] = {}
        self._worker = BackgroundWorker("eidet-follower", self._step, pause_seconds=0.0, on_error=_ignore)

    def note(self, scopes: Iterable[str]) -> None:
        self._waiting.update(dict.fromkeys(scopes))
        self._worker.start()

    def _step(self) -> float | None:
        try:
            scope, _ = self._waiting.popitem()
        except KeyError:
            return None
        self._take_in(scope)
        return 0.0

    def close(self) -> None:
        """Waits for the scope that is being read."""
        self._waiting.clear()
        self._worker.stop()


def _ignore(error: EidetError) -> None:
    log.debug("the index could not read along; the next recall tells why: %s", error)
