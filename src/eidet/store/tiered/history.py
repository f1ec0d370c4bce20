"""The history of a record that was kept in several stores, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import inf
from typing import Final

from ...core.event import Event
from ...core.record import Record
from .. import Transaction
from ..lives import versions

MOVED: Final = "eidet:moved"  # by whom a copy was deleted that lives on in another store
_RANK: Final = {"created": 0, "revised": 0, "moved": 1, "forgotten": 2}


def join_histories(stories: Iterable[Sequence[Event]]) -> list[Event]:
    """One story out of those that each store tells. A record that moved has one life, not two."""
    histories = [list(story) for story in stories if story]
    if len(histories) == 1 and not any(event.by == MOVED for event in histories[0]):
        return histories[0]
    stays = list(chain.from_iterable(map(_stays, histories)))
    lives = [[stay] for stay in stays if stay[-1].by != MOVED]
    for stay in sorted((stay for stay in stays if stay[-1].by == MOVED), key=_end):
        later = [life for life in lives if life[0][0].at == stay[0].at and _end(life[0]) >= _end(stay)]
        if not later:  # it is on its way
            lives.append([stay])
            continue
        min(later, key=lambda life: _end(life[0])).append(stay)
    lives.sort(key=lambda life: _end(life[0]))
    return list(chain.from_iterable(map(_one_life, lives)))


def _stays(story: Sequence[Event]) -> Iterator[list[Event]]:
    """The times that an id was in one store."""
    stay: list[Event] = []
    for event in story:
        if event.what == "created" and stay:
            yield stay
            stay = []
        stay.append(event)
    yield stay


def _end(stay: Sequence[Event]) -> float:
    return stay[-1].at if stay[-1].what == "forgotten" else inf


def _one_life(stays: Iterable[Sequence[Event]]) -> list[Event]:
    """Each creation and revision once: as it was noted first, with what any store still tells of before."""
    kept: list[Event] = []
    seen: dict[tuple[str, int], int] = {}
    events = [event for event in chain.from_iterable(stays) if event.by != MOVED]
    for event in events:
        key = event.what, event.version
        if event.what == "moved" or key not in seen:
            seen[key] = len(kept)
            kept.append(event)
        else:
            kept[seen[key]] = _of_two(kept[seen[key]], event)
    return sorted(kept, key=lambda event: (event.version, _RANK[event.what], event.at))


def _of_two(one: Event, other: Event) -> Event:
    first, later = sorted((one, other), key=lambda event: (event.at, event.by is None))
    return replace(first, before=first.before if first.before is not None else later.before)


def copy_life(transaction: Transaction, record: Record, story: Sequence[Event]) -> Record:
    """Writes a record with all that history tells of its versions; the record as it is stored now."""
    first, *later = versions(record, story)
    revisions = {event.version: event for event in story if event.what == "revised"}
    (stored,) = transaction.insert([first])
    for state in later:
        transaction.remove([stored], [revisions[state.version]])
        (stored,) = transaction.insert([state])
    return stored
