"""A sealed store obeys the laws of `Store`, whatever store it is around."""

from __future__ import annotations

from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore

KEY = bytes(range(32))


class TestSealedRam(StoreContract):
    def make(self) -> Store:
        return SealedStore(RamStore(), LocalKeys(KEY))


class TestSealedSqlite(StoreContract):
    def make(self) -> Store:
        return SealedStore(SqliteStore(self.folder / "memory.db"), LocalKeys(KEY))

    def reopen(self, store: Store) -> Store:
        return self.make()
