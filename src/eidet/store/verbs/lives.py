"""Writes records with their histories to another place, as they were: when, and by whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from ...core.record import Event, Record
from .. import Store, Transaction
from ..rules import Life


def read_lives(source: Store | Transaction, records: Iterable[Record]) -> list[Life]:
    """Returns records with their histories."""
    return [(record, source.history(record.scope, record.id)) for record in records]


def split_lives(story: Sequence[Event]) -> list[Sequence[Event]]:
    """Splits a history into the lives of an id, each of which begins with its creation."""
    starts = [at for at, event in enumerate(story) if event.what == "created" or not at]
    return [story[at:end] for at, end in pairwise([*starts, len(story)])]


def write_lives(transaction: Transaction, lives: Iterable[Life]) -> list[Record]:
    """Writes new records with their full history. Returns them as stored."""
    stored: list[Record] = []
    for short, some in groupby(lives, key=lambda life: len(life[1]) <= 1):
        if short:
            stored += transaction.insert([record for record, _ in some])
        else:
            stored += [_write_life(transaction, *life) for life in some]
    return stored


def _write_life(transaction: Transaction, record: Record, story: Sequence[Event]) -> Record:
    """Replays a record: its first version by its creator, the rest from its events."""
    life = split_lives(story)[-1] if story else ()
    events = [event for event in life if event.what != "created"]
    creators = [event.by for event in life if event.what == "created"] if events else []
    (stored,) = transaction.insert([record.but(agent=creators[0]) if creators else record])
    return replay_events(transaction, stored, record, events)


def replay_events(
    transaction: Transaction, stored: Record, record: Record, events: Iterable[Event]
) -> Record:
    """Turns a stored record into another one by these events. Returns it as stored."""
    for event in events:
        transaction.remove([stored], [event])
        (stored,) = transaction.insert([record])
    return stored
