"""What a PostgreSQL store offers to an index that searches in its database, beside its records."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from ....core.errors import Unavailable
from ....core.where import Where
from ... import Changes, Store

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")


class SqlCondition(NamedTuple):
    """SQL with its values; where it is not `exact`, it lets more pass, and each record is to be looked at."""

    sql: str
    values: list[Any]
    exact: bool


class SearchableDatabase(Store, Protocol):
    """A store whose server also searches. Whoever asks here reads what the store has acknowledged."""

    @property
    def reigns(self) -> int:
        """Goes up with a failover: what was read of the database before may not be there any more."""

    def condition(self, where: Where) -> SqlCondition:
        """A filter as SQL on the table `records`, in a way that the indexes of the database can look up."""

    def ask(self, job: Callable[[Connection[Any]], T], *, deadline_seconds: float | None = None) -> T:
        """Does a job on a connection to the primary."""

    def look(self, job: Callable[[Connection[Any]], T]) -> T:
        """Reads on any server that knows enough; inside of `at_one`, on that one."""

    def at_one(self, ask: Callable[[], T], unless: type[Exception] = Unavailable) -> T:
        """Whatever is read in there is read from one server, which knows all that this process has seen."""

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        """For whoever has it from this database, in the present reign, what there was up to `since`."""
