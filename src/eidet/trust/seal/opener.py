"""Opens what a sealed store keeps, by the keys of one ring."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Record
from ...core.where import Where
from . import Shredded
from .boxes import OtherKey, ScopeKeys
from .codec import blank, open_content, open_record
from .filter_split import NOTHING, Asked, asked_of
from .history import open_history
from .keyring import ACTORS, Keyring


class Opener:
    def __init__(self, ring: Keyring) -> None:
        self.ring = ring

    def keys(self, scope: str) -> ScopeKeys:
        """For reading what a scope holds."""
        keys = self.ring.of(scope)
        if keys is None:
            raise Corrupt(f"scope {scope!r} holds records but has no key: restore a copy or an export")
        return keys

    def has_keys(self, scope: str) -> bool:
        try:
            return self.ring.of(scope) is not None
        except Shredded:
            return False

    def open(self, form: Record, how: Callable[[Record, ScopeKeys], Record] = open_record) -> Record:
        try:
            return how(form, self.keys(form.scope))
        except OtherKey:  # made by another process after ours were read
            self.ring.renew()
            return how(form, self.keys(form.scope))

    def open_or_blank(
        self, form: Record, how: Callable[[Record, ScopeKeys], Record] = open_content
    ) -> Record:
        """As far as it can be read: what was shredded says nothing."""
        try:
            return self.open(form, how)
        except Shredded:
            return blank(form)

    def asked(self, where: Where) -> Asked:
        """What of a filter the store inside can answer."""
        return asked_of(where, self._token)

    def _token(self, scope: str, name: str, label: str) -> str:
        return self.keys(scope).label(name, label) if self.has_keys(scope) else NOTHING

    def open_history(self, events: Sequence[Event], form: Record | None) -> list[Event]:
        """A history in plain words; `form` is the record as it is kept now."""
        return open_history(events, form, self.ring.of(events[0].scope), self.name_actor) if events else []

    def name_actor(self, token: str) -> str:
        """Who acted, of whom a token is kept."""
        return self.keys(ACTORS).labelled("by", token)
