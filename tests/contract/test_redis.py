"""The Redis store obeys the laws of `Store`, on a real server."""

from __future__ import annotations

import pytest

from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.redis import RedisStore


class TestRedis(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, redis_url: str) -> None:
        self.url = redis_url

    def make(self) -> Store:
        return RedisStore(self.url)

    def reopen(self, store: Store) -> Store:
        return self.make()
