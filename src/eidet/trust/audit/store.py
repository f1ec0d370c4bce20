"""A store around a store that notes every change in an audit log before it is made.

Reading, use counts, tallies and leases are passed through: they change nothing of what is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...core.actor import Acting, acts
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...quality import Survey, Tally
from ...store import Changes, Derived, Erased, Erasure, Head, Look, Scrubbed, Store, Uses, Watch, verbs
from ...store.legacy import LegacyStore
from .events import flag_records, of_filter, of_records, writer
from .log import AuditLog


class AuditedStore(LegacyStore):
    """Every write is in the log, or is not made. `owns`: closing the store closes the log.

    A store inside that has a method `audited_by(log)` is given the log, to note what it alone can see
    (the use of keys, say).
    """

    def __init__(self, store: Store, log: AuditLog, *, owns: bool = False) -> None:
        self._store = store
        self._log = log
        self._owns = owns
        if (tell := getattr(store, "audited_by", None)) is not None:
            tell(log)

    def __getattr__(self, name: str) -> Any:
        """What a store has beside the port, such as its path."""
        if name == "_store":
            raise AttributeError(name)
        return getattr(self._store, name)

    @property
    def inner(self) -> Store:
        """The store whose changes are noted."""
        return self._store

    @property
    def audit(self) -> AuditLog:
        return self._log

    @property
    def identity(self) -> str:
        return self._store.identity

    @property
    def writable(self) -> bool:
        return self._store.writable

    # What is noted.

    def put(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = True,
        expect: int | None = None,
        epoch: int | None = None,
        by: str | None = None,
        watch: Watch | None = None,
    ) -> list[Record]:
        flags = flag_records(self._log, records, by)
        with self._log.about(of_records(self._log, "put", records, by or writer(records), flags)) as numbers:
            stored = verbs.put(
                self._store, records, now=now, unique=unique, expect=expect, epoch=epoch, by=by, watch=watch
            )
        pairs = zip(records, stored, strict=True)
        if instead := {new.id: there.id for new, there in pairs if new.id != there.id}:
            self._log.afterwards("done", of=numbers, instead=instead)
        return stored

    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]:
        with self._log.about(of_records(self._log, "recast", [old for old, _ in forms], by)) as numbers:
            made = verbs.rewrite_form(self._store, forms, now=now, epoch=epoch, by=by)
        self._left(numbers, [old.id for (old, _), new in zip(forms, made, strict=True) if new is None])
        return made

    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]:
        with self._log.about(of_records(self._log, "bury", records, by)) as numbers:
            gone = verbs.delete_unchanged(self._store, records, now=now, by=by)
        there = set(gone)
        self._left(numbers, [record.id for record in records if record.id not in there])
        return gone

    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]:
        with self._log.about(
            [of_filter(self._log, "drop", where, by, verbs.count_kinds(self._store, where))]
        ) as numbers:
            gone = verbs.delete_where(self._store, where, now=now, by=by)
        self._log.afterwards("done", by=by, of=numbers, ids=gone, count=len(gone))
        return gone

    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        """Noted once it is planned, inside of the write: what cannot be noted is undone.

        Who acts is captured here, because the thread of another writer may run the plan.
        """
        actor = acts()
        numbers: list[int] = []
        named: set[tuple[str, str]] = set()

        def noted(look: Look) -> Erasure:
            planned = plan(look)
            named.update((record.scope, record.id) for record in planned.gone)
            numbers.extend(self._log.append(self._planned(planned, by, actor)))
            return planned

        try:
            erased = verbs.erase(self._store, noted, now=now, by=by)
        except BaseException as error:
            if numbers:
                self._log.note_failure(numbers, error)
            raise
        if numbers:
            others = [id for scope, id in erased.gone if (scope, id) not in named]
            counts = {"count": len(erased.gone), "histories": erased.histories}
            self._log.afterwards("done", by=by, of=numbers, ids=others or None, **counts)
        return erased

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        with self._log.about([self._log.describe("exhume", scope=scope, count=len(marks))]):
            return verbs.lift_tombstones(self._store, scope, marks)

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        with self._log.about([self._log.describe("scrub")]):
            return verbs.scrub_files(self._store, said)

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        with self._log.about([self._log.describe("retell", scope=scope, ids=[id], versions=sorted(before))]):
            return verbs.rewrite_history(self._store, scope, id, before)

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        """Only the names: what a setting holds may be nobody's business."""
        with self._log.about([self._log.describe("configure", settings=sorted(settings))]):
            verbs.set_settings(self._store, settings, fresh=fresh)

    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        with self._log.about(
            [self._log.describe("adopt", embedder=name, settings=sorted(settings))]
        ) as numbers:
            lacking = verbs.switch_vectors(self._store, name, settings)
        if lacking:
            self._log.afterwards("done", of=numbers, lacking=lacking, count=0)
        return lacking

    def rewrite(self, derived: Iterable[Derived]) -> None:
        with self._log.about([self._log.describe("rewrite")]):
            verbs.replace_derived(self._store, derived)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        """Noted afterwards, and only if there was something: upkeep asks every time."""
        count = verbs.prune_history(self._store, before, dead=dead, most=most)
        if count:
            self._log.afterwards("prune", count=count, dead=dead)
        return count

    def _planned(self, erasure: Erasure, by: str | None, actor: Acting) -> list[dict[str, Json]]:
        told = of_records(self._log, "erase", erasure.gone, by, acting=actor)
        told += of_records(self._log, "anew", [old for old, _ in erasure.anew], by, acting=actor)
        if erasure.where is not None:
            told.append(of_filter(self._log, "erase", erasure.where, by, None, actor))
        stones = Counter(stone.scope for stone in erasure.stones)
        for scope, count in stones.items():
            told.append(self._log.describe("entomb", by=by, acting=actor, scope=scope, count=count))
        return told

    def _left(self, numbers: list[int], ids: list[str]) -> None:
        """Records that somebody else changed meanwhile, and which were left as they are."""
        if ids:
            self._log.afterwards("done", of=numbers, left=ids)

    # What is passed through.

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        return self._store.read(scope, ids)

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        return self._store.read(scope, seqs)

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        return self._store.find(where, order=order, limit=limit, offset=offset, after=after)

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        return verbs.scan(self._store, where, after=after, batch=batch)

    def match(self, where: Where) -> list[int]:
        return self._store.match(where)

    def count(self, where: Where) -> int:
        return verbs.count(self._store, where)

    def census(self, where: Where) -> dict[tuple[str, str], int]:
        return verbs.count_kinds(self._store, where)

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        return verbs.tombstones_in(self._store, scope, marks)

    def note(self, uses: Uses) -> None:
        verbs.add_uses(self._store, uses)

    def tally(self, rows: Sequence[Tally], *, since: int) -> None:
        verbs.add_counts(self._store, rows, since=since)

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        return verbs.read_counts(self._store, scope, since)

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        return verbs.quality_counts(self._store, scope, now=now, fresh=fresh, ripe=ripe, stale=stale)

    def history(self, scope: str, id: str) -> list[Event]:
        return self._store.history(scope, id)

    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]:
        return verbs.count_scopes(self._store, scope, alive_at=alive_at)

    def head(self) -> Head:
        return self._store.head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        return self._store.changes(scope, since, limit)

    def witness(self, seq: int) -> str | None:
        return verbs.fingerprint(self._store, seq)

    def setting(self, name: str) -> str | None:
        return verbs.get_setting(self._store, name)

    def settings(self, prefix: str) -> dict[str, str]:
        return verbs.get_settings(self._store, prefix)

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        return verbs.take_lease(self._store, name, owner, now=now, until=until)

    def trim(self, most: int) -> int:
        return verbs.compact(self._store, most)

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        verbs.stage_vectors(self._store, name, vectors)

    def staged(self, name: str) -> int:
        return verbs.staged_up_to(self._store, name)

    def size(self) -> int:
        return verbs.measure_size(self._store)

    def close(self) -> None:
        self._store.close()
        if self._owns:
            self._log.close()
