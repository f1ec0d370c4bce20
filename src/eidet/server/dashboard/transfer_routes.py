"""A scope on its way out and in, as pages do it: with progress, in one answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from ...core.errors import Corrupt
from ..errors import Problem
from ..rest.admin_routes import make_file, read_pieces, receive_upload
from ..serving import Administers, Exports, Grant
from .progress import Report, run_and_tell, stream_lines, stream_work

router = APIRouter(prefix="/v1/dashboard", include_in_schema=False)


@router.post("/export")
async def _export_scope(grant: Exports) -> StreamingResponse:
    """Progress line by line; the line with the result says how large the file is, which then follows."""
    file = await grant.memory.threads.run(make_file)
    return stream_lines(_tell_export(grant, file))


async def _tell_export(grant: Grant, file: Path) -> AsyncIterator[bytes]:
    memory = grant.memory.core

    def write(report: Report) -> Mapping[str, Any]:
        count = memory.export(file, scope=grant.scope, progress=report)
        return {"count": count, "bytes": file.stat().st_size}

    last = b""
    try:
        async for line in run_and_tell(grant.serving, write):
            last = line
            yield line
        if last.startswith(b'{"result"'):
            async for piece in read_pieces(grant.serving, file):
                yield piece
    finally:
        await grant.memory.threads.run(lambda: file.unlink(missing_ok=True))


@router.post("/load")
async def _load_scope(request: Request, grant: Administers) -> StreamingResponse:
    """Takes a whole export first, then tells how far loading is. Only records of the scope are loaded."""
    upload = await receive_upload(request, grant.serving)
    memory = grant.memory.core

    def load(report: Report) -> Mapping[str, Any]:
        try:
            return {"count": memory.load(upload.path, scope=grant.scope, progress=report)}
        except Corrupt as error:
            message = str(error).replace(str(upload.path), "the file")
            raise Problem(422, "damaged_export", message, field="body") from None
        finally:
            upload.remove()

    return stream_work(grant.serving, load)
