"""Laws about the traits of candidates, lists by a column, neighbours, and following the store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...core.errors import BadInput
from ...core.scope import Scope
from ...core.where import Where
from ...store import ORDERS, Derived, verbs
from ...text import pack, term_id
from ...text.analysis import pack_analysis
from .. import Candidates, Hints, ValuePath
from .index_laws import NOW, WIDTH, IndexLaws, long, make_record, unit


class DescribingLaws(IndexLaws):
    """The laws about the traits that an index reports of its candidates beside their scores."""

    def test_a_record_of_several_units_is_one_candidate_with_the_best_of_each_arm(self) -> None:
        self.put(
            long("long", ["cat dog", "bird", "fish fish"], axes=(0, 1, 2)),
            make_record("short", words="bird", axis=3),
        )
        for axis in (0, 1, 2):
            found = self.search("fish", axis=axis)
            assert (len(found), found.searched, found.kept) == (2, 2, 2)
            scores = self.scores(found)
            assert abs(scores["long"][0] - 1) < 1e-3
            assert scores["long"][1] > scores["short"][1] == 0
        assert self.pick_ids("seq") == ["long", "short"]
        assert len(self.search("bird", where=Where(ids=("long",)))) == 1

    def test_a_record_of_several_units_comes_and_goes_as_a_whole(self) -> None:
        self.put(long("x", ["cat", "dog"], axes=(0, 1)), long("y", ["cat", "dog", "cow"], axes=(0, 1, 2)))
        assert self.search("cow").searched == 2
        self.put(make_record("x", words="hen", axis=4))
        assert self.find_scores("dog", axis=1)["x"][1] == 0
        verbs.delete_where(self.store, Where(ids=("y",)), now=NOW)
        found = self.search("cow", axis=2)
        assert self.scores(found).keys() == {"x"}
        assert (found.searched, float(found.words.max())) == (1, 0)
        assert self.index.check("a") == []

    def test_turns_are_numbered_in_the_order_things_happened(self) -> None:
        self.put(
            make_record("late", session="s", occurred=30.0),
            make_record("alone", occurred=5.0),
            make_record("first", session="s", occurred=10.0),
            make_record("elsewhere", session="t", occurred=20.0),
            make_record("second", session="s", occurred=10.0),
        )
        turns = {"late": 2, "alone": -1, "first": 0, "elsewhere": 0, "second": 1}
        assert self.column("turn") == turns
        self.put(
            make_record("next", session="s", occurred=40.0),
            make_record("between", session="s", occurred=15.0),
        )
        assert self.column("turn") == {**turns, "late": 3, "next": 4, "between": 2}
        verbs.delete_where(self.store, Where(ids=("first",)), now=NOW)
        assert self.column("turn")["between"] == 1
        sessions = self.column("session")
        assert sessions["alone"] == -1
        assert sessions["late"] == sessions["between"] != sessions["elsewhere"]

    def test_voices_are_those_who_still_have_something_said(self) -> None:
        self.put(
            make_record("x", who="ann"),
            make_record("y", who="bob"),
            make_record("z"),
            make_record("w", "a/b", who="cy"),
        )
        assert set(self.index.voices(Scope("a"))) - {""} == {"ann", "bob"}
        assert set(self.index.voices(Scope.under("a"))) - {""} == {"ann", "bob", "cy"}
        found = self.search()
        assert {
            id: found.traits.voices[code] if code >= 0 else None for id, code in self.column("who").items()
        } == {
            "x": "ann",
            "y": "bob",
            "z": None,
        }
        verbs.delete_where(self.store, Where(ids=("y",)), now=NOW)
        assert set(self.index.voices(Scope("a"))) - {""} == {"ann"}
        assert self.index.voices(Scope("nowhere")) == ()

    def test_a_name_is_mentioned_by_whoever_has_all_of_its_terms(self) -> None:
        self.put(
            make_record("both", words="new york"),
            make_record("half", words="new shoes"),
            make_record("twice", words="new new"),
            long("long", ["far away", "new york"], axes=(0, 1)),
            long("apart", ["new shoes", "york"], axes=(0, 1)),
        )
        york, none, twice = (
            (term_id("new"), term_id("york")),
            (),
            (term_id("new"), term_id("new"), term_id("york")),
        )
        found = self.search(hints=Hints(names=(york, none, twice)))
        assert [self.list_named(found, at) for at in range(3)] == [{"both", "long"}, set(), {"both", "long"}]

    def test_the_session_asked_for_is_told_of_not_filtered(self) -> None:
        self.put(
            make_record("x", session="session-7"),
            make_record("y", session="17"),
            make_record("z", session="7"),
        )
        found = self.search(hints=Hints(sessions=("session-7", "7")))
        assert found.traits.inside is not None
        assert found.traits.inside.tolist() == [True, False, True]
        assert self.search().traits.inside is None

    def test_flags_days_and_lengths_are_those_of_the_record(self) -> None:
        self.put(
            make_record("x", words="cat cat dog", flags=1, days=((5, 6), (9, 9))),
            long("long", ["cat", "dog"], axes=(0, 1), flags=6, days=((7, 7),)),
            make_record("y", words="cow", flags=2),
        )
        assert self.column("flags") == {"x": 1, "long": 6, "y": 2}
        assert self.column("length") == {"x": 3, "long": np.inf, "y": 1}
        assert self.search().traits.days.tolist() == [[0, 5, 6], [0, 9, 9], [1, 7, 7]]
        verbs.delete_where(self.store, Where(ids=("x",)), now=NOW)
        assert self.search().traits.days.tolist() == [[0, 7, 7]]
        assert self.search(where=Where(ids=("y",))).traits.days.tolist() == []

    def test_scopes_below_keep_their_own_sessions_and_share_their_voices(self) -> None:
        self.put(
            make_record("x", "a", session="s", who="ann", words="cat", days=((1, 1),)),
            make_record("y", "a/b", session="s", who="bob", words="cat", days=((2, 2),)),
            make_record("z", "a", session="s", who="bob", words="cat"),
        )
        hints = Hints(names=((term_id("cat"),),), sessions=("s",))
        found = self.search("cat", scope=Scope.under("a"), hints=hints)
        assert found.traits.session[0] == found.traits.session[2] != found.traits.session[1]
        assert [found.traits.voices[code] for code in found.traits.who.tolist()] == ["ann", "bob", "bob"]
        assert found.traits.days.tolist() == [[0, 1, 1], [1, 2, 2]]
        assert found.traits.mentions[0].all()
        assert found.traits.inside is not None
        assert found.traits.inside.all()

    def test_values_are_compared_as_conditions_compare_them(self) -> None:
        documents = [{"n": 1.0, "in": ["a", "b"]}, {"n": True}, {"n": "1", "in": []}, {}, [1]]
        seqs = [r.seq for r in self.put(*(make_record(f"{n}", data=d) for n, d in enumerate(documents)))]
        paths: dict[ValuePath, Any] = {("data", "n"): 1, ("data", "in"): ["b", "c"]}
        for _ in range(3):
            found = self.index.match_values("a", np.array(seqs), paths)
            number, items = found["data", "n"], found["data", "in"]
            assert np.array_equal(number.number, [1, np.nan, np.nan, np.nan, np.nan], equal_nan=True)
            assert number.equal.tolist() == [True, False, False, False, False]
            assert number.known.tolist() == [True, True, True, False, False]
            assert items.shared.tolist() == [0.5, 0, 0, 0, 0]

    def column(self, name: str) -> dict[str, Any]:
        """Returns a trait of all candidates by id."""
        found = self.search()
        return dict(zip(self.scores(found), getattr(found.traits, name).tolist(), strict=True))

    def list_named(self, found: Candidates, at: int) -> set[str]:
        return {
            id for id, has in zip(self.scores(found), found.traits.mentions[at].tolist(), strict=True) if has
        }


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
