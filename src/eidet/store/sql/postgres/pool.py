"""The connections to one server: those that are idle are used again, and after one failed none of them is."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ....core.errors import Unavailable
from ....net.retry import Retrier, RetryPolicy
from ...watchdog import Watchdog
from .errors import translate_errors

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")


class Pool:
    """At most so many connections at once; `connect` is told how many seconds it may take."""

    def __init__(self, connect: Callable[[float], Connection[Any]], most: int) -> None:
        self._connect = connect
        self._most = most
        self._ended = False
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._idle: list[Connection[Any]] = []
        self._room = threading.BoundedSemaphore(self._most)

    @contextmanager
    def connection(self, left: float) -> Iterator[Connection[Any]]:
        if self._pid != os.getpid():
            self._begin()  # connections of the process that this one was forked from are not ours
        room = self._room
        if not room.acquire(timeout=left):
            raise Unavailable(f"all {self._most} connections are in use; call again", retry_after=0.1)
        try:
            connection = self._take(left)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            room.release()

    def _take(self, left: float) -> Connection[Any]:
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        return self._connect(left)

    def _give_back(self, connection: Connection[Any]) -> None:
        if not connection.closed:
            self._idle.append(connection)
        if connection.closed or self._ended:
            self.drop()  # the others were most likely lost with it

    def close(self) -> None:
        """Closes those that are idle; the others close when they come back."""
        self._ended = True
        self.drop()

    def drop(self) -> None:
        """Closes those that are idle."""
        while True:
            try:
                self._idle.pop().close()
            except IndexError:
                return


class Server:
    """One PostgreSQL server. It is asked again where its line breaks, and never for longer than one may.

    `greet` asks a new connection what is to be known of the server before it is used.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[float], Connection[Any]],
        greet: Callable[[Connection[Any]], None],
        most: int,
        retry_policy: RetryPolicy,
    ) -> None:
        self.retrier: Retrier = Retrier(name, retry_policy)
        self._connect, self._greet = connect, greet
        self._pool = Pool(self._open, most)
        self._watch = Watchdog()
        self.renew = self._watch.renew

    def _open(self, left: float) -> Connection[Any]:
        """However long a job may take, nobody waits longer than usual for a server that does not answer."""
        longest = min(left, self.retrier.policy.deadline_seconds)
        connection = self._connect(longest)
        try:
            with self._watch.over(connection, longest):
                self._greet(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def ask(
        self,
        job: Callable[[Connection[Any]], T],
        deadline_seconds: float | None = None,
        max_attempts: int | None = None,
    ) -> T:
        def run(left: float) -> T:
            with self.connection(left) as connection:
                return job(connection)

        return self.retrier.call(run, deadline_seconds=deadline_seconds, max_attempts=max_attempts)

    @contextmanager
    def connection(self, left: float) -> Iterator[Connection[Any]]:
        """A connection for at most so many seconds: then it is closed under whoever waits."""
        with (
            translate_errors(self.retrier.name),
            self._pool.connection(left) as connection,
            self._watch.over(connection, left),
        ):
            yield connection

    def close(self) -> None:
        self._pool.close()
        self._watch.stop()
