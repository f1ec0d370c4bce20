"""The history of a sealed record, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Record
from .boxes import ScopeKeys
from .codec import Content, content_of, open_note

LOST: Final = "(its key was destroyed)"  # who made something, as told by a history that outlived it
Acted = Callable[[str], str]  # the token of who acted -> who


def open_history(
    events: Sequence[Event], form: Record | None, keys: ScopeKeys | None, acted: Acted
) -> list[Event]:
    """Each note is about the one after it: so they are read from the newest, which is about the record.

    `form` is the record as it is kept now.
    """
    if keys is None:  # sealed in place after it was forgotten: nothing is left that would need a key
        return [replace(event, by=_actor(event, acted)) for event in events]
    owner = keys.owner(events[0].id)
    newer = Content("", None, {}, {}) if form is None else content_of(form, keys, owner)
    plain = []
    for event in reversed(events):
        before = event.before
        if before is not None:
            before, newer = open_note(before, newer, keys, owner, form)
        plain.append(replace(event, before=before, by=_who(event, keys, acted)))
    return plain[::-1]


def _who(event: Event, keys: ScopeKeys, acted: Acted) -> str | None:
    if event.what != "created":
        return _actor(event, acted)
    try:
        return None if event.by is None else keys.labelled("agent", event.by)
    except Corrupt:
        return LOST


def _actor(event: Event, acted: Acted) -> str | None:
    return None if event.by is None else acted(event.by)
