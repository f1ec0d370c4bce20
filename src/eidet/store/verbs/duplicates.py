"""Exact duplicates: facts and documents that a scope already has under another id, with every detail.

The same text with other details (another agent, session, time, label …) is another record. Only how long
it lives is merged: a duplicate lives as long as the longest-lived of the two was meant to.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from operator import mul
from typing import Final, cast

from ...core.record import Record, Trust, record_digest
from .. import Transaction
from ..abilities import FindsTwins
from ..rules import UNIQUE_KINDS
from .lookups import Key
from .record_details import Details, details_of

FEW_RECORDS: Final = 4  # that are written at once and looked up one by one
SAME_DIRECTION: Final = 0.999  # cosine of two vectors from which they are taken for one
Known = dict[tuple[bytes, Details], list[Record]]  # by content and details


def split_runs(records: Sequence[Record], *, unique: bool) -> Iterator[Sequence[Record]]:
    """Runs of records none of which can be about another of its run: no id and no statement twice."""
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
    """The ids of a run of records and, if they are to be unique, what they state."""

    def __init__(self, unique: bool) -> None:
        self._unique = unique
        self._ids: set[Key] = set()
        self._contents: dict[tuple[str, bytes], Record] = {}
        self._statements: set[tuple[tuple[str, bytes], Details]] = set()

    def take(self, record: Record) -> bool:
        """Notes a record; False if the run already has its id or its statement."""
        key = (record.scope, record.id)
        if key in self._ids or not self._take_statement(record):
            return False
        self._ids.add(key)
        return True

    def _take_statement(self, record: Record) -> bool:
        if not self._unique or record.kind not in UNIQUE_KINDS:
            return True
        content = (record.scope, record_digest(record))
        first = self._contents.setdefault(content, record)
        if first is record:
            return True  # most are, and details take longer to compare
        self._statements.add((content, details_of(first)))
        statement = (content, details_of(record))
        if statement in self._statements:
            return False
        self._statements.add(statement)
        return True


def find_duplicates(
    transaction: Transaction, records: Sequence[Record], there: dict[Key, Record], now: float
) -> dict[Key, Record]:
    """By the (scope, id) of a record that is new: the living fact or document that says the same."""
    new = [record for record in records if (record.scope, record.id) not in there]
    if len(new) <= FEW_RECORDS and _tells_apart(type(transaction)):
        return _find_each(transaction, new, now)
    wanted: dict[str, dict[bytes, list[Record]]] = {}
    for record in new:
        if record.kind in UNIQUE_KINDS:
            wanted.setdefault(record.scope, {}).setdefault(record_digest(record), []).append(record)
    twins: dict[Key, Record] = {}
    for scope, digests in wanted.items():
        if same := transaction.same(scope, list(digests)):
            _match(digests, same, now, twins)
    return twins


def _find_each(transaction: Transaction, records: Sequence[Record], now: float) -> dict[Key, Record]:
    twins: dict[Key, Record] = {}
    for record in records:
        twin = find_duplicate(transaction, record, now)
        if twin is not None:
            twins[record.scope, record.id] = twin
    return twins


def find_duplicate(transaction: Transaction, record: Record, now: float) -> Record | None:
    """As `find_duplicates`, for one record that is new; seldom looks at more than a few."""
    if record.kind not in UNIQUE_KINDS:
        return None
    digest = record_digest(record)
    twins: dict[Key, Record] = {}
    for same in find_twins(transaction, record, digest):
        _match({digest: [record]}, same, now, twins)
        if twins:
            break
    return twins.get((record.scope, record.id))


def find_twins(transaction: Transaction, record: Record, digest: bytes) -> Iterator[Sequence[Record]]:
    """Records that may say the same as a new one in every detail, some at a time.

    They come from a store that can tell them apart; else they are all of that content.
    """
    if _tells_apart(type(transaction)):
        yield from cast("FindsTwins", transaction).find_twins(record, digest)
    else:
        yield transaction.same(record.scope, [digest])


def list_twins(transaction: Transaction, record: Record, digest: bytes) -> list[Record]:
    """All that `find_twins` gives."""
    return list(chain.from_iterable(find_twins(transaction, record, digest)))


def keep_current(transaction: Transaction, twins: Sequence[Record]) -> list[Record]:
    """Without copies that do not count any more: the one that counts may say something else."""
    current = []
    for twin in twins:
        (now,) = transaction.read(twin.scope, [twin.id])
        if now is not None and now.seq == twin.seq:
            current.append(twin)
    return current


@cache
def _tells_apart(transaction: type) -> bool:
    """By class, and only once: `isinstance` of a protocol would take long at each write."""
    return issubclass(transaction, FindsTwins)


def _match(
    digests: dict[bytes, list[Record]], same: Sequence[Record], now: float, twins: dict[Key, Record]
) -> None:
    known: Known = {}
    for twin in same:
        if twin.expires is None or twin.expires > now:
            known.setdefault((record_digest(twin), details_of(twin)), []).append(twin)
    for digest, records in digests.items():
        for record in records:
            if (found := _find_twin(record, digest, known)) is not None:
                twins[record.scope, record.id] = found


def _find_twin(record: Record, digest: bytes, known: Known) -> Record | None:
    for timed in (True, False):
        for twin in known.get((digest, details_of(record, timed=timed)), ()):
            if _repeats(record, twin):
                return twin
    return None


def _repeats(new: Record, twin: Record) -> bool:
    """Whether nothing is lost if `new` is not stored, because of what Eidet keeps of the other.

    Nothing crosses the quarantine, unless somebody approved this very content.
    """
    return (
        (new.occurred in (new.created, twin.occurred))
        and (new.state.pinned is None or twin.state.pinned is not None)
        and _stands_as_open(new, twin)
        and _is_as_important(new, twin)
        and _points_the_same_way(new, twin)
        and (twin.state.hold is None or end_of(twin) >= end_of(new))
    )


def _stands_as_open(new: Record, twin: Record) -> bool:
    if (new.trust is Trust.QUARANTINED) == (twin.trust is Trust.QUARANTINED):
        return True
    review = twin.state.reviewed
    return new.trust is Trust.QUARANTINED and review is not None and review.digest == twin.digest


def _is_as_important(new: Record, twin: Record) -> bool:
    if new.state.weighed and twin.state.weighed:
        return True
    importance = new.importance
    if new.state.echo_of is not None and twin.state.echo_of is None:
        importance *= 2  # an echo counts for half
    if twin.state.merged:
        return importance <= twin.importance
    return importance == twin.importance


def _points_the_same_way(new: Record, twin: Record) -> bool:
    """A caller may give a vector of their own; embedders repeat theirs, but not to the last bit."""
    one, other = new.vector, twin.vector
    if one == other or one is None or other is None or new.level or twin.level:
        return True
    if len(one) != len(other) or len(one) % 4:
        return True
    ours, theirs = array("f", one), array("f", other)
    length = math.sqrt(sum(map(mul, ours, ours)) * sum(map(mul, theirs, theirs)))
    return bool(sum(map(mul, ours, theirs)) >= SAME_DIRECTION * length)


def end_of(record: Record) -> float:
    """When a record ends, or will once nothing protects it any more; `inf` if never."""
    ends = [record.expires]
    for mark in (record.state.pinned, record.state.hold):
        if mark is not None:
            ends.append(mark.expires)
    return min(end for end in (*ends, math.inf) if end is not None)


def prolong(twin: Record, record: Record) -> Record | None:
    """The twin with the end of a record that repeats it, where that is later; else None."""
    end = end_of(record)
    if end <= end_of(twin):
        return None
    expires = None if end == math.inf else end
    pin = twin.state.pinned
    if pin is None:
        return twin.but(expires=expires)
    return twin.but(state=twin.state.but(pinned=replace(pin, expires=expires)))


def count_use(record: Record, now: float) -> Record:
    last = now if record.last_used is None else max(now, record.last_used)
    return record.but(uses=record.uses + 1, last_used=last)
