"""Texts that only repeat what was just recalled: marked when they are written, if the settings ask for it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ..core.hit import Hits
from ..core.record import Record
from ..parts import Parts

if TYPE_CHECKING:
    from ..upkeep.echo import Echoes

ECHO_SCOPES: Final = 256


class EchoGuard:
    """Keeps recalled texts in mind, by scope. Does nothing unless the setting `echo_guard` is on."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._echoes: dict[str, Echoes] = {}
        self._lock = threading.Lock()

    def note(self, hits: Hits, now: float) -> None:
        """Remembers which texts a recall has told."""
        if not self._parts.settings.echo_guard:
            return
        with self._lock:
            for hit in hits:
                self._of(hit.record.scope).note(hit.id, hit.text, now)

    def mark(self, records: list[Record], now: float) -> list[Record]:
        """Texts that only repeat what was just recalled say so, and count for half."""
        if not self._parts.settings.echo_guard:
            return records
        with self._lock:
            found = [self._of(record.scope).is_echo(record.text, now) for record in records]
        return [_mark_echo(record, id) for record, id in zip(records, found, strict=True)]

    def unlearn(self, scopes: Iterable[str]) -> None:
        """Drops what was noted of texts of these scopes."""
        with self._lock:
            for scope in scopes:
                self._echoes.pop(scope, None)

    def _of(self, scope: str) -> Echoes:
        from ..upkeep.echo import Echoes

        found = self._echoes.pop(scope, None) or Echoes()
        self._echoes[scope] = found
        while len(self._echoes) > ECHO_SCOPES:
            del self._echoes[next(iter(self._echoes))]
        return found


def _mark_echo(record: Record, id: str | None) -> Record:
    if id is None or id == record.id:
        return record
    return record.but(state=record.state.but(echo_of=id), importance=record.importance / 2)
