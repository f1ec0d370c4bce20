"""Reads rows of a damaged SQLite file, page by page without SQLite: https://www.sqlite.org/fileformat.html.

Neither the header nor the tree is needed: every page that is a leaf of a table yields its rows. What other
pages destroyed is known as far as the index of ids survives.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...core.record import Kind
from .rows import COLUMNS
from .sqlite import MAGIC, PAGE_BYTES, SqliteStore
from .stale_log import read_pages

LEAF, INDEX_LEAF, INDEX_INNER = 0x0D, 0x0A, 0x02
_MOST_COLUMNS: Final = 40
_KIND: Final = COLUMNS.index("kind")
_SIZES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_KINDS: Final = frozenset(map(str, Kind))

Row = tuple[Any, ...]


@dataclass(slots=True)
class _Salvage:
    """The readable content of a damaged file: rows by table, the (scope, id) its index names, page count."""

    records: dict[int, Row] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    tombstones: dict[tuple[str, bytes], float] = field(default_factory=dict)
    named: set[tuple[str, str]] = field(default_factory=set)
    pages: int = 0


def read_damaged(path: Path) -> _Salvage:
    """Reads everything that can be read; no content of the file makes it raise."""
    found, size = _Salvage(), _page_size(path)
    data = _read_with_log(path, size)
    for start in range(0, len(data), size):
        found.pages += 1
        for kind, rowid, row in _Page(data, start, size).rows():
            _sort_in(found, kind, rowid, row)
    return found


def write_rows(new: Path, found: _Salvage) -> None:
    """Writes the rows found to a new file. Of several rows of one record the newest wins."""
    SqliteStore(new).close()
    with closing(sqlite3.connect(new)) as raw:
        raw.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", found.settings.items())
        stones = [(*key, moment) for key, moment in found.tombstones.items()]
        raw.executemany("INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?)", stones)
        marks = ", ".join("?" * len(COLUMNS))
        rows = [row for _, row in sorted(found.records.items(), reverse=True)]
        raw.executemany(f"INSERT OR IGNORE INTO records VALUES ({marks})", rows)  # noqa: S608 - only marks
        raw.commit()


def delete_rows(path: Path, keys: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Deletes records by (scope, id), without reading them. Returns the keys of all that are left."""
    with closing(sqlite3.connect(path)) as raw:
        raw.executemany("DELETE FROM records WHERE scope = ? AND id = ?", keys)
        raw.commit()
        return set(raw.execute("SELECT scope, id FROM records"))


def _read_with_log(path: Path, size: int) -> bytes:
    """Returns the file with its write-ahead log applied, if it has one."""
    data = bytearray(path.read_bytes())
    for page, content in read_pages(path, size):
        end = page * size
        data.extend(bytes(max(0, end - len(data))))
        data[end - size : end] = content
    return bytes(data)


def _page_size(path: Path) -> int:
    with path.open("rb") as file:
        data = file.read(18)
    size = int.from_bytes(data[16:18])
    size = 65536 if size == 1 else size
    known = data.startswith(MAGIC) and 512 <= size <= 65536 and size & (size - 1) == 0
    return size if known else PAGE_BYTES


def _sort_in(found: _Salvage, kind: int, rowid: int, row: Row) -> None:
    types = tuple(map(type, row))
    if kind == LEAF and len(row) == len(COLUMNS):
        if types[1:6] == (str,) * 5 and row[_KIND] in _KINDS:
            found.records[rowid] = (rowid, *row[1:])
    elif kind == LEAF and types == (str, str):
        found.settings[row[0]] = row[1]
    elif kind == LEAF and types in ((str, bytes, float), (str, bytes, int)):
        found.tombstones[row[0], row[1]] = float(row[2])
    elif kind != LEAF and types == (str, str, int):
        found.named.add((row[0], row[1]))


class _Page:
    """One page of a tree, or whatever is in its place."""

    def __init__(self, data: bytes, start: int, size: int) -> None:
        self._data, self._start, self._size = data, start, size

    def rows(self) -> Iterator[tuple[int, int, Row]]:
        head = self._start + (100 if self._start == 0 else 0)
        kind = self._data[head]
        if kind not in (LEAF, INDEX_LEAF, INDEX_INNER):
            return
        count = int.from_bytes(self._data[head + 3 : head + 5])
        first = head + (12 if kind == INDEX_INNER else 8)
        for at in range(first, min(first + 2 * count, self._start + self._size), 2):
            place = self._start + int.from_bytes(self._data[at : at + 2])
            try:
                rowid, payload = self._payload(kind, place)
                yield kind, rowid, _read_row(payload)
            except (IndexError, ValueError, struct.error):
                continue

    def _payload(self, kind: int, place: int) -> tuple[int, bytes]:
        place += 4 if kind == INDEX_INNER else 0
        length, place = _varint(self._data, place)
        rowid = 0
        if kind == LEAF:
            rowid, place = _varint(self._data, place)
        if not 0 < length <= len(self._data):
            raise ValueError("no row is as long")
        local = self._local(kind, length)
        content = self._data[place : place + local]
        if local == length:
            return rowid, content
        follow = int.from_bytes(self._data[place + local : place + local + 4])
        return rowid, self._follow(content, length, follow)

    def _local(self, kind: int, length: int) -> int:
        """Returns how much of a row is on its own page; the rest overflows."""
        most = self._size - 35 if kind == LEAF else (self._size - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (self._size - 12) * 32 // 255 - 23
        fits = least + (length - least) % (self._size - 4)
        return fits if fits <= most else least

    def _follow(self, content: bytes, length: int, page: int) -> bytes:
        parts, left = [content], length - len(content)
        while left > 0:
            start = (page - 1) * self._size
            if page < 1 or start + self._size > len(self._data):
                raise ValueError("the rest of the row is gone")
            page = int.from_bytes(self._data[start : start + 4])
            parts.append(self._data[start + 4 : start + 4 + min(left, self._size - 4)])
            left -= self._size - 4
        return b"".join(parts)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for at in range(9):
        byte = data[place + at]
        if at == 8:
            return value << 8 | byte, place + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + at + 1
    raise ValueError("no number")


def _read_row(payload: bytes) -> Row:
    size, place = _varint(payload, 0)
    if size > len(payload):
        raise ValueError("no row")
    kinds = []
    while place < size:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    if len(kinds) > _MOST_COLUMNS:
        raise ValueError("no table has so many columns")
    row = []
    for kind in kinds:
        value, place = _read_value(payload, place, kind)
        row.append(value)
    return tuple(row)


def _read_value(payload: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, place
    if kind in (8, 9):
        return kind - 8, place
    if kind in _SIZES:
        return int.from_bytes(payload[place : place + _SIZES[kind]], signed=True), place + _SIZES[kind]
    if kind == 7:
        return struct.unpack_from(">d", payload, place)[0], place + 8
    if kind < 12:
        raise ValueError("no value has this kind")
    end = place + (kind - 12) // 2
    if end > len(payload):
        raise ValueError("the row was cut off")
    raw = payload[place:end]
    return (raw.decode() if kind % 2 else raw), end
