"""The same verbs for asyncio: one thread hop each, none where nothing waits. No verb is written twice."""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from ..core.draft import Details
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import Json, Moment
from ..memory import Memory
from ..write import Given
from .hop import Hopping, Threads, hop, like, taking
from .namespaces import AsyncAdmin, AsyncKeys, AsyncTrust, AsyncUpkeep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..parts import Parts
    from ..trust.audit.log import AuditLog

__all__ = ["AsyncMemory"]


async def _ready_query(
    threads: Threads,
    _core: object,
    query: str | Mapping[str, Json] = "",
    *,
    scope: str | Scope = "default",
    now: Moment | None = None,
    understand: bool = True,
    vector: object = None,
    **_: object,
) -> None:
    """Awaits the vector of a query that the recall will need."""
    if vector is None:
        await threads.embed_query(query, scope, now, understand)


async def _ready_revision(threads: Threads, _core: object, _id: str = "", **changes: Any) -> None:
    """Awaits the vector of a text that the revision will need."""
    if changes.get("vector") is None:
        said = {}
        for name, value in changes.items():
            if name in ("text", "data"):
                said[name] = value
        await threads.embed((await threads.open()).trust.guarding.texts_of_changes(said))


class AsyncMemory(Hopping[Memory]):
    """`Memory` for asyncio. A verb that was cancelled may still take effect.

    The constructor opens nothing: `async with`, `await AsyncMemory.open(…)` or the first verb opens the
    memory in a thread, so that your loop goes on meanwhile. An asynchronous embedder of yours is
    awaited in your loop, before the core is entered.
    """

    @taking(Memory.__init__)
    def __init__(self, *args: Any, **how: Any) -> None:
        threads = Threads(partial(Memory, *args, **how))
        super().__init__(threads, threads.core)
        self.upkeep = AsyncUpkeep(threads, lambda: threads.core().upkeep)
        self.trust = AsyncTrust(threads, lambda: threads.core().trust)
        self.keys = AsyncKeys(threads, lambda: threads.core().keys)
        self.admin = AsyncAdmin(threads, lambda: threads.core().admin)

    @classmethod
    @taking(Memory.__init__)
    async def open(cls, *args: Any, **how: Any) -> AsyncMemory:
        """An `AsyncMemory` that is open already: a thread has opened its file or its server."""
        memory = cls(*args, **how)
        await memory.threads.open()
        return memory

    @property
    def threads(self) -> Threads:
        """Where the verbs run; views and doors of an `AsyncMemory` run theirs there, too."""
        return self._threads

    @property
    def core(self) -> Memory:
        """The synchronous memory inside; opens it here and now if nobody has yet."""
        return self._threads.core()

    @property
    def parts(self) -> Parts:
        """As `Memory.parts`; open the memory first, else this opens it here and now."""
        return self.core.parts

    @property
    def audit(self) -> AuditLog | None:
        """As `Memory.audit`; open the memory first, else this opens it here and now."""
        return self.core.audit

    @overload
    async def remember(
        self, what: list[Any] | tuple[Any, ...], **details: Unpack[Details]
    ) -> list[Record]: ...
    @overload
    async def remember(self, what: Given | None = None, **details: Unpack[Details]) -> Record: ...
    @like(Memory.remember)
    async def remember(self, what: Any = None, **details: Any) -> Any:
        await self._threads.embed_said(what, details)
        return await self._run(Memory.remember, what, **details)

    @overload
    async def get(self, ids: str, *, scope: str | Scope = ...) -> Record | None: ...
    @overload
    async def get(
        self, ids: list[str] | tuple[str, ...], *, scope: str | Scope = ...
    ) -> list[Record | None]: ...
    @like(Memory.get)
    async def get(self, ids: str | Sequence[str], *, scope: str | Scope = "default") -> Any:
        return await self._run(Memory.get, ids, scope=scope)

    recall = hop(Memory.recall, _ready_query)
    context = hop(Memory.context, _ready_query)
    feedback = hop(Memory.feedback)
    find = hop(Memory.find)
    count = hop(Memory.count)
    revise = hop(Memory.revise, _ready_revision)
    forget = hop(Memory.forget)
    history = hop(Memory.history)
    scopes = hop(Memory.scopes)
    export = hop(Memory.export)
    load = hop(Memory.load)

    @like(Memory.close)
    async def close(self) -> None:
        await self._threads.close()

    async def __aenter__(self) -> Self:
        await self._threads.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
