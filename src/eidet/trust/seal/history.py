"""The history of records as a sealed store keeps it, and back.

    before    one box with all that an event says was before, under the key of the record's scope
    by        one box with who acted and whose the record was, under the key of actors: it stays
              readable when the scope is destroyed

Both are bound to all readable columns of their event, and to when the record was created.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Record
from ...core.validate import Json, dump_json
from .boxes import ScopeKeys

LOST: Final = "(its key was destroyed)"  # who made something, as told by a history that outlived it
_ACT: Final = "act:"  # begins what is kept of who acted


class ChangedHistory(Corrupt):
    def __init__(self, event: Event) -> None:
        super().__init__(
            f"the history of record {event.id!r} of scope {event.scope!r} was changed outside of Eidet"
        )


def _columns_of(event: Event, born: float) -> bytes:
    """All readable columns of an event. `born`: when its record was created."""
    try:
        times = float(event.at) + 0.0, float(born) + 0.0
    except (TypeError, ValueError):  # a column that held a number holds something else
        raise ChangedHistory(event) from None
    return repr((event.scope, event.id, event.what, event.version, *times)).encode()


def seal_note(before: Mapping[str, Json], event: Event, born: float, keys: ScopeKeys) -> Mapping[str, Json]:
    """What was before an event, as it is kept."""
    return _seal_note(before, _columns_of(event, born), keys)


def _seal_note(before: Mapping[str, Json], columns: bytes, keys: ScopeKeys) -> Mapping[str, Json]:
    """Stores of several tiers take `sealed` for that of a record."""
    box = keys.seal("note", keys.owner(columns), dump_json(before).encode())
    return {"sealed": b64encode(box).decode()}


def _open_note(event: Event, born: float, keys: ScopeKeys) -> dict[str, Json]:
    owner = keys.owner(_columns_of(event, born))
    before: dict[str, Json] = json.loads(keys.open("note", _read_box(event), owner))
    return before


def _read_box(event: Event) -> bytes:
    try:
        ((name, text),) = (event.before or {}).items()
        box = b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise ChangedHistory(event) from None
    if name != "sealed":
        raise ChangedHistory(event)
    return box


def seal_event(
    event: Event, record: Record, actors: ScopeKeys, keys_for: Callable[[str], ScopeKeys]
) -> Event:
    """An event as it is kept. `record` is what it happened to: its agent is a token."""
    columns = _columns_of(event, record.created)
    before = event.before
    if before is not None:
        before = _seal_note(before, columns, keys_for(event.scope))
    actor = dump_json([event.by, record.agent]).encode()
    box = actors.seal("act", actors.owner(columns), actor)
    return Event(
        what=event.what,
        id=event.id,
        scope=event.scope,
        at=event.at,
        by=_ACT + b64encode(box).decode(),
        version=event.version,
        before=before,
    )


def _open_act(event: Event, born: float, actors: ScopeKeys | None) -> tuple[str | None, str | None]:
    """Who did what an event tells, and the token of the agent that the record had until then."""
    if actors is None:
        raise ChangedHistory(event)
    try:
        box = b64decode((event.by or "").removeprefix(_ACT), validate=True)
    except ValueError:
        raise ChangedHistory(event) from None
    by, author = json.loads(actors.open("act", box, actors.owner(_columns_of(event, born))))
    return by, author


def open_history(events: Sequence[Event], keys: ScopeKeys, actors: ScopeKeys | None) -> list[Event]:
    """The history of one record in plain words. `keys` are those of its scope."""
    plain: list[Event] = []
    born, version = 0.0, 0
    for event in events:
        if event.what == "created":
            born, version = event.at, event.version
            plain.append(replace(event, by=_name_author(event.by, keys)))
            continue
        if event.version < version:
            raise ChangedHistory(event)
        version, by = event.version, None
        if not _is_stand_in(event):
            by, author = _open_act(event, born, actors)
            if plain and plain[-1].what == "created":
                plain[-1] = replace(plain[-1], by=_name_author(author, keys))
        before = None if event.before is None else _open_note(event, born, keys)
        plain.append(replace(event, by=by, before=before))
    return plain


def _name_author(token: str | None, keys: ScopeKeys) -> str | None:
    try:
        return None if token is None else keys.read_label("agent", token)
    except Corrupt:
        return LOST


def _is_stand_in(event: Event) -> bool:
    """A store of several tiers tells so of a version that it knows nothing about."""
    return event.at == 0.0 and event.by is None and event.before is None
