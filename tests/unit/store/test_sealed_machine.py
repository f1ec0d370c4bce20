"""A sealed store behaves like `RamStore`, whatever is asked of it and in whatever order."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize
from tests.making import examples
from tests.property import test_store_machine as machine

from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore


class SealedTwins(machine.Twins):
    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory(prefix="eidet-machine-")
        path = Path(self.folder.name) / "memory.db"
        shutil.copy(machine.empty_file(), path)
        self.stores = (RamStore(), SealedStore(SqliteStore(path), LocalKeys(bytes(32))))


TestSealedBehavesLikeRam = SealedTwins.TestCase
TestSealedBehavesLikeRam.settings = settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=examples(12),
    stateful_step_count=20,
)
