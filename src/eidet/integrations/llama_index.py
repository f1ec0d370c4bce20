"""`EidetMemoryBlock`: a memory as a block of LlamaIndex' own `Memory`, for agents and chat engines.

The block stores messages that LlamaIndex' `Memory` flushes from its short-term queue. Each turn of the
agent gets what the memory knows about the latest message of the user, from any session.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.scope import Scope
from ..core.validate import QUERY_CHARS, dump_json
from ..text.tokens import counter_of, cut
from .extras import RisingTimes, finish, make_missing

try:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
except ModuleNotFoundError as error:
    raise make_missing("LlamaIndex", "llama-index") from error

_SESSION: Final = "session_id"  # the field of a message in which LlamaIndex puts it
_TOOLS: Final = ("tool", "function")


class EidetMemoryBlock(BaseMemoryBlock[str]):
    """Stores flushed messages in a memory, and returns what it knows about the user's message.

    The returned text has at most `budget` tokens, as `counter` counts them. `where` filters its memories.
    """

    name: str = "memory"
    memory: Any = Field(exclude=True, repr=False)
    scope: str = "default"
    budget: int = 1000
    counter: Any = Field(default=None, exclude=True)
    where: Any = Field(default=None, exclude=True)

    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _times: Any = PrivateAttr(default=None)
    _unwritten: list[list[Draft]] = PrivateAttr(default_factory=list)

    def model_post_init(self, context: Any, /) -> None:
        """Checks the scope, so that a wrong one fails now and not during a conversation."""
        super().model_post_init(context)
        Scope.exactly(self.scope)
        self._times = RisingTimes(self.memory.parts.clock)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_more: Any) -> str:
        query = _find_question(messages or [])
        if not query:
            return ""
        asked = partial(
            self.memory.context,
            query[-QUERY_CHARS:],
            scope=self.scope,
            budget=self.budget,
            counter=self.counter,
            where=self.where,
        )
        return str(await asyncio.to_thread(asked))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Stores messages, all or none; a cancelled call is finished first.

        LlamaIndex flushes each message once. If the store is unavailable, the block therefore keeps them
        and writes them with the next flush; their ids ensure that none is stored twice.
        """
        if messages:
            drafts = [_draft(message, at) for message, at in self._times.pair(messages)]
            self._unwritten.append(drafts)  # before any other block runs
        await finish(self._write)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Returns the beginning of the content, shorter by at least these tokens; None if nothing is left."""
        if not content:
            return None
        counter = counter_of(self.counter)
        return cut(content, counter.count(content) - tokens_to_truncate, counter) or None

    def _write(self) -> None:
        with self._lock:
            while self._unwritten:
                try:
                    self.memory.remember(self._unwritten[0], scope=self.scope, again=True)
                except BadInput:
                    self._unwritten.pop(0)  # no later attempt can store them
                    raise
                self._unwritten.pop(0)


def _draft(message: ChatMessage, at: float) -> Draft:
    data = message.model_dump(mode="json")
    session = data["additional_kwargs"].pop(_SESSION, None)
    role = message.role.value
    return Draft(
        id=str(uuid.uuid4()),
        kind="message",
        text=_say(message),
        data=data,
        who=role,
        session=session,
        occurred=at,
        trust="tool" if role in _TOOLS else None,
        meta={"llama_index": "message"},
    )


def _find_question(messages: Sequence[ChatMessage]) -> str:
    """Returns the user's latest message, or an empty text."""
    asked = (message.content or "" for message in reversed(messages) if message.role.value == "user")
    return next(asked, "").strip()


def _say(message: ChatMessage) -> str:
    """Returns a message as text for search: its texts, tool calls, and the type of anything else."""
    parts = []
    for block in message.blocks:
        if isinstance(block, TextBlock):
            parts.append(block.text)
        elif isinstance(block, ToolCallBlock):
            parts.append(f"{block.tool_name} {dump_json(block.tool_kwargs)}")
        else:
            parts.append(f"[{block.block_type}]")
    return "\n".join(parts).strip() or "[empty]"
