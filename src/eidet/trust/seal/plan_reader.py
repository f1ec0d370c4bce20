"""What a plan of `Store.erase` reads of a sealed store, inside of the write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ...store import Look
from . import Shredded
from .codec import blank
from .filter_split import Asked


class Opener(Protocol):
    """What opens records: a sealed store."""

    def asked(self, where: Where) -> Asked: ...
    def opened(self, form: Record) -> Record: ...
    def shut(self, record: Record) -> Record: ...
    def has_keys(self, scope: str) -> bool: ...
    def told(self, events: Sequence[Event], form: Record | None) -> list[Event]: ...


class OpenLook:
    """What a plan reads inside of a write, opened; what was shredded says nothing, but can be deleted."""

    def __init__(self, store: Opener, look: Look) -> None:
        self._store = store
        self._look = look

    def scan(self, where: Where) -> Iterator[Record]:
        asked = self._store.asked(where)
        for form in self._look.scan(asked.where):
            record = self._opened(form)
            if asked.exact or where.matches(record):
                yield record

    def _opened(self, form: Record) -> Record:
        try:
            return self._store.opened(form)
        except Shredded:
            return blank(form)

    def twins(self, records: Sequence[Record]) -> list[Record]:
        given = [self._store.shut(record) for record in records if self._store.has_keys(record.scope)]
        return list(map(self._store.opened, self._look.twins(given)))

    def derived(self, scope: Scope) -> list[Record]:
        return list(map(self._opened, self._look.derived(scope)))

    def history(self, scope: str, id: str) -> list[Event]:
        here, told = self._look.scan(Where(scope=Scope(scope), ids=(id,))), self._look.history(scope, id)
        if not self._store.has_keys(scope):
            return [replace(event, before=None, by=None) for event in told]
        return self._store.told(told, next(iter(here), None))

    def setting(self, name: str) -> str | None:
        return self._look.setting(name)
