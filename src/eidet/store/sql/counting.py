"""What is counted rather than read, as SQL: the survey of the records."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select

from ..rules import UNIQUE_KINDS
from .schema import records

Test = ColumnElement[bool]


def survey_queries(
    alive: Test, fresh: float, ripe: float, stale: float
) -> tuple[Select[Any], Select[Any], Select[Any]]:
    """The counts by age and use, how many facts and documents there are, and how many differ."""
    unique = and_(alive, records.c.kind.in_([kind.value for kind in UNIQUE_KINDS]))
    said = select(records.c.scope, records.c.digest).where(unique).distinct().subquery()
    return (
        select(*_counts(fresh, ripe, stale)).where(alive),
        select(func.count()).select_from(records).where(unique),
        select(func.count()).select_from(said),
    )


def _counts(fresh: float, ripe: float, stale: float) -> list[ColumnElement[Any]]:
    """The numbers of a `Survey`, in its order, up to those of duplicates."""
    c = records.c
    idle = and_(c.created < stale, or_(c.last_used.is_(None), c.last_used < stale))
    never = and_(c.created < ripe, c.uses == 0)
    return [
        func.count(),
        _how_many(c.uses > 0),
        _how_many(c.created >= fresh),
        func.min(c.created),
        _how_many(c.created < ripe),
        _how_many(never),
        _how_many(idle),
    ]


def _how_many(test: Test) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((test, 1), else_=0)), 0)
