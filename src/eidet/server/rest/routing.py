"""Makes routes from the table of verbs, sends answers, and lists the errors that every route declares."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Annotated, Any, Final, get_args

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import to_json

from ...core.verb_table import Verb
from ..access import Right
from ..errors import ErrorBody
from ..serving import Grant, Serving, needs, serving_of
from .bodies import make_body

Handler = Callable[..., Coroutine[Any, Any, Response]]

MANY: Final = 20  # records; a larger answer is written in a thread
_CLIENT_LEFT: Final = 499  # for the log only: the client is gone
_ERRORS: Final = {
    400: "The Host header is missing, doubled or malformed.",
    401: "There is no valid key.",
    403: "The key lacks the right, a policy refuses, or the page is foreign.",
    404: "There is no such memory, or its scope is not the key's.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    421: "The server does not go by this host name.",
    422: "The request is not valid; `field` names what is wrong.",
    429: "The key asks too often; Retry-After says when to go on.",
    500: "The server failed.",
    503: "The memory cannot be reached; Retry-After says when to try again.",
}


def errors(more: Mapping[int, str] | None = None) -> dict[int | str, dict[str, Any]]:
    """Returns the errors that every route declares, and those of one route."""
    told = _ERRORS | dict(more or {})
    return {status: {"model": ErrorBody, "description": text} for status, text in told.items()}


def add_verb(
    router: APIRouter,
    name: str,
    verb: Verb,
    run: Handler,
    *,
    route: type[APIRoute] = APIRoute,
    **declared: Any,
) -> None:
    """Adds `POST /name` for a verb. `run` gets the body that the table describes as `body`, and a `grant`.

    A body without required fields may be absent.
    """
    operation, title = name.replace("/", "_"), "".join(part.capitalize() for part in name.split("/"))
    model = make_body(f"{title}Body", verb.about, verb.arguments)
    required = any(argument.default is ... for argument in verb.arguments.values())
    shape = model if required else model | None
    admit = needs(*map(Right, verb.rights), scopes="several" if verb.rights == ("read",) else "one")

    @wraps(run)
    async def run_with_body(**given: Any) -> Response:
        body = given.pop("body", None)
        return await run(body=model() if body is None else body, **given)

    grant = Annotated[Grant, Depends(admit)]
    router.add_api_route(
        f"/{name}",
        declare(run_with_body, grant=grant, body=shape if verb.arguments else None),
        name=operation,
        methods=["POST"],
        operation_id=operation,
        description=verb.about,
        route_class_override=route,
        **({"responses": errors()} | declared),
    )


def declare(run: Handler, **types: Any) -> Handler:
    """Returns the handler with types of parameters for FastAPI to read; None removes a parameter."""
    signature = inspect.signature(run, eval_str=True)
    parameters = []
    for name, one in signature.parameters.items():
        kind = types.get(name, one.annotation)
        if kind is not None:
            default = None if type(None) in get_args(kind) else one.default
            parameters.append(
                one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            )

    @wraps(run)
    async def endpoint(**given: Any) -> Response:
        return await run(**given)

    endpoint.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return endpoint


async def answer(
    serving: Serving,
    tell: Callable[[], Mapping[str, Any]],
    *,
    size: int = 1,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Returns a response with the JSON of `tell`, made in a thread if `size` (records) exceeds `MANY`."""
    if size > MANY:
        content = await serving.memory.threads.run(lambda: dump(tell()))
    else:
        content = dump(tell())
    return respond(content, status=status, headers=headers)


def dump(told: Mapping[str, Any]) -> bytes:
    """Encodes a value as JSON in UTF-8; infinity and NaN become null."""
    return to_json(told, inf_nan_mode="null")


def respond(content: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Makes a response of content that is JSON already."""
    return Response(content, status, headers, media_type="application/json")


class LeavableRoute(APIRoute):
    """A route whose work is cancelled when its client disconnects; few of its requests run at once."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def take_turn(request: Request) -> Response:
            async with serving_of(request).turns.questions:
                return await handle(request)

        async def watch(request: Request) -> Response:
            await request.body()  # so that the next message is the disconnect
            return await _answer_unless_left(request, take_turn(request))

        return watch


async def _answer_unless_left(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """Returns the answer; cancels the work if the client disconnects first."""
    answering = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_until_left(request))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        return answering.result() if answering.done() else Response(status_code=_CLIENT_LEFT)
    finally:
        leaving.cancel()
        answering.cancel()


async def _wait_until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
