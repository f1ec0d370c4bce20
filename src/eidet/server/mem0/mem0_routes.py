"""The routes of mem0's platform that its client asks: each turns a request into one verb."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import AfterValidator

from ...core.errors import BadInput, NotFound
from ...core.record import Record
from ...core.validate import dump_json
from ...integrations.mem0.entities import NAMES, Entities
from ...integrations.mem0.mem0_config import check_query
from ...integrations.mem0.mem0_filters import ANY, parse_time
from ...integrations.mem0.mem0_items import parse_messages, tell_hit, tell_memory
from ..errors import Problem
from ..rest.bodies import check_records
from .mem0_access import Enters, ForgetsMem0, Mem0Grant, ReadsMem0, WritesMem0
from .mem0_bodies import (
    AddBody,
    BatchDeleteBody,
    BatchUpdateBody,
    JudgementBody,
    ListBody,
    SearchBody,
    UpdateBody,
    parse_entities,
)

_ORG: Final = "eidet"
_BLANK: Final[dict[str, Any]] = {**dict.fromkeys(NAMES), "expiration_date": None, "categories": []}
_ALWAYS: Final = ("id", "memory", "score")  # told whichever fields are asked for
MemoryId = Annotated[str, Path(alias="id"), AfterValidator(unquote)]
_EntityName = Annotated[str, Path(alias="name"), AfterValidator(unquote)]
_EntityType = Annotated[Literal["user", "agent", "app", "run"], Path(alias="type")]
Route = Callable[..., Any]


def add_to(router: APIRouter) -> None:
    for method, path, run in ROUTES:
        router.add_api_route(path, run, methods=[method])
    for path in NOT_OFFERED:
        router.add_api_route(path, _refuse, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])


def _respond(told: Any) -> Response:
    return Response(dump_json(told).encode(), media_type="application/json")


async def _ping(access: Enters) -> Response:
    """Tells whether a key is valid. mem0's organisation and project are the server and the key's scope."""
    content = {"status": "ok", "org_id": _ORG, "project_id": access.home.path, "user_email": None}
    return _respond(content)


async def _add(body: AddBody, access: WritesMem0) -> Response:
    """Remembers messages as they are."""
    turns, adding = parse_messages(body.messages), access.adding
    check_records(access.grant, len(turns), "messages")
    writing = body.parse(adding.memory.parts.clock())
    at = None if body.timestamp is None else parse_time(body.timestamp, "timestamp")
    return _respond({"results": await access.run(lambda: adding.add(turns, writing, at=at))})


async def _search(body: SearchBody, access: ReadsMem0) -> Response:
    """Searches memories, best first."""
    check_records(access.grant, body.top_k, "top_k")
    selection = access.verbs.select(body.join_filters(), show_expired=body.show_expired)
    query, at = check_query(body.query), body.reference_date
    now = None if at is None else parse_time(at, "reference_date")
    hits = await access.search(
        lambda: access.verbs.search(query, selection, limit=body.top_k, least=body.threshold, now=now)
    )
    wanted = (hit for hit in hits if not body.latest_only or hit.superseded_by is None)
    items = [{**_BLANK, **tell_hit(hit, access.home)} for hit in wanted]
    if body.fields:
        kept = {*body.fields, *_ALWAYS}
        items = [{name: item[name] for name in item if name in kept} for item in items]
    return _respond({"results": items})


async def _list_memories(
    request: Request,
    body: ListBody,
    access: ReadsMem0,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    page_size: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> Response:
    """A page of memories, the newest first, and how many there are in all."""
    check_records(access.grant, page_size, "page_size")
    selection = access.verbs.select(body.join_filters(), show_expired=body.show_expired)
    offset = (page - 1) * page_size
    count = await access.run(lambda: access.verbs.count(selection))
    records = await access.run(lambda: access.verbs.list_memories(selection, limit=page_size, offset=offset))

    def link(number: int) -> str:
        return str(request.url.include_query_params(page=number, page_size=page_size))

    told = {
        "count": count,
        "next": link(page + 1) if offset + len(records) < count else None,
        "previous": link(page - 1) if page > 1 else None,
        "results": [_tell(record, access) for record in records],
    }
    return _respond(told)


def _tell(record: Record, access: Mem0Grant) -> dict[str, Any]:
    return {**_BLANK, **tell_memory(record, access.home)}


async def _get_one(id: MemoryId, access: ReadsMem0) -> Response:
    """A memory as tools return it."""
    return _respond(_tell(await access.run(lambda: access.verbs.get(id)), access))


async def _update(id: MemoryId, body: UpdateBody, access: WritesMem0) -> Response:
    """The next version of a memory."""
    change = body.parse()
    updated = await access.run(lambda: access.verbs.update(id, change))
    return _respond(_tell(access.grant.caller.view(updated), access))


async def _delete(id: MemoryId, access: ForgetsMem0) -> Response:
    """Deletes a memory."""
    await access.run(lambda: access.verbs.delete([id]))
    return _respond({"message": "Memory deleted successfully!"})


async def _history(id: MemoryId, access: ReadsMem0) -> Response:
    """The history of a memory, oldest first."""
    return _respond(await access.run(lambda: access.verbs.history(id)))


async def _delete_all(
    access: ForgetsMem0,
    user_id: str | None = None,
    agent_id: str | None = None,
    app_id: str | None = None,
    run_id: str | None = None,
    filters: str | None = None,
) -> Response:
    """Deletes what belongs to the entities that are named; `*` is every one of a type."""
    given = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "run_id": run_id}
    named = _parse_written(filters) | {name: id for name, id in given.items() if id is not None}
    wide = [name for name in NAMES if named.get(name) == ANY]
    if not wide:
        entities = parse_entities(named)
        await access.run(lambda: access.verbs.delete_all(entities))
    elif len(wide) == len([name for name in NAMES if named.get(name) is not None]):
        await access.run(lambda: access.verbs.delete_everyone(wide))
    else:
        raise BadInput("`*` cannot be joined with the name of another entity")
    return _respond({"message": "Memories deleted successfully!"})


def _parse_written(filters: str | None) -> dict[str, Any]:
    """Filters that stand in a query: as JSON, or as mem0's client writes a dict there."""
    if filters is None:
        return {}
    for read in (json.loads, ast.literal_eval):
        try:
            written = read(filters)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(written, dict):
            return written
    raise BadInput("filters must be a dict")


