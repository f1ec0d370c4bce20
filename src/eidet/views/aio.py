"""The views for asyncio: the same methods, each one hop of its `AsyncMemory`, none of them written twice.

A property is awaited: `await working.task`. `len(view)` is `await view.count()`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, Generic, Protocol, Self, TypeAlias, TypeVar, cast, overload

from ..aio import AsyncMemory, hop_after, texts_to_ask, texts_to_keep
from ..memory import Memory
from ..net.hop import Hopping, hop
from .conversation import Conversation, Counter
from .episodic import Episodic
from .semantic import Semantic
from .working import Working

T = TypeVar("T")
V = TypeVar("V")


class AsyncView(Hopping[V]):
    """A view of a memory, whose methods run as the verbs of that `AsyncMemory` do.

    Open the memory first (`async with`, or `await AsyncMemory.open(…)`): else making a view opens it here
    and now, and the loop waits for it.
    """

    def __init__(self, memory: AsyncMemory, view: V) -> None:
        super().__init__(memory.threads, lambda: view)


def _first(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()), None)


class _Scoped(Protocol):
    """A view of one scope."""

    @property
    def scope(self) -> str: ...


def _texts_said(memory: Memory, view: _Scoped, *args: Any, **kwargs: Any) -> Sequence[str]:
    given = _first(args, kwargs)
    things = list(given) if isinstance(given, list | tuple) else [given]
    return texts_to_keep(memory, view, things)


def _texts_asked(memory: Memory, view: _Scoped, *args: Any, **kwargs: Any) -> Sequence[str]:
    return texts_to_ask(memory, view, _first(args, kwargs), scope=view.scope)


def _texts_measured(memory: Memory, view: _Scoped, *args: Any, **kwargs: Any) -> Sequence[str]:
    """Of a question of which every word counts."""
    return texts_to_ask(memory, view, _first(args, kwargs), scope=view.scope, understand=False)


_hop_to_keep: Final = hop_after(_texts_said)
_hop_to_ask: Final = hop_after(_texts_asked)
_hop_to_measure: Final = hop_after(_texts_measured)


class _Property(Generic[V, T]):
    """A property of a view for asyncio."""

    def __init__(self, get: Callable[[AsyncView[V]], T]) -> None:
        self._get = get

    @overload
    def __get__(self, view: None, owner: type) -> Self: ...
    @overload
    def __get__(self, view: AsyncView[V], owner: type) -> T: ...
    def __get__(self, view: AsyncView[V] | None, owner: type) -> Self | T:
        return self if view is None else self._get(view)


_Awaited: TypeAlias = _Property[V, Coroutine[Any, Any, T]]


def _await_property(prop: Callable[[V], T]) -> _Awaited[V, T]:
    """A property that is awaited: `await working.task`."""
    read = _getter(prop)

    async def get(self: AsyncView[V]) -> T:
        return await self._run(read)

    return _Property(get)


def _read_property(prop: Callable[[V], T]) -> _Property[V, T]:
    """A property that waits for nothing."""
    read = _getter(prop)

    def get(self: AsyncView[V]) -> T:
        return read(self._core())

    return _Property(get)


def _getter(prop: Callable[[V], T]) -> Callable[[V], T]:
    """Type checkers take a property of a class for its getter."""
    getter: Callable[[V], T] = cast("Any", prop).fget
    return getter


class AsyncConversation(AsyncView[Conversation]):
    """`Conversation` for asyncio."""

    def __init__(
        self,
        memory: AsyncMemory,
        session: str | None = None,
        *,
        scope: str = "default",
        agent: str | None = None,
        counter: Counter = None,
    ) -> None:
        view = Conversation(memory.core, session, scope=scope, agent=agent, counter=counter)
        super().__init__(memory, view)

    session: _Property[Conversation, str] = _read_property(Conversation.session)
    scope: _Property[Conversation, str] = _read_property(Conversation.scope)
    agent: _Property[Conversation, str | None] = _read_property(Conversation.agent)
    summary: _Awaited[Conversation, str | None] = _await_property(Conversation.summary)
    add: Final = _hop_to_keep(Conversation.add)
    extend: Final = _hop_to_keep(Conversation.extend)
    messages: Final = hop(Conversation.messages)
    records: Final = hop(Conversation.records)
    get: Final = hop(Conversation.get)
    window: Final = hop(Conversation.window)
    search: Final = _hop_to_ask(Conversation.search)
    containing: Final = hop(Conversation.containing)
    count: Final = hop(Conversation.count)
    pop: Final = hop(Conversation.pop)
    trim: Final = hop(Conversation.trim)
    summarise: Final = hop(Conversation.summarise)
    clear: Final = hop(Conversation.clear)
    export: Final = hop(Conversation.export)
    load: Final = hop(Conversation.load)


class AsyncWorking(AsyncView[Working]):
    """`Working` for asyncio."""

    def __init__(
        self,
        memory: AsyncMemory,
        *,
        session: str | None = None,
        scope: str = "default",
        agent: str | None = None,
        persist: bool = False,
    ) -> None:
        view = Working(memory.core, session=session, scope=scope, agent=agent, persist=persist)
        super().__init__(memory, view)

    task: _Awaited[Working, str] = _await_property(Working.task)
    task_id: _Awaited[Working, str] = _await_property(Working.task_id)
    goal: _Awaited[Working, str] = _await_property(Working.goal)
    subgoals: _Awaited[Working, list[str]] = _await_property(Working.subgoals)
    results: _Awaited[Working, dict[str, Any]] = _await_property(Working.results)
    scratchpad: _Awaited[Working, list[str]] = _await_property(Working.scratchpad)
    variables: _Awaited[Working, dict[str, Any]] = _await_property(Working.variables)
    set_task: Final = hop(Working.set_task)
    set_goal: Final = hop(Working.set_goal)
    add_result: Final = hop(Working.add_result)
    result: Final = hop(Working.result)
    think: Final = hop(Working.think)
    set: Final = hop(Working.set)
    get: Final = hop(Working.get)
    push_goal: Final = hop(Working.push_goal)
    pop_goal: Final = hop(Working.pop_goal)
    update: Final = hop(Working.update)
    prompt: Final = hop(Working.prompt)
    clear: Final = hop(Working.clear)
    state: Final = hop(Working.state)
    load: Final = hop(Working.load)


class AsyncSemantic(AsyncView[Semantic]):
    """`Semantic` for asyncio."""

    def __init__(self, memory: AsyncMemory, *, scope: str = "default", agent: str | None = None) -> None:
        super().__init__(memory, Semantic(memory.core, scope=scope, agent=agent))

    scope: _Property[Semantic, str] = _read_property(Semantic.scope)
    add: Final = _hop_to_keep(Semantic.add)
    get: Final = hop(Semantic.get)
    search: Final = _hop_to_ask(Semantic.search)
    similar: Final = _hop_to_measure(Semantic.similar)
    all: Final = hop(Semantic.all)
    set_importance: Final = hop(Semantic.set_importance)
    forget: Final = hop(Semantic.forget)
    consolidate: Final = hop(Semantic.consolidate)
    count: Final = hop(Semantic.count)


class AsyncEpisodic(AsyncView[Episodic]):
    """`Episodic` for asyncio."""

    def __init__(self, memory: AsyncMemory, *, scope: str = "default", agent: str | None = None) -> None:
        super().__init__(memory, Episodic(memory.core, scope=scope, agent=agent))

    scope: _Property[Episodic, str] = _read_property(Episodic.scope)
    record: Final = hop(Episodic.record)
    get: Final = hop(Episodic.get)
    similar: Final = _hop_to_ask(Episodic.similar)
    lessons: Final = _hop_to_ask(Episodic.lessons)
    before: Final = hop(Episodic.before)
    after: Final = hop(Episodic.after)
    around: Final = hop(Episodic.around)
    of_session: Final = hop(Episodic.of_session)
    forget: Final = hop(Episodic.forget)
    count: Final = hop(Episodic.count)
