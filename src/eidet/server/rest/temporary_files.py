"""Files in the temporary folder: an upload has no name there, and what killed servers left is removed."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Final

from fastapi import Request

from ...core.private_files import machine_prefix, remove_leftovers
from ..serving import Serving

STEM: Final = "eidet"
STARTED: Final = time.time()


def make_file() -> Path:
    """A file that only this server can read; whoever uses it removes it."""
    clean_folder()
    handle, name = tempfile.mkstemp(prefix=machine_prefix(STEM), suffix=".jsonl")
    os.close(handle)
    return Path(name)


def clean_folder() -> None:
    """Removes what killed servers of this machine left."""
    remove_leftovers(Path(tempfile.gettempdir()), STEM, before=STARTED)


class Upload:
    """The body of a request as a file. Where the system allows it, the file has no name from the start."""

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


async def receive_upload(request: Request, serving: Serving) -> Upload:
    """The body of a request, which the caller removes."""
    run = serving.memory.threads.run
    upload = await run(Upload)
    try:
        async for piece in request.stream():
            await run(lambda: upload.write(piece))  # noqa: B023  # awaited before the next piece comes
        await run(upload.finish)
    except BaseException:
        upload.remove()
        raise
    return upload
