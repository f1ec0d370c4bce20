"""Decisions that every store must make the same way, as pure functions."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Final

from ..core.errors import BadInput, Conflict, Refused
from ..core.record import EXACT_KEY_BYTES, MARK_BYTES, Event, Kind, Record, Trust, record_digest
from ..core.record_table import decode_values
from ..core.state import State
from ..core.validate import Json, dump_json
from ..core.where import Condition, Where
from . import Transaction
from .model import BELOW_MARK, ORDERS, SCOPE_MARK, Claims, TombstoneGuard

UNIQUE_KINDS: Final = (Kind.FACT, Kind.DOCUMENT, Kind.PROCEDURE)
HELD: Final = Where(conditions=(Condition("state.hold", "exists"),))

# What the caller says of a record; the rest is kept by the store or derived.
_KEPT: Final = {"id", "scope", "created", "uses", "last_used", "version", "seq"}
_DERIVED: Final = {"vector", "terms", "original"}
_SAID: Final = tuple(f.name for f in fields(Record) if f.name not in _KEPT | _DERIVED)
_read_said: Final = attrgetter(*_SAID)


def list_changes(old: Record, new: Record) -> dict[str, Json]:
    """Returns the fields that differ, with their old values as JSON. A time not given is no difference.

    Compares whole records, and returns values of the whole: what a tier shows is no difference.
    """
    old, new = old.whole, new.whole
    before = {}
    for name, was, now in zip(_SAID, _read_said(old), _read_said(new), strict=True):
        if was is not now and was != now:
            before[name] = _to_json(was)
    if new.occurred == new.created:
        before.pop("occurred", None)
    return before


def _to_json(value: Any) -> Json:
    if isinstance(value, State):
        return value.to_json()
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return list(value) if isinstance(value, tuple) else value


def make_next(old: Record, new: Record) -> Record:
    """Returns the next version: the new content with the old record's creation time and uses."""
    occurred = old.occurred if new.occurred == new.created else new.occurred
    return new.but(
        created=old.created,
        occurred=occurred,
        uses=old.uses,
        last_used=old.last_used,
        version=old.version + 1,
    )


def recast_of(old: Record | None, given: Record, form: Record) -> Record | None:
    """Returns the record to write in another form; None if the stored one is no longer `given`.

    Uses are counted without a new seq, so they are those of the store.
    """
    if old is None or old.seq != given.seq:
        return None
    return form.but(
        id=old.id,
        scope=old.scope,
        created=old.created,
        uses=old.uses,
        last_used=old.last_used,
        version=old.version,
    )


def check_expected(expect: int | None, old: Record | None, id: str) -> None:
    if expect is None:
        return
    if old is None:
        if expect:
            raise Conflict(f"record {id} is gone; version {expect} was expected")
        return
    if expect == 0:
        raise Conflict(f"record {id} exists already, at version {old.version}", current=old.version)
    if old.version != expect:
        raise Conflict(
            f"record {id} is at version {old.version}, not {expect}: read it again and repeat the change",
            current=old.version,
        )


class Held(Refused):
    """Raised if a write would change or delete records under a legal hold. `records`: their (scope, id)."""

    def __init__(self, records: Sequence[tuple[str, str]], what: str) -> None:
        self.records: tuple[tuple[str, str], ...] = tuple(records)
        first = ", ".join(repr(id) for _, id in self.records[:3])
        if len(self.records) == 1:
            message = f"record {first} is under a legal hold and cannot be {what}: `release` it first"
        else:
            message = f"{len(self.records):,} of the records are under a legal hold and cannot be {what}: "
            message += f"`release` them first ({first})"
        super().__init__(message)


class StaleEpoch(Conflict):
    """Raised if the store's vectors or terms were replaced since the writer looked."""


