"""Memory types, entries and settings; the short-term window, and the working memory of a task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ...core.errors import BadInput, Misconfigured
from ...core.record import Kind, Record, key_id
from ...core.settings import Settings
from ...core.validate import clean_text
from ...core.where import Where
from ...memory import Memory
from ...models.embed.quantise import first_rows
from ...trust.privacy.quarantine import trust_in
from ...trust.seal.service import Key
from ...views.messages import put_away
from ..opening import Place, check_limit, check_number, is_shared, next_number, open_memory

UNKNOWN: Final = "unknown"
_opening = threading.Lock()


class MemoryTypes:
    """The types of memory."""

    SHORT_TERM = "short_term"  # recent conversation history
    WORKING = "working"  # current task and context
    LONG_TERM = "long_term"  # persistent knowledge
    EPISODIC = "episodic"  # past conversation summaries


TYPES: Final = (
    MemoryTypes.SHORT_TERM,
    MemoryTypes.WORKING,
    MemoryTypes.LONG_TERM,
    MemoryTypes.EPISODIC,
)


@dataclass
class MemoryEntry:
    """One memory. The timestamp is aware (UTC); `score` is how well it matched a query."""

    content: str
    embedding: list[float] = field(repr=False)
    metadata: dict[str, Any]
    timestamp: datetime
    source: str  # conversation_id, document_id, etc.
    importance_score: float
    memory_type: str = ""
    id: str = ""
    score: float | None = None
    trust: str = "user"  # how far it is trusted: see `eidet.core.record.Trust`


def entry_of(record: Record, memory_type: str, width: int, score: float | None = None) -> MemoryEntry:
    """Converts a record to an entry with its full content, whatever its tier shows."""
    whole = record.whole
    [vector] = first_rows([record.vector], [record.level], width)
    return MemoryEntry(
        content=whole.text,
        embedding=[float(number) for number in vector],
        metadata=dict(whole.meta),
        timestamp=whole.when,
        source=whole.source or UNKNOWN,
        importance_score=whole.importance,
        memory_type=memory_type,
        id=whole.id,
        score=score,
        trust=trust_in(record),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """The settings of managers. Those made from one config share its memory, and what they learn.

    `memory` is a Memory, a path, a URL, or None for RAM. Messages with an importance of at least
    `importance_threshold` stay longer in the short-term window, and other conversations find them. `llm`
    words summaries; without one they are made from the messages.
    """

    memory: Place = None
    scope: str = "default"
    agent: str | None = None
    embedder: object = None
    short_term_window: int = 20  # recent entries of a conversation
    importance_threshold: float = 0.2
    summarize_threshold: int | None = 50  # messages after which a conversation is summed up again
    working_capacity: int = 50  # entries; above it the least important are deleted
    consolidate_every: int | None = 100  # additions to long-term memory; None: only when asked
    forget_below: float = 0.0  # strength on the forgetting curve, for `prune`; 0 forgets nothing
    llm: object = None
    privacy: object = None  # personal data: a policy of `eidet.trust.privacy`, or an action such as "redact"
    key: Key | None = field(default=None, repr=False)  # seals the file that is opened here
    settings: Settings | None = None
    clock: Callable[[], float] | None = None
    _opened: list[Memory] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("short_term_window", "summarize_threshold", "working_capacity", "consolidate_every"):
            check_limit(getattr(self, name), name, error=Misconfigured)
        for name in ("importance_threshold", "forget_below"):
            check_number(getattr(self, name), name, most=1.0, error=Misconfigured)

    def open(self) -> Memory:
        """Returns the memory, the same for every manager of this config."""
        with _opening:
            if not self._opened:
                how = {"embedder": self.embedder, "settings": self.settings, "guard": self.privacy}
                memory = open_memory(self.memory, key=self.key, clock=self.clock, **how)
                self._opened.append(memory)
            return self._opened[0]

    def close(self) -> None:
        """Closes the memory, unless it was given; the next use reopens it."""
        with _opening:
            while self._opened and not is_shared(self.memory):
                self._opened.pop().close()


REACH: Final = 5  # how many windows back an important message can still be kept


def choose_window(records: Sequence[Record], size: int, threshold: float) -> list[Record]:
    """Chooses the records that stay in the window; input and output are oldest first.

    The newest half always stays. The other places go to important records, newest first, and then to the
    newest others, so that unimportant records leave first.
    """
    if len(records) <= size:
        return list(records)
    newest = -(-size // 2)
    older, recent = records[:-newest], records[-newest:]
    ranked = sorted(range(len(older)), key=lambda at: (older[at].importance >= threshold, at), reverse=True)
    return [older[at] for at in sorted(ranked[: size - newest])] + list(recent)


def _list_surplus(records: Sequence[Record], capacity: int, newest: str) -> list[str]:
    """Lists the ids beyond a capacity: least important first, oldest among equals.

    Leaves out the newest, pinned records and those under a legal hold.
    """
    free = [record for record in records if record.id != newest and not record.state.is_protected]
    free.sort(key=lambda record: (record.importance, record.created, record.id))
    return [record.id for record in free[: max(len(records) - capacity, 0)]]


class TaskEntries(MutableMapping[str, MemoryEntry | str]):
    """The entries of the task at hand by key, oldest first. Assigning a text stores it.

    Above the capacity, the least important entries are deleted.
    """

    def __init__(
        self,
        memory: Memory,
        conversation: str,
        config: MemoryConfig,
        weigh: Callable[[str, Mapping[str, Any]], float],
    ) -> None:
        self._memory, self._conversation, self._config, self._weigh = memory, conversation, config, weigh

    def records(self) -> list[Record]:
        mine = Where(kinds=(Kind.WORKING,), session=self._conversation)
        found = self._memory.find(mine, scope=self._config.scope, order="created", limit=None)
        return [record for record in found if _item_of(record) is not None]

    def put(self, content: str, metadata: Mapping[str, Any], key: str | None = None) -> None:
        """Stores an entry under a key, by default a new one."""
        item = self._free_key() if key is None else key
        stored = self._memory.remember(
            clean_text(content, "content"),
            kind=Kind.WORKING,
            key=self._check_key(item),
            data={"item": item},
            meta=metadata,
            pinned=bool(metadata.get("pinned")) or None,
            importance=self._weigh(content, metadata),
            session=self._conversation,
            source=metadata.get("source", UNKNOWN),
            agent=self._config.agent,
            scope=self._config.scope,
        )
        if over := _list_surplus(self.records(), self._config.working_capacity, stored.id):
            put_away(self._memory, over, scope=self._config.scope)

    def clear(self) -> None:
        """Deletes all entries when the task is over."""
        if ids := [record.id for record in self.records()]:
            put_away(self._memory, ids, scope=self._config.scope)

    def _check_key(self, key: str) -> str:
        if not clean_text(key, "a key of the working memory"):
            raise BadInput("a key of the working memory must have at least one character")
        return f"desk\n{self._conversation}\n{key}"

    def _free_key(self) -> str:
        series = f"items in {self._config.scope} of {self._conversation}"
        return f"item_{next_number(self._memory, series)}"

    def _entries(self) -> dict[str, MemoryEntry]:
        width = self._memory.parts.embedder.width
        return {_item_of(r) or "": entry_of(r, MemoryTypes.WORKING, width) for r in self.records()}

    def __getitem__(self, key: str) -> MemoryEntry:
        return self._entries()[key]

    def __setitem__(self, key: str, value: MemoryEntry | str) -> None:
        match value:
            case str():
                self.put(value, {}, key)
            case MemoryEntry():
                self.put(value.content, value.metadata, key)
            case _:
                raise BadInput(f"working memory holds texts and entries, not {type(value).__name__}")

    def __delitem__(self, key: str) -> None:
        if not put_away(self._memory, [key_id(self._check_key(key))], scope=self._config.scope):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self.records())

    def __repr__(self) -> str:
        return repr({key: entry.content for key, entry in self._entries().items()})


def _item_of(record: Record) -> str | None:
    item = record.data.get("item") if isinstance(record.data, dict) else None
    return item if isinstance(item, str) else None
