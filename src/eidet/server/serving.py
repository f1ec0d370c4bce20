"""The state that routes share (memory, keys, settings), and the grants of callers as dependencies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal

from fastapi import Depends, Query, Request, Security
from fastapi.security import HTTPBearer
from pydantic import WithJsonSchema

from ..aio import AsyncMemory
from ..core.errors import BadInput
from ..core.scope import ALL, Scope
from ..models.embed import is_costly
from .access import Caller, KeyRing, Right
from .errors import Problem, make_not_found, make_unavailable
from .server_settings import ServerSettings

LOCAL_SEARCHES, REMOTE_SEARCHES = 2, 8
QUESTIONS: Final = 2  # about facts at once; each may keep a processor busy for seconds
# What the middleware keeps in the ASGI scope of a request.
CALLER, REQUEST_ID, STATUS = "eidet.caller", "eidet.request_id", "eidet.status"
_BEARER: Final = HTTPBearer(
    auto_error=False, description="A key of the keys file; none is needed without one."
)

ScopeNames = Annotated[
    list[str] | None,
    WithJsonSchema(
        {"type": "array", "items": {"type": "string"}}
    ),  # a client leaves it out rather than send null
    Query(
        description="Whose memory, such as acme/ann; acme/** is acme and all below. Verbs that read take "
        "several: scope=a&scope=b. Default: default, or the first scope of a key that may not enter it."
    ),
]


class _Turns:
    """Limits how many searches run at once; more would slow each other and the event loop."""

    def __init__(self) -> None:
        self._searches: asyncio.Semaphore | None = None
        self.questions: asyncio.Semaphore = asyncio.Semaphore(QUESTIONS)

    def search(self, memory: AsyncMemory) -> asyncio.Semaphore:
        """Returns the semaphore of searches; more may run if they wait for a database or a model."""
        if self._searches is None:
            most = REMOTE_SEARCHES
            if memory.parts.has_embedded_index and not is_costly(memory.parts.embedder):
                most = LOCAL_SEARCHES
            self._searches = asyncio.Semaphore(most)
        return self._searches


_PROBE_SECONDS: Final = 1.5  # probes usually time out after two


class _Readiness:
    """Readiness of the memory. While a query to the store hangs, later probes wait for the same one."""

    def __init__(self) -> None:
        self._asking: asyncio.Task[int] | None = None

    async def check(self, memory: AsyncMemory) -> None:
        """Returns if the memory answers; raises 503 if it fails or does not answer in time."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(memory.count(scope="default", who="nobody in particular"))
            self._asking.add_done_callback(_take_note)
        try:
            await asyncio.wait_for(asyncio.shield(self._asking), _PROBE_SECONDS)
        except TimeoutError:
            raise make_unavailable() from None


def _take_note(asked: asyncio.Task[int]) -> None:
    """Retrieves an error that follows the answer to a probe, so that asyncio does not warn of it."""
    if not asked.cancelled():
        asked.exception()


@dataclass(frozen=True, slots=True)
class Serving:
    """State that the routes of one app share, in `app.state.serving`.

    A service that runs beside the app (a session manager, a watcher) adds a context manager to
    `lifespans`: the app enters each when it starts and leaves it when it stops.
    """

    memory: AsyncMemory
    keys: KeyRing
    settings: ServerSettings
    lifespans: list[Callable[[], AbstractAsyncContextManager[Any]]] = field(default_factory=list)
    turns: _Turns = field(default_factory=_Turns)
    readiness: _Readiness = field(default_factory=_Readiness)


