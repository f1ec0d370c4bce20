"""Conditions on JSON documents in PostgreSQL: what its `json` type answers exactly; the rest is for Python.

Documents are texts as `dump_json` writes them. The type `json` hands out parts of such a text unchanged, and
the writing is canonical for scalars, so equal texts are equal values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from ....core.validate import Json
from ....core.where import Condition
from ..ports import Sql
from ..sqlite_json import list_json_texts

EXACT: Final = 2**53
_ODD: Final = re.compile(r"[\s+-]+\d|\d{10}|\s*$")


class PostgresJson:
    """`JsonSql` for PostgreSQL."""

    mark = "%s"

    def answers(self, condition: Condition) -> bool:
        """Returns whether `test` agrees exactly with `Condition.holds`."""
        return _same_path(condition.path[1:]) and _same_meaning(condition.op, condition.value)

    def test(self, column: str, condition: Condition) -> Sql:
        value = _value(column, condition)
        op, operand = condition.op, condition.value
        if op == "exists":
            return Sql(f"{value.text} IS {'NOT ' if operand else ''}NULL", value.values)
        if op in ("<", "<=", ">", ">="):
            return _compare_numbers(value, op, operand)
        texts = list_json_texts(operand if op == "in" else (operand,))
        found = Sql(f"coalesce(({value.text})::text, '')", value.values)
        if op == "!=":
            test = f"{value.text} IS NOT NULL AND {found.text} <> ALL(%s::text[])"
            return Sql(test, (*value.values, *found.values, texts))
        return self.among(found, texts)

    def among(self, found: Sql, values: Sequence[str]) -> Sql:
        if not values:
            return Sql("1 = 0")
        return Sql(f"{found.text} = ANY(%s::text[])", (*found.values, list(dict.fromkeys(values))))


def _value(column: str, condition: Condition) -> Sql:
    return Sql(f"({column}::json #> %s::text[])", ([str(step) for step in condition.path[1:]],))


def _compare_numbers(value: Sql, op: str, operand: Json) -> Sql:
    """Compares numbers; CASE keeps other values from the cast.

    A float is written as the shortest decimal that reads back as it, which keeps the order of floats,
    and that of floats and whole numbers as far as every whole number is a float.
    """
    holds = f"{value.text}::text::numeric {op} %s::numeric"
    test = f"CASE WHEN {_kind(value)} = 'number' THEN {holds} ELSE false END"
    return Sql(test, (*value.values, *value.values, Decimal(repr(operand))))


def _kind(value: Sql) -> str:
    """Returns SQL for the type of a value; it takes the same parameters."""
    return f"coalesce(json_typeof({value.text}), '')"


def _same_path(steps: Sequence[str | int]) -> bool:
    """Returns whether `resolve` reads the path alike: text steps only, positions as plain digits."""
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
