"""Records: the one thing that is stored. Frozen values, no I/O, no clock, no numpy."""

from __future__ import annotations

import json
import os
import re
import threading
import zlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Final, TypeVar

from .errors import BadInput, Corrupt
from .state import NO_STATE, State
from .validate import Json, dump_json

_LEVEL: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The original values of lowered parts; None for parts that the record still has.

    `data` is a list of one, because data may be None itself. A vector that the embedder makes of the
    text is not kept; any other is, with the name of the embedder it belongs to.
    """

    text: str | None = None
    data: tuple[Json] | None = None
    vector: bytes | None = None
    embedder: str = ""


NOTHING: Final = Original()


def pack_original(original: Original) -> bytes | None:
    """Encodes an original; returns None if there is nothing to keep."""
    if original == NOTHING:
        return None
    fields: dict[str, Any] = {"text": original.text} if original.text is not None else {}
    if original.data is not None:
        fields["data"] = original.data[0]
    if original.vector is not None:
        fields["embedder"] = original.embedder
    # JSON has no NUL of its own, so the first one is where the vector begins
    return zlib.compress(dump_json(fields).encode() + b"\0" + (original.vector or b""), _LEVEL)


def decode_original(blob: bytes | None) -> Original:
    """Decodes an original; raises `Corrupt` for bytes that are not one."""
    if blob is None:
        return NOTHING
    try:
        packed, _, vector = zlib.decompress(blob).partition(b"\0")
        fields = json.loads(packed)
        return Original(
            text=fields.get("text"),
            data=(fields["data"],) if "data" in fields else None,
            vector=vector if "embedder" in fields else None,
            embedder=fields.get("embedder", ""),
        )
    except (zlib.error, ValueError, TypeError, AttributeError) as error:
        raise Corrupt(f"a record's original is damaged ({error}); restore a copy or an export") from error


Place = tuple[float, ...]
_REFERENCE: Final = re.compile("k[0-9a-f]{24}")


class Kind(StrEnum):
    """The kind of content a record holds."""

    MESSAGE = "message"
    WORKING = "working"
    FACT = "fact"
    EPISODE = "episode"
    SUMMARY = "summary"
    STATE = "state"
    ACTION = "action"
    INTERACTION = "interaction"
    DOCUMENT = "document"
    TRIPLE = "triple"
    PROCEDURE = "procedure"


class Tier(StrEnum):
    """The tier of a record: how much detail it keeps, and for how long."""

    SHORT = "short"
    MIDDLE = "middle"
    LONG = "long"


class Trust(StrEnum):
    """The origin of a text, from most to least trusted."""

    TRUSTED = "trusted"  # the developer
    USER = "user"
    TOOL = "tool"  # what a tool or another agent returned
    WEB = "web"  # pages, mails, files of strangers
    UNKNOWN = "unknown"
    QUARANTINED = "quarantined"  # kept for review: recall, find and context leave it out


E = TypeVar("E", bound=StrEnum)


def _find_member(kind: type[E], value: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(kind)
        raise BadInput(f"unknown {kind.__name__.lower()} {value!r}; there are {known}") from None


kind_of: Final = partial(_find_member, Kind)
tier_of: Final = partial(_find_member, Tier)
trust_of: Final = partial(_find_member, Trust)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The one thing that is stored. The store sets `version` and `seq`."""

    id: str  # unique within its scope
    scope: str  # the isolation boundary it lives in
    text: str  # the content that Eidet searches and shows
    kind: Kind = Kind.FACT
    tier: Tier = Tier.SHORT
    data: Json = None
    who: str | None = None
    agent: str | None = None
    session: str | None = None
    step: int | None = None
    place: Place | None = None
    importance: float = 0.5
    created: float = 0.0  # when it was first stored, in seconds since 1970
    occurred: float = 0.0  # when it happened, in seconds since 1970
    uses: int = 0  # how often it was recalled or marked useful
    last_used: float | None = None  # when it was last used, in seconds since 1970
    expires: float | None = None  # when Eidet drops it, in seconds since 1970; None: never
    source: str | None = None
    meta: Mapping[str, Json] = field(default_factory=dict)  # the caller's own, given back as it was given
    state: State = NO_STATE  # what Eidet keeps of it
    vector: bytes | None = field(default=None, repr=False)  # the embedding: float32 bytes or a smaller code
    terms: bytes = field(default=b"", repr=False)  # the analysed words, as the index reads them
    level: int = 0  # detail lowered so far: 0 none, 1 the vector, 2 the vector, text and numbers
    original: bytes | None = field(default=None, repr=False)  # what was lowered; `whole` restores it
    derived_from: tuple[str, ...] = ()
    trust: Trust = Trust.USER
    sealed: bytes | None = field(default=None, repr=False)  # the encrypted content of a sealed store
    version: int = 1  # 1, and one more with every revision
    seq: int = 0  # the store's change number; rises with every write

    @property
    def digest(self) -> str:
        """The hash of what the record says (text and data), for compare-and-set and duplicates."""
        return record_digest(self).hex()

    @property
    def whole(self) -> Record:
        """Returns the record with its full text and data, if its tier shows less of them."""
        if self.original is None:
            return self
        kept = decode_original(self.original)
        return self.but(
            text=self.text if kept.text is None else kept.text,
            data=self.data if kept.data is None else kept.data[0],
        )

    @property
    def when(self) -> datetime:
        """The time at which it happened, as an aware UTC datetime."""
        return datetime.fromtimestamp(self.occurred, UTC)

    def is_alive(self, now: float) -> bool:
        """Returns whether it has not expired yet."""
        return self.expires is None or self.expires > now

    @property
    def times(self) -> tuple[datetime, ...]:
        """The times at which it was said, in order: its own, and one for each record merged into it."""
        said = sorted((self.occurred, *(part.occurred for part in self.state.merged)))
        return tuple(datetime.fromtimestamp(at, UTC) for at in said)

    def to_dict(self, *, vectors: bool = False) -> dict[str, Any]:
        """Returns plain values for JSON: times are ISO 8601 in UTC, internal bytes are left out.

        `vectors` adds the numbers of its vector, if its tier still shows them.
        """
        result = dict(zip(_TOLD, _read_told(self), strict=True))
        for name in TIMES:
            result[name] = iso_time(result[name])
        result["meta"] = dict(self.meta)
        result["state"] = self.state.to_json()
        if vectors:
            whole = self.vector is not None and self.level == 0  # else the numbers were lowered
            result["vector"] = list(array("f", self.vector or b"")) if whole else None
        return result

    @staticmethod
    def of(values: Iterable[Any]) -> Record:
        """Builds a record from the values of its fields, in their order; fast, for reading many."""
        new = _fill(values)
        new.__class__ = Record
        frozen: Record = new
        return frozen

    def but(self, **changes: Any) -> Record:
        """Returns the record with some fields changed: `dataclasses.replace`, ten times as fast."""
        new = _fill(_read_all(self))
        for name, value in changes.items():
            setattr(new, name, value)
        new.__class__ = Record
        frozen: Record = new
        return frozen


