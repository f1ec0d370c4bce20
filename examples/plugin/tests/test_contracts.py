"""The laws that Eidet ships, on what this package adds."""

from __future__ import annotations

from uuid import uuid4

from eidet_example.embedder import Letters
from eidet_example.finder import plain
from eidet_example.index import shelves
from eidet_example.store import FolderStore

from eidet.core.settings import Settings
from eidet.index import Index
from eidet.index.contract import IndexContract
from eidet.models.contract import EmbedderContract
from eidet.models.embed import Embedder
from eidet.store import Store
from eidet.store.abilities import MaintainsStorage
from eidet.store.contract import StoreContract


class TestFolderStore(StoreContract):
    lacks = (MaintainsStorage,)

    def make(self) -> Store:
        return FolderStore(self.folder)

    def reopen(self, store: Store) -> Store:
        del store
        return FolderStore(self.folder)


class TestShelves(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        at_once = f"shelves://{uuid4()}?small=0&ship_rows=1&background=no"  # nothing waits in RAM
        return shelves(store, width, settings=Settings(index=at_once))


class TestPlain(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        return plain(store, width)


class TestLetters(EmbedderContract):
    def make(self) -> Embedder:
        return Letters()
