"""Access to mem0's API: a request has the scopes and rights of its key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Request

from ...core.scope import Scope
from ...integrations.extras import RisingTimes
from ...integrations.mem0.entities import Home
from ...integrations.mem0.mem0_verbs import Mem0Verbs
from ...integrations.mem0.memory_adding import MemoryAdding
from ..access import Caller, Right
from ..serving import Grant, Serving, caller_of, check_reach, check_rights, named_scope, serving_of

HOME: Final = "mem0"
T = TypeVar("T")


class Mem0Door:
    """Gives the verbs for a home. All requests share one clock, so that memories keep their order."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._times: RisingTimes | None = None

    def verbs(self, home: Home) -> Mem0Verbs:
        return Mem0Verbs(self._serving.memory.core, home)

    def adding(self, home: Home) -> MemoryAdding:
        memory = self._serving.memory.core
        if self._times is None:
            self._times = RisingTimes(memory.parts.clock)
        return MemoryAdding(memory, home, self._times)


def _choose_home(caller: Caller, named: str | None) -> Home:
    """The scope that a request names, or `mem0`; for a key that is not let in there, its own scope.

    A key for some users, such as `mem0/user/ann`, sees those.
    """
    if named is not None:
        scope = Scope.exactly(named)
        check_reach(caller, scope)
        return Home(scope.path)
    if caller.reaches(Scope(HOME)):
        return Home(HOME)
    inside = tuple(prefix for prefix in caller.scopes if prefix.startswith(f"{HOME}/"))
    return Home(HOME, inside) if inside else Home(f"{caller.scopes[0]}/{HOME}")


@dataclass(frozen=True, slots=True)
class Mem0Grant:
    """A caller who may do what a route does, and the verbs for what it may see."""

    grant: Grant
    verbs: Mem0Verbs
    adding: MemoryAdding

    @property
    def home(self) -> Home:
        return self.verbs.home

    async def run(self, call: Callable[[], T]) -> T:
        """Makes a call in a thread of the memory, in the name of the caller."""
        return await self.grant.memory.threads.run(call)

    async def search(self, call: Callable[[], T]) -> T:
        """Runs a search when its turn comes."""
        async with self.grant.serving.turns.search(self.grant.memory):
            return await self.run(call)


def _needs_in_mem0(*rights: Right) -> Callable[..., Awaitable[Mem0Grant]]:
    """A dependency: the caller has these rights; without any, a valid key suffices."""

    async def grant(request: Request) -> Mem0Grant:
        caller, serving = caller_of(request), serving_of(request)
        check_rights(caller, *rights)
        home = _choose_home(caller, named_scope(request))
        door = request.app.state.mem0
        assert isinstance(door, Mem0Door)
        return Mem0Grant(Grant(caller, serving, Scope(home.path)), door.verbs(home), door.adding(home))

    return grant


Enters = Annotated[Mem0Grant, Depends(_needs_in_mem0())]
ReadsMem0 = Annotated[Mem0Grant, Depends(_needs_in_mem0(Right.READ))]
WritesMem0 = Annotated[Mem0Grant, Depends(_needs_in_mem0(Right.WRITE))]
ForgetsMem0 = Annotated[Mem0Grant, Depends(_needs_in_mem0(Right.FORGET))]
