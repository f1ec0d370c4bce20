"""Two stores that are one, sealed or audited: still the laws of `Store`."""

from __future__ import annotations

from eidet.store import Store
from eidet.store.contract import StoreContract
from eidet.store.ram import RamStore
from eidet.store.tiered import TieredStore
from eidet.trust.audit import Audit
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.store import AuditedStore
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore

KEY = bytes(range(32))


class TestSealedTiers(StoreContract):
    def make(self) -> Store:
        return SealedStore(TieredStore(RamStore(), RamStore()), LocalKeys(KEY))


class TestSealedAndAuditedTiers(StoreContract):
    def make(self) -> Store:
        log = AuditLog(Audit(path=self.folder / "audit.jsonl", key="a key of many letters"))
        sealed = SealedStore(TieredStore(RamStore(), RamStore()), LocalKeys(KEY))
        return AuditedStore(sealed, log)
