"""Makes copies in a thread of its own, on a connection that closing the index can cancel."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import EidetError
from ...store.watchdog import shut
from ..scope_worker import ScopeWorker
from .fill import Stopped

if TYPE_CHECKING:
    from psycopg import Connection

log = logging.getLogger("eidet.index")

CANCEL_SECONDS: Final = 1.0
JOIN_SECONDS: Final = 5.0
REST_SECONDS: Final = 5.0  # between two copies of a scope: another process may be at it, or the disk full


class Copier:
    """Copies scopes when asked to. Closing ends the copy that is under way, and the server undoes it."""

    def __init__(self, copy: Callable[[str], None]) -> None:
        self._copy = copy
        self._worker = ScopeWorker("eidet-pgvector", self._try_to_copy, rest_seconds=REST_SECONDS)
        self._connection: Connection[Any] | None = None
        self.ask = self._worker.ask

    @property
    def busy(self) -> list[str]:
        return self._worker.busy

    def is_stopped(self) -> bool:
        return self._worker.thread.stopping

    def _try_to_copy(self, path: str) -> None:
        try:
            self._copy(path)
        except Stopped:
            log.debug("scope %s: its copy was given up because the index is closed", path)
        except EidetError as error:
            log.warning("scope %s could not be copied for the server's index: %s", path, error)

    @contextmanager
    def using(self, connection: Connection[Any]) -> Iterator[None]:
        """Notes the connection of a copy, so that `close` can end it; then it is not tried again."""
        from psycopg import Error

        if self.is_stopped():
            raise Stopped
        self._connection = connection
        try:
            yield
        except (Error, EidetError) as error:
            if self.is_stopped():
                raise Stopped from error
            raise
        finally:
            self._connection = None

    def close(self) -> None:
        """Asks the server to end what it does; cuts the line if it does not answer."""
        thread = self._worker.thread
        thread.ask_to_stop()
        connection = self._connection
        if thread.running and connection is not None:
            with contextlib.suppress(Exception):  # it may have ended by itself just now
                connection.cancel_safe(timeout=CANCEL_SECONDS)
            if not thread.join(CANCEL_SECONDS):
                shut(connection)
        self._worker.close(JOIN_SECONDS)
