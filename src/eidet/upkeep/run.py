"""Upkeep of a store: walks it in pages, plans, and applies the changes a batch at a time.

No lock is held while planning, and a write is one small transaction, so recalls and writes go on.
A change is applied only if its record is unchanged since it was read: other writers' changes stand.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from ..core.actor import because
from ..core.errors import Conflict, Corrupt, EidetError, Refused, Unavailable
from ..core.record import Record
from ..core.scope import Scope
from ..core.settings import Upkeep
from ..parts import Parts
from ..store import verbs
from ..store.rules import Entombed, Held
from ..write.ingest import batches
from . import Ask, Change, Drop, Maintained, Noted, Stay, Write
from .archive import OWNER, Archive, name_owner
from .candidates import bounds_of, candidates, read_pages
from .curve import DAY
from .tier_plan import PLANNERS, Bounds, Forms, plan

_BY: Final = "upkeep"  # the author in histories
_TRIM_BYTES: Final = 1 << 20
_PRUNED: Final = 500  # events of histories removed at once
Pause = Callable[[], bool]  # called between batches: may sleep; returns whether to stop
GiveWay = Callable[[], None]  # called within a batch: may let waiting callers go first
C = TypeVar("C", Write, Drop, Change)


def never() -> bool:
    return False


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of upkeep. `write` stores new records and next versions; `answer` words an `Ask`.

    `groups` plans a work over several records of a scope. `write` raises `Entombed` if the content of a
    record was forgotten for good.
    """

    parts: Parts
    settings: Upkeep
    now: float
    dry_run: bool
    forms: Forms
    write: Callable[..., list[Record]]
    groups: Callable[[str, str], Iterator[Change]]
    answer: Callable[[Ask], Write]
    archive: Archive | None
    epoch: int  # of the vectors that `forms` makes
    told: int  # how many changes and failures are listed
    stops: Pause = never
    give_way: GiveWay = lambda: None  # never called within a transaction
    _counts: Counter[str] = field(default_factory=Counter)
    _changes: list[Noted] = field(default_factory=list)
    _failed: list[str] = field(default_factory=list)
    _examined: int = 0
    _skipped: int = 0
    _archived: int = 0

    def maintain(self, scope: Scope | None, works: Sequence[str]) -> Maintained:
        """Does the works on a scope (None: on all) or, in a dry run, reports what it would do."""
        began = time.perf_counter()
        for path, held in verbs.count_scopes(self.parts.store, scope).items():
            if any(work in PLANNERS for work in works):
                self._examined += held
            for changes in self._plan_scope(path, works):
                if self.dry_run:
                    self._note(changes)
                elif changes:
                    self.give_way()
                    with because(_reasons(changes)):
                        self._make(changes)
                    self.give_way()
                    self.parts.follow(path)
                if self.stops():
                    return self._report(began, 0)
        if self.dry_run:
            return self._report(began, 0)
        self._prune()
        return self._report(began, self._trim())

    def _report(self, began: float, freed: int) -> Maintained:
        return Maintained(
            dry_run=self.dry_run,
            examined=self._examined,
            counts=dict(self._counts),
            changes=tuple(self._changes),
            skipped=self._skipped,
            failed=tuple(self._failed),
            archived=self._archived,
            freed_bytes=freed,
            seconds=time.perf_counter() - began,
        )

    # Planning.

    def _plan_scope(self, scope: str, works: Sequence[str]) -> Iterator[list[Change]]:
        """Yields the changes of a scope in batches, including empty ones, after which the run may pause."""
        settings, store = self.settings, self.parts.store
        if single := [work for work in works if work in PLANNERS]:
            bounds = bounds_of(store, scope, settings, self.give_way) if "move" in single else Bounds()
            bounds = replace(bounds, retention=self.parts.settings.retention)
            where = candidates(single, self.now, settings, bounds)
            if where is not None:
                for page in read_pages(store, where.within(Scope(scope)), settings.batch):
                    yield list(plan(page, self.now, settings, bounds, single))
        for work in (work for work in works if work not in PLANNERS):
            yield from batches(self._plan_groups(work, scope), settings.batch)

    def _plan_groups(self, work: str, scope: str) -> Iterator[Change]:
        """Yields the planned changes; a damaged record ends only this work on its scope."""
        try:
            yield from self.groups(work, scope)
        except Corrupt as error:
            self._failed.append(f"{work} {scope}: {error}")

    # Applying.

    def _make(self, changes: Sequence[Change]) -> None:
        """Applies changes, writes first, because records that are deleted may be part of those written."""
        for change in changes:
            if isinstance(change, Ask) or (isinstance(change, Write) and not change.recast):
                self._each_or_all([change], self._write)
        recasts = [change for change in changes if isinstance(change, Write) and change.recast]
        if recasts:
            self._each_or_all(recasts, self._recast)
        self._note([change for change in changes if isinstance(change, Stay)])
        drops = [change for change in changes if isinstance(change, Drop)]
        if drops:
            self._each_or_all(drops, self._drop)

    def _each_or_all(self, changes: Sequence[C], make: Callable[[Sequence[C]], None]) -> None:
        """Applies all changes or, if that fails, one by one, so that a damaged record blocks no other."""
        try:
            make(changes)
        except EidetError as error:
            if isinstance(error, Refused | Unavailable) and not isinstance(error, Held):
                raise  # the store or the archive cannot write: the next one would fail too
            if len(changes) > 1:
                for change in changes:
                    self._each_or_all([change], make)
            elif len(self._failed) < self.told:
                [failed] = changes
                self._failed.append(f"{failed.what} {failed.record.scope}/{failed.record.id}: {error}")

    def _recast(self, changes: Sequence[Write]) -> None:
        read = [change.instead or change.record for change in changes]
        levels = [
            (change.record.but(level=old.level), change.record.level)
            for old, change in zip(read, changes, strict=True)
        ]
        pairs = list(zip(read, self.forms.at_levels(levels), strict=True))
        self.give_way()
        made = verbs.rewrite_form(self.parts.store, pairs, now=self.now, epoch=self.epoch, by=_BY)
        self._note([change for change, new in zip(changes, made, strict=True) if new is not None])
        self._skipped += made.count(None)

    def _drop(self, changes: Sequence[Drop]) -> None:
        kept = [change.record for change in changes if change.archive]
        if kept and self.archive is None:
            raise Conflict("there is no archive; important records are not deleted")
        if kept and self.archive is not None:
            owner = {OWNER: name_owner(self.parts.store)}
            self.archive.keep(kept, self.parts.manifest(self.now) | owner, now=self.now)
            self._archived += len(kept)
        records = [change.record for change in changes]
        gone = set(verbs.delete_unchanged(self.parts.store, records, now=self.now, by=_BY))
        done = [change for change in changes if change.record.id in gone]
        self._note(done)
        self._skipped += len(changes) - len(done)

    def _write(self, changes: Sequence[Change]) -> None:
        [change] = changes
        put = self.answer(change) if isinstance(change, Ask) else change
        assert isinstance(put, Write)
        expect = put.instead.version if put.instead is not None else None
        try:
            stored = self.write([put.record], now=self.now, unique=True, expect=expect, by=_BY)[0]
        except (Conflict, Entombed, Held):  # another writer was first, or it was forgotten for good
            self._skipped += 1
            return
        if uses := sum(record.uses for record in put.absorbs):
            last = max(record.last_used or 0.0 for record in put.absorbs)
            verbs.add_uses(self.parts.store, {(stored.scope, stored.id): (uses, last)})
        verbs.delete_unchanged(self.parts.store, put.absorbs, now=self.now, by=_BY)
        self._note([replace(put, what=change.what, record=stored)])

    def _note(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._counts[change.what] += 1
            if len(self._changes) < self.told:
                record = change.record
                self._changes.append(Noted(change.what, record.scope, record.id, change.because))

    # Tidying.

    def _prune(self) -> None:
        """Prunes old events: those of moves, which only indexes need, and histories of deleted records."""
        store = self.parts.store
        limits = ((self.settings.moves_told_days, False), (self.settings.history_days, True))
        for days, dead in limits:
            if days is not None:
                before = self.now - days * DAY
                while verbs.prune_history(store, before, dead=dead, most=_PRUNED) and not self.stops():
                    pass

    def _trim(self) -> int:
        freed = 0
        while given := verbs.compact(self.parts.store, _TRIM_BYTES):
            freed += given
            if self.stops():
                break
        return freed


def _reasons(changes: Sequence[Change]) -> dict[str, str]:
    """Maps each record to the reason for its change, for the audit log."""
    reasons = {change.record.id: f"{change.what}: {change.because}" for change in changes}
    for change in changes:
        for record in change.absorbs if isinstance(change, Write) else ():
            reasons[record.id] = f"{change.what}: it became part of {change.record.id}"
    return reasons
