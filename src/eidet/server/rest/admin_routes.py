"""Routes for scopes, statistics, health, export and load, with the temporary files that they need."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.background import BackgroundTask

from ...core.errors import Corrupt
from ...core.private_files import machine_prefix, remove_leftovers
from ...core.scope import Scope
from ...memory.feed import tell_webhooks
from ..errors import ErrorBody, Problem
from ..serving import (
    AdministersAnywhere,
    AdministersWidely,
    ExportsWidely,
    ReadsAnywhere,
    ReadsScopes,
    ReadsWidely,
    Serving,
    serving_of,
)
from .bodies import check_records
from .replies import CountReply, ScopesReply, SessionsReply
from .routing import Handler, answer, errors

TAGS: Final[list[Any]] = ["memory"]
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
    """The health of the servers that the memory depends on."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    state: str = Field(description="up, degraded or down")


def add_to(router: APIRouter) -> None:
    binary = {"schema": {"type": "string", "format": "binary"}}
    exported = {200: {"description": "An export, as JSON lines.", "content": {LINES: binary}}}
    upload = {"requestBody": {"required": True, "content": {"application/octet-stream": binary}}}
    changing = errors({409: "Somebody else kept changing the records."})
    _add(router, "scopes", _scopes, response_model=ScopesReply)
    _add(router, "sessions", _sessions, response_model=SessionsReply)
    _add(router, "stats", _stats, response_model=Figures)
    _add(router, "health", _health, tags=["health"], response_model=HealthReport)
    _add(router, "export", _export, response_class=FileResponse, responses={**errors(), **exported})
    _add(
        router,
        "load",
        _load,
        methods=["POST"],
        response_model=CountReply,
        responses=changing,
        openapi_extra=upload,
    )


def _add(router: APIRouter, name: str, run: Handler, **declared: Any) -> None:
    """Adds `/name`, by default a GET."""
    described = {"tags": TAGS, "methods": ["GET"], "responses": errors()} | declared
    router.add_api_route(f"/{name}", run, name=name, operation_id=name, **described)


async def _scopes(
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
    for prefix in [under] if grant.caller.sees_all else grant.caller.scopes:
        counts |= await grant.memory.scopes(prefix)
    within = None if under is None else Scope.under(under)
    names = sorted(name for name in counts if within is None or within.holds(name))
    names = [name for name in names if cursor is None or name > cursor]
    page = names[:limit]
    rows = [{"scope": name, "records": counts[name]} for name in page]
    following = page[-1] if len(names) > limit else None
    return await answer(grant.serving, lambda: {"scopes": rows, "cursor": following}, size=len(rows))


async def _sessions(grant: ReadsScopes, limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> Response:
    """The sessions of the scope, those that were active last first, each with its first words."""
    check_records(grant, limit, "limit")
    found = await grant.memory.admin.sessions(grant.scope, limit=limit)
    return await answer(
        grant.serving, lambda: {"sessions": [one.to_dict() for one in found]}, size=len(found)
    )


async def _stats(grant: ReadsWidely) -> Response:
    """Figures of the scope; `**` means all. What concerns the whole server is for keys that see all."""
    found = await grant.memory.admin.stats(grant.reach)
    if not grant.caller.sees_all:
        for name in OF_THE_SERVER:
            found.pop(name, None)
    return await answer(grant.serving, lambda: found)


async def _health(grant: AdministersAnywhere) -> Response:
    """The health of the servers that the memory depends on; a key of some scopes gets the state only."""
    found = await grant.memory.admin.health()
    wanted = [hook.name for hook in grant.serving.settings.webhooks]
    if wanted and found["state"] != "down":
        told = await grant.memory.threads.run(lambda: tell_webhooks(grant.memory.parts.store))
        found["webhooks"] = {name: told[name] for name in wanted}
        if any(told[name]["state"] != "up" for name in wanted):
            found["state"] = "degraded"
    if not grant.caller.sees_all:
        found = {"state": found["state"]}
    return await answer(grant.serving, lambda: found)


async def _export(
    grant: ExportsWidely,
    plain: Annotated[bool, Query(description="Needed for a sealed memory: an export is not sealed.")] = False,
) -> Response:
    """Every memory of the scope as JSON lines, losslessly; `**` means all scopes."""
    file = await grant.memory.threads.run(make_file)
    try:
        await grant.memory.export(file, scope=grant.reach, plain=plain)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    remove = BackgroundTask(file.unlink, missing_ok=True)
    return FileResponse(file, media_type=LINES, filename="eidet.jsonl", background=remove)


async def _load(
    request: Request,
    grant: AdministersWidely,
) -> Response:
    """Reads an export into the scopes that its records name; with a scope, only the records of that one.

    If one line is damaged, nothing is loaded.
    """
    upload = await receive_upload(request, grant.serving)
    try:
        count = await grant.memory.load(upload.path, scope=grant.reach)
    except Corrupt as error:
        message = str(error).replace(str(upload.path), "the upload")
        raise Problem(422, "damaged_export", message, field="body") from None
    finally:
        await grant.memory.threads.run(upload.remove)
    return await answer(grant.serving, lambda: {"count": count})


class Aliveness(BaseModel):
    """Says that the process is alive."""

    status: str = Field("ok", description="Always ok: whoever can say so is alive.")


def add_health(router: APIRouter) -> None:
    router.get("/health/live", name="live", tags=["health"], operation_id="live")(_live)
    away: dict[int | str, dict[str, Any]] = {503: {"model": ErrorBody}}
    router.get("/health/ready", name="ready", tags=["health"], operation_id="ready", responses=away)(_ready)


async def _live() -> Aliveness:
    """Whether the process answers; asks nobody else."""
    return Aliveness(status="ok")


async def _ready(request: Request) -> Aliveness:
    """Whether the memory answers; 503 with Retry-After while its store is away. Takes two seconds at most."""
    serving = serving_of(request)
    await serving.readiness.check(serving.memory)
    return Aliveness(status="ok")


_STEM: Final = "eidet"


def make_file() -> Path:
    """Creates a temporary file that only the user of this process can read; the caller removes it."""
    clean_folder()
    handle, name = tempfile.mkstemp(prefix=machine_prefix(_STEM), suffix=".jsonl")
    os.close(handle)
    return Path(name)


def clean_folder() -> None:
    """Removes temporary files that killed servers of this machine left behind."""
    remove_leftovers(Path(tempfile.gettempdir()), _STEM)


class _Upload:
    """A request body in a temporary file. Where the system allows it, the name is removed at once."""

    def __init__(self) -> None:
        self._named = make_file()
        self._file = self._named.open("wb")
        self.path: Path = self._named
        open_file = Path(f"/proc/self/fd/{self._file.fileno()}")
        if open_file.exists():
            self._named.unlink()
            self.path = open_file

    def write(self, piece: bytes) -> None:
        self._file.write(piece)

    def finish(self) -> None:
        self._file.flush()

    def remove(self) -> None:
        self._file.close()
        self._named.unlink(missing_ok=True)


async def receive_upload(request: Request, serving: Serving) -> _Upload:
    """Writes the body of a request to a file, which the caller removes."""
    run = serving.memory.threads.run
    upload = await run(_Upload)
    try:
        async for piece in request.stream():
            await run(lambda: upload.write(piece))  # noqa: B023  # awaited before the next piece comes
        await run(upload.finish)
    except BaseException:
        upload.remove()
        raise
    return upload
