"""`MemoryManager`: four types of memory over one `Memory`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from ...core.arguments import check_limit, check_share
from ...core.draft import Draft
from ...core.errors import BadInput, Misconfigured
from ...core.hit import Hits
from ...core.record import Kind, Record
from ...core.settings import Upkeep
from ...core.validate import clean_json, clean_text
from ...core.where import Condition, Where
from ...memory import Memory
from ...models.embed import embed_checked
from ...upkeep import Maintained
from ...upkeep.importance import importance
from ...views import Conversation, Semantic
from ...views.messages import draft_of
from ..messages.message import Message, message_as_json, message_from
from ..opening import run
from .entries import (
    REACH,
    TYPES,
    UNKNOWN,
    MemoryConfig,
    MemoryEntry,
    MemoryTypes,
    TaskEntries,
    choose_window,
    entry_of,
)

T = TypeVar("T")
_KNOWLEDGE: Final = (Kind.FACT, Kind.DOCUMENT)
_EPISODES: Final = (Kind.EPISODE, Kind.SUMMARY)
_STORED: Final = {MemoryTypes.LONG_TERM: Kind.FACT, MemoryTypes.EPISODIC: Kind.EPISODE}


class MemoryManager:
    """Short-term, working, long-term and episodic memory of one conversation.

    Short-term and working memory belong to the conversation (`conversation_id`, by default a new one) and
    survive a restart; long-term and episodic memory belong to the scope.
    """

    def __init__(self, config: MemoryConfig | None = None, *, conversation_id: str | None = None) -> None:
        self.config: MemoryConfig = MemoryConfig() if config is None else config
        if not isinstance(self.config, MemoryConfig):
            raise Misconfigured(f"config must be a MemoryConfig(memory=…), not {type(config).__name__}")
        self.memory: Memory = self.config.open()
        self.log: Conversation = Conversation(
            self.memory, conversation_id, scope=self.config.scope, agent=self.config.agent
        )
        self.vector_store: Semantic = self._init_vector_store(self.config)
        self.working_memory: TaskEntries = TaskEntries(
            self.memory, self.log.session, self.config, self._calculate_importance
        )
        self._learned = 0
        self._last: Hits | None = None

    def _init_vector_store(self, config: MemoryConfig) -> Semantic:
        return Semantic(self.memory, scope=config.scope, agent=config.agent)

    @property
    def conversation_id(self) -> str:
        return self.log.session

    @property
    def short_term_buffer(self) -> list[MemoryEntry]:
        """The recent messages of the conversation, oldest first."""
        return [self._entry(record, MemoryTypes.SHORT_TERM) for record in self._near()]

    # The two verbs.

    async def add_memory(
        self, content: str, memory_type: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Stores a memory of one of the four types. `metadata` may set source, role, tags, trust and key.

        Its importance is `metadata["importance"]` (0 to 1), or else estimated from the text.
        """
        kind, details = _check_type(memory_type), _check_metadata(metadata)
        if not clean_text(content, "content").strip():
            raise BadInput("there is nothing to remember: the content is empty")
        await self._run(self._add, content, kind, details)
        await self._afterwards(kind)

    async def search_memory(
        self,
        query: str,
        memory_type: str,
        limit: int = 5,
        *,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[MemoryEntry]:
        """Searches one type of memory, best first; with `metadata`, only entries that have these values.

        Long-term memory is what was learned, and the important messages of any conversation of the scope
        that are not in the short-term window of this one.
        """
        kind, wanted = _check_type(memory_type), _check_metadata(metadata)
        check_limit(limit)
        return await self._run(self._search, query, kind, limit, wanted)

    def _search(self, query: str, kind: str, limit: int, metadata: Mapping[str, Any]) -> list[MemoryEntry]:
        place = self._where(kind)
        if place.ids == ():
            return []  # nothing to search, so this is no miss
        parts = [place, *(Where(conditions=(Condition(("meta", k), "=", v),)) for k, v in metadata.items())]
        found = self.memory.recall(
            query, scope=self.config.scope, limit=limit, where=Where(every=tuple(parts)), least=0.0
        )
        self._last = found
        width = self.memory.parts.embedder.width
        return [entry_of(hit.record, kind, width, hit.score) for hit in found]

    def _where(self, kind: str) -> Where:
        near = Where(ids=tuple(record.id for record in self._near()))
        match kind:
            case MemoryTypes.SHORT_TERM:
                return near
            case MemoryTypes.WORKING:
                return Where(ids=tuple(record.id for record in self.working_memory.records()))
            case MemoryTypes.EPISODIC:
                return Where(kinds=_EPISODES)
        important = Where(kinds=(Kind.MESSAGE,), importance_min=self.config.importance_threshold)
        return Where(kinds=_KNOWLEDGE) | (important & ~near)

    # Adding.

    def _add(self, content: str, kind: str, metadata: Mapping[str, Any]) -> None:
        if kind == MemoryTypes.WORKING:
            self.working_memory.put(content, metadata, metadata.get("key"))
            return
        draft = Draft(text=content, kind=_STORED.get(kind), meta=metadata)
        if kind == MemoryTypes.SHORT_TERM:
            role = clean_text(metadata.get("role", "user"), "role")
            draft = draft_of({"role": role, "content": content, "metadata": metadata})
        self._keep(draft, metadata.get("source", UNKNOWN))

    def add_message(self, message: Message | Any, source: str | None = None) -> Record:
        """Adds a message to the conversation: to its history and its short-term memory at once."""
        said, source = message_from(message), source or self.conversation_id
        told = replace(said, metadata={**said.metadata, "role": said.role, "source": source})
        return self._keep(draft_of(message_as_json(told)), source)

    def _keep(self, draft: Draft, source: str) -> Record:
        meta = dict(draft.meta or {})
        session = self.conversation_id if draft.kind != Kind.FACT else None
        weight = self._calculate_importance(draft.text or "", meta)
        ready = replace(
            draft,
            source=source,
            session=session,
            importance=weight,
            agent=self.config.agent,
            trust=draft.trust or meta.get("trust"),
            pinned=bool(meta.get("pinned")) or None,
        )
        return self.memory.remember(ready, scope=self.config.scope)

    def _calculate_importance(self, content: str, metadata: Mapping[str, Any] | None) -> float:
        """Returns the stated importance, else an estimate from the text and its tags, from 0 to 1."""
        meta = metadata or {}
        stated, tags = meta.get("importance"), meta.get("tags")
        listed = tags if isinstance(tags, list | tuple) else [tags]
        return importance(
            content,
            stated=None if stated is None else check_share(stated, "importance"),
            pinned=bool(meta.get("pinned")),
            tags=[tag for tag in listed if isinstance(tag, str)],
        )

    async def _get_embedding(self, content: str) -> list[float]:
        rows = await self._run(embed_checked, self.memory.parts.embedder, [content])
        return [float(number) for number in rows[0]]

    # The short-term window.

    def _near(self) -> list[Record]:
        size = self.config.short_term_window
        return choose_window(self.log.records(size * REACH), size, self.config.importance_threshold)

    def _entry(self, record: Record, kind: str) -> MemoryEntry:
        return entry_of(record, kind, self.memory.parts.embedder.width)

    # Upkeep, automatic or on request.

    async def _afterwards(self, kind: str) -> None:
        if kind == MemoryTypes.SHORT_TERM:
            await self.summarize_if_due()
        elif kind == MemoryTypes.LONG_TERM and self.config.consolidate_every is not None:
            self._learned += 1
            if self._learned % self.config.consolidate_every == 0:
                await self.consolidate()

    async def summarize_if_due(self) -> None:
        """Summarises the conversation if its message count is a multiple of `summarize_threshold`."""
        every = self.config.summarize_threshold
        spoken = Where(kinds=(Kind.MESSAGE,), session=self.conversation_id)
        if every is None:
            return
        if await self._run(self.memory.count, spoken, scope=self.config.scope) % every == 0:
            await self.summarize()

    async def summarize(self) -> MemoryEntry:
        """Summarises the whole conversation in an episode that names its messages; may be repeated."""
        scope, llm = self.config.scope, self.config.llm
        made = await self._ask(
            lambda: self.memory.upkeep.end_session(self.conversation_id, scope=scope, llm=llm)
        )
        return self._entry(made, MemoryTypes.EPISODIC)

    async def consolidate(self) -> Maintained:
        """Merges memories that say the same, and derives facts from what several episodes say."""
        works = ("merge", "consolidate")
        scope, llm = self.config.scope, self.config.llm
        return await self._ask(lambda: self.memory.upkeep.maintain(scope, only=works, llm=llm))

    async def prune(self, below: float | None = None) -> Maintained:
        """Forgets what has faded below a strength on the forgetting curve (default: `forget_below`)."""
        least = self.config.forget_below if below is None else below
        fading = Upkeep(forget_below=least, archive_above=1.0)
        return await self._run(
            self.memory.upkeep.maintain, self.config.scope, only=("expire", "forget"), settings=fading
        )

    async def feedback(self, useful: bool, entry: MemoryEntry | None = None) -> None:
        """Records whether an entry, or the result of the last search, was useful."""
        if entry is not None:
            await self._run(self.memory.feedback, entry.id, useful=useful, scope=self.config.scope)
        elif self._last is None:
            raise BadInput("there is nothing to judge yet: call search_memory first")
        else:
            await self._run(self.memory.feedback, self._last, useful=useful)

    async def metrics(self) -> dict[str, dict[str, float | None]]:
        """Returns metrics of performance, quality and scale; None for metrics without data yet."""
        return _figures(await self._run(self.memory.admin.metrics, self.config.scope))

    async def _run(self, verb: Callable[..., T], *args: Any, **how: Any) -> T:
        return await run(self.memory, verb, *args, **how)

    async def _ask(self, work: Callable[[], T]) -> T:
        """Runs work that may wait for a model in a thread, whatever the memory is."""
        return await self._run(work) if self.config.llm is None else await asyncio.to_thread(work)

    def close(self) -> None:
        """Closes the memory of the config, which its other managers share, unless it was given."""
        self.config.close()


def _check_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    if metadata is not None and not isinstance(metadata, Mapping):
        raise BadInput(f"metadata must be a dict or None, not {type(metadata).__name__}")
    cleaned: dict[str, Any] = clean_json(dict(metadata or {}), "metadata")
    return cleaned


FIGURES: Final = {
    "performance": {
        "memory_usage_efficiency": "eidet_memory_used_ratio",
        "retrieval_seconds_p50": "eidet_recall_latency_seconds_p50",
        "retrieval_seconds_p95": "eidet_recall_latency_seconds_p95",
        "storage_bytes": "eidet_store_bytes",
        "storage_bytes_per_record": "eidet_store_bytes_per_record",
        "storage_duplicate_ratio": "eidet_memory_duplicate_ratio",
    },
    "quality": {
        "context_relevance": "eidet_hit_relevance_ratio",
        "context_top_score": "eidet_recall_top_score_median",
        "information_retention": "eidet_memory_retention_ratio",
        "response_accuracy": "eidet_answer_accuracy_ratio",
        "retrieval_success_rate": "eidet_retrieval_success_ratio",
        "hit_ratio": "eidet_recall_hit_ratio",
    },
    "scale": {
        "records": "eidet_records",
        "memory_growth_per_day": "eidet_memory_growth_records_per_day",
        "drift_detected": "eidet_drift_detected",
        "stale_ratio": "eidet_memory_stale_ratio",
        "system_responsiveness": "eidet_recall_responsive_ratio",
    },
}


def _figures(metrics: Mapping[str, float]) -> dict[str, dict[str, float | None]]:
    """Returns the metrics under the names and headings of this door."""
    return {
        heading: {name: metrics.get(native) for name, native in names.items()}
        for heading, names in FIGURES.items()
    }


def _check_type(memory_type: str) -> str:
    if memory_type not in TYPES:
        raise BadInput(f"unknown memory type {memory_type!r}; there are {', '.join(TYPES)}")
    return memory_type