@dataclass(frozen=True, slots=True)
class Grant:
    """A caller with the rights of a route, in the scope that a request names or implies."""

    caller: Caller
    serving: Serving
    reach: Scope | None  # None for every scope, and for routes that work in none
    named: bool = True  # whether the request names the scope; else it is the caller's home

    @property
    def memory(self) -> AsyncMemory:
        return self.serving.memory

    @property
    def scope(self) -> Scope:
        assert self.reach is not None
        return self.reach

    @property
    def reads(self) -> bool:
        """Whether the caller may see content; others see ids and versions only."""
        return self.caller.may(Right.READ)

    @property
    def single(self) -> str:
        """The path of the scope; raises `BadInput` if it covers several."""
        if not self.scope.is_one:
            raise BadInput(f"this needs one scope, not {self.scope}, which names several")
        return self.scope.path


def serving_of(request: Request) -> Serving:
    serving = request.app.state.serving
    assert isinstance(serving, Serving)
    return serving


def caller_of(request: Request) -> Caller:
    """Returns the caller that `AccessMiddleware` let in; raises 401 without a key if one is needed."""
    caller = request.scope.get(CALLER)
    if not isinstance(caller, Caller):
        raise make_unauthorized()
    return caller


def make_unauthorized() -> Problem:
    return Problem(
        401,
        "unauthorized",
        "this server needs a key, and the request has none that is valid",
        hint="send the header Authorization: Bearer KEY; `eidet keys api NAME` makes a key",
        headers={"WWW-Authenticate": "Bearer"},
    )


def check_rights(caller: Caller, *rights: Right) -> None:
    """Raises 403 if the caller's key lacks one of these rights."""
    for right in rights:
        if not caller.may(right):
            raise Problem(
                403,
                "no_right",
                f"the key {caller.name!r} does not have the right {right.value!r}",
                hint="whoever runs the server can add it in the keys file",
            )


def check_reach(caller: Caller, scope: Scope) -> None:
    """Raises 404 if one of the scopes is not the caller's, whether it exists or not."""
    if not caller.reaches(scope):
        raise make_not_found()


def needs(
    *rights: Right, scopes: Literal["one", "several", "one or all", "none"] = "one"
) -> Callable[..., Awaitable[Grant]]:
    """Makes a dependency that checks rights in the scopes that the request names.

    "one or all": `**` means every scope, if the key reaches all.
    """

    async def admit(request: Request) -> Grant:
        caller = caller_of(request)
        check_rights(caller, *rights)
        return Grant(caller, serving_of(request), None)

    async def admit_to(request: Request, scope: ScopeNames = None) -> Grant:
        everywhere = await admit(request)
        caller = everywhere.caller
        if scopes == "one or all" and scope == [ALL]:
            if not caller.sees_all:
                raise make_not_found()
            return everywhere
        named = scope or [caller.choose_home()]
        single = len(named) == 1  # `Scope.of` refuses a list
        chosen = Scope.among(named) if scopes == "several" else Scope.of(named[0] if single else named)
        check_reach(caller, chosen)
        return replace(everywhere, reach=chosen, named=scope is not None)

    return admit if scopes == "none" else admit_to


Secured = Security(_BEARER)  # documents that routes take a key; `AccessMiddleware` checks it
Reads = Annotated[Grant, Depends(needs(Right.READ))]
ReadsScopes = Annotated[Grant, Depends(needs(Right.READ, scopes="several"))]
Writes = Annotated[Grant, Depends(needs(Right.WRITE))]
Forgets = Annotated[Grant, Depends(needs(Right.FORGET))]
Administers = Annotated[Grant, Depends(needs(Right.ADMIN))]
ReadsWidely = Annotated[Grant, Depends(needs(Right.READ, scopes="one or all"))]
AdministersWidely = Annotated[Grant, Depends(needs(Right.ADMIN, scopes="one or all"))]
Exports = Annotated[Grant, Depends(needs(Right.ADMIN, Right.READ))]  # an export holds texts
ExportsWidely = Annotated[Grant, Depends(needs(Right.ADMIN, Right.READ, scopes="one or all"))]
ReadsAnywhere = Annotated[Grant, Depends(needs(Right.READ, scopes="none"))]
AdministersAnywhere = Annotated[Grant, Depends(needs(Right.ADMIN, scopes="none"))]
