"""`Where` as SQL on the records table, for every dialect; held equal to `Where.matches` by tests.

Each leaf is a definite true or false, never NULL, so that NOT means what it means in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, and_, false, func, not_, or_, true, type_coerce
from sqlalchemy.sql.elements import Grouping

from ...core.scope import Scope
from ...core.where import Box, Condition, Near, Where
from .ports import JsonSql
from .schema import records

Test = ColumnElement[bool]

_WIDEST: Final = 100  # SQLite parses `a OR b OR …` into a tree of that depth and allows 1,000
_LABELS: Final = ("agent", "session", "who", "source")
_COMPARE: Final[dict[str, Callable[[Any, Any], Test]]] = {
    "=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge
}  # fmt: skip


def compile_where(where: Where, json: JsonSql) -> Test:
    """The filter as one SQL expression; every value in it is a bound parameter."""
    return _join(and_, [*_fields(where, json), *_split_nested(where, json)], true())


def _fields(where: Where, json: JsonSql) -> Iterator[Test]:
    column = records.c
    if where.scope is not None:
        yield in_scope(where.scope, column.scope)
    if where.ids is not None:
        yield json.among(column.id, where.ids)
    if where.kinds is not None:
        yield json.among(column.kind, [kind.value for kind in where.kinds])
    if where.tiers is not None:
        yield json.among(column.tier, [tier.value for tier in where.tiers])
    if where.trust is not None:
        yield json.among(column.trust, [trust.value for trust in where.trust])
    for name in _LABELS:
        if (label := getattr(where, name)) is not None:
            yield and_(column[name].is_not(None), column[name] == label)
    yield from _ranges(where)
    if where.alive_at is not None:
        yield or_(column.expires.is_(None), column.expires > where.alive_at)
    for condition in where.conditions:
        yield _condition(condition, json)


def _condition(condition: Condition, json: JsonSql) -> Test:
    """An absent number of the record itself passes nothing but being absent."""
    if not condition.of_record:
        return json.test(records.c[str(condition.path[0])], condition)
    column = records.c[str(condition.path[1])]
    if condition.op == "exists":
        return column.is_not(None) if condition.value else column.is_(None)
    return and_(column.is_not(None), _COMPARE[condition.op](column, condition.value))


def _ranges(where: Where) -> Iterator[Test]:
    column = records.c
    yield from _between(column.occurred, where.since, where.until)
    yield from _between(column.created, where.created_since, where.created_until)
    yield from _between(column.step, where.step_from, where.step_to)
    yield from _between(column.importance, where.importance_min, where.importance_max)
    if where.box is not None:
        yield _in_box(where.box)
    if where.near is not None:
        yield _within(where.near)


def _split_nested(where: Where, json: JsonSql) -> Iterator[Test]:
    for part in where.every:
        yield compile_where(part, json)
    if where.some:
        yield _join(or_, [compile_where(part, json) for part in where.some], false())
    for part in where.never:
        yield not_(compile_where(part, json))


def in_scope(scope: Scope, column: ColumnElement[str]) -> Test:
    """A range rather than LIKE, so that the index serves it; '0' is the character after '/'."""
    if not scope.below:
        return column == scope.path
    return or_(column == scope.path, and_(column >= scope.path + "/", column < scope.path + "0"))


def _between(column: ColumnElement[Any], low: float | None, high: float | None) -> Iterator[Test]:
    ends = [column >= low] if low is not None else []
    if high is not None:
        ends.append(column <= high)
    if ends:
        yield and_(column.is_not(None), *ends)


def _in_box(box: Box) -> Test:
    sides = [axis.between(low, high) for axis, low, high in zip(_axes(), box.low, box.high, strict=False)]
    return and_(records.c.x.is_not(None), *sides)


def _within(near: Near) -> Test:
    x, y, z = (axis - middle for axis, middle in zip(_axes(), (*near.place, 0.0)[:3], strict=True))
    return and_(records.c.x.is_not(None), x * x + y * y + z * z <= near.radius * near.radius)


def _axes() -> tuple[ColumnElement[float], ...]:
    return records.c.x, records.c.y, func.coalesce(records.c.z, 0.0)


def _join(join: Callable[..., Test], parts: Sequence[Test], empty: Test) -> Test:
    """All parts joined, in groups that keep the expression tree shallow."""
    if len(parts) <= _WIDEST:
        return join(*parts) if parts else empty
    groups = [parts[start : start + _WIDEST] for start in range(0, len(parts), _WIDEST)]
    return _join(join, [_enclose(join(*group)) for group in groups], empty)


def _enclose(test: Test) -> Test:
    """In parentheses that SQLAlchemy does not take away again, as it does for a plain grouping."""
    return type_coerce(Grouping(test), Boolean)
