"""Vector sets in a cluster of Redis 8: each lies with its scope, and outlives the primary of that."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator

import pytest
from tests.contract.test_vectordb import AT_ONCE, VectorContract
from tests.faults.test_vectorset_lines import opened, set_of, shelf_of
from tests.servers.redis8 import Redis8
from tests.servers.valkey import Cluster, Valkey, slot_of

from eidet import Memory
from eidet.core.scope import Scope
from eidet.index import Index
from eidet.index.vectordb import Database
from eidet.index.vectordb.index import VectorIndex
from eidet.index.vectordb.vectorset import VectorSets
from eidet.store import Store
from eidet.store.redis import RedisStore
from eidet.store.redis.address import address_of
from eidet.store.redis.client import RedisClient
from eidet.store.redis.key_names import Keys

pytestmark = pytest.mark.needs("redis8")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    first = Redis8(tmp_path_factory.mktemp("first")).start()
    first.stop()
    cluster = Cluster(
        tmp_path_factory.mktemp("cluster8"), 3, "--repl-diskless-sync-delay", "0", of=Redis8
    ).start()
    yield cluster
    cluster.stop()


class TestVectorSetsInACluster(VectorContract):
    """Store and sets together, as they are used."""

    @pytest.fixture(autouse=True)
    def server(self, cluster: Cluster) -> None:
        self.url = f"{cluster.url}?prefix={uuid.uuid4().hex[:12]}"

    def make_store(self) -> Store:
        return RedisStore(self.url)

    def database(self) -> Database:
        place = address_of(self.url)
        return VectorSets(RedisClient(place, None), Keys(place.prefix))

    def make(self, store: Store, width: int) -> Index:
        return VectorIndex(store, width, self.database(), settings=AT_ONCE)


def test_sets_lie_with_their_scopes_and_are_searched_together(cluster: Cluster) -> None:
    url = f"{cluster.url}?prefix=spread"
    with opened(url) as memory, opened(url) as other:
        for number in range(6):
            memory.remember(
                [f"Ann number {number} lives in house{n}" for n in range(5)], scope=f"team/{number}"
            )
        found = other.recall("who lives in house3?", scope=Scope.under("team"), limit=6)
        assert {hit.record.scope for hit in found} == {f"team/{number}" for number in range(6)}
        assert other.admin.stats()["index"]["rows_in_database"] == 30
        keys, nodes = Keys("spread"), set()
        for number in range(6):
            _, key = set_of(other, f"team/{number}")
            assert slot_of(key) == slot_of(keys.base(f"team/{number}"))
            nodes.add(slot_of(key) * 3 // 16384)
        assert len(nodes) > 1
        assert memory.admin.check() == []


def test_a_primary_that_dies_takes_no_vectors_with_it(cluster: Cluster) -> None:
    memory = opened(f"{cluster.url}?prefix=failover")
    try:
        memory.remember([f"note number{n} about topic{n}" for n in range(20)])
        memory.recall("topic7")
        database, key = set_of(memory)
        home = _home(cluster, key)
        time.sleep(0.5)  # the replica follows
        home.kill()
        assert _recalled(memory, "topic7").endswith("topic7")
        memory.remember("a note after the fall")
        assert _recalled(memory, "the fall") == "a note after the fall"
        memory.admin.rebuild("default") if memory.admin.check() else None
        assert memory.admin.check() == []
        assert database.count(shelf_of(memory)) == 21
    finally:
        memory.close()


def _home(cluster: Cluster, key: str) -> Valkey:
    number = slot_of(key) * 3 // 16384
    for node in cluster.nodes:
        if b"-MOVED" not in node.ask("VCARD", key) and node is cluster.nodes[number]:
            return node
    raise AssertionError(key)


def _recalled(memory: Memory, query: str) -> str:
    return memory.recall(query)[0].text
