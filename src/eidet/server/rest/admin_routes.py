"""Scopes, figures, health in detail, and whole memories on their way out and in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from ...core.errors import Corrupt
from ...core.scope import ALL, Scope
from ..access import Caller
from ..errors import Problem
from ..serving import (
    AdministersAnywhere,
    AdministersWidely,
    ExportsWidely,
    Reads,
    ReadsAnywhere,
    ReadsWidely,
    Serving,
)
from .drafts import check_records
from .replies import CountReply, ScopesReply, SessionsReply
from .respond import answer, errors
from .temporary_files import make_file, receive_upload

TAGS: Final[list[Any]] = ["memory"]
PIECE: Final = 1 << 16
LINES: Final = "application/x-ndjson"
OF_THE_SERVER: Final = ("store_bytes", "index", "stores", "embedder", "language")


class Figures(BaseModel):
    """Counts by kind and tier, sizes, and how recalls went."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    records: int
    scopes: int
    kinds: dict[str, int]
    tiers: dict[str, int]
    quarantined: int


class HealthReport(BaseModel):
    """How the servers do that the memory stands on."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    state: str = Field(description="up, degraded or down")


def add_to(router: APIRouter) -> None:
    router.get("/scopes", tags=TAGS, operation_id="scopes", response_model=ScopesReply, responses=errors())(
        scopes
    )
    router.get(
        "/sessions", tags=TAGS, operation_id="sessions", response_model=SessionsReply, responses=errors()
    )(sessions)
    router.get("/stats", tags=TAGS, operation_id="stats", response_model=Figures, responses=errors())(stats)
    router.get(
        "/health", tags=["health"], operation_id="health", response_model=HealthReport, responses=errors()
    )(health)
    upload = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    lines = {LINES: {"schema": {"type": "string", "format": "binary"}}}
    router.get(
        "/export",
        tags=TAGS,
        operation_id="export",
        response_class=StreamingResponse,
        responses={**errors(), 200: {"description": "An export, as JSON lines.", "content": lines}},
    )(export)
    router.post(
        "/load",
        tags=TAGS,
        operation_id="load",
        response_model=CountReply,
        responses=errors({409: "Somebody else kept changing the records."}),
        openapi_extra={"requestBody": {"required": True, "content": upload}},
    )(load)


async def scopes(
    grant: ReadsAnywhere,
    under: Annotated[
        str | None, Query(max_length=1000, description="Only this scope and those below.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    cursor: Annotated[str | None, Query(max_length=1000, description="From the page before.")] = None,
) -> Response:
    """The scopes that hold memories, with how many, as far as the key reaches."""
    if under is not None:
        Scope.exactly(under)
    counts: dict[str, int] = {}
    for prefix in _reachable(grant.caller, under):
        counts |= await grant.memory.scopes(prefix)
    names = sorted(name for name in counts if cursor is None or name > cursor)
    page = names[:limit]
    rows = [{"scope": name, "records": counts[name]} for name in page]
    following = None
    if len(names) > limit:
        following = page[-1]
    return await answer(grant.serving, lambda: {"scopes": rows, "cursor": following}, size=len(rows))


def _reachable(caller: Caller, under: str | None) -> list[str | None]:
    """The prefixes to list: those of the caller, or those below what is asked for."""
    if caller.sees_all:
        return [under]
    if under is None:
        return [prefix for prefix in caller.scopes if prefix != ALL]
    inside: list[str | None] = []
    for prefix in caller.scopes:
        if f"{under}/".startswith(f"{prefix}/"):
            return [under]
        if prefix.startswith(f"{under}/"):
            inside.append(prefix)
    return inside


async def sessions(grant: Reads, limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> Response:
    """The sessions of the scope, those that were active last first, each with its first words."""
    check_records(grant, limit, "limit")
    found = await grant.memory.admin.sessions(grant.scope, limit=limit)
    return await answer(
        grant.serving, lambda: {"sessions": [one.to_dict() for one in found]}, size=len(found)
    )


async def stats(grant: ReadsWidely) -> Response:
    """Figures of the scope; `**` means all. What concerns the whole server is for keys that see all."""
    found = await grant.memory.admin.stats(grant.scope)
    if not grant.caller.sees_all:
        for name in OF_THE_SERVER:
            found.pop(name, None)
    return await answer(grant.serving, lambda: found)


async def health(grant: AdministersAnywhere) -> Response:
    """How the servers do that the memory stands on; a key of some scopes learns the state, no more."""
    found = await grant.memory.admin.health()
    if not grant.caller.sees_all:
        found = {"state": found["state"]}
    return await answer(grant.serving, lambda: found)


async def export(
    grant: ExportsWidely,
    plain: Annotated[bool, Query(description="Open what a sealed memory keeps sealed.")] = False,
) -> Response:
    """Every memory of the scope as JSON lines, losslessly; `**` means all scopes."""
    file = await grant.memory.threads.run(make_file)
    try:
        await grant.memory.export(file, scope=grant.scope, plain=plain)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return StreamingResponse(
        read_pieces(grant.serving, file),
        media_type=LINES,
        headers={"Content-Disposition": 'attachment; filename="eidet.jsonl"'},
    )


async def read_pieces(serving: Serving, file: Path) -> AsyncIterator[bytes]:
    """What is in a file, which is removed then."""
    run = serving.memory.threads.run
    source = await run(lambda: file.open("rb"))
    try:
        while piece := await run(lambda: source.read(PIECE)):
            yield piece
    finally:
        source.close()
        await run(lambda: file.unlink(missing_ok=True))


async def load(
    request: Request,
    grant: AdministersWidely,
    unverified: Annotated[bool, Query(description="A sealed memory takes any export.")] = False,
) -> Response:
    """Reads an export into the scopes that its records name; with a scope, only the records of that one.

    If one line is damaged, nothing is loaded.
    """
    upload = await receive_upload(request, grant.serving)
    try:
        count = await grant.memory.load(upload.path, scope=grant.scope, unverified=unverified)
    except Corrupt as error:
        message = str(error).replace(str(upload.path), "the upload")
        raise Problem(422, "damaged_export", message, field="body") from None
    finally:
        await grant.memory.threads.run(upload.remove)
    return await answer(grant.serving, lambda: {"count": count})
