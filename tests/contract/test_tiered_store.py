"""The laws of stores, on two stores that are one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eidet import Memory
from eidet.core.settings import Settings
from eidet.open import open_store
from eidet.store import STAGED, Store, verbs
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tiered import TieredStore


class Stopped(Exception):
    """Somebody stops a change of embedder."""


def stop(done: int, total: int) -> None:
    raise Stopped


MEANWHILE: dict[str, Callable[[Memory, str], object]] = {
    "forgotten": lambda memory, known: memory.forget(known),
    "revised": lambda memory, known: memory.revise(known, text="says something else"),
    "moved": lambda memory, known: memory.revise(known, tier="short"),
}


class TieredContract(StoreContract):
    """The laws of stores, and one of two that share what one of them keeps."""

    @pytest.mark.parametrize("happens", MEANWHILE)
    def test_a_change_of_embedder_goes_on_whatever_happened_to_some_records(self, happens: str) -> None:
        with Memory(self.make(), embedder="hashing:64") as memory:
            records = memory.remember([f"fact {n}" for n in range(12)], tier="long")
            with pytest.raises(Stopped):
                memory.admin.reembed("hashing:32", progress=stop)
            for record in records[6:]:  # whose seqs in the long store are common seqs of others
                MEANWHILE[happens](memory, record.id)
            left = memory.count()
            assert memory.admin.reembed("hashing:32") == left
            assert {len(record.vector or b"") for record in memory.find(limit=left)} == {4 * 32}


class TestTieredInRam(TieredContract):
    def make(self) -> Store:
        return TieredStore(RamStore(), RamStore())


class TestTieredFiles(TieredContract):
    def make(self) -> Store:
        return self._opened()

    def reopen(self, store: Store) -> Store:
        return self._opened()

    def _opened(self) -> Store:
        return TieredStore(SqliteStore(self.folder / "short.db"), SqliteStore(self.folder / "long.db"))


class TestTieredOnValkeyAndAFile(TieredContract):
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


def test_a_change_of_embedder_that_0_3_0_began_goes_on() -> None:
    """It kept staged vectors at the common seqs themselves."""
    long = RamStore()
    with Memory(TieredStore(RamStore(), long), embedder="hashing:64") as memory:
        gone, *kept = memory.remember([f"fact {n}" for n in range(3)])
        verbs.stage_vectors(long, "hashing:32", [(record.seq, bytes(128)) for record in (gone, *kept)])
        memory.forget(gone.id)
        assert set(memory.parts.store.values(STAGED)) == {record.seq for record in kept}
        assert memory.admin.reembed("hashing:32", progress=stop) == 2
        assert {record.vector for record in memory.find()} == {bytes(128)}
