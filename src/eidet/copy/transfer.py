"""Records on their way: new ones as they are, changed ones by the versions that the target lacks.

What the source has forgotten since it was copied leaves the target, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, NamedTuple

from ..core.record import Event, Record
from ..core.record_table import decode_values
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from ..memory import Memory
from ..parts import Parts
from ..store import verbs
from ..store.rules import list_changes
from ..store.tombstones import Marker, secret_of
from ..trust.privacy.service import Guarding
from ..write.ingest import Ingest, batches
from ..write.write_path import put_returning
from .verify import is_entombed, print_of

BATCH: Final = 256
_BY: Final = "eidet copy"
_VERSIONS: Final = 100  # versions of one record that are told anew: each is a write of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Whether the target makes vectors and terms as the source does."""

    embedded: bool
    analysed: bool
    target: Parts

    @classmethod
    def between(cls, source: Parts, target: Parts) -> Fit:
        embedder = verbs.get_setting(source.store, "embedder") or source.embedder.name
        analyzer = verbs.get_setting(source.store, "analyzer") or source.analyzer.name
        width = verbs.get_setting(source.store, "width")
        target.binding.check_width()
        return cls(
            embedded=embedder == target.embedder.name and width in (None, str(target.embedder.width)),
            analysed=analyzer == target.analyzer.name,
            target=target,
        )

    @property
    def own(self) -> frozenset[str]:
        """Fields that the target makes itself."""
        made = {"vector": self.embedded, "terms": self.embedded and self.analysed}
        return frozenset(name for name, carried in made.items() if not carried)

    def fit_records(self, records: Sequence[Record]) -> list[Record]:
        """Converts records to the target's vectors and terms; a record without a vector gets none."""
        if self.embedded and self.analysed:
            return list(records)
        ingest = Ingest.of(self.target)
        bare = [at for at, record in enumerate(records) if record.vector is None]
        ready = ingest.refit(records, self.embedded)
        for at, record in zip(bare, ingest.refit([records[at] for at in bare], True), strict=True):
            ready[at] = record
        return ready


class BatchCopier:
    """Copies batches into the target and counts the outcomes."""

    def __init__(
        self,
        source: Parts,
        target: Parts,
        fit: Fit,
        guarding: Guarding,
        now: float,
        history: bool,
        overwrite: bool,
    ) -> None:
        self._source, self._target = source, target
        self._fit = fit
        self._guarding = guarding
        self._now = now
        self._keeps_history = history and not guarding.guards  # earlier versions have not passed the guard
        self._overwrites = overwrite
        self._waiting: list[Record] = []
        self.counts: Counter[str] = Counter()

    def copy_batch(self, batch: Sequence[Record]) -> None:
        """Copies a batch in order, so that records of one moment keep theirs."""
        there = verbs.find_same_ids(self._target.store, batch)
        work = [record for record in batch if self._differs(record, there.get((record.scope, record.id)))]
        self.counts["same"] += len(batch) - len(work)
        if self._guarding.guards:
            work = list(self._guarding.check_loaded(work, self._now, review=False))
        for record in self._fit.fit_records(work):
            old = there.get((record.scope, record.id))
            if old is None and (record.version == 1 or not self._keeps_history):
                self._waiting.append(record)
            else:
                self._put_waiting()
                self.counts[self._write_record(record, old)] += 1
        self._put_waiting()

    def _differs(self, record: Record, old: Record | None) -> bool:
        return old is None or print_of(record, self._fit.own) != print_of(old, self._fit.own)

    def _put_waiting(self) -> None:
        stored = put_returning(self._target, self._waiting, now=self._now)
        self.counts["created"] += len(stored)
        self.counts["entombed"] += len(self._waiting) - len(stored)
        self._waiting.clear()

    def _write_record(self, record: Record, old: Record | None) -> str:
        """Writes what one record needs. Returns how it counts."""
        if old is not None and old.state.hold is not None:
            return "held"
        if is_entombed(self._target, record):
            return "entombed"
        versions = self._versions(record)
        if old is None:
            return self._write_versions(versions, "created")
        if self._is_form_of(record, old):
            verbs.rewrite_form(self._target.store, [(old, record)], now=self._now, by=_BY)
            return "changed"
        rest = _after(versions, old)
        if rest is None and not self._overwrites:
            return "conflicts"
        if not rest:
            verbs.delete_unchanged(self._target.store, [old], now=self._now, by=_BY)
            rest = versions
        return self._write_versions(rest, "changed")

    def _versions(self, record: Record) -> list[_Version]:
        if not self._keeps_history or record.version == 1:
            return [_Version(record, self._now, _BY)]
        versions = _versions_of(record, self._source.store.history(record.scope, record.id))
        return list(takewhile(lambda one: not is_entombed(self._target, one.record), reversed(versions)))[
            ::-1
        ]

    def _write_versions(self, versions: Sequence[_Version], done: str) -> str:
        """Writes versions one by one; `done` unless they are forgotten at this moment."""
        for number, (record, at, by) in enumerate(versions):
            # A version that was just written may be a held one, which the next one releases.
            if not put_returning(self._target, [record], now=at, by=by, follows=number > 0):
                return "entombed"
        self.counts["histories"] += len(versions) > 1
        return done

    def _is_form_of(self, record: Record, old: Record) -> bool:
        """Tells whether it is the same version in another form: moved to another tier, or re-embedded."""
        if (old.version, old.created, old.digest) != (record.version, record.created, record.digest):
            return False
        ends = (self._source.store, self._target.store) if old.version > 1 else ()
        made = {_time_of_version(end.history(old.scope, old.id), old.version) for end in ends}
        return len(made - {None}) <= 1


