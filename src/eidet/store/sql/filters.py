"""`Where` as SQL on the records table, for every dialect; held equal to `Where.matches` by tests.

Each leaf is a definite true or false, never NULL, so that NOT means what it means in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...core.scope import Scope
from ...core.where import Box, Condition, Near, Where
from .ports import JsonSql, Sql

_WIDEST: Final = 100  # SQLite parses `a OR b OR …` into a tree of that depth and allows 1,000
_NAMED: Final = {"kinds": "kind", "tiers": "tier", "trust": "trust"}
_COMPARED: Final = {
    **{name: f"{name} IS NOT NULL AND {name} =" for name in ("agent", "session", "who", "source")},
    "since": "occurred >=",
    "until": "occurred <=",
    "created_since": "created >=",
    "created_until": "created <=",
    "step_from": "step IS NOT NULL AND step >=",
    "step_to": "step IS NOT NULL AND step <=",
    "importance_min": "importance >=",
    "importance_max": "importance <=",
}
_AXES: Final = ("x", "y", "coalesce(z, 0.0)")


def compile_where(where: Where, json: JsonSql) -> Sql:
    """Compiles the filter to one SQL expression; every value in it is a bound parameter."""
    parts = [*_fields(where, json), *_nested(where, json)]
    return _join(" AND ", parts) if parts else Sql("1 = 1")


def _fields(where: Where, json: JsonSql) -> Iterator[Sql]:
    mark = json.mark
    if where.scope is not None:
        yield in_scope(where.scope, mark)
    yield from _lists(where, json)
    yield from _values(where, mark)
    if where.box is not None:
        yield _in_box(where.box, mark)
    if where.near is not None:
        yield _within(where.near, mark)
    if where.alive_at is not None:
        yield Sql(f"(expires IS NULL OR expires > {mark})", (where.alive_at,))
    for condition in where.conditions:
        yield _condition(condition, json)


def _lists(where: Where, json: JsonSql) -> Iterator[Sql]:
    if where.ids is not None:
        yield json.among(Sql("id"), where.ids)
    for name, column in _NAMED.items():
        if (wanted := getattr(where, name)) is not None:
            yield json.among(Sql(column), [one.value for one in wanted])


def _values(where: Where, mark: str) -> Iterator[Sql]:
    for name, start in _COMPARED.items():
        if (value := getattr(where, name)) is not None:
            yield Sql(f"{start} {mark}", (value,))


def _nested(where: Where, json: JsonSql) -> Iterator[Sql]:
    for part in where.every:
        yield compile_where(part, json).enclosed
    if where.some:
        any_of = _join(" OR ", [compile_where(part, json).enclosed for part in where.some])
        yield any_of.enclosed
    for part in where.never:
        test = compile_where(part, json)
        yield Sql(f"NOT ({test.text})", test.values)


def _condition(condition: Condition, json: JsonSql) -> Sql:
    """Tests a condition. An absent number of the record itself passes only a test for absence."""
    if not condition.of_record:
        return json.test(str(condition.path[0]), condition)
    column = str(condition.path[1])
    if condition.op == "exists":
        return Sql(f"{column} IS NOT NULL" if condition.value else f"{column} IS NULL")
    return Sql(f"{column} IS NOT NULL AND {column} {condition.op} {json.mark}", (condition.value,))


def in_scope(scope: Scope, mark: str) -> Sql:
    """Tests a range rather than LIKE, so that the index serves it; '0' is the character after '/'."""
    if scope.also:
        return _join(" OR ", [in_scope(one, mark) for one in scope.members]).enclosed
    path = scope.path
    if not scope.below:
        return Sql(f"scope = {mark}", (path,))
    test = f"(scope = {mark} OR (scope >= {mark} AND scope < {mark}))"
    return Sql(test, (path, f"{path}/", f"{path}0"))


def _in_box(box: Box, mark: str) -> Sql:
    sides = list(zip(_AXES, box.low, box.high, strict=False))
    tests = ["x IS NOT NULL", *(f"{axis} BETWEEN {mark} AND {mark}" for axis, _, _ in sides)]
    return Sql(" AND ".join(tests), tuple(end for _, low, high in sides for end in (low, high)))


def _within(near: Near, mark: str) -> Sql:
    """Tests a distance, and first a box around the place, for which a database may have an index.

    The box is a little larger than the radius, so that rounding cuts nothing off.
    """
    x, y, z = (*near.place, 0.0)[:3]
    reach = near.radius * (1 + 1e-9) + 1e-12 * (abs(x) + abs(y))
    box = f"x IS NOT NULL AND x BETWEEN {mark} AND {mark} AND y BETWEEN {mark} AND {mark}"
    squares = " + ".join(f"({axis} - {mark}) * ({axis} - {mark})" for axis in _AXES)
    sides = (x - reach, x + reach, y - reach, y + reach)
    return Sql(f"{box} AND {squares} <= {mark}", (*sides, x, x, y, y, z, z, near.radius * near.radius))


def _join(word: str, parts: Sequence[Sql]) -> Sql:
    """Joins all parts in groups, which keeps the expression tree shallow."""
    if len(parts) > _WIDEST:
        groups = [parts[start : start + _WIDEST] for start in range(0, len(parts), _WIDEST)]
        return _join(word, [_join(word, group).enclosed for group in groups])
    values: tuple[Any, ...] = tuple(value for part in parts for value in part.values)
    return Sql(word.join(part.text for part in parts), values)
