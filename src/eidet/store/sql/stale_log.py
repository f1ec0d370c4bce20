"""Checks whether a write-ahead log belongs to the database that it lies beside.

SQLite does not check. A restore of `agent.db` that leaves the `agent.db-wal` of the file before gives a mix
of both, or the old state. Each frame of page 1 in a log carries the database's count of changes, which never
falls, so a log whose counts lie elsewhere is that of another file.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ...core.errors import Refused

MAGIC: Final = (0x377F0682, 0x377F0683)
_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")


def check_log(path: Path) -> None:
    """Raises `Refused` if the log beside a database is certainly that of another file."""
    log = Path(f"{path}-wal")
    try:
        if log.stat().st_size <= _HEADER.size or not path.stat().st_size:
            return
        before = _states(path, log)
        foreign = _is_foreign(path, log) and _states(path, log) == before  # else it is in use
    except OSError:  # it is gone or unreadable: SQLite will report it
        return
    if foreign:
        raise Refused(
            f"{log} is not the log of {path}: was the file restored or copied beside the log of the one "
            f"before? Nothing was changed. To keep {path.name} as it is now, delete {log.name} and "
            f"{path.name}-shm; to keep what was there before, put the former {path.name} back"
        )


def read_pages(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """Yields the pages in the log of a database, oldest first; nothing from a log that is not its own."""
    try:
        check_log(path)
        with Path(f"{path}-wal").open("rb") as log:
            salt, written = _read_header(log)
            for page, place in _list_committed(log, salt, size) if salt and written == size else ():
                yield page, _read_at(log, place, size)
    except (OSError, Refused):
        return


def _states(path: Path, log: Path) -> object:
    """Returns a value that changes once another process writes to the files."""
    return [(file.stat().st_size, file.stat().st_mtime_ns) for file in (path, log)]


def _is_foreign(path: Path, log: Path) -> bool:
    with log.open("rb") as file, path.open("rb") as database:
        salt, size = _read_header(file)
        frames = _list_committed(file, salt, size) if salt else []
        counts = [_count_of(_read_at(file, place, 28)) for page, place in frames if page == 1]
        return bool(counts) and not min(counts) - 1 <= _count_of(database.read(28)) <= max(counts)


def _count_of(header: bytes) -> int:
    """Returns the change counter from the database's first page."""
    return int.from_bytes(header[24:28])


def _read_at(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)


def _read_header(log: BinaryIO) -> tuple[bytes, int]:
    """Returns the salt of this run of the log and its page size; an empty salt if the file is no log."""
    raw = log.read(_HEADER.size)
    if len(raw) < _HEADER.size:
        return b"", 0
    magic, _, size, *_ = _HEADER.unpack(raw)
    return (raw[16:24], size) if magic in MAGIC and 512 <= size <= 65536 else (b"", 0)


def _list_committed(log: BinaryIO, salt: bytes, size: int) -> list[tuple[int, int]]:
    """Lists the pages of this run up to the last commit, and the offsets of their bytes."""
    committed: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []
    whole = _FRAME.size + size
    for place in range(_HEADER.size, os.fstat(log.fileno()).st_size - whole + 1, whole):
        head = _read_at(log, place, _FRAME.size)
        if head[8:16] != salt:
            break
        page, pages, *_ = _FRAME.unpack(head)
        waiting.append((page, place + _FRAME.size))
        if pages:  # set only in the last frame of a commit
            committed += waiting
            waiting = []
    return committed
