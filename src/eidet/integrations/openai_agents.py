"""`EidetSession`: the conversation of an OpenAI agent, as a `Session` of the Agents SDK.

Items are restored exactly as they were added. They are messages of the memory as well, so that
`memory.recall` and `memory.context` find what was said in any session of the scope.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Record
from ..core.validate import dump_json
from ..core.where import Condition, Where
from ..memory import Memory
from .extras import RisingTimes, check_scope, find_scope, finish, list_texts, make_missing, read_all

try:
    from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit
except ModuleNotFoundError as error:
    raise make_missing("the OpenAI Agents SDK", "openai-agents") from error

ScopeOf = Callable[[Any], str]

_ITEM: Final = Where(conditions=(Condition("meta.openai_agents", "=", True),))


class EidetSession:
    """A session whose items are kept in a memory.

    `scope` is the memory's scope, or a function that returns it for the run's context wrapper: with
    `scope=lambda wrapper: f"users/{wrapper.context.user}"` one session object serves many users.
    """

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        scope: str | ScopeOf = "default",
        settings: SessionSettings | Mapping[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.memory = memory
        self.scope: str | ScopeOf = check_scope(scope)
        self.session_settings = SessionSettings()
        if settings is not None:
            self.session_settings = coerce_session_settings(settings)
        self._times = RisingTimes(memory.parts.clock)
        self._lock = threading.Lock()

    async def get_items(self, limit: int | None = None, *, wrapper: Any = None) -> list[Any]:
        """Returns the latest `limit` items, oldest first; all of them without a limit."""
        wanted = resolve_session_limit(limit, self.session_settings)
        if wanted is not None and wanted <= 0:
            return []
        records = await asyncio.to_thread(self._newest, self._scope(wrapper), wanted)
        return [record.data for record in records]

    async def add_items(self, items: Sequence[Any], *, wrapper: Any = None) -> None:
        """Adds items, all or none. Once it returns, they are durable; a cancelled call is finished first."""
        if items:
            await finish(partial(self._add, list(items), self._scope(wrapper)))

    async def pop_item(self, *, wrapper: Any = None) -> Any | None:
        """Removes and returns the latest item, or returns None."""
        return await finish(partial(self._pop, self._scope(wrapper)))

    async def clear_session(self, *, wrapper: Any = None) -> None:
        """Removes all items of this session."""
        await finish(partial(self._clear, self._scope(wrapper)))

    def _scope(self, wrapper: Any) -> str:
        if callable(self.scope) and wrapper is None:
            raise BadInput(
                "the scope of this session is a function of the run's context: pass `wrapper`, or give a name"
            )
        return find_scope(self.scope, wrapper)

    def _newest(self, scope: str, wanted: int | None) -> list[Record]:
        return read_all(self.memory, _ITEM, scope, session=self.session_id, newest=wanted)

    def _add(self, items: Sequence[Any], scope: str) -> None:
        with self._lock:
            drafts = [self._draft(item, at) for item, at in self._times.pair(items)]
            self.memory.remember(drafts, scope=scope, again=True)

    def _draft(self, item: Any, at: float) -> Draft:
        return Draft(
            kind="message",
            text=text_of(item) or dump_json(item),
            data=item,
            who=_role(item),
            session=self.session_id,
            occurred=at,
            meta={"openai_agents": True},
        )

    def _pop(self, scope: str) -> Any | None:
        """Pops one item. Of concurrent callers, only the one that deletes an item gets it."""
        with self._lock:
            while newest := self._newest(scope, 1):
                if self.memory.forget(newest[0].id, scope=scope, for_good=False):
                    return newest[0].data
            return None

    def _clear(self, scope: str) -> None:
        with self._lock:
            self.memory.forget(where=_ITEM, session=self.session_id, scope=scope, for_good=False)


def _role(item: Any) -> str | None:
    role = item.get("role") if isinstance(item, Mapping) else None
    return role if isinstance(role, str) and role else None


def text_of(item: Any) -> str:
    """Returns the searchable text of an item: that of a message, or the name and content of a tool call."""
    if not isinstance(item, Mapping):
        return ""
    parts: list[str] = []
    for name in ("content", "output", "name", "arguments"):
        parts += list_texts(item.get(name))
    return "\n".join(parts).strip()
