"""The namespaces of an `AsyncMemory`."""

from __future__ import annotations

from typing import Any, overload

from ..core.hit import Hit, Hits
from ..core.record import Record
from ..memory.admin import AdminNamespace
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from .hop import Hopping, hop, like


class AsyncUpkeep(Hopping[UpkeepNamespace]):
    """`memory.upkeep` for asyncio."""

    maintain = hop(UpkeepNamespace.maintain)
    background = hop(UpkeepNamespace.background)
    retention = hop(UpkeepNamespace.retention)
    end_session = hop(UpkeepNamespace.end_session)
    unarchive = hop(UpkeepNamespace.unarchive)
    fit = hop(UpkeepNamespace.fit)
    detail = hop(UpkeepNamespace.detail)
    restore = hop(UpkeepNamespace.restore)
    pin = hop(UpkeepNamespace.pin)
    unpin = hop(UpkeepNamespace.unpin)
    hold = hop(UpkeepNamespace.hold)
    release = hop(UpkeepNamespace.release)


class AsyncTrust(Hopping[TrustNamespace]):
    """`memory.trust` for asyncio."""

    quarantine = hop(TrustNamespace.quarantine)
    approve = hop(TrustNamespace.approve)
    review = hop(TrustNamespace.review)
    forget_value = hop(TrustNamespace.forget_value)
    preview_forget = hop(TrustNamespace.preview_forget)
    verify_forgotten = hop(TrustNamespace.verify_forgotten)
    verify_receipt = hop(TrustNamespace.verify_receipt)

    @overload
    async def reveal(self, about: str, *, key: object = ...) -> str: ...
    @overload
    async def reveal(self, about: Record, *, key: object = ...) -> Record: ...
    @overload
    async def reveal(self, about: Hit, *, key: object = ...) -> Hit: ...
    @overload
    async def reveal(self, about: Hits, *, key: object = ...) -> Hits: ...
    @like(TrustNamespace.reveal)
    async def reveal(self, about: Any, *, key: object = None) -> Any:
        return await self._run(TrustNamespace.reveal, about, key=key)


class AsyncKeys(Hopping[KeysNamespace]):
    """`memory.keys` for asyncio."""

    rotate = hop(KeysNamespace.rotate)
    shred = hop(KeysNamespace.shred)


class AsyncAdmin(Hopping[AdminNamespace]):
    """`memory.admin` for asyncio."""

    stats = hop(AdminNamespace.stats)
    health = hop(AdminNamespace.health)
    metrics = hop(AdminNamespace.metrics)
    check = hop(AdminNamespace.check)
    flush = hop(AdminNamespace.flush)
    rebuild = hop(AdminNamespace.rebuild)
    reembed = hop(AdminNamespace.reembed)
    phrase_query = hop(AdminNamespace.phrase_query)
