"""A scope on its way out and in, as pages do it: with progress, in one answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from ...core.errors import Corrupt, EidetError
from ...core.validate import dump_json
from ..errors import LOG, Problem, make_internal, problem_of
from ..rest.admin_routes import make_file, read_pieces, receive_upload
from ..serving import Administers, Exports, Grant, Serving

router = APIRouter(prefix="/v1/dashboard", include_in_schema=False)


@router.post("/export")
async def _export_scope(grant: Exports) -> StreamingResponse:
    """Progress line by line; the line with the result says how large the file is, which then follows."""
    file = await grant.memory.threads.run(make_file)
    return _stream_lines(_tell_export(grant, file))


async def _tell_export(grant: Grant, file: Path) -> AsyncIterator[bytes]:
    memory = grant.memory.core

    def write(report: Report) -> Mapping[str, Any]:
        count = memory.export(file, scope=grant.scope, progress=report)
        return {"count": count, "bytes": file.stat().st_size}

    last = b""
    try:
        async for line in _run_and_tell(grant.serving, write):
            last = line
            yield line
        if last.startswith(b'{"result"'):
            async for piece in read_pieces(grant.serving, file):
                yield piece
    finally:
        await grant.memory.threads.run(lambda: file.unlink(missing_ok=True))


@router.post("/load")
async def _load_scope(request: Request, grant: Administers) -> StreamingResponse:
    """Receives a whole export, then reports progress. Loads only records of the scope."""
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


Report = Callable[[int, int], None]  # done, of how many
_MEDIA_TYPE: Final = "application/x-eidet-progress"
_UNPACKED: Final = {"Content-Encoding": "identity"}  # so that no middleware holds lines back
PARTS: Final = 100  # how often progress is told at most


class _ProgressReports:
    """Takes reports of a thread to the loop. Those that say nothing new are left out."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[dict[str, int]] = asyncio.Queue()
        self._part = -1

    def __call__(self, done: int, of: int) -> None:
        part = PARTS * done // max(1, of)
        if part != self._part:
            self._part = part
            self._loop.call_soon_threadsafe(self._queue.put_nowait, {"done": done, "of": of})

    async def follow(self, work: asyncio.Task[Any]) -> AsyncIterator[dict[str, int]]:
        """The reports, until the work is done."""
        while not work.done():
            report = asyncio.create_task(self._queue.get())
            await asyncio.wait((work, report), return_when=asyncio.FIRST_COMPLETED)
            if report.done():
                yield report.result()
            else:
                report.cancel()
        while not self._queue.empty():
            yield self._queue.get_nowait()


async def _run_and_tell(
    serving: Serving, work: Callable[[Report], Mapping[str, Any]]
) -> AsyncIterator[bytes]:
    """The lines of an answer, while the work is done in a thread."""
    reports = _ProgressReports()
    task = asyncio.create_task(serving.memory.threads.run(lambda: work(reports)))
    async for report in reports.follow(task):
        yield _write_line(report)
    try:
        yield _write_line({"result": dict(task.result())})
    except EidetError as error:
        yield _write_line({"error": problem_of(error).body.model_dump()})
    except Problem as problem:
        yield _write_line({"error": problem.body.model_dump()})
    except Exception:  # noqa: BLE001  # logged, and told in the one shape
        LOG.exception("long work failed")
        yield _write_line({"error": make_internal().body.model_dump()})


def stream_work(serving: Serving, work: Callable[[Report], Mapping[str, Any]]) -> StreamingResponse:
    return _stream_lines(_run_and_tell(serving, work))


def _stream_lines(lines: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(lines, headers=_UNPACKED, media_type=_MEDIA_TYPE)


def _write_line(told: Mapping[str, Any]) -> bytes:
    return dump_json(dict(told)).encode() + b"\n"
