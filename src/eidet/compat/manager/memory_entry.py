"""The values of this door: memory types, entries and messages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ...core.errors import Misconfigured
from ...core.record import Record
from ...core.settings import Settings
from ...memory import Memory
from ...models.embed.quantise import first_rows
from ...trust.privacy.quarantine import trust_in
from ...trust.seal.service import Key
from ..opening import Place, check_limit, check_number, is_shared, open_memory

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
