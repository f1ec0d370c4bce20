"""The nouns: frozen values that every other module speaks of. No I/O, no clock, no numpy."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, TypedDict, overload

from .clean import Json, Moment, dump_json
from .errors import BadInput
from .original import read_original

Place = tuple[float, ...]


class Kind(StrEnum):
    """What a record is about."""

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


class Tier(StrEnum):
    """How much detail a record keeps and for how long."""

    SHORT = "short"
    MIDDLE = "middle"
    LONG = "long"


class Trust(StrEnum):
    """Where a text comes from, from most to least trusted."""

    TRUSTED = "trusted"  # the developer
    USER = "user"
    TOOL = "tool"  # what a tool or another agent returned
    WEB = "web"  # pages, mails, files of strangers
    UNKNOWN = "unknown"
    QUARANTINED = "quarantined"  # kept for review: recall, find and context leave it out


def kind_of(value: str) -> Kind:
    try:
        return Kind(value)
    except ValueError:
        raise BadInput(f"unknown kind {value!r}; there are {', '.join(Kind)}") from None


def tier_of(value: str) -> Tier:
    try:
        return Tier(value)
    except ValueError:
        raise BadInput(f"unknown tier {value!r}; there are {', '.join(Tier)}") from None


def trust_of(value: str) -> Trust:
    try:
        return Trust(value)
    except ValueError:
        raise BadInput(f"unknown trust {value!r}; there are {', '.join(Trust)}") from None


@dataclass(frozen=True, slots=True)
class Scope:
    """The isolation boundary: a path of labels such as `acme/ann`.

    A plain string names exactly one scope. `Scope.under("acme")` names `acme` and all below it.
    """

    path: str = "default"
    below: bool = False

    def __post_init__(self) -> None:
        check_scope(self.path)

    @classmethod
    def of(cls, scope: str | Scope) -> Scope:
        if isinstance(scope, str):
            return _checked_scope(scope)
        return scope if isinstance(scope, Scope) else cls(scope)

    @classmethod
    def under(cls, path: str) -> Scope:
        return cls(path, below=True)

    def holds(self, path: str) -> bool:
        return path == self.path or (self.below and path.startswith(self.path + "/"))

    def __str__(self) -> str:
        return self.path + ("/**" if self.below else "")


@lru_cache(maxsize=4096)
def _checked_scope(path: str) -> Scope:
    return Scope(path)


def check_scope(path: str) -> None:
    """Labels are any printable text without '/', 1 to 200 characters each, 1,000 in all."""
    if not isinstance(path, str):
        raise BadInput(f"a scope is a string such as 'acme/ann', not {type(path).__name__}")
    if len(path) > 1000:
        raise BadInput(f"a scope has at most 1,000 characters, this one has {len(path):,}")
    for label in path.split("/"):
        if not label or len(label) > 200 or label != label.strip() or not label.isprintable():
            raise BadInput(
                f"scope {path!r}: each label between '/' needs 1 to 200 printable characters "
                "and no space at its ends"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The one thing that is stored. `store` fills in `version` and `seq`."""

    id: str
    scope: str
    text: str
    kind: Kind = Kind.FACT
    tier: Tier = Tier.SHORT
    data: Json = None
    who: str | None = None
    agent: str | None = None
    session: str | None = None
    step: int | None = None
    place: Place | None = None
    importance: float = 0.5
    created: float = 0.0
    occurred: float = 0.0
    uses: int = 0
    last_used: float | None = None
    expires: float | None = None
    source: str | None = None
    meta: Mapping[str, Json] = field(default_factory=dict)
    vector: bytes | None = field(default=None, repr=False)
    terms: bytes = field(default=b"", repr=False)
    level: int = 0  # how much was lowered: 0 nothing, 1 the vector, 2 vector, text and numbers
    original: bytes | None = field(default=None, repr=False)  # what was lowered, see `whole`
    derived_from: tuple[str, ...] = ()
    trust: Trust = Trust.USER
    sealed: bytes | None = field(default=None, repr=False)  # what a sealing store keeps in place of content
    version: int = 1
    seq: int = 0

    @property
    def digest(self) -> str:
        """The hash of what the record says (text and data), for compare-and-set and duplicates."""
        return record_digest(self).hex()

    @property
    def whole(self) -> Record:
        """With the text and the data it had before its tier showed less of them; else as it is."""
        if self.original is None:
            return self
        kept = read_original(self.original)
        return self.but(
            text=self.text if kept.text is None else kept.text,
            data=self.data if kept.data is None else kept.data[0],
        )

    @property
    def when(self) -> datetime:
        """When it happened, as an aware UTC datetime."""
        return datetime.fromtimestamp(self.occurred, UTC)

    @staticmethod
    def of(values: Iterable[Any]) -> Record:
        """A record from the values of its fields, in their order; for reading many."""
        new = object.__new__(Record)
        for write, value in zip(_WRITE.values(), values, strict=True):
            write(new, value)
        return new

    def but(self, **changes: Any) -> Record:
        """The same record with some fields changed: `dataclasses.replace`, three times as fast."""
        new = object.__new__(Record)
        for read, write in _SLOTS:
            write(new, read(self))
        for name, value in changes.items():
            _WRITE[name](new, value)
        return new


