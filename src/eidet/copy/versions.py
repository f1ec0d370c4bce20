"""The earlier versions of a record, as far as its history tells what they said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..core.event import Event
from ..core.record import Record, kind_of, tier_of, trust_of
from ..core.state import State
from ..core.validate import Json
from ..store.rules import list_changes

MOST: Final = 100  # versions of one record that are told anew: each is a write of its own
_MAKE: Final[dict[str, Callable[[Any], Any]]] = {
    "kind": kind_of,
    "tier": tier_of,
    "trust": trust_of,
    "place": lambda place: None if place is None else tuple(place),
    "derived_from": tuple,
    "state": State.from_json,
}


class Version(NamedTuple):
    """A record as it was, when it became so, and by whom."""

    record: Record
    at: float
    by: str | None


def versions_of(record: Record, story: Sequence[Event]) -> list[Version]:
    """From the earliest version that can be told to the record itself, each once.

    A version without a word of what changed ends the walk: told anew, it would be none. So does one that
    says the same as the next: it changed a mark that was kept in `meta` at that time.
    """
    revisions = {event.version: event for event in story if event.what == "revised"}
    found: list[Version] = []
    earlier = record
    while len(found) < MOST and (event := revisions.get(earlier.version)) is not None and event.before:
        older = before(earlier, event.before)
        if not list_changes(older, earlier):
            break
        found.append(Version(earlier, event.at, event.by))
        earlier = older
    first = Version(earlier, record.created, None)
    return [first, *reversed(found)]


def before(record: Record, changes: Mapping[str, Json]) -> Record:
    """The version before, without vectors: it is only there to be followed by the next."""
    values = {}
    for name, value in changes.items():
        if name != "sealed":
            values[name] = _MAKE.get(name, _as_is)(value)
    bare = record.whole.but(original=None, vector=None, terms=b"", version=record.version - 1)
    return bare.but(**values)


def _as_is(value: Any) -> Any:
    return value


def time_of_version(story: Sequence[Event], version: int) -> float | None:
    """When a version was made, if the history still tells."""
    times = (event.at for event in story if event.what == "revised" and event.version == version)
    return next(times, None)
