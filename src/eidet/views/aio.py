"""The views for asyncio: the same methods, each one hop of its `AsyncMemory`, none of them written twice.

A property is awaited: `await working.task`. `len(view)` is `await view.count()`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar, cast, overload

from ..aio import AsyncMemory
from ..memory import Memory
from ..write import texts_of
from .conversation import Conversation, Counter
from .episodic import Episodic
from .semantic import Semantic
from .working import Working

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


class AsyncView(Generic[V]):
    """A view of a memory, entered as the verbs of that `AsyncMemory` are."""

    def __init__(self, memory: AsyncMemory, view: V) -> None:
        self._memory = memory
        self._view = view

    async def _hop(self, method: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        return await self._memory._run(method, self._view, *args, **kwargs)  # noqa: SLF001

    async def _say(self, given: Any) -> None:
        """An asynchronous embedder is awaited here, in the loop of the caller: for what will be kept."""
        if isinstance(given, list | tuple):
            things = list(given)
        else:
            things = [given]
        guarding = _core(self._memory)._guarding  # noqa: SLF001
        if guarding.guards:
            texts = guarding.texts(things, {})
        else:
            texts = texts_of(things)
        await self._memory._embed(texts)  # noqa: SLF001

    async def _ask(self, query: Any, understand: bool) -> None:
        """The same for a question."""
        scope = self._view._scope  # type: ignore[attr-defined]  # noqa: SLF001
        await self._memory._embed_query(query, scope, None, understand)  # noqa: SLF001


Ready = Callable[[AsyncView[Any], Any], Coroutine[Any, Any, None]]


async def _embed_given(view: AsyncView[Any], given: Any) -> None:
    await view._say(given)  # noqa: SLF001


async def _embed_query(view: AsyncView[Any], query: Any) -> None:
    await view._ask(query, understand=True)  # noqa: SLF001


async def _embed_whole_query(view: AsyncView[Any], query: Any) -> None:
    """Every word of it counts."""
    await view._ask(query, understand=False)  # noqa: SLF001


def _hop(
    method: Callable[Concatenate[V, P], T], ready: Ready | None = None
) -> Callable[Concatenate[AsyncView[V], P], Coroutine[Any, Any, T]]:
    """A method of a view as a coroutine; `ready` embeds its first argument before the core is entered."""

    async def hop(self: AsyncView[V], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if ready is not None:
            await ready(self, args[0] if args else next(iter(kwargs.values()), None))
        return await self._hop(method, *args, **kwargs)

    return update_wrapper(hop, method)


class _Awaited(Generic[V, T]):
    """A property of a view, to be awaited."""

    def __init__(self, prop: Callable[[V], T]) -> None:
        self._read = _getter(prop)

    @overload
    def __get__(self, view: None, owner: type) -> Self: ...
    @overload
    def __get__(self, view: AsyncView[V], owner: type) -> Coroutine[Any, Any, T]: ...
    def __get__(self, view: AsyncView[V] | None, owner: type) -> Self | Coroutine[Any, Any, T]:
        return self if view is None else view._hop(self._read)  # noqa: SLF001


class _Plain(Generic[V, T]):
    """A property that waits for nothing."""

    def __init__(self, prop: Callable[[V], T]) -> None:
        self._read = _getter(prop)

    @overload
    def __get__(self, view: None, owner: type) -> Self: ...
    @overload
    def __get__(self, view: AsyncView[V], owner: type) -> T: ...
    def __get__(self, view: AsyncView[V] | None, owner: type) -> Self | T:
        return self if view is None else self._read(view._view)  # noqa: SLF001


def _getter(prop: Callable[[V], T]) -> Callable[[V], T]:
    """Type checkers take a property of a class for its getter."""
    getter: Callable[[V], T] = cast("Any", prop).fget
    return getter


def _core(memory: AsyncMemory) -> Memory:
    return memory._memory  # noqa: SLF001  the façade is the other half of Memory


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
        view = Conversation(_core(memory), session, scope=scope, agent=agent, counter=counter)
        super().__init__(memory, view)

    session = _Plain(Conversation.session)
    scope = _Plain(Conversation.scope)
    agent = _Plain(Conversation.agent)
    summary = _Awaited(Conversation.summary)
    add = _hop(Conversation.add, _embed_given)
    extend = _hop(Conversation.extend, _embed_given)
    messages = _hop(Conversation.messages)
    records = _hop(Conversation.records)
    get = _hop(Conversation.get)
    window = _hop(Conversation.window)
    search = _hop(Conversation.search, _embed_query)
    containing = _hop(Conversation.containing)
    count = _hop(Conversation.count)
    pop = _hop(Conversation.pop)
    trim = _hop(Conversation.trim)
    summarise = _hop(Conversation.summarise)
    clear = _hop(Conversation.clear)
    export = _hop(Conversation.export)
    load = _hop(Conversation.load)


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
        view = Working(_core(memory), session=session, scope=scope, agent=agent, persist=persist)
        super().__init__(memory, view)

    task = _Awaited(Working.task)
    task_id = _Awaited(Working.task_id)
    goal = _Awaited(Working.goal)
    subgoals = _Awaited(Working.subgoals)
    results = _Awaited(Working.results)
    scratchpad = _Awaited(Working.scratchpad)
    variables = _Awaited(Working.variables)
    set_task = _hop(Working.set_task)
    set_goal = _hop(Working.set_goal)
    add_result = _hop(Working.add_result)
    result = _hop(Working.result)
    think = _hop(Working.think)
    set = _hop(Working.set)
    get = _hop(Working.get)
    push_goal = _hop(Working.push_goal)
    pop_goal = _hop(Working.pop_goal)
    update = _hop(Working.update)
    prompt = _hop(Working.prompt)
    clear = _hop(Working.clear)
    state = _hop(Working.state)
    load = _hop(Working.load)


class AsyncSemantic(AsyncView[Semantic]):
    """`Semantic` for asyncio."""

    def __init__(self, memory: AsyncMemory, *, scope: str = "default", agent: str | None = None) -> None:
        super().__init__(memory, Semantic(_core(memory), scope=scope, agent=agent))

    add = _hop(Semantic.add, _embed_given)
    get = _hop(Semantic.get)
    search = _hop(Semantic.search, _embed_query)
    similar = _hop(Semantic.similar, _embed_whole_query)
    all = _hop(Semantic.all)
    set_importance = _hop(Semantic.set_importance)
    forget = _hop(Semantic.forget)
    consolidate = _hop(Semantic.consolidate)
    count = _hop(Semantic.count)


class AsyncEpisodic(AsyncView[Episodic]):
    """`Episodic` for asyncio."""

    def __init__(self, memory: AsyncMemory, *, scope: str = "default", agent: str | None = None) -> None:
        super().__init__(memory, Episodic(_core(memory), scope=scope, agent=agent))

    record = _hop(Episodic.record)
    get = _hop(Episodic.get)
    similar = _hop(Episodic.similar, _embed_query)
    lessons = _hop(Episodic.lessons, _embed_query)
    before = _hop(Episodic.before)
    after = _hop(Episodic.after)
    around = _hop(Episodic.around)
    of_session = _hop(Episodic.of_session)
    forget = _hop(Episodic.forget)
    count = _hop(Episodic.count)


TWINS: Final = {
    Conversation: AsyncConversation,
    Episodic: AsyncEpisodic,
    Semantic: AsyncSemantic,
    Working: AsyncWorking,
}
