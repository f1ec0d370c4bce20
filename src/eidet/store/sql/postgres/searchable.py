"""What a PostgreSQL store offers to an index that searches in its database, beside its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from ....core.validate import dump_json
from ....core.where import Box, Condition, Near, Where
from ... import Changes, Store
from .text import escape

if TYPE_CHECKING:
    from .pool import DeadlineConnection

T = TypeVar("T")


class SqlCondition(NamedTuple):
    """SQL with its values; where it is not `exact`, it lets more pass, and each record is to be looked at."""

    sql: str
    values: list[Any]
    exact: bool


class SearchableDatabase(Store, Protocol):
    """A store whose server also searches. Whoever asks here reads what the store has acknowledged."""

    def condition(self, where: Where) -> SqlCondition:
        """A filter as SQL on the table `records`, in a way that the indexes of the database can look up."""

    def ask(self, job: Callable[[DeadlineConnection], T], *, deadline_seconds: float | None = None) -> T:
        """Runs a job on a connection."""

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        """For whoever has it from this database, in the present reign, what there was up to `since`."""


# Filters said in a way that the database's indexes can look up, beside the way that is exact: what is added
# lets at least as much pass, so the answer is the same.


def add_box(where: Where) -> Where:
    """The same filter, with the box that places near another one are in."""
    if where.near is None or where.box is not None:
        return where
    return replace(where, every=(*where.every, Where(box=_box_around(where.near))))


def _box_around(near: Near) -> Box:
    """A little larger than the radius, so that rounding cuts nothing off."""
    x, y = near.place[:2]
    reach = near.radius * (1 + 1e-9) + 1e-12 * (abs(x) + abs(y))
    return Box(low=(x - reach, y - reach), high=(x + reach, y + reach))


def add_documents(condition: SqlCondition, where: Where) -> SqlCondition:
    """A filter with the documents that records must hold to pass it."""
    found = list(_documents(where))
    tests = "".join(f" AND records.{column}::jsonb @> %s::jsonb" for column, _ in found)
    return SqlCondition(
        condition.sql + tests, condition.values + escape([text for _, text in found]), condition.exact
    )


def _documents(where: Where) -> Iterator[tuple[str, str]]:
    for condition in where.conditions:
        if condition.op == "=" and _says_all(condition):
            document: Any = condition.value
            for step in reversed(condition.path[1:]):
                document = {step: document}
            yield str(condition.path[0]), dump_json(document)
    for part in where.every:
        yield from _documents(part)


def _says_all(condition: Condition) -> bool:
    """Whether the value is a scalar under keys; a step that is a number may mean a place in a list."""
    steps = condition.path[1:]
    plain = condition.path[0] in ("data", "meta") and isinstance(condition.value, str | int | float)
    return plain and all(isinstance(step, str) and not any(map(str.isdigit, step)) for step in steps)
