"""`ConversationContext`: one conversation with its history and its memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.draft import Message as CoreMessage
from ...core.errors import BadInput
from ..opening import run
from .manager_config import MemoryConfig
from .memory_entry import MemoryEntry, Message
from .memory_manager import MemoryManager


class History:
    """The messages of a conversation, oldest first; the same log that its short-term memory looks at."""

    def __init__(self, memory: MemoryManager) -> None:
        self._memory = memory

    @property
    def messages(self) -> list[Message]:
        return self.last()

    def add_message(self, message: Message | Any) -> None:
        self._memory.add_message(message)

    def last(self, count: int | None = None) -> list[Message]:
        """The newest `count`, oldest first."""
        return [message_of_core(message) for message in self._memory.log.messages(count)]

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self._memory.log)

    def __bool__(self) -> bool:
        return True


class ConversationContext:
    """A conversation by its id: on a file it goes on where it was, also after a restart.

    Contexts of one config (or of one memory and scope) know what the others learned.
    """

    def __init__(self, conversation_id: str, memory_config: MemoryConfig | None = None) -> None:
        if not isinstance(conversation_id, str) or not conversation_id.strip():
            raise BadInput(f"a conversation id must be a text, not {conversation_id!r}")
        self.id = conversation_id
        self.memory: MemoryManager = MemoryManager(memory_config, conversation_id=conversation_id)
        self.history: History = History(self.memory)

    async def add_message(self, message: Message | Any) -> None:
        """Adds to the history and to short-term memory; both are told where it was said, and by whom."""
        await run(self.memory.memory, self.memory.add_message, message, self.id)
        await self.memory.summarize_if_due()

    async def end(self) -> MemoryEntry:
        """Sums the conversation up in episodic memory; it may go on afterwards."""
        return await self.memory.summarize()

    def close(self) -> None:
        self.memory.close()


def message_of_core(message: CoreMessage) -> Message:
    when: Any = message.timestamp
    return Message(
        role=message.role, content=message.content, metadata=dict(message.metadata), timestamp=when
    )
