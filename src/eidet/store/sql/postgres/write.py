"""A transaction on PostgreSQL that is tried until it is known to have been committed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ....core.errors import Unavailable
from ...group_commit import QueuedJob
from ..ports import Cursor
from .text import Row, escape, rows_of, unescape_row

if TYPE_CHECKING:
    from psycopg import Connection

LOCK: Final = 0x45494445  # of whoever writes: seqs are given, and become visible, in one order
_TURN: Final = f"SELECT pg_advisory_xact_lock({LOCK})"
_ALONE: Final = f"SELECT pg_advisory_xact_lock({LOCK}), pg_current_xact_id()::text"
_STATUS: Final = "SELECT pg_xact_status(%s::xid8)"
_LIVED: Final = (
    "SELECT min(seq) FROM (SELECT seq FROM records "
    "WHERE scope = %s AND id = %s AND created = %s AND version = 1 UNION ALL "
    "SELECT gone FROM events WHERE scope = %s AND id = %s AND born = %s AND seq > %s) AS lived"
)

Progress = Callable[[str], None]  # told of each statement before it is run


@dataclass(slots=True)
class Quick:
    """A new record that one statement writes, if it returns a row; else it is done the long way."""

    sql: str
    values: Sequence[Any]
    life: tuple[str, str, float]  # scope, id and creation, which tell it from all others after `floor`
    floor: int
    answer: Callable[[int], Any]  # to the seq that it was given
    the_long_way: Callable[[Cursor], Any]

    def __call__(self, cursor: Cursor) -> Any:
        return self.the_long_way(cursor)


class Attempt:
    """Runs queued jobs: the quick ones together in one round trip, all others in a transaction.

    `ahead` are statements that every write asks first; they are answered along with the lock.
    """

    def __init__(self, ahead: Sequence[str]) -> None:
        self._ahead = ahead
        self._guessed = False  # whether quick ones were sent and not answered
        self._xid: str | None = None  # of a commit whose answer was lost

    @property
    def in_doubt(self) -> bool:
        return self._guessed or self._xid is not None

    def has_landed(self, connection: Connection[Any]) -> bool:
        """Whether the commit that was not answered took effect. One that this server never saw did not."""
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
        """Runs the jobs that have not failed; False if one did now, and all others must run again."""
        quick = [(t, t.job) for t in waiting if isinstance(t.job, Quick) and t.error is None]
        if self._guessed:
            self._settle(connection, quick)
        self._be_quick(connection, [(t, job) for t, job in quick if t.result is None])
        rest = [t for t in waiting if t.error is None and not _is_written(t)]
        try:
            if rest:
                self._be_thorough(connection, rest, progress)
        except _Failed:
            end(connection, "ROLLBACK")
            return False
        except BaseException:
            if self._xid is None:
                end(connection, "ROLLBACK")
            raise
        return True

    def _be_quick(self, connection: Connection[Any], quick: Sequence[tuple[QueuedJob[Any], Quick]]) -> None:
        """The turn, the inserts and the commit in one round trip."""
        if not quick:
            return
        import psycopg

        self._guessed = True
        try:
            seqs = _insert_together(connection, [job for _, job in quick])
        except psycopg.Error:
            self._guessed = connection.closed  # a server that refuses has done nothing
            connection.close()  # psycopg takes for prepared what a failed pipeline skipped
            raise
        self._guessed = False
        for (queued, job), seq in zip(quick, seqs, strict=True):
            queued.result = None if seq is None else job.answer(seq)

    def _settle(self, connection: Connection[Any], quick: Sequence[tuple[QueuedJob[Any], Quick]]) -> None:
        """Looks which of them were written; with the turn taken, what was under way has ended."""
        try:
            connection.execute(f"BEGIN; {_TURN}")
            for queued, job in quick:
                found = connection.execute(_LIVED, escape([*job.life, *job.life, job.floor])).fetchall()
                queued.result = None if found[0][0] is None else job.answer(found[0][0])
        finally:
            end(connection, "ROLLBACK")
        self._guessed = False

    def _be_thorough(
        self, connection: Connection[Any], waiting: Sequence[QueuedJob[Any]], progress: Progress
    ) -> None:
        xid, known = self._begin(connection)
        cursor = PostgresCursor(connection.cursor(), known, progress)
        for queued in waiting:
            self._do(queued, cursor)
        self._xid = xid
        connection.execute("COMMIT")
        self._xid = None

    def _begin(self, connection: Connection[Any]) -> tuple[str, dict[str, list[Row]]]:
        """Takes the turn among all processes, and along with that asks what every write asks first."""
        cursor = connection.execute("; ".join(("BEGIN", _ALONE, *self._ahead)))
        cursor.nextset()
        ((_, xid),) = cursor.fetchall()
        known = {}
        for sql in self._ahead:
            cursor.nextset()
            known[sql] = rows_of(cursor)
        return xid, known

    @staticmethod
    def _do(queued: QueuedJob[Any], cursor: Cursor) -> None:
        """An error of the server or the line is that of all; any other belongs to the job."""
        import psycopg

        try:
            queued.result = queued.job(cursor)
        except psycopg.Error:
            raise
        except Exception as error:
            queued.error = error
            raise _Failed from error


def _insert_together(connection: Connection[Any], quick: Sequence[Quick]) -> list[int | None]:
    """The seq that each of them was given, if any. Outside a transaction, a pipeline is one."""
    from psycopg.errors import PipelineAborted

    try:
        with connection.pipeline():
            connection.execute(_TURN)
            cursors = [connection.execute(job.sql, escape(job.values)) for job in quick]
    except PipelineAborted as aborted:  # a statement after the one that failed
        raise aborted.__context__ or aborted from None
    rows = [cursor.fetchone() for cursor in cursors]
    return [None if row is None else row[0] for row in rows]


def _is_written(queued: QueuedJob[Any]) -> bool:
    return isinstance(queued.job, Quick) and queued.result is not None


class _Failed(Exception):
    """A job failed by its own fault: its `QueuedJob` says how."""


class PostgresCursor:
    """A psycopg cursor that keeps characters which PostgreSQL's texts cannot hold.

    `known` are answers that came ahead; each is given once, for it is only as fresh as that.
    """

    __slots__ = ("_answer", "_known", "_progress", "raw", "rowcount")

    def __init__(
        self, raw: Any, known: dict[str, list[Row]] | None = None, progress: Progress | None = None
    ) -> None:
        self.raw: Any = raw
        self._known = known or {}
        self._progress = progress
        self._answer: list[Row] | None = None
        self.rowcount: int = 0  # of the last statement, over all its rows

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> None:
        self._answer = self._known.pop(sql, None)
        if self._answer is None:
            self._goes_on(sql)
            self.raw.execute(sql, escape(parameters))
            self.rowcount = self.raw.rowcount

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        rows = [escape(row) for row in parameters]
        self.rowcount = 0
        for start in range(0, len(rows), 1000):
            self._goes_on(sql)
            self.raw.executemany(sql, rows[start : start + 1000])
            self.rowcount += self.raw.rowcount

    def copy(self, sql: str, types: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        self._goes_on(sql)
        with self.raw.copy(sql) as copy:
            copy.set_types(list(types.values()))
            for row in rows:
                copy.write_row(escape(row))

    def _goes_on(self, sql: str) -> None:
        if self._progress is not None:
            self._progress(sql)

    def fetchone(self) -> Row | None:
        if self._answer is not None:
            return self._answer[0] if self._answer else None
        row = self.raw.fetchone()
        return None if row is None else unescape_row(row)

    def fetchall(self) -> list[Row]:
        return rows_of(self.raw) if self._answer is None else self._answer


def end(connection: Connection[Any], how: str) -> None:
    """Ends a transaction, unless the line is gone or there is none."""
    from psycopg.pq import TransactionStatus

    if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
        connection.execute(how)
