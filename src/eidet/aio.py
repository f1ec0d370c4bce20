"""The same verbs for asyncio: one thread hop each, none where nothing waits."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from .core.arguments import checked_query
from .core.draft import Details
from .core.event import Event
from .core.hit import Hit, Hits, Trace
from .core.record import Record
from .core.scope import Scope
from .core.settings import Settings, Upkeep
from .core.validate import Moment
from .core.where import Box, Near, Where
from .memory import Memory, Progress
from .models.embed import WarmableEmbedder
from .recall import AUTO, Recipe
from .recall.pack import Context
from .store import Store
from .store.ram import RamStore
from .text.tokens import TokenCounter
from .upkeep import Maintained
from .write import Given, text_said, texts_of

if TYPE_CHECKING:
    from .trust.audit import Audit
    from .trust.audit.log import AuditLog
    from .trust.erase import Absence, Forgotten, Preview, Receipt
    from .trust.seal.service import Key
    from .upkeep.archive import Archive
    from .upkeep.fit import Fitted
    from .upkeep.retain import Standing
    from .upkeep.worker import Worker

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
        guard: object = None,
        vault: str | Path | None = None,
        audit: str | Path | Audit | AuditLog | None = None,
        key: Key | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._memory = Memory(
            place,
            embedder=embedder,
            language=language,
            durability=durability,
            settings=settings,
            guard=guard,
            vault=vault,
            audit=audit,
            key=key,
            clock=clock,
        )
        engine = self._memory._engine  # noqa: SLF001  the façade is the other half of Memory
        self._warm = engine.embedder.warm if isinstance(engine.embedder, WarmableEmbedder) else None
        self._waits = not isinstance(engine.store, RamStore) or self._warm is not None
        self._closed = False
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="eidet")

    @property
    def audit(self) -> AuditLog | None:
        return self._memory.audit

    async def _run(self, verb: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        if not self._waits or self._closed:
            return verb(*args, **kwargs)
        call = partial(contextvars.copy_context().run, verb, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    async def _embed(self, texts: Sequence[str]) -> None:
        if self._warm is not None and texts:
            await self._warm(texts)

    async def _embed_query(
        self, query: str, scope: str | Scope, now: Moment | None, understand: bool
    ) -> None:
        """Embeds a query as the recall will ask for it: what it names may be left out."""
        if self._warm is not None and isinstance(query, str) and query.strip():
            text = self._memory._guarding.query(checked_query(query))  # noqa: SLF001
            if understand:
                text = await self._run(self._memory.phrased, query, scope=scope, now=now)
            await self._warm([text])

    @overload
    async def remember(
        self, what: list[Any] | tuple[Any, ...], **details: Unpack[Details]
    ) -> list[Record]: ...
    @overload
    async def remember(self, what: Given | None = None, **details: Unpack[Details]) -> Record: ...
    async def remember(
        self, what: Given | Sequence[Given] | None = None, **details: Unpack[Details]
    ) -> Record | list[Record]:
        if self._warm is not None and self._memory._guarding.guards:  # noqa: SLF001
            await self._embed(self._memory._guarding.texts(what, details))  # noqa: SLF001
        elif details.get("vector") is None:
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
        tiers: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        trust: str | Sequence[str] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        near: Near | None = None,
        box: Box | None = None,
        vector: Any = None,
        recipe: Recipe | str = AUTO,
        least: float = 0.0,
        unit: str = "record",
        rerank: object = None,
        understand: bool = True,
        order: str = "-occurred",
        now: Moment | None = None,
        explain: bool = False,
    ) -> Hits:
        if vector is None:
            await self._embed_query(query, scope, now, understand)
        return await self._run(
            self._memory.recall,
            query,
            scope=scope,
            limit=limit,
            where=where,
            kinds=kinds,
            tiers=tiers,
            session=session,
            agent=agent,
            who=who,
            trust=trust,
            since=since,
            until=until,
            near=near,
            box=box,
            vector=vector,
            recipe=recipe,
            least=least,
            unit=unit,
            rerank=rerank,
            understand=understand,
            order=order,
            now=now,
            explain=explain,
        )

    async def phrased(self, query: str, *, scope: str | Scope = "default", now: Moment | None = None) -> str:
        return await self._run(self._memory.phrased, query, scope=scope, now=now)

    async def context(
        self,
        query: str,
        *,
        budget: int = 1000,
        counter: TokenCounter | Callable[[str], int] | str | None = None,
        limit: int = 50,
        neighbours: int = 1,
        headings: bool = True,
        scope: str | Scope = "default",
        where: Where | None = None,
        recipe: Recipe | str = AUTO,
        fence: bool = True,
        reveal: bool = False,
        now: Moment | None = None,
    ) -> Context:
        await self._embed_query(query, scope, None, True)
        return await self._run(
            self._memory.context,
            query,
            budget=budget,
            counter=counter,
            limit=limit,
            neighbours=neighbours,
            headings=headings,
            scope=scope,
            where=where,
            recipe=recipe,
            fence=fence,
            reveal=reveal,
            now=now,
        )

    async def feedback(
        self,
        about: Hit | Hits | Trace | Context | str,
        *,
        useful: bool,
        scope: str | Scope | None = None,
        by: str | None = None,
    ) -> None:
        await self._run(self._memory.feedback, about, useful=useful, scope=scope, by=by)

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
        tiers: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        trust: str | Sequence[str] | None = None,
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
            tiers=tiers,
            session=session,
            agent=agent,
            who=who,
            trust=trust,
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
        again: bool = False,
        **changes: Any,
    ) -> Record:
        if changes.get("vector") is None:
            await self._embed(self._memory._guarding.said(changes))  # noqa: SLF001
        return await self._run(
            self._memory.revise,
            id,
            scope=scope,
            version=version,
            digest=digest,
            by=by,
            clear=clear,
            again=again,
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
        for_good: bool | None = None,
        why: str | None = None,
        key: object = None,
    ) -> Forgotten:
        return await self._run(
            self._memory.forget,
            ids,
            where=where,
            everything=everything,
            scope=scope,
            by=by,
            for_good=for_good,
            why=why,
            key=key,
        )

    async def forgettable(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        where: Where | None = None,
        everything: bool = False,
        scope: str | Scope | None = None,
        for_good: bool | None = None,
    ) -> Preview:
        return await self._run(
            self._memory.forgettable, ids, where=where, everything=everything, scope=scope, for_good=for_good
        )

    async def verify_forgotten(self, what: object, *, scope: str | Scope = "default") -> Absence:
        return await self._run(self._memory.verify_forgotten, what, scope=scope)

    async def verify_receipt(self, receipt: Receipt, *, key: object = None) -> bool:
        return await self._run(self._memory.verify_receipt, receipt, key=key)

    async def history(self, id: str, *, scope: str | Scope = "default") -> list[Event]:
        return await self._run(self._memory.history, id, scope=scope)

    async def scopes(self, under: str | None = None) -> dict[str, int]:
        return await self._run(self._memory.scopes, under)

    async def count(self, where: Where | None = None, *, scope: str | Scope = "default") -> int:
        return await self._run(self._memory.count, where, scope=scope)

    async def stats(self, scope: str | Scope | None = None) -> dict[str, Any]:
        return await self._run(self._memory.stats, scope)

    async def health(self) -> dict[str, Any]:
        return await self._run(self._memory.health)

    async def metrics(self, scope: str | Scope | None = None) -> dict[str, float]:
        return await self._run(self._memory.metrics, scope)

    async def export(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = "default",
        plain: bool = False,
        progress: Progress | None = None,
    ) -> int:
        return await self._run(self._memory.export, path, scope=scope, plain=plain, progress=progress)

    async def load(self, path: str | Path, *, progress: Progress | None = None) -> int:
        return await self._run(self._memory.load, path, progress=progress)

    async def maintain(
        self,
        scope: str | Scope | None = None,
        *,
        dry_run: bool = False,
        only: str | Sequence[str] | None = None,
        settings: Upkeep | None = None,
        archive: Archive | str | Path | None = None,
        llm: object = None,
        now: Moment | None = None,
    ) -> Maintained:
        return await self._run(
            self._memory.maintain,
            scope,
            dry_run=dry_run,
            only=only,
            settings=settings,
            archive=archive,
            llm=llm,
            now=now,
        )

    async def retention(self, scope: str | Scope | None = None) -> list[Standing]:
        return await self._run(self._memory.retention, scope)

    async def upkeep(
        self,
        every: float = 60.0,
        *,
        scope: str | Scope | None = None,
        only: str | Sequence[str] | None = None,
        settings: Upkeep | None = None,
        archive: Archive | str | Path | None = None,
        llm: object = None,
    ) -> Worker:
        """To be entered: `async with await memory.upkeep(every=60): …`."""
        return await self._run(
            self._memory.upkeep, every, scope=scope, only=only, settings=settings, archive=archive, llm=llm
        )

    async def detail(self, id: str, *, scope: str | Scope = "default") -> Record:
        return await self._run(self._memory.detail, id, scope=scope)

    async def restore(self, id: str, *, scope: str | Scope = "default") -> Record:
        return await self._run(self._memory.restore, id, scope=scope)

    async def pin(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        return await self._run(self._memory.pin, id, scope=scope, by=by)

    async def unpin(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        return await self._run(self._memory.unpin, id, scope=scope, by=by)

    async def hold(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        return await self._run(self._memory.hold, id, scope=scope, by=by)

    async def release(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        return await self._run(self._memory.release, id, scope=scope, by=by)

    async def quarantine(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        because: str | None = None,
        by: str | None = None,
    ) -> Record:
        return await self._run(self._memory.quarantine, id, scope=scope, because=because, by=by)

    async def approve(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        trust: str | None = None,
        by: str | None = None,
    ) -> Record:
        return await self._run(self._memory.approve, id, scope=scope, trust=trust, by=by)

    async def review(self, *, scope: str | Scope = "default", limit: int = 100) -> list[Record]:
        return await self._run(self._memory.review, scope=scope, limit=limit)

    @overload
    async def reveal(self, about: str, *, key: object = ...) -> str: ...
    @overload
    async def reveal(self, about: Record, *, key: object = ...) -> Record: ...
    @overload
    async def reveal(self, about: Hit, *, key: object = ...) -> Hit: ...
    @overload
    async def reveal(self, about: Hits, *, key: object = ...) -> Hits: ...
    async def reveal(
        self, about: str | Record | Hit | Hits, *, key: object = None
    ) -> str | Record | Hit | Hits:
        return await self._run(self._memory.reveal, about, key=key)

    async def forget_value(self, value: str) -> int:
        return await self._run(self._memory.forget_value, value)

    async def end_session(
        self, session: str, *, scope: str | Scope = "default", llm: object = None
    ) -> Record:
        return await self._run(self._memory.end_session, session, scope=scope, llm=llm)

    async def unarchive(
        self,
        archive: Archive | str | Path | None = None,
        *,
        ids: str | Sequence[str] | None = None,
        scope: str | Scope | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> int:
        return await self._run(
            self._memory.unarchive, archive, ids=ids, scope=scope, since=since, until=until
        )

    async def fit(
        self,
        log: str | Path | None = None,
        *,
        scope: str | Scope | None = None,
        window_days: float = 7.0,
    ) -> Fitted:
        return await self._run(self._memory.fit, log, scope=scope, window_days=window_days)

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

    async def rotate_keys(
        self,
        scope: str | Scope | None = None,
        *,
        key: Key | None = None,
        progress: Progress | None = None,
    ) -> int:
        return await self._run(self._memory.rotate_keys, scope, key=key, progress=progress)

    async def shred(self, scope: str | Scope) -> int:
        return await self._run(self._memory.shred, scope)

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
