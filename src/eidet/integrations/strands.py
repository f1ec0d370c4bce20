"""`EidetMemoryStore`: a scope of a memory as a `MemoryStore` of Strands, for its `MemoryManager`.

Strands writes at least once. A message that is sent again has the same number in the same run, and is
stored once, as is a fact that its scope already has.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from ..core.dict_filters import Filter, where_of
from ..core.draft import Draft
from ..core.hit import Hit, Hits
from ..core.scope import Scope
from ..core.validate import QUERY_CHARS
from ..core.where import Where
from ..memory import Memory
from .extras import RisingTimes, digest_text, drop_known, finish, join_key, make_missing

try:
    from strands.memory import (
        AddMessagesContext,
        ExtractionConfig,
        InvocationTrigger,
        MemoryEntry,
        MemoryStore,
        SearchOptions,
    )
    from strands.types.content import Message
except ModuleNotFoundError as error:
    raise make_missing("Strands", "strands") from error

RESULTS: Final = 5  # the default number of a search
_SOURCE: Final = "strands"


class EidetMemoryStore(MemoryStore):
    """`Agent(memory_manager=MemoryManager(stores=[EidetMemoryStore(memory, scope="users/ann")]))`.

    With `extraction=True`, the messages of each invocation are stored when it ends, without a model call; a
    config of Strands changes that, and False turns it off. Searches leave out the messages of this agent's
    session, which its prompt has already, unless `this_session`. Give each agent a store of its own; stores
    may share a scope.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        scope: str = "default",
        name: str = "eidet",
        description: str | None = None,
        max_search_results: int | None = RESULTS,
        writable: bool = True,
        extraction: ExtractionConfig | bool = True,
        where: Filter | None = None,
        this_session: bool = False,
    ) -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction
        if not writable:
            self.extraction = False
        elif extraction is True:
            self.extraction = ExtractionConfig(trigger=InvocationTrigger())
        self.where: Where | None = where_of(where)
        self.this_session = this_session
        self._session = str(uuid.uuid4())
        self._times = RisingTimes(memory.parts.clock)
        self._lock = threading.Lock()

    async def initialize(self) -> None:
        """Begins a session: a new agent counts its messages from 0."""
        self._session = str(uuid.uuid4())

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Finds memories for a query, best first, each with its score and origin."""
        if not query.strip():
            return []
        limit = (options or {}).get("max_search_results") or self.max_search_results or RESULTS
        hits = await asyncio.to_thread(self._recall, query[:QUERY_CHARS], limit)
        return [MemoryEntry(content=hit.record.whole.text, metadata=_tell(hit)) for hit in hits]

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Stores a fact, unless the scope has it already with the same metadata."""
        draft = Draft(kind="fact", text=content, meta=metadata, source=_SOURCE)
        # in a list, a text forgotten for good is skipped instead of refused, so Strands does not retry it
        await finish(partial(self.memory.remember, [draft], scope=self.scope))

    async def add_messages(
        self, messages: Sequence[Message], context: AddMessagesContext | None = None
    ) -> None:
        """Stores messages, all or none. A cancelled call is finished first."""
        numbers: Sequence[int | None] = [None] * len(messages)
        if context is not None and context.sequence_numbers is not None:
            numbers = context.sequence_numbers
        times = self._times.take(len(messages))
        drafts = [
            self._draft(message, text, number, at)
            for message, number, at in zip(messages, numbers, times, strict=True)
            if (text := _text_of(message))
        ]
        await finish(partial(self._store, drafts))

    def _recall(self, query: str, limit: int) -> Hits:
        where = self.where
        if not self.this_session:
            elsewhere = ~Where(session=self._session)
            where = elsewhere if where is None else where & elsewhere
        return self.memory.recall(query, scope=self.scope, limit=limit, where=where)

    def _draft(self, message: Message, text: str, number: int | None, at: float) -> Draft:
        named = number is not None
        name = f"{number} {digest_text(message['role'] + text)}" if named else str(uuid.uuid4())
        return Draft(
            key=join_key(self._session, name),
            kind="message",
            text=text,
            who=message["role"],
            session=self._session,
            occurred=at,
            source=_SOURCE,
        )

    def _store(self, drafts: Sequence[Draft]) -> None:
        with self._lock:
            fresh = drop_known(self.memory, drafts, self.scope)
            self.memory.remember(fresh, scope=self.scope)


def _text_of(message: Message) -> str:
    """Returns the text of a message, including tool results unless Strands leaves them out."""
    texts = [
        part["text"]
        for block in message["content"]
        for part in (block, *block.get("toolResult", {}).get("content", ()))
        if part.get("text")
    ]
    return "\n".join(texts).strip()


def _tell(hit: Hit) -> dict[str, Any]:
    """Returns the given metadata, and what the memory knows in addition."""
    record = hit.record
    entry = {"id": record.id, "score": round(hit.score, 3), "occurred": record.when.isoformat()}
    known = {"who": record.who, "session": record.session}
    return {**entry, **{name: value for name, value in known.items() if value is not None}, **record.meta}
