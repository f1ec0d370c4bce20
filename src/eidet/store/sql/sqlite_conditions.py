"""Conditions on JSON documents in SQLite: plain SQL where it is exact, a Python function elsewhere.

Documents are texts as `dump_json` writes them, and that writing is canonical for scalars: equal
texts are equal values. So scalars are compared as JSON text, which also avoids that SQLite ends a
decoded string at its first NUL and rounds integers beyond 64 bits.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, Text, case, false, func, literal, or_, select

from ...core.condition import Condition
from ...core.validate import Json, dump_json

Test = ColumnElement[bool]

_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FEW: Final = 100  # more values than this travel as one JSON array: SQLite binds 32,766 parameters at most
_ARROWS: Final = sqlite3.sqlite_version_info >= (3, 38)  # the first SQLite with the operator `->`


def test_condition(column: ColumnElement[Any], condition: Condition) -> Test:
    """Whether a condition holds for the JSON document in a column."""
    path = native_path(condition.path[1:])
    found = None if path is None else _native(column, path, condition)
    return _fallback(column, condition) == 1 if found is None else found


def is_among(column: ColumnElement[Any], values: Sequence[str]) -> Test:
    """Whether a text is one of the values, each given once."""
    if not values:
        return false()
    if len(values) <= _FEW:
        return column.in_(values)
    whole = [value for value in values if "\0" not in value]
    cut = [value for value in values if "\0" in value]  # json_each would end them at the NUL
    each = func.json_each(literal(dump_json(whole), Text)).table_valued("value")
    return or_(column.in_(select(each.c.value)), column.in_(cut) if cut else false())


def native_path(steps: Sequence[str | int]) -> str | None:
    """A path SQLite reads as `resolve` does, or None. A key of digits could also be a position."""
    path = "$"
    for step in steps:
        if isinstance(step, int) and 0 <= step < 10**9:
            path += f"[{step}]"
        elif isinstance(step, str) and _KEY.fullmatch(step):
            path += f".{step}"
        else:
            return None
    return path


def _native(column: ColumnElement[Any], path: str, condition: Condition) -> Test | None:
    op, operand = condition.op, condition.value
    if op == "exists":
        kind = func.json_type(column, path)
        return kind.is_not(None) if operand else kind.is_(None)
    if op in ("=", "!=", "in") and _ARROWS:
        return _equality(column, path, op, operand if op == "in" else (operand,))
    if op in ("<", "<=", ">", ">=") and not isinstance(operand, str):
        return _order(column, path, condition)
    return None


def _equality(column: ColumnElement[Any], path: str, op: str, operands: Sequence[Json]) -> Test | None:
    if any(isinstance(operand, dict | list | tuple) for operand in operands):
        return None
    texts = list(dict.fromkeys(list_json_texts(operands)))
    value = column.op("->", return_type=Text())(path)
    if op == "!=":
        return func.coalesce(value, texts[0]).not_in(texts)  # what is missing does not differ
    return is_among(func.coalesce(value, ""), texts)


def list_json_texts(scalars: Iterable[Json]) -> list[str]:
    return list(chain.from_iterable(map(json_texts, scalars)))


def json_texts(scalar: Json) -> list[str]:
    """Every way `dump_json` writes a value that is the same as this one: 1 is also 1.0."""
    if isinstance(scalar, bool) or not isinstance(scalar, int | float):
        return [dump_json(scalar)]
    if scalar == 0:
        return ["0", "0.0", "-0.0"]
    if isinstance(scalar, float):
        return [dump_json(scalar), *([dump_json(int(scalar))] if scalar.is_integer() else [])]
    return [dump_json(scalar), *([dump_json(float(scalar))] if _is_float(scalar) else [])]


def _is_float(number: int) -> bool:
    return abs(number) <= sys.float_info.max and float(number) == number


def _order(column: ColumnElement[Any], path: str, condition: Condition) -> Test | None:
    """SQLite decides what is clear; near ties are for Python, as SQLite may read a last digit amiss."""
    operand, below = condition.value, condition.op in ("<", "<=")
    if abs(operand) > 1e300:
        return None
    slack = max(abs(operand) * 1e-12, 1e-300)
    value = func.json_extract(column, path)
    answer = case(
        (func.coalesce(func.json_type(column, path), "").not_in(("integer", "real")), 0),
        (value < operand - slack, int(below)),
        (value > operand + slack, int(not below)),
        else_=_fallback(column, condition),
    )
    return answer == 1


def _fallback(column: ColumnElement[Any], condition: Condition) -> ColumnElement[int]:
    steps, operand = dump_json(condition.path[1:]), dump_json(condition.value)
    return func.eidet_holds(column, steps, condition.op, operand, type_=Integer)
