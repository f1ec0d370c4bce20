"""A transaction on PostgreSQL that is retried until it is known to have been committed once; its texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ....core.errors import Unavailable
from ...group_commit import QueuedJob
from ..ports import Cursor, Row

if TYPE_CHECKING:
    from psycopg import Connection

LOCK: Final = 0x45494445  # held while writing: seqs are assigned, and become visible, in one order
_BEGIN: Final = f"BEGIN; SELECT pg_advisory_xact_lock({LOCK}), pg_current_xact_id()::text"
_STATUS: Final = "SELECT pg_xact_status(%s::xid8)"

Progress = Callable[[str], None]  # called with each statement before it is run


class Attempt:
    """An attempt to commit queued jobs once, which finds out the outcome of an unanswered commit."""

    def __init__(self) -> None:
        self._xid: str | None = None  # of a commit that was not answered

    @property
    def in_doubt(self) -> bool:
        return self._xid is not None

    def has_landed(self, connection: Connection[Any]) -> bool:
        """Returns whether an unanswered commit took effect. One that this server never saw did not."""
        import psycopg

        if self._xid is None:
            return False
        try:
            row = connection.execute(_STATUS, [self._xid]).fetchone()
        except psycopg.errors.InvalidParameterValue:  # "in the future": a server that took over without it
            row = None
        status = None if row is None else row[0]
        if status == "in progress":
            raise Unavailable("a commit is still in progress", retry_after=0.1)
        if status != "committed":
            self._xid = None
        return status == "committed"

    def run(self, connection: Connection[Any], waiting: Sequence[QueuedJob[Any]], progress: Progress) -> bool:
        """Runs the jobs that have not failed; returns False if one failed now: the others must run again."""
        try:
            self._run_all(connection, [queued for queued in waiting if queued.error is None], progress)
        except _Failed:
            end(connection, "ROLLBACK")
            return False
        except BaseException:
            if self._xid is None:
                end(connection, "ROLLBACK")
            raise
        return True

    def _run_all(
        self, connection: Connection[Any], waiting: Sequence[QueuedJob[Any]], progress: Progress
    ) -> None:
        """Takes the lock that all processes share, then runs and commits the jobs."""
        if not waiting:
            return
        begun = connection.execute(_BEGIN)
        begun.nextset()
        ((_, xid),) = begun.fetchall()
        cursor = PostgresCursor(connection.cursor(), progress)
        for queued in waiting:
            _run_one(queued, cursor)
        self._xid = xid
        connection.execute("COMMIT")
        self._xid = None


def _run_one(queued: QueuedJob[Any], cursor: Cursor) -> None:
    """Runs a job. An error of the server or connection concerns all jobs; any other belongs to this one."""
    import psycopg

    try:
        queued.result = queued.job(cursor)
    except psycopg.Error:
        raise
    except Exception as error:
        queued.error = error
        raise _Failed from error


class _Failed(Exception):
    """Raised if a job failed by its own fault; its `QueuedJob` has the error."""


class PostgresCursor:
    """A psycopg cursor that escapes characters which PostgreSQL's texts cannot hold."""

    __slots__ = ("_progress", "raw", "rowcount")

    def __init__(self, raw: Any, progress: Progress | None = None) -> None:
        self.raw: Any = raw
        self._progress = progress or _ignore
        self.rowcount: int = 0  # of the last statement, over all its rows

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> None:
        self._progress(sql)
        self.raw.execute(sql, escape(parameters))
        self.rowcount = self.raw.rowcount

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        rows = [escape(row) for row in parameters]
        self.rowcount = 0
        for start in range(0, len(rows), 1000):
            self._progress(sql)
            self.raw.executemany(sql, rows[start : start + 1000])
            self.rowcount += self.raw.rowcount

    def copy(self, sql: str, types: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        self._progress(sql)
        with self.raw.copy(sql) as copy:
            copy.set_types(list(types.values()))
            for row in rows:
                copy.write_row(escape(row))

    def fetchone(self) -> Row | None:
        row = self.raw.fetchone()
        return None if row is None else unescape_row(row)

    def fetchall(self) -> list[Row]:
        return rows_of(self.raw)


def _ignore(sql: str) -> None:
    """Ignores a statement: the `Progress` of a cursor that has no other."""
    del sql


def end(connection: Connection[Any], how: str) -> None:
    """Ends a transaction, unless the connection is gone or there is none."""
    from psycopg.pq import TransactionStatus

    if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
        connection.execute(how)


# Texts that PostgreSQL cannot hold as they are.


_AS_IT_IS: Final = frozenset((type(None), float, int, bool, bytes))


def escape(values: Sequence[Any]) -> list[Any]:
    """Replaces NUL, which PostgreSQL cannot hold, neither as it is nor as an escape in JSON.

    Substitute characters take its place: NUL becomes SUB 0, and SUB itself SUB 1.
    """
    return [value if type(value) in _AS_IT_IS else _storable(value) for value in values]


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _escape(value)
    return escape(value) if isinstance(value, list) else value


def _escape(text: str) -> str:
    if "\0" not in text and "\x1a" not in text and "\\u00" not in text:
        return text
    text = text.replace("\x1a", "\x1a1").replace("\0", "\x1a0")
    return text.replace("\\u001a", "\\u001a1").replace("\\u0000", "\\u001a0")


def unescape_row(row: Sequence[Any]) -> Row:
    return tuple(_plain(value) if isinstance(value, str) else value for value in row)


def _plain(text: str) -> str:
    if "\x1a" not in text and "\\u001a" not in text:
        return text
    text = text.replace("\\u001a0", "\\u0000").replace("\\u001a1", "\\u001a")
    return text.replace("\x1a0", "\0").replace("\x1a1", "\x1a")


def rows_of(cursor: Any) -> list[Row]:
    return list(map(unescape_row, cursor.fetchall()))


def array_of(seqs: Iterable[int]) -> str:
    """Formats seqs as an array for the server; the driver would inspect each."""
    return f"{{{','.join(map(str, seqs))}}}"
