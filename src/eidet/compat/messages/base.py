"""One session of a memory, its messages as a list, and for asyncio the base of every store of messages."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypedDict, TypeVar, overload

from ...memory import Memory
from ...text.tokens import TokenCounter, counter_of
from ...views import Conversation
from ...views.messages import draft_of, drop_results, fit_messages, put_away
from ..opening import (
    Place,
    check_limit,
    check_whole,
    embed_ahead,
    is_shared,
    list_texts,
    open_memory,
    refuse_held,
    run,
)
from .message import Message, message_as_json, message_of_record

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


class MessageSession:
    """The base of message stores. Subclasses have a `memory`, and decide what happens at a limit."""

    scope: str = "default"
    session_id: str = "default"

    if TYPE_CHECKING:

        @property
        def memory(self) -> Memory:
            """The memory underneath, for the native verbs."""

    @property
    def conversation(self) -> Conversation:
        """The session as a view of the memory."""
        return Conversation(self.memory, self.session_id, scope=self.scope)

    @property
    def messages(self) -> Log:
        """All messages as a list that can be changed: `store.messages.pop(0)`."""
        return Log(self)

    @messages.setter
    def messages(self, messages: Iterable[Message]) -> None:
        with self.turn:
            Log(self).become(messages)

    @property
    def turn(self) -> threading.RLock:
        """The lock to hold while several changes of this store belong together."""
        lock: threading.RLock = self.__dict__.setdefault("_turn", threading.RLock())
        return lock

    def append(self, messages: Sequence[Message]) -> None:
        """Adds messages, all or none, then applies the limits of the store."""
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            self._before()
            self.conversation.extend(drafts)
            self._after()

    def drop(self, ids: Sequence[str]) -> None:
        """Deletes messages by the ids of their records; the same messages may be added again later."""
        if ids:
            put_away(self.memory, ids, scope=self.scope)

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        """Adds messages, then deletes others, so that nothing is lost if the new ones cannot be stored."""
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            refuse_held(self.memory, ids, scope=self.scope)
            self.conversation.extend(drafts)
            self.drop(ids)
            self._after()

    def drop_all(self) -> None:
        with self.turn:
            self.conversation.clear()

    def _before(self) -> None:
        """Runs before messages are read or added."""

    def _after(self) -> None:
        """Removes what is over a limit, after messages were added."""


class Log(MutableSequence[Message]):
    """The messages, oldest first. Each call reads the memory; iterate to read all."""

    def __init__(self, store: MessageSession) -> None:
        self._store = store

    def __len__(self) -> int:
        return len(self._store.conversation)

    def __iter__(self) -> Iterator[Message]:
        return iter([message_of_record(record) for record in self._store.conversation.records()])

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return list(self)[index]
        back = -index - 1 if index < 0 else len(self) - index - 1
        found = self._store.conversation.records(limit=1, offset=back) if back >= 0 else []
        if not found:
            raise IndexError("there is no message at this place")
        return message_of_record(found[0])

    def __setitem__(self, index: Any, value: Any) -> None:
        messages = list(self)
        messages[index] = value
        self.become(messages)

    def __delitem__(self, index: int | slice) -> None:
        doomed = [self[index]] if isinstance(index, int) else self[index]
        self._store.drop([message.record_id for message in doomed if message.record_id])

    def insert(self, index: int, value: Message) -> None:
        if index >= len(self):
            self._store.append([value])
        else:
            messages = list(self)
            messages.insert(index, value)
            self.become(messages)

    def extend(self, values: Iterable[Message]) -> None:
        self._store.append(list(values))

    def clear(self) -> None:
        self.become([])

    def become(self, wanted: Iterable[Message]) -> None:
        """Makes these the messages. Existing ones stay as they are if new ones only follow them."""
        messages = list(wanted)
        there = [record.id for record in self._store.conversation.records()]
        kept = _find_kept(there, messages)
        gone = [id for id in there if id not in set(kept)]
        self._store.replace(gone, messages[len(kept) :])

    def __add__(self, other: Iterable[Message]) -> list[Message]:
        return [*self, *other]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def _find_kept(there: Sequence[str], wanted: Sequence[Message]) -> list[str]:
    """Lists the ids that stay if `wanted` is existing messages in order, then new ones; otherwise none."""
    places = {id: place for place, id in enumerate(there)}
    known = []
    for message in wanted:
        id = message.record_id if isinstance(message, Message) else None
        known.append(places.get(id or ""))
    first_new = known.index(None) if None in known else len(known)
    old = [place for place in known[:first_new] if place is not None]
    if any(place is not None for place in known[first_new:]) or old != sorted(set(old)):
        return []
    return [there[place] for place in old]


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
