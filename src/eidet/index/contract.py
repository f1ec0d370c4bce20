"""The laws of `Index` as tests. Subclass it in a test file and say how yours is made:

class TestMine(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        return Mine(store, width)
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from ..core.errors import BadInput
from ..core.record import Kind, Record, Tier
from ..core.scope import Scope
from ..core.where import Box, Condition, Near, Where
from ..store import ORDERS, Derived, Store, verbs
from ..store.ram import RamStore
from ..text import pack, term_id
from ..text.analysis import pack_analysis
from . import Floats, Found, Index, Probe

NOW: Final = 1_700_000_000.0
WIDTH: Final = 16


def unit(*parts: tuple[int, float]) -> Floats:
    """A vector with these coordinates, of length one."""
    vector = np.zeros(WIDTH, np.float32)
    for axis, value in parts:
        vector[axis] = value
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length or 1)


def noted(id: str, scope: str = "a", *, words: str = "", axis: int | None = None, **fields: Any) -> Record:
    """A record with the words given and a vector along one axis."""
    return long(id, [words], scope, axes=() if axis is None else (axis,), **fields)


def long(
    id: str,
    units: Sequence[str],
    scope: str = "a",
    *,
    axes: Sequence[int] = (),
    flags: int = 0,
    days: Sequence[tuple[int, int]] = (),
    **fields: Any,
) -> Record:
    """A record in units of words, with vectors along the axes."""
    text = f"{id} {' '.join(units)}"
    said = {"text": text, "created": NOW, "occurred": NOW, "kind": Kind.EPISODE, **fields}
    vector = b"".join(unit((axis, 1.0)).tobytes() for axis in axes) or None
    terms = pack_analysis([pack(words.split()) for words in units], flags, days)
    return Record(id=id, scope=scope, vector=vector, terms=terms, **said)


def bm25(tf: float, length: float, mean: float, holding: int, of: int) -> float:
    """The score of one term by the book, with k1 = 1.2 and b = 0.4."""
    rarity = np.log1p((of - holding + 0.5) / (holding + 0.5))
    return float(rarity * tf * 2.2 / (tf + 1.2 * (0.6 + 0.4 * length / mean)))


class IndexContract:
    """Every index passes these. `make` gives one over a store; `folder` is a place for its files.

    An index that needs a store of its own kind has `make_store`, and `reopen` for a second object
    on the same records.
    """

    def make(self, store: Store, width: int) -> Index:
        raise NotImplementedError

    def make_store(self) -> Store:
        return RamStore()

    def reopen(self, store: Store) -> Store:
        """Another object on the same records, as another process would have; by default the same one."""
        return store

    @cached_property
    def folder(self) -> Path:
        self._folder = TemporaryDirectory(prefix="eidet-contract-")
        return Path(self._folder.name)

    @cached_property
    def store(self) -> Store:
        return self.make_store()

    @cached_property
    def index(self) -> Index:
        return self.make(self.store, WIDTH)

    def teardown_method(self) -> None:
        for part in ("index", "store"):
            if part in self.__dict__:
                getattr(self, part).close()
        if "folder" in self.__dict__:
            self._folder.cleanup()

    def put(self, *records: Record) -> list[Record]:
        return verbs.put(self.store, records, now=NOW, unique=False)

    def search(
        self,
        words: str = "",
        *,
        axis: int | None = None,
        scope: str | Scope = "a",
        now: float = NOW,
        index: Index | None = None,
        **how: Any,
    ) -> Found:
        vector = None if axis is None else unit((axis, 1.0))
        terms = tuple(term_id(word) for word in words.split())
        probe = Probe(scope=Scope.of(scope), now=now, vector=vector, terms=terms, **how)
        return (index or self.index).search(probe)

    def found(self, words: str = "", **how: Any) -> dict[str, tuple[float, float]]:
        """What a search finds: the scores of both arms by id."""
        return self.scores(self.search(words, **how))

    def scores(self, found: Found) -> dict[str, tuple[float, float]]:
        scopes = [found.scopes[code] for code in found.scope.tolist()]
        records = [
            self.store.read(*at)[0] for at in zip(scopes, ([s] for s in found.seq.tolist()), strict=True)
        ]
        arms = zip(found.dense.tolist(), found.words.tolist(), strict=True)
        return {record.id: arm for record, arm in zip(records, arms, strict=True) if record is not None}

    def picked(self, order: str, where: Where | None = None, **how: Any) -> list[str]:
        """The ids that `select` gives, in its order."""
        asked: dict[str, Any] = {"scope": Scope("a"), "now": NOW, "limit": 100, **how}
        chosen = self.index.select(asked.pop("scope"), where, order=order, **asked)
        records = [self.store.read(scope, [seq])[0] for scope, seq in chosen]
        return [record.id for record in records if record is not None]

    # Finding.

    def test_an_empty_scope_gives_nothing(self) -> None:
        found = self.search("word", axis=0)
        assert (len(found), found.searched, found.kept) == (0, 0, 0)
        assert self.picked("seq") == []
        below = self.search("word", axis=0, scope=Scope.under("a"))
        assert (len(below), below.scopes) == (0, [])

    def test_what_was_put_is_found_at_once(self) -> None:
        for n in range(20):
            self.put(noted(f"{n}", words=f"word{n}", axis=n % WIDTH))
            assert self.found(f"word{n}")[f"{n}"][1] > 0
            assert self.found(axis=n % WIDTH)[f"{n}"][0] > 0.999

    def test_a_change_is_found_at_once(self) -> None:
        self.put(noted("x", words="old", axis=0), noted("y", words="old", axis=1))
        assert self.found("old", axis=0).keys() == {"x", "y"}
        self.put(noted("x", words="new", axis=2))
        assert self.found("new", axis=2)["x"] > (0.99, 0.0)
        dense, words = self.found("old", axis=0)["x"]
        assert abs(dense) < 0.001
        assert words == 0

    def test_what_was_dropped_is_not_found(self) -> None:
        self.put(noted("x", words="word", axis=0), noted("y", words="word", axis=0))
        assert self.found("word", axis=0).keys() == {"x", "y"}
        verbs.delete_where(self.store, Where(ids=("x",)), now=NOW)
        found = self.search("word", axis=0)
        assert self.scores(found).keys() == {"y"}
        assert (found.searched, found.kept) == (1, 1)
        assert self.picked("seq") == ["y"]

    def test_many_changes_leave_no_ghosts(self) -> None:
        for n in range(60):
            self.put(*(noted(f"{n}-{i}", words=f"many w{i}", axis=i % WIDTH) for i in range(30)))
            verbs.delete_where(self.store, Where(ids=tuple(f"{n}-{i}" for i in range(30) if i % 10)), now=NOW)
            if n % 7 == 0:
                assert self.search("many", depth=10**6).searched == 3 * (n + 1)
        assert self.index.check("a") == []
        assert self.found("w10", depth=10**6).keys() == {f"{n}-{i}" for n in range(60) for i in (0, 10, 20)}

    def test_what_has_expired_is_not_found(self) -> None:
        self.put(
            noted("brief", words="word", axis=0, expires=NOW + 10), noted("lasting", words="word", axis=0)
        )
        assert self.found("word", axis=0, now=NOW + 9.9).keys() == {"brief", "lasting"}
        assert self.found("word", axis=0, now=NOW + 10).keys() == {"lasting"}
        assert self.picked("seq", now=NOW + 9.9) == ["brief", "lasting"]
        assert self.picked("seq", now=NOW + 10) == ["lasting"]

    def test_other_scopes_are_not_searched(self) -> None:
        self.put(*(noted(path, path, words="word", axis=0) for path in ("a", "b", "a/b", "a0", "A")))
        found = self.search("word", axis=0)
        assert self.scores(found).keys() == {"a"}
        assert (found.searched, found.scopes) == (1, ["a"])
        assert self.picked("seq") == ["a"]

    def test_below_a_scope_everything_is_searched(self) -> None:
        self.put(*(noted(path, path, words="word", axis=0) for path in ("a/b", "a", "b", "a/b/c", "a0")))
        found = self.search("word", axis=0, scope=Scope.under("a"))
        assert self.scores(found).keys() == {"a", "a/b", "a/b/c"}
        assert (found.searched, found.kept) == (3, 3)
        assert sorted(found.scopes) == ["a", "a/b", "a/b/c"]
        assert self.picked("seq", scope=Scope.under("a")) == ["a/b", "a", "a/b/c"]
        assert self.picked("-seq", scope=Scope.under("a"), limit=2) == ["a/b/c", "a"]

    def test_candidates_come_by_rising_seq(self) -> None:
        self.put(*(noted(f"{n}", ("a", "a/b")[n % 2], words="word", axis=n % 5) for n in range(50)))
        for scope in (Scope("a"), Scope.under("a")):
            seqs = self.search("word", axis=1, scope=scope, depth=7).seq.tolist()
            assert seqs == sorted(set(seqs))

    # Filters.

    def test_only_what_passes_the_filter_is_found(self) -> None:
        self.put(
            noted(
                "x", words="word", axis=0, who="ann", step=1, place=(0.0, 0.0), importance=0.9, data={"n": 1}
            ),
            noted(
                "y",
                words="word",
                axis=0,
                who="bob",
                step=2,
                place=(9.0, 0.0),
                tier=Tier.LONG,
                meta={"t": "a"},
            ),
            noted(
                "z", words="word", axis=0, kind=Kind.FACT, occurred=5.0, session="s", source="m", agent="g"
            ),
        )
        for where, wanted in self.filters():
            assert set(self.found("word", axis=0, where=where)) == set(wanted), where
            assert set(self.found("word", where=where)) == set(wanted), where
            assert self.picked("seq", where) == list(wanted), where
            found = self.search("word", axis=0, where=where)
            assert (found.searched, found.kept) == (3, len(wanted)), where

    def filters(self) -> Sequence[tuple[Where, str]]:
        return (
            (Where(), "xyz"),
            (Where(who="ann"), "x"),
            (Where(who="nobody"), ""),
            (Where(step_from=2), "y"),
            (Where(near=Near(place=(1.0, 0.0), radius=1.0)), "x"),
            (Where(box=Box(low=(-1.0, -1.0), high=(9.0, 1.0))), "xy"),
            (Where(importance_min=0.6), "x"),
            (Where(tiers=(Tier.LONG,)), "y"),
            (Where(kinds=(Kind.FACT,)), "z"),
            (Where(kinds=()), ""),
            (Where(until=10.0), "z"),
            (Where(created_since=NOW), "xyz"),
            (Where(session="s", source="m", agent="g"), "z"),
            (Where(conditions=(Condition("data.n", "=", 1),)), "x"),
            (Where(conditions=(Condition("meta.t", "exists", False),)), "xz"),
            (Where(ids=("y", "z", "no")), "yz"),
            (Where(who="ann") | Where(ids=("z",)), "xz"),
            (~Where(who="ann") & Where(created_since=NOW), "yz"),
            (Where(scope=Scope("b")), ""),
            (Where(scope=Scope.under("a"), who="bob"), "y"),
        )

    def test_a_filter_follows_changes(self) -> None:
        self.put(noted("x", words="word", who="ann", data=1), noted("y", words="word", who="ann", data=1))
        condition = Where(conditions=(Condition(("data", 0), "exists", False),))
        assert self.found("word", where=Where(who="ann")).keys() == {"x", "y"}
        self.put(noted("x", words="word", who="bob", data=1))
        assert self.found("word", where=Where(who="ann")).keys() == {"y"}
        assert self.found("word", where=Where(who="bob") & condition).keys() == {"x"}

    # Scores.

    def test_dense_scores_are_cosines(self) -> None:
        rng = np.random.default_rng(7)
        rows = rng.normal(size=(40, WIDTH)).astype(np.float32)
        self.put(*(Record(id=f"{n}", scope="a", text="", vector=row.tobytes()) for n, row in enumerate(rows)))
        for depth, error in ((400, 1e-4), (40, 2e-2)):  # only the best of the depth need be exact
            probe = Probe(scope=Scope("a"), now=NOW, vector=rows[3] * 5, depth=depth)
            found = self.scores(self.index.search(probe))
            for n, row in enumerate(rows):
                cosine = row @ rows[3] / (np.linalg.norm(row) * np.linalg.norm(rows[3]))
                assert abs(found[f"{n}"][0] - cosine) < error
            assert abs(found["3"][0] - 1) < 1e-4

    def test_records_without_a_vector_score_nothing_but_are_found_by_words(self) -> None:
        self.put(noted("bare", words="word"), noted("full", words="other", axis=0))
        found = self.found("word", axis=0)
        assert found["bare"][0] == 0
        assert found["bare"][1] > 0

    def test_word_scores_are_bm25_over_the_living_of_the_scope(self) -> None:
        self.put(
            noted("one", words="cat"),
            noted("two", words="cat cat dog"),
            noted("none", words="bird"),
            noted("gone", words="cat bird bird bird"),
            noted("away", "b", words="cat cat cat cat"),
        )
        verbs.delete_where(self.store, Where(ids=("gone",)), now=NOW)
        found = self.found("cat")
        mean = 5 / 3
        assert abs(found["one"][1] - bm25(1, 1, mean, 2, 3)) < 1e-5
        assert abs(found["two"][1] - bm25(2, 3, mean, 2, 3)) < 1e-5
        assert found["none"][1] == 0

    def test_scores_of_words_add_up(self) -> None:
        self.put(noted("x", words="cat dog"), noted("y", words="dog"), noted("z", words="cat"))
        both, cat, dog = self.found("cat dog"), self.found("cat"), self.found("dog")
        assert abs(both["x"][1] - cat["x"][1] - dog["x"][1]) < 1e-5

    def test_a_filter_does_not_change_scores(self) -> None:
        self.put(
            *(noted(f"{n}", words="cat dog"[: 3 + n % 5], axis=n % 3, who="ab"[n % 2]) for n in range(30))
        )
        everything, some = self.found("cat", axis=1), self.found("cat", axis=1, where=Where(who="a"))
        for id, scores in some.items():
            assert np.allclose(scores, everything[id], atol=1e-6), id

    def test_spans_hold_all_that_passed_and_nothing_else(self) -> None:
        self.put(
            noted("best", words="cat", axis=0),
            noted("worse", words="cat dog bird", axis=1),
            noted("gone", words="dog", axis=0),
            noted("other", words="dog", axis=2, who="bob"),
        )
        verbs.delete_where(self.store, Where(ids=("gone",)), now=NOW)
        found = self.search("cat", axis=0, where=~Where(who="bob"))
        words = sorted(scores[1] for scores in self.scores(found).values())
        assert np.allclose((found.spans["words"].low, found.spans["words"].high), words, atol=1e-6)
        assert abs(found.spans["dense"].high - 1) < 1e-3
        assert abs(found.spans["dense"].low) < 1e-2

    def test_the_best_of_each_arm_are_among_few_candidates(self) -> None:
        self.put(*(noted(f"{n}", words="common", axis=n % 8 + 1) for n in range(200)))
        self.put(
            noted("near", words="common filler filler filler", axis=0), noted("rare", words="rare", axis=9)
        )
        found = self.search("rare common", axis=0, depth=5)
        assert {"near", "rare"} <= self.scores(found).keys()
        assert (found.searched, found.kept) == (202, 202)

    # Records of several units, and what ranks candidates further.

    def test_a_record_of_several_units_is_one_candidate_with_the_best_of_each_arm(self) -> None:
        self.put(
            long("long", ["cat dog", "bird", "fish fish"], axes=(0, 1, 2)),
            noted("short", words="bird", axis=3),
        )
        for axis in (0, 1, 2):
            found = self.search("fish", axis=axis)
            assert (len(found), found.searched, found.kept) == (2, 2, 2)
            scores = self.scores(found)
            assert abs(scores["long"][0] - 1) < 1e-3
            assert scores["long"][1] > scores["short"][1] == 0
        assert self.picked("seq") == ["long", "short"]
        assert len(self.search("bird", where=Where(ids=("long",)))) == 1

    def test_a_record_of_several_units_comes_and_goes_as_a_whole(self) -> None:
        self.put(long("x", ["cat", "dog"], axes=(0, 1)), long("y", ["cat", "dog", "cow"], axes=(0, 1, 2)))
        assert self.search("cow").searched == 2
        self.put(noted("x", words="hen", axis=4))
        assert self.found("dog", axis=1)["x"][1] == 0
        verbs.delete_where(self.store, Where(ids=("y",)), now=NOW)
        found = self.search("cow", axis=2)
        assert self.scores(found).keys() == {"x"}
        assert (found.searched, found.spans["words"].high) == (1, 0)
        assert self.index.check("a") == []

    def test_vectors_may_be_more_or_fewer_than_units(self) -> None:
        more, fewer = long("more", ["cat"], axes=(0, 1, 2)), long("fewer", ["cow", "cat"], axes=(3,))
        self.put(more, fewer, noted("after", words="hen", axis=4))
        for id, axes in (("more", (0, 1, 2)), ("fewer", (3,)), ("after", (4,))):
            for axis in axes:
                found = self.found("cat", axis=axis)
                assert abs(found[id][0] - 1) < 1e-3, (id, axis)
                assert [other for other, (dense, _) in found.items() if dense > 0.5] == [id]
        assert {id for id, (_, words) in self.found("cat").items() if words} == {"more", "fewer"}

    def test_turns_are_numbered_in_the_order_things_happened(self) -> None:
        self.put(
            noted("late", session="s", occurred=30.0),
            noted("alone", occurred=5.0),
            noted("first", session="s", occurred=10.0),
            noted("elsewhere", session="t", occurred=20.0),
            noted("second", session="s", occurred=10.0),
        )
        turns = {"late": 2, "alone": -1, "first": 0, "elsewhere": 0, "second": 1}
        assert self.column("turn") == turns
        self.put(noted("next", session="s", occurred=40.0), noted("between", session="s", occurred=15.0))
        assert self.column("turn") == {**turns, "late": 3, "next": 4, "between": 2}
        verbs.delete_where(self.store, Where(ids=("first",)), now=NOW)
        assert self.column("turn")["between"] == 1
        sessions = self.column("session")
        assert sessions["alone"] == -1
        assert sessions["late"] == sessions["between"] != sessions["elsewhere"]

    def test_voices_are_those_who_still_have_something_said(self) -> None:
        self.put(noted("x", who="ann"), noted("y", who="bob"), noted("z"), noted("w", "a/b", who="cy"))
        assert set(self.index.voices(Scope("a"))) - {""} == {"ann", "bob"}
        assert set(self.index.voices(Scope.under("a"))) - {""} == {"ann", "bob", "cy"}
        found = self.search()
        assert {id: found.voices[code] if code >= 0 else None for id, code in self.column("who").items()} == {
            "x": "ann",
            "y": "bob",
            "z": None,
        }
        verbs.delete_where(self.store, Where(ids=("y",)), now=NOW)
        assert set(self.index.voices(Scope("a"))) - {""} == {"ann"}
        assert self.index.voices(Scope("nowhere")) == ()

    def test_a_name_is_mentioned_by_whoever_has_all_of_its_terms(self) -> None:
        self.put(
            noted("both", words="new york"),
            noted("half", words="new shoes"),
            noted("twice", words="new new"),
            long("long", ["far away", "new york"], axes=(0, 1)),
            long("apart", ["new shoes", "york"], axes=(0, 1)),
        )
        york, none, twice = (
            (term_id("new"), term_id("york")),
            (),
            (term_id("new"), term_id("new"), term_id("york")),
        )
        found = self.search(names=(york, none, twice))
        assert [self.named(found, at) for at in range(3)] == [{"both", "long"}, set(), {"both", "long"}]

    def test_the_session_and_the_place_asked_for_are_told_of_not_filtered(self) -> None:
        self.put(
            noted("x", session="session-7", place=(3.0, 4.0)),
            noted("y", session="17", place=(0.0, 0.0, 5.0)),
            noted("z", session="7"),
        )
        found = self.search(session="7", place=(0.0, 0.0))
        assert found.inside is not None
        assert found.away is not None
        assert found.inside.tolist() == [True, False, True]
        assert np.array_equal(found.away, [5.0, 5.0, np.nan], equal_nan=True)
        high = self.search(place=(0.0, 0.0, 5.0)).away
        assert high is not None
        assert np.allclose(high[:2], [np.sqrt(50), 0.0])
        bare = self.search()
        assert (bare.inside, bare.away) == (None, None)

    def test_flags_days_and_lengths_are_those_of_the_record(self) -> None:
        self.put(
            noted("x", words="cat cat dog", flags=1, days=((5, 6), (9, 9))),
            long("long", ["cat", "dog"], axes=(0, 1), flags=6, days=((7, 7),)),
            noted("y", words="cow", flags=2),
        )
        assert self.column("flags") == {"x": 1, "long": 6, "y": 2}
        assert self.column("length") == {"x": 3, "long": np.inf, "y": 1}
        assert self.search().days.tolist() == [[0, 5, 6], [0, 9, 9], [1, 7, 7]]
        verbs.delete_where(self.store, Where(ids=("x",)), now=NOW)
        assert self.search().days.tolist() == [[0, 7, 7]]
        assert self.search(where=Where(ids=("y",))).days.tolist() == []

    def test_scopes_below_keep_their_own_sessions_and_share_their_voices(self) -> None:
        self.put(
            noted("x", "a", session="s", who="ann", words="cat", days=((1, 1),)),
            noted("y", "a/b", session="s", who="bob", words="cat", days=((2, 2),)),
            noted("z", "a", session="s", who="bob", words="cat"),
        )
        found = self.search("cat", scope=Scope.under("a"), names=((term_id("cat"),),), session="s")
        assert found.session[0] == found.session[2] != found.session[1]
        assert [found.voices[code] for code in found.who.tolist()] == ["ann", "bob", "bob"]
        assert found.days.tolist() == [[0, 1, 1], [1, 2, 2]]
        assert found.mentions[0].all()
        assert found.inside is not None
        assert found.inside.all()

    def column(self, name: str) -> dict[str, Any]:
        """A column of all candidates by id."""
        found = self.search()
        return dict(zip(self.scores(found), getattr(found, name).tolist(), strict=True))

    def named(self, found: Found, at: int) -> set[str]:
        return {id for id, has in zip(self.scores(found), found.mentions[at].tolist(), strict=True) if has}

    # Listing.

    def test_select_orders_by_each_column_both_ways(self) -> None:
        low: dict[str, Any] = {"occurred": 1.0, "created": 1.0, "importance": 0.1, "step": -1}
        high: dict[str, Any] = {"occurred": 2.0, "created": 2.0, "importance": 0.2, "step": 5}
        self.put(noted("high", **high), noted("none"), noted("low", **low))
        for order in set(ORDERS) - {"seq", "uses"}:
            assert [id for id in self.picked(order) if id != "none"] == ["low", "high"], order
            assert [id for id in self.picked(f"-{order}") if id != "none"] == ["high", "low"], order
        assert self.picked("seq") == ["high", "none", "low"]
        assert self.picked("-seq") == ["low", "none", "high"]

    def test_select_agrees_with_the_store(self) -> None:
        steps = (3, None, 1, None, 3, 2, -1)
        self.put(
            *(noted(f"{n}", ("a", "a/b")[n % 2], step=steps[n % 7], importance=n % 3 / 2) for n in range(40))
        )
        for scope in (Scope("a"), Scope.under("a")):
            for order in (sign + name for name in ORDERS if name != "uses" for sign in ("", "-")):
                for limit in (1, 3, 9, 100):
                    truth = self.store.find(Where(scope=scope), order=order, limit=limit)
                    assert self.picked(order, scope=scope, limit=limit) == [r.id for r in truth], order

    def test_an_order_the_index_does_not_know_is_bad_input(self) -> None:
        for order in ("uses", "text", "", "--seq"):
            try:
                self.picked(order)
            except BadInput:
                continue
            raise AssertionError(f"order {order!r} was not refused")

    # Following and rebuilding.

    def test_other_writers_are_seen(self) -> None:
        other = self.reopen(self.store)
        self.put(noted("mine", words="word", axis=0))
        assert self.found("word").keys() == {"mine"}
        verbs.put(other, [noted("theirs", words="word", axis=0)], now=NOW, unique=False)
        assert self.found("word", axis=0).keys() == {"mine", "theirs"}
        verbs.put(other, [noted("mine", words="changed", axis=1)], now=NOW)
        assert self.found("changed")["mine"][1] > 0
        verbs.delete_where(other, Where(ids=("mine",)), now=NOW)
        assert self.found("word").keys() == {"theirs"}
        if other is not self.store:
            other.close()

    def test_bytes_that_were_rewritten_are_seen(self) -> None:
        (x,) = self.put(noted("x", words="old", axis=0))
        assert self.found("old", axis=0)["x"] > (0.99, 0.0)
        verbs.replace_derived(
            self.store, [Derived(x.seq, unit((1, 1.0)).tobytes(), pack_analysis([pack(["new"])]))]
        )
        assert self.found("new", axis=1)["x"] > (0.99, 0.0)
        assert self.found("old")["x"][1] == 0

    def test_a_rebuilt_index_answers_the_same(self) -> None:
        self.put(*(noted(f"{n}", words=f"cat w{n % 3}", axis=n % WIDTH) for n in range(50)))
        self.search("cat")
        self.put(*(noted(f"{n}", words="dog", axis=0) for n in range(10)))
        verbs.delete_where(self.store, Where(ids=("20", "21")), now=NOW)
        before = self.search("cat w1 dog", axis=3)
        assert self.index.rebuild("a") == 48
        self.assert_same(before, self.search("cat w1 dog", axis=3))
        self.assert_same(before, self.search("cat w1 dog", axis=3, index=self.make(self.store, WIDTH)))
        assert self.index.rebuild("nowhere") == 0

    def assert_same(self, one: Found, other: Found) -> None:
        for name in (
            "seq",
            "dense",
            "words",
            "importance",
            "occurred",
            "turn",
            "kind",
            "flags",
            "length",
            "days",
        ):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert (one.spans, one.searched, one.kept) == (other.spans, other.searched, other.kept)

    def around(self, id: str, reach: int, where: Where | None = None) -> tuple[int, list[str]] | None:
        """A record's turn and the ids of those beside it."""
        records = {record.seq: record.id for record in self.store.find(Where(scope=Scope("a")))}
        seq = next(seq for seq, name in records.items() if name == id)
        place = self.index.around("a", [seq], reach, where, now=NOW).get(seq)
        return place and (place.turn, [records[near] for near, _ in place.beside])

    def test_who_stands_beside_a_record_in_its_session(self) -> None:
        late, early = (noted(id, session="s", occurred=NOW + at) for id, at in (("late", 9), ("early", 1)))
        self.put(late, noted("middle", session="s", occurred=NOW + 5), early, noted("alone"))
        self.put(noted("other", session="t", occurred=NOW + 6))
        assert self.around("middle", 1) == (1, ["late", "early"])
        assert self.around("early", 5) == (0, ["middle", "late"])
        assert self.around("late", 1) == (2, ["middle"])
        assert self.around("other", 3) == (0, [])
        assert self.around("alone", 3) is None
        assert self.index.around("a", [10**12], 3, None, now=NOW) == {}
        assert self.index.around("nowhere", [1], 3, None, now=NOW) == {}

    def test_only_what_passes_and_lives_stands_beside(self) -> None:
        turns = [
            noted(f"t{n}", session="s", occurred=NOW + n, who="ann" if n % 2 else "bob") for n in range(6)
        ]
        self.put(*turns)
        assert self.around("t3", 1, Where(who="ann")) == (3, ["t5", "t1"])
        assert self.around("t3", 1, Where(who="bob")) is None
        verbs.delete_where(self.store, Where(ids=("t4",)), now=NOW)
        self.put(noted("t2", session="s", occurred=NOW + 2, expires=NOW - 1))
        assert self.around("t3", 1) == (3, ["t5", "t1"])

    def test_check_finds_nothing_wrong(self) -> None:
        self.put(noted("x"), noted("y"), noted("x", "b"))
        self.put(noted("x", words="new"))
        verbs.delete_where(self.store, Where(ids=("y",)), now=NOW)
        assert self.index.check("a") == self.index.check("b") == self.index.check("nowhere") == []

    def test_what_is_gone_is_taken_out_at_once(self) -> None:
        self.put(*(noted(f"{n}", words="word") for n in range(6)), noted("x", "b", words="word"))
        self.found("word")
        verbs.delete_where(self.store, Where(ids=("3",)), now=NOW)
        assert self.index.cleanse("a") == self.index.cleanse("b") == self.index.cleanse("nowhere") == []
        assert sorted(self.found("word")) == ["0", "1", "2", "4", "5"]
        assert self.index.check("a") == self.index.check("b") == []

    def test_many_threads_search_while_one_writes(self) -> None:
        def read(_: int) -> int:
            return len(self.found("word", depth=10**6))

        read(0)  # makes store and index, once, before the threads ask for them
        with ThreadPoolExecutor(4) as pool:
            counts = [pool.submit(read, n) for n in range(20)]
            for n in range(40):
                self.put(noted(f"{n}", words="word"))
            assert all(count.result() <= 40 for count in counts)
        assert len(self.found("word", depth=10**6)) == 40

    def test_closing_twice_is_fine_and_loses_nothing(self) -> None:
        self.put(noted("x", words="word"))
        self.found("word")
        self.index.close()
        self.index.close()
        assert self.scores(self.search("word", index=self.make(self.store, WIDTH))).keys() == {"x"}

    def test_it_tells_what_it_holds(self) -> None:
        self.put(noted("x", words="word"))
        self.found("word")
        assert isinstance(self.index.stats(), dict)
