"""From one memory into another, whatever each of them lives in: lossless, resumable, verified.

    endpoints.py   the two ends              verify.py       counts and digests of both ends
    transfer.py    records, batch by batch   checkpoint.py   how far it came, and whose turn it is

    copied = copy("agent.db", "postgresql://host/agent")
    assert copied.ok, copied.differences

How far it came is written into the target after each batch, so that the same call goes on where it
stopped, and later brings what was written since. Memory is bounded by a batch.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final, Self

from ..core.errors import BadInput, Conflict, Misconfigured, Refused
from ..core.scope import Scope
from ..core.validate import dump_json
from ..core.where import Where
from ..memory import Memory
from ..models.embed import embedder_of
from ..store import TOMBSTONES, Store, verbs
from ..store.model import BELOW_MARK, SCOPE_MARK
from ..store.traits import is_sealed
from ..upkeep.archive import SETTING as ARCHIVES
from ..write.ingest import batches
from .endpoints import Place, source_at, target_at
from .transfer import BATCH, BatchCopier, Fit, follow
from .verify import Compared, EndsComparison, RecordDifference

_NUMBERS: Final = "number of "  # series of numbers that are given once
_MARKS: Final = "secret:marks"  # keys the marks by which a store knows what it has forgotten for good
_HIDDEN_NAMES: Final = "secret:names"  # by which doors find scopes of theirs that nobody can guess

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
        """Tells whether nothing differs, as far as it was compared."""
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
    """Copies a scope (None: all) from one memory to another: paths, URLs or open memories.

    Every field comes along, and earlier versions where the source still tells them (`history`). With
    the same embedder vectors are carried; else they are made anew. A new target has the source's
    embedder and language, unless others are named. What was forgotten for good in the target is not
    brought back. What was changed in the target itself is left and told, unless `overwrite`. Called
    again, it goes on where it stopped, brings what is new, and takes away what the source has
    forgotten since. `verify` reads both ends once more and compares them record by record.
    """
    place = None if scope is None else Scope.of(scope)
    with ExitStack() as ends:
        one = _open_source(source, ends)
        other = _open_target(target, one, embedder, language, ends)
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
    """One call of `copy`: its ends, and its progress."""

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
        _copy_settings(self._source.store, self._target.store)
        _copy_tombstones(self._source.store, self._target.store, self._where.scope)
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
            notes=_notes_about(self._source.store, self._target.store, self._guarding.guards, self._where),
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


def _copy_settings(source: Store, target: Store) -> None:
    """Numbers that were given stay given, and archives that may have to be cleaned stay known."""
    wanted = {
        name: value
        for name, value in verbs.get_settings(source, _NUMBERS).items()
        if int(value) > int(verbs.get_setting(target, name) or 0)
    }
    ours, theirs = (json.loads(verbs.get_setting(store, ARCHIVES) or "[]") for store in (source, target))
    if unknown := [place for place in ours if place not in theirs]:
        wanted[ARCHIVES] = dump_json([*theirs, *unknown])
    hidden = verbs.get_setting(source, _HIDDEN_NAMES)
    if hidden is not None and verbs.get_setting(target, _HIDDEN_NAMES) is None:
        wanted[_HIDDEN_NAMES] = hidden
    if wanted:
        verbs.set_settings(target, wanted)


def _copy_tombstones(source: Store, target: Store, scope: Scope | None) -> None:
    """Copies tombstones to a target that has none, so that it refuses what the source refuses.

    Marks are keyed: the secret goes along. A target with a secret of its own could not compare them, and one
    that is not sealed does not get to know the secret of a sealed source.
    """
    secret = verbs.get_setting(source, _MARKS)
    exposed = is_sealed(source) and not is_sealed(target)
    if secret is None or exposed:
        return
    verbs.set_settings(target, {_MARKS: secret}, fresh=True)
    if verbs.get_setting(target, _MARKS) != secret:
        return
    ours, there = source.values(TOMBSTONES, within=scope), target.values(TOMBSTONES, within=scope)
    keyed = {key: since for key, since in ours.items() if key[1] not in (SCOPE_MARK, BELOW_MARK)}
    stones = {key: since for key, since in keyed.items() if key not in there or there[key] < since}

    if stones:
        target.write(lambda transaction: transaction.set_values(TOMBSTONES, stones))


def _notes_about(source: Store, target: Store, guarded: bool, where: Where) -> tuple[str, ...]:
    """Lists remarks for the reader of the result."""
    notes = []
    if not verbs.count(source, where):
        place = "" if where.scope is None else f" in scope {where.scope}"
        notes.append(f"the source holds no memories{place}: is it the one that was meant?")
    if verbs.get_setting(source, _MARKS) not in (None, verbs.get_setting(target, _MARKS)):
        notes.append(
            "the source has forgotten memories for good: the target does not know which, because only "
            "keyed hashes of them are left; what it had of them from an earlier copy is gone there, too"
        )
    if guarded:
        notes.append("the target has a guard, which words records its own way: only ids were compared")
    return tuple(notes)


def _open_source(place: Place, ends: ExitStack) -> Memory:
    return place if isinstance(place, Memory) else ends.enter_context(source_at(place))


def _open_target(
    place: Place, source: Memory, embedder: object, language: str | None, ends: ExitStack
) -> Memory:
    if not isinstance(place, Memory):
        return ends.enter_context(target_at(place, source, embedder=embedder, language=language))
    _check_fits(place, embedder, language)
    return place


def _check_fits(target: Memory, embedder: object, language: str | None) -> None:
    parts = target.parts
    asked = None if embedder is None else embedder_of(embedder).name
    ends = (("embedder", asked, parts.embedder.name), ("language", language, parts.analyzer.language))
    for name, wanted, there in ends:
        if wanted not in (None, there):
            raise Misconfigured(
                f"the target is open with the {name} {there!r}: to use another, reopen the target with it"
            )


# The progress of a copy, and the lease of whoever is copying: both are kept in the target.

HELD_SECONDS = 10.0
_PAUSE_SECONDS: Final = 0.1


class Mark:
    """The seq of a source up to which a scope has been copied."""

    def __init__(self, source: Store, target: Store, scope: Scope | None) -> None:
        self._source, self._target = source, target
        self._all = f"copied:{source.identity}:"
        self._name = self._all + ("" if scope is None else str(scope))

    def since(self) -> int:
        """Returns the seq to resume from; 0 to start over, also after the source was restored."""
        return max(self._read_seq(name) for name in {self._name, self._all})

    def _read_seq(self, name: str) -> int:
        text = verbs.get_setting(self._target, name)
        if text is None:
            return 0
        seq, witness = json.loads(text)
        there = verbs.fingerprint(self._source, seq)
        other = witness is not None and there is not None and there != witness
        return 0 if other or seq > self._source.head().seq else int(seq)

    def write(self, seq: int) -> None:
        text = dump_json([seq, verbs.fingerprint(self._source, seq)])
        if verbs.get_setting(self._target, self._name) != text:
            verbs.set_settings(self._target, {self._name: text})


class CopyLease:
    """Allows one copy at a time from a source to a target, across processes; renewed batch by batch.

    Whoever is killed keeps the next one waiting for `HELD_SECONDS`.
    """

    def __init__(self, source: Store, target: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = target, clock
        self._name, self._owner = f"copy:{source.identity}", uuid.uuid4().hex

    def renew(self) -> bool:
        now = self._clock()
        return verbs.take_lease(self._store, self._name, self._owner, now=now, until=now + HELD_SECONDS)

    def __enter__(self) -> Self:
        deadline = time.monotonic() + 2 * HELD_SECONDS
        while not self.renew():
            if time.monotonic() > deadline:
                raise Conflict("another copy from this source into this target is running: wait for it")
            time.sleep(_PAUSE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        verbs.take_lease(self._store, self._name, self._owner, now=self._clock(), until=0.0)
