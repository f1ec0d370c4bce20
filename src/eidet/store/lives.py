"""Writing the life of a record anew: version after version, as its history tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ..core.record import Event, Record
from ..core.record_table import decode_values
from ..core.validate import Json
from . import Transaction
from .rules import list_changes, make_next

Life = tuple[Record, Sequence[Event]]  # a record and its history


class Carry(Protocol):
    """Writes lives into a store, in one of its transactions, as of a time."""

    def __call__(self, transaction: Transaction, lives: Sequence[Life], now: float) -> object: ...


def list_versions(lives: Sequence[Life]) -> list[Record]:
    states: list[Record] = []
    for record, story in lives:
        states += _versions(record, story)
    return states


def _versions(record: Record, story: Sequence[Event]) -> list[Record]:
    """The record as it was in each version that is still told, oldest first; the last is as it is.

    Written one after the other they make as many events. Where that cannot be, only the last is given.
    """
    states = [record]
    for version, before in sorted(_befores(story).items(), reverse=True):
        if version != states[0].version:
            break
        states.insert(0, _unlike(_earlier(states[0].whole, before), states[0]))
    return states if _replayable(states) else [record]


def _befores(story: Sequence[Event]) -> dict[int, Mapping[str, Json]]:
    """What the revisions of the last life still tell, by version."""
    born = max((at for at, event in enumerate(story) if event.what == "created"), default=0)
    return {e.version: e.before for e in story[born:] if e.what == "revised" and e.before is not None}


def _earlier(state: Record, before: Mapping[str, Json]) -> Record:
    return state.but(
        **decode_values(before), original=None, vector=None, terms=b"", version=state.version - 1
    )


def _unlike(earlier: Record, later: Record) -> Record:
    """A version that its successor does not differ from any more, because only its form was changed back."""
    return earlier if list_changes(earlier, later) else earlier.but(source=f"not {later.source}")


def _replayable(states: Sequence[Record]) -> bool:
    """Whether writing them ends where it should."""
    at = states[0]
    for state in states[1:]:
        at = make_next(at, state)
    return at.but(seq=0) == states[-1].but(seq=0)
