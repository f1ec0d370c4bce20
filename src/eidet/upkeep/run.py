"""Upkeep of a store: walks it in pages, plans, and applies the changes a batch at a time.

No lock is held while planning, and a write is one small transaction, so recalls and writes go on.
A change is applied only if its record is unchanged since it was read: other writers' changes stand.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from ..core.actor import because
from ..core.errors import Conflict, Corrupt, EidetError, Refused, Unavailable
from ..core.record import Record
from ..core.scope import Scope
from ..core.settings import Retention, Upkeep
from ..store import Store, verbs
from ..store.rules import Entombed, Held
from ..write.ingest import batches
from . import Ask, Change, Drop, Maintained, Noted, Stay, Write
from .archive import Archive
from .candidates import bounds_of, candidates, read_pages
from .curve import DAY
from .tier_plan import PLANNERS, Bounds, Forms, plan

_BY: Final = "upkeep"  # the author in histories
_TRIM_BYTES: Final = 1 << 20
_PRUNED: Final = 500  # events of histories removed at once
_Groups = Callable[[str, str], Iterator[Change]]  # work, scope
Pause = Callable[[], bool]  # called between batches: may sleep; returns whether to stop
GiveWay = Callable[[], None]  # called within a batch: may let waiting callers go first


def never() -> bool:
    return False


def hurry() -> None:
    """Does not yield, because a caller waits for the upkeep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepParts:
    """The dependencies of upkeep. `write` stores new records and next versions; `answer` words an `Ask`.

    `write` raises `Entombed` if the content of a record was forgotten for good.
    """

    store: Store
    forms: Forms
    write: Callable[..., list[Record]]
    groups: _Groups
    answer: Callable[[Ask], Write | None]
    archive: Archive | None
    manifest: dict[str, Any]
    epoch: int
    follow: Callable[[str], None]  # called after changes in a scope
    give_way: GiveWay = hurry  # never called within a transaction
    retention: tuple[Retention, ...] = ()


@dataclass(slots=True)
class _Tally:
    """The counts, changes and failures so far."""

    told: int
    counts: Counter[str] = field(default_factory=Counter)
    changes: list[Noted] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    examined: int = 0
    skipped: int = 0
    archived: int = 0

    def note(self, change: Change, id: str | None = None) -> None:
        self.counts[change.what] += 1
        if len(self.changes) < self.told:
            noted = Noted(change.what, change.record.scope, id or change.record.id, change.because)
            self.changes.append(noted)

    def fail(self, change: Change, error: Exception) -> None:
        if len(self.failed) < self.told:
            self.failed.append(f"{change.what} {change.record.scope}/{change.record.id}: {error}")


def maintain(
    parts: UpkeepParts,
    settings: Upkeep,
    *,
    scope: Scope | None,
    now: float,
    works: Sequence[str],
    dry_run: bool = False,
    told: int = 1_000_000,
    stops: Pause = never,
) -> Maintained:
    """Does the works on a scope (None: on all) or, with `dry_run`, reports what it would do."""
    began = time.perf_counter()
    tally, scopes = _Tally(told), verbs.count_scopes(parts.store, scope)
    for path, held in scopes.items():
        if any(work in PLANNERS for work in works):
            tally.examined += held
        for changes in _plan_scope(parts, settings, path, now, works, tally):
            if dry_run:
                _tell(changes, tally)
            elif changes:
                parts.give_way()
                with because(_reasons(changes)):
                    _make(parts, changes, tally, now)
                parts.give_way()
                parts.follow(path)
            if stops():
                return _report(tally, dry_run, began, 0)
    freed = 0
    if not dry_run:
        _prune(parts.store, settings, now, stops)
        freed = _trim(parts.store, stops)
    return _report(tally, dry_run, began, freed)


def _report(tally: _Tally, dry_run: bool, began: float, freed: int) -> Maintained:
    return Maintained(
        dry_run=dry_run,
        examined=tally.examined,
        counts=dict(tally.counts),
        changes=tuple(tally.changes),
        skipped=tally.skipped,
        failed=tuple(tally.failed),
        archived=tally.archived,
        freed_bytes=freed,
        seconds=time.perf_counter() - began,
    )


def _plan_scope(
    parts: UpkeepParts,
    settings: Upkeep,
    scope: str,
    now: float,
    works: Sequence[str],
    tally: _Tally,
) -> Iterator[list[Change]]:
    """Yields the changes of a scope in batches, including empty ones, after which the caller may pause."""
    single = [work for work in works if work in PLANNERS]
    if single:
        bounds = bounds_of(parts.store, scope, settings, parts.give_way) if "move" in single else Bounds()
        bounds = replace(bounds, retention=parts.retention)
        where = candidates(single, now, settings, bounds)
        if where is not None:
            for page in read_pages(parts.store, where.within(Scope(scope)), settings.batch):
                yield list(plan(page, now, settings, bounds, single))
    for work in (work for work in works if work not in PLANNERS):
        yield from batches(_readable(parts.groups(work, scope), f"{work} {scope}", tally), settings.batch)


