"""Reads what a context has beside its hits: the working state, and the turns around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.where import Where
from ..index import Neighbours
from . import Recall
from .query import Key, key_of

Beside = Mapping[Key, Sequence[Record]]  # by record: the turns beside it in its session, nearest first

TURN_KINDS: Final = (Kind.MESSAGE, Kind.INTERACTION, Kind.ACTION, Kind.STATE)
WORKING_MOST: Final = 50  # records of working state that are read


def working_state(recall: Recall, scope: Scope, where: Where | None, now: float) -> list[Record]:
    """Lists the living working state that passes the filter, newest first."""
    wanted = _within(where, kinds=(Kind.WORKING,))
    return recall.list_records(wanted, scope, now=now, order="-occurred", limit=WORKING_MOST)


def turns_around(
    recall: Recall, records: Sequence[Record], reach: int, where: Where | None, now: float
) -> Beside:
    """Returns the turns within `reach` turns of each record in its session, if they pass the filter.

    Asks index and store once per scope; neither if `reach` is 0.
    """
    beside: dict[Key, list[Record]] = {}
    said = [record for record in records if record.session is not None and record.kind in TURN_KINDS]
    for path in dict.fromkeys(record.scope for record in said) if reach else ():
        found = [record for record in said if record.scope == path]
        turns = _within(where, kinds=TURN_KINDS)
        near = recall.index.around(path, [record.seq for record in found], reach, turns, now=now)
        known = _fetch_nearby(recall, path, found, near)
        for record in found:
            if place := near.get(record.seq):
                beside[key_of(record)] = [known[seq] for seq, _ in place.beside if seq in known]
    return beside


def _within(where: Where | None, *, kinds: tuple[Kind, ...]) -> Where:
    return Where(kinds=kinds, every=() if where is None else (where,))


def _fetch_nearby(
    recall: Recall, path: str, found: Sequence[Record], near: Mapping[int, Neighbours]
) -> dict[int, Record]:
    """Returns records by seq: those given, and their neighbours from the store."""
    known = {record.seq: record for record in found}
    missing = {seq for place in near.values() for seq, _ in place.beside} - known.keys()
    fetched = recall.store.read(path, sorted(missing)) if missing else ()
    return known | {record.seq: record for record in fetched if record is not None}