class _Thawed:
    """A record under construction. It has the same slots, and no frozen `__setattr__` to slow it down."""

    __slots__ = Record.__slots__


def _fill(values: Iterable[Any]) -> Any:
    new: Any = _Thawed()
    (
        new.id,
        new.scope,
        new.text,
        new.kind,
        new.tier,
        new.data,
        new.who,
        new.agent,
        new.session,
        new.step,
        new.place,
        new.importance,
        new.created,
        new.occurred,
        new.uses,
        new.last_used,
        new.expires,
        new.source,
        new.meta,
        new.state,
        new.vector,
        new.terms,
        new.level,
        new.original,
        new.derived_from,
        new.trust,
        new.sealed,
        new.version,
        new.seq,
    ) = values
    return new


def iso_time(at: float | None) -> str | None:
    """Formats a time as ISO 8601 in UTC; None stays None."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat()


TIMES: Final = ("created", "occurred", "last_used", "expires")
HIDDEN: Final = frozenset(("vector", "terms", "original", "sealed"))
MARK_BYTES: Final = 16  # of the hash of a content …
EXACT_KEY_BYTES: Final = 28  # … and of all that a record says: see `eidet.store.rules`
_read_all: Final = attrgetter(*Record.__slots__)
_TOLD: Final = tuple(name for name in Record.__slots__ if name not in HIDDEN)
_read_told: Final = attrgetter(*_TOLD)


class _Ticks:
    """Rising microseconds, so that two ids of one process never share their time part."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self, now: float) -> int:
        with self._lock:
            self._last = max(int(now * 1e6), self._last + 1)
            return self._last


_ticks = _Ticks()


def new_id(now: float) -> str:
    """Makes a time-ordered id, rising within a process and never given twice."""
    return f"{_ticks.next(now):014x}{os.urandom(6).hex()}"


def record_digest(record: Record) -> bytes:
    """Hashes the full content, whatever the tier shows. Sealed content begins with its own hash."""
    if record.sealed is not None:
        return record.sealed[:MARK_BYTES]
    whole = record if record.original is None else record.whole
    return content_digest(whole.text, whole.data)


def content_digest(text: str, data: Json) -> bytes:
    content = text.encode()
    if data is not None:
        content += b"\x00" + dump_json(data, sort_keys=True).encode()
    return blake2b(content, digest_size=16).digest()


def key_id(key: str) -> str:
    """Returns a reference to the record with a key: verbs take it like an id. It is never stored."""
    return "k" + blake2b(key.encode(), digest_size=12).hexdigest()


def is_reference(id: str) -> bool:
    """Returns whether an id has the form that `key_id` gives."""
    return len(id) == 25 and _REFERENCE.fullmatch(id) is not None


# Events: the history of a record.


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a record's history: created, revised, moved (kept otherwise) or forgotten."""

    what: str  # created, revised, moved or forgotten
    id: str  # of the record
    scope: str  # of the record
    at: float  # when, in seconds since 1970
    by: str | None = None  # who did it, if known
    version: int = 1  # of the record after it
    before: Mapping[str, Json] | None = None  # the content before it
