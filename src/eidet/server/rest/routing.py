"""Makes routes from the table of verbs, sends answers, and lists the errors that every route declares."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Annotated, Any, Final, get_args, get_type_hints

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute
from pydantic import create_model
from pydantic_core import to_json

from ...core.record import Record
from ...core.verb_table import Verb
from ..access import Right
from ..errors import ErrorBody
from ..serving import Grant, Serving, needs, serving_of
from .bodies import check_records, make_body, to_arguments
from .replies import reply_type, to_wire

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
        **({"responses": errors()} | declared),
    )


class LeavableRoute(APIRoute):
    """A route whose work is cancelled when its client disconnects; few of its requests run at once.

    Each may keep a processor busy for seconds.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def take_turn(request: Request) -> Response:
            async with serving_of(request).turns.questions:
                return await handle(request)

        async def handle_unless_left(request: Request) -> Response:
            await request.body()  # so that the next message is the disconnect
            answering = asyncio.ensure_future(take_turn(request))
            leaving = asyncio.ensure_future(request.receive())
            try:
                await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
                return answering.result() if answering.done() else Response(status_code=_CLIENT_LEFT)
            finally:
                leaving.cancel()
                answering.cancel()

        return handle_unless_left


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


def add_plain_verb(
    router: APIRouter,
    path: str,
    verb: Verb,
    owner: type,
    namespace: str | None,
    *,
    reply: Any = None,
    **declared: Any,
) -> None:
    """Adds `POST /path` for a verb whose answer is what the method of `owner` of that name returns."""
    name = path.rpartition("/")[2]
    method = getattr(owner, name)

    async def run(body: Any, grant: Grant) -> Response:
        if "limit" in verb.arguments:
            check_records(grant, body.limit, "limit")
        given = to_arguments(body)
        args, keywords = _arrange(verb, method, given)
        space = grant.memory if namespace is None else getattr(grant.memory, namespace)
        scope = grant.scope if verb.rights == ("read",) else grant.single
        found = await getattr(space, name)(*args, **keywords, scope=scope)
        if isinstance(found, Record):
            found = grant.caller.view(found)
        told = given["id"] if found is None else found
        return await answer(
            grant.serving,
            lambda: {verb.answer: to_wire(told)} if verb.answer else to_wire(told),
            size=len(told) if isinstance(told, list) else 1,
        )

    add_verb(router, path, verb, run, response_model=reply or _reply_of(path, verb, method), **declared)


def _reply_of(path: str, verb: Verb, method: Any) -> Any:
    """Builds the model of an answer from the return type of the method."""
    returned = get_type_hints(method)["return"]
    shape = reply_type(str if returned is type(None) else returned)
    if not verb.answer:
        return shape
    fields: dict[str, Any] = {verb.answer: (shape, ...)}
    return create_model("".join(part.capitalize() for part in path.split("/")) + "Reply", **fields)


def _arrange(verb: Verb, method: Any, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Splits the fields of a request into positional and keyword arguments of a method."""
    args, left = [], dict(given)
    for name, parameter in inspect.signature(method).parameters.items():
        sent = verb.renamed.get(name, name)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args += left.pop(sent, ())
        elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY and sent in left:
            args.append(left.pop(sent))
    return args, left


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
