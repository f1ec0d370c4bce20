"""The views for asyncio: the same methods, each one hop of its `AsyncMemory`, none of them written twice.

A property is awaited: `await working.task`. `len(view)` is `await view.count()`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Generic, Protocol, Self, TypeVar, cast, overload

from ..aio import AsyncMemory
from ..aio.hop import Hopping, Threads, hop
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
    if args:
        return args[0]
    return next(iter(kwargs.values()), None)


async def _embed_said(threads: Threads, _core: object, *args: Any, **kwargs: Any) -> None:
    """An asynchronous embedder is awaited here, in the loop of the caller: for what will be kept."""
    given = _first(args, kwargs)
    things = list(given) if isinstance(given, list | tuple) else [given]
    await threads.embed_said(things, {})


async def _embed_asked(threads: Threads, core: Callable[[], Scoped], *args: Any, **kwargs: Any) -> None:
    """The same for a question."""
    await threads.embed_query(_first(args, kwargs), core().scope, None, understand=True)


async def _embed_measured(threads: Threads, core: Callable[[], Scoped], *args: Any, **kwargs: Any) -> None:
    """The same for a question of which every word counts."""
    await threads.embed_query(_first(args, kwargs), core().scope, None, understand=False)


class Scoped(Protocol):
    """A view of one scope."""

    @property
    def scope(self) -> str: ...


class _Awaited(Generic[V, T]):
    """A property of a view, to be awaited."""

    def __init__(self, prop: Callable[[V], T]) -> None:
        read = _getter(prop)

        async def get(self: AsyncView[V]) -> T:
            return await self._run(read)

        self._get = get

    @overload
    def __get__(self, view: None, owner: type) -> Self: ...
    @overload
    def __get__(self, view: AsyncView[V], owner: type) -> Coroutine[Any, Any, T]: ...
    def __get__(self, view: AsyncView[V] | None, owner: type) -> Self | Coroutine[Any, Any, T]:
        if view is None:
            return self
        return self._get(view)


class _Plain(Generic[V, T]):
    """A property that waits for nothing."""

    def __init__(self, prop: Callable[[V], T]) -> None:
        read = _getter(prop)

        def get(self: AsyncView[V]) -> T:
            return read(self._core())

        self._get = get

    @overload
    def __get__(self, view: None, owner: type) -> Self: ...
    @overload
    def __get__(self, view: AsyncView[V], owner: type) -> T: ...
    def __get__(self, view: AsyncView[V] | None, owner: type) -> Self | T:
        if view is None:
            return self
        return self._get(view)


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

    session = _Plain(Conversation.session)
    scope = _Plain(Conversation.scope)
    agent = _Plain(Conversation.agent)
    summary = _Awaited(Conversation.summary)
    add = hop(Conversation.add, _embed_said)
    extend = hop(Conversation.extend, _embed_said)
    messages = hop(Conversation.messages)
    records = hop(Conversation.records)
    get = hop(Conversation.get)
    window = hop(Conversation.window)
    search = hop(Conversation.search, _embed_asked)
    containing = hop(Conversation.containing)
    count = hop(Conversation.count)
    pop = hop(Conversation.pop)
    trim = hop(Conversation.trim)
    summarise = hop(Conversation.summarise)
    clear = hop(Conversation.clear)
    export = hop(Conversation.export)
    load = hop(Conversation.load)


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

    task = _Awaited(Working.task)
    task_id = _Awaited(Working.task_id)
    goal = _Awaited(Working.goal)
    subgoals = _Awaited(Working.subgoals)
    results = _Awaited(Working.results)
    scratchpad = _Awaited(Working.scratchpad)
    variables = _Awaited(Working.variables)
    set_task = hop(Working.set_task)
    set_goal = hop(Working.set_goal)
    add_result = hop(Working.add_result)
    result = hop(Working.result)
    think = hop(Working.think)
    set = hop(Working.set)
    get = hop(Working.get)
    push_goal = hop(Working.push_goal)
    pop_goal = hop(Working.pop_goal)
    update = hop(Working.update)
    prompt = hop(Working.prompt)
    clear = hop(Working.clear)
    state = hop(Working.state)
    load = hop(Working.load)


class AsyncSemantic(AsyncView[Semantic]):
    """`Semantic` for asyncio."""

    def __init__(self, memory: AsyncMemory, *, scope: str = "default", agent: str | None = None) -> None:
        super().__init__(memory, Semantic(memory.core, scope=scope, agent=agent))

    scope = _Plain(Semantic.scope)
    add = hop(Semantic.add, _embed_said)
    get = hop(Semantic.get)
    search = hop(Semantic.search, _embed_asked)
    similar = hop(Semantic.similar, _embed_measured)
    all = hop(Semantic.all)
    set_importance = hop(Semantic.set_importance)
    forget = hop(Semantic.forget)
    consolidate = hop(Semantic.consolidate)
    count = hop(Semantic.count)


class AsyncEpisodic(AsyncView[Episodic]):
    """`Episodic` for asyncio."""

    def __init__(self, memory: AsyncMemory, *, scope: str = "default", agent: str | None = None) -> None:
        super().__init__(memory, Episodic(memory.core, scope=scope, agent=agent))

    scope = _Plain(Episodic.scope)
    record = hop(Episodic.record)
    get = hop(Episodic.get)
    similar = hop(Episodic.similar, _embed_asked)
    lessons = hop(Episodic.lessons, _embed_asked)
    before = hop(Episodic.before)
    after = hop(Episodic.after)
    around = hop(Episodic.around)
    of_session = hop(Episodic.of_session)
    forget = hop(Episodic.forget)
    count = hop(Episodic.count)


TWINS: Final = {
    Conversation: AsyncConversation,
    Episodic: AsyncEpisodic,
    Semantic: AsyncSemantic,
    Working: AsyncWorking,
}
