"""Laws about durability: reopening, compacting, pruning, closing."""

from __future__ import annotations

from typing import Any

from ...core.record import Tier
from ...core.where import Where
from ...quality import Tally
from .. import Store, verbs
from ..abilities import MaintainsStorage
from .laws import ALL, FULL, LATER, NOW, StoreLaws, fact, within


class LastingLaws(StoreLaws):
    def test_trimming_ends_and_loses_nothing(self) -> None:
        kept = self.put(*(fact(f"{n}", text=f"{n} " * 500) for n in range(50)))
        verbs.delete_where(self.store, within("a", ids=tuple(r.id for r in kept[5:])), now=LATER)
        for _ in range(100):
            if not verbs.compact(self.store, 1 << 16):
                break
        else:
            raise AssertionError("there was always more to give back")
        assert self.store.find(ALL) == kept[:5]

    def test_notes_of_moves_can_be_removed_and_nothing_else(self) -> None:
        if MaintainsStorage in self.lacks:
            assert verbs.prune_history(self.store, NOW, dead=True, most=10) == 0
            return
        old = self.put(fact("x"), now=NOW)[0]
        moved = verbs.rewrite_form(self.store, [(old, old.but(tier=Tier.LONG))], now=NOW)[0]
        assert moved is not None
        self.put(moved.but(text="new"), now=LATER)
        self.put(fact("y"), now=NOW)
        verbs.delete_where(self.store, within("a", ids=("y",)), now=NOW)
        self.put(fact("last"), now=LATER)
        verbs.delete_where(self.store, within("a", ids=("last",)), now=LATER)
        head = self.store.head()
        assert verbs.prune_history(self.store, NOW, dead=True, most=10) == 0
        assert verbs.prune_history(self.store, NOW + 1, dead=False, most=10) >= 1
        assert [event.what for event in self.store.history("a", "x")] == ["created", "revised"]
        assert self.store.history("a", "y")
        assert verbs.prune_history(self.store, NOW + 1, dead=True, most=10) >= 1
        assert self.store.history("a", "y") == []
        assert [event.what for event in self.store.history("a", "x")] == ["created", "revised"]
        assert verbs.prune_history(self.store, NOW + 1, dead=True, most=10) == 0
        assert self.store.head() == head
        verbs.prune_history(self.store, LATER + 1, dead=True, most=10)
        assert self.store.head() == head, "a seq is never given twice"

    def test_whoever_was_away_too_long_is_told_so(self) -> None:
        one, _ = self.put(fact("one"), fact("two"))
        since = self.store.head().seq
        verbs.rewrite_form(self.store, [(one, one.but(tier=Tier.LONG))], now=NOW)
        self.put(fact("three"), now=LATER)
        verbs.delete_where(self.store, within("a", ids=("three",)), now=LATER)
        verbs.prune_history(self.store, LATER, dead=False, most=10)
        changes = self.store.changes("a", since, 10)
        assert changes.pruned > since or one.seq in changes.gone
        now = self.store.head().seq
        assert self.store.changes("a", now, 10).pruned <= now

    def test_it_says_who_it_is_and_how_large(self) -> None:
        assert self.store.identity
        assert self.store.writable is True
        self.put(FULL)
        if MaintainsStorage not in self.lacks:
            assert verbs.measure_size(self.store) > 0

    def test_closing_twice_is_fine(self) -> None:
        self.put(fact("x"))
        self.store.close()
        self.store.close()

    def test_a_second_opening_sees_every_write_at_once(self) -> None:
        other = self.reopen(self.store)
        if other is None:
            return
        (x,) = self.put(FULL)
        assert other.identity == self.store.identity
        assert other.head() == self.store.head()
        assert other.find(ALL) == [x]
        (y,) = verbs.put(other, [fact("y")], now=NOW)
        assert y.seq > x.seq
        assert self.store.head() == other.head()
        assert self.store.read("a", ["y"]) == [y]
        assert [e.seq for e in self.store.changes("a", x.seq, 10).entries] == [y.seq]
        other.close()
        assert verbs.count(self.store, ALL) == 2

    def test_everything_is_there_after_reopening(self) -> None:
        self.put(FULL, fact("gone"), fact("used", vector=b"1"))
        self.put(fact("used", text="new", vector=b"2"), by="bob")
        verbs.delete_where(self.store, Where(ids=("gone",)), now=LATER)
        verbs.add_uses(self.store, {("a", "used"): (1, LATER)})
        verbs.set_settings(self.store, {"some": "thing"})
        verbs.stage_vectors(self.store, "next", [(10, b"v")])
        self.tally(Tally("a", 1, "recall", {"recalls": 1}))
        before = self.look_at(self.store)
        self.store.close()
        again = self.reopen(self.store)
        if again is None:
            return
        assert self.look_at(again) == before
        assert verbs.put(again, [fact("later")], now=LATER)[0].seq > before[1].seq
        again.close()

    def look_at(self, store: Store) -> Any:
        """Collects everything a store returns for the scopes used here."""
        return (
            store.identity,
            store.head(),
            store.find(ALL),
            [store.history("a", id) for id in ("gone", "used")],
            store.changes("a", 0, 100),
            (
                verbs.get_setting(store, "some"),
                verbs.read_staged(store, "next"),
                verbs.read_counts(store, None, 0),
            ),
        )
