"""The same verbs for asyncio: one thread hop each, none where nothing waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from .clean import Moment
from .config import Settings
from .ingest import Given, text_said, texts_of
from .memory import Memory, Progress
from .model import Details, Event, Hits, Record, Scope
from .recall import BALANCED, Recipe
from .recall.pack import Context
from .store import Store
from .store.ram import RamStore
from .text.tokens import TokenCounter
from .where import Box, Near, Where

T = TypeVar("T")


class AsyncMemory:
    """`Memory` for asyncio. A verb that was cancelled may still take effect.

    An asynchronous embedder of yours is awaited in your loop, before the core is entered.
    """

    def __init__(
        self,
        place: str | Path | Store | None = None,
        *,
        embedder: object = None,
        language: str | None = None,
        durability: str | None = None,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._memory = Memory(
            place,
            embedder=embedder,
            language=language,
            durability=durability,
            settings=settings,
            clock=clock,
        )
        engine = self._memory._engine  # noqa: SLF001  the façade is the other half of Memory
        self._warm = getattr(engine.embedder, "warm", None)
        self._waits = not isinstance(engine.store, RamStore) or self._warm is not None
        self._closed = False
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="eidet")

    async def _run(self, verb: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        if not self._waits or self._closed:
            return verb(*args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(verb, *args, **kwargs))

    async def _embed(self, texts: Sequence[str]) -> None:
        if self._warm is not None and texts:
            await self._warm(texts)

    @overload
    async def remember(
        self, what: list[Any] | tuple[Any, ...], **details: Unpack[Details]
    ) -> list[Record]: ...
    @overload
    async def remember(self, what: Given | None = None, **details: Unpack[Details]) -> Record: ...
    async def remember(
        self, what: Given | Sequence[Given] | None = None, **details: Unpack[Details]
    ) -> Record | list[Record]:
        await self._embed(text_said(details) if what is None else texts_of(what))
        return await self._run(self._memory.remember, what, **details)

    async def recall(
        self,
        query: str = "",
        *,
        scope: str | Scope = "default",
        limit: int = 10,
        where: Where | None = None,
        kinds: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        near: Near | None = None,
        box: Box | None = None,
        vector: Any = None,
        recipe: Recipe = BALANCED,
        order: str = "-occurred",
        explain: bool = False,
    ) -> Hits:
        await self._embed([query] if vector is None else [])
        return await self._run(
            self._memory.recall,
            query,
            scope=scope,
            limit=limit,
            where=where,
            kinds=kinds,
            session=session,
            agent=agent,
            who=who,
            since=since,
            until=until,
            near=near,
            box=box,
            vector=vector,
            recipe=recipe,
            order=order,
            explain=explain,
        )

    async def context(
        self,
        query: str,
        *,
        budget: int = 1000,
        counter: TokenCounter | Callable[[str], int] | None = None,
        limit: int = 50,
        scope: str | Scope = "default",
        where: Where | None = None,
        recipe: Recipe = BALANCED,
    ) -> Context:
        await self._embed([query])
        return await self._run(
            self._memory.context,
            query,
            budget=budget,
            counter=counter,
            limit=limit,
            scope=scope,
            where=where,
            recipe=recipe,
        )

    @overload
    async def get(self, ids: str, *, scope: str | Scope = ...) -> Record | None: ...
    @overload
    async def get(
        self, ids: list[str] | tuple[str, ...], *, scope: str | Scope = ...
    ) -> list[Record | None]: ...
    async def get(
        self, ids: str | Sequence[str], *, scope: str | Scope = "default"
    ) -> Record | list[Record | None] | None:
        return await self._run(self._memory.get, ids, scope=scope)

    async def find(
        self,
        where: Where | None = None,
        *,
        scope: str | Scope = "default",
        kinds: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        order: str = "-occurred",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Record]:
        return await self._run(
            self._memory.find,
            where,
            scope=scope,
            kinds=kinds,
            session=session,
            agent=agent,
            who=who,
            since=since,
            until=until,
            order=order,
            limit=limit,
            offset=offset,
        )

    async def revise(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        version: int | None = None,
        digest: str | None = None,
        by: str | None = None,
        clear: Sequence[str] = (),
        **changes: Any,
    ) -> Record:
        await self._embed(text_said(changes))
        return await self._run(
            self._memory.revise,
            id,
            scope=scope,
            version=version,
            digest=digest,
            by=by,
            clear=clear,
            **changes,
        )

    async def forget(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        where: Where | None = None,
        everything: bool = False,
        scope: str | Scope | None = None,
        by: str | None = None,
    ) -> int:
        return await self._run(
            self._memory.forget, ids, where=where, everything=everything, scope=scope, by=by
        )

    async def history(self, id: str, *, scope: str | Scope = "default") -> list[Event]:
        return await self._run(self._memory.history, id, scope=scope)

    async def scopes(self, under: str | None = None) -> dict[str, int]:
        return await self._run(self._memory.scopes, under)

    async def count(self, where: Where | None = None, *, scope: str | Scope = "default") -> int:
        return await self._run(self._memory.count, where, scope=scope)

    async def stats(self, scope: str | Scope | None = None) -> dict[str, Any]:
        return await self._run(self._memory.stats, scope)

    async def export(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = "default",
        progress: Progress | None = None,
    ) -> int:
        return await self._run(self._memory.export, path, scope=scope, progress=progress)

    async def load(self, path: str | Path, *, progress: Progress | None = None) -> int:
        return await self._run(self._memory.load, path, progress=progress)

    async def flush(self) -> None:
        await self._run(self._memory.flush)

    async def rebuild(
        self,
        scope: str | Scope | None = None,
        *,
        language: str | None = None,
        progress: Progress | None = None,
    ) -> int:
        return await self._run(self._memory.rebuild, scope, language=language, progress=progress)

    async def reembed(self, embedder: object, *, progress: Progress | None = None) -> int:
        return await self._run(self._memory.reembed, embedder, progress=progress)

    async def check(self) -> list[str]:
        return await self._run(self._memory.check)

    async def close(self) -> None:
        await self._run(self._memory.close)
        self._closed = True
        self._pool.shutdown()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
