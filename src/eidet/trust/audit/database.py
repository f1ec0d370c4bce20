"""An audited store whose server also searches: what an index asks of the database is passed on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ...core.where import Where
from ...store import Changes
from ...store.sql.postgres.searchable import SearchableDatabase, SqlCondition
from .log import AuditLog
from .store import AuditedStore

T = TypeVar("T")


class AuditedDatabase(AuditedStore):
    """A `SearchableDatabase`. An index reads records there, and keeps what it derives from them."""

    def __init__(self, store: SearchableDatabase, log: AuditLog, *, owns: bool = False) -> None:
        super().__init__(store, log, owns=owns)
        self._database = store

    def condition(self, where: Where) -> SqlCondition:
        return self._database.condition(where)

    def ask(self, job: Callable[[Any], T], *, deadline_seconds: float | None = None) -> T:
        return self._database.ask(job, deadline_seconds=deadline_seconds)

    def changes_here(self, scope: str, since: int, limit: int) -> Changes:
        return self._database.changes_here(scope, since, limit)
