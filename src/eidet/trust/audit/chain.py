"""Entries of the audit log and their hash chain.

An entry is one line of JSON that ends with its hash, computed from the previous hash and all bytes
of the line before it. Entry n is on line n, so that no entry can be removed unnoticed.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...core.errors import BadInput
from ...core.validate import Json

FORMAT: Final = 1
NO_MAC: Final = "-" * 64
START: Final = "0" * 64  # the hash that the first entry follows
_END: Final = re.compile(rb',"hash":"([0-9a-f]{64})"\}')
_END_BYTES: Final = 75
_HEAD: Final = re.compile(r"\s*(\d{1,20}):([0-9a-f]{64})(?::([0-9a-f]{64}|-{64}))?\s*")
_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode


class Tail(NamedTuple):
    """The end of a log: number and hash of its last entry, and the offset of the next."""

    n: int
    hash: str
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """The number and hash of the newest entry. A copy kept elsewhere proves later that none was removed."""

    count: int
    hash: str
    mac: str = ""

    @staticmethod
    def of(text: str) -> AuditHead:
        """Parses `count:hash` or `count:hash:mac`, as `str` writes it."""
        found = _HEAD.fullmatch(text)
        if found is None:
            raise BadInput(f"a head is written as count:hash, as `eidet audit` prints it, not {text!r}")
        return AuditHead(count=int(found[1]), hash=found[2], mac=(found[3] or "").strip("-"))

    def __str__(self) -> str:
        return f"{self.count}:{self.hash}" + (f":{self.mac}" if self.mac else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of a log. `details` holds its other fields: kinds, flags, reasons, of …"""

    n: int
    at: str
    verb: str
    scope: str | None = None
    ids: tuple[str, ...] = ()
    count: int | None = None
    by: str | None = None
    source: str | None = None
    why: str | None = None
    details: Mapping[str, Json] = field(default_factory=dict)
    hash: str = ""

    @staticmethod
    def of(fields: Mapping[str, Any]) -> AuditEntry:
        known = {name: fields[name] for name in _KNOWN if name in fields}
        rest = {name: value for name, value in fields.items() if name not in _KNOWN}
        return AuditEntry(**{**known, "ids": tuple(fields.get("ids", ()))}, details=rest)


_KNOWN: Final = ("n", "at", "verb", "scope", "ids", "count", "by", "source", "why", "hash")


def digest(body: bytes, before: str, key: bytes | None) -> str:
    signed = before.encode() + body
    if key is None:
        return sha256(signed).hexdigest()
    return hmac.digest(key, signed, "sha256").hex()


def chain_events(
    events: Iterable[Mapping[str, Json]], tail: Tail, now: float, key: bytes | None
) -> tuple[bytes, Tail]:
    """Encodes events as the lines that follow the tail. Returns the lines and the new tail."""
    at = _stamp(now)
    lines = []
    n, before = tail.n, tail.hash
    for n, event in enumerate(events, tail.n + 1):
        body = _encode_line({"n": n, "at": at, **event})[:-1]
        before = digest(body, before, key)
        lines.append(body + b',"hash":"' + before.encode() + b'"}\n')
    data = b"".join(lines)
    return data, Tail(n, before, tail.end + len(data))


def _stamp(now: float) -> str:
    """Formats a time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="microseconds")


def _encode_line(fields: Mapping[str, Json]) -> bytes:
    """Encodes one line of JSON; escapes lone surrogates, which UTF-8 cannot encode."""
    return _written(fields).encode("utf-8", "backslashreplace")


def parts_of(line: bytes) -> tuple[bytes, str] | None:
    """Splits a line into the hashed bytes and the hash; None if it is no entry."""
    found = _END.fullmatch(line, max(len(line) - _END_BYTES, 0))
    return None if found is None else (line[:-_END_BYTES], found[1].decode())


def parse_entry(line: bytes) -> dict[str, Any] | None:
    """Parses the entry of a line; None if the line is no valid entry."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and _is_entry(entry) else None


