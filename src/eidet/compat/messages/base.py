"""One conversation of a memory, for asyncio: the base of every store of messages."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Self, TypedDict, TypeVar

from ...memory import Memory
from ...text.tokens import TokenCounter, counter_of
from ...views.messages import draft_of, drop_results, fit_messages
from ..opening import Place, check_limit, check_whole, embed_ahead, is_shared, list_texts, open_memory, run
from .message import Message, message_as_json, message_of_record
from .session import MessageSession

PAUSE = 0.001


class FairLock:
    """A fair lock that is held across awaits, for tasks of any event loop and thread.

    An asyncio.Lock belongs to one loop; a store may be used from several. A task that is cancelled while
    waiting leaves the queue. The task that holds the lock may take it again (`async with turns as again`).
    """

    def __init__(self) -> None:
        self._queue: deque[object] = deque()
        self._again = 0

    async def __aenter__(self) -> bool:
        place = asyncio.current_task()
        if self._queue and self._queue[0] is place:
            self._again += 1
            return True
        self._queue.append(place)
        try:
            while self._queue[0] is not place:  # noqa: ASYNC110 - another loop cannot wake this one
                await asyncio.sleep(PAUSE)
        except BaseException:
            self._queue.remove(place)
            raise
        return False

    async def __aexit__(self, *_raised: object) -> None:
        if self._again:
            self._again -= 1
        else:
            self._queue.popleft()


async def await_if_needed(answer: Any) -> Any:
    """Awaits the answer of a user's function if it is awaitable."""
    return await answer if inspect.isawaitable(answer) else answer


P = ParamSpec("P")
T = TypeVar("T")
_opening = threading.Lock()


class Kept(TypedDict, total=False):
    """Options of a store: where its messages live, and how their tokens are counted."""

    memory: Place
    scope: str
    session_id: str | None
    token_counter: TokenCounter | Callable[[str], float] | str | None


class BaseMemoryStore(MessageSession):
    """Messages of one session, oldest first; works as it is, and as a base for stores of your own.

    `memory` is a Memory (yours, which this store does not close), a path or URL, or None for one in
    RAM. Stores with the same memory, scope and session_id share their messages. Everything may be
    called from many tasks and threads. A subclass that does not call `super().__init__()` is in RAM.
    """

    token_counter: TokenCounter | Callable[[str], float] | str | None = None
    _place: Place = None
    _memory: Memory | None = None

    def __init__(
        self,
        *,
        memory: Place = None,
        scope: str = "default",
        session_id: str | None = None,
        token_counter: TokenCounter | Callable[[str], float] | str | None = None,
    ) -> None:
        self._place = memory
        self.scope = scope
        self.session_id: str = "default" if session_id is None else session_id
        self.token_counter = token_counter

    async def initialize(self) -> None:
        """Opens the memory now instead of on first use."""
        await self._ready()

    async def add_message(self, message: Message) -> None:
        """Adds a message. Once this returns, it can be found, and survives a restart unless it is in RAM."""
        await self._warm_embedder([message])
        await self._run(self.append, [message])

    async def add_messages(self, messages: Sequence[Message]) -> None:
        """Adds several messages, all or none; a store that overrides `add_message` adds them one by one."""
        if type(self).add_message is not BaseMemoryStore.add_message:
            for message in messages:
                await self.add_message(message)
        else:
            await self._warm_embedder(messages)
            await self._run(self.append, messages)

    async def get_history(
        self, limit: int | None = None, offset: int = 0, roles: list[str] | None = None
    ) -> list[Message]:
        """Returns the newest `limit` messages before the `offset` newest ones, oldest first.

        With `roles`, only messages of these roles count.
        """
        return await self._run(self._history, *check_page(limit, offset, roles))

    async def clear(self) -> None:
        await self._run(self.drop_all)

    async def get_context_window(self, max_tokens: int = 4000) -> list[Message]:
        """Returns the newest messages that fit, oldest first; the very newest always."""
        # a message costs at least one token, so `max_tokens` messages are enough
        newest = await self.get_history(limit=check_whole(max_tokens, "max_tokens", least=1))
        return drop_results(fit_messages(newest, max_tokens, counter_of(self.token_counter)))

    async def close(self) -> None:
        """Closes the memory that this store opened; the next use reopens it. A memory in RAM stays."""
        memory, given = self._memory, self._place is None or is_shared(self._place)
        if memory is not None and not given:
            self._memory = None
            await asyncio.to_thread(memory.close)

    async def __aenter__(self) -> Self:
        await self.initialize()
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()

    @property
    def current_count(self) -> int:
        """The number of messages."""
        return len(self.messages)

    @property
    def memory(self) -> Memory:
        """The memory underneath, for the native verbs."""
        if self._memory is None:
            with _opening:
                if self._memory is None:
                    self._memory = self._open()
        return self._memory

    def _history(self, limit: int | None, offset: int, roles: list[str] | None) -> list[Message]:
        self._before()
        records = self.conversation.records(limit, offset=offset, roles=roles)
        return [message_of_record(record) for record in records]

    def _open(self) -> Memory:
        return open_memory(self._place)

    async def _ready(self) -> Memory:
        if self._memory is None and self._place is not None:
            return await asyncio.to_thread(lambda: self.memory)
        return self.memory

    async def _run(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await run(await self._ready(), verb, *args, **kwargs)

    async def _warm_embedder(self, messages: Sequence[Message]) -> None:
        """Awaits an asynchronous embedder of the memory in the caller's loop."""
        memory = await self._ready()
        drafts = [draft_of(message_as_json(message)) for message in messages]
        await embed_ahead(memory, list_texts(memory, drafts))


class Beside(BaseMemoryStore):
    """Another session or scope of the memory that `other` opens and closes."""

    def __init__(self, other: BaseMemoryStore, *, scope: str, session_id: str) -> None:
        super().__init__(scope=scope, session_id=session_id, token_counter=other.token_counter)
        self._other = other

    @property
    def memory(self) -> Memory:
        return self._other.memory

    async def _ready(self) -> Memory:
        await self._other.initialize()
        return self._other.memory


def check_page(limit: Any, offset: Any, roles: Any) -> tuple[int | None, int, list[str] | None]:
    """Checks the arguments of `get_history`; no roles mean all roles."""
    check_limit(limit, "limit", least=0)
    check_whole(offset, "offset")
    named = [roles] if isinstance(roles, str) else list(roles or ())
    return limit, offset, named or None
