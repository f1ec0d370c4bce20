"""Stores that wrap stores: encrypted, audited, one per scope. They compose, also with your own stores."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

from ...core.errors import BadInput, Corrupt, MissingExtra, Refused
from ...core.scope import check_scope
from ...core.validate import dump_json
from ...memory import Memory
from ...store.tombstones import secret_of
from ...trust.privacy import find
from ...views import Conversation
from ..opening import Place
from .base import BaseMemoryStore, Beside, Kept, await_if_needed
from .message import Message, message_as_json

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


SEALED = "sealed"


class Around(BaseMemoryStore):
    """Passes everything on to `store`; subclasses change what goes in and what comes out.

    `messages` shows the messages of the wrapped store; those added to it are packed first.
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
        """Returns the message in the form that the wrapped store gets."""
        return message

    def unpack(self, message: Message) -> Message:
        """Returns the original of a message from the wrapped store."""
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
        """Packs new messages; those that only move are passed on as the wrapped store has them."""
        there = {message.record_id: message for message in self.store.messages}
        moved = [isinstance(one, Message) and there.get(one.record_id) == one for one in messages]
        pairs = zip(messages, moved, strict=True)
        self.store.replace(ids, [one if is_there else self.pack(one) for one, is_there in pairs])

    def drop_all(self) -> None:
        self.store.drop_all()


class EncryptedMemoryStore(Around):
    """Encrypts content and tool calls as Fernet tokens in the wrapped store, and decrypts what it reads.

    Roles, times, names and metadata stay readable, so that they can be filtered. Of several keys
    the first encrypts and all decrypt, so that keys can be rotated.
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


class ScopedMemoryStore(BaseMemoryStore):
    """One store per scope of the memory, isolated from each other. `scopes` holds those used so far.

    With `scope="acme"` all of them are below it: `get_scope("ann")` is the memory's `acme/ann`. `messages`
    are those of the scope "default".
    """

    def __init__(self, **where: Unpack[Kept]) -> None:
        super().__init__(**where)
        self._below = "" if self.scope == "default" else f"{self.scope}/"
        self.scope = f"{self._below}default"
        self.scopes: dict[str, BaseMemoryStore] = {}

    def get_scope(self, scope_name: str) -> BaseMemoryStore:
        path = f"{self._below}{scope_name}"
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
        chosen = {"default", *self.scopes} if scope is None else {scope}
        await asyncio.gather(*(self.get_scope(name).clear() for name in chosen))

    async def get_context_window(self, max_tokens: int = 4000, scope: str = "default") -> list[Message]:
        return await self.get_scope(scope).get_context_window(max_tokens)

    @property
    def current_count(self) -> int:
        """The number of messages in all scopes in use."""
        return sum(self.get_scope(name).current_count for name in {"default", *self.scopes})


class AuditMemoryStore(Around):
    """Writes each message, with its audit metadata, to the audit store and then to the operational one.

    Histories are read from the operational store; clearing it leaves the trail (`audit_store`) as it is.
    Without an `audit_store` of your own, the trail is kept in the same memory, in a scope below `scope`
    with an unguessable name.
    Override `check_compliance` for rules of your own, as a method or a coroutine. `current_user_id`,
    `session_id` and `request_ip` may be set for each request.
    """

    def __init__(
        self,
        operational_store: BaseMemoryStore | None = None,
        audit_store: BaseMemoryStore | None = None,
        *,
        current_user_id: str | None = None,
        session_id: str | None = None,
        request_ip: str | None = None,
        memory: Place = None,
        scope: str = "default",
    ) -> None:
        if operational_store is not None and audit_store is None:
            raise BadInput("your own store needs an audit store beside it: pass audit_store=… as well")
        store = operational_store or BaseMemoryStore(memory=memory, scope=scope, session_id=session_id)
        super().__init__(store)
        self.session_id: str = session_id or store.session_id
        self.audit_store: BaseMemoryStore | _Trail = audit_store or _Trail(
            store, scope=scope, session_id=self.session_id
        )
        self.current_user_id = current_user_id
        self.request_ip = request_ip

    @property
    def operational_store(self) -> BaseMemoryStore:
        return self.store

    @operational_store.setter
    def operational_store(self, store: BaseMemoryStore) -> None:
        self.store = store

    def check_compliance(self, message: Message) -> Any:
        """Returns the kinds of personal data and secrets in a message, such as `["email"]`."""
        return sorted({str(found.kind) for found in find(message.content or "")})

    async def add_message(self, message: Message) -> None:
        message_as_json(message)
        flags = await await_if_needed(self.check_compliance(message))
        message.metadata.update(
            timestamp=datetime.now().isoformat(),  # noqa: DTZ005
            user_id=self.current_user_id,
            session_id=self.session_id,
            ip_address=self.request_ip,
            compliance_flags=flags,
        )
        await self.audit_store.add_message(message)  # first, so that every message in use has a trail
        await self.store.add_message(message)

    def append(self, messages: Sequence[Message]) -> None:
        if messages:
            raise Refused("add messages with `await add_message(…)`, which leaves a trail")

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        self.append(messages)
        self.drop(ids)

    async def initialize(self) -> None:
        await super().initialize()
        await self.audit_store.initialize()

    async def close(self) -> None:
        await self.audit_store.close()
        await super().close()


class _Trail(Beside):
    """The audit trail of a scope, in an unguessable scope that is resolved once the memory is open."""

    @property
    def scope(self) -> str:
        secret, name = secret_of(self.memory.parts.store, "names"), f"audit trail of {self._audited}"
        return f"{self._audited}/audit trail/{hmac.digest(secret, name.encode(), 'sha256').hex()[:32]}"

    @scope.setter
    def scope(self, audited: str) -> None:
        self._audited = audited