def _after(versions: Sequence[_Version], old: Record) -> list[_Version] | None:
    """Returns the versions after the target's; empty if that is unknown; None if the target's is another."""
    if old.version >= versions[-1].record.version:
        return None
    same = [version.record for version in versions if version.record.version == old.version]
    if same and (same[0].created != old.created or list_changes(old, same[0])):
        return None
    if same:
        return [version for version in versions if version.record.version > old.version]
    return []


class _Version(NamedTuple):
    """A record as it was, when it became so, and by whom."""

    record: Record
    at: float
    by: str | None


def _versions_of(record: Record, story: Sequence[Event]) -> list[_Version]:
    """Lists each version from the earliest known to the record itself.

    A version without a word of what changed ends the walk: told anew, it would be none. So does one that
    says the same as the next: it changed a mark that was kept in `meta` at that time.
    """
    revisions = {event.version: event for event in story if event.what == "revised"}
    found: list[_Version] = []
    earlier = record
    while len(found) < _VERSIONS and (event := revisions.get(earlier.version)) is not None and event.before:
        older = _before(earlier, event.before)
        if not list_changes(older, earlier):
            break
        found.append(_Version(earlier, event.at, event.by))
        earlier = older
    first = _Version(earlier, record.created, None)
    return [first, *reversed(found)]


def _before(record: Record, changes: Mapping[str, Json]) -> Record:
    """The version before, without vectors: it is only there to be followed by the next."""
    values = decode_values({name: value for name, value in changes.items() if name != "sealed"})
    return record.whole.but(**values, original=None, vector=None, terms=b"", version=record.version - 1)


def _time_of_version(story: Sequence[Event], version: int) -> float | None:
    """Returns when a version was made, if history still has it."""
    times = (event.at for event in story if event.what == "revised" and event.version == version)
    return next(times, None)


def follow(source: Memory, target: Memory, scope: Scope | None, now: float) -> int:
    """Deletes what the source has forgotten, and counts it. Held records and the target's own stay."""
    ours, theirs = source.parts, target.parts
    walk = batches(verbs.scan(theirs.store, Where(scope=scope), batch=BATCH), BATCH)
    return sum(_delete_dead(ours, target, list(_list_dead(ours, batch)), now) for batch in walk)


def _list_dead(source: Parts, records: Sequence[Record]) -> Iterator[Record]:
    """Yields records that the source once had and has forgotten."""
    there = verbs.find_same_ids(source.store, records)
    for record in records:
        if (record.scope, record.id) not in there and record.state.hold is None:
            story = source.store.history(record.scope, record.id)
            if story and story[-1].what == "forgotten" and record.created <= story[-1].at:
                yield record


def _delete_dead(source: Parts, target: Memory, dead: Sequence[Record], now: float) -> int:
    for_good = [record for record in dead if _is_for_good(source, record)]
    gone = verbs.delete_unchanged(
        target.parts.store, [record for record in dead if record not in for_good], now=now, by=_BY
    )
    count = len(gone)
    for path in {record.scope for record in for_good}:
        ids = [record.id for record in for_good if record.scope == path]
        count += target.forget(ids, scope=path, by=_BY, why="forgotten in the memory it was copied from")
    return count


def _is_for_good(source: Parts, record: Record) -> bool:
    store = source.store
    if verbs.get_setting(store, "secret:marks") is None:
        return False
    mark = Marker(secret_of(store, "marks", make=False)).of_id(record.scope, record.id)
    return bool(verbs.tombstones_in(store, record.scope, [mark]))
