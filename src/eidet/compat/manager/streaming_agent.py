"""An agent that answers from its memory and streams the answer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Final

from ...core.errors import BadInput, translate_errors
from ...models.adapt import find_qualified_name, guess_argument, make_argument
from ...models.llm import llm_of
from ...trust.privacy.quarantine import UNTRUSTED, fence_text
from ..messages.message import Message, make_request, message_of_record
from ..opening import run
from .entries import MemoryConfig, MemoryEntry, MemoryTypes
from .memory_manager import MemoryManager


class History:
    """The messages of a conversation, oldest first; the same log that its short-term memory reads."""

    def __init__(self, memory: MemoryManager) -> None:
        self._memory = memory

    @property
    def messages(self) -> list[Message]:
        return self.last()

    def add_message(self, message: Message | Any) -> None:
        self._memory.add_message(message)

    def last(self, count: int | None = None) -> list[Message]:
        """Returns the newest `count` messages, oldest first; all of them by default."""
        return [message_of_record(record) for record in self._memory.log.records(count)]

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self._memory.log)

    def __bool__(self) -> bool:
        return True


class ConversationContext:
    """A conversation by its id. If its memory is a file, it continues after a restart.

    Contexts of one config (or of one memory and scope) share what they learn.
    """

    def __init__(self, conversation_id: str, memory_config: MemoryConfig | None = None) -> None:
        if not isinstance(conversation_id, str) or not conversation_id.strip():
            raise BadInput(f"a conversation id must be a text, not {conversation_id!r}")
        self.id = conversation_id
        self.memory: MemoryManager = MemoryManager(memory_config, conversation_id=conversation_id)
        self.history: History = History(self.memory)

    async def add_message(self, message: Message | Any) -> None:
        """Adds a message to history and short-term memory, with its role and this conversation as source."""
        await run(self.memory.memory, self.memory.add_message, message, self.id)
        await self.memory.summarize_if_due()

    async def end(self) -> MemoryEntry:
        """Summarises the conversation in episodic memory; it may go on afterwards."""
        return await self.memory.summarize()

    def close(self) -> None:
        self.memory.close()


SYSTEM: Final = (
    "You are a helpful assistant with a memory. Memories from this and earlier conversations are given "
    "with the message; use those that help, and say so if you do not know."
)
HEADINGS: Final = {
    MemoryTypes.WORKING: "Current task",
    MemoryTypes.LONG_TERM: "Known from before",
    MemoryTypes.EPISODIC: "Earlier conversations",
    MemoryTypes.SHORT_TERM: "Said in this conversation",
}


class Agent:
    """An agent that retrieves memories for a message, passes both to a model, and stores the exchange.

    `llm` is an asynchronous generator function, whose pieces are passed on as they come, or whatever
    `eidet.models.llm.llm_of` takes, whose answer comes in one piece. `turns` is how many
    recent messages are sent verbatim, `memories` how many entries of each memory type are retrieved.
    """

    def __init__(
        self,
        llm: object,
        *,
        system: str = SYSTEM,
        max_tokens: int = 1024,
        temperature: float | None = None,
        memories: int = 5,
        turns: int = 10,
    ) -> None:
        self.system: str = system
        self._llm: Any = llm if inspect.isasyncgenfunction(llm) else llm_of(llm)
        self._limits = {"max_tokens": max_tokens, "temperature": temperature}
        self._memories, self._turns = memories, turns

    async def process_message(
        self, message: Message | str, context: ConversationContext
    ) -> AsyncIterator[str]:
        """Yields the answer to a message in pieces. Stores the message, and then the whole answer."""
        asked = Message(role="user", content=message) if isinstance(message, str) else message
        if not (asked.content or "").strip():
            raise BadInput("there is nothing to answer: the message is empty")
        await context.add_message(asked)
        pieces: list[str] = []
        async for piece in self._process_message_internal(asked, context):
            pieces.append(piece)
            yield piece
        if pieces:
            await context.add_message(Message(role="assistant", content="".join(pieces)))

    async def respond(self, message: Message | str, context: ConversationContext) -> str:
        """Returns the answer to a message as one text."""
        return "".join([piece async for piece in self.process_message(message, context)])

    async def _process_message_internal(
        self, message: Message, context: ConversationContext
    ) -> AsyncIterator[str]:
        """Retrieves, builds the prompt and streams the answer; stores nothing."""
        before = await run(context.memory.memory, self._before, message, context)
        memories = await self._retrieve(message, context, before)
        prompt_context = self._build_prompt_context(message, memories)
        request = make_request(
            before, system=self.system, prompt=prompt_context, purpose="reply", **self._limits
        )
        if inspect.isasyncgenfunction(self._llm):
            with translate_errors(find_qualified_name(self._llm)):
                async for piece in self._llm(make_argument(request, guess_argument(self._llm))):
                    yield piece
        else:
            yield (await asyncio.to_thread(self._llm.ask, request)).text

    def _before(self, message: Message, context: ConversationContext) -> list[Message]:
        """Returns the turns right before the message, which may be in the history already."""
        last = context.history.last(self._turns + 1)
        found = [turn for turn in last if turn.content and turn.role in ("user", "assistant")]
        if found and (found[-1].role, found[-1].content) == (message.role, message.content):
            found.pop()
        return found[max(len(found) - self._turns, 0) :]

    async def _retrieve(
        self, message: Message, context: ConversationContext, before: Sequence[Message]
    ) -> list[MemoryEntry]:
        """Retrieves entries of each memory type, without those that the prompt contains anyway."""
        sent = {message.content, *(turn.content for turn in before)}
        found: dict[str, MemoryEntry] = {}
        for kind in HEADINGS:
            for entry in await context.memory.search_memory(message.content or "", kind, self._memories):
                if entry.memory_type != MemoryTypes.SHORT_TERM or entry.content not in sent:
                    found.setdefault(entry.id, entry)
        return list(found.values())

    def _build_prompt_context(self, message: Message, memories: Iterable[MemoryEntry]) -> str:
        """Returns the memories by type, one line each, and the message."""
        lines: dict[str, list[str]] = {}
        for entry in memories:
            lines.setdefault(entry.memory_type, []).append(_line(entry))
        parts = [f"{HEADINGS[kind]}:\n" + "\n".join(lines[kind]) for kind in HEADINGS if kind in lines]
        if not parts:
            return message.content or ""
        return "\n\n".join([*parts, f"Message:\n{message.content or ''}"])


def _line(entry: MemoryEntry) -> str:
    """Formats a memory as a line; untrusted text is quoted, so that the model does not follow it."""
    role = entry.metadata.get("role")
    who = f", {role}" if isinstance(role, str) else ""
    strange = entry.trust in UNTRUSTED
    text = fence_text(entry.content, entry.trust) if strange else " ".join(entry.content.split())
    return f"- [{entry.timestamp:%Y-%m-%d}{who}] {text}"
