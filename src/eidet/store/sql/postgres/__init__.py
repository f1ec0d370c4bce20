"""PostgreSQL: one writer at a time with group commit; what a lost line leaves in doubt is looked up.

address.py      what a URL says                bulk.py                     many records in one round trip
driver.py       reading and writing            write.py                    a commit that is made once
pool.py         connections with deadlines     searchable.py               what an index may ask here
"""

from __future__ import annotations

from typing import Any

from ....core.settings import Settings
from ....core.where import Where
from ....net.retry import RetryPolicy
from ... import Changes, Head
from ...model import STAGED
from ...traits import StoreTraits
from ..relational import RelationalStore
from .address import address_of
from .bulk import PostgresReader, PostgresTransaction
from .driver import PostgresDriver
from .searchable import SqlCondition, add_box, add_documents
from .text import escape


class PostgresStore(RelationalStore):
    """Records in a PostgreSQL database, as `postgresql://user@host/database`.

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
        self._seen = Head(0, 0)
        self._reigns = driver.reigns
        self._doubted = 0  # whoever knows only what was before this seq begins anew
        super().__init__(driver)
        self._seen = super().head()
        whole_tables = [self._sql["adopt"].sql, self._sql["lacking"].sql]
        driver.slow = frozenset([*whole_tables, self._sql.write_values(STAGED.name).clear])

    def condition(self, where: Where) -> SqlCondition:
        """As `SearchableDatabase.condition`."""
        sifted = self._reader.sift(add_box(where))
        sql, values = self._reader.test(sifted.coarse)
        return add_documents(SqlCondition(sql, escape(values), sifted.exact), where)

    def health(self) -> dict[str, Any]:
        """How the connection to the server does."""
        return self.retrier.health().as_dict()

    def describe(self) -> StoreTraits:
        return StoreTraits(home=self._find_home)

    def _find_home(self) -> str:
        """The database, by numbers that a dump does not carry; a standby that takes over has the same."""
        ((cluster, database),) = self._driver.read(
            "SELECT system_identifier, oid FROM pg_control_system(), pg_database "
            "WHERE datname = current_database()",
            (),
        )
        return f"{cluster}/{database}"

    def head(self) -> Head:
        head = self._note(super().head())
        if self._driver.reigns == self._reigns:
            return head
        self._begin_anew()
        return self._note(super().head())

    def _note(self, head: Head) -> Head:
        self._seen = max(self._seen, head)
        return head

    def _begin_anew(self) -> None:
        """After a failover seqs may be given again that this process has seen already, for other records."""
        reigns, after = self._driver.reigns, self._seen.seq + 1
        self.leap(after)
        self._doubted = max(after, self._doubted)
        self._reigns = reigns

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        changes = self.changes_here(scope, since, limit)
        doubted = self._doubted if since < self._doubted else 0
        return changes._replace(pruned=max(changes.pruned, doubted))

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        """For whoever has it from this database, in the present reign, what there was up to `since`."""

        changes = super().changes(scope, since, limit)
        self._note(changes.head)
        return changes
