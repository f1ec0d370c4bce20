"""Hits: records that a recall found, with their scores and reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from textwrap import shorten
from typing import Any, Final, Self

from .record import Record, Trust, iso_time

MOST_DAYS: Final = 5  # listed by `Hit.why` for a record that was said more than once


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One reason for a hit's place: raw value, share of the score, and rank within that signal."""

    name: str  # which signal, such as dense or words
    value: float  # the raw value, 0 to 1
    share: float  # its part of the score
    rank: int | None = None  # its place among the hits of this signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """The explanation of a hit's place: what each signal gave, and which words of the query matched."""

    signals: tuple[Signal, ...] = ()
    matched: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def say(self, *, numbers: bool = False) -> str:
        """Joins all reasons into one line: see `Hit.why`."""
        if self.words and not numbers:
            return "; ".join(self.words)
        signals = [signal for signal in self.signals if abs(signal.share) >= 0.005] or self.signals[:1]
        parts = [_part(signal, self.matched) for signal in signals]
        return " ".join(parts).removeprefix("+ ") or "matches the filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A record with a score from 0 to 1. Its reasons are computed when asked for."""

    record: Record  # the record that was found
    score: float  # 0 to 1: the estimated probability that it answers the query
    reasons: Callable[[], Reasons] = field(default=Reasons, repr=False, compare=False)  # why; see `why()`
    superseded_by: str | None = None  # the id of the record that says what holds instead

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The signals behind the score, largest share first."""
        return self.reasons().signals

    @property
    def matched(self) -> tuple[str, ...]:
        """The words of the query that the record has, as the query writes them."""
        return self.reasons().matched

    @property
    def text(self) -> str:
        return self.record.text

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def scope(self) -> str:
        return self.record.scope

    def to_dict(self, *, vectors: bool = False) -> dict[str, Any]:
        """Returns plain values for JSON, with the reasons and the record: see `Record.to_dict`."""
        return {
            "score": self.score,
            "superseded_by": self.superseded_by,
            "why": self.why(),
            "matched": list(self.matched),
            "signals": [asdict(signal) for signal in self.signals],
            "record": self.record.to_dict(vectors=vectors),
        }

    def why(self, *, numbers: bool = False) -> str:
        """Returns the explanation as one line: `mentions 48213; from 4 May 2026, the day asked for; by Ann`.

        With `numbers`, lists what each signal contributed: `dense 0.61 (#1) + words 0.34 (#2: lives,
        lisbon)`, leaving out contributions below 0.005. A record that others were merged into also lists when
        it was said, and a passage of a file its place: `in handbook.md › Leave › Parental leave; has weeks`.
        """
        why = self.reasons().say(numbers=numbers)
        if place := _find_place(self.record):
            why = f"in {place}; {why}"
        if self.record.trust is Trust.QUARANTINED:
            why = f"waits for review; {why}"
        return f"{why}; {_describe_times(self.record.times)}" if self.record.state.merged else why


def _find_place(record: Record) -> str | None:
    """Returns the file, heading and page of a passage that a file sync stored; None for other records."""
    match record.meta.get("passage"):
        case {"place": str(place)}:
            return place
    return None


def _describe_times(times: Sequence[datetime]) -> str:
    """Lists each day once, in order; of many days only the first and the last."""
    days = list(dict.fromkeys(f"{time.day} {time:%B %Y}" for time in times))
    if len(days) > MOST_DAYS:
        days = [days[0], "…", days[-1]]
    return f"said {len(times)} times: {', '.join(days)}"


def _part(signal: Signal, matched: Sequence[str]) -> str:
    note = f"#{signal.rank}" if signal.rank else ""
    if signal.name == "words" and matched:
        note = f"{note}: {', '.join(matched)}".lstrip(": ")
    sign = "-" if signal.share < 0 else "+"
    return f"{sign} {signal.name} {abs(signal.share):.2f}" + (f" ({note})" if note else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Shows how a recall found its answer: what it understood, found and left out, and the time it took."""

    query: str  # the query as given
    terms: tuple[str, ...] = ()  # its words after stemming
    scopes: tuple[str, ...] = ()  # the scopes searched
    searched: int = 0  # how many records were considered
    filtered: int = 0  # how many of them the filter removed
    arms: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)  # ids, scores
    weights: Mapping[str, float] = field(default_factory=dict)  # the weight of each signal
    millis: Mapping[str, float] = field(default_factory=dict)  # milliseconds per stage
    notes: tuple[str, ...] = ()  # what Eidet understood of the query, and what an answer lacks
    scope: str = ""  # the scope of the recall; `feedback` uses it


