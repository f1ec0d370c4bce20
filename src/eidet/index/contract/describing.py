"""Laws about records of several units and about the traits of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.scope import Scope
from ...core.where import Where
from ...store import verbs
from ...text import term_id
from .. import Candidates, Hints, ValuePath
from .index_laws import NOW, IndexLaws, long, make_record


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
