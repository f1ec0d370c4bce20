"""Changes of a scope: page by page, and as server-sent events that resume where a client left off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from ...core.verb_table import VERBS
from ...memory.admin import AdminNamespace
from ...memory.feed import Change
from ..serving import Grant, Reads
from .replies import to_wire
from .routing import add_plain_verb, dump, errors

_BEAT: Final = 15.0  # seconds of silence after which a comment keeps the connection open
_EVENTS: Final = "text/event-stream"
_HEADERS: Final = {"Cache-Control": "no-store", "Content-Encoding": "identity"}  # nothing delays events


def add_to(router: APIRouter) -> None:
    add_plain_verb(router, "changes", VERBS["changes"], AdminNamespace, "admin", tags=["memory"])
    streamed: dict[str, Any] = {"description": "Events put, gone and reset.", "content": {_EVENTS: {}}}
    router.add_api_route(
        "/watch",
        _watch,
        name="watch",
        operation_id="watch",
        methods=["GET"],
        tags=["memory"],
        response_class=StreamingResponse,
        responses={**errors(), 200: streamed},
    )


async def _watch(
    grant: Reads,
    since: Annotated[
        int | None, Query(ge=0, description="The cursor of a change; 0: everything. Default: now.")
    ] = None,
    wait: Annotated[
        float | None, Query(ge=0, le=3600, description="End after so many seconds without a change.")
    ] = None,
    last_event_id: Annotated[
        int | None, Header(ge=0, description="The id of the last event, which browsers send by themselves.")
    ] = None,
) -> Response:
    """What changes in the scope, as server-sent events, until the client leaves. Their ids are cursors."""
    first = await grant.memory.admin.changes(scope=grant.single)
    start = last_event_id if last_event_id is not None else since
    events = _list_events(grant, first.cursor if start is None else start, wait)
    return StreamingResponse(events, media_type=_EVENTS, headers=_HEADERS)


async def _list_events(grant: Grant, cursor: int, wait: float | None) -> AsyncIterator[bytes]:
    yield f"id: {cursor}\n\n".encode()  # the cursor to resume from if no event follows
    while True:
        pause = _BEAT if wait is None else wait
        async for change in grant.memory.watch(scope=grant.single, since=cursor, wait=pause):
            cursor = change.cursor
            yield _tell_event(change)
        if wait is not None:
            return
        yield b": still here\n\n"


def _tell_event(change: Change) -> bytes:
    told = dump(to_wire(change))
    return f"id: {change.cursor}\nevent: {change.what}\ndata: ".encode() + told + b"\n\n"