def _readable(changes: Iterator[Change], what: str, tally: _Tally) -> Iterator[Change]:
    """Yields the planned changes; a damaged record ends only this work on its scope."""
    try:
        yield from changes
    except Corrupt as error:
        tally.failed.append(f"{what}: {error}")


def _tell(changes: Sequence[Change], tally: _Tally) -> None:
    for change in changes:
        tally.note(change)


def _reasons(changes: Sequence[Change]) -> dict[str, str]:
    """Maps each record to the reason for its change, for the audit log."""
    reasons = {change.record.id: f"{change.what}: {change.because}" for change in changes}
    for change in changes:
        for record in change.absorbs if isinstance(change, Write) else ():
            reasons[record.id] = f"{change.what}: it became part of {change.record.id}"
    return reasons


def _make(parts: UpkeepParts, changes: Sequence[Change], tally: _Tally, now: float) -> None:
    """Applies changes, writes first, because records that are deleted may be part of those written."""
    for change in changes:
        if isinstance(change, Ask) or (isinstance(change, Write) and not change.recast):
            _each_or_all([change], lambda some: _write(parts, some[0], tally, now), tally)
    recasts = [change for change in changes if isinstance(change, Write) and change.recast]
    if recasts:
        _each_or_all(recasts, lambda some: _recast(parts, some, tally, now), tally)
    _tell([change for change in changes if isinstance(change, Stay)], tally)
    drops = [change for change in changes if isinstance(change, Drop)]
    if drops:
        _each_or_all(drops, lambda some: _drop(parts, some, tally, now), tally)


C = TypeVar("C", Write, Drop, Change)


def _each_or_all(changes: Sequence[C], make: Callable[[Sequence[C]], None], tally: _Tally) -> None:
    """Applies all changes at once or, if that fails, one by one, so that a damaged record blocks no other."""
    try:
        make(changes)
    except EidetError as error:
        if isinstance(error, Refused | Unavailable) and not isinstance(error, Held):
            raise  # the store or the archive cannot write: the next one would fail too
        if len(changes) == 1:
            tally.fail(changes[0], error)
            return
        for change in changes:
            _each_or_all([change], make, tally)


def _recast(parts: UpkeepParts, changes: Sequence[Write], tally: _Tally, now: float) -> None:
    levels = [change.record.level for change in changes]
    read = [change.instead or change.record for change in changes]
    tiered = [change.record.but(level=old.level) for old, change in zip(read, changes, strict=True)]
    forms = parts.forms.at_levels(tiered, levels)
    parts.give_way()
    made = verbs.rewrite_form(
        parts.store, list(zip(read, forms, strict=True)), now=now, epoch=parts.epoch, by=_BY
    )
    for change, new in zip(changes, made, strict=True):
        if new is None:
            tally.skipped += 1
        else:
            tally.note(change)


def _drop(parts: UpkeepParts, changes: Sequence[Drop], tally: _Tally, now: float) -> None:
    kept = [change.record for change in changes if change.archive]
    if kept and parts.archive is None:
        raise Conflict("there is no archive; important records are not deleted")
    if kept and parts.archive is not None:
        parts.archive.keep(kept, parts.manifest, now=now)
        tally.archived += len(kept)
    gone = set(verbs.delete_unchanged(parts.store, [change.record for change in changes], now=now, by=_BY))
    for change in changes:
        if change.record.id in gone:
            tally.note(change)
        else:
            tally.skipped += 1


def _write(parts: UpkeepParts, change: Change, tally: _Tally, now: float) -> None:
    put = parts.answer(change) if isinstance(change, Ask) else change
    if not isinstance(put, Write):
        return
    expect = put.instead.version if put.instead is not None else None
    try:
        stored = parts.write([put.record], now=now, unique=True, expect=expect, by=_BY)[0]
    except (Conflict, Entombed, Held):  # another writer was first, or it was forgotten for good or is held
        tally.skipped += 1
        return
    if uses := sum(record.uses for record in put.absorbs):
        last = max(record.last_used or 0.0 for record in put.absorbs)
        verbs.add_uses(parts.store, {(stored.scope, stored.id): (uses, last)})
    verbs.delete_unchanged(parts.store, put.absorbs, now=now, by=_BY)
    tally.note(replace(put, what=change.what), stored.id)


def _prune(store: Store, settings: Upkeep, now: float, stops: Pause) -> None:
    """Prunes old events: those of moves, which only indexes need, and histories of deleted records."""
    for days, dead in ((settings.moves_told_days, False), (settings.history_days, True)):
        if days is not None:
            before = now - days * DAY
            while verbs.prune_history(store, before, dead=dead, most=_PRUNED) and not stops():
                pass


def _trim(store: Store, stops: Pause) -> int:
    freed = 0
    while given := verbs.compact(store, _TRIM_BYTES):
        freed += given
        if stops():
            break
    return freed
