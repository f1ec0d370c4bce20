"""Two stores that are one, sealed or audited: still the laws of `Store`."""

from __future__ import annotations

from eidet.audit import Audit
from eidet.audit.log import AuditLog
from eidet.seal.service import LocalKeys
from eidet.store import Store
from eidet.store.audited import AuditedStore
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.sealed import SealedStore
from eidet.store.tiered import TieredStore

KEY = bytes(range(32))


class TestSealedTiers(StoreContract):
    def make(self) -> Store:
        return SealedStore(TieredStore(RamStore(), RamStore()), LocalKeys(KEY))


class TestSealedAndAuditedTiers(StoreContract):
    def make(self) -> Store:
        log = AuditLog(Audit(path=self.folder / "audit.jsonl", key="a key of many letters"))
        sealed = SealedStore(TieredStore(RamStore(), RamStore()), LocalKeys(KEY))
        return AuditedStore(sealed, log, owns=True)
