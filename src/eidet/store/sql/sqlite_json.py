"""Conditions on JSON documents in SQLite: plain SQL where it is exact, a Python function elsewhere.

Documents are texts as `dump_json` writes them, and that writing is canonical for scalars: equal
texts are equal values. So scalars are compared as JSON text, which also avoids that SQLite ends a
decoded string at its first NUL and rounds integers beyond 64 bits.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from ...core.condition import Condition, compare, resolve
from ...core.errors import BadInput
from ...core.validate import Json, dump_json
from .ports import Sql

_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FEW: Final = 100  # more values than this travel as one JSON array: SQLite binds 32,766 parameters at most
_ARROWS: Final = sqlite3.sqlite_version_info >= (3, 38)  # the first SQLite with the operator `->`
_EACH: Final = "(SELECT value FROM json_each(?))"
_refused = threading.local()


class SqliteJson:
    """`JsonSql` for SQLite connections that were registered."""

    mark = "?"

    def answers(self, condition: Condition) -> bool:
        del condition
        return True

    def test(self, column: str, condition: Condition) -> Sql:
        path = _native_path(condition.path[1:])
        found = None if path is None else _native(column, path, condition)
        if found is not None:
            return found
        fallback = _fallback(column, condition)
        return Sql(f"{fallback.text} = 1", fallback.values)

    def among(self, found: Sql, values: Sequence[str]) -> Sql:
        return _is_among(found, list(dict.fromkeys(values)))


def _is_among(found: Sql, values: Sequence[str]) -> Sql:
    """Builds a test whether a text is one of the values, each given once."""
    if not values:
        return Sql("1 = 0")
    if len(values) <= _FEW:
        return _is_listed(found, values)
    whole = [value for value in values if "\0" not in value]
    cut = [value for value in values if "\0" in value]  # json_each would end them at the NUL
    each = Sql(f"{found.text} IN {_EACH}", (*found.values, dump_json(whole)))
    if not cut:
        return each
    listed = _is_listed(found, cut)
    return Sql(f"({each.text} OR {listed.text})", (*each.values, *listed.values))


def _is_listed(found: Sql, values: Sequence[str]) -> Sql:
    return Sql(f"{found.text} IN ({', '.join('?' * len(values))})", (*found.values, *values))


def _native_path(steps: Sequence[str | int]) -> str | None:
    """Returns a path that SQLite reads as `resolve` does, or None. A key of digits could be a position."""
    path = "$"
    for step in steps:
        if isinstance(step, int) and 0 <= step < 10**9:
            path += f"[{step}]"
        elif isinstance(step, str) and _KEY.fullmatch(step):
            path += f".{step}"
        else:
            return None
    return path


def _native(column: str, path: str, condition: Condition) -> Sql | None:
    op, operand = condition.op, condition.value
    if op == "exists":
        return Sql(f"json_type({column}, ?) IS {'NOT ' if operand else ''}NULL", (path,))
    if op in ("=", "!=", "in") and _ARROWS:
        return _equality(column, path, op, operand if op == "in" else (operand,))
    if op in ("<", "<=", ">", ">=") and not isinstance(operand, str):
        return _order(column, path, condition)
    return None


def _equality(column: str, path: str, op: str, operands: Sequence[Json]) -> Sql | None:
    if any(isinstance(operand, dict | list | tuple) for operand in operands):
        return None
    texts = list(dict.fromkeys(list_json_texts(operands)))
    if op != "!=":
        return _is_among(Sql(f"coalesce({column} -> ?, '')", (path,)), texts)
    present = Sql(f"coalesce({column} -> ?, ?)", (path, texts[0]))  # a missing value passes no `!=`
    listed = _is_listed(present, texts)
    return Sql(f"NOT {listed.text}", listed.values)


def list_json_texts(scalars: Iterable[Json]) -> list[str]:
    return [text for scalar in scalars for text in _json_texts(scalar)]


def _json_texts(scalar: Json) -> list[str]:
    """Lists every way in which `dump_json` writes an equal value: 1 is also 1.0."""
    if isinstance(scalar, bool) or not isinstance(scalar, int | float):
        return [dump_json(scalar)]
    if scalar == 0:
        return ["0", "0.0", "-0.0"]
    if isinstance(scalar, float):
        return [dump_json(scalar), *([dump_json(int(scalar))] if scalar.is_integer() else [])]
    return [dump_json(scalar), *([dump_json(float(scalar))] if _is_float(scalar) else [])]


def _is_float(number: int) -> bool:
    return abs(number) <= sys.float_info.max and float(number) == number


def _order(column: str, path: str, condition: Condition) -> Sql | None:
    """Lets SQLite decide clear cases and Python near ties, because SQLite may misread a last digit."""
    operand, below = condition.value, condition.op in ("<", "<=")
    if abs(operand) > 1e300:
        return None
    slack = max(abs(operand) * 1e-12, 1e-300)
    fallback = _fallback(column, condition)
    answer = (
        f"CASE WHEN coalesce(json_type({column}, ?), '') NOT IN ('integer', 'real') THEN 0 "
        f"WHEN json_extract({column}, ?) < ? THEN {int(below)} "
        f"WHEN json_extract({column}, ?) > ? THEN {int(not below)} ELSE {fallback.text} END = 1"
    )
    return Sql(answer, (path, path, operand - slack, path, operand + slack, *fallback.values))


def _fallback(column: str, condition: Condition) -> Sql:
    steps, operand = dump_json(condition.path[1:]), dump_json(condition.value)
    return Sql(f"eidet_holds({column}, ?, ?, ?)", (steps, condition.op, operand))


def register(connection: sqlite3.Connection) -> None:
    """Gives a connection the function that conditions fall back on."""
    connection.create_function("eidet_holds", 4, _holds, deterministic=True)


def _holds(document: str | None, path: str, op: str, operand: str) -> int | None:
    """Returns 1 or 0; None (NULL, which fails a test and its opposite) for an unreadable document."""
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
    """Returns, once, the error that a condition raised inside SQLite in this thread."""
    error: BadInput | None = _refused.__dict__.pop("error", None)
    return error


@lru_cache(maxsize=256)
def _question(path: str, operand: str) -> tuple[list[str | int], Json]:
    return json.loads(path), json.loads(operand)
