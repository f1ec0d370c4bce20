"""PostgreSQL: one writer at a time with group commit; the outcome of an unanswered commit is looked up.

address.py      what a URL says                bulk.py                     many records in one round trip
driver.py       reading and writing            write.py                    a commit that is made once
pool.py         connections with deadlines     searchable.py               what an index may ask here
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....core.settings import Settings
from ....core.validate import dump_json
from ....core.where import Condition, Where
from ....net.retry import RetryPolicy
from ... import Changes, Head
from ...traits import StoreTraits
from ..relational import RelationalStore
from .address import address_of
from .bulk import PostgresReader, PostgresTransaction
from .driver import PostgresDriver
from .searchable import SqlCondition
from .write import escape


class PostgresStore(RelationalStore):
    """A store in a PostgreSQL database, such as `postgresql://user@host/database`.

    Several hosts may be named (`host1,host2`): the one that takes writes is used, and found again after
    a failover. What was acknowledged is durable as the server's synchronous_commit says. `address.py` has all
    options.
    """

    _driver: PostgresDriver
    _reader_type = PostgresReader
    _transaction_type = PostgresTransaction

    def __init__(
        self, url: str, *, settings: Settings | None = None, retry_policy: RetryPolicy | None = None
    ) -> None:
        del settings
        driver = PostgresDriver(address_of(url), retry_policy)
        self.retrier = driver.retrier
        self.ask = driver.ask
        self._reigns = driver.reigns
        self._doubted = 0  # readers that last read before this seq start over
        super().__init__(driver)
        self._seen = super().head()
        whole_tables = ("adopt", "lacking", "clear_vectors_next")
        driver.slow = frozenset(self._sql[name].sql for name in whole_tables)

    def condition(self, where: Where) -> SqlCondition:
        """Works like `SearchableDatabase.condition`."""
        sifted = self._reader.sift(where)
        sql, values = self._reader.test(sifted.coarse)
        return _add_documents(SqlCondition(sql, escape(values), sifted.exact), where)

    def health(self) -> dict[str, Any]:
        """Returns the state of the connection to the server."""
        return self.retrier.health()

    def describe(self) -> StoreTraits:
        return StoreTraits(home=self._find_home)

    def _find_home(self) -> str:
        """Returns numbers that a dump of the database lacks, and that a standby taking over shares."""
        ((cluster, database),) = self._driver.read(
            "SELECT system_identifier, oid FROM pg_control_system(), pg_database "
            "WHERE datname = current_database()",
            (),
        )
        return f"{cluster}/{database}"

    def head(self) -> Head:
        head = super().head()
        reigns = self._driver.reigns
        if reigns != self._reigns:  # the seqs that this process has seen may go to other records: skip them
            after = max(self._seen, head).seq + 1
            self.leap(after)
            self._doubted, self._reigns = max(after, self._doubted), reigns
            head = super().head()
        self._seen = max(self._seen, head)
        return head

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        changes = self.changes_here(scope, since, limit)
        doubted = self._doubted if since < self._doubted else 0
        return changes._replace(pruned=max(changes.pruned, doubted))

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        """Returns changes for a reader that has everything up to `since` from this database and reign."""
        changes = super().changes(scope, since, limit)
        self._seen = max(self._seen, changes.head)
        return changes


def _add_documents(condition: SqlCondition, where: Where) -> SqlCondition:
    """Adds tests for the documents that records must contain to pass, because an index can look them up.

    They let at least as much pass as the exact tests, so the answer is the same.
    """
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
    """Returns whether the value is a scalar under keys; a numeric step may mean a place in a list."""
    steps = condition.path[1:]
    plain = condition.path[0] in ("data", "meta") and isinstance(condition.value, str | int | float)
    return plain and all(isinstance(step, str) and not any(map(str.isdigit, step)) for step in steps)
