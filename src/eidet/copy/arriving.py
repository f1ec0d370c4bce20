"""Brings batches of records into the target of a copy as they are in the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

from ..core.record import Event, Record
from ..parts import Parts
from ..store import Transaction, verbs
from ..store.rules import Entombed, Life, list_versions
from ..store.verbs.changing import (
    check_tombstones,
    read_records,
    replay_events,
    split_lives,
    write_lives,
)
from ..store.verbs.writing import check_epoch
from ..trust.privacy.service import Guarding
from ..write.ingest import Ingest

T = TypeVar("T")

BY: Final = "eidet copy"
_MOST: Final = 100  # differences that are listed, at most


class RecordDifference(NamedTuple):
    """A record that differs in the target, and why."""

    scope: str
    id: str
    why: str


class Arrivals:
    """The receiving end of a copy: writes batches to the target and counts the outcomes."""

    def __init__(self, source: Parts, target: Parts, guarding: Guarding) -> None:
        self._source, self._target, self._guarding = source, target, guarding
        embedder = verbs.get_setting(source.store, "embedder") or source.embedder.name
        analyzer = verbs.get_setting(source.store, "analyzer") or source.analyzer.name
        width = verbs.get_setting(source.store, "width")
        target.binding.check_width()
        self.embedded = embedder == target.embedder.name and width in (None, str(target.embedder.width))
        self._analysed = self.embedded and analyzer == target.analyzer.name
        self._was_empty = not target.store.head().seq
        self.counts: Counter[str] = Counter()
        self.differences: list[RecordDifference] = []

    def take_in(self, batch: Sequence[Record]) -> None:
        there = verbs.find_same_ids(self._target.store, batch)
        pairs = [(record, there.get((record.scope, record.id))) for record in batch]
        self._count_uses([(record, old) for record, old in pairs if old is not None])
        new = [record for record, old in pairs if old is None and not self._is_forgotten(record)]
        self.counts["left_out"] += len(batch) - len(there) - len(new)
        changed = [(old, record) for record, old in pairs if old is not None and self._differs(record, old)]
        self.counts["same"] += len(there) - len(changed)
        self._write_new(self._fit(new))
        fitted = self._fit([record for _, record in changed])
        for old, record in zip((old for old, _ in changed), fitted, strict=True):
            self._write_changed(old, record)

    def _differs(self, record: Record, old: Record) -> bool:
        """Returns whether a record differs in what the target does not make itself; False behind a guard."""
        return not self._guarding.guards and self._strip(record) != self._strip(old)

    def _strip(self, record: Record) -> Record:
        bare = record.but(seq=0, uses=0, last_used=None)
        return bare.but(vector=record.vector if self.embedded else None, terms=self._terms_of(record))

    def _terms_of(self, record: Record) -> bytes:
        return record.terms if self._analysed else b""

    def _count_uses(self, pairs: Sequence[tuple[Record, Record]]) -> None:
        """Adds the uses that the source has counted since the last copy."""
        missed = {
            (one.scope, one.id): (max(one.uses - other.uses, 0), one.last_used)
            for one, other in pairs
            if one.last_used is not None
            and (one.uses > other.uses or one.last_used > (other.last_used or 0.0))
        }
        verbs.add_uses(self._target.store, missed)

    def _is_forgotten(self, record: Record) -> bool:
        """Returns whether the target deleted this version or a later one; a newer version is copied again."""
        if self._was_empty:
            return False
        story = self._target.store.history(record.scope, record.id)
        return bool(story) and story[-1].what == "forgotten" and record.version <= story[-1].version

    def _fit(self, records: Sequence[Record]) -> list[Record]:
        """Applies the target's guard, and computes vectors and terms again if the target makes others."""
        if self._guarding.guards:
            records = list(self._guarding.check_loaded(records, self._target.clock(), review=False))
        if self._analysed or not records:
            return list(records)
        ingest = Ingest.of(self._target)
        ready = ingest.refit(records, self.embedded)
        bare = [at for at, record in enumerate(records) if record.vector is None]
        for at, record in zip(bare, ingest.refit([records[at] for at in bare], True), strict=True):
            ready[at] = record  # a record without a vector gets none
        return ready

    def _write_new(self, records: Sequence[Record]) -> None:
        """Writes new records with their histories, except those forgotten for good in the target."""
        lives: list[Life] = [(record, self._history_of(record)) for record in records]
        while lives:
            states = [(at, state) for at, life in enumerate(lives) for state in list_versions([life])]
            try:
                stored = self._write([state for _, state in states], partial(_write_missing, lives=lives))
            except Entombed as error:
                lives = self._leave_out(lives, [states[number] for number in error.found])
            else:
                self.counts["created"] += len(stored)
                self.counts["same"] += len(lives) - len(stored)  # another process wrote them first
                self._target.note_written(stored)
                return

    def _leave_out(self, lives: Sequence[Life], entombed: Sequence[tuple[int, Record]]) -> list[Life]:
        """Drops records that were forgotten for good, and histories that contain such content."""
        gone = {at for at, state in entombed if state is lives[at][0]}
        bare = {at for at, _ in entombed}
        self.counts["left_out"] += len(gone)
        return [
            (record, () if at in bare else story)
            for at, (record, story) in enumerate(lives)
            if at not in gone
        ]

    def _history_of(self, record: Record) -> Sequence[Event]:
        """Returns the history of revisions; empty behind a guard, which earlier versions have not passed."""
        if record.version == 1 or self._guarding.guards:
            return ()
        return self._source.store.history(record.scope, record.id)

    def _write_changed(self, old: Record, record: Record) -> None:
        ours, theirs = (
            _list_revisions(end.store.history(old.scope, old.id)) for end in (self._source, self._target)
        )
        made_here = {(event.version, event.at, event.by) for event in ours.values()}
        agreed = {(event.version, event.at, event.by) for event in theirs.values()} <= made_here
        if old.state.hold is not None:
            self._leave(record, "is under a legal hold in the target")
        elif old.created != record.created or not agreed:
            self._leave(record, "was changed in the target itself")
        else:
            events = [event for version, event in sorted(ours.items()) if version > old.version]
            self._become(old, record, events)

    def _become(self, old: Record, record: Record, events: Sequence[Event]) -> None:
        try:
            if events:
                done = self._write([record], partial(_replay, old=old, record=record, events=events))
            else:
                now = self._target.clock()
                (done,) = verbs.rewrite_form(self._target.store, [(old, record)], now=now, by=BY)
        except Entombed:
            self.counts["left_out"] += 1
        else:
            self.counts["changed"] += done is not None
            if done is None:
                self._leave(record, "was changed in the target just now")

    def _write(self, states: Sequence[Record], job: Callable[[Transaction], T]) -> T:
        """Runs a job in a transaction; refuses content forgotten for good and vectors of an earlier epoch."""
        watch = self._target.tombstones.over_returning(states)
        epoch = self._target.binding.claim_epoch()

        def write(transaction: Transaction) -> T:
            check_epoch(epoch, transaction)
            check_tombstones(transaction, states, watch)
            return job(transaction)

        return self._target.store.write(write)

    def _leave(self, record: Record, why: str) -> None:
        if len(self.differences) < _MOST:
            self.differences.append(RecordDifference(record.scope, record.id, why))


def _write_missing(transaction: Transaction, lives: Sequence[Life]) -> list[Record]:
    there = read_records(transaction, [record for record, _ in lives], bare=True)
    return write_lives(transaction, [life for life in lives if (life[0].scope, life[0].id) not in there])


def _replay(transaction: Transaction, old: Record, record: Record, events: Sequence[Event]) -> Record | None:
    (there,) = transaction.read(old.scope, [old.id])
    if there is None or there.seq != old.seq:
        return None
    return replay_events(transaction, there, record, events)


def _list_revisions(story: Sequence[Event]) -> dict[int, Event]:
    """Returns the revisions of the current record, by version."""
    life = split_lives(story)[-1] if story else ()
    return {event.version: event for event in life if event.what == "revised"}
