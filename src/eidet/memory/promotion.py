"""Taking a record from one scope into another, as a copy or for good."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.arguments import check_flag
from ..core.errors import BadInput, Conflict, NotFound
from ..core.record import Record
from ..core.state import Promotion
from ..parts import Parts
from ..store import verbs
from ..store.lives import list_versions
from ..trust.audit import Auditing
from ..upkeep.lifecycle import Life
from ..write.write_path import put_records
from .records import TRIES, Records


@dataclass(frozen=True, slots=True)
class Promotions:
    """Copies and moves records of one memory between its scopes."""

    parts: Parts
    records: Records
    life: Life
    audit: Auditing

    def promote(self, id: str, scope: str, to: str, *, move: bool, by: str | None) -> Record:
        """The record as it is in the scope `to`; again if somebody else changes it meanwhile."""
        if scope == to:
            raise BadInput(f"a record is promoted into another scope, and it is in {scope} already")
        check_flag(move, "move")
        for _ in range(TRIES):
            old = self._find(id, scope, to)
            if old.scope == to:
                return old
            if move:
                self.life.check_changeable(old)
            self.audit.promote(scope, to, old.id, moved=move, by=by)
            copy = self._copy(old, to, move, by)
            if not move or verbs.delete_unchanged(self.parts.store, [old], now=self.parts.clock(), by=by):
                return copy
        raise Conflict(f"record {id!r} kept changing; gave up after {TRIES} attempts")

    def _find(self, id: str, scope: str, to: str) -> Record:
        """The record; if it was moved already, as it is where it is now."""
        try:
            return self.records.require(id, scope)
        except NotFound:
            moved = self.records.get([id], to)[0]
            if moved is None or not _comes_from(moved, scope):
                raise
            return moved

    def _copy(self, old: Record, to: str, move: bool, by: str | None) -> Record:
        now, whole = self.parts.clock(), self.life.detail(old)
        there = self.parts.store.read(to, [old.id])[0]
        if there is not None and not (_comes_from(there, old.scope) or _comes_from(old, to)):
            raise Conflict(f"scope {to} has another record {old.id!r}; revise or forget that one first")
        from_here = Promotion(scope=old.scope, at=now, by=by) if there is None else there.state.promoted
        versions = [(whole, now, by)]
        if move and there is None:
            versions = self._list_versions(whole, by)
        for record, at, author in versions:
            state = record.state.but(hold=None, echo_of=None, promoted=from_here)
            new = record.but(scope=to, state=state, derived_from=())
            if not move:
                new = new.but(version=1, created=now, uses=0, last_used=None)
            watch = self.parts.tombstones.over_said([new], again=False)
            stored = put_records(self.parts, [new], now=at, by=author, watch=watch)[0]
        return stored

    def _list_versions(self, record: Record, by: str | None) -> list[tuple[Record, float, str | None]]:
        """Each version that is still told, when it was made and by whom."""
        events = self.parts.store.history(record.scope, record.id)
        made = {event.version: (event.at, event.by) for event in events if event.what == "revised"}
        versions = list_versions([(record, events)])
        return [(one, *made.get(one.version, (one.created, one.agent or by))) for one in versions]


def _comes_from(record: Record, scope: str) -> bool:
    return record.state.promoted is not None and record.state.promoted.scope == scope
