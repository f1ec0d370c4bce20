"""Finds remains of deleted rows in a SQLite file: pages are not always tidied when rows move between them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

PIECE: Final = 20  # bytes: remains of a text are searched for in pieces of this size
MOST: Final = 1_000_000_000  # bytes to compare: beyond that, writing the file anew is cheaper
_LEAVES: Final = (10, 13)
_BRANCHES: Final = (2, 5)


def has_any_in_gaps(path: Path, said: Sequence[bytes]) -> bool:
    """Returns whether pieces of erased texts remain outside rows, or may, because checking is too costly."""
    gaps = b"\0".join(gap for gap in gaps_of(path) if gap)
    if not gaps:
        return False
    pieces = dict.fromkeys(chain.from_iterable(map(pieces_of, said)))
    return len(pieces) * len(gaps) > MOST or any(piece in gaps for piece in pieces)


def pieces_of(text: bytes) -> Iterator[bytes]:
    if len(text) <= PIECE:
        yield from [text] if text.strip() else []
        return
    for start in range(0, len(text) - PIECE + 1, PIECE):
        yield text[start : start + PIECE]


def gaps_of(path: Path) -> Iterator[bytes]:
    """Yields the bytes of each page that belong to no row, stripped of zeros; ends of long rows whole."""
    with path.open("rb") as file:
        size = _page_size(file.read(100))
        file.seek(0)
        number = 0
        while len(page := file.read(size)) == size:
            number += 1
            yield _gap(page, 100 if number == 1 else 0).strip(b"\0")


def _page_size(header: bytes) -> int:
    if len(header) < 100:
        return 512
    size = struct.unpack_from(">H", header, 16)[0]
    return 65_536 if size == 1 else max(512, size)


def _gap(page: bytes, start: int) -> bytes:
    """Returns the bytes between a page's pointers and its first row; a last overflow page as a whole."""
    kind = page[start]
    if kind in _LEAVES or kind in _BRANCHES:
        free, cells, content = struct.unpack_from(">HHH", page, start + 1)
        pointers = start + (8 if kind in _LEAVES else 12) + 2 * cells
        return page[pointers : content or 65_536] + _blocks(page, free)
    return page[4:] if page[:4] == b"\0\0\0\0" else b""


def _blocks(page: bytes, at: int) -> bytes:
    """Returns the contents of the free blocks between rows."""
    found: list[bytes] = []
    while 0 < at <= len(page) - 4 and len(found) < len(page) // 4:
        following, size = struct.unpack_from(">HH", page, at)
        found.append(page[at + 4 : at + size])
        if following <= at:
            break
        at = following
    return b"".join(found)
