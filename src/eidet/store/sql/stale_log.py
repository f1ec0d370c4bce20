"""Whether a write-ahead log belongs to the database it lies beside.

SQLite does not ask. Whoever restores `agent.db` and leaves the `agent.db-wal` of the file before gets a mix
of both, or the old state back. What can be told from outside, before SQLite opens the file:

- The index of the log (`-shm`) says how far the log was copied into the database. Nothing else writes the
  database meanwhile: if nothing was copied, it is hardly newer than its log, and what was copied is in it.
- Each frame of page 1 carries the database's count of changes, which never falls.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from ...core.errors import Refused

MAGIC: Final = (0x377F0682, 0x377F0683)
_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_SALT_IN_INDEX: Final = 32  # places in the header of the index, which is in the machine's own order
_SLACK_SECONDS: Final = 2.0  # files that are copied together get their times one after the other …
_COPY_SPEED: Final = 20e6  # … at so many bytes a second or more
_COPIED: Final = 96
_COPIED_ATTEMPTED: Final = 128


class _Frame(NamedTuple):
    """A page as a committed write left it; `number` counts from 1, `place` is where its bytes begin."""

    number: int
    page: int
    place: int


def check_log(path: Path) -> None:
    """Raises `Refused` if the log beside a database is certainly that of another file."""
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    try:
        if log.stat().st_size <= _HEADER.size or not path.stat().st_size:
            return
        before = _states(path, log, index)
        foreign = _is_foreign(path, log, index) and _states(path, log, index) == before  # else it is in use
    except OSError:  # it went, or cannot be read: SQLite will say
        return
    if foreign:
        raise Refused(
            f"{log} is not the log of {path}: was the file restored or copied beside the log of the one "
            f"before? Nothing was changed. To keep {path.name} as it is now, delete {log.name} and "
            f"{index.name}; to keep what was there before, put the former {path.name} back"
        )


def _states(path: Path, log: Path, index: Path) -> tuple[object, ...]:
    """Returns a value that changes once another process writes to the files."""
    found = [(file.stat().st_size, file.stat().st_mtime_ns) for file in (path, log)]
    with log.open("rb") as file:
        salt, _ = _read_header(file)
    return (*found, salt, _read_index(index, salt))


def read_pages(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """The pages that the log of a database holds, oldest first; none of a log that is not its own."""
    log = Path(f"{path}-wal")
    try:
        check_log(path)
        with log.open("rb") as file:
            salt, written = _read_header(file)
            for one in _committed(file, salt, size) if salt and written == size else ():
                yield one.page, _read_at(file, one.place, size)
    except (OSError, Refused):
        return


def _is_foreign(path: Path, log: Path, index: Path) -> bool:
    with log.open("rb") as file, path.open("rb") as database:
        salt, size = _read_header(file)
        frames = list(_committed(file, salt, size)) if salt else []
        if not frames:
            return False
        counts = [_count_of(_read_at(file, one.place, 28)) for one in frames if one.page == 1]
        there = _count_of(database.read(28))
        if counts and not min(counts) - 1 <= there <= max(counts):
            return True
        copied = _read_index(index, salt)
        if copied is None:
            return False
        if copied == (0, 0):
            return (
                _written(path)
                > max(_written(log), _written(index)) + _SLACK_SECONDS + path.stat().st_size / _COPY_SPEED
            )
        return not all(_is_copied(database, file, size, frames, copied[0]))


def _written(path: Path) -> float:
    """When a file was last written."""
    return path.stat().st_mtime


def _count_of(header: bytes) -> int:
    """Returns the change counter from the database's first page."""
    return int.from_bytes(header[24:28])


def _read_at(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)


def _read_header(log: BinaryIO) -> tuple[bytes, int]:
    """Returns the salt of this run of the log and its page size; no salt for a file that is no log."""
    raw = log.read(_HEADER.size)
    if len(raw) < _HEADER.size:
        return b"", 0
    magic, _, size, *_ = _HEADER.unpack(raw)
    return (raw[16:24], size) if magic in MAGIC and 512 <= size <= 65536 else (b"", 0)


def _committed(log: BinaryIO, salt: bytes, size: int) -> Iterator[_Frame]:
    """The frames of this run, up to the last commit."""
    waiting: list[_Frame] = []
    whole = _FRAME.size + size
    for number in range(1, (os.fstat(log.fileno()).st_size - _HEADER.size) // whole + 1):
        place = _HEADER.size + (number - 1) * whole
        head = _read_at(log, place, _FRAME.size)
        if head[8:16] != salt:
            return
        page, pages, *_ = _FRAME.unpack(head)
        waiting.append(_Frame(number, page, place + _FRAME.size))
        if pages:  # which only the last frame of a commit says
            yield from waiting
            waiting = []


def _read_index(index: Path, salt: bytes) -> tuple[int, int] | None:
    """Returns how many frames were copied into the database, and how many were due; None if unknown."""
    if not index.exists():
        return None
    with index.open("rb") as file:
        raw = file.read(_COPIED_ATTEMPTED + 4)
    if len(raw) < _COPIED_ATTEMPTED + 4 or raw[_SALT_IN_INDEX : _SALT_IN_INDEX + 8] != salt:
        return None
    return struct.unpack_from("=I", raw, _COPIED)[0], struct.unpack_from("=I", raw, _COPIED_ATTEMPTED)[0]


def _is_copied(
    database: BinaryIO, log: BinaryIO, size: int, frames: list[_Frame], copied: int
) -> Iterator[bool]:
    """Tells of each copied page whether the database has it as it was then, or a later one."""
    later: dict[int, list[_Frame]] = {}  # by page: as it was copied last, and all after that
    for one in frames:
        if one.number <= copied:
            later[one.page] = [one]
        elif one.page in later:
            later[one.page].append(one)
    for page, versions in later.items():
        there = _read_at(database, (page - 1) * size, size)
        yield any(_read_at(log, one.place, size) == there for one in versions)
