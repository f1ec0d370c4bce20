"""PostgreSQL: one writer at a time with group commit; what a lost line leaves in doubt is looked up.

postgres_address.py    what a URL says             postgres_write.py      a transaction, done once
postgres_bulk.py       many records at once        postgres_replicas.py   reading elsewhere
postgres_driver.py     the connections             postgres_json.py, postgres_text.py, postgres_errors.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from ....core.errors import Unavailable
from ....core.record import Record, record_digest
from ....core.settings import Settings
from ....core.where import Where
from ....net.retry import RetryPolicy
from ... import Changes, Head, Watch
from ...pushdown import untold
from ...rules import UNIQUE_KINDS
from ..relational import Cursor, RelationalStore, Scribe
from ..rows import record_of, row_of
from .address import address_of
from .bulk import PostgresScribe, marks_of, quick_insert
from .driver import PostgresDriver
from .lookups import add_box, add_documents
from .match import matching
from .searchable import SqlCondition
from .text import stored
from .write import Quick

T = TypeVar("T")

QUICK = quick_insert()


class PostgresStore(RelationalStore):
    """Records in a PostgreSQL database, as `postgresql://user@host/database`.

    Several hosts may be named (`host1,host2`): the one that takes writes is used, and found again after
    a failover. What was acknowledged is durable as the server's synchronous_commit says. `replicas`
    (`host:port`) are read from while they are at most `lag_seconds` behind and know all that this
    process wrote.
    """

    _driver: PostgresDriver

    def __init__(
        self,
        url: str,
        *,
        settings: Settings | None = None,
        retry_policy: RetryPolicy | None = None,
        replicas: Sequence[str] = (),
        lag_seconds: float | None = None,
    ) -> None:
        del settings
        address = address_of(url)
        if replicas:
            address = replace(address, replicas=tuple(replicas))
        if lag_seconds is not None:
            address = replace(address, lag_seconds=lag_seconds)
        driver = PostgresDriver(address, retry_policy)
        self.retrier = driver.retrier
        self.ask, self.look = driver.ask, driver.look
        self._seen = Head(0, 0)
        self._reigns = driver.reigns
        self._doubted = 0  # whoever knows only what was before this seq begins anew
        super().__init__(driver)
        self._by = {
            name: self._sql.in_array(name, kind) for name, kind in (("id", "text"), ("seq", "bigint"))
        }
        driver.ahead = (self._sql["head"].sql, self._sql["graves"].sql)
        self._seen = super().head()
        driver.slow = frozenset(self._sql[name].sql for name in ("adopt", "lacking", "unstage"))

    def condition(self, where: Where) -> SqlCondition:
        """As `SearchableDatabase.condition`."""
        sifted = self._sifted(add_box(where))
        sql, values = self._sql.prepare(self._where(sifted.coarse))
        return add_documents(SqlCondition(sql, stored(values), sifted.exact), where)

    def match(self, where: Where) -> list[int]:
        told = self._driver.json
        asked = untold(where, told.answers)
        if not asked or not all(map(told.finds, asked)):
            return super().match(where)
        return list(matching(self._where(self._sifted(where).coarse), asked, told, self._select))

    def health(self) -> dict[str, Any]:
        """How the lines to the server and its replicas do."""
        return {**self.retrier.health().as_dict(), "replicas": self._driver.replicas.told()}

    def put(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = True,
        expect: int | None = None,
        epoch: int | None = None,
        by: str | None = None,
        watch: Watch | None = None,
    ) -> list[Record]:
        """A single new record is written by one statement; whatever is not so simple, step by step."""
        job = partial(
            self._put, records, now=now, unique=unique, expect=expect, epoch=epoch, by=by, watch=watch
        )
        known = watch is not None and (watch.again or watch.returning)
        if len(records) != 1 or expect is not None or known:
            return self._driver.write(job) if records else []
        (record,) = records
        values = [*row_of(record, 0)[1:], *self._conditions(record, now, unique, epoch, watch)]
        life, floor = (record.scope, record.id, record.created), self._seen.seq
        quick = Quick(
            QUICK, values, life=life, floor=floor, answer=partial(self._created, record), the_long_way=job
        )
        return self._driver.write(quick)

    def _created(self, record: Record, seq: int) -> list[Record]:
        self._seen = max(self._seen, Head(self._seen.epoch, seq))
        return [record.but(seq=seq)]

    def _conditions(
        self, record: Record, now: float, unique: bool, epoch: int | None, watch: Watch | None
    ) -> list[Any]:
        """The last parameters of `quick_insert`. Claims can be asked for only where there are graves."""
        claims = watch.claims() if watch is not None and self._graves else None
        graves = list(marks_of([record], claims)) if claims is not None else []
        return [
            None if epoch is None else str(epoch),
            [scope for scope, _ in graves],
            [mark for _, mark in graves],
            watch is not None and claims is None,
            unique and record.kind in UNIQUE_KINDS,
            record.scope,
            record_digest(record),
            now,
        ]

    def _scribe(self, cursor: Cursor, now: float, by: str | None) -> Scribe:
        return PostgresScribe(cursor, self._sql, now, by)

    def _among(self, scope: str, column: str, values: Sequence[Any]) -> Iterator[Record]:
        """One statement for any number of them, which the server has planned already."""
        if not values:
            return iter(())
        told = f"{{{','.join(map(str, values))}}}" if column == "seq" else list(values)
        return map(record_of, self._driver.read(self._by[column], (scope, told)))

    # What a replica told must not be taken back by one that is further behind, and what the index knows
    # of must be found: such questions go to the primary.

    def head(self) -> Head:
        head = self._onward(super().head, lambda head: head)
        if self._driver.reigns == self._reigns:
            return head
        self._begin_anew()
        return self._onward(super().head, lambda head: head)

    def _begin_anew(self) -> None:
        """After a failover seqs may be given again that this process has seen already, for other records."""
        reigns, after = self._driver.reigns, self._seen.seq + 1
        self.leap(after)
        self._doubted = max(after, self._doubted)
        self._reigns = reigns

    @property
    def reigns(self) -> int:
        """Goes up with a failover: what was read of the database before may not be there any more."""
        return self._driver.reigns

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        changes = self.changes_here(scope, since, limit)
        doubted = self._doubted if since < self._doubted else 0
        return changes._replace(pruned=max(changes.pruned, doubted))

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        """For whoever has it from this database, in the present reign, what there was up to `since`."""

        def whole(changes: Changes) -> Head:
            cut = len(changes.entries) == limit
            return Head(changes.head.epoch, max(changes.head.seq, self._seen.seq if cut else 0))

        return self._onward(partial(super().changes, scope, since, limit), whole)

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        return self._completed(partial(super().get, scope), ids)

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        return self._completed(partial(super().fetch, scope), seqs)

    def witness(self, seq: int) -> str | None:
        return self._completed(lambda seqs: [super(PostgresStore, self).witness(seqs[0])], [seq])[0]

    def setting(self, name: str) -> str | None:
        return self._completed(lambda names: [super(PostgresStore, self).setting(names[0])], [name])[0]

    def at_one(self, ask: Callable[[], T], unless: type[Exception] = Unavailable) -> T:
        """Whatever is read in there is read from one server, which knows all that this process has seen.

        What a replica cannot answer, or answers with `unless`, is asked of the primary again.
        """
        return self._driver.at_one(ask, self._seen, super().head, unless)

    def _onward(self, ask: Callable[[], T], head_of: Callable[[T], Head]) -> T:
        answer = ask()
        if self._driver.address.replicas and head_of(answer) < self._seen:
            answer = self._driver.at_primary(ask)
        self._seen = max(self._seen, head_of(answer))
        return answer

    def _completed(
        self, ask: Callable[[Sequence[Any]], list[T | None]], keys: Sequence[Any]
    ) -> list[T | None]:
        answers = ask(keys)
        if not self._driver.address.replicas or None not in answers:
            return answers
        lacking = [key for key, answer in zip(keys, answers, strict=True) if answer is None]
        rest = iter(self._driver.at_primary(partial(ask, lacking)))
        return [next(rest) if answer is None else answer for answer in answers]
