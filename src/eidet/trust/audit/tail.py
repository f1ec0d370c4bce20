"""Where a log ends, what is left of a line that was cut off there, and whether anything is missing."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from ...core.errors import BadInput
from ...core.validate import Json
from .chain import START, AuditHead, Tail, is_ours, parts_of, read_entry

BLOCK: Final = 4096


class LogEnd(NamedTuple):
    """The last whole entry, and the bytes after it that are none."""

    tail: Tail
    torn: bytes


def head_path(log: Path) -> Path:
    return log.with_name(log.name + ".head")


def torn_path(log: Path) -> Path:
    return log.with_name(log.name + ".torn")


def find_tail(handle: int) -> LogEnd:
    """Reads backwards from the end, a few kilobytes as a rule."""
    size = os.fstat(handle).st_size
    rest = _back_to_newline(handle, size)
    end = size - len(rest)
    if end == 0:
        return LogEnd(Tail(0, START, 0), rest)
    line = _back_to_newline(handle, end - 1)
    entry, parts = read_entry(line), parts_of(line)
    if entry is None or parts is None:  # somebody changed it: `verify` tells, the chain goes on
        return LogEnd(Tail(_lines(handle), START, end), rest)
    return LogEnd(Tail(entry["n"], parts[1], end), rest)


def _back_to_newline(handle: int, end: int) -> bytes:
    """The bytes before `end`, back to the line end before them."""
    start, size, got = end, BLOCK, b""
    while start > 0 and b"\n" not in got:
        start = max(start - size, 0)
        got = _read(handle, start, end - start)
        size *= 2
    return got[got.rfind(b"\n") + 1 :]


def _read(handle: int, start: int, count: int) -> bytes:
    os.lseek(handle, start, os.SEEK_SET)
    pieces = []
    while count > 0 and (piece := os.read(handle, count)):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def _lines(handle: int) -> int:
    os.lseek(handle, 0, os.SEEK_SET)
    found = 0
    while piece := os.read(handle, 1 << 20):
        found += piece.count(b"\n")
    return found


def first_line(handle: int) -> bytes:
    size, got = BLOCK, _read(handle, 0, BLOCK)
    while b"\n" not in got and len(got) == size:
        size *= 4
        got = _read(handle, 0, size)
    return got.partition(b"\n")[0]


def read_head(log: Path) -> AuditHead | None:
    """None if it is missing or damaged."""
    try:
        return AuditHead.of(head_path(log).read_text(encoding="ascii"))
    except (FileNotFoundError, UnicodeDecodeError, BadInput):
        return None


def missing(
    found: Tail, seen: Tail | None, head: AuditHead | None, key: bytes | None
) -> dict[str, Json] | None:
    """An entry that says so, if the log ends before what the head, or this process, knows of."""
    expected, known = 0, None
    if seen is not None:
        expected, known = seen.n, seen.hash
    if head is not None and head.count >= expected:
        expected, known = head.count, head.hash
    if expected > found.n:
        return {"verb": "lost", "told": expected, "there": found.n, "head": known}
    if found.n and (head is None or not is_ours(head, key)):
        return {"verb": "lost", "there": found.n, "head": "missing or damaged"}
    return None


def torn(rest: bytes) -> dict[str, Json]:
    """The entry that tells of a line which was cut off: its writer ended in the middle of it."""
    return {"verb": "torn", "bytes": len(rest), "sha256": sha256(rest).hexdigest()}
