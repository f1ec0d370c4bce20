"""Conditions on JSON documents in PostgreSQL: what its `json` type answers exactly; the rest is for Python.

Documents are texts as `dump_json` writes them. The type `json` hands out parts of such a text unchanged, and
the writing is canonical for scalars, so equal texts are equal values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, all_, and_, any_, case, cast, false, func, literal, or_
from sqlalchemy.dialects.postgresql import ARRAY, JSON, JSONB, NUMERIC

from ....core.validate import Json, dump_json
from ....core.where import Condition
from ..sqlite_conditions import list_json_texts

Test = ColumnElement[bool]

EXACT: Final = 2**53
_ODD: Final = re.compile(r"[\s+-]+\d|\d{10}|\s*$")


class PostgresJson:
    """`JsonSql` for PostgreSQL."""

    def answers(self, condition: Condition) -> bool:
        """Whether `test` says exactly what `Condition.holds` does."""
        return _same_path(condition.path[1:]) and _same_meaning(condition.op, condition.value)

    def finds(self, condition: Condition) -> bool:
        """Whether `said` is the value that a condition asks for."""
        return _same_path(condition.path[1:])

    def read_value(self, column: ColumnElement[Any], condition: Condition) -> ColumnElement[str]:
        """The value that a condition asks for, as JSON; NULL where there is none."""
        return cast(_value(column, condition), Text)

    def narrow(self, column: ColumnElement[Any], condition: Condition) -> Test:
        """Lets at least as much pass as a condition that `test` cannot tell."""
        value = _value(column, condition)
        if condition.op == "contains" and _is_exact(condition.value):
            return case((value.is_not(None), _containing(value, condition.value)), else_=false())
        return _kind(value) == "string" if condition.op == "regex" else value.is_not(None)

    def test(self, column: ColumnElement[Any], condition: Condition) -> Test:
        value = _value(column, condition)
        op, operand = condition.op, condition.value
        if op == "exists":
            return and_(column.is_not(None), value.is_not(None)) if operand else value.is_(None)
        if op in ("<", "<=", ">", ">="):
            return _compare_numbers(value, op, operand)
        texts = list_json_texts(operand if op == "in" else (operand,))
        found = func.coalesce(cast(value, Text), "")
        if op == "!=":
            return and_(value.is_not(None), found != all_(literal(texts, ARRAY(Text))))
        return self.among(found, texts)

    def among(self, column: ColumnElement[Any], values: Sequence[str]) -> Test:
        if not values:
            return false()
        return column == any_(literal(list(dict.fromkeys(values)), ARRAY(Text)))


def _value(column: ColumnElement[Any], condition: Condition) -> ColumnElement[Any]:
    steps = [str(step) for step in condition.path[1:]]
    return cast(column, JSON).op("#>", return_type=JSON())(literal(steps, ARRAY(Text)))


def _compare_numbers(value: ColumnElement[Any], op: str, operand: Json) -> Test:
    """The cast is reached by numbers alone.

    A float is written as the shortest decimal that reads back as it, which keeps the order of floats,
    and that of floats and whole numbers as far as every whole number is a float.
    """
    number = cast(cast(value, Text), NUMERIC)
    holds = number.op(op, is_comparison=True)(literal(Decimal(repr(operand)), NUMERIC))
    return case((_kind(value) == "number", holds), else_=false())


def _containing(value: ColumnElement[Any], operand: Json) -> Test:
    """Whether it may be part of a text or one of a list.

    `jsonb` says that a list contains what is one of its items. Texts with characters that the database cannot
    hold are written otherwise: they pass.
    """
    one_of = cast(value, JSONB).op("@>", is_comparison=True)(cast(literal(dump_json(operand)), JSONB))
    listed = and_(_kind(value) == "array", one_of)
    if not isinstance(operand, str):
        return listed
    content = value.op("#>>", return_type=Text())(literal([], ARRAY(Text)))
    odd = func.strpos(cast(value, Text), "u001a") > 0
    return or_(listed, and_(_kind(value) == "string", or_(func.strpos(content, operand) > 0, odd)))


def _kind(value: ColumnElement[Any]) -> ColumnElement[str]:
    return func.coalesce(func.json_typeof(value), "")


def _is_exact(operand: Json) -> bool:
    """Whether the database compares a value as Python does; large numbers may be written in several ways."""
    if isinstance(operand, dict | list | tuple):
        return False
    return operand is None or isinstance(operand, str | bool) or abs(operand) <= EXACT


def _same_path(steps: Sequence[str | int]) -> bool:
    """A position given as a number names no key; of texts, only plain digits are positions for both."""
    return bool(steps) and all(isinstance(step, str) and not _ODD.match(step) for step in steps)


def _same_meaning(op: str, operand: Json) -> bool:
    if op == "exists":
        return True
    if op in ("=", "!="):
        return not isinstance(operand, dict | list | tuple)
    if op == "in":
        return not any(isinstance(one, dict | list | tuple) for one in operand)
    numbers = isinstance(operand, int | float) and not isinstance(operand, bool)
    return numbers and op in ("<", "<=", ">", ">=") and abs(operand) <= EXACT
