"""Conditions that only Python can tell, such as regex: the values they ask for are read, not all records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, select

from ....core.condition import MISSING, Condition, compare
from ..schema import records
from .json_sql import PostgresJson
from .text import Row

AT_ONCE: Final = 10_000


def matching(
    coarse: ColumnElement[bool],
    conditions: Sequence[Condition],
    told: PostgresJson,
    ask: Callable[[Select[Any]], list[Row]],
) -> Iterator[int]:
    """The seqs that pass a filter of the database and all of the conditions, rising."""
    columns = [records.c[str(one.path[0])] for one in conditions]
    said, narrow = map(told.said, columns, conditions), map(told.narrow, columns, conditions)
    query = select(records.c.seq, *said).where(coarse, *narrow).order_by(records.c.seq).limit(AT_ONCE)
    at = 0
    while rows := ask(query.where(records.c.seq > at)):
        yield from (seq for seq, *values in rows if all(map(_holds, conditions, values)))
        at = rows[-1][0]


def _holds(condition: Condition, value: str | None) -> bool:
    return compare(MISSING if value is None else json.loads(value), condition.op, condition.value)
