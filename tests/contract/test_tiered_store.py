"""The laws of stores, on two stores that are one."""

from __future__ import annotations

import pytest

from eidet.core.settings import Settings
from eidet.open import open_store
from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tiered import TieredStore


class TestTieredInRam(StoreContract):
    def make(self) -> Store:
        return TieredStore(RamStore(), RamStore())


class TestTieredFiles(StoreContract):
    def make(self) -> Store:
        return self._opened()

    def reopen(self, store: Store) -> Store:
        return self._opened()

    def _opened(self) -> Store:
        return TieredStore(SqliteStore(self.folder / "short.db"), SqliteStore(self.folder / "long.db"))


class TestTieredOnValkeyAndAFile(StoreContract):
    """The classes above run every law; this one what differs when the short store is a server."""

    @pytest.fixture(autouse=True)
    def _server(self, redis_url: str) -> None:
        self.url = redis_url

    def make(self) -> Store:
        return TieredStore(open_store(self.url, Settings()), SqliteStore(self.folder / "long.db"))

    def reopen(self, store: Store) -> Store:
        return self.make()


class TestTieredOnValkeyAndPostgres(TestTieredOnValkeyAndAFile):
    """No file at all: both are servers."""

    @pytest.fixture(autouse=True)
    def _database(self, postgres_emptied: str) -> None:
        self.long = postgres_emptied

    def make(self) -> Store:
        return TieredStore(open_store(self.url, Settings()), open_store(self.long, Settings()))
