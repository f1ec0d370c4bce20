"""Two stores behave like one, whatever is asked of them and in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.making import examples

from eidet.core.errors import Conflict
from eidet.core.record import Event, Kind, Record, Tier
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.net.retry import Full
from eidet.store import ORDERS, Erasure, Reader, Store, Tombstone, Transaction, verbs
from eidet.store.ram import RamStore
from eidet.store.tiered import TieredStore, moving

IDS, SCOPES = ("one", "two", "three"), ("a", "a/b")
tiers = st.sampled_from(Tier)
drawn = st.builds(
    Record,
    id=st.sampled_from(IDS),
    scope=st.sampled_from(SCOPES),
    text=st.sampled_from(("yes", "no", "perhaps")),
    kind=st.sampled_from((Kind.FACT, Kind.FACT, Kind.MESSAGE)),
    tier=tiers,
    importance=st.sampled_from((0.1, 0.5)),
    created=st.sampled_from((5.0, 6.0)),
    occurred=st.just(1.0),
    agent=st.sampled_from((None, "ann")),
    step=st.sampled_from((None, 1, 2)),
)


class Sticky(RamStore):
    """Does not let go of records that moved, while it is stuck: as if every mover were killed in between."""

    stuck = False

    def write(self, job: Callable[[Transaction], Any]) -> Any:
        if self.stuck and getattr(job, "func", job) is moving._leave:
            raise Full("nothing is deleted here")
        return super().write(job)


class One(RuleBasedStateMachine):
    """Does the same to a plain store and to a tiered one, and compares every answer but for the seqs."""

    @initialize()
    def open(self) -> None:
        self.members = Sticky(), Sticky()
        self.stores: tuple[Store, Store] = (RamStore(), TieredStore(*self.members))
        self.stuck = False
        self.now = 10.0
        self.held: dict[str, tuple[set[int], int]] = {scope: (set(), 0) for scope in SCOPES}

    def same(self, ask: Callable[[Store], Any]) -> None:
        one, two = (without_seqs(answer(ask, store)) for store in self.stores)
        assert one == two

    def tick(self) -> float:
        self.now += 1.0
        return self.now

    @rule(records=st.lists(drawn, max_size=4), unique=st.booleans())
    def put(self, records: list[Record], unique: bool) -> None:
        now = self.tick()
        self.same(lambda store: verbs.put(store, records, now=now, unique=unique, by="bob"))

    @rule(record=drawn, expect=st.integers(1, 3))
    def change(self, record: Record, expect: int) -> None:
        now = self.tick()
        self.same(lambda store: verbs.put(store, [record], now=now, expect=expect))

    @rule(tier=tiers, share=st.integers(0, 3), level=st.integers(0, 2))
    def recast(self, tier: Tier, share: int, level: int) -> None:
        now = self.tick()

        def ask(store: Store) -> Any:
            found = by_name(store.find(Where()))[share : share + 1]
            return verbs.rewrite_form(
                store, [(r, r.but(tier=tier, level=level)) for r in found], now=now, by="upkeep"
            )

        self.same(ask)

    @rule(ids=st.lists(st.sampled_from(IDS), max_size=2), scope=st.sampled_from(SCOPES))
    def drop(self, ids: list[str], scope: str) -> None:
        now = self.tick()
        self.same(
            lambda store: sorted(
                verbs.delete_where(store, Where(scope=Scope(scope), ids=tuple(ids)), now=now)
            )
        )

    @rule(share=st.integers(1, 3))
    def bury(self, share: int) -> None:
        now = self.tick()
        self.same(
            lambda store: sorted(
                verbs.delete_unchanged(store, by_name(store.find(Where()))[::share], now=now)
            )
        )

    @rule(id=st.sampled_from(IDS), text=st.sampled_from(("yes", "no")))
    def erase(self, id: str, text: str) -> None:
        now = self.tick()

        def plan(look: Reader) -> Erasure:
            gone = list(look.scan(Where(ids=(id,))))
            twins = by_name(r for r in look.twins(gone) if r.id != id)[:1]
            anew = [(r, r.but(text=f"{text} anew")) for r in twins]
            return Erasure(gone=gone, anew=anew, stones=[Tombstone("a", b"m")], settings={"s": text})

        def ask(store: Store) -> Any:
            erased = verbs.erase(store, plan, now=now, by="eve")
            return sorted(erased.gone), verbs.get_setting(store, "s"), verbs.tombstones_in(store, "a", [b"m"])

        self.same(ask)

    @rule(id=st.sampled_from(IDS), scope=st.sampled_from(SCOPES))
    def use(self, id: str, scope: str) -> None:
        now = self.tick()
        self.same(lambda store: verbs.add_uses(store, {(scope, id): (1, now)}))

    @rule(stuck=st.booleans())
    def leave_copies(self, stuck: bool) -> None:
        """From now on moves break off between copy and deletion, or what broke off is finished."""
        self.stuck = stuck
        for member in self.members:
            member.stuck = stuck
        tiered = self.stores[1]
        assert isinstance(tiered, TieredStore)
        tiered.mend()

    @rule(
        tier=st.none() | tiers,
        order=st.sampled_from(ORDERS),
        down=st.sampled_from(("", "-")),
        limit=st.none() | st.integers(0, 4),
        offset=st.integers(0, 2),
    )
    def find(self, tier: Tier | None, order: str, down: str, limit: int | None, offset: int) -> None:
        """Records that moved were written last; so equal ones may be in another order."""
        where = Where(tiers=None if tier is None else (tier,))

        def ask(store: Store) -> list[Any]:
            found = store.find(where, order=down + order, limit=limit, offset=offset)
            return [getattr(record, order) for record in found]

        self.same(lambda store: len(ask(store)) if order == "seq" else ask(store))
        self.same(
            lambda store: (
                verbs.count(store, where),
                verbs.count_kinds(store, where),
                len(store.match(where)),
            )
        )

    @rule(scope=st.sampled_from(SCOPES), limit=st.integers(1, 3))
    def follow(self, scope: str, limit: int) -> None:
        """Somebody who reads on holds exactly what is there."""
        store, (held, at) = self.stores[1], self.held[scope]
        while at < store.head().seq:
            told = store.changes(scope, at, limit)
            held = (held - set(told.gone)) | {entry.seq for entry in told.entries}
            assert told.head.seq > at
            at = told.head.seq
        there = store.match(Where(scope=Scope(scope)))
        found = store.read(scope, sorted(held))
        assert [record.seq for record in found if record] == there
        assert self.stuck or sorted(held) == there
        self.held[scope] = held, at

    @invariant()
    def all_that_is_told_is_the_same(self) -> None:
        self.same(lambda store: (by_name(verbs.scan(store, Where(), batch=2)), verbs.count_scopes(store)))
        self.same(lambda store: [store.read(scope, IDS) for scope in SCOPES])
        self.same(lambda store: [story(store.history(scope, id)) for scope in SCOPES for id in IDS])

    @invariant()
    def everything_is_where_it_belongs(self) -> None:
        short, long = self.members
        if self.stuck:
            return
        assert verbs.count(short, Where(tiers=(Tier.LONG,))) == 0
        assert verbs.count(long, Where(tiers=(Tier.SHORT, Tier.MIDDLE))) == 0


def answer(ask: Callable[[Store], Any], store: Store) -> Any:
    try:
        return ask(store)
    except Conflict as conflict:
        return ("conflict", conflict.current)


def without_seqs(told: Any) -> Any:
    if isinstance(told, Record):
        return told.but(seq=0)
    if isinstance(told, list | tuple):
        return [without_seqs(one) for one in told]
    return told


def by_name(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: (record.scope, record.id))


def story(events: list[Event]) -> list[Any]:
    return [(e.what, e.at, e.by, e.version, e.before) for e in events]


TestTwoBehaveLikeOne = One.TestCase
TestTwoBehaveLikeOne.settings = settings(
    derandomize=True,
    deadline=None,
    max_examples=examples(40),
    stateful_step_count=15,
    phases=(Phase.generate,),
)
