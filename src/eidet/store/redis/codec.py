"""Records and their history as bytes: a fixed head, JSON of what can be filtered, then the rest as it is.

The head begins with a version byte and the use counts, which the server changes in place. Head and JSON
together are the light part of a record: all that filters, orders and surveys look at.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.former_meta import Origin, split_meta
from ...core.record import Kind, Record, Tier, Trust
from ...core.state import NO_STATE, State
from ...core.validate import dump_json

VERSION: Final = 2
FORMER: Final = 1  # had no state of its own: what there was of it lies in `meta`
HEAD: Final = struct.Struct(">BddIIIII")
_TAIL: Final = ("terms", "vector", "original", "sealed")


def record_bytes(record: Record, digest: str | None = None) -> bytes:
    last = math.nan if record.last_used is None else record.last_used
    said = dump_json(_list_fields(record, digest or record.digest)).encode()
    tail = [getattr(record, name) for name in _TAIL]
    sizes = (0 if part is None else len(part) + 1 for part in tail)
    head = HEAD.pack(VERSION, record.uses, last, len(said), *sizes)
    return b"".join((head, said, *(part for part in tail if part)))


def _list_fields(record: Record, digest: str) -> list[Any]:
    return [
        record.id,
        record.text,
        record.kind,
        record.tier,
        record.data,
        record.who,
        record.agent,
        record.session,
        record.step,
        record.place,
        record.importance,
        record.created,
        record.occurred,
        record.expires,
        record.source,
        record.meta,
        record.level,
        record.derived_from,
        record.trust,
        record.version,
        digest,
        None if record.state is NO_STATE else record.state.to_json(),
    ]


def record_of(found: bytes, scope: str, seq: int) -> Record:
    """A record from all of its bytes."""
    return _read(found, scope, seq, whole=True)[0]


def light_of(found: bytes, scope: str, seq: int) -> Light:
    """From its light part: without vector, terms and what was lowered or sealed."""
    record, digest, vector = _read(found, scope, seq, whole=False)
    return Light(record, digest, vector)


class Light:
    """A record without its bulk, its digest, and whether it has a vector."""

    __slots__ = ("digest", "record", "vector")

    def __init__(self, record: Record, digest: str, vector: bool) -> None:
        self.record, self.digest, self.vector = record, digest, vector


def _read(found: bytes, scope: str, seq: int, *, whole: bool) -> tuple[Record, str, bool]:
    try:
        version, uses, last, said, *sizes = HEAD.unpack_from(found)
        fields = _fields(version, found[HEAD.size : HEAD.size + said])
        tail = list(_parts(found, HEAD.size + said, sizes)) if whole else [b"", None, None, None]
        return _record(fields, tail, scope, seq, int(uses), last), fields[20], sizes[1] > 0
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise Corrupt(
            f"record {seq} of scope {scope!r} is damaged or was not written by Eidet ({error})"
        ) from error


def _fields(version: int, said: bytes) -> list[Any]:
    if version not in (FORMER, VERSION):
        raise ValueError(f"its version is {version}")
    fields: list[Any] = json.loads(said)
    if version == FORMER:
        meta, state = split_meta(fields[15], Origin(fields[11], fields[14], fields[17]))
        fields[15] = meta
        fields.append(state.to_json())
    return fields


def _parts(found: bytes, start: int, sizes: Sequence[int]) -> Iterable[bytes | None]:
    for size in sizes:
        end = start + max(size - 1, 0)
        if end > len(found):
            raise ValueError("it ends too early")
        yield None if size == 0 else found[start:end]
        start = end


def _record(
    fields: list[Any], tail: Sequence[bytes | None], scope: str, seq: int, uses: int, last: float
) -> Record:
    terms, vector, original, sealed = tail
    (id, text, kind, tier, data, who, agent, session, step, place, importance) = fields[:11]
    (created, occurred, expires, source, meta, level, made_of, trust, version) = fields[11:20]
    state = NO_STATE if fields[21] is None else State.from_json(fields[21])
    return Record.of(
        (
            *(id, scope, text, Kind(kind), Tier(tier), data, who, agent, session, step),
            *(None if place is None else tuple(place), importance, created, occurred, uses),
            *(None if math.isnan(last) else last, expires, source, meta, state, vector, terms, level),
            *(original, tuple(made_of), Trust(trust), sealed, version, seq),
        )
    )


def events_bytes(events: Iterable[Event]) -> bytes:
    return dump_json([[e.what, e.at, e.by, e.version, e.before] for e in events]).encode()


def events_of(found: bytes, scope: str, id: str) -> list[Event]:
    try:
        return [
            Event(what=what, id=id, scope=scope, at=at, by=by, version=version, before=before)
            for what, at, by, version, before in json.loads(found)
        ]
    except (ValueError, TypeError) as error:
        raise Corrupt(f"the history of {id!r} in scope {scope!r} is damaged ({error})") from error