async def _list_entities(access: ReadsMem0) -> Response:
    """The users, agents, apps and runs that have memories."""
    found = await access.run(access.verbs.list_entities)
    return _respond({"count": len(found), "next": None, "previous": None, "results": found})


async def _delete_entity(type: _EntityType, name: _EntityName, access: ForgetsMem0) -> Response:
    """Deletes all memories of a user, agent, app or run.

    404 for a user without memories. An agent, app or run may have lost them with a user just before.
    """
    entities: Entities = parse_entities({f"{type}_id": name})
    count = await access.run(lambda: access.verbs.delete_all(entities))
    if type == "user" and not count:
        raise NotFound(f"there is no user {name!r}")
    return _respond({"message": "Entity deleted successfully!"})


async def _update_many(body: BatchUpdateBody, access: WritesMem0) -> Response:
    """Changes memories one by one, if all of them are there."""
    check_records(access.grant, len(body.memories), "memories")
    changes = [(one.memory_id, one.parse()) for one in body.memories]
    await access.run(lambda: access.verbs.update_many(changes))
    return _respond({"message": f"Successfully updated {len(changes)} memories"})


async def _delete_many(body: BatchDeleteBody, access: ForgetsMem0) -> Response:
    """Deletes memories, if all of them are there."""
    check_records(access.grant, len(body.memories), "memories")
    ids = [one.memory_id for one in body.memories]
    await access.run(lambda: access.verbs.delete(ids))
    return _respond({"message": f"Successfully deleted {len(ids)} memories"})


async def _judge(body: JudgementBody, access: WritesMem0) -> Response:
    """Says whether a memory was useful. Only counted."""
    useful = None if body.feedback is None else body.feedback == "POSITIVE"
    await access.run(lambda: access.verbs.judge(body.memory_id, useful))
    return _respond({"message": "Feedback noted.", **body.model_dump()})


async def _get_project(access: ReadsMem0) -> Response:
    """The one project that a key has; it has no settings."""
    home = access.home.path
    project = {"id": home, "name": home, "custom_instructions": None, "custom_categories": None}
    return _respond(project)


async def _refuse(_access: Enters) -> Response:
    """Refuses the parts of the API that need mem0's platform."""
    raise Problem(
        501,
        "not_offered",
        "Eidet does not offer this part of mem0's API",
        hint="docs/integrations/mem0.md lists what there is",
    )


_PROJECT: Final = "/api/v1/orgs/organizations/{org}/projects/{project}/"
ROUTES: Final[tuple[tuple[str, str, Route], ...]] = (
    ("GET", "/v1/ping/", _ping),
    ("POST", "/v3/memories/add/", _add),
    ("POST", "/v3/memories/search/", _search),
    ("POST", "/v3/memories/", _list_memories),
    ("GET", "/v1/memories/{id}/history/", _history),
    ("GET", "/v1/memories/{id}/", _get_one),
    ("PUT", "/v1/memories/{id}/", _update),
    ("DELETE", "/v1/memories/{id}/", _delete),
    ("DELETE", "/v1/memories/", _delete_all),
    ("GET", "/v1/entities/", _list_entities),
    ("DELETE", "/v2/entities/{type}/{name}/", _delete_entity),
    ("PUT", "/v1/batch/", _update_many),
    ("DELETE", "/v1/batch/", _delete_many),
    ("POST", "/v1/feedback/", _judge),
    ("GET", _PROJECT, _get_project),
)
NOT_OFFERED: Final = (
    "/v1/exports/{rest:path}",
    "/v1/summary/",
    "/v2/profiles/{rest:path}",
    "/v2/entities/{type}/{name}/profile/",
    "/api/v1/webhooks/{rest:path}",
    "/api/v1/orgs/{rest:path}",
)
