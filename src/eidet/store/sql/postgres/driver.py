"""The connections to one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ....core.errors import Corrupt, Misconfigured, Unavailable
from ....net.retry import OutcomeUnknown, RetryPolicy
from ... import Scrubbed
from ...group_commit import GroupCommit, QueuedJob
from ..migrate import REVISION, raise_plain, upgrade
from ..ports import Cursor, Row
from .address import PostgresAddress, connect_options, parts_of
from .errors import translate_errors
from .json_sql import PostgresJson
from .write import LOCK, Attempt, PostgresCursor, end, escape, rows_of

if TYPE_CHECKING:
    from psycopg import Connection

    from .pool import DeadlineConnection, Server

_REIGN: Final = """SELECT CASE WHEN NOT pg_is_in_recovery()
    THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END, CASE WHEN 'off' IN
    (current_setting('fsync'), current_setting('synchronous_commit')) THEN pg_postmaster_start_time() END"""

T = TypeVar("T")

_CONNECT_SECONDS: Final = 10.0
_SLOW_SECONDS: Final = 600.0  # that a statement over a whole table may take
_DEAD: Final = """SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables
    WHERE relid IN (to_regclass('records'), to_regclass('events'))"""
_LOOKING: Final = """SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_xmin IS NOT NULL
    AND datname = current_database() AND pid <> pg_backend_pid())"""
TABLES: Final = ("records", "events", "settings", "tallies", "tombstones", "vectors_next")


class PostgresDriver:
    """The driver of one database: runs reads and writes; every call ends by its deadline."""

    json = PostgresJson()
    writable = True

    def __init__(self, address: PostgresAddress, retry_policy: RetryPolicy | None = None) -> None:
        self.address = address
        self.slow: frozenset[str] = frozenset()
        self.reigns: int = 1  # rises when acknowledged writes may have been lost
        self._reign: tuple[Any, ...] | None = None
        self.server = _reach(address, self._greet, retry_policy)
        self.retrier = self.server.retrier
        self._group = GroupCommit(self._commit, self.retrier.policy.deadline_seconds)
        try:
            self.server.ask(lambda connection: _prepare_tables(connection, address, self.retrier.name))
        except BaseException:
            self.close()
            raise

    def read(self, sql: str, values: Sequence[Any]) -> list[Row]:
        return self.server.ask(lambda connection: rows_of(connection.execute(sql, escape(values))))

    def snapshot(self, job: Callable[[Cursor], T]) -> T:
        def ask(connection: Connection[Any]) -> T:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                return job(PostgresCursor(connection.cursor()))
            finally:
                end(connection, "COMMIT")

        return self.server.ask(ask)

    def ask(self, job: Callable[[DeadlineConnection], T], *, deadline_seconds: float | None = None) -> T:
        """Runs a job on a connection, perhaps more than once; undoes what it has not committed."""
        return self.server.ask(partial(_undone, job), deadline_seconds)

    def write(self, job: Callable[[Cursor], T]) -> T:
        return self._group.run(job)

    def _commit(self, waiting: list[QueuedJob[Any]]) -> None:
        """Commits all jobs in one transaction; if the server rejects it, each in its own."""
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
        """Commits once. If the connection breaks at the commit, asks the server for the outcome."""
        attempt = Attempt()

        def job(left: float) -> None:
            with self.server.connection(left) as connection:
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

    def _more(self, connection: DeadlineConnection, left: float, sql: str) -> None:
        """Renews the deadline before each statement; statements over a whole table get more time."""
        connection.allow(max(left, _SLOW_SECONDS) if sql in self.slow else left)

    def trim(self, most: int) -> int:
        """Vacuums. Freed space is used again, and given back only at the end of a table, so it returns 0."""
        del most
        self._vacuum()
        return 0

    def _vacuum(self) -> int:
        """Vacuums. Returns how many deleted rows stay because an older transaction may see them."""

        def job(connection: DeadlineConnection) -> int:
            connection.allow(_SLOW_SECONDS)
            connection.execute("VACUUM records, events, tombstones")
            return _dead(connection)

        return self.server.ask(job)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Removes dead rows; cannot reach what the server's logs and copies hold until then."""
        del said
        left = self._vacuum()
        waits = (
            f"{left:,} deleted rows wait in {self.retrier.name} for an older transaction to end, "
            "or for a role that may VACUUM the tables"
        )
        return Scrubbed(pending=(waits,) if left else ())

    def size(self) -> int:
        rows = self.read(
            "SELECT sum(pg_total_relation_size(to_regclass(t)))::bigint FROM unnest(%s::text[]) t",
            [list(TABLES)],
        )
        return int(rows[0][0] or 0)

    def close(self) -> None:
        with self._group.lock:
            self.server.close()

    def _greet(self, connection: Connection[Any]) -> None:
        _set_preparing(connection)
        reign = _reign_of(connection)
        if reign is not None and self._reign is not None and reign != self._reign:
            self.reigns += 1
        self._reign = reign or self._reign


