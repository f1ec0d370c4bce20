"""Answers as bytes, made in a thread where they are large, so that the loop goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import Response
from pydantic_core import to_json

from ..errors import ErrorBody
from ..serving import Serving

MANY: Final = 20  # records; more of them are told in a thread
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
    """The errors that every route declares, and those of one route."""
    responses: dict[int | str, dict[str, Any]] = {}
    for status, text in (_ERRORS | dict(more or {})).items():
        responses[status] = {"model": ErrorBody, "description": text}
    return responses


async def answer(
    serving: Serving,
    tell: Callable[[], Mapping[str, Any]],
    *,
    size: int = 1,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """JSON of what `tell` says; `size` is how many records that is about."""
    if size > MANY:
        content = await serving.memory.threads.run(lambda: dump(tell()))
    else:
        content = dump(tell())
    return respond(content, status=status, headers=headers)


def dump(told: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8."""
    return to_json(told, inf_nan_mode="null")


def respond(content: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that is JSON already."""
    return Response(content, status, headers, media_type="application/json")
