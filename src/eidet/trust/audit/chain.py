"""Entries of the audit log and their hash chain.

An entry is one line of JSON that ends with its hash, computed from the previous hash and all bytes
of the line before it. Entry n is on line n, so that no entry can be removed unnoticed.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from ...core.errors import BadInput
from ...core.validate import Json

FORMAT: Final = 1
NO_MAC: Final = "-" * 64
START: Final = "0" * 64  # the hash that the first entry follows
_END: Final = re.compile(rb',"hash":"[0-9a-f]{64}"\}')
_END_BYTES: Final = 75
_HEAD: Final = re.compile(r"\s*(\d{1,20}):([0-9a-f]{64})(?::([0-9a-f]{64}|-{64}))?\s*")
_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode


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


_KNOWN: Final = ("n", "at", "verb", "scope", "ids", "count", "by", "source", "why", "hash")


def parse_entry(line: bytes) -> AuditEntry | None:
    """Parses a line without its end; None if it is no valid entry."""
    if not _END.fullmatch(line, max(len(line) - _END_BYTES, 0)):
        return None
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not _is_entry(fields):
        return None
    known = {name: fields.pop(name) for name in _KNOWN if name in fields}
    return AuditEntry(**{**known, "ids": tuple(known.get("ids", ()))}, details=fields)


def _is_entry(fields: Mapping[str, Any]) -> bool:
    n, ids = fields.get("n"), fields.get("ids", [])
    texts = (fields.get("at"), fields.get("verb"), fields.get("hash"))
    return type(n) is int and n > 0 and all(isinstance(t, str) for t in texts) and isinstance(ids, list)


def hash_line(line: bytes, before: str, key: bytes | None) -> str:
    """Computes the hash that an entry's line must end with."""
    return _digest(line[:-_END_BYTES], before, key)


def _digest(body: bytes, before: str, key: bytes | None) -> str:
    signed = before.encode() + body
    if key is None:
        return sha256(signed).hexdigest()
    return hmac.digest(key, signed, "sha256").hex()


class Tail(NamedTuple):
    """The end of a log: number and hash of its last entry, and the offset of the next."""

    n: int
    hash: str
    end: int


def chain_events(
    events: Iterable[Mapping[str, Json]], tail: Tail, now: float, key: bytes | None
) -> tuple[bytes, Tail]:
    """Encodes events as the lines that follow the tail. Returns the lines and the new tail."""
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="microseconds")
    lines = []
    n, before = tail.n, tail.hash
    for n, event in enumerate(events, tail.n + 1):
        body = _encode_line({"n": n, "at": at, **event})[:-1]
        before = _digest(body, before, key)
        lines.append(body + b',"hash":"' + before.encode() + b'"}\n')
    data = b"".join(lines)
    return data, Tail(n, before, tail.end + len(data))


def _encode_line(fields: Mapping[str, Json]) -> bytes:
    """Encodes one line of JSON; escapes lone surrogates, which UTF-8 cannot encode."""
    return _written(fields).encode("utf-8", "backslashreplace")


def find_tail(log: BinaryIO, size: int) -> tuple[Tail, int]:
    """Finds the end of a log by reading backwards, usually only a few kilobytes.

    Also returns the number of bytes after it, of a line that was cut off.
    """
    torn = len(_read_back(log, size))
    end = size - torn
    if end == 0:
        return Tail(0, START, 0), torn
    entry = parse_entry(_read_back(log, end - 1))
    if entry is None:  # it was changed: `verify` reports that, the chain goes on
        log.seek(0)
        return Tail(sum(line.endswith(b"\n") for line in log), START, end), torn
    return Tail(entry.n, entry.hash, end), torn


def _read_back(log: BinaryIO, end: int) -> bytes:
    """Returns the bytes before `end`, back to the previous line end."""
    start, size, got = end, 4096, b""
    while start > 0 and b"\n" not in got:
        start = max(start - size, 0)
        log.seek(start)
        got = log.read(end - start)
        size *= 2
    return got[got.rfind(b"\n") + 1 :]


# Keys and heads. A head is kept in a file beside the log, in the audited store, and perhaps elsewhere.


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


def head_path(log: Path) -> Path:
    return log.with_name(log.name + ".head")


def read_head(log: Path) -> AuditHead | None:
    """Reads the head; None if it is missing or damaged."""
    try:
        return AuditHead.of(head_path(log).read_text(encoding="ascii"))
    except (FileNotFoundError, UnicodeDecodeError, BadInput):
        return None
