"""Every index obeys the laws of `Index`, over every store that it may follow."""

from __future__ import annotations

from eidet.index import Index
from eidet.index.contract import IndexContract
from eidet.index.embedded import EmbeddedIndex, EmbeddedSettings
from eidet.store import Store
from eidet.store.sqlite import SqliteStore


class TestEmbeddedOverRam(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        return EmbeddedIndex(store, width)


class TestEmbeddedOverSqlite(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        return EmbeddedIndex(store, width)

    def make_store(self) -> Store:
        return SqliteStore(self.folder / "memory.db")

    def reopen(self, store: Store) -> Store:
        return self.make_store()


class TestEmbeddedWithCacheFiles(TestEmbeddedOverSqlite):
    """Every scope has a cache file, and hardly any fits into memory."""

    def make(self, store: Store, width: int) -> Index:
        settings = EmbeddedSettings(memory_mb=0, sidecar_from=1)
        return EmbeddedIndex(store, width, folder=self.folder / "index", settings=settings)
