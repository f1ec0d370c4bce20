"""The interface of a PostgreSQL store for an index that searches in the same database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from ....core.where import Where
from ... import Changes, Store

if TYPE_CHECKING:
    from .pool import DeadlineConnection

T = TypeVar("T")


class SqlCondition(NamedTuple):
    """SQL with its values. Unless `exact`, it lets more pass, and each record must be checked."""

    sql: str
    values: list[Any]
    exact: bool


class SearchableDatabase(Store, Protocol):
    """A store whose server also searches. Its searches see everything the store acknowledged."""

    def condition(self, where: Where) -> SqlCondition:
        """Compiles a filter to SQL on the table `records`, in a form that the database's indexes support."""

    def ask(self, job: Callable[[DeadlineConnection], T], *, deadline_seconds: float | None = None) -> T:
        """Runs a job on a connection."""

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        """Returns changes for a reader that has everything up to `since` from this database and reign."""
