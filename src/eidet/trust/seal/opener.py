"""Opens what a sealed store keeps, by the keys of one ring, and splits filters for it.

The store inside cannot read its records: it is asked the part of a filter that lets every match pass, and
perhaps more. Where that part is exact nothing more is looked at; else what passes is opened and tested by the
whole filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Record
from ...core.where import Where
from . import Shredded
from .boxes import OtherKey, ScopeKeys
from .codec import LABELS, blank, open_content, open_record
from .history import open_history
from .keyring import ACTORS, Keyring

Token = Callable[[str, str, str], str]  # scope, field, label -> what stands for it in the store
NOTHING: Final = "-"  # a token that no label has


class Asked(NamedTuple):
    where: Where
    exact: bool


class Opener:
    def __init__(self, ring: Keyring) -> None:
        self.ring = ring

    def keys(self, scope: str) -> ScopeKeys:
        """For reading what a scope holds."""
        keys = self.ring.of(scope)
        if keys is None:
            raise Corrupt(f"scope {scope!r} holds records but has no key: restore a copy or an export")
        return keys

    def find_keys(self, scope: str) -> ScopeKeys | None:
        """None for a scope that has none yet, or none any more."""
        try:
            return self.ring.of(scope)
        except Shredded:
            return None

    def has_keys(self, scope: str) -> bool:
        return self.find_keys(scope) is not None

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

    def open_same(self, forms: Iterable[Record], marks: Sequence[bytes]) -> list[Record]:
        """Records that a store found by their marks."""
        found = []
        for form in forms:
            if not (form.sealed or b"").startswith(tuple(marks)):
                raise Corrupt(
                    f"the store found record {form.id!r} of scope {form.scope!r} by a key that is not its "
                    "own: it was changed outside of Eidet"
                )
            found.append(self.open(form))
        return found

    def split_filter(self, where: Where) -> Asked:
        """What of a filter the store inside can answer."""
        return split_filter(where, self._token)

    def _token(self, scope: str, name: str, label: str) -> str:
        return self.keys(scope).label(name, label) if self.has_keys(scope) else NOTHING

    def open_history(self, events: Sequence[Event]) -> list[Event]:
        """A history in plain words."""
        if not events:
            return []
        return open_history(events, self.keys(events[0].scope), self.find_keys(ACTORS))

    def name_actor(self, token: str) -> str:
        """Who judged, of whom a token is kept."""
        return self.keys(ACTORS).read_label("by", token)


def split_filter(where: Where, token: Token) -> Asked:
    """The part of a filter that can be asked of the store inside."""
    return _split(where, _one_scope(where), token)


def _one_scope(where: Where) -> str | None:
    """The one scope that all matches are in, if it is said."""
    if where.scope is not None and not where.scope.below:
        return where.scope.path
    return next(filter(None, map(_one_scope, where.every)), None)


def _split(where: Where, scope: str | None, token: Token) -> Asked:
    """Labels are tokens of their scope: without one scope, they are among the rest."""
    scope = scope or _one_scope(where)
    labels = {name: label for name in LABELS if (label := getattr(where, name)) is not None}
    tokens = {name: None if scope is None else token(scope, name, label) for name, label in labels.items()}
    every = [_split(part, scope, token) for part in where.every]
    some = [_split(part, scope, token) for part in where.some]
    never = [_split(part, scope, token) for part in where.never]
    of_record = tuple(condition for condition in where.conditions if condition.of_record)
    exact = of_record == where.conditions and (scope is not None or not labels)
    exact = exact and all(part.exact for part in (*every, *some, *never))
    parts: dict[str, Any] = {
        **tokens,
        "every": tuple(part.where for part in every),
        "some": tuple(part.where for part in some),
        "never": tuple(part.where for part in never if part.exact),
    }
    return Asked(replace(where, conditions=of_record, **parts), exact)