MARK_BYTES: Final = 16
_WRITE: Final = {name: getattr(Record, name).__set__ for name in Record.__slots__}
_SLOTS: Final = tuple((getattr(Record, name).__get__, write) for name, write in _WRITE.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation, as agent frameworks write it."""

    role: str
    content: str | None = None
    timestamp: Moment | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    tool_calls: Sequence[Json] = ()
    tool_call_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A record to be: what a caller says of it. What is left out gets its default."""

    text: str | None = None
    data: Json = None
    kind: str | None = None
    tier: str | None = None
    who: str | None = None
    agent: str | None = None
    session: str | None = None
    step: int | None = None
    place: Sequence[float] | None = None
    importance: float | None = None
    occurred: Moment | None = None
    expires: Moment | timedelta | None = None
    source: str | None = None
    meta: Mapping[str, Json] | None = None
    vector: Any = None
    derived_from: Sequence[str] = ()
    trust: str | None = None
    id: str | None = None
    key: str | None = None


class Details(TypedDict, total=False):
    """What `remember` may be told beside the thing itself."""

    scope: str | Scope
    kind: str | None
    tier: str | None
    who: str | None
    agent: str | None
    session: str | None
    step: int | None
    place: Sequence[float] | None
    importance: float | None
    occurred: Moment | None
    expires: Moment | timedelta | None
    source: str | None
    data: Json
    meta: Mapping[str, Json] | None
    vector: Any
    derived_from: Sequence[str]
    trust: str | None
    id: str | None
    key: str | None
    keep_duplicates: bool
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened to a record: `what` is created, revised, moved (kept otherwise) or forgotten."""

    what: str
    id: str
    scope: str
    at: float
    by: str | None = None
    version: int = 1
    before: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One reason for a hit's place: the raw value, its share of the score, its rank in that signal."""

    name: str
    value: float
    share: float
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Why a hit is where it is: what each signal gave, and which words of the query it has."""

    signals: tuple[Signal, ...] = ()
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A record with its score in 0-1 and why it has it. The reasons are told when asked for."""

    record: Record
    score: float
    reasons: Callable[[], Reasons] = field(default=Reasons, repr=False, compare=False)

    @property
    def signals(self) -> tuple[Signal, ...]:
        """What made the score, largest share first."""
        return self.reasons().signals

    @property
    def matched(self) -> tuple[str, ...]:
        """The words of the query that the record has, as they were asked."""
        return self.reasons().matched

    @property
    def text(self) -> str:
        return self.record.text

    @property
    def id(self) -> str:
        return self.record.id

    def why(self) -> str:
        """The explanation as one line: `dense 0.61 (#1) + words 0.34 (#2: lives, lisbon) - question 0.02`.

        What gave less than half a hundredth is left out.
        """
        reasons = self.reasons()
        told = [signal for signal in reasons.signals if abs(signal.share) >= 0.005] or reasons.signals[:1]
        parts = [_part(signal, reasons.matched) for signal in told]
        return " ".join(parts).removeprefix("+ ") or "matches the filter"


def _part(signal: Signal, matched: Sequence[str]) -> str:
    note = f"#{signal.rank}" if signal.rank else ""
    if signal.name == "words" and matched:
        note = f"{note}: {', '.join(matched)}".lstrip(": ")
    sign = "-" if signal.share < 0 else "+"
    return f"{sign} {signal.name} {abs(signal.share):.2f}" + (f" ({note})" if note else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How a recall came to its answer: what was understood, found, left out, and the time it took."""

    query: str
    terms: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    searched: int = 0
    filtered: int = 0
    arms: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    millis: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    scope: str = ""  # where it was asked, which `feedback` goes by


class Hits(Sequence[Hit]):
    """The answer of a recall: hits, best first, the trace if it was asked for, and where it was asked."""

    __slots__ = ("_hits", "scope", "trace")

    def __init__(self, hits: Sequence[Hit], trace: Trace | None = None, scope: str = "") -> None:
        self._hits = tuple(hits)
        self.trace = trace
        self.scope = scope

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self._hits[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hits) and self._hits == other._hits

    def __hash__(self) -> int:
        return hash(tuple(hit.id for hit in self._hits))

    def __repr__(self) -> str:
        return f"Hits({list(self._hits)!r})"


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
    """A time-ordered id, rising within a process and never given twice."""
    return f"{_ticks.next(now):014x}{os.urandom(6).hex()}"


def record_digest(record: Record) -> bytes:
    """Of what it says as a whole, whatever its tier shows of it; sealed content begins with its mark."""
    if record.sealed is not None:
        return record.sealed[:MARK_BYTES]
    said = record.whole
    return content_digest(said.text, said.data)


def content_digest(text: str, data: Json) -> bytes:
    content = text.encode()
    if data is not None:
        content += b"\x00" + dump_json(data, sort_keys=True).encode()
    return blake2b(content, digest_size=16).digest()


def key_id(key: str) -> str:
    """The id of a record that the caller names by a key of their own."""
    return "k" + blake2b(key.encode(), digest_size=12).hexdigest()
