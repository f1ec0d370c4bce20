"""From one memory into another, whatever each of them lives in: lossless, resumable, verified.

    endpoints.py   the two ends              verify.py       counts and digests of both ends
    transfer.py    records, batch by batch   checkpoint.py   how far it came; what else a store knows

    copied = copy("agent.db", "postgresql://host/agent")
    assert copied.ok, copied.differences

How far it came is written into the target after each batch, so that the same call goes on where it
stopped, and later brings what was written since. Memory is bounded by a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from ..core.errors import BadInput, Refused
from ..core.scope import Scope
from ..core.where import Where
from ..memory import Memory
from ..store import verbs
from ..write.reembed import batches
from .checkpoint import CopyLease, Mark, copy_settings, copy_tombstones, notes_about
from .endpoints import Place, open_source, open_target
from .transfer import BATCH, BatchCopier, Fit, follow
from .verify import Compared, EndsComparison, RecordDifference

__all__ = ["Compared", "Copied", "RecordDifference", "copy"]

Progress = Callable[[int, int], None]  # done, of how many


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The result of a copy, and whether the target now equals the source."""

    created: int = 0
    changed: int = 0
    same: int = 0  # were there already
    histories: int = 0  # came with their earlier versions
    forgotten: int = 0  # left the target, because the source had forgotten them since
    entombed: int = 0  # were forgotten for good in the target, and stay so
    held: int = 0  # differ, but are under a legal hold in the target
    conflicts: int = 0  # were changed in the target itself, and were left
    since: int = 0  # the seq of the source from which this call went on
    upto: int = 0
    embedder: str = ""
    embedded: bool = False  # whether vectors were made anew
    scopes: tuple[Compared, ...] = ()
    differences: tuple[RecordDifference, ...] = ()  # at most 100 of them
    notes: tuple[str, ...] = field(default=())

    @property
    def records(self) -> int:
        """The number of records that this call read from the source."""
        return self.created + self.changed + self.same + self.entombed + self.held + self.conflicts

    @property
    def ok(self) -> bool:
        """Whether nothing differs, as far as it was compared."""
        return not self.differences and all(one.equal for one in self.scopes)


def copy(
    source: Place,
    target: Place,
    *,
    scope: str | Scope | None = None,
    embedder: object = None,
    language: str | None = None,
    history: bool = True,
    overwrite: bool = False,
    verify: bool = True,
    progress: Progress | None = None,
) -> Copied:
    """Copies a scope (None: all) from one memory into another: paths, URLs or open memories.

    Every field comes along, and earlier versions where the source still tells them (`history`). With
    the same embedder vectors are carried; else they are made anew. A new target has the source's
    embedder and language, unless others are named. What was forgotten for good in the target is not
    brought back. What was changed in the target itself is left and told, unless `overwrite`. Called
    again, it goes on where it stopped, brings what is new, and takes away what the source has
    forgotten since. `verify` reads both ends once more and compares them record by record.
    """
    place = None if scope is None else Scope.of(scope)
    with ExitStack() as ends:
        one = open_source(source, ends)
        other = open_target(target, one, embedder, language, ends)
        _check_ends(one, other)
        with CopyLease(one.parts.store, other.parts.store, other.parts.clock) as turn:
            return _Copy(one, other, turn, place, history, overwrite, progress).run(verify)


def _check_ends(source: Memory, target: Memory) -> None:
    ours, theirs = source.parts.store, target.parts.store
    if ours.identity == theirs.identity:
        raise BadInput("source and target are the same memory, or one is a copy of the other's file")
    if not theirs.writable:
        raise Refused("the target is open read-only: nothing can be copied into it")


class _Copy:
    """One call of `copy`: its ends, and how far it has come."""

    def __init__(
        self,
        source: Memory,
        target: Memory,
        turn: CopyLease,
        scope: Scope | None,
        history: bool,
        overwrite: bool,
        progress: Progress | None,
    ) -> None:
        self._ends = source, target
        self._source, self._target = source.parts, target.parts
        self._guarding = target.trust.guarding
        self._now = target.parts.clock()
        self._fit = Fit.between(self._source, self._target)
        self._copier = BatchCopier(
            self._source, self._target, self._fit, self._guarding, self._now, history, overwrite
        )
        self._where = Where(scope=scope, alive_at=self._now)
        self._mark = Mark(self._source.store, self._target.store, scope)
        self._turn = turn
        self._anew = overwrite  # also records that the source has not touched since
        self._progress = progress
        self._done = self._total = 0

    def run(self, verify: bool) -> Copied:
        self._ends[0].admin.flush()
        self._ends[1].admin.flush()
        since, upto = 0 if self._anew else self._mark.since(), self._source.store.head().seq
        self._total = verbs.count(self._source.store, self._where) * (1 + verify)
        self._copy_since(since, upto)
        copy_settings(self._source.store, self._target.store)
        copy_tombstones(self._source.store, self._target.store, self._where.scope)
        self._target.key_ids.adopt(self._source.key_ids.secrets())  # records keep their ids, and their keys
        forgotten = follow(*self._ends, self._where.scope, self._now) if 0 < since < upto else 0
        self._mark.write(upto)
        counts: dict[str, Any] = dict(self._copier.counts)
        copied = Copied(
            **counts,
            since=since,
            upto=upto,
            forgotten=forgotten,
            embedder=self._target.embedder.name,
            embedded=not self._fit.embedded,
            notes=notes_about(self._source.store, self._target.store, self._guarding.guards, self._where),
        )
        return self._compare(copied) if verify else copied

    def _copy_since(self, since: int, upto: int) -> None:
        if since:
            here = verbs.count(self._source.store, self._where), verbs.count(self._target.store, self._where)
            self._report(min(here))
        walk = verbs.scan(self._source.store, self._where, after=since, batch=BATCH)
        for batch in batches(takewhile(lambda record: record.seq <= upto, walk), BATCH):
            self._copier.copy_batch(batch)
            self._mark.write(batch[-1].seq)
            self._turn.renew()
            self._report(len(batch))

    def _compare(self, copied: Copied) -> Copied:
        comparison = EndsComparison(self._target, self._fit, ids_only=self._guarding.guards)
        walk = verbs.scan(self._source.store, self._where, batch=BATCH)
        for batch in batches(takewhile(lambda record: record.seq <= copied.upto, walk), BATCH):
            self._turn.renew()
            comparison.look(batch, self._target.clock())
            self._report(len(batch))
        return replace(
            copied, scopes=comparison.scopes(self._where), differences=tuple(comparison.differences)
        )

    def _report(self, count: int) -> None:
        self._done += count
        if self._progress is not None and count:
            self._progress(self._done, max(self._total, self._done))
