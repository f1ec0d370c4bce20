"""A sealed store obeys the laws of `Store`, whatever store it is around."""

from __future__ import annotations

from eidet.seal.service import LocalKeys
from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.sealed import SealedStore
from eidet.store.sqlite import SqliteStore

KEY = bytes(range(32))


class TestSealedRam(StoreContract):
    def make(self) -> Store:
        return SealedStore(RamStore(), LocalKeys(KEY))


class TestSealedSqlite(StoreContract):
    def make(self) -> Store:
        return SealedStore(SqliteStore(self.folder / "memory.db"), LocalKeys(KEY))

    def reopen(self, store: Store) -> Store:
        return self.make()