def _reach(
    address: PostgresAddress, greet: Callable[[Connection[Any]], None], policy: RetryPolicy | None
) -> Server:
    parts_of(address.url)  # says which extra is missing
    from .pool import Server

    seconds = address.deadline_seconds
    usual = RetryPolicy() if seconds is None else RetryPolicy(deadline_seconds=seconds)
    return Server(address, greet, policy or usual)


def _undone(job: Callable[[DeadlineConnection], T], connection: DeadlineConnection) -> T:
    try:
        return job(connection)
    finally:
        end(connection, "ROLLBACK")


def _dead(connection: Connection[Any]) -> int:
    """Counts the deleted rows that VACUUM had to leave.

    Before PostgreSQL 15 its count is late: then at least 1, as long as another transaction may look at them.
    """
    count = int(_read_one(connection, _DEAD))
    if connection.info.server_version >= 150_000:
        return count
    return max(count, 1) if _read_one(connection, _LOOKING) else 0


def _prepare_tables(connection: Connection[Any], address: PostgresAddress, name: str) -> None:
    """Creates or upgrades the tables; of several processes, one does."""
    current = _find_revision(connection)
    if current is None:
        _check_encoding(connection, name)
    if current != REVISION:
        with translate_errors(name), raise_plain(), _make_engine(address).begin() as wrapped:
            wrapped.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
            raw = wrapped.connection.driver_connection
            upgrade(wrapped, _find_revision(raw), name)


def _check_encoding(connection: Connection[Any], name: str) -> None:
    encoding = _read_one(connection, "SHOW server_encoding")
    if encoding != "UTF8":
        raise Misconfigured(
            f"{name} stores texts as {encoding}, which cannot hold all of them: "
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )


def _find_revision(connection: Any) -> str | None:
    if _read_one(connection, "SELECT to_regclass('alembic_version')") is None:
        return None
    revision = _read_one(connection, "SELECT version_num FROM alembic_version")
    return None if revision is None else str(revision)


def _make_engine(address: PostgresAddress) -> Any:
    """Builds a SQLAlchemy engine around a connection of its own, for migrations only."""
    import psycopg
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    def begin() -> Connection[Any]:
        options = {**connect_options(address.url, _CONNECT_SECONDS), "autocommit": False}
        return psycopg.connect(address.url, prepare_threshold=None, **options)

    return create_engine("postgresql+psycopg://", creator=begin, poolclass=NullPool)


def _set_preparing(connection: Connection[Any]) -> None:
    """Prepares no statements behind a pooler, which may not know them.

    With a pooler, the process that answered the connection is not the one that works for it.
    """
    if _read_one(connection, "SELECT pg_backend_pid()") != connection.info.backend_pid:
        connection.prepare_threshold = None


def _reign_of(connection: Connection[Any]) -> tuple[Any, ...] | None:
    """Returns a value that changes when a failover, restore or unsynced restart may have lost writes."""
    from psycopg import errors

    try:
        return connection.execute(_REIGN).fetchone()
    except (errors.UndefinedFunction, errors.FeatureNotSupported, errors.InsufficientPrivilege):
        return None


def _read_one(connection: Any, sql: str) -> Any:
    """Returns the first column of the first row; None without one."""
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]
