"""`EidetMemoryService`: the long-term memory of agents of Google's Agent Development Kit.

Each user of each app has a scope of their own below `scope`, such as `adk/my_app/ann`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ..core.draft import Draft
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import QUERY_CHARS, dump_json
from ..memory import Memory
from .extras import drop_known, finish, join_key, make_missing, quote_label

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part
except ModuleNotFoundError as error:
    raise make_missing("Google's Agent Development Kit", "adk") from error

SEARCHED: Final = 1_000_000  # characters of a memory that are searched; it is kept as a whole
_MEMORY: Final = "adk:memory"  # the sources distinguish the records of a scope


class EidetMemoryService(BaseMemoryService):
    """The long-term memory of an ADK app: `Runner(memory_service=EidetMemoryService(memory), …)`.

    `load_memory` and `preload_memory` search the whole scope of the user: events of earlier sessions, and
    facts that you remember there yourself. `limit` is how many entries a search returns.
    """

    def __init__(self, memory: Memory, *, scope: str = "adk", limit: int = 10) -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path
        self.limit = limit
        self._lock = threading.Lock()

    async def add_session_to_memory(self, session: Session) -> None:
        """Stores the events of a session that have text; skips those already stored."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores the events that have text, all or none; skips those already stored."""
        drafts = [
            _draft_of_event(event, session_id, custom_metadata) for event in events if _text_of(event.content)
        ]
        await finish(partial(self._add, drafts, self._scope(app_name, user_id)))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores memories as facts, all or none; one with an existing id replaces that memory."""
        drafts = [_draft_of_entry(entry, custom_metadata) for entry in memories]
        if drafts:
            write = partial(self.memory.remember, drafts, scope=self._scope(app_name, user_id))
            await finish(write)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Finds memories for a query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        ask = partial(self.memory.recall, scope=self._scope(app_name, user_id), limit=self.limit)
        hits = await asyncio.to_thread(ask, query[:QUERY_CHARS])
        return SearchMemoryResponse(memories=[_entry_of(hit.record) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forgets a memory for good: it does not come back when its session is added again."""
        if memory_id:
            await finish(partial(self.memory.forget, memory_id, scope=self._scope(app_name, user_id)))

    def _scope(self, app_name: str, user_id: str) -> str:
        return f"{self.scope}/{quote_label(app_name)}/{quote_label(user_id)}"

    def _add(self, drafts: Sequence[Draft], scope: str) -> None:
        with self._lock:
            fresh = drop_known(self.memory, drafts, scope)
            self.memory.remember(fresh, scope=scope)


def _text_of(content: Content | None) -> str:
    """Returns the text of a content, without a model's thoughts."""
    texts = [part.text for part in (content and content.parts) or () if part.text and not part.thought]
    return "\n".join(texts).strip()


def _draft_of_event(event: Event, session_id: str | None, metadata: Mapping[str, object] | None) -> Draft:
    draft = _draft_of_entry(MemoryEntry(content=event.content, author=event.author), metadata)
    key = join_key(_MEMORY, session_id or "", event.id)
    return replace(draft, key=key, kind="message", session=session_id or None, occurred=event.timestamp)


def _draft_of_entry(entry: MemoryEntry, metadata: Mapping[str, object] | None) -> Draft:
    known = entry.model_copy(update={"custom_metadata": {**entry.custom_metadata, **(metadata or {})}})
    data = json.loads(known.model_dump_json(include={"content", "custom_metadata"}, exclude_none=True))
    return Draft(
        id=entry.id,
        kind="fact",
        text=(_text_of(entry.content) or dump_json(data["content"]))[:SEARCHED],
        data=data,
        who=entry.author or None,
        occurred=entry.timestamp,
        source=_MEMORY,
    )


def _entry_of(record: Record) -> MemoryEntry:
    """Converts a record to an entry of ADK; one that ADK did not write has only its text."""
    whole = record.whole
    given: dict[str, Any] = {"content": Content(role="user", parts=[Part(text=whole.text)])}
    if record.source == _MEMORY:
        given = MemoryEntry.model_validate_json(dump_json(whole.data)).model_dump(exclude_none=True)
    return MemoryEntry(**given, id=record.id, author=record.who, timestamp=record.when.isoformat())
