"""Short and middle memories in one store, long ones in another: one memory for whoever uses it.

sides.py       one of the stores, its seqs among those of all     together.py  who is there, how far all came
moving.py      from one store to another, whatever breaks off     telling.py   one history out of several
forgetting.py  erasing in both at once                            waiting.py   the outbox, what is refused
writing.py     putting records where they belong                  courier.py   delivers while nobody asks

Records live by their tier. Settings, tallies, leases and the epoch are those of the long store. While one is
down, reading answers from the rest, and what belongs there waits in an outbox (see `outbox_file`).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from heapq import merge
from pathlib import Path
from typing import Any, Final, TypeVar

from ...core.errors import Unavailable
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...quality import Survey, Tally
from .. import Changes, Derived, Erased, Erasure, Head, Look, Scrubbed, Uses, Watch, verbs
from ..legacy import LegacyStore
from ..rules import check_order
from .delivery import Courier
from .erasure import erase
from .history import joined
from .member import NOBODY, STEP, Leaping, Opening, Side, settled
from .members import Together, monotonic
from .moving import mend, moved_home, newest
from .writing import put

T = TypeVar("T")

MEND_SECONDS: Final = 15.0  # between looks for what is out of place, if nobody broke off that we know of
ADOPTED: Final = "adopted"  # of the short store: the vectors it has before the long one has them
BACK_SECONDS: Final = 1.0  # the same while a store is down or something waits


class TieredStore(LegacyStore):
    """A store made of two. `short` and `long` are stores, or functions that open them.

    `outbox` is a folder for what waits for a store that is down; beside the file of the long store if it
    has one. `archive` is where upkeep puts what is forgotten, as its setting of that name.
    """

    def __init__(
        self,
        short: Opening,
        long: Opening,
        *,
        outbox: str | Path | None = None,
        archive: str | None = None,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = monotonic,
    ) -> None:
        opened = long() if callable(long) else long
        path = getattr(opened, "path", None)
        folder = outbox if outbox is not None else None if path is None else f"{path}-outbox"
        self.archive = archive
        self.identity = blake2b(f"tiered {opened.identity}".encode(), digest_size=16).hexdigest()
        if path is not None:
            self.path = Path(path)
        place = None if folder is None else Path(folder).expanduser().absolute()
        self._all = Together(short, opened, place, ticks)
        self._clock, self._ticks = clock, ticks
        self._turn = threading.RLock()
        self._courier = Courier(self._delivered, BACK_SECONDS)
        self._mended = -MEND_SECONDS
        self._settings: dict[str, str | None] = {}
        self._prefixed: dict[str, dict[str, str]] = {}
        self._uses: dict[tuple[str, str], tuple[int, float]] = {}
        try:
            self._all.has_graves()
            if self.writable:
                self._mend(0.0)
                self._send_courier()
        except BaseException:
            self._all.close()
            raise

    @property
    def writable(self) -> bool:
        return self._all.writable

    @property
    def missing(self) -> tuple[str, ...]:
        """In words, which store the answers of this moment do without."""
        return tuple(
            f"the {name} store is down: what it holds is not in this answer" for name in self._all.missing()
        )

    def health(self) -> dict[str, Any]:
        return self._all.health()

    def mend(self) -> None:
        """Delivers what waits and finishes what broke off, at once; it is done by itself now and then."""
        self._mend(0.0)

    def _mend(self, after: float = MEND_SECONDS) -> None:
        """At most so often; never while somebody writes."""
        hasty = self._all.outbox is not None or self._all.missing() or self._uses
        if self._ticks() - self._mended < (min(after, BACK_SECONDS) if hasty else after):
            return
        if self._turn.acquire(blocking=not after):
            try:
                self._mended = self._ticks()
                if self.writable:
                    self._all.adopt_boxes()
                mend(self._all, self._clock())
                self._note_rest()
            finally:
                self._turn.release()

    def _send_courier(self) -> None:
        if self._all.outbox is not None:
            self._courier.call()

    def _delivered(self) -> bool:
        """Sees who is there, and delivers if that is of use; whether anything still waits."""
        with suppress(Unavailable):
            self._all.asked(lambda _, store: store.head())
        if self._all.deliverable():
            self._mend(0.0)
        return self._all.outbox is not None

    def _whole(self, *, home: bool = False) -> None:
        """For what cannot wait: every store is there, and nothing waits for one.

        What its store would not take is there, too; unless all must be at `home`.
        """
        self._mend(0.0)
        self._all.everyone(lambda _, store: store.head())
        stuck = self._all.waiting.stuck()
        if waiting := self._all.waiting.count() - len(stuck):
            raise Unavailable(f"{waiting:,} records still wait in the outbox: try again", retry_after=1.0)
        if home and stuck:
            raise Unavailable(
                f"{stuck[0].record} is rejected by its store ({stuck[0].why}): revise or forget it first"
            )

    # Writing.

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
        if not records:
            return []
        with self._turn:
            self._mend()
            self._all.check_epoch(epoch)
            stored = put(self._all, records, now=now, unique=unique, expect=expect, by=by, watch=watch)
        self._send_courier()
        return stored

    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]:
        with self._turn:
            self._all.check_epoch(epoch)
            made: list[Record | None] = [None] * len(forms)
            for side in self._all.sides:
                mine = [at for at, (old, _) in enumerate(forms) if old.seq % STEP == side.number]
                pairs = [(side.own(forms[at][0]), forms[at][1]) for at in mine]
                for at, new in zip(mine, self._recast(side, pairs, now, by), strict=True):
                    made[at] = new
            return made

    def _recast(
        self, side: Side, forms: list[tuple[Record, Record]], now: float, by: str | None
    ) -> list[Record | None]:
        if not forms:
            return []
        stored = self._all.stored(side, lambda store: verbs.rewrite_form(store, forms, now=now, by=by))
        told = [None if record is None else side.told(record) for record in stored]
        moved = moved_home(self._all, side, [record for record in stored if record is not None], now)
        return [None if record is None else moved.get((record.scope, record.id), record) for record in told]

    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]:
        with self._turn:
            gone: list[str] = []
            for side in self._all.sides:
                mine = [side.own(record) for record in records if record.seq % STEP == side.number]
                if mine:
                    job = partial(verbs.delete_unchanged, records=mine, now=now, by=by)
                    gone += self._all.write(side, job)
            return gone

    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]:
        with self._turn:
            self._whole()
            sides = self._all.sides
            found = [
                self._all.write(side, lambda store: verbs.delete_where(store, where, now=now, by=by))
                for side in sides
            ]
            return [id for ids in found for id in ids]

    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        with self._turn:
            self._whole()
            return erase(self._all, plan, now=now, by=by)

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        found: dict[bytes, float] = {}
        for since in self._read(lambda _, store: verbs.tombstones_in(store, scope, marks)):
            found |= since
        return found

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        with self._turn:
            return max(
                n for _, n in self._all.everyone(lambda _, store: verbs.lift_tombstones(store, scope, marks))
            )

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        done = [one for _, one in self._all.everyone(lambda _, store: verbs.scrub_files(store, said))]
        return Scrubbed(sum(one.freed for one in done), tuple(p for one in done for p in one.pending))

    def note(self, uses: Uses) -> None:
        """Those of a store that is down are kept for later, by this process."""
        if not uses:
            return
        with self._all.gate.reading():
            self._all.asked(lambda _, store: verbs.add_uses(store, uses))
            keep = self._unknown(uses) if self._all.missing() else ()
            for key in keep:
                before, last = self._uses.get(key, (0, 0.0))
                self._uses[key] = before + uses[key][0], max(uses[key][1], last)

    def _unknown(self, uses: Uses) -> set[tuple[str, str]]:
        """Those of records that no store has which is there."""
        known: set[tuple[str, str]] = set()
        for scope in {scope for scope, _ in uses}:
            ids = [id for at, id in uses if at == scope]
            for _, found in self._all.asked(lambda _, store, scope=scope, ids=ids: store.read(scope, ids)):  # type: ignore[misc]
                known |= {(scope, record.id) for record in found if record is not None}
        return set(uses) - known

    def _note_rest(self) -> None:
        if self._uses and not self._all.missing():
            uses, self._uses = self._uses, {}
            self.note(uses)

    # Reading.

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        found = self._gathered(lambda side, store: side.all_told(filter(None, store.read(scope, ids))))
        there = newest(found)
        return [there.get((scope, id)) for id in ids]

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        def mine(side: Side, store: Leaping) -> Iterator[Record]:
            own = [seq // STEP for seq in seqs if seq % STEP == side.number]
            return side.all_told(filter(None, store.read(scope, own) if own else ()))

        there = {record.seq: record for record in newest(self._gathered(mine)).values()}
        return [there.get(seq) for seq in seqs]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        name, descending = check_order(order)
        most = None if limit is None else offset + limit
        found = self._gathered(
            lambda side, store: side.all_told(
                store.find(where, order=order, limit=most, after=side.inside(after))
            )
        )
        once = sorted(newest(found).values(), key=lambda r: r.seq, reverse=descending)
        present = [r for r in once if getattr(r, name) is not None]
        present.sort(key=lambda r: getattr(r, name), reverse=descending)
        absent = [r for r in once if getattr(r, name) is None]
        return (present + absent)[offset:most]

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """`Unavailable` while a store is down: what goes through all records must not miss any unseen."""
        walks = [
            side.all_told(
                side.ask(
                    lambda store, side=side: verbs.scan(store, where, after=side.inside(after), batch=batch)  # type: ignore[misc]
                )
            )
            for side in self._all.sides
        ]
        yield from merge(*walks, key=lambda record: record.seq)

    def match(self, where: Where) -> list[int]:
        found = self._read(lambda side, store: [side.outside(seq) for seq in store.match(where)])
        return sorted(seq for seqs in found for seq in seqs)

    def count(self, where: Where) -> int:
        return sum(self._read(lambda _, store: verbs.count(store, where)))

    def census(self, where: Where) -> dict[tuple[str, str], int]:
        return dict(
            sum(map(Counter, self._read(lambda _, store: verbs.count_kinds(store, where))), Counter())
        )

    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]:
        found = self._read(lambda _, store: verbs.count_scopes(store, scope, alive_at=alive_at))
        return dict(sorted(sum(map(Counter, found), Counter()).items()))

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        """What is said in both tiers counts as said twice over, not as a duplicate."""
        found = self._read(
            lambda _, store: verbs.quality_counts(store, scope, now=now, fresh=fresh, ripe=ripe, stale=stale)
        )
        born = [one.oldest for one in found if one.oldest is not None]
        totals = (sum(values) for values in zip(*(one._replace(oldest=0.0) for one in found), strict=True))
        return Survey(*totals)._replace(oldest=min(born, default=None))

    def history(self, scope: str, id: str) -> list[Event]:
        return joined(self._read(lambda _, store: store.history(scope, id)))

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        with self._turn:
            return sum(
                n
                for _, n in self._all.everyone(
                    lambda _, store: verbs.rewrite_history(store, scope, id, before)
                )
            )

    def _read(self, job: Callable[[Side, Leaping], T]) -> list[T]:
        self._mend()
        with self._all.gate.reading():
            return [answer for _, answer in self._all.asked(job)]

    def _gathered(self, job: Callable[[Side, Leaping], Iterable[Record]]) -> list[Record]:
        return [r for records in self._read(lambda side, store: list(job(side, store))) for r in records]

    # Following.

    def head(self) -> Head:
        self._mend()
        with self._all.gate.reading():
            return self._all.head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        with self._all.gate.reading():
            return self._changes(scope, since, limit)

    def _changes(self, scope: str, since: int, limit: int) -> Changes:
        head = self._all.head()
        found = self._all.asked(lambda side, store: store.changes(scope, side.inside(since), limit))
        upto = min([head.seq, *(settled(told.head.seq) for _, told in found)])
        entries = sorted(
            entry._replace(seq=side.outside(entry.seq)) for side, told in found for entry in told.entries
        )
        known = [entry for entry in entries if entry.seq <= upto][:limit]
        if len(known) == limit:
            upto = known[-1].seq
        gone = [side.outside(seq) for side, told in found for seq in told.gone]
        pruned = max(settled(told.pruned) if told.pruned else 0 for _, told in found)
        return Changes(Head(self._all.head().epoch, max(upto, since)), known, gone, pruned)

    def witness(self, seq: int) -> str | None:
        """None once a store was down: what was indexed then is not to be kept."""
        if self._all.changed():
            return None
        for side in self._all.sides:
            if seq % STEP in (side.number, NOBODY):
                told = side.ask(lambda store: verbs.fingerprint(store, seq // STEP))
                if told is not None:
                    return f"{side.name} {told}"
        return None

    # What the long store has for both.

    def setting(self, name: str) -> str | None:
        """While the long store is down: as it was last told."""
        try:
            self._settings[name] = self._all.long.ask(lambda store: verbs.get_setting(store, name))
        except Unavailable:
            if name not in self._settings:
                raise
        return self._settings[name]

    def settings(self, prefix: str) -> dict[str, str]:
        """While the long store is down: as they were last told."""
        try:
            self._prefixed[prefix] = self._all.long.ask(lambda store: verbs.get_settings(store, prefix))
        except Unavailable:
            if prefix not in self._prefixed:
                raise
        return dict(self._prefixed[prefix])

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        self._all.long.ask(lambda store: verbs.set_settings(store, settings, fresh=fresh))

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        return self._all.long.ask(lambda store: verbs.take_lease(store, name, owner, now=now, until=until))

    def tally(self, rows: Sequence[Tally], *, since: int) -> None:
        self._all.long.ask(lambda store: verbs.add_counts(store, rows, since=since))

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        """None while the long store is down: how recalls went is no reason to tell nothing else."""
        try:
            return self._all.long.ask(lambda store: verbs.read_counts(store, scope, since))
        except Unavailable:
            if self._all.short.down:
                raise
            return []

    # Derived bytes.

    def rewrite(self, derived: Iterable[Derived]) -> None:
        with self._turn:
            self._whole(home=True)
            rows = list(derived)
            self._all.everyone(lambda side, store: verbs.replace_derived(store, _of(side, rows)))

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        def mine(side: Side, store: Leaping) -> None:
            own = [(seq // STEP, vector) for seq, vector in vectors if seq % STEP == side.number]
            verbs.stage_vectors(store, name, own)

        with self._turn:
            self._whole(home=True)
            self._all.everyone(mine)

    def staged(self, name: str) -> int:
        found = self._all.everyone(lambda _, store: verbs.staged_up_to(store, name))
        return max(side.outside(seq) if seq else 0 for side, seq in found)

    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        """The short store goes first and says so; if the long one lacks vectors, it follows later."""
        short, long = self._all.short, self._all.long
        with self._turn:
            self._whole(home=True)
            if short.ask(lambda store: verbs.get_setting(store, ADOPTED)) != name and (
                lacking := short.ask(lambda store: verbs.switch_vectors(store, name, {ADOPTED: name}))
            ):
                return lacking
            if lacking := long.ask(lambda store: verbs.switch_vectors(store, name, settings)):
                return lacking
            short.ask(lambda store: verbs.set_settings(store, {ADOPTED: ""}))
            return 0

    # Room.

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        pruned = 0
        for side in self._all.sides:
            left = most - pruned
            pruned += side.ask(partial(verbs.prune_history, before=before, dead=dead, most=left))
        return pruned

    def trim(self, most: int) -> int:
        return sum(n for _, n in self._all.everyone(lambda _, store: verbs.compact(store, most)))

    def size(self) -> int:
        return sum(self._read(lambda _, store: verbs.measure_size(store)))

    def close(self) -> None:
        self._courier.stop()
        self._all.close()


def _of(side: Side, rows: Sequence[Derived]) -> list[Derived]:
    return [row._replace(seq=row.seq // STEP) for row in rows if row.seq % STEP == side.number]
