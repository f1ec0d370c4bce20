"""Keeps short and middle memories in one store and long ones in another, as one memory.

members.py   the two stores: which are up, their heads, and their seqs as one sequence
writing.py   runs a write over both
moving.py    copies a record to the other member, then deletes it where it was

A record lives in the member that its tier names. Tombstones are in both members, all other small values in
the long store. While one is down, reading answers from the other, and what belongs to it waits there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from heapq import merge
from itertools import chain
from typing import Any, Final, TypeVar, cast

from ...core.errors import Unavailable
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.where import Where
from .. import SETTINGS, TOMBSTONES, Changes, Head, Scrubbed, Store, Table, Transaction, verbs
from ..answers import count_records, renumber, sort_records
from ..model import K, V
from ..rules import Carry, Life, check_order, list_versions
from ..traits import StoreTraits, path_of
from ..verbs.writing import Put
from .members import NOBODY, STEP, LeapingStore, Member, Members, Opening, common_seq
from .moving import Copies, Mover, find_copies, join_histories, newest
from .writing import join_values, write

T = TypeVar("T")

_READS: Final = 50  # attempts at an answer while other processes move records


class TieredStore:
    """A store made of two. `short` and `long` are stores, or functions that open them.

    `archive` is where upkeep puts what it forgets, like the setting of that name.
    """

    def __init__(
        self,
        short: Opening,
        long: Opening,
        *,
        archive: str | None = None,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        opened = long() if callable(long) else long
        self.archive = archive
        self.identity: str = blake2b(f"tiered {opened.identity}".encode(), digest_size=16).hexdigest()
        self.path = path_of(opened)
        self._members = Members(short, opened)
        self.probe = self._members.probe  # checks whether stores that were down are back, as a thread does
        self._clock = clock
        self._mover = Mover(self._members, lambda job: write(self._members, job, clock())[0], clock, ticks)
        self._mover.carry = None if "seal" in opened.values(SETTINGS, ("seal",)) else _put_lives
        self._settings: dict[Any, dict[Any, Any]] = {}  # as last read, used while the long store is down
        try:
            self._members.long.ask(lambda store: store.head())
            if self.writable:
                self.mend()
        except BaseException:
            self._members.close()
            raise

    @property
    def writable(self) -> bool:
        return self._members.writable

    @property
    def missing(self) -> tuple[str, ...]:
        """Descriptions of the stores that are down, so that answers lack their records."""
        return tuple(
            f"the {name} store is down: what it holds is not in this answer"
            for name in self._members.missing()
        )

    def describe(self) -> StoreTraits:
        return StoreTraits(
            path=self.path,
            files=self._members.list_files,
            home=self._members.tell_home,
            archive=self.archive,
            missing=self.missing,
        )

    def health(self) -> dict[str, Any]:
        stuck = list(self._mover.stuck.values())
        waiting = {"records": self._mover.waiting, "stuck": len(stuck), "error": stuck[-1] if stuck else None}
        return {**self._members.health(), "waiting": waiting}

    def close(self) -> None:
        self._mover.stop()
        self._members.close()

    # Writing.

    def write(self, job: Callable[[Transaction], T]) -> T:
        """Writes to the members. What belongs to one that is down waits in the other one."""
        with self._mover.lock:
            self._mover.mend_if_due()
            answer, written = write(self._members, job, self._clock())
            seqs = self._mover.follow_up(written)
        return cast("T", renumber(answer, seqs))

    def mend(self) -> None:
        """Delivers waiting records and finishes interrupted moves at once; writes do so now and then."""
        self._mover.mend()

    def carry_by(self, carry: Carry) -> None:
        """Sets how waiting records are written later, so that a sealed memory can seal them again."""
        self._mover.carry = carry
        if self.writable:
            self.mend()

    # Reading.

    def _ask(self, job: Callable[[Copies, Member, LeapingStore], T]) -> list[T]:
        """Asks each member as of one moment; asks again if a record moved meanwhile."""
        for _ in range(_READS):
            copies = find_copies(self._members.ask)
            answers = self._members.ask(partial(job, copies))
            if find_copies(self._members.ask) == copies:
                return [answer for _, answer in answers]
        raise Unavailable("records kept moving from store to store", retry_after=1.0)

    def _gather(self, job: Callable[[Copies, Member, LeapingStore], Iterable[Record | None]]) -> list[Record]:
        """Returns the copy that counts of each record that is found."""

        def find(copies: Copies, member: Member, store: LeapingStore) -> list[Record]:
            found = member.outer(job(copies, member, store))
            return [record for record in found if record.seq not in copies.hidden]

        return list(newest(chain.from_iterable(self._ask(find)), {}).values())

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        if keys and isinstance(keys[0], int):
            seqs = cast("Sequence[int]", keys)

            def read(_: Copies, member: Member, store: LeapingStore) -> list[Record | None]:
                return store.read(scope, [seq // STEP for seq in seqs if member.owns(seq)])

            by_seq = {r.seq: r for r in self._gather(read)}
            return [by_seq.get(seq) for seq in seqs]
        by_id = {r.id: r for r in self._gather(lambda _, __, store: store.read(scope, keys))}
        return [by_id.get(id) for id in cast("Sequence[str]", keys)]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        check_order(order)
        most = None if limit is None else offset + limit
        found = self._gather(
            lambda copies, member, store: store.find(
                where,
                order=order,
                limit=None if most is None else most + len(copies.hidden),
                after=member.inner_seq(after),
            )
        )
        return sort_records(found, order)[offset:most]

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """Scans all members. Raises `Unavailable` while one is down: a scan must not miss records."""
        hidden = find_copies(self._members.ask).hidden
        walks = [_scan_member(member, where, after, batch) for member in self._members.all]
        yield from (one for one in merge(*walks, key=lambda record: record.seq) if one.seq not in hidden)

    def match(self, where: Where) -> list[int]:
        def match(copies: Copies, member: Member, store: LeapingStore) -> set[int]:
            return {member.outer_seq(seq) for seq in store.match(where)} - copies.hidden.keys()

        return sorted(chain.from_iterable(self._ask(match)))

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        def count(copies: Copies, member: Member, store: LeapingStore) -> Counter[tuple[str, ...]]:
            counts = Counter(store.count_by(where, columns))
            hidden = [one for one in copies.hidden.values() if member.owns(one.seq) and where.matches(one)]
            counts.subtract(count_records(hidden, columns))
            return counts

        counts: Counter[tuple[str, ...]] = Counter()
        for found in self._ask(count):
            counts.update(found)
        return dict(counts) if not columns else {key: count for key, count in counts.items() if count}

    def history(self, scope: str, id: str) -> list[Event]:
        return join_histories(self._ask(lambda _, __, store: store.history(scope, id)))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        """Works like `Store.values`; with the long store down, returns the last settings and no tallies."""
        asked = None if keys is None else list(keys)
        if table.name == TOMBSTONES.name:
            parts = self._members.ask(lambda _, store: store.values(table, asked, within=within, limit=limit))
            return join_values([part for _, part in parts], limit)
        question = (prefix, None if asked is None else tuple(asked), limit)
        try:
            found = self._members.long.ask(
                lambda store: self._members.read_values(
                    store, table, asked, within=within, prefix=prefix, limit=limit
                )
            )
        except Unavailable:
            if table.name == SETTINGS.name and question in self._settings:
                return self._settings[question]
            if table.name == SETTINGS.name or self._members.short.down:
                raise
            return {}
        if table.name == SETTINGS.name:
            self._settings[question] = found
        return found

    # Following.

    def head(self) -> Head:
        return self._members.head()

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        head = self._members.head()
        found = self._members.ask(lambda member, store: store.changes(scope, member.inner_seq(since), limit))
        upto = min(head.seq, *(common_seq(changes.head.seq) for _, changes in found))
        pruned = max(common_seq(changes.pruned) if changes.pruned else 0 for _, changes in found)
        entries = [
            entry._replace(seq=member.outer_seq(entry.seq))
            for member, changes in found
            for entry in changes.entries
        ]
        gone = [member.outer_seq(seq) for member, changes in found for seq in changes.gone]
        known = [entry for entry in sorted(entries) if entry.seq <= upto][:limit]
        if len(known) == limit:
            upto = known[-1].seq
        return Changes(Head(head.epoch, max(upto, since)), known, gone, max(pruned, self._members.pruned))

    def fingerprint(self, seq: int) -> str | None:
        """Works like `verbs.fingerprint`; None once a store was down: an index made then must not be kept."""
        if self._members.turns:
            return None
        for member in self._members.all:
            if seq % STEP in (member.number, NOBODY):
                print_ = member.ask(lambda store: verbs.fingerprint(store, seq // STEP))
                if print_ is not None:
                    return f"{member.name} {print_}"
        return None

    # What each member does by itself.

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        done = [one for _, one in self._members.ask_everyone(lambda _, store: verbs.scrub_files(store, said))]
        return Scrubbed(
            sum(one.freed for one in done), tuple(chain.from_iterable(one.pending for one in done))
        )

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        pruned = 0
        for member in self._members.all:
            left = most - pruned
            pruned += member.ask(partial(verbs.prune_history, before=before, dead=dead, most=left))
        return pruned

    def trim(self, most: int) -> int:
        return sum(n for _, n in self._members.ask_everyone(lambda _, store: verbs.compact(store, most)))

    def size(self) -> int:
        return sum(size for _, size in self._members.ask(lambda _, store: verbs.measure_size(store)))


def _scan_member(member: Member, where: Where, after: int, batch: int) -> Iterator[Record]:
    store: Store = member.ask(lambda store: store)
    for record in verbs.scan(store, where, after=member.inner_seq(after), batch=batch):
        yield record.but(seq=member.outer_seq(record.seq))


def _put_lives(transaction: Transaction, lives: Sequence[Life], now: float) -> None:
    """Writes all versions of records in order, as if that happened now. Holds were respected before."""
    Put(records=list_versions(lives), now=now, unique=False, follows=True)(transaction)
