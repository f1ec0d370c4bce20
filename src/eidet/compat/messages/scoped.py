"""One store of messages for each of several contexts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Unpack

from ...core.scope import check_scope
from ...views import Conversation
from .base import BaseMemoryStore, Beside, Kept
from .message import Message


class ScopedMemoryStore(BaseMemoryStore):
    """A scope is a scope of the memory: nothing is seen across. `scopes` are those in use so far.

    With `scope="acme"` all of them are below it: `get_scope("ann")` is the memory's `acme/ann`.
    """

    def __init__(self, **where: Unpack[Kept]) -> None:
        super().__init__(**where)
        self.scopes: dict[str, BaseMemoryStore] = {}

    def get_scope(self, scope_name: str) -> BaseMemoryStore:
        path = scope_name if self.scope == "default" else f"{self.scope}/{scope_name}"
        check_scope(path)
        with self.turn:
            if scope_name not in self.scopes:
                self.scopes[scope_name] = Beside(self, scope=path, session_id=self.session_id)
            return self.scopes[scope_name]

    async def add_message(self, message: Message, scope: str = "default") -> None:
        await self.get_scope(scope).add_message(message)

    async def get_history(
        self,
        limit: int | None = None,
        offset: int = 0,
        roles: list[str] | None = None,
        scope: str = "default",
    ) -> list[Message]:
        return await self.get_scope(scope).get_history(limit, offset, roles)

    async def clear(self, scope: str | None = None) -> None:
        """Clears one scope, or all that are in use."""
        chosen = list(self.scopes) if scope is None else [scope]
        await asyncio.gather(*(self.get_scope(name).clear() for name in chosen))

    async def get_context_window(self, max_tokens: int = 4000, scope: str = "default") -> list[Message]:
        return await self.get_scope(scope).get_context_window(max_tokens)

    @property
    def conversation(self) -> Conversation:
        """That of the scope "default"."""
        return self.get_scope("default").conversation

    def append(self, messages: Sequence[Message]) -> None:
        self.get_scope("default").append(messages)

    def drop(self, ids: Sequence[str]) -> None:
        self.get_scope("default").drop(ids)

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        self.get_scope("default").replace(ids, messages)

    @property
    def current_count(self) -> int:
        """Of all scopes in use."""
        return sum(store.current_count for store in self.scopes.values())
