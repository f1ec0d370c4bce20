"""What every store of messages does: one conversation of a memory, for asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, ParamSpec, Self, TypedDict, TypeVar

from ...core.errors import BadInput
from ...memory import Memory
from ...models.embed import WarmableEmbedder
from ...text.tokens import TokenCounter, counter_of
from ...views import Conversation
from ...views.housekeeping import put_away
from ...views.messages import draft_of
from ...write import texts_of
from ..opening import Place, embedder_in, is_shared, open_memory, run
from .message import Message, fitting, message_as_json, read
from .message_log import Log

P = ParamSpec("P")
T = TypeVar("T")
_opening = threading.Lock()


class Kept(TypedDict, total=False):
    """Where the messages of a store are, and how their tokens are counted."""

    memory: Place
    scope: str
    session_id: str | None
    token_counter: TokenCounter | Callable[[str], int] | str | None


class BaseMemoryStore:
    """Messages of one session, oldest first; works as it is, and as a base for stores of your own.

    `memory` is a Memory (yours, which this store does not close), a path or URL, or None for one in
    RAM. Stores with the same memory, scope and session_id share their messages. Everything may be
    called from many tasks and threads. A subclass need not call `super().__init__()`: then it is in RAM.
    """

    scope: str = "default"
    session_id: str = "default"
    token_counter: TokenCounter | Callable[[str], int] | str | None = None
    _place: Place = None
    _memory: Memory | None = None

    def __init__(
        self,
        *,
        memory: Place = None,
        scope: str = "default",
        session_id: str | None = None,
        token_counter: TokenCounter | Callable[[str], int] | str | None = None,
    ) -> None:
        self._place = memory
        self.scope = scope
        self.session_id = "default"
        if session_id is not None:
            self.session_id = session_id
        self.token_counter = token_counter

    async def initialize(self) -> None:
        """Opens the memory now, and not when it is first needed."""
        await self._ready()

    async def add_message(self, message: Message) -> None:
        """Adds a message; when this returns it is found, and survives a restart unless it is in RAM."""
        await self._warm_embedder([message])
        await self._run(self.append, [message])

    async def add_messages(self, messages: Sequence[Message]) -> None:
        """Adds several: all or none, unless a store has an `add_message` of its own, which gets each."""
        if type(self).add_message is not BaseMemoryStore.add_message:
            for message in messages:
                await self.add_message(message)
        else:
            await self._warm_embedder(messages)
            await self._run(self.append, messages)

    async def get_history(
        self, limit: int | None = None, offset: int = 0, roles: list[str] | None = None
    ) -> list[Message]:
        """The newest `limit` messages, leaving out the `offset` newest ones, oldest first.

        With `roles` only those count.
        """
        return await self._run(self._history, *check_page(limit, offset, roles))

    async def clear(self) -> None:
        await self._run(self.drop_all)

    async def get_context_window(self, max_tokens: int = 4000) -> list[Message]:
        """The newest messages that fit, oldest first; the very newest always."""
        # no message costs less than a token, so that many are enough
        newest = await self.get_history(limit=check_tokens(max_tokens))
        return fitting(newest, max_tokens, counter_of(self.token_counter))

    async def close(self) -> None:
        """Closes what this store opened; used again, it is opened anew. What is in RAM stays."""
        memory, given = self._memory, self._place is None or is_shared(self._place)
        if memory is not None and not given:
            self._memory = None
            await asyncio.to_thread(memory.close)

    async def __aenter__(self) -> Self:
        await self.initialize()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def messages(self) -> Log:
        """All messages as a list that can be changed: `store.messages.pop(0)`."""
        return Log(self)

    @messages.setter
    def messages(self, messages: Iterable[Message]) -> None:
        with self.turn:
            Log(self).become(messages)

    @property
    def current_count(self) -> int:
        """How many messages there are."""
        return len(self.messages)

    @property
    def memory(self) -> Memory:
        """The memory underneath, for the native verbs."""
        if self._memory is None:
            with _opening:
                if self._memory is None:
                    self._memory = self._open()
        return self._memory

    @property
    def conversation(self) -> Conversation:
        """The session as a view of the memory."""
        return Conversation(self.memory, self.session_id, scope=self.scope)

    @property
    def turn(self) -> threading.RLock:
        """Held while several changes of this store belong together."""
        lock: threading.RLock = self.__dict__.setdefault("_turn", threading.RLock())
        return lock

    def append(self, messages: Sequence[Message]) -> None:
        """Adds messages, all or none, and keeps to the limits of the store."""
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            self._before()
            self.conversation.extend(drafts)
            self._after()

    def drop(self, ids: Sequence[str]) -> None:
        """Deletes messages by the ids of their records; the same may be said again later."""
        if ids:
            put_away(self.memory, ids, scope=self.scope)

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        """Adds messages and then deletes others, so that nothing is lost where the new cannot be kept."""
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            self.conversation.extend(drafts)
            self.drop(ids)
            self._after()

    def drop_all(self) -> None:
        with self.turn:
            self.conversation.clear()

    def _history(self, limit: int | None, offset: int, roles: list[str] | None) -> list[Message]:
        self._before()
        records = self.conversation.records(limit, offset=offset, roles=roles)
        return [read(record) for record in records]

    def _open(self) -> Memory:
        return open_memory(self._place)

    def _before(self) -> None:
        """Runs before messages are read or added."""

    def _after(self) -> None:
        """Runs after messages were added: what is over a limit goes."""

    async def _ready(self) -> Memory:
        if self._memory is None and self._place is not None:
            return await asyncio.to_thread(lambda: self.memory)
        return self.memory

    async def _run(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await run(await self._ready(), verb, *args, **kwargs)

    async def _warm_embedder(self, messages: Sequence[Message]) -> None:
        """Awaits an asynchronous embedder of the memory in the caller's loop."""
        embedder = embedder_in(await self._ready())
        if isinstance(embedder, WarmableEmbedder):
            await embedder.warm(texts_of([draft_of(message_as_json(message)) for message in messages]))


class Beside(BaseMemoryStore):
    """Another session or scope of the memory that `other` has open; closed with it."""

    def __init__(self, other: BaseMemoryStore, *, scope: str, session_id: str) -> None:
        super().__init__(scope=scope, session_id=session_id, token_counter=other.token_counter)
        self._other = other

    @property
    def memory(self) -> Memory:
        return self._other.memory

    async def _ready(self) -> Memory:
        await self._other.initialize()
        return self._other.memory


def check_tokens(max_tokens: Any) -> int:
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
        raise BadInput(f"max_tokens must be a whole number from 1 up, not {max_tokens!r}")
    return max_tokens


def check_page(limit: Any, offset: Any, roles: Any) -> tuple[int | None, int, list[str] | None]:
    """The arguments of `get_history`, or a clear error; no roles are all roles."""
    for name, value in (("limit", 0 if limit is None else limit), ("offset", offset)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise BadInput(f"{name} must be a whole number from 0 up, not {value!r}")
    if isinstance(roles, str):
        named = [roles]
    else:
        named = list(roles or ())
    return limit, offset, named or None
