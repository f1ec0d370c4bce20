"""Records and their history as bytes: a fixed head, JSON of what can be filtered, then the rest as it is.

The head begins with a version byte and the use counts, which the server changes in place, and ends with
the exact key. Head and JSON together are the light part of a record: all that filters, orders and surveys
look at. Below: the scripts that write it, and the keys that it lies under.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b, sha1
from importlib.resources import files
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt
from ...core.record import Event, Record
from ...core.record_table import FIELD_OF, FIELDS
from ...core.validate import dump_json

VERSION: Final = 3
HEAD: Final = struct.Struct(">BddIIIII28s")
_OUTSIDE: Final = ("scope", "seq", "uses", "last_used")  # in the head, or known from the record's place
_PLAIN: Final = tuple(field for field in FIELDS if field.shown and field.name not in _OUTSIDE)
_TAIL: Final = tuple(map(FIELD_OF.__getitem__, ("terms", "vector", "original", "sealed")))  # as in commit.lua
_read_plain: Final = attrgetter(*(field.name for field in _PLAIN))
_read_tail: Final = attrgetter(*(field.name for field in _TAIL))
_NO_TAIL: Final = tuple(None if field.optional else b"" for field in _TAIL)
_in_order: Final = itemgetter(
    *map([*(field.name for field in (*_PLAIN, *_TAIL)), *_OUTSIDE].index, Record.__slots__)
)
_ENCODED: Final = tuple((at, f.encode) for at, f in enumerate(_PLAIN) if f.name == "state" and f.encode)
_DECODED: Final = tuple((at, field.decode) for at, field in enumerate(_PLAIN) if field.decode is not None)


def record_bytes(record: Record, key: bytes) -> bytes:
    last = math.nan if record.last_used is None else record.last_used
    content = dump_json(_list_plain(record)).encode()
    tail = _read_tail(record)
    sizes = (0 if part is None else len(part) + 1 for part in tail)
    head = HEAD.pack(VERSION, record.uses, last, len(content), *sizes, key)
    return b"".join((head, content, *(part for part in tail if part)))


def _list_plain(record: Record) -> list[Any]:
    values = list(_read_plain(record))
    for at, encode in _ENCODED:
        values[at] = encode(values[at])
    return values


class Light(NamedTuple):
    """A record without its bulk, and its exact key as it is written."""

    record: Record
    key: bytes


def record_of(found: bytes, scope: str, seq: int) -> Record:
    """Decodes a whole record."""
    return _read(found, scope, seq, whole=True).record


def light_of(found: bytes, scope: str, seq: int) -> Light:
    """Decodes the light part of a record: without vector, terms and lowered or sealed content."""
    return _read(found, scope, seq, whole=False)


def _read(found: bytes, scope: str, seq: int, *, whole: bool) -> Light:
    try:
        version, uses, last, size, *sizes, key = HEAD.unpack_from(found)
        plain = _decode_plain(version, found[HEAD.size : HEAD.size + size])
        tail = _parts(found, HEAD.size + size, sizes) if whole else _NO_TAIL
        used = None if math.isnan(last) else last
        record = Record.of(_in_order((*plain, *tail, scope, seq, int(uses), used)))
        return Light(record, key)
    except (struct.error, ValueError, LookupError, TypeError) as error:
        raise Corrupt(
            f"record {seq} of scope {scope!r} is damaged or was not written by Eidet ({error})"
        ) from error


def _decode_plain(version: int, said: bytes) -> list[Any]:
    if version != VERSION:
        raise ValueError(f"its version is {version}")
    values: list[Any] = json.loads(said)
    for at, decode in _DECODED:
        values[at] = decode(values[at])
    return values


def _parts(found: bytes, start: int, sizes: Sequence[int]) -> Iterable[bytes | None]:
    for size in sizes:
        end = start + max(size - 1, 0)
        if end > len(found):
            raise ValueError("it ends too early")
        yield None if size == 0 else found[start:end]
        start = end


def event_bytes(event: Event) -> bytes:
    """Encodes one event of a history."""
    return dump_json([event.what, event.at, event.by, event.version, event.before]).encode()


class Script:
    """A script's text, and the name that servers know it by."""

    __slots__ = ("sha", "text")

    def __init__(self, name: str) -> None:
        self.text: str = (files(__package__) / "lua" / f"{name}.lua").read_text("utf-8")
        self.sha: str = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


COMMIT: Final = Script("commit")
GET: Final = Script("get")
SELECT: Final = Script("select")
LIGHT: Final = Script("light")
CHANGES: Final = Script("changes")
RESERVE: Final = Script("reserve")
SCRIPTS: Final = {script.sha: script.text for script in (COMMIT, GET, SELECT, LIGHT, CHANGES, RESERVE)}


# A scope, or "" for the store itself, the letter of a hash of its own, and a field of that.
Place = tuple[str, str, str | bytes]


class Keys:
    """The names of keys. A scope's begin with `base(scope)`, those of the store itself with `base("")`.

    Those of a scope go on with

    m   how the scope is: its version `v`, `pruned`, `ttl`
    r:N the record with seq N         i   id -> seq             d   exact key -> seqs
    s   seqs by themselves            x   seqs by expiry
    z   what else is to be removed with a seq that expires     g   seqs that are gone, by when
    e   id -> history                 b   mark -> since when it is entombed    y   tallies

    and those of the store: h (epoch, seq, tombs, scopes, v: the version of s and v), n (names of scopes),
    q (a tombstone of each scope that has any), s (settings), v (staged vectors by seq), w:… (what a writer
    was last answered). In a cluster all of them lie in one slot.
    """

    def __init__(self, prefix: str, *, cluster: bool = False) -> None:
        self.store: str = f"{prefix}:{{{prefix}}}:"
        self._prefix, self._cluster = prefix, cluster
        self.base = lru_cache(maxsize=4096)(self._base)

    def _base(self, scope: str) -> str:
        if not scope:
            return self.store
        name = blake2b(scope.encode(), digest_size=10).hexdigest()
        return f"{self.store}{name}:" if self._cluster else f"{self._prefix}:{{{name}}}:"
