"""Laws about forgetting: deletions, erasures, tombstones."""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from ...core.record import Record
from ...core.scope import Scope
from ...core.state import Protection
from ...core.where import Where
from ...quality import Tally
from .. import (
    BELOW_MARK,
    SCOPE_MARK,
    Claims,
    Erased,
    Erasure,
    Tombstone,
    TombstoneGuard,
    Transaction,
    verbs,
)
from ..rules import Entombed
from ..verbs.changing import find_held
from .laws import ALL, FULL, LATER, NOW, StoreLaws, catch, fact, ids, within

PATIENCE: Final = 20.0  # seconds


class ForgettingLaws(StoreLaws):
    def test_drop_tells_only_what_existed(self) -> None:
        self.put(fact("a"), fact("b"), fact("c", "b"))
        assert verbs.delete_where(self.store, within("a", ids=("b", "no", "c")), now=LATER) == ["b"]
        before = self.store.head()
        assert verbs.delete_where(self.store, within("a", ids=("b", "no")), now=LATER) == []
        assert (self.store.head(), self.store.history("a", "no")) == (before, [])
        assert self.store.match(ALL) == [r.seq for r in self.store.find(ALL)]
        assert ids(self.store.find(ALL)) == ["a", "c"]

    def test_what_was_dropped_is_found_in_no_way(self) -> None:
        (gone,) = self.put(FULL)
        verbs.delete_where(self.store, Where(ids=("full",)), now=LATER)
        assert self.store.read(FULL.scope, ["full"]) == [None]
        assert self.store.read(FULL.scope, [gone.seq]) == [None]
        assert self.store.find(ALL) == list(verbs.scan(self.store, ALL)) == []
        assert self.store.match(ALL) == []
        assert verbs.count_kinds(self.store, ALL) == {}
        assert verbs.count_scopes(self.store) == {}
        assert self.store.changes(FULL.scope, 0, 10).entries == []

    def watch(self, *claims: Claims, **how: bool) -> TombstoneGuard:
        return TombstoneGuard(lambda: list(claims), **how)

    def erase(self, erasure: Erasure, *, now: float = LATER, by: str | None = None) -> Erased:
        return verbs.erase(self.store, lambda _: erasure, now=now, by=by)

    def test_erasing_deletes_entombs_and_tells(self) -> None:
        one, other = self.put(fact("one"), fact("other"))
        erased = self.erase(
            Erasure(gone=[one], stones=[Tombstone("a", b"m1")], settings={"some": "thing"}), by="ann"
        )
        assert erased == Erased([("a", "one")], 0)
        assert self.store.find(ALL) == [other]
        assert verbs.tombstones_in(self.store, "a", [b"m1", b"m2"]) == {b"m1": LATER}
        assert verbs.tombstones_in(self.store, "b", [b"m1"]) == {}
        assert verbs.get_setting(self.store, "some") == "thing"
        assert [(e.what, e.by) for e in self.store.history("a", "one")][-1] == ("forgotten", "ann")
        assert self.store.changes("a", other.seq, 10).gone == [one.seq]

    def test_erasing_all_that_matches_counts_what_history_lost(self) -> None:
        self.put(fact("one"), fact("two", "a/b"), fact("three", "c"))
        self.put(fact("one", text="else"))
        self.tally(Tally("a", 1, "recall", {"recalls": 1}))
        erased = self.erase(Erasure(where=Where(scope=Scope.under("a"))))
        assert sorted(erased.gone) == [("a", "one"), ("a/b", "two")]
        assert erased.histories == 1
        assert [event.before for event in self.store.history("a", "one")] == [None, None, None]
        assert verbs.read_counts(self.store, None, 0) == []
        assert ids(self.store.find(ALL)) == ["three"]

    def test_what_is_made_anew_keeps_nothing_of_what_it_said(self) -> None:
        self.put(fact("sum", text="first"))
        (old,) = self.put(fact("sum", text="second"))
        assert self.erase(Erasure(anew=[(old, old.but(text="third"))])).histories == 1
        (new,) = self.store.find(ALL)
        assert (new.text, new.version, new.created) == ("third", 3, old.created)
        events = self.store.history("a", "sum")
        assert [event.what for event in events] == ["created", "revised", "revised"]
        assert [event.before for event in events] == [None, None, None]
        assert self.store.changes("a", old.seq, 10).gone == [old.seq]

    def test_what_is_entombed_is_refused_with_all_that_came_along(self) -> None:
        self.erase(Erasure(stones=[Tombstone("a", b"m")]))
        watch = self.watch(Claims(), Claims((b"m",)))
        error = catch(Entombed, lambda: self.put(fact("x"), fact("y"), watch=watch))
        assert error.found == {1: LATER}
        assert verbs.count(self.store, ALL) == 0

    def test_claims_are_not_asked_for_where_nothing_is_entombed(self) -> None:
        def never() -> list[Claims]:
            raise AssertionError("asked")

        assert len(self.put(fact("x"), watch=TombstoneGuard(never))) == 1

    def test_what_is_said_again_is_exhumed(self) -> None:
        self.erase(Erasure(stones=[Tombstone("a", b"m"), Tombstone("a", b"n")]))
        self.put(fact("x"), watch=self.watch(Claims((b"m",)), again=True))
        assert verbs.tombstones_in(self.store, "a", [b"m", b"n"]) == {b"n": LATER}
        assert verbs.lift_tombstones(self.store, "a", [b"m", b"n"]) == 1
        assert verbs.lift_tombstones(self.store, "a", [b"n"]) == 0

    def test_a_tombstone_forbids_what_it_means_and_nothing_else(self) -> None:
        self.erase(
            Erasure(stones=[Tombstone("a", b"m"), Tombstone("b", SCOPE_MARK), Tombstone("c", BELOW_MARK)])
        )
        self.put(fact("source"))
        back = {"returning": True}
        for scope, created, claim, how, forbidden in (
            ("a", NOW, Claims((b"m",)), {}, True),
            ("a", NOW, Claims((b"n",)), {}, False),
            ("z", NOW, Claims((b"m",)), {}, False),
            ("a", LATER, Claims(id=b"m"), {}, True),
            ("a", LATER + 1, Claims(id=b"m"), {}, False),
            ("a", NOW, Claims(made_of=(("gone", b"m"),)), {}, True),
            ("a", NOW, Claims(made_of=(("source", b"m"),)), {}, False),
            ("b", NOW, Claims(), back, True),
            ("b", LATER + 1, Claims(), back, False),
            ("b", NOW, Claims(), {}, False),
            ("b/c", NOW, Claims(), back, False),
            ("c", NOW, Claims(), back, True),
            ("c/d/e", NOW, Claims(), back, True),
            ("c/d/e", LATER + 1, Claims(), back, False),
            ("cc", NOW, Claims(), back, False),
        ):
            verbs.delete_where(self.store, Where(ids=("x",)), now=NOW)
            put = partial(self.put, fact("x", scope, created=created), watch=self.watch(claim, **how))
            if forbidden:
                catch(Entombed, put)
            else:
                assert ids(put()) == ["x"]

    def test_scrubbing_changes_nothing_of_what_is_kept(self) -> None:
        self.put(FULL, *[fact(f"f{n}", text=f"text {n} " * 50) for n in range(40)])
        self.erase(Erasure(where=within("a")))
        for texts in ([b"text 1 text 1"], [], None):
            ends = time.monotonic() + PATIENCE
            while pending := verbs.scrub_files(self.store, texts).pending:
                assert time.monotonic() < ends, pending
                time.sleep(0.05)  # a server waits for older transactions of other clients
        assert ids(self.store.find(ALL)) == ["full"]


def _hold(record: Record) -> Record:
    return record.but(state=record.state.but(hold=Protection(at=NOW, by="court")))


class HoldLaws(StoreLaws):
    def test_a_transaction_tells_which_bare_records_are_held(self) -> None:
        self.put(_hold(fact("held")), fact("free"), _hold(fact("x", "b")), fact("y", "b"))

        def look(transaction: Transaction) -> list[str]:
            return sorted(ids(find_held(transaction, list(transaction.find(ALL, bare=True)))))

        assert self.store.write(look) == ["held", "x"]
