"""The same verbs for asyncio, each with at most one thread hop. No verb is written twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial, update_wrapper
from types import TracebackType
from typing import Any, ClassVar, Self

from ..core.scope import Scope
from ..memory import Memory
from ..memory.addresses import Addressed
from ..memory.admin import AdminNamespace
from ..memory.facts import FactsNamespace
from ..memory.feed import Change, follow
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from ..net.hop import Hopping, Threads, hop, taking
from ..parts import Parts
from ..trust.audit.log import AuditLog


class AsyncUpkeep(Hopping[UpkeepNamespace]):
    """`memory.upkeep` for asyncio."""

    maintain: ClassVar = hop(UpkeepNamespace.maintain)
    background: ClassVar = hop(UpkeepNamespace.background)
    retention: ClassVar = hop(UpkeepNamespace.retention)
    end_session: ClassVar = hop(UpkeepNamespace.end_session)
    unarchive: ClassVar = hop(UpkeepNamespace.unarchive)
    claim_archive: ClassVar = hop(UpkeepNamespace.claim_archive)
    detail: ClassVar = hop(UpkeepNamespace.detail)
    restore: ClassVar = hop(UpkeepNamespace.restore)
    pin: ClassVar = hop(UpkeepNamespace.pin)
    unpin: ClassVar = hop(UpkeepNamespace.unpin)
    hold: ClassVar = hop(UpkeepNamespace.hold)
    release: ClassVar = hop(UpkeepNamespace.release)


class AsyncTrust(Hopping[TrustNamespace]):
    """`memory.trust` for asyncio."""

    quarantine: ClassVar = hop(TrustNamespace.quarantine)
    approve: ClassVar = hop(TrustNamespace.approve)
    reject: ClassVar = hop(TrustNamespace.reject)
    review: ClassVar = hop(TrustNamespace.review)
    preview_forget: ClassVar = hop(TrustNamespace.preview_forget)
    verify_receipt: ClassVar = hop(TrustNamespace.verify_receipt)


class AsyncKeys(Hopping[KeysNamespace]):
    """`memory.keys` for asyncio."""

    rotate: ClassVar = hop(KeysNamespace.rotate)
    shred: ClassVar = hop(KeysNamespace.shred)


class AsyncAdmin(Hopping[AdminNamespace]):
    """`memory.admin` for asyncio."""

    stats: ClassVar = hop(AdminNamespace.stats)
    health: ClassVar = hop(AdminNamespace.health)
    metrics: ClassVar = hop(AdminNamespace.metrics)
    sessions: ClassVar = hop(AdminNamespace.sessions)
    changes: ClassVar = hop(AdminNamespace.changes)
    check: ClassVar = hop(AdminNamespace.check)
    flush: ClassVar = hop(AdminNamespace.flush)
    rebuild: ClassVar = hop(AdminNamespace.rebuild)
    reembed: ClassVar = hop(AdminNamespace.reembed)
    explain: ClassVar = hop(AdminNamespace.explain)


class AsyncMemory(Hopping[Memory], Addressed, clients="eidet.async_memories"):
    """`Memory` for asyncio. A cancelled verb may still take effect.

    The constructor opens nothing: `async with`, `await AsyncMemory.open(…)` or the first verb opens the
    memory in a thread, so that your loop goes on meanwhile. An asynchronous embedder of yours is
    awaited in your loop, before the core is entered. Views and adapters also run their methods in `threads`.
    """

    threads: Threads[Memory]

    @taking(Memory.__init__)
    def __init__(self, *args: Any, **how: Any) -> None:
        self._begin(Threads(partial(Memory, *args, **how), lambda memory: memory.parts.waits))

    def _begin(self, threads: Threads[Memory]) -> None:
        super().__init__(threads, threads.core)
        self.facts: AsyncFacts = AsyncFacts(threads, lambda: threads.core().facts)
        self.upkeep: AsyncUpkeep = AsyncUpkeep(threads, lambda: threads.core().upkeep)
        self.trust: AsyncTrust = AsyncTrust(threads, lambda: threads.core().trust)
        self.keys: AsyncKeys = AsyncKeys(threads, lambda: threads.core().keys)
        self.admin: AsyncAdmin = AsyncAdmin(threads, lambda: threads.core().admin)

    @classmethod
    @taking(Memory.__init__)
    async def open(cls, *args: Any, **how: Any) -> AsyncMemory:
        """Returns an open `AsyncMemory`; a thread opens its file or server."""
        memory = cls(*args, **how)
        return await memory.__aenter__()

    @property
    def core(self) -> Memory:
        """The synchronous memory inside; opens it in the calling thread if it is not open yet."""
        return self.threads.core()

    @property
    def parts(self) -> Parts:
        """Works like `Memory.parts`; opens the memory in the calling thread if it is not open yet."""
        return self.core.parts

    @property
    def audit(self) -> AuditLog | None:
        """Works like `Memory.audit`; opens the memory in the calling thread if it is not open yet."""
        return self.core.audit

    remember: ClassVar = hop(Memory.remember)
    get: ClassVar = hop(Memory.get)
    recall: ClassVar = hop(Memory.recall)
    recall_all: ClassVar = hop(Memory.recall_all)
    context: ClassVar = hop(Memory.context)
    feedback: ClassVar = hop(Memory.feedback)
    find: ClassVar = hop(Memory.find)
    count: ClassVar = hop(Memory.count)
    revise: ClassVar = hop(Memory.revise)
    promote: ClassVar = hop(Memory.promote)
    forget: ClassVar = hop(Memory.forget)
    history: ClassVar = hop(Memory.history)
    scopes: ClassVar = hop(Memory.scopes)
    export: ClassVar = hop(Memory.export)
    load: ClassVar = hop(Memory.load)

    def watch(
        self, *, scope: str | Scope = "default", since: int | None = None, wait: float | None = None
    ) -> AsyncIterator[Change]:
        return follow(partial(self.admin.changes, scope=scope), since, wait)

    update_wrapper(watch, Memory.watch)

    async def close(self) -> None:
        await self.threads.close(lambda memory: memory.close())

    update_wrapper(close, Memory.close)

    async def __aenter__(self) -> Self:
        await self.threads.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncFacts(Hopping[FactsNamespace]):
    """`memory.facts` for asyncio."""

    add: ClassVar = hop(FactsNamespace.add)
    read: ClassVar = hop(FactsNamespace.read)
    about: ClassVar = hop(FactsNamespace.about)
    match: ClassVar = hop(FactsNamespace.match)
    neighbours: ClassVar = hop(FactsNamespace.neighbours)
    paths: ClassVar = hop(FactsNamespace.paths)
    timeline: ClassVar = hop(FactsNamespace.timeline)
    entities: ClassVar = hop(FactsNamespace.entities)
    profile: ClassVar = hop(FactsNamespace.profile)
    why: ClassVar = hop(FactsNamespace.why)
    instructions: ClassVar = hop(FactsNamespace.instructions)
    contradictions: ClassVar = hop(FactsNamespace.contradictions)
    resolve: ClassVar = hop(FactsNamespace.resolve)
    retract: ClassVar = hop(FactsNamespace.retract)
    merge: ClassVar = hop(FactsNamespace.merge)
    undo: ClassVar = hop(FactsNamespace.undo)
    decisions: ClassVar = hop(FactsNamespace.decisions)
    export: ClassVar = hop(FactsNamespace.export)
    networkx: ClassVar = hop(FactsNamespace.networkx)
