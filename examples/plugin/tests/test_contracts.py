"""The laws that Eidet ships, on what this package adds."""

from __future__ import annotations

from eidet_example.embedder import Letters
from eidet_example.store import SharedStore

from eidet.embed import Embedder
from eidet.embed.contract import EmbedderContract
from eidet.store import Store
from eidet.store.contract import StoreContract


class TestSharedStore(StoreContract):
    def make(self) -> Store:
        return SharedStore()


class TestLetters(EmbedderContract):
    def make(self) -> Embedder:
        return Letters()
