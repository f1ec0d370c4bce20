"""The PostgreSQL store obeys the laws of `Store`, on a real server."""

from __future__ import annotations

import pytest

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.store import Store, verbs
from eidet.store.contract import StoreContract
from eidet.store.sql.postgres import PostgresStore


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, postgres_emptied: str) -> None:
        self.url = postgres_emptied

    def make(self) -> Store:
        return PostgresStore(self.url)

    def reopen(self, store: Store) -> Store:
        return self.make()


def test_deleted_rows_that_somebody_may_still_see_are_told_of(postgres_url: str) -> None:
    import psycopg

    store = PostgresStore(postgres_url)
    verbs.put(
        store,
        [Record(id=f"r{n}", scope="s", text=f"says {n}", created=1.0, occurred=1.0) for n in range(9)],
        now=1.0,
    )
    with psycopg.connect(postgres_url) as older:
        older.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert older.execute("SELECT count(*) FROM records WHERE scope = 's'").fetchone() == (9,)
        verbs.delete_where(store, Where(scope=Scope("s")), now=1.0)
        assert [told for told in store.scrub(None).pending if "deleted rows wait" in told]
    assert store.scrub(None).pending == ()
    store.close()
