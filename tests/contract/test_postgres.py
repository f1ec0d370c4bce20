"""The PostgreSQL store obeys the laws of `Store`, on a real server."""

from __future__ import annotations

import pytest
from tests.servers.fixtures import EMPTY
from tests.servers.postgres import Postgres

from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.postgres import PostgresStore

PARTS = "eidet_partitioned"


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, postgres_emptied: str) -> None:
        self.url = postgres_emptied

    def make(self) -> Store:
        return PostgresStore(self.url)

    def reopen(self, store: Store) -> Store:
        return self.make()


@pytest.fixture(scope="module")
def partitioned(postgres: Postgres) -> str:
    """A database whose records are divided by scope."""
    import psycopg

    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {PARTS}")
    url = f"{postgres.url(PARTS)}?eidet_partitions=4"
    PostgresStore(url).close()
    return url


class TestPartitions(TestPostgres):
    @pytest.fixture(autouse=True)
    def _server(self, partitioned: str) -> None:
        import psycopg

        self.url = partitioned
        with psycopg.connect(partitioned.partition("?")[0], autocommit=True) as connection:
            connection.execute(EMPTY)
