"""A store that leaves a trail: every message with who sent it, from where and what was noticed."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ...core.errors import BadInput, Refused
from ...store.tombstones import secret_of
from ...trust.privacy import find
from ..opening import Place
from .async_tools import await_if_needed
from .base import BaseMemoryStore, Beside
from .message import Message, message_as_json
from .wrappers import Around


class AuditMemoryStore(Around):
    """Writes each message, with its audit metadata, to the audit store and then to the operational one.

    Histories are read from the operational store; clearing it leaves the trail (`audit_store`) as it is.
    Without an `audit_store` of yours, the trail lies in the same memory, in a scope below `scope` whose
    name nobody can guess.
    Override `check_compliance` for rules of your own, as a method or a coroutine. `current_user_id`,
    `session_id` and `request_ip` may be set anew for each request.
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
        """The kinds of personal data and secrets that a message holds, such as `["email"]`."""
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
        await self.audit_store.add_message(message)  # first: nothing is in use that has no trail
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
    """The trail of a scope. Its own scope, which nobody can guess, is found out when the memory is open."""

    @property
    def scope(self) -> str:
        secret, name = secret_of(self.memory.parts.store, "names"), f"audit trail of {self._audited}"
        return f"{self._audited}/audit trail/{hmac.digest(secret, name.encode(), 'sha256').hex()[:32]}"

    @scope.setter
    def scope(self, audited: str) -> None:
        self._audited = audited
