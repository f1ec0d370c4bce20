"""A sealed store obeys the laws of `Store`, whatever store it is around."""

from __future__ import annotations

import pytest

from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.redis import RedisStore
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


class TestSealedRedis(StoreContract):
    """Redis runs a job on a guess first, and again if the guess was wrong: its keys are made once, too."""

    @pytest.fixture(autouse=True)
    def _server(self, redis_url: str) -> None:
        self.url = redis_url

    def make(self) -> Store:
        return SealedStore(RedisStore(self.url), LocalKeys(KEY))

    def reopen(self, store: Store) -> Store:
        return self.make()
