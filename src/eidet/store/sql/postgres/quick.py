"""Several inserts in one round trip, by libpq's own pipeline: psycopg's wakes the server for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from .text import escape

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGconn, PGresult

Insert = tuple[str, Sequence[Any]]  # SQL with %s that returns a number or nothing, and its values

_prepared: Final[WeakKeyDictionary[Connection[Any], set[bytes]]] = WeakKeyDictionary()


def insert_together(connection: Connection[Any], lock: str, inserts: Sequence[Insert]) -> list[int | None]:
    """What each of the inserts returns. They are prepared, unless the connection must not.

    They are one transaction, committed at the end. Whoever else uses the connection may have thrown away what
    was prepared (psycopg does so after each ROLLBACK): then they are sent once more.
    """
    from psycopg import errors

    try:
        return _insert(connection, lock, inserts)
    except (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement):
        _prepared.pop(connection, None)
        connection.execute("ROLLBACK")
        connection.execute("DEALLOCATE ALL", prepare=False)
        return _insert(connection, lock, inserts)


def _insert(connection: Connection[Any], lock: str, inserts: Sequence[Insert]) -> list[int | None]:
    from psycopg import errors
    from psycopg.pq import ExecStatus

    pg = connection.pgconn
    try:
        pg.enter_pipeline_mode()
        pg.send_query_params(lock.encode(), None)
        sent = 1 + sum(_send(connection, sql, values) for sql, values in inserts)
        pg.pipeline_sync()
        answers = connection.wait(_receive(pg, sent))
        pg.exit_pipeline_mode()
    except BaseException:
        connection.close()  # nobody knows what it would answer next
        raise
    for answer in answers:
        if answer.status in (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED):
            raise errors.error_from_result(answer, encoding="utf-8")
    return [_read_number(answer) for answer in answers[-len(inserts) :]]


def _send(connection: Connection[Any], sql: str, values: Sequence[Any]) -> int:
    """How many messages it took."""
    pg, (name, text) = connection.pgconn, _number_parameters(sql)
    plain = escape(values)
    written = [_WRITTEN[type(v)](v) if type(v) in _WRITTEN else _dump(connection, v) for v in plain]
    binary = [1 if type(value) is bytes else 0 for value in plain]
    if connection.prepare_threshold is None:
        pg.send_query_params(text, written, param_formats=binary)
        return 1
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


def _receive(pg: PGconn, sent: int) -> PQGen[list[PGresult]]:
    """What was answered to each message, and read to the end of it."""
    from psycopg.pq import ExecStatus
    from psycopg.waiting import Wait

    while pg.flush():
        yield Wait.RW
        pg.consume_input()
    answers: list[PGresult] = []
    while True:
        while pg.is_busy():
            yield Wait.R
            pg.consume_input()
        result = pg.get_result()
        if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
            assert len(answers) == sent, "each message has one answer"
            return answers
        if result is not None:
            answers.append(result)


def _read_number(result: PGresult) -> int | None:
    value = result.get_value(0, 0) if result.ntuples else None
    return None if value is None else int(value)


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
