"""The connections to one PostgreSQL database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ....core.errors import Corrupt, EidetError, Misconfigured, Unavailable
from ....net.retry import OutcomeUnknown, RetryPolicy
from ... import Head, Scrubbed
from ...group_commit import GroupCommit, QueuedJob
from ..ports import Cursor, Row
from .address import PostgresAddress, connect, hide_password, reign_of, replica_of, set_preparing
from .json_sql import PostgresJson
from .pool import Server
from .replicas import WRITTEN, Replica, Replicas
from .tables import prepare_tables
from .text import escape, read_one, rows_of
from .write import Attempt, PostgresCursor, end

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

SLOW_SECONDS: Final = 600.0  # that a statement over a whole table may take
_DEAD: Final = """SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE relid IN (
    SELECT to_regclass(t)::oid FROM unnest(ARRAY['records', 'events']) t
    UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('records'))"""
_LOOKING: Final = """SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_xmin IS NOT NULL
    AND datname = current_database() AND pid <> pg_backend_pid())"""
NOTHING: Final = Head(0, 0)
TABLES: Final = ("records", "events", "settings", "tallies", "tombstones", "vectors_next")


class _Here(threading.local):
    """Where this thread reads: jobs on a connection are given to `ask`, if it is set."""

    ask: Callable[..., Any] | None = None


class PostgresDriver:
    """Writes to the primary, reads from whoever is near enough to it."""

    json = PostgresJson()
    writable = True

    def __init__(self, address: PostgresAddress, retry_policy: RetryPolicy | None = None) -> None:
        self.address = address
        self._closed = False
        self.ahead: tuple[str, ...] = ()  # what every write asks first, and is answered with the lock
        self.slow: frozenset[str] = frozenset()
        self.reigns: int = 1  # goes up when what was acknowledged before may not be there any more
        self._reign: tuple[Any, ...] | None = None
        policy = _retry_policy(address, retry_policy)
        self.primary: Server = self._server(address.url, self._greet, policy)
        self.retrier = self.primary.retrier
        self._group = GroupCommit(self._commit, self.retrier.policy.deadline_seconds)
        self._here = _Here()
        self.replicas: Replicas = Replicas([self._replica(place) for place in address.replicas])
        try:
            self.primary.ask(lambda connection: prepare_tables(connection, address, self.retrier.name))
        except BaseException:
            self.close()
            raise

    def read(self, sql: str, values: Sequence[Any]) -> list[Row]:
        return self._read(lambda connection: rows_of(connection.execute(sql, escape(values))))

    def snapshot(self, job: Callable[[Cursor], T]) -> T:
        def ask(connection: Connection[Any]) -> T:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                return job(PostgresCursor(connection.cursor()))
            finally:
                end(connection, "COMMIT")

        return self._read(ask)

    def at_primary(self, ask: Callable[[], T], seconds: float | None = None) -> T:
        """Whatever is read in there is read from the primary, each within so many seconds."""
        return self._at(partial(self.primary.ask, deadline_seconds=seconds), ask)

    def _at(self, server: Callable[..., Any], ask: Callable[[], T]) -> T:
        before, self._here.ask = self._here.ask, server
        try:
            return ask()
        finally:
            self._here.ask = before

    def at_one(
        self,
        ask: Callable[[], T],
        unless: type[Exception] = Unavailable,
        seen: Head = NOTHING,
        head: Callable[[], Head] | None = None,
    ) -> T:
        """Whatever is read in there is read from one server, which has come as far as `seen`.

        A replica whose `head` has not, that fails, or of which `ask` raises `unless`, leaves it to the
        primary: then `ask` is run again.
        """
        self._check_open()
        if self._here.ask is not None:
            return ask()
        started, replica = time.monotonic(), self.replicas.pick()
        if replica is None:
            return self.at_primary(ask)
        try:
            if head is not None and replica.seen < seen:
                replica.seen = self._at(replica.ask, head)
            if replica.seen >= seen:
                return self._at(replica.ask, ask)
        except (Unavailable, unless):
            pass
        except EidetError as error:
            replica.complain(error)
        whole = self.retrier.policy.deadline_seconds
        return self.at_primary(ask, max(whole - (time.monotonic() - started), whole / 4))

    def _read(self, job: Callable[[Connection[Any]], T]) -> T:
        self._check_open()
        if self._here.ask is not None:
            answer: T = self._here.ask(job)
            return answer
        if not self.address.replicas:
            return self.primary.ask(job)
        return self.at_one(partial(self._read, job))

    def ask(self, job: Callable[[Connection[Any]], T], *, deadline_seconds: float | None = None) -> T:
        """Runs a job on a connection to the primary; what it has not committed is undone.

        It may be run more than once.
        """
        self._check_open()
        return self.primary.ask(partial(_undone, job), deadline_seconds)

    def look(self, job: Callable[[Connection[Any]], T]) -> T:
        """The same for a job that only reads, from wherever is read."""
        return self._read(partial(_undone, job))

    def write(self, job: Callable[[Cursor], T]) -> T:
        self._check_open()
        return self._group.run(job)

    def _commit(self, waiting: list[QueuedJob[Any]]) -> None:
        """All in one transaction; if the server finds fault with it, each in one of its own."""
        try:
            self._commit_once(waiting)
        except (Corrupt, Misconfigured):
            if len(waiting) == 1:
                raise
            for queued in waiting:
                try:
                    self._commit_once([queued])
                except (Corrupt, Misconfigured) as error:
                    queued.error = error

    def _commit_once(self, waiting: list[QueuedJob[Any]]) -> None:
        """Where the line is lost at the commit, the server tells what came of it."""
        attempt = Attempt(self.ahead)

        def job(left: float) -> None:
            with self.primary.connection(left) as connection:
                if attempt.has_landed(connection):
                    return
                while not attempt.run(connection, waiting, partial(self._more, connection, left)):
                    pass

        try:
            self.retrier.call(job)
        except Unavailable as error:
            if attempt.in_doubt:
                raise OutcomeUnknown(
                    f"{error}; it may or may not have been stored", retry_after=error.retry_after
                ) from error
            raise
        finally:
            self.replicas.note_write()

    def _more(self, connection: Connection[Any], left: float, sql: str) -> None:
        """A transaction may take long; each of its statements may not, but for those over a whole table."""
        self.primary.renew(connection, max(left, SLOW_SECONDS) if sql in self.slow else left)

    def trim(self, most: int) -> int:
        """Deleted rows are cleared away; their space is used again, and given back at the end of a table."""
        del most
        self._vacuum()
        return 0

    def _vacuum(self) -> int:
        """How many deleted rows had to stay, because an older transaction may still look at them."""

        def job(connection: Connection[Any]) -> int:
            self.primary.renew(connection, SLOW_SECONDS)
            connection.execute("VACUUM records, events, tombstones")
            return _dead(connection)

        self._check_open()
        return self.primary.ask(job)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Dead rows are removed; what the server's logs and copies hold until then is not in our hands."""
        del said
        left = self._vacuum()
        waits = (
            f"{left:,} deleted rows wait in {self.retrier.name} for an older transaction to end, "
            "or for a role that may VACUUM the tables"
        )
        return Scrubbed(pending=(waits,) if left else ())

    def size(self) -> int:
        rows = self.read(
            "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c "
            "WHERE c.oid = ANY(SELECT to_regclass(t)::oid FROM unnest(%s::text[]) t) "
            "OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('records'))",
            [list(TABLES)],
        )
        return int(rows[0][0] or 0)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            with self._group.lock:
                self.primary.close()
            self.replicas.close()

    def _check_open(self) -> None:
        if self._closed:
            raise Misconfigured(f"the memory on {self.retrier.name} was closed; open it again")

    def _server(self, url: str, greet: Callable[[Connection[Any]], None], policy: RetryPolicy) -> Server:
        return Server(hide_password(url), partial(connect, url), greet, self.address.connections, policy)

    def _greet(self, connection: Connection[Any]) -> None:
        set_preparing(self.address.prepare, connection)
        reign = reign_of(connection)
        if reign is not None and self._reign is not None and reign != self._reign:
            self.reigns += 1
        self._reign = reign or self._reign

    def _replica(self, place: str) -> Replica:
        policy = replace(self.retrier.policy, break_after=1)
        greet = partial(set_preparing, self.address.prepare)
        server = self._server(replica_of(self.address.url, place), greet, policy)
        return Replica(server, self._read_written, self.address.lag_seconds)

    def _read_written(self) -> int:
        return self.primary.ask(
            lambda connection: int(read_one(connection, WRITTEN)), self.address.lag_seconds
        )


def _undone(job: Callable[[Connection[Any]], T], connection: Connection[Any]) -> T:
    try:
        return job(connection)
    finally:
        end(connection, "ROLLBACK")


def _dead(connection: Connection[Any]) -> int:
    """Deleted rows that VACUUM had to leave.

    Before PostgreSQL 15 its count comes late: then there may be some as long as somebody could look at them.
    """
    count = int(read_one(connection, _DEAD))
    if connection.info.server_version >= 150_000:
        return count
    return max(count, 1) if read_one(connection, _LOOKING) else 0


def _retry_policy(address: PostgresAddress, given: RetryPolicy | None) -> RetryPolicy:
    if given is not None or address.deadline_seconds is None:
        return given or RetryPolicy()
    return RetryPolicy(deadline_seconds=address.deadline_seconds)
