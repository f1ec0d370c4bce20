"""Every store obeys the laws of `Store`."""

from __future__ import annotations

from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore


class TestRam(StoreContract):
    def make(self) -> Store:
        return RamStore()


class TestSqlite(StoreContract):
    def make(self) -> Store:
        return SqliteStore(self.folder / "memory.db")

    def reopen(self, store: Store) -> Store:
        return self.make()


class TestSqliteThatSurvivesPowerLoss(TestSqlite):
    def make(self) -> Store:
        return SqliteStore(self.folder / "memory.db", durability="power")
