"""JSON documents in SQLite: what a connection needs for them, and the `JsonSql` of the dialect."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...core.condition import Condition, compare, resolve
from ...core.errors import BadInput
from ...core.validate import Json

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from .sqlite_conditions import Test


_refused = threading.local()


def register(connection: sqlite3.Connection) -> None:
    """Gives a connection the function that conditions fall back on."""
    connection.create_function("eidet_holds", 4, _holds, deterministic=True)


class SqliteJson:
    """`JsonSql` for SQLite connections that were registered."""

    def answers(self, condition: Condition) -> bool:
        del condition
        return True

    def test(self, column: ColumnElement[Any], condition: Condition) -> Test:
        from .sqlite_conditions import test_condition

        return test_condition(column, condition)

    def among(self, column: ColumnElement[Any], values: Sequence[str]) -> Test:
        from .sqlite_conditions import is_among

        return is_among(column, list(dict.fromkeys(values)))


def _holds(document: str | None, path: str, op: str, operand: str) -> int | None:
    """1 or 0; NULL where the document cannot be read, which neither a test nor its opposite matches."""
    steps, wanted = _question(path, operand)
    try:
        root = None if document is None else json.loads(document)
    except (ValueError, RecursionError):  # raised from here, SQLite would only say that "a function failed"
        return None
    try:
        return int(compare(resolve(root, steps), op, wanted))
    except BadInput as error:
        _refused.error = error
        raise


def take_refusal() -> BadInput | None:
    """What a condition raised inside of SQLite in this thread, which SQLite itself does not tell; once."""
    error: BadInput | None = _refused.__dict__.pop("error", None)
    return error


@lru_cache(maxsize=256)
def _question(path: str, operand: str) -> tuple[list[str | int], Json]:
    return json.loads(path), json.loads(operand)
