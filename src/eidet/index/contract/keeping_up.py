"""Laws about lists by a column, neighbours in sessions, and following the store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...core.errors import BadInput
from ...core.scope import Scope
from ...core.where import Where
from ...store import ORDERS, Derived, verbs
from ...text import pack
from ...text.analysis import pack_analysis
from .. import Candidates
from .index_laws import NOW, WIDTH, IndexLaws, make_record, unit


class KeepingUpLaws(IndexLaws):
    """The laws of following: an index agrees with its store, whoever writes and whenever it was built."""

    def test_select_agrees_with_the_store(self) -> None:
        steps = (3, None, 1, None, 3, 2, -1)
        self.put(
            *(
                make_record(f"{n}", ("a", "a/b")[n % 2], step=steps[n % 7], importance=n % 3 / 2)
                for n in range(40)
            )
        )
        known = [name for name in ORDERS if name != "uses"]
        for scope in (Scope("a"), Scope.under("a")):
            for order in (*known, *(f"-{name}" for name in known)):
                for limit in (1, 3, 9, 100):
                    truth = self.store.find(Where(scope=scope), order=order, limit=limit)
                    assert self.pick_ids(order, scope=scope, limit=limit) == [r.id for r in truth], order

    def test_an_order_the_index_does_not_know_is_bad_input(self) -> None:
        for order in ("uses", "text", "", "--seq"):
            try:
                self.pick_ids(order)
            except BadInput:
                continue
            raise AssertionError(f"order {order!r} was not refused")

    # Following and rebuilding.

    def test_other_writers_are_seen(self) -> None:
        other = self.reopen(self.store)
        self.put(make_record("mine", words="word", axis=0))
        assert self.find_scores("word").keys() == {"mine"}
        verbs.put(other, [make_record("theirs", words="word", axis=0)], now=NOW, unique=False)
        assert self.find_scores("word", axis=0).keys() == {"mine", "theirs"}
        verbs.put(other, [make_record("mine", words="changed", axis=1)], now=NOW)
        assert self.find_scores("changed")["mine"][1] > 0
        verbs.delete_where(other, Where(ids=("mine",)), now=NOW)
        assert self.find_scores("word").keys() == {"theirs"}
        if other is not self.store:
            other.close()

    def test_bytes_that_were_rewritten_are_seen(self) -> None:
        (x,) = self.put(make_record("x", words="old", axis=0))
        assert self.find_scores("old", axis=0)["x"] > (0.99, 0.0)
        verbs.replace_derived(
            self.store, [Derived(x.seq, unit((1, 1.0)).tobytes(), pack_analysis([pack(["new"])]))]
        )
        assert self.find_scores("new", axis=1)["x"] > (0.99, 0.0)
        assert self.find_scores("old")["x"][1] == 0

    def test_a_rebuilt_index_answers_the_same(self) -> None:
        self.put(*(make_record(f"{n}", words=f"cat w{n % 3}", axis=n % WIDTH) for n in range(50)))
        self.search("cat")
        self.put(*(make_record(f"{n}", words="dog", axis=0) for n in range(10)))
        verbs.delete_where(self.store, Where(ids=("20", "21")), now=NOW)
        before = self.search("cat w1 dog", axis=3)
        assert self.index.rebuild("a") == 48
        self.assert_same(before, self.search("cat w1 dog", axis=3))
        self.assert_same(before, self.search("cat w1 dog", axis=3, index=self.make(self.store, WIDTH)))
        assert self.index.rebuild("nowhere") == 0

    def assert_same(self, one: Candidates, other: Candidates) -> None:
        for name in ("seq", "dense", "words"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        for name in ("importance", "occurred", "turn", "kind", "flags", "length", "days"):
            assert np.array_equal(getattr(one.traits, name), getattr(other.traits, name)), name
        assert (one.searched, one.kept) == (other.searched, other.kept)

    def around(self, id: str, reach: int, where: Where | None = None) -> tuple[int, list[str]] | None:
        """Returns a record's turn and the ids of those beside it."""
        records = {record.seq: record.id for record in self.store.find(Where(scope=Scope("a")))}
        seq = next(seq for seq, name in records.items() if name == id)
        place = self.index.around("a", [seq], reach, where, now=NOW).get(seq)
        return place and (place.turn, [records[near] for near, _ in place.beside])

    def test_who_stands_beside_a_record_in_its_session(self) -> None:
        late, early = (
            make_record(id, session="s", occurred=NOW + at) for id, at in (("late", 9), ("early", 1))
        )
        self.put(late, make_record("middle", session="s", occurred=NOW + 5), early, make_record("alone"))
        self.put(make_record("other", session="t", occurred=NOW + 6))
        assert self.around("middle", 1) == (1, ["late", "early"])
        assert self.around("early", 5) == (0, ["middle", "late"])
        assert self.around("late", 1) == (2, ["middle"])
        assert self.around("other", 3) == (0, [])
        assert self.around("alone", 3) is None
        assert self.index.around("a", [10**12], 3, None, now=NOW) == {}
        assert self.index.around("nowhere", [1], 3, None, now=NOW) == {}

    def test_only_what_passes_and_lives_stands_beside(self) -> None:
        turns = [
            make_record(f"t{n}", session="s", occurred=NOW + n, who="ann" if n % 2 else "bob")
            for n in range(6)
        ]
        self.put(*turns)
        assert self.around("t3", 1, Where(who="ann")) == (3, ["t5", "t1"])
        assert self.around("t3", 1, Where(who="bob")) is None
        verbs.delete_where(self.store, Where(ids=("t4",)), now=NOW)
        self.put(make_record("t2", session="s", occurred=NOW + 2, expires=NOW - 1))
        assert self.around("t3", 1) == (3, ["t5", "t1"])

    def test_what_is_gone_is_taken_out_at_once(self) -> None:
        self.put(*(make_record(f"{n}", words="old") for n in range(6)), make_record("x", "b", words="word"))
        self.put(*(make_record(f"{n}", words="word") for n in range(6)))
        assert self.index.check("a") == self.index.check("b") == self.index.check("nowhere") == []
        self.find_scores("word")
        verbs.delete_where(self.store, Where(ids=("3",)), now=NOW)
        assert self.index.cleanse("a") == self.index.cleanse("b") == self.index.cleanse("nowhere") == []
        assert sorted(self.find_scores("word")) == ["0", "1", "2", "4", "5"]
        assert self.index.check("a") == self.index.check("b") == []

    def test_many_threads_search_while_one_writes(self) -> None:
        def read(_: int) -> int:
            return len(self.find_scores("word", depth=10**6))

        read(0)  # creates store and index once, before the threads need them
        with ThreadPoolExecutor(4) as pool:
            counts = [pool.submit(read, n) for n in range(20)]
            for n in range(40):
                self.put(make_record(f"{n}", words="word"))
            assert all(count.result() <= 40 for count in counts)
        assert len(self.find_scores("word", depth=10**6)) == 40

    def test_closing_twice_is_fine_and_loses_nothing(self) -> None:
        self.put(make_record("x", words="word"))
        self.find_scores("word")
        self.index.close()
        self.index.close()
        assert self.scores(self.search("word", index=self.make(self.store, WIDTH))).keys() == {"x"}
