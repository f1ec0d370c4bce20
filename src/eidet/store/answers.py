"""What the port answers, from records that are at hand as Python values: for stores that hold them so."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from operator import attrgetter, itemgetter
from typing import Any, Final, TypeVar

from ..core.condition import MISSING, Condition, document_of, resolve
from ..core.event import Event
from ..core.record import Record
from ..core.scope import Scope
from ..core.state import NO_STATE
from ..core.validate import Json, dump_json
from .model import Changes, Derived, Head, K, Use, V, entry_of
from .rules import check_order

R = TypeVar("R", Record, Record | None)
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


def copy_record(record: R) -> R:
    """The same record with data and meta of its own: what a caller does to them stays with the caller."""
    if record is None or (record.data is None and not record.meta and record.state is NO_STATE):
        return record
    return record.but(data=_copy_json(record.data), meta=_copy_json(record.meta), state=record.state.own())


def _copy_json(value: Json) -> Json:
    """A copy of JSON: `deepcopy` would look for cycles and classes, and takes several times as long."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        return {name: item if type(item) in _PLAIN else _copy_json(item) for name, item in value.items()}
    return [item if type(item) in _PLAIN else _copy_json(item) for item in value]


def sort_records(records: Iterable[Record], order: str) -> list[Record]:
    """In one of ORDERS: absent values come last, equal ones by seq, in the same direction."""
    name, descending = check_order(order)
    return _sort(records, attrgetter(name), descending)


def names_value(order: str) -> bool:
    """Whether an order names a value inside of records: "data.price", "-meta.rank"."""
    return order.removeprefix("-").startswith(("data.", "meta."))


def sort_by_value(records: Iterable[Record], order: str) -> list[Record]:
    """By a value inside of records: numbers, then texts, then all else; absent values come last."""
    path = Condition(order.removeprefix("-"), "exists").path

    def key_of(record: Record) -> tuple[int, Any] | None:
        value = resolve(document_of(record, path[0]), path[1:])
        if value is MISSING or value is None:
            return None
        if isinstance(value, int | float):
            return 0, value
        return (1, value) if isinstance(value, str) else (2, dump_json(value))

    return _sort(records, key_of, order.startswith("-"))


def _sort(records: Iterable[Record], key_of: Callable[[Record], Any], descending: bool) -> list[Record]:
    rows = sorted(records, key=attrgetter("seq", "id"), reverse=descending)
    keyed = [(key_of(row), row) for row in rows]
    present = [pair for pair in keyed if pair[0] is not None]
    present.sort(key=itemgetter(0), reverse=descending)
    return [row for _, row in present] + [row for key, row in keyed if key is None]


def count_records(records: Iterable[Record], columns: Sequence[str]) -> dict[tuple[str, ...], int]:
    """As `Store.count_by`."""
    found = list(records)
    if not columns:
        return {(): len(found)}
    return dict(Counter(_key_of(record, columns) for record in found))


def _key_of(record: Record, columns: Sequence[str]) -> tuple[str, ...]:
    """The values of columns as texts, by which records are counted."""
    return tuple([str(getattr(record, name)) for name in columns])


def list_changes(
    rows: dict[int, Record], gone: dict[int, int], head: Head, since: int, limit: int
) -> Changes:
    """As `Store.changes`, from the rows of a scope and what went (at which seq: which), by rising seq."""
    fresh = list(islice(takewhile(lambda seq: seq > since, reversed(rows)), limit))
    seqs = fresh[::-1]
    if len(seqs) == limit:  # more may be older than these
        every = list(rows)
        start = bisect_right(every, since)
        seqs = every[start : start + limit]
    if len(seqs) == limit:
        head = Head(head.epoch, seqs[-1])
    late = takewhile(lambda at: at > since, reversed(gone))
    left = [gone[at] for at in late if at <= head.seq and gone[at] <= since]
    return Changes(head, [entry_of(rows[seq]) for seq in seqs], left)


def choose_values(
    kept: Mapping[K, V],
    keys: Iterable[K] | None,
    within: Scope | None = None,
    prefix: str = "",
    limit: int | None = None,
) -> dict[K, V]:
    """As `Store.values`, from all values of a table."""
    if keys is not None:
        return {key: kept[key] for key in keys if key in kept}
    chosen: Iterator[Any] = iter(kept)
    if within is not None:
        chosen = (key for key in chosen if within.holds(key[0]))
    if prefix:
        chosen = (key for key in chosen if key.startswith(prefix))
    return {key: kept[key] for key in sorted(islice(chosen, limit))}


def set_value(kept: dict[K, V], key: K, value: V | None) -> None:
    """None removes it."""
    if value is None:
        kept.pop(key, None)
    else:
        kept[key] = value


def update_record(record: Record, change: Use | Derived) -> Record:
    """As `Transaction.update`."""
    if isinstance(change, Derived):
        return record.but(vector=change.vector, terms=change.terms)
    last = change.when if record.last_used is None else max(change.when, record.last_used)
    return record.but(uses=record.uses + change.times, last_used=last)


def creation_of(record: Record) -> Event:
    """The event that begins the history of a record."""
    return Event(what="created", id=record.id, scope=record.scope, at=record.created, by=record.agent)


def edit_events(
    events: Sequence[Event], before: Mapping[int, Mapping[str, Json]] | None
) -> tuple[list[Event], int]:
    """The events of a record, edited as `Transaction.edit_history` asks, and how many were changed."""
    edited, changed = list(events), 0
    for at, event in enumerate(events):
        if event.before is None:
            continue
        if before is None:
            edited[at] = replace(event, before=None)
        elif event.version in before:
            edited[at] = replace(event, before=dict(before[event.version]))
        changed += edited[at] is not event
    return edited, changed


def prune_histories(
    histories: dict[str, list[Event]], living: Container[str], before: float, dead: bool, most: int
) -> int:
    """As `MaintainsStorage.prune`, from the events of a scope by id; a history is pruned as a whole."""
    pruned = 0
    for id, events in list(histories.items()):
        kept = prune_events(events, before, every=dead and id not in living)
        if pruned + len(events) - len(kept) <= most:
            pruned += len(events) - len(kept)
            set_value(histories, id, kept or None)
    return pruned


def prune_events(events: Sequence[Event], before: float, *, every: bool) -> list[Event]:
    """The events without moves that are older than `before`; with `every`, without any that are older."""
    return [event for event in events if event.at >= before or not (every or event.what == "moved")]


def measure_record(record: Record) -> int:
    """About how many bytes a record takes."""
    return len(record.text) + len(record.vector or b"") + len(record.terms) + len(record.original or b"")
