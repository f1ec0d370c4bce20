"""With PgBouncer between, which hands out connections by transaction: the same laws, and the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.faults.pgvector_memories import FROM, SCOPE, await_served, check_complete, fill, opened, text
from tests.servers.pgbouncer import PgBouncer
from tests.servers.postgres import Postgres

from eidet import Memory
from eidet.core.errors import Misconfigured
from eidet.store import Store, verbs
from eidet.store.contract import StoreContract
from eidet.store.sql.postgres import PostgresStore

pytestmark = pytest.mark.needs("pgbouncer")


def pooled(postgres: Postgres, folder: Path, mode: str, size: int) -> Iterator[PgBouncer]:
    pooler = PgBouncer(folder, postgres.port, mode, size=size).start()
    yield pooler
    pooler.stop()


@pytest.fixture(scope="module")
def by_transaction(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgBouncer]:
    yield from pooled(postgres, tmp_path_factory.mktemp("pgbouncer"), "transaction", 6)


@pytest.fixture(scope="module")
def by_session(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgBouncer]:
    yield from pooled(postgres, tmp_path_factory.mktemp("pgbouncer"), "session", 40)


class TestPgBouncer(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, by_transaction: PgBouncer, postgres_emptied: str) -> None:
        self.url = by_transaction.through(postgres_emptied)

    def make(self) -> Store:
        return PostgresStore(self.url)

    def reopen(self, store: Store) -> Store:
        return self.make()


def test_a_pooler_is_noticed_and_nothing_is_prepared(by_transaction: PgBouncer, postgres_url: str) -> None:
    """Older poolers mix up what several clients have prepared."""
    store = PostgresStore(by_transaction.through(postgres_url))
    for _ in range(20):
        verbs.get_setting(store, "name")
    assert store.ask(lambda c: c.prepare_threshold) is None
    assert store._driver.read("SELECT count(*) FROM pg_prepared_statements", ()) == [(0,)]
    store.close()
    direct = PostgresStore(postgres_url)
    assert direct.ask(lambda c: c.prepare_threshold) is not None
    direct.close()


@pytest.mark.parametrize("mode", ["by_transaction", "by_session"])
def test_a_database_that_searches_can_stand_behind_a_pooler(
    mode: str, postgres_url: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(mode).through(postgres_url)

    def write(memory: Memory, name: str) -> None:
        for number in range(12):
            said = text(f"{name}x{number}")
            memory.remember(said, scope=SCOPE)
            assert memory.recall(said, scope=SCOPE, limit=1)[0].text == said

    with opened(url) as one, opened(url) as two, ThreadPoolExecutor(4) as pool:
        fill(one, range(FROM))
        await_served(one)
        writers = zip((one, two, one, two), "abcd", strict=True)
        for done in [pool.submit(write, *writer) for writer in writers]:
            done.result(60)
        await_served(two)
        check_complete(two, postgres_url, [3, 50, "ax11", "dx11"])
        one.forget(one.recall(text(5), scope=SCOPE, limit=1)[0].id, scope=SCOPE)
        left = [hit.text for hit in two.recall(text(5), scope=SCOPE)]
        assert left
        assert text(5) not in left
        assert one.admin.check() == two.admin.check() == []


def test_what_a_pooler_refuses_is_told_at_once(by_transaction: PgBouncer, postgres_url: str) -> None:
    with pytest.raises(Misconfigured, match="startup parameter"):
        PostgresStore(f"{by_transaction.through(postgres_url)}?options=-csearch_path%3Dmemory")