class Entombed(Refused):
    """Raised if content forgotten for good comes back; nothing is written. `found`: index -> since when."""

    def __init__(self, scope: str, found: dict[int, float]) -> None:
        self.scope = scope
        self.found = found
        index, since = next(iter(found.items()))
        others = f" (and {len(found) - 1:,} more of this call)" if len(found) > 1 else ""
        super().__init__(
            f"the content of record {index} of this call was forgotten for good in scope {scope!r} on "
            f"{datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M:%S} UTC{others}: nothing was stored. "
            "To store it again, say so: remember(…, again=True)"
        )


Since = Mapping[tuple[str, bytes], float]  # (scope, mark) -> since when it is entombed
There = Container[tuple[str, str]]  # the (scope, id) of records that exist


def list_marks(
    records: Sequence[Record], claims: Sequence[Claims], watch: TombstoneGuard
) -> list[tuple[str, bytes]]:
    """Lists the keys of the tombstones that decide whether records may be written."""
    asked: dict[tuple[str, bytes], None] = {}
    for record, claim in zip(records, claims, strict=True):
        own = () if claim.id is None else (claim.id,)
        marks = (*claim.says, *own, *(mark for _, mark in claim.made_of))
        asked.update(dict.fromkeys((record.scope, mark) for mark in marks))
        if watch.returning:
            asked.update(dict.fromkeys(ends_of(record.scope)))
    return list(asked)


def check_entombed(
    records: Sequence[Record], claims: Sequence[Claims], watch: TombstoneGuard, since: Since, there: There
) -> None:
    """Raises `Entombed` if one of the records may not be written, by the tombstones of `list_marks`."""
    moments = [
        _find_tombstone(record, claim, watch, since, there)
        for record, claim in zip(records, claims, strict=True)
    ]
    found = {at: moment for at, moment in enumerate(moments) if moment is not None}
    if found:
        raise Entombed(records[next(iter(found))].scope, found)


def _find_tombstone(
    record: Record, claim: Claims, watch: TombstoneGuard, since: Since, there: There
) -> float | None:
    scope = record.scope
    if not watch.again:
        for mark in claim.says:
            if (moment := since.get((scope, mark))) is not None:
                return moment
    ends = [] if claim.id is None else [(scope, claim.id)]
    for id, mark in claim.made_of:
        if (moment := since.get((scope, mark))) is not None and (scope, id) not in there:
            return moment
    if watch.returning:
        ends += ends_of(scope)
    moments = (since[end] for end in ends if end in since)
    return next((moment for moment in moments if record.created <= moment), None)


def ends_of(scope: str) -> Iterator[tuple[str, bytes]]:
    """Yields the (scope, mark) of tombstones that end a scope: its own, and those of each scope above it."""
    yield scope, SCOPE_MARK
    labels = scope.split("/")
    yield from (("/".join(labels[:count]), BELOW_MARK) for count in range(len(labels), 0, -1))


def check_order(order: str) -> tuple[str, bool]:
    """Returns the column of an order, and whether it descends."""
    name = order.removeprefix("-")
    if name not in ORDERS:
        raise BadInput(
            f"unknown order {order!r}; there are {', '.join(ORDERS)} and paths such as data.price, "
            "with '-' for descending"
        )
    return name, order.startswith("-")


# The exact key of a record, by which a store finds records that say the same: 16 bytes for the content, a
# hash of text and data (a keyed one if the record is sealed), and 12 for the details: the scope, and by whom,
# when, where and how it was said. So a text that thousands share is looked up as fast as any other. A store
# writes a key only as `hide_key` makes it: without the store's secret, it cannot be tested whether a text is
# there.


_DETAIL_BYTES: Final = EXACT_KEY_BYTES - MARK_BYTES


def key_of(record: Record) -> bytes:
    """Returns the key under which a stored record is found."""
    if record.sealed is not None:
        return record.sealed[:EXACT_KEY_BYTES]
    time = None if record.occurred == record.created else record.occurred
    return record_digest(record) + _hash_details((*_details_of(record), time, _weight_of(record)))


def list_repeated(record: Record) -> list[bytes]:
    """Lists the keys of stored records that a new one may repeat: without a time, or weighed by Eidet."""
    content, details = record_digest(record), _details_of(record)
    times = (None,) if record.occurred == record.created else (record.occurred, None)
    weights = dict.fromkeys((_weight_of(record), None))
    return [content + _hash_details((*details, time, weight)) for time in times for weight in weights]


