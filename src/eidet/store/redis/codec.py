"""Records and their history as bytes: a fixed head, JSON of what can be filtered, then the rest as it is.

The head begins with a version byte and the use counts, which the server changes in place. Head and JSON
together are the light part of a record: all that filters, orders and surveys look at.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Kind, Record, Tier, Trust
from ...core.state import NO_STATE, State
from ...core.validate import dump_json

VERSION: Final = 2
HEAD: Final = struct.Struct(">BddIIIII")
_PLAIN: Final = (  # as JSON has them, in this order
    *("id", "text", "kind", "tier", "data", "who", "agent", "session", "step", "place", "importance"),
    *("created", "occurred", "expires", "source", "meta", "level", "derived_from", "trust", "version"),
)
_TAIL: Final = ("terms", "vector", "original", "sealed")
_SAID: Final = (*_PLAIN, "digest", "state")
_read_plain: Final = attrgetter(*_PLAIN)
_read_tail: Final = attrgetter(*_TAIL)
_in_order: Final = itemgetter(
    *map((*_SAID, *_TAIL, "scope", "seq", "uses", "last_used").index, Record.__slots__)
)
_KIND, _TIER, _PLACE, _MADE_OF, _TRUST, _DIGEST, _STATE = map(
    _SAID.index, ("kind", "tier", "place", "derived_from", "trust", "digest", "state")
)
_KINDS: Final = {str(kind): kind for kind in Kind}
_TIERS: Final = {str(tier): tier for tier in Tier}
_TRUSTS: Final = {str(trust): trust for trust in Trust}


def record_bytes(record: Record, digest: str | None = None) -> bytes:
    last = math.nan if record.last_used is None else record.last_used
    state = None if record.state is NO_STATE else record.state.to_json()
    content = dump_json((*_read_plain(record), digest or record.digest, state)).encode()
    tail = _read_tail(record)
    sizes = (0 if part is None else len(part) + 1 for part in tail)
    head = HEAD.pack(VERSION, record.uses, last, len(content), *sizes)
    return b"".join((head, content, *(part for part in tail if part)))


class Light(NamedTuple):
    """A record without its bulk, its digest, and whether it has a vector."""

    record: Record
    digest: str
    vector: bool


def record_of(found: bytes, scope: str, seq: int) -> Record:
    """A record from all of its bytes."""
    return _read(found, scope, seq, whole=True).record


def light_of(found: bytes, scope: str, seq: int) -> Light:
    """From its light part: without vector, terms and what was lowered or sealed."""
    return _read(found, scope, seq, whole=False)


def _read(found: bytes, scope: str, seq: int, *, whole: bool) -> Light:
    try:
        version, uses, last, size, *sizes = HEAD.unpack_from(found)
        fields = _read_fields(version, found[HEAD.size : HEAD.size + size])
        tail = _parts(found, HEAD.size + size, sizes) if whole else (b"", None, None, None)
        used = None if math.isnan(last) else last
        record = Record.of(_in_order((*fields, *tail, scope, seq, int(uses), used)))
        return Light(record, fields[_DIGEST], sizes[1] > 0)
    except (struct.error, ValueError, LookupError, TypeError) as error:
        raise Corrupt(
            f"record {seq} of scope {scope!r} is damaged or was not written by Eidet ({error})"
        ) from error


def _read_fields(version: int, said: bytes) -> list[Any]:
    if version != VERSION:
        raise ValueError(f"its version is {version}")
    fields: list[Any] = json.loads(said)
    fields[_KIND], fields[_TIER] = _KINDS[fields[_KIND]], _TIERS[fields[_TIER]]
    fields[_TRUST], fields[_MADE_OF] = _TRUSTS[fields[_TRUST]], tuple(fields[_MADE_OF])
    if fields[_PLACE] is not None:
        fields[_PLACE] = tuple(fields[_PLACE])
    fields[_STATE] = NO_STATE if fields[_STATE] is None else State.from_json(fields[_STATE])
    return fields


def _parts(found: bytes, start: int, sizes: Sequence[int]) -> Iterable[bytes | None]:
    for size in sizes:
        end = start + max(size - 1, 0)
        if end > len(found):
            raise ValueError("it ends too early")
        yield None if size == 0 else found[start:end]
        start = end


def events_bytes(events: Iterable[Event]) -> bytes:
    return b"[%b]" % b",".join(map(event_bytes, events))


def event_bytes(event: Event) -> bytes:
    """One of a list."""
    return dump_json([event.what, event.at, event.by, event.version, event.before]).encode()


def events_of(found: bytes, scope: str, id: str) -> list[Event]:
    try:
        return [
            Event(what=what, id=id, scope=scope, at=at, by=by, version=version, before=before)
            for what, at, by, version, before in json.loads(found)
        ]
    except (ValueError, TypeError) as error:
        raise Corrupt(f"the history of {id!r} in scope {scope!r} is damaged ({error})") from error
