"""A store that is audited obeys the laws of `Store`."""

from __future__ import annotations

from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.trust.audit import Audit
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.store import AuditedStore


class TestAuditedRam(StoreContract):
    def make(self) -> Store:
        log = AuditLog(Audit(path=self.folder / "audit.jsonl", check=lambda record: [record.kind]))
        return AuditedStore(RamStore(), log)


class TestAuditedSqlite(StoreContract):
    def make(self) -> Store:
        log = AuditLog(Audit(path=self.folder / "audit.jsonl", key="a key of many letters"))
        return AuditedStore(SqliteStore(self.folder / "memory.db"), log)

    def reopen(self, store: Store) -> Store:
        return self.make()
