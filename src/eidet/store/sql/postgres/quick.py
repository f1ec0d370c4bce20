"""Several statements in one round trip, by libpq's own pipeline: psycopg's wakes the server for each."""

from __future__ import annotations

import re
import select
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from .text import Row, escape, unescape_row

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.pq.abc import PGconn, PGresult

Asked = tuple[str, Sequence[Any]]  # SQL with %s, and its values

_prepared: Final[WeakKeyDictionary[Connection[Any], set[bytes]]] = WeakKeyDictionary()


def ask_together(
    connection: Connection[Any], begin: Sequence[str], asked: Sequence[Asked]
) -> list[list[Row]]:
    """The rows of each that is `asked`. Those are prepared, unless the connection must not.

    They are one transaction, committed at the end. Whoever else uses the connection may have thrown away what
    was prepared (psycopg does so after each ROLLBACK): then they are asked once more.
    """
    from psycopg import errors

    try:
        return _ask(connection, begin, asked)
    except (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement):
        _prepared.pop(connection, None)
        connection.execute("ROLLBACK")
        connection.execute("DEALLOCATE ALL")
        return _ask(connection, begin, asked)


def _ask(connection: Connection[Any], begin: Sequence[str], asked: Sequence[Asked]) -> list[list[Row]]:
    pg = connection.pgconn
    try:
        pg.enter_pipeline_mode()
        sent = sum(_send(pg, sql.encode(), None) for sql in begin)
        sent += sum(_send_one(connection, sql, values) for sql, values in asked)
        pg.pipeline_sync()
        answers = _answers(pg, sent)
        pg.exit_pipeline_mode()
    except BaseException:
        connection.close()  # nobody knows what it would answer next
        raise
    for answer in answers:
        _check(answer)
    return [_rows(connection, answer) for answer in answers[-len(asked) :]]


def _send_one(connection: Connection[Any], sql: str, values: Sequence[Any]) -> int:
    pg, (name, text) = connection.pgconn, _number_parameters(sql)
    plain = escape(values)
    written = [_WRITTEN[type(v)](v) if type(v) in _WRITTEN else _dump(connection, v) for v in plain]
    binary = [1 if type(value) is bytes else 0 for value in plain]
    if connection.prepare_threshold is None:
        return _send(pg, text, written, binary)
    known = _prepared.setdefault(connection, set())
    if new := name not in known:
        pg.send_prepare(name, text)
        known.add(name)
    pg.send_query_prepared(name, written, binary)
    return 1 + new


def _dump(connection: Connection[Any], value: Any) -> Any:
    """As the driver writes it. It takes several times as long as `_WRITTEN` does for what is plain."""
    from psycopg.adapt import PyFormat, Transformer

    return Transformer(connection).dump_sequence([value], [PyFormat.TEXT])[0] if value != [] else b"{}"


def _send(pg: PGconn, sql: bytes, values: Any, formats: Any = None) -> int:
    pg.send_query_params(sql, values, param_formats=formats)
    return 1


def _answers(pg: PGconn, sent: int) -> list[PGresult]:
    """What was answered to each message, and read to the end of it."""
    from psycopg.pq import ExecStatus

    while pg.flush():
        select.select([pg.socket], [pg.socket], [])
        pg.consume_input()
    answers: list[PGresult] = []
    while True:
        while pg.is_busy():
            select.select([pg.socket], [], [])
            pg.consume_input()
        result = pg.get_result()
        if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
            assert len(answers) == sent, "each message has one answer"
            return answers
        if result is not None:
            answers.append(result)


def _check(result: PGresult) -> None:
    from psycopg import errors
    from psycopg.pq import ExecStatus

    if result.status in (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED):
        raise errors.error_from_result(result, encoding="utf-8")


def _rows(connection: Connection[Any], result: PGresult) -> list[Row]:
    from psycopg.adapt import Transformer

    reader = Transformer(connection)
    reader.set_pgresult(result)
    return [unescape_row(row) for row in reader.load_rows(0, result.ntuples, tuple)]


_numbers: Final = count()
_WRITTEN: Final[dict[type, Callable[[Any], bytes | None]]] = {
    type(None): lambda _: None,
    str: str.encode,
    bytes: lambda value: value,
    int: lambda value: b"%d" % value,
    float: lambda value: repr(value).encode(),
    bool: lambda value: b"t" if value else b"f",
}


@lru_cache(maxsize=64)
def _number_parameters(sql: str) -> tuple[bytes, bytes]:
    """A name for a statement, and its text with $1, $2 … for its parameters."""
    parameter = count(1)
    return f"eidet_{next(_numbers)}".encode(), re.sub("%s", lambda _: f"${next(parameter)}", sql).encode()
