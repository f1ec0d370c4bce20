"""Records on their way: new ones as they are, changed ones by the versions that the target lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from ..core.record import Record
from ..parts import Parts
from ..store import Store, verbs
from ..store.rules import list_changes
from ..trust.privacy.service import Guarding
from ..write.ingest import Ingest
from ..write.put import put_returning
from .verify import is_entombed, print_of
from .versions import Version, time_of_version, versions_of

BY: Final = "eidet copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Whether the target's vectors and terms are made as the source's are."""

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
        """As the target keeps them. What has no vector gets none."""
        if self.embedded and self.analysed:
            return list(records)
        ingest = Ingest.of(self.target)
        bare = [at for at, record in enumerate(records) if record.vector is None]
        ready = ingest.refit(records, self.embedded)
        for at, record in zip(bare, ingest.refit([records[at] for at in bare], True), strict=True):
            ready[at] = record
        return ready


class Carrier:
    """Brings batches into the target; `counts` tells how it went."""

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
        self._tells = history and not guarding.guards  # earlier versions have not passed the guard
        self._overwrites = overwrite
        self._waiting: list[Record] = []
        self.counts: Counter[str] = Counter()

    def carry(self, batch: Sequence[Record]) -> None:
        """In their order, so that those of one moment keep it."""
        there = there_of(self._target.store, batch)
        work = [record for record in batch if self._differs(record, there.get((record.scope, record.id)))]
        self.counts["same"] += len(batch) - len(work)
        if self._guarding.guards:
            guarded = list(self._guarding.check_loaded(work, self._now))
        else:
            guarded = work
        for record in self._fit.fit_records(guarded):
            old = there.get((record.scope, record.id))
            if old is None and (record.version == 1 or not self._tells):
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
        """Writes what is to be written of one record; as what it counts."""
        if old is not None and old.state.hold is not None:
            return "held"
        if is_entombed(self._target, record):
            return "entombed"
        versions = self._versions(record)
        if old is None:
            return self._write_versions(versions, "created")
        if self._is_form_of(record, old):
            verbs.rewrite_form(self._target.store, [(old, record)], now=self._now, by=BY)
            return "changed"
        rest = _after(versions, old)
        if rest is None and not self._overwrites:
            return "conflicts"
        if not rest:
            verbs.delete_unchanged(self._target.store, [old], now=self._now, by=BY)
            rest = versions
        return self._write_versions(rest, "changed")

    def _versions(self, record: Record) -> list[Version]:
        if not self._tells or record.version == 1:
            return [Version(record, self._now, BY)]
        versions = versions_of(record, self._source.store.history(record.scope, record.id))
        return list(takewhile(lambda one: not is_entombed(self._target, one.record), reversed(versions)))[
            ::-1
        ]

    def _write_versions(self, versions: Sequence[Version], done: str) -> str:
        """Writes versions one after the other; `done` unless somebody forgets them at this moment."""
        for number, (record, at, by) in enumerate(versions):
            ours = (
                number > 0
            )  # a version that was just written may be a held one, which the next one releases
            if not put_returning(self._target, [record], now=at, by=by, follows=ours):
                return "entombed"
        self.counts["histories"] += len(versions) > 1
        return done

    def _is_form_of(self, record: Record, old: Record) -> bool:
        """Whether it is the same version, only kept otherwise: moved to another tier, or embedded anew."""
        if (old.version, old.created, old.digest) != (record.version, record.created, record.digest):
            return False
        ends = (self._source.store, self._target.store) if old.version > 1 else ()
        made = {time_of_version(end.history(old.scope, old.id), old.version) for end in ends}
        return len(made - {None}) <= 1


def _after(versions: Sequence[Version], old: Record) -> list[Version] | None:
    """The versions that follow the one in the target; none where that is not told; None if it is another."""
    if old.version >= versions[-1].record.version:
        return None
    same = []
    for version in versions:
        if version.record.version == old.version:
            same.append(version.record)
    if same and (same[0].created != old.created or list_changes(old, same[0])):
        return None
    if same:
        return [version for version in versions if version.record.version > old.version]
    return []


def there_of(store: Store, records: Sequence[Record]) -> dict[tuple[str, str], Record]:
    """Those of the records that another store has, by scope and id."""
    ids: dict[str, list[str]] = {}
    for record in records:
        ids.setdefault(record.scope, []).append(record.id)
    there: dict[tuple[str, str], Record] = {}
    for scope, names in ids.items():
        for found in store.read(scope, names):
            if found is not None:
                there[found.scope, found.id] = found
    return there