def hide_key(key: bytes, secret: bytes) -> bytes:
    """Hashes each part of an exact key, or its content part alone, with the store's secret."""
    content, details = key[:MARK_BYTES], key[MARK_BYTES:]
    hidden = blake2b(content, key=secret, digest_size=MARK_BYTES).digest()
    if not details:
        return hidden
    return hidden + blake2b(details, key=secret, digest_size=_DETAIL_BYTES).digest()


def _details_of(record: Record) -> tuple[Any, ...]:
    """Returns what callers set beside the content, except time and weight and what Eidet changes itself.

    Eidet chooses the tier, and upkeep adds links, so neither is included.
    """
    state, place, sources = record.state, record.place, record.derived_from
    if sources and state.merged:
        added = {part.id for part in state.merged}
        sources = tuple([id for id in sources if id not in added])
    return (
        record.scope,
        str(record.kind),
        record.who,
        record.agent,
        record.session,
        record.step,
        None if place is None else tuple([axis + 0.0 for axis in place]),  # no database keeps -0.0
        record.source,
        _trust_said(record),
        sources,
        None if state.ttl is None else float(state.ttl),
        state.pii,
        dump_json(record.meta, sort_keys=True) if record.meta else "",
    )


def _trust_said(record: Record) -> str:
    """Returns the trust of a record; of a quarantined one, that which it had before."""
    mark = record.state.quarantine
    if record.trust is Trust.QUARANTINED and mark is not None:
        return mark.was
    return str(record.trust)


def _weight_of(record: Record) -> float | None:
    """Returns the importance that was given; None if Eidet weighed it, or others were merged into it."""
    if record.state.weighed or record.state.merged:
        return None
    return float(record.importance)


@lru_cache(maxsize=4096)
def _hash_details(details: tuple[Any, ...]) -> bytes:
    """Hashes details; cached, because most records of a scope have the same ones."""
    return blake2b(repr(details).encode("utf-8", "surrogatepass"), digest_size=_DETAIL_BYTES).digest()


# The versions of a record, for moves between members and scopes.


Life = tuple[Record, Sequence[Event]]  # a record and its history


Carry = Callable[[Transaction, Sequence[Life], float], object]  # writes lives in a transaction, as of a time


def list_versions(lives: Sequence[Life]) -> list[Record]:
    return [state for record, story in lives for state in _versions(record, story)]


def _versions(record: Record, story: Sequence[Event]) -> list[Record]:
    """Rebuilds each version that history still holds, oldest first; the last is the present record.

    Writing them in order makes the same events again. If that is impossible, returns the present record only.
    """
    states = [record]
    for version, before in sorted(_befores(story).items(), reverse=True):
        if version != states[0].version:
            break
        states.insert(0, _unlike(_earlier(states[0].whole, before), states[0]))
    return states if _replayable(states) else [record]


def _befores(story: Sequence[Event]) -> dict[int, Mapping[str, Json]]:
    """Returns the earlier contents of the current record, by the version that replaced each."""
    born = max((at for at, event in enumerate(story) if event.what == "created"), default=0)
    return {e.version: e.before for e in story[born:] if e.what == "revised" and e.before is not None}


def _earlier(state: Record, before: Mapping[str, Json]) -> Record:
    return state.but(
        **decode_values(before), original=None, vector=None, terms=b"", version=state.version - 1
    )


def _unlike(earlier: Record, later: Record) -> Record:
    """Gives a version that no longer differs from its successor another source, so that it stays one."""
    return earlier if list_changes(earlier, later) else earlier.but(source=f"not {later.source}")


def _replayable(states: Sequence[Record]) -> bool:
    """Returns whether replaying the versions ends in the present state."""
    at = states[0]
    for state in states[1:]:
        at = make_next(at, state)
    return at.but(seq=0) == states[-1].but(seq=0)
