"""Reads, changes and promotes single records for the verbs of an open memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.arguments import check_flag, each_path, one
from ..core.errors import BadInput, Conflict, NotFound, Refused, each_item
from ..core.hit import Hit, Hits, Trace
from ..core.record import Event, Record
from ..core.scope import Scope, Scopes
from ..core.state import Promotion
from ..core.validate import clean_text
from ..parts import Parts
from ..store import verbs
from ..store.rules import list_versions
from ..trust.audit import Auditing

if TYPE_CHECKING:
    from ..recall.pack import Context
    from .namespaces import Services


TRIES = 100  # of a change before it gives up because other writers were always faster


class Records:
    """Reads records by id, counts each read and, if configured, notes it in the audit log."""

    def __init__(self, parts: Parts, audit: Auditing) -> None:
        self._parts = parts
        self._audit = audit

    def get(self, ids: Sequence[str], scope: Scopes) -> list[Record | None]:
        """Returns one record per id, in the order asked; None for an absent or expired one.

        If several scopes have the id, the first scope given wins.
        """
        if not isinstance(ids, list | tuple):
            raise BadInput(f"get takes an id or a list of ids, not {type(ids).__name__}")
        return self._get_stored(each_item(check_id_text, ids), each_path(scope))

    def _get_stored(self, ids: Sequence[str], paths: Sequence[str]) -> list[Record | None]:
        now = self._parts.clock()
        answers = [self._parts.key_ids.read(path, ids) for path in paths]
        found = [
            next((record for record in same_id if record is not None and record.is_alive(now)), None)
            for same_id in zip(*answers, strict=True)
        ]
        there = [record for record in found if record is not None]
        self._parts.usage.count_reads(there, now)
        self._audit.read("get", paths, [(record.scope, record.id) for record in there])
        return found

    def require(self, id: str, scope: str | Scope) -> Record:
        """Returns the record with this id; raises `NotFound` if there is none."""
        record = self._get_stored(each_item(check_id_text, [id]), [one(scope)])[0]
        if record is None:
            raise self._parts.absence_error(f"record {id!r} in scope {one(scope)}")
        return record

    def history(self, id: str, scope: Scopes) -> list[Event]:
        """Lists the events of a record; those of an expired record come without content.

        If several scopes know the id, the first scope given wins.
        """
        names, paths = self._parts.key_ids.list_ids(clean_text(id, "an id")), each_path(scope)
        told = ((path, name, self._parts.store.history(path, name)) for path in paths for name in names)
        path, name, events = next((story for story in told if story[2]), (paths[0], names[0], []))
        self._audit.read("history", paths, [(path, name)])
        there = self._parts.store.read(path, [name])[0]
        if there is not None and not there.is_alive(self._parts.clock()):
            return [replace(event, before=None) for event in events]
        return events

    def judge(
        self,
        about: Hit | Hits | Trace | Context | str,
        useful: bool,
        scope: str | Scope | None,
        by: str | None,
    ) -> None:
        """Counts a judgement of an answer or a record. A useful record counts as used."""
        from ..recall.feedback import counts_of, find_judged, judge

        what, who = find_judged(about, None if scope is None else Scope.of(scope)), judge(by)
        counts, now = counts_of(what, useful), self._parts.clock()
        if not self._parts.store.writable:
            raise Refused("this memory is open for reading only: feedback cannot be kept")
        record = what.record
        if record is None and what.id is not None:
            record = self.require(what.id, what.scope)
        self._parts.usage.tally(what.scope, who, counts, now)
        if useful and record is not None:
            self._parts.usage.count_uses([record], now)

    def change(
        self,
        id: str,
        scope: str | Scope,
        change: Callable[[Record, float], Record],
        version: int | None = None,
        digest: str | None = None,
    ) -> Record:
        """Applies a change; retries if another writer was faster.

        With a `version` or `digest`, the record must still be that one, else `Conflict`.
        """
        for _ in range(TRIES):
            old = self.require(id, scope)
            check_unchanged(old, version, digest)
            with suppress(Conflict):
                return change(old, self._parts.clock())
        raise Conflict(f"record {id!r} kept changing; gave up after {TRIES} attempts")


def check_id_text(id: str) -> str:
    return clean_text(id, "an id")


def check_unchanged(old: Record, version: int | None, digest: str | None) -> None:
    """Raises `Conflict` if the record no longer has the expected version or content digest."""
    if version is not None and old.version != version:
        raise Conflict(f"record {old.id!r} is at version {old.version}, not {version}", current=old.version)
    if digest is not None and old.digest != digest:
        raise Conflict(f"record {old.id!r} says something else now", current=old.version)


# Copies in other scopes.


@dataclass(frozen=True, slots=True)
class Promotions:
    """Copies and moves records of one memory between its scopes."""

    services: Services

    def promote(self, id: str, scope: str, to: str, *, move: bool, by: str | None) -> Record:
        """Writes the record to the scope `to`; retries if another writer changes it meanwhile."""
        if scope == to:
            raise BadInput(f"a record is promoted into another scope, and it is in {scope} already")
        check_flag(move, "move")
        parts = self.services.parts
        for _ in range(TRIES):
            old = self._find(id, scope, to)
            if old.scope == to:
                return old
            if move:
                self.services.life.check_changeable(old)
            self.services.auditing.promote(scope, to, old.id, moved=move, by=by)
            copy = self._copy(old, to, move, by)
            if not move or verbs.delete_unchanged(parts.store, [old], now=parts.clock(), by=by):
                return copy
        raise Conflict(f"record {id!r} kept changing; gave up after {TRIES} attempts")

    def _find(self, id: str, scope: str, to: str) -> Record:
        """Returns the record, from the scope `to` if it was already moved there."""
        try:
            return self.services.records.require(id, scope)
        except NotFound:
            moved = self.services.records.get([id], to)[0]
            if moved is None or not _comes_from(moved, scope):
                raise
            return moved

    def _copy(self, old: Record, to: str, move: bool, by: str | None) -> Record:
        from ..write.write_path import put_records

        parts = self.services.parts
        now, whole = parts.clock(), self.services.life.detail(old)
        there = parts.store.read(to, [old.id])[0]
        if there is not None and not (_comes_from(there, old.scope) or _comes_from(old, to)):
            raise Conflict(f"scope {to} has another record {old.id!r}; revise or forget that one first")
        from_here = Promotion(scope=old.scope, at=now, by=by) if there is None else there.state.promoted
        versions = [(whole, now, by)]
        if move and there is None:
            versions = self._list_versions(whole, by)
        for record, at, author in versions:
            state = record.state.but(hold=None, promoted=from_here)
            new = record.but(scope=to, state=state, derived_from=())
            if not move:
                new = new.but(version=1, created=now, uses=0, last_used=None)
            watch = parts.tombstones.over_said([new], again=False)
            stored = put_records(parts, [new], now=at, by=author, watch=watch)[0]
        return stored

    def _list_versions(self, record: Record, by: str | None) -> list[tuple[Record, float, str | None]]:
        """Lists the versions that history still holds, with the time and author of each."""
        events = self.services.parts.store.history(record.scope, record.id)
        made = {event.version: (event.at, event.by) for event in events if event.what == "revised"}
        versions = list_versions([(record, events)])
        return [(one, *made.get(one.version, (one.created, one.agent or by))) for one in versions]


def _comes_from(record: Record, scope: str) -> bool:
    return record.state.promoted is not None and record.state.promoted.scope == scope
