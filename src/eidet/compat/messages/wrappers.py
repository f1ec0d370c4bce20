"""Stores around stores. They compose with each other and with stores of your own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from ...core.errors import BadInput, Corrupt, MissingExtra
from ...core.validate import dump_json
from ...memory import Memory
from ...views import Conversation
from .async_tools import await_if_needed
from .base import BaseMemoryStore, Kept
from .message import Message, message_as_json

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


SEALED = "sealed"


class Around(BaseMemoryStore):
    """Passes everything on to `store`; subclasses change what goes in and what comes out.

    `messages` shows what the store underneath has. What is added there goes in as by `add_message`.
    """

    def __init__(self, store: BaseMemoryStore | None = None, **where: Unpack[Kept]) -> None:
        super().__init__(**where)
        if store is not None and where.keys() & {"memory", "scope", "session_id"}:
            raise BadInput("pass a store, or the memory, scope and session_id for a new one, not both")
        self.store: BaseMemoryStore = store or BaseMemoryStore(**where)

    async def initialize(self) -> None:
        if (begin := getattr(self.store, "initialize", None)) is not None:
            await await_if_needed(begin())

    async def add_message(self, message: Message) -> None:
        await self.store.add_message(self.pack(message))

    async def get_history(
        self, limit: int | None = None, offset: int = 0, roles: list[str] | None = None
    ) -> list[Message]:
        found = await self.store.get_history(limit=limit, offset=offset, roles=roles)
        return [self.unpack(message) for message in found]

    async def clear(self) -> None:
        await self.store.clear()

    async def close(self) -> None:
        if (end := getattr(self.store, "close", None)) is not None:
            await await_if_needed(end())

    def pack(self, message: Message) -> Message:
        """What goes into the store for a message."""
        return message

    def unpack(self, message: Message) -> Message:
        """The message that what came out of the store stands for."""
        return message

    @property
    def memory(self) -> Memory:
        return self.store.memory

    @property
    def conversation(self) -> Conversation:
        return self.store.conversation

    def append(self, messages: Sequence[Message]) -> None:
        self.store.append([self.pack(message) for message in messages])

    def drop(self, ids: Sequence[str]) -> None:
        self.store.drop(ids)

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        """`messages` shows them as the store underneath has them: those that only move stay as they are."""
        there = {message.record_id: message for message in self.store.messages}
        ready = []
        for message in messages:
            if isinstance(message, Message) and there.get(message.record_id) == message:
                ready.append(message)
            else:
                ready.append(self.pack(message))
        self.store.replace(ids, ready)

    def drop_all(self) -> None:
        self.store.drop_all()


class EncryptedMemoryStore(Around):
    """Content and tool calls are kept as Fernet tokens in whatever store is underneath, and read in plain.

    Roles, times, names and metadata stay readable, so that they can be filtered. Of several keys
    the first encrypts and all decrypt: that is how a key is changed.
    """

    def __init__(
        self,
        encryption_key: bytes | str | Sequence[bytes | str],
        store: BaseMemoryStore | None = None,
        **where: Unpack[Kept],
    ) -> None:
        super().__init__(store, **where)
        self.cipher: MultiFernet = _cipher(encryption_key)

    def pack(self, message: Message) -> Message:
        message_as_json(message)
        calls = [{SEALED: self._encrypt(dump_json(message.tool_calls))}] if message.tool_calls else None
        content = None if message.content is None else self._encrypt(message.content)
        return replace(message, content=content, tool_calls=calls)

    def unpack(self, message: Message) -> Message:
        calls = message.tool_calls
        content = None if message.content is None else self._decrypt(message.content)
        if calls and isinstance(calls[0], dict) and SEALED in calls[0]:
            calls = json.loads(self._decrypt(calls[0][SEALED]))
        return replace(message, content=content, tool_calls=calls)

    def _encrypt(self, text: str) -> str:
        return self.cipher.encrypt(text.encode()).decode()

    def _decrypt(self, token: str) -> str:
        from cryptography.fernet import InvalidToken

        try:
            return self.cipher.decrypt(token.encode()).decode()
        except InvalidToken as wrong:
            raise Corrupt(
                "a message cannot be decrypted: it was encrypted with another key, or changed since"
            ) from wrong


def _cipher(keys: bytes | str | Sequence[bytes | str]) -> MultiFernet:
    try:
        from cryptography.fernet import Fernet, MultiFernet
    except ImportError as missing:
        raise MissingExtra("EncryptedMemoryStore", extra="seal") from missing
    given: Sequence[Any] = keys if isinstance(keys, list | tuple) else [keys]
    try:
        return MultiFernet([Fernet(key) for key in given])
    except (ValueError, TypeError) as bad:
        raise BadInput(
            "an encryption key must be 32 random bytes in URL-safe base64: Fernet.generate_key() makes one"
        ) from bad