def _is_entry(fields: Mapping[str, Any]) -> bool:
    n, ids = fields.get("n"), fields.get("ids", [])
    texts: Sequence[Any] = [fields.get("at"), fields.get("verb"), fields.get("hash")]
    return type(n) is int and n > 0 and all(isinstance(t, str) for t in texts) and isinstance(ids, list)


def print_of(key: bytes | None) -> str | None:
    """Returns a fingerprint of a key that does not reveal it."""
    if key is None:
        return None
    return hmac.digest(key, b"eidet audit key", "sha256").hex()[:16]


def head_of(tail: Tail, key: bytes | None) -> AuditHead:
    return AuditHead(count=tail.n, hash=tail.hash, mac=_mac(tail.n, tail.hash, key))


def is_ours(head: AuditHead, key: bytes | None) -> bool:
    """Returns whether the head's author had the key; without a key, anyone could be the author."""
    return hmac.compare_digest(head.mac, _mac(head.count, head.hash, key))


def _mac(count: int, hash: str, key: bytes | None) -> str:
    if key is None:
        return ""
    return hmac.digest(key, f"eidet audit head {count} {hash}".encode(), "sha256").hex()


def head_line(tail: Tail, key: bytes | None) -> bytes:
    """Encodes the head with a fixed length, so that one write replaces the previous head."""
    return f"{tail.n:020d}:{tail.hash}:{_mac(tail.n, tail.hash, key) or NO_MAC}\n".encode()


# The end of a log: its last entry, a line that was cut off, and entries that are missing.

BLOCK: Final = 4096


class _LogEnd(NamedTuple):
    """The last whole entry, and the stray bytes after it."""

    tail: Tail
    torn: bytes


def head_path(log: Path) -> Path:
    return log.with_name(log.name + ".head")


def find_tail(handle: int) -> _LogEnd:
    """Finds the end of a log by reading backwards, usually only a few kilobytes."""
    size = os.fstat(handle).st_size
    rest = _back_to_newline(handle, size)
    end = size - len(rest)
    if end == 0:
        return _LogEnd(Tail(0, START, 0), rest)
    line = _back_to_newline(handle, end - 1)
    entry, parts = parse_entry(line), parts_of(line)
    if entry is None or parts is None:  # it was changed: `verify` reports that, the chain goes on
        return _LogEnd(Tail(_lines(handle), START, end), rest)
    return _LogEnd(Tail(entry["n"], parts[1], end), rest)


def _back_to_newline(handle: int, end: int) -> bytes:
    """Returns the bytes before `end`, back to the previous line end."""
    start, size, got = end, BLOCK, b""
    while start > 0 and b"\n" not in got:
        start = max(start - size, 0)
        got = _read(handle, start, end - start)
        size *= 2
    return got[got.rfind(b"\n") + 1 :]


def _read(handle: int, start: int, count: int) -> bytes:
    with open(handle, "rb", closefd=False) as file:
        file.seek(start)
        return file.read(count)


def _lines(handle: int) -> int:
    with open(handle, "rb", closefd=False) as file:
        file.seek(0)
        return sum(line.endswith(b"\n") for line in file)


def first_line(handle: int) -> bytes:
    with open(handle, "rb", closefd=False) as file:
        file.seek(0)
        return file.readline().removesuffix(b"\n")


def read_head(log: Path) -> AuditHead | None:
    """Reads the head; None if it is missing or damaged."""
    try:
        return AuditHead.of(head_path(log).read_text(encoding="ascii"))
    except (FileNotFoundError, UnicodeDecodeError, BadInput):
        return None


def missing(
    found: Tail, seen: Tail | None, head: AuditHead | None, key: bytes | None
) -> dict[str, Json] | None:
    """Builds a `lost` entry if the log ends before the last entry known to its head or this process.

    Also if a log with entries has no valid head. Otherwise returns None.
    """
    expected, known = (0, None) if seen is None else (seen.n, seen.hash)
    if head is not None and head.count >= expected:
        expected, known = head.count, head.hash
    if expected > found.n:
        note = f"there were {expected}, and {found.n} when writing went on"
        return {"verb": "lost", "note": note, "head": known}
    if found.n and (head is None or not is_ours(head, key)):
        return {"verb": "lost", "note": "the head was missing or damaged when writing went on"}
    return None
