"""Exact duplicates: facts and documents that a scope already has under another id, with every detail.

The same text with other details (another agent, session, time, label …) is another record. Only how long
it lives is merged: a duplicate lives as long as the longest-lived of the two was meant to.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import mul
from typing import Final

from ...core.record import Record, Trust, record_digest
from .. import Transaction
from ..rules import UNIQUE_KINDS, key_of, list_repeated
from .changing import Key

_SAME_DIRECTION: Final = 0.999  # cosine from which two vectors count as the same


def split_runs(records: Sequence[Record], *, unique: bool) -> Iterator[Sequence[Record]]:
    """Yields runs of records in which no id occurs twice and, with `unique`, no content."""
    part: list[Record] = []
    seen = _Seen(unique)
    for record in records:
        if not seen.take(record):
            yield part
            part, seen = [], _Seen(unique)
            seen.take(record)
        part.append(record)
    yield part


class _Seen:
    """The ids of a run of records and, if they are to be unique, the keys of what they say."""

    def __init__(self, unique: bool) -> None:
        self._unique = unique
        self._ids: set[Key] = set()
        self._first: dict[tuple[str, bytes], Record] = {}  # the first record of each content
        self._keys: set[tuple[str, bytes]] = set()

    def take(self, record: Record) -> bool:
        """Notes a record; returns False if the run already has its id, or says the same."""
        id = (record.scope, record.id)
        if id in self._ids or not self._take_key(record):
            return False
        self._ids.add(id)
        return True

    def _take_key(self, record: Record) -> bool:
        if not self._unique or record.kind not in UNIQUE_KINDS:
            return True
        scope = record.scope
        first = self._first.setdefault((scope, record_digest(record)), record)
        if first is record:
            return True  # most records are the first, and whole keys take longer
        self._keys.add((scope, key_of(first)))
        if any((scope, key) in self._keys for key in list_repeated(record)):
            return False
        self._keys.add((scope, key_of(record)))
        return True


def find_duplicates(
    transaction: Transaction, records: Sequence[Record], there: Mapping[Key, Record], now: float
) -> dict[Key, Record]:
    """Maps the (scope, id) of a new record to the live fact or document that says the same."""
    wanted: dict[str, list[tuple[Record, list[bytes]]]] = {}
    for record in records:
        if record.kind in UNIQUE_KINDS and (record.scope, record.id) not in there:
            wanted.setdefault(record.scope, []).append((record, list_repeated(record)))
    twins: dict[Key, Record] = {}
    for scope, asked in wanted.items():
        known: dict[bytes, list[Record]] = {}
        for twin in transaction.same(scope, list({key: None for _, keys in asked for key in keys})):
            if twin.is_alive(now):
                known.setdefault(key_of(twin), []).append(twin)
        for record, keys in asked if known else ():
            said = (twin for key in keys for twin in known.get(key, ()))
            first = next((twin for twin in said if _repeats(record, twin)), None)
            if first is not None:
                twins[scope, record.id] = first
    return twins


def _repeats(new: Record, twin: Record) -> bool:
    """Returns whether nothing is lost if `new` is not stored, given the other's internal state.

    A quarantined record never repeats an open one, or the reverse, unless this very content was approved.
    """
    return (
        new.occurred in (new.created, twin.occurred)
        and (new.state.pinned is None or twin.state.pinned is not None)
        and _stands_as_open(new, twin)
        and _is_as_important(new, twin)
        and _points_the_same_way(new, twin)
        and (twin.state.hold is None or _end_of(twin) >= _end_of(new))
    )


def _stands_as_open(new: Record, twin: Record) -> bool:
    if (new.trust is Trust.QUARANTINED) == (twin.trust is Trust.QUARANTINED):
        return True
    review = twin.state.reviewed
    return new.trust is Trust.QUARANTINED and review is not None and review.digest == twin.digest


def _is_as_important(new: Record, twin: Record) -> bool:
    """Compares importance: as their keys agree, both were weighed alike, or Eidet weighed one of them."""
    if new.state.weighed and twin.state.weighed:
        return True
    return new.importance <= twin.importance if twin.state.merged else new.importance == twin.importance


def _points_the_same_way(new: Record, twin: Record) -> bool:
    """Compares vectors: callers may give their own, and embedders repeat theirs, but not to the last bit."""
    one, other = new.vector, twin.vector
    if one == other or one is None or other is None or new.level or twin.level:
        return True
    if len(one) != len(other) or len(one) % 4:
        return True
    ours, theirs = array("f", one), array("f", other)
    length = math.sqrt(sum(map(mul, ours, ours)) * sum(map(mul, theirs, theirs)))
    return bool(sum(map(mul, ours, theirs)) >= _SAME_DIRECTION * length)


def _end_of(record: Record) -> float:
    """Returns when a record ends, or will once nothing protects it any more; `inf` if never."""
    ends = [record.expires]
    for mark in (record.state.pinned, record.state.hold):
        if mark is not None:
            ends.append(mark.expires)
    return min(end for end in (*ends, math.inf) if end is not None)


def prolong(twin: Record, record: Record) -> Record | None:
    """Returns the twin with the end of a record that repeats it, if that is later; else None."""
    end = _end_of(record)
    if end <= _end_of(twin):
        return None
    expires = None if end == math.inf else end
    pin = twin.state.pinned
    if pin is None:
        return twin.but(expires=expires)
    return twin.but(state=twin.state.but(pinned=replace(pin, expires=expires)))


def count_use(record: Record, now: float) -> Record:
    last = now if record.last_used is None else max(now, record.last_used)
    return record.but(uses=record.uses + 1, last_used=last)
