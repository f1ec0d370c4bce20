"""The connections to one PostgreSQL server: psycopg's pool, with a deadline for every wait.

Imported only where psycopg is known to be installed.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeVar
from weakref import WeakSet

from psycopg import Connection, OperationalError
from psycopg.abc import PQGen
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ....core.errors import Misconfigured, Unavailable
from ....net.retry import Retrier, RetryPolicy
from .address import PostgresAddress, connect_options, hide_password
from .errors import translate_errors

T = TypeVar("T")

_LOOK_SECONDS: Final = 0.1  # how often a waiting caller checks whether connecting failed
_CLOSE_SECONDS: Final = 2.0

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # our errors report what it warns of


class _Overdue(OperationalError):
    """Raised if the server did not answer in time."""


class DeadlineConnection(Connection[Any]):
    """A connection that closes itself when the server is silent beyond `ends`, in every statement."""

    ends: float = math.inf  # of `time.monotonic`
    seconds: float = math.inf  # that were given

    @classmethod
    def connect(cls, conninfo: str = "", *, server: Server, **options: Any) -> DeadlineConnection:  # type: ignore[override]
        return server.open(partial(super().connect, conninfo, **options))

    def allow(self, seconds: float) -> None:
        """Gives the server so many seconds from now on."""
        self.seconds = seconds
        self.ends = time.monotonic() + seconds

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        try:
            return super().wait(self._in_time(gen), *args, **kwargs)
        except _Overdue:
            self.close()
            raise

    def _in_time(self, gen: PQGen[T]) -> PQGen[T]:
        """Checks the deadline whenever psycopg wakes up: every tenth of a second, even without data."""
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > self.ends:
                    raise _Overdue(
                        f"no answer within {self.seconds:.3g} s, so the connection was closed from here; "
                        "if the server needs more time, set eidet_deadline_seconds in its address"
                    )
                wanted = gen.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result


class Server:
    """One PostgreSQL server. Retries calls on a broken connection until their deadline.

    `greet` reads from a new connection what must be known of the server before it is used.
    """

    def __init__(
        self, address: PostgresAddress, greet: Callable[[Connection[Any]], None], retry_policy: RetryPolicy
    ) -> None:
        self.retrier: Retrier = Retrier(hide_password(address.url), retry_policy)
        self._address, self._greet = address, greet
        self._closed = False
        self._failures = 0  # to connect
        self._error: Exception | None = None  # of the last one
        self._begin()
        _servers.add(self)

    def _begin(self) -> None:
        self._pid = os.getpid()
        seconds = self.retrier.policy.deadline_seconds
        self._pool: ConnectionPool[DeadlineConnection] = ConnectionPool(
            self._address.url,
            connection_class=DeadlineConnection,
            kwargs={"server": self, **connect_options(self._address.url, seconds)},
            min_size=0,
            max_size=self._address.connections,
            reconnect_timeout=0.0,  # the retrier asks again
            num_workers=1,
            open=True,
        )

    def open(self, connect: Callable[[], DeadlineConnection]) -> DeadlineConnection:
        """Opens a connection for the pool. Runs in the pool's thread, so it stores the error for callers."""
        connection = None
        try:
            connection = connect()
            connection.allow(self.retrier.policy.deadline_seconds)
            self._greet(connection)
        except Exception as error:
            if connection is not None:
                connection.close()
            self._error = error
            self._failures += 1
            raise
        return connection

    def ask(self, job: Callable[[DeadlineConnection], T], deadline_seconds: float | None = None) -> T:
        def run(left: float) -> T:
            with self.connection(left) as connection:
                return job(connection)

        return self.retrier.call(run, deadline_seconds=deadline_seconds)

    @contextmanager
    def connection(self, left: float) -> Iterator[DeadlineConnection]:
        """Lends a connection on which the server must answer within so many seconds."""
        if self._closed:
            raise Misconfigured(f"the memory on {self.retrier.name} was closed; open it again")
        with translate_errors(self.retrier.name):
            pool = self._own_pool()
            connection = self._take(pool, left)
            try:
                yield connection
            finally:
                lost = connection.closed
                pool.putconn(connection)
                if lost:
                    pool.drain()  # the others were most likely lost with it

    def _own_pool(self) -> ConnectionPool[DeadlineConnection]:
        """Returns this process's pool; a forked child makes its own and leaves its parent's alone."""
        if self._pid != os.getpid():
            self._of_parent = self._pool
            self._begin()
        return self._pool

    def _take(self, pool: ConnectionPool[DeadlineConnection], left: float) -> DeadlineConnection:
        ends, failures = time.monotonic() + left, self._failures
        while True:
            remaining = ends - time.monotonic()
            try:
                connection = pool.getconn(timeout=min(max(remaining, 0.001), _LOOK_SECONDS))
            except PoolTimeout:
                if self._failures > failures and self._error is not None:
                    raise self._error from None
                if remaining <= _LOOK_SECONDS:
                    raise Unavailable(self._explain_wait(), retry_after=0.1) from None
            except PoolClosed:
                raise Unavailable(f"{self.retrier.name} was closed meanwhile") from None
            else:
                connection.allow(max(ends - time.monotonic(), 0.001))
                return connection

    def _explain_wait(self) -> str:
        most = self._address.connections
        return (
            f"{self.retrier.name} gave no connection in time: all {most} are in use, or it does not answer; "
            "call again, or raise eidet_connections"
        )

    def close(self) -> None:
        """Closes idle connections; those in use are closed when they come back."""
        if not self._closed:
            self._closed = True
            if self._pid == os.getpid():
                self._pool.close(_CLOSE_SECONDS)


_servers: Final[WeakSet[Server]] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Closes all pools. From Python 3.13 on, an open pool delays the end of a process by ten seconds."""
    for server in list(_servers):
        server.close()
