"""The PostgreSQL store obeys the laws of `Store`, on a real server."""

from __future__ import annotations

import pytest
from tests.servers.fixtures import EMPTY
from tests.servers.postgres import Postgres

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.store import Store, verbs
from eidet.store.contract import StoreContract
from eidet.store.sql.postgres import PostgresStore

PARTS = "eidet_partitioned"


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, postgres_emptied: str) -> None:
        self.url = postgres_emptied

    def make(self) -> Store:
        return PostgresStore(self.url)

    def reopen(self, store: Store) -> Store:
        return self.make()


@pytest.fixture(scope="session")
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


@pytest.mark.parametrize("divided", [False, True], ids=["whole", "partitioned"])
def test_deleted_rows_that_somebody_may_still_see_are_told_of(
    divided: bool, postgres_url: str, partitioned: str
) -> None:
    import psycopg

    url = partitioned if divided else postgres_url
    store = PostgresStore(url)
    verbs.put(
        store,
        [Record(id=f"r{n}", scope="s", text=f"says {n}", created=1.0, occurred=1.0) for n in range(9)],
        now=1.0,
    )
    with psycopg.connect(url.partition("?")[0]) as older:
        older.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert older.execute("SELECT count(*) FROM records WHERE scope = 's'").fetchone() == (9,)
        verbs.delete_where(store, Where(scope=Scope("s")), now=1.0)
        assert [told for told in store.scrub(None).pending if "deleted rows wait" in told]
    assert store.scrub(None).pending == ()
    store.close()
