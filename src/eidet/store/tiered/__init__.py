"""Short and middle memories in one store, long ones in another: one memory for whoever uses it.

member.py               one of the stores, its seqs among those of all
members.py              who is there, how far all came
writing.py              a write over all members
joint.py                what its job reads and writes
member_values.py        which member keeps which small values
moving.py, move_gate.py from one store to another, whatever breaks off
history.py              one history out of several
outbox.py               what waits for a store, and what one refused
mending.py              delivers what waits, finishes what broke off

Records live by their tier. Settings, tallies, leases and the epoch are those of the long store. While one is
down, reading answers from the rest, and what belongs there waits in an outbox (see `outbox_file`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from heapq import merge
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from ...core.errors import Unavailable
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ...quality import Survey
from .. import SETTINGS, Changes, Entry, Head, Scrubbed, Store, Table, Transaction, verbs
from ..answers import sort_records
from ..model import K, V
from ..rules import check_order
from ..traits import StoreTraits, path_of
from .history import join_histories
from .member import NOBODY, STEP, LeapingStore, Member, Opening, common_seq
from .member_values import LastSettings, belongs_to_long, join, read_member
from .members import Members
from .mending import Mender
from .moving import newest
from .writing import write

T = TypeVar("T")

SWITCHED: Final = "adopted"  # of the short store: the vectors it has before the long one has them


class TieredStore:
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
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        opened = long() if callable(long) else long
        self.archive = archive
        self.identity: str = blake2b(f"tiered {opened.identity}".encode(), digest_size=16).hexdigest()
        self.path = path_of(opened)
        if self.path is not None and outbox is None:
            outbox = f"{self.path}-outbox"
        folder = None if outbox is None else Path(outbox).expanduser().absolute()
        self._members = Members(short, opened, folder, ticks)
        self._mender = Mender(self._members, clock, ticks)
        self._mender.waits = "seal" in opened.values(SETTINGS, ("seal",))
        self.carry_by = self._mender.carry_by
        self._clock = clock
        self._last_settings = LastSettings()
        try:
            self._members.long.ask(lambda store: store.head())
            if self.writable:
                self._mender.mend_now()
                self._mender.start_delivery()
        except BaseException:
            self._members.close()
            raise

    @property
    def writable(self) -> bool:
        return self._members.writable

    @property
    def missing(self) -> tuple[str, ...]:
        """In words, which store the answers of this moment do without."""
        return tuple(
            f"the {name} store is down: what it holds is not in this answer"
            for name in self._members.missing()
        )

    def describe(self) -> StoreTraits:
        return StoreTraits(
            path=self.path,
            files=self._members.list_files(),
            home=self._members.tell_home,
            archive=self.archive,
            missing=self.missing,
        )

    def health(self) -> dict[str, Any]:
        return self._members.health()

    def mend(self) -> None:
        """Delivers what waits and finishes what broke off, at once; it is done by itself now and then."""
        self._mender.mend_now()

    def close(self) -> None:
        self._mender.stop()
        self._members.close()

    def write(self, job: Callable[[Transaction], T]) -> T:
        """What belongs to a store that is down goes to the outbox; `Unavailable` if it cannot wait."""
        with self._mender.lock:
            self._mender.mend_if_due()
            answer, unknown = write(self._members, job, self._clock())
            self._mender.keep_uses(unknown)
        self._mender.start_delivery()
        return answer

    # Reading.

    def _ask(self, job: Callable[[Member, LeapingStore], T]) -> list[T]:
        self._mender.mend_if_due()
        with self._members.gate.reading():
            return [answer for _, answer in self._members.ask(job)]

    def _gather(self, job: Callable[[Member, LeapingStore], Iterable[Record | None]]) -> list[Record]:
        """The copy that counts of each record that is found."""
        found: list[Record] = []
        for records in self._ask(lambda member, store: member.outer(job(member, store))):
            found += records
        return list(newest(found).values())

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        if keys and isinstance(keys[0], int):
            seqs = cast("Sequence[int]", keys)
            by_seq = {r.seq: r for r in self._gather(partial(_read_own, scope=scope, seqs=seqs))}
            return [by_seq.get(seq) for seq in seqs]
        by_id = {r.id: r for r in self._gather(lambda _, store: store.read(scope, keys))}
        return [by_id.get(id) for id in cast("Sequence[str]", keys)]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        check_order(order)
        most = None if limit is None else offset + limit
        found = self._gather(
            lambda member, store: store.find(where, order=order, limit=most, after=member.inner_seq(after))
        )
        return sort_records(found, order)[offset:most]

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """`Unavailable` while a store is down: what goes through all records must not miss any unseen."""
        walks = [_scan_member(member, where, after, batch) for member in self._members.all]
        yield from merge(*walks, key=lambda record: record.seq)

    def match(self, where: Where) -> list[int]:
        seqs: list[int] = []
        for found in self._ask(lambda member, store: map(member.outer_seq, store.match(where))):
            seqs += found
        return sorted(seqs)

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        counts: Counter[tuple[str, ...]] = Counter()
        for found in self._ask(lambda _, store: store.count_by(where, columns)):
            counts.update(found)
        return dict(counts)

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        """What is said in both tiers counts as said twice over, not as a duplicate."""
        found = self._ask(
            lambda _, store: verbs.quality_counts(store, scope, now=now, fresh=fresh, ripe=ripe, stale=stale)
        )
        born = [one.oldest for one in found if one.oldest is not None]
        totals = map(sum, zip(*(one._replace(oldest=0.0) for one in found), strict=True))
        return Survey(*totals)._replace(oldest=min(born, default=None))

    def history(self, scope: str, id: str) -> list[Event]:
        return join_histories(self._ask(lambda _, store: store.history(scope, id)))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        """While the long store is down: settings as they were last read, and no tallies."""
        asked = None if keys is None else list(keys)
        if not belongs_to_long(table):
            parts = self._ask(lambda member, store: read_member(member, store, table, asked, within, limit))
            return join(parts, limit)
        try:
            found = self._members.long.ask(
                lambda store: store.values(table, asked, within=within, prefix=prefix, limit=limit)
            )
        except Unavailable as error:
            if table.name == SETTINGS.name:
                return self._last_settings.recall(asked, prefix, error)
            if self._members.short.down:
                raise
            return {}
        if table.name == SETTINGS.name:
            self._last_settings.keep(asked, prefix, found)
        return found

    # Following.

    def head(self) -> Head:
        self._mender.mend_if_due()
        with self._members.gate.reading():
            return self._members.head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        with self._members.gate.reading():
            head = self._members.head()
            found = self._members.ask(
                lambda member, store: store.changes(scope, member.inner_seq(since), limit)
            )
        entries: list[Entry] = []
        gone: list[int] = []
        upto, pruned = head.seq, self._members.pruned
        for member, changes in found:
            upto = min(upto, common_seq(changes.head.seq))
            entries += [entry._replace(seq=member.outer_seq(entry.seq)) for entry in changes.entries]
            gone += map(member.outer_seq, changes.gone)
            pruned = max(pruned, common_seq(changes.pruned) if changes.pruned else 0)
        known = [entry for entry in sorted(entries) if entry.seq <= upto][:limit]
        if len(known) == limit:
            upto = known[-1].seq
        return Changes(Head(head.epoch, max(upto, since)), known, gone, pruned)

    def fingerprint(self, seq: int) -> str | None:
        """None once a store was down: what was indexed then is not to be kept."""
        if self._members.turns:
            return None
        for member in self._members.all:
            if seq % STEP in (member.number, NOBODY):
                print_ = member.ask(lambda store: verbs.fingerprint(store, seq // STEP))
                if print_ is not None:
                    return f"{member.name} {print_}"
        return None

    # What the members do each for itself.

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        """The short store goes first and says so; if the long one lacks vectors, it follows later."""
        short, long = self._members.short, self._members.long
        with self._mender.lock:
            self._mender.mend_now()
            if (reason := self._members.waiting.reason_to_wait()) is not None:
                raise Unavailable(reason, retry_after=1.0)
            self._members.ask_everyone(lambda _, store: store.head())
            lacking = 0
            if short.ask(lambda store: verbs.get_setting(store, SWITCHED)) != name:
                lacking = short.ask(partial(verbs.switch_vectors, name=name, settings={SWITCHED: name}))
            lacking = lacking or long.ask(partial(verbs.switch_vectors, name=name, settings=settings))
            if not lacking:
                short.ask(partial(verbs.set_settings, settings={SWITCHED: ""}))
            return lacking

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        freed, pending = 0, list[str]()
        for _, done in self._members.ask_everyone(lambda _, store: verbs.scrub_files(store, said)):
            freed += done.freed
            pending += done.pending
        return Scrubbed(freed, tuple(pending))

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        pruned = 0
        for member in self._members.all:
            left = most - pruned
            pruned += member.ask(partial(verbs.prune_history, before=before, dead=dead, most=left))
        return pruned

    def trim(self, most: int) -> int:
        return sum(n for _, n in self._members.ask_everyone(lambda _, store: verbs.compact(store, most)))

    def list_derived(self, scope: Scope) -> list[Record]:
        return [record for record in self.scan(Where(scope=scope)) if record.derived_from]

    def size(self) -> int:
        return sum(self._ask(lambda _, store: verbs.measure_size(store)))


def _read_own(member: Member, store: LeapingStore, *, scope: str, seqs: Sequence[int]) -> list[Record | None]:
    own = [seq // STEP for seq in seqs if member.owns(seq)]
    return store.read(scope, own) if own else []


def _scan_member(member: Member, where: Where, after: int, batch: int) -> Iterator[Record]:
    store: Store = member.ask(lambda store: store)
    for record in verbs.scan(store, where, after=member.inner_seq(after), batch=batch):
        yield record.but(seq=member.outer_seq(record.seq))
