"""Microsoft Agent Framework over a memory: `EidetContextProvider` and `EidetHistoryProvider`.

The history of a session is restored exactly. The context of a run comes from the other sessions of the
scope and from what you remember there yourself, as far as it is relevant to the input.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import dropwhile
from typing import Any, Final

from ..core.dict_filters import Filter, where_of
from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.scope import Scope
from ..core.validate import QUERY_CHARS, dump_json
from ..core.where import Where
from ..memory import Memory
from ..recall.pack import Context
from .extras import RisingTimes, check_scope, find_scope, finish, make_missing, read_all

try:
    from agent_framework import (
        AgentSession,
        BaseAgent,
        ContextProvider,
        HistoryProvider,
        Message,
        SessionContext,
        SupportsAgentRun,
    )
except ModuleNotFoundError as error:
    raise make_missing("Microsoft Agent Framework", "agent-framework") from error

ScopeOf = Callable[[AgentSession], str]

_PROMPT: Final = "## Memories\nConsider these memories of earlier conversations when you answer:"
_SAID: Final = "agent_framework:context"  # the sources distinguish the records of a scope
_HISTORY: Final = "agent_framework:history"
_CALLS: Final = Where(source=_HISTORY, kinds="action")
_ROLES: Final = ("user", "assistant")


class EidetContextProvider(ContextProvider):
    """Adds memories relevant to the input to the prompt, and remembers each turn.

    `scope` is the memory's scope, or a function of the session: with
    `scope=lambda session: f"users/{session.state['user']}"` one agent serves many users. `budget` is the
    most tokens of the block, `where` a filter as in `Memory.recall`. Messages of this session are left
    out, since its history is in the prompt already, unless `this_session`.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        scope: str | ScopeOf = "default",
        source_id: str = "eidet",
        budget: int = 1000,
        where: Filter | None = None,
        this_session: bool = False,
        store: bool = True,
        prompt: str = _PROMPT,
    ) -> None:
        super().__init__(source_id)
        self.memory = memory
        self.scope: str | ScopeOf = check_scope(scope)
        self.budget = budget
        self.where: Where | None = where_of(where)
        self.this_session = this_session
        self.store = store
        self.prompt = prompt
        self._times = RisingTimes(memory.parts.clock)

    async def before_run(self, *, session: AgentSession, context: SessionContext, **_run: Any) -> None:
        """Adds a message with what the memory knows about the input; none if that is nothing."""
        query = "\n".join(_texts_of(context.input_messages)).strip()
        if not query:
            return
        known = await asyncio.to_thread(self._recall, query[:QUERY_CHARS], session)
        if known.text:
            origins = [record.session for record in known.records if record.session]
            message = Message("user", [f"{self.prompt}\n{known.text}"])
            context.extend_messages(self, [message], origin_session_ids=origins)

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, **_run: Any
    ) -> None:
        """Stores the input and the answer, all or none.

        If the agent has an `EidetHistoryProvider` for the same scope, that provider stores them instead.
        """
        scope = find_scope(self.scope, session)
        if not self.store or self._is_kept(agent, session, scope):
            return
        messages = list(context.input_messages)
        if context.response is not None:
            messages += context.response.messages
        drafts = self._draft_all(messages, session.session_id)
        if drafts:
            await finish(partial(self.memory.remember, drafts, scope=scope))

    def _recall(self, query: str, session: AgentSession) -> Context:
        where = ~_CALLS
        if not self.this_session:
            where &= ~Where(session=session.session_id)
        if self.where is not None:
            where &= self.where
        scope = find_scope(self.scope, session)
        return self.memory.context(query, scope=scope, budget=self.budget, where=where)

    def _is_kept(self, agent: SupportsAgentRun, session: AgentSession, scope: str) -> bool:
        """Returns whether a history of this agent stores the turn in the same scope of the same memory."""
        providers = agent.context_providers if isinstance(agent, BaseAgent) else ()
        histories = [one for one in providers if isinstance(one, EidetHistoryProvider)]
        return any(history.keeps(self.memory, session, scope) for history in histories)

    def _draft_all(self, messages: Sequence[Message], session_id: str) -> list[Draft]:
        return [
            Draft(
                kind="message",
                text=text,
                who=message.author_name or message.role,
                session=session_id,
                occurred=at,
                source=_SAID,
            )
            for message, at in self._times.pair(messages)
            if (text := message.text.strip()) and message.role in _ROLES
        ]


