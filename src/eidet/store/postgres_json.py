"""Conditions on JSON documents in PostgreSQL: what its `json` type answers exactly; the rest is for Python.

Documents are texts as `dump_json` writes them. The type `json` hands out parts of such a text unchanged, and
the writing is canonical for scalars, so equal texts are equal values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, all_, and_, any_, case, cast, false, func, literal
from sqlalchemy.dialects.postgresql import ARRAY, JSON, NUMERIC

from ..clean import Json
from ..where import Condition
from .sqlite_json import json_texts

Test = ColumnElement[bool]

EXACT: Final = 2**53
_ODD: Final = re.compile(r"[\s+-]+\d|\d{10}|\s*$")


class PostgresJson:
    """`JsonSql` for PostgreSQL."""

    def answers(self, condition: Condition) -> bool:
        """Whether `test` says exactly what `Condition.holds` does."""
        return _same_path(condition.path[1:]) and _same_meaning(condition.op, condition.value)

    def test(self, column: ColumnElement[Any], condition: Condition) -> Test:
        steps = [str(step) for step in condition.path[1:]]
        value = cast(column, JSON).op("#>", return_type=JSON())(literal(steps, ARRAY(Text)))
        op, operand = condition.op, condition.value
        if op == "exists":
            return and_(column.is_not(None), value.is_not(None)) if operand else value.is_(None)
        if op in ("<", "<=", ">", ">="):
            return _ordered(value, op, operand)
        texts = [text for one in (operand if op == "in" else (operand,)) for text in json_texts(one)]
        found = func.coalesce(cast(value, Text), "")
        if op == "!=":
            return and_(value.is_not(None), found != all_(literal(texts, ARRAY(Text))))
        return self.among(found, texts)

    def among(self, column: ColumnElement[Any], values: Sequence[str]) -> Test:
        if not values:
            return false()
        return column == any_(literal(list(dict.fromkeys(values)), ARRAY(Text)))


def _ordered(value: ColumnElement[Any], op: str, operand: Json) -> Test:
    """The cast is reached by numbers alone.

    A float is written as the shortest decimal that reads back as it, which keeps the order of floats,
    and that of floats and whole numbers as far as every whole number is a float.
    """
    number = cast(cast(value, Text), NUMERIC)
    holds = number.op(op, is_comparison=True)(literal(Decimal(repr(operand)), NUMERIC))
    return case((func.coalesce(func.json_typeof(value), "") == "number", holds), else_=false())


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
