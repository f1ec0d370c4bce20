"""Answers of the port, computed from records in memory, for stores that hold them as Python values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from ..core.condition import MISSING, Condition, document_of, resolve
from ..core.record import Event, Record
from ..core.scope import Scope
from ..core.validate import Json, dump_json
from .model import Derived, K, Use, V
from .rules import check_order

R = TypeVar("R", Record, Record | None)


def sort_records(records: Iterable[Record], order: str) -> list[Record]:
    """Sorts by one of ORDERS: absent values last, equal ones by seq in the same direction."""
    name, descending = check_order(order)
    return _sort(records, attrgetter(name), descending)


def names_value(order: str) -> bool:
    """Returns whether an order names a value inside records: "data.price", "-meta.rank"."""
    return order.removeprefix("-").startswith(("data.", "meta."))


def sort_by_value(records: Iterable[Record], order: str) -> list[Record]:
    """Sorts by a value inside records: numbers, then texts, then the rest; absent values last."""
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
    """Works like `Store.count_by`."""
    found = list(records)
    if not columns:
        return {(): len(found)}
    return dict(Counter(_key_of(record, columns) for record in found))


def _key_of(record: Record, columns: Sequence[str]) -> tuple[str, ...]:
    """Returns the values of columns as texts."""
    return tuple([str(getattr(record, name)) for name in columns])


def choose_values(
    kept: Mapping[K, V],
    keys: Iterable[K] | None,
    within: Scope | None = None,
    prefix: str = "",
    limit: int | None = None,
) -> dict[K, V]:
    """Works like `Store.values`, given all values of a table."""
    if keys is not None:
        return {key: kept[key] for key in keys if key in kept}
    chosen: Iterator[Any] = iter(kept)
    if within is not None:
        chosen = (key for key in chosen if within.holds(key[0]))
    if prefix:
        chosen = (key for key in chosen if key.startswith(prefix))
    return {key: kept[key] for key in sorted(islice(chosen, limit))}


def update_record(record: Record, change: Use | Derived) -> Record:
    """Applies one change of `Transaction.update` to a record."""
    if isinstance(change, Derived):
        return record.but(vector=change.vector, terms=change.terms)
    last = change.when if record.last_used is None else max(change.when, record.last_used)
    return record.but(uses=record.uses + change.times, last_used=last)


def creation_of(record: Record) -> Event:
    """Returns the event that begins the history of a record."""
    return Event(what="created", id=record.id, scope=record.scope, at=record.created, by=record.agent)


def edit_events(
    events: Sequence[Event], before: Mapping[int, Mapping[str, Json]] | None
) -> tuple[list[Event], int]:
    """Edits a record's events as `Transaction.edit_history` asks. Returns them and how many were changed."""
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


def prune_events(events: Sequence[Event], before: float, *, every: bool) -> list[Event]:
    """Returns the events without moves older than `before`; with `every`, without any older event."""
    return [event for event in events if event.at >= before or not (every or event.what == "moved")]


def renumber(answer: Any, given: Mapping[int, int]) -> Any:
    """Returns the answer of a job with other seqs in its records: `given` maps those it has to these."""
    if not given:
        return answer
    if isinstance(answer, Record):
        return answer.but(seq=given.get(answer.seq, answer.seq))
    if isinstance(answer, list):
        return [renumber(one, given) for one in answer]
    return answer