class EidetHistoryProvider(HistoryProvider):
    """The messages of a session; other sessions of the scope can recall them.

    `scope` is as in `EidetContextProvider`. With a `limit`, only the latest messages are loaded; all
    are kept. `options` are those of the framework's `HistoryProvider`.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        scope: str | ScopeOf = "default",
        source_id: str = "eidet_history",
        limit: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(source_id, **options)
        self.memory = memory
        self.scope: str | ScopeOf = check_scope(scope)
        self.limit = limit
        self._times = RisingTimes(memory.parts.clock)
        self._lock = threading.Lock()

    def keeps(self, memory: Memory, session: AgentSession, scope: str) -> bool:
        """Returns whether it stores a session's inputs and answers in this scope of this memory."""
        whole = self.store_inputs and self.store_outputs
        return whole and memory is self.memory and find_scope(self.scope, session) == scope

    async def before_run(self, *, session: AgentSession, state: dict[str, Any], **run: Any) -> None:
        """Loads the history into the context."""
        state["scope"] = find_scope(self.scope, session)
        await super().before_run(session=session, state=state, **run)

    async def after_run(self, *, session: AgentSession, state: dict[str, Any], **run: Any) -> None:
        """Stores the messages of the run."""
        state["scope"] = find_scope(self.scope, session)
        await super().after_run(session=session, state=state, **run)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **_more: Any
    ) -> list[Message]:
        """Returns the messages of a session, oldest first."""
        scope = self._scope(state)
        messages: list[Message] = await asyncio.to_thread(self._read, session_id, scope, self.limit)
        return _drop_orphans(messages) if self.limit is not None else messages

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **_more: Any,
    ) -> None:
        """Adds messages, all or none. Skips those that repeat the end of the history.

        Once it returns, they are durable; a cancelled call is finished first.
        """
        if messages:
            await finish(partial(self._save, session_id, list(messages), self._scope(state)))

    def _scope(self, state: Mapping[str, Any] | None) -> str:
        """Returns the scope, from the state if it depends on the session, which these methods do not get."""
        if not callable(self.scope):
            return self.scope
        if state is None or "scope" not in state:
            raise BadInput(
                "the scope of this history is a function of the session: "
                "pass `state` with its 'scope', or give a name"
            )
        return Scope.exactly(state["scope"]).path

    def _read(self, session_id: str | None, scope: str, newest: int | None) -> list[Message]:
        where = Where(source=_HISTORY)
        return [
            Message.from_dict(record.data)
            for record in read_all(self.memory, where, scope, session=session_id or "default", newest=newest)
        ]

    def _save(self, session_id: str | None, messages: Sequence[Message], scope: str) -> None:
        with self._lock:
            latest = self._read(session_id, scope, len(messages) + 1)
            fresh = messages[_count_known(latest, messages) :]
            drafts = [
                self._draft(message, session_id or "default", at) for message, at in self._times.pair(fresh)
            ]
            self.memory.remember(drafts, scope=scope, again=True)

    def _draft(self, message: Message, session_id: str, at: float) -> Draft:
        data = message.to_dict()
        text = message.text.strip()
        return Draft(
            kind="message" if text else "action",
            text=(text or dump_json(data))[: self.memory.parts.settings.text_chars],
            data=data,
            who=message.author_name or message.role,
            session=session_id,
            occurred=at,
            source=_HISTORY,
        )


def _count_known(stored: Sequence[Message], messages: Sequence[Message]) -> int:
    """Counts the messages that were stored already, by the rules of the framework's own histories.

    Callers may pass the whole conversation each time. A repeated single input without an id is new.
    """
    before, now = list(map(_identify, stored)), list(map(_identify, messages))
    size = len(before)
    if size == 0:
        return 0
    may_repeat = stored[-1].role == "user" and stored[-1].message_id is None
    for start in range(len(now) - size + 1):
        if now[start : start + size] == before:
            return 0 if start == 0 and size == 1 and may_repeat else start + size
    for count in range(min(size, len(now)), 0, -1):
        if before[-count:] == now[:count] and not (count == 1 and may_repeat):
            return count
    return 0


def _identify(message: Message) -> str:
    """Returns the identity of a message: its id, else role and contents."""
    if message.message_id is not None:
        return str(message.message_id)
    contents = [content.to_dict() for content in message.contents]
    return dump_json([message.role, contents], sort_keys=True)


def _drop_orphans(messages: list[Message]) -> list[Message]:
    """Drops leading tool results whose calls are not among the messages."""
    return list(dropwhile(lambda message: message.role == "tool", messages))


def _texts_of(messages: Iterable[Message]) -> list[str]:
    return [message.text for message in messages if message.role == "user"]
