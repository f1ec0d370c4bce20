"""The histories that a transaction reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...core.event import Event
from ...core.validate import Json
from .codec import events_bytes, events_of
from .commit_plan import CommitPlan
from .known import Key, Known


class TransactionHistory:
    """Events as they are kept by (scope, id): none as long as nothing happened since the creation."""

    def __init__(self, known: Known, plan: CommitPlan) -> None:
        self._known, self._plan = known, plan
        self._own: dict[Key, list[Event]] = {}

    def load(self, keys: Sequence[Key], *, guess: bool) -> bool:
        """Reads and guards what is kept of many ids; whether some of it is only guessed."""
        missing = [key for key in keys if key not in self._own]
        self._known.want_histories(missing)
        if not guess:
            self._known.fetch()
        guessed = False
        for scope, id in missing:
            events = self._known.events_at(scope, id)
            guessed = guessed or events is None
            self._plan.guard(self._known.keys.base(scope) + "e", id, events or b"")
        return guessed

    def get(self, key: Key) -> list[Event]:
        own = self._own.get(key)
        if own is not None:
            return own
        stored = self._known.events_at(*key)
        return events_of(stored, *key) if stored else []

    def set(self, key: Key, events: list[Event]) -> None:
        self._own[key] = events
        if events:
            self._plan.on_scope(key[0], "HSET", "e", key[1], events_bytes(events))
        else:
            self._plan.on_scope(key[0], "HDEL", "e", key[1])

    def edit(self, key: Key, before: Mapping[int, Mapping[str, Json]] | None) -> int:
        """Replaces what events say was before, as `Transaction.edit_history`; how many."""
        old = self.get(key)
        new = [_edited(event, before) for event in old]
        changed = sum(was is not now for was, now in zip(old, new, strict=True))
        if changed:
            self.set(key, new)
        return changed

    def prune(self, scope: str, before: float, *, dead: bool, most: int) -> int:
        """As the ability to prune, in one scope."""
        self._known.prolong()
        base = self._known.keys.base(scope)
        flat, ids = self._known.client.read([(base, ("HGETALL", base + "e")), (base, ("HKEYS", base + "i"))])
        living, pruned = set(ids), 0
        for name, stored in zip(flat[::2], flat[1::2], strict=True):
            key = (scope, name.decode())
            gone = dead and name not in living
            events = events_of(stored, *key)
            kept = [event for event in events if not _prunable(event, before, gone)]
            lost = len(events) - len(kept)
            if lost and pruned + lost <= most:
                pruned += lost
                self._plan.guard(base + "e", key[1], stored)
                self.set(key, kept)
        return pruned


def _prunable(event: Event, before: float, dead: bool) -> bool:
    return event.at < before and (event.what == "moved" or dead)


def _edited(event: Event, before: Mapping[int, Mapping[str, Json]] | None) -> Event:
    if event.before is None or (before is not None and event.version not in before):
        return event
    return replace(event, before=None if before is None else dict(before[event.version]))
