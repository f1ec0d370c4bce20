"""Routes that may take long: they take turns, and stop when the client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute

from ..serving import serving_of

LEFT: Final = 499  # what nobody reads; the log does


class LeavableRoute(APIRoute):
    """A question whose work ends when its client closes the connection. Few of them run at once."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def take_turn(request: Request) -> Response:
            async with serving_of(request).turns.questions:
                return await handle(request)

        async def watch(request: Request) -> Response:
            await request.body()  # what comes after it is that the client leaves
            return await answer_unless_left(request, take_turn(request))

        return watch


async def answer_unless_left(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The answer; if the client leaves first, the work is cancelled."""
    answering = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_until_left(request))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        return Response(status_code=LEFT)
    finally:
        leaving.cancel()
        answering.cancel()


async def _wait_until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
