"""The everyday part of `Where` as SQL text: scope, time, kind and labels, joined by AND.

Building an expression in SQLAlchemy takes about a millisecond, and importing it 0.15 s. Most filters
need neither. `write_plain` leaves the others to `compile_where`; a property test holds both equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...core.where import Where

FEW: Final = 100  # values of one part; longer lists are for `compile_where`
_RARE: Final = ("ids", "box", "near", "conditions", "every", "some", "never")
_NAMED: Final = {"kinds": "kind", "tiers": "tier", "trust": "trust"}
_LABELS: Final = ("agent", "session", "who", "source")
_RANGES: Final = {
    "since": "occurred >=",
    "until": "occurred <=",
    "created_since": "created >=",
    "created_until": "created <=",
    "step_from": "step >=",
    "step_to": "step <=",
    "importance_min": "importance >=",
    "importance_max": "importance <=",
}


def write_plain(where: Where, mark: str) -> tuple[str, list[Any]] | None:
    """SQL and its values, or None for a filter with other parts. `mark` stands for a value."""
    for name in _RARE:
        if getattr(where, name):
            return None
    if where.ids is not None:
        return None
    tests: list[str] = []
    values: list[Any] = []
    _add_scope(where, mark, tests, values)
    for name, column in _NAMED.items():
        if not _add_named(column, getattr(where, name), mark, tests, values):
            return None
    for name in _LABELS:
        _add_test(f"{name} =", getattr(where, name), mark, tests, values)
    for name, start in _RANGES.items():
        _add_test(start, getattr(where, name), mark, tests, values)
    if where.alive_at is not None:
        tests.append(f"(expires IS NULL OR expires > {mark})")
        values.append(where.alive_at)
    return " AND ".join(tests) or "1 = 1", values


def _add_scope(where: Where, mark: str, tests: list[str], values: list[Any]) -> None:
    """A range rather than LIKE, so that the index serves it; '0' is the character after '/'."""
    if where.scope is None:
        return
    path = where.scope.path
    values.append(path)
    if not where.scope.below:
        tests.append(f"scope = {mark}")
        return
    tests.append(f"(scope = {mark} OR (scope >= {mark} AND scope < {mark}))")
    values += [f"{path}/", f"{path}0"]


def _add_named(
    column: str, wanted: Sequence[Any] | None, mark: str, tests: list[str], values: list[Any]
) -> bool:
    """Whether it could be added: a list may be too long, or empty."""
    if wanted is None:
        return True
    if not 0 < len(wanted) <= FEW:
        return False
    marks = ", ".join([mark] * len(wanted))
    tests.append(f"{column} IN ({marks})")
    for one in wanted:
        values.append(one.value)
    return True


def _add_test(start: str, value: object, mark: str, tests: list[str], values: list[Any]) -> None:
    if value is not None:
        tests.append(f"{start} {mark}")
        values.append(value)
