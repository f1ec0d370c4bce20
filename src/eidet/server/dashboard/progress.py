"""Long work whose answer is a stream: how far it is, from time to time, and in the end what came of it.

Each line is JSON: `{"done": 3, "of": 10}`, then `{"result": …}` or `{"error": …}` in the shape of all errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

from fastapi.responses import StreamingResponse

from ...core.errors import EidetError
from ...core.validate import dump_json
from ..errors import LOG, Problem, make_internal, problem_of
from ..serving import Serving

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


async def run_and_tell(serving: Serving, work: Callable[[Report], Mapping[str, Any]]) -> AsyncIterator[bytes]:
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
    return stream_lines(run_and_tell(serving, work))


def stream_lines(lines: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(lines, headers=_UNPACKED, media_type=_MEDIA_TYPE)


def _write_line(told: Mapping[str, Any]) -> bytes:
    return dump_json(dict(told)).encode() + b"\n"