class Hits(tuple[Hit, ...]):  # noqa: SLOT001  # a tuple cannot have slots of its own
    """The answer of a recall: hits, best first, the trace if requested, and the scope.

    `wants_all` says that the question sounds like one for `recall_all`: "how often did we …?"
    `answered` is how likely the memory has an answer at all.
    """

    trace: Trace | None
    scope: str
    wants_all: bool
    answered: float

    def __new__(
        cls,
        hits: Iterable[Hit],
        trace: Trace | None = None,
        scope: str = "",
        wants_all: bool = False,
        answered: float = 0.0,
    ) -> Self:
        new = super().__new__(cls, hits)
        new.trace, new.scope, new.wants_all = trace, scope, wants_all
        new.answered = max((answered, *(hit.score for hit in new)))
        return new

    def __hash__(self) -> int:
        return hash(tuple(hit.id for hit in self))  # the `meta` of a record cannot be hashed

    def to_dict(self, *, vectors: bool = False) -> dict[str, Any]:
        """Returns the answer as plain values for JSON, with the trace if there is one."""
        result: dict[str, Any] = {"hits": [hit.to_dict(vectors=vectors) for hit in self]}
        if self.trace is not None:
            result["trace"] = asdict(self.trace)
        return result

    def __repr__(self) -> str:
        """Shows the number of hits and the best one, in one line."""
        if not self:
            return "Hits([])"
        return f"Hits({len(self)}, best {self[0].score:.2f}: {shorten(self[0].text, 60)!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class AllHits:
    """The answer of `recall_all`: every hit on a topic in order of time, and what it may lack."""

    hits: tuple[Hit, ...] = ()  # those that belong, the earliest first
    maybe: tuple[Hit, ...] = ()  # those that may belong, the likeliest first
    reason: str = ""  # why the answer may not be complete; empty if it is
    scope: str = ""  # the scope that was asked, the first if several

    @property
    def count(self) -> int:
        return len(self.hits)

    @property
    def complete(self) -> bool:
        """True unless `reason` says that records may be missing."""
        return not self.reason

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def to_dict(self, *, vectors: bool = False) -> dict[str, Any]:
        """Returns the answer as plain values for JSON."""
        hits, maybe = ([hit.to_dict(vectors=vectors) for hit in part] for part in (self.hits, self.maybe))
        return {
            "hits": hits,
            "maybe": maybe,
            "count": self.count,
            "complete": self.complete,
            "reason": self.reason,
        }


# Lists of records with further fields: what was remembered, what was found.


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item that was not stored because its content was forgotten for good before."""

    index: int  # its place in the list that was given
    since: float  # when it was forgotten, in seconds since 1970

    def __str__(self) -> str:
        return f"item {self.index}, forgotten for good on {iso_time(self.since)}"


class RememberedList(list[Record]):
    """The records made from a list, in order. `rejected` lists the items that were left out."""

    def __init__(self, records: Iterable[Record] = (), rejected: Sequence[Rejected] = ()) -> None:
        super().__init__(records)
        self.rejected: tuple[Rejected, ...] = tuple(rejected)


class FoundList(list[Record]):
    """The records that `find` returns; `more` says whether others match beyond the limit."""

    def __init__(self, records: Iterable[Record] = (), *, more: bool = False) -> None:
        super().__init__(records)
        self.more: bool = more
