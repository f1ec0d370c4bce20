"""Laws about which records are found, in which scopes and under which filters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.record import Kind, Record, Tier
from ...core.scope import Scope
from ...core.where import Box, Condition, Near, Where
from ...store import verbs
from .. import Probe
from .index_laws import NOW, WIDTH, IndexLaws, bm25, make_record


class FindingLaws(IndexLaws):
    """The laws of finding: a search finds every stored record that passes, and nothing else."""

    def test_an_empty_scope_gives_nothing(self) -> None:
        found = self.search("word", axis=0)
        assert (len(found), found.searched, found.kept) == (0, 0, 0)
        assert self.pick_ids("seq") == []
        below = self.search("word", axis=0, scope=Scope.under("a"))
        assert (len(below), below.scopes) == (0, [])

    def test_what_was_put_is_found_at_once(self) -> None:
        for n in range(20):
            self.put(make_record(f"{n}", words=f"word{n}", axis=n % WIDTH))
            assert self.find_scores(f"word{n}")[f"{n}"][1] > 0
            assert self.find_scores(axis=n % WIDTH)[f"{n}"][0] > 0.999

    def test_a_change_is_found_at_once(self) -> None:
        self.put(make_record("x", words="old", axis=0), make_record("y", words="old", axis=1))
        assert self.find_scores("old", axis=0).keys() == {"x", "y"}
        self.put(make_record("x", words="new", axis=2))
        assert self.find_scores("new", axis=2)["x"] > (0.99, 0.0)
        dense, words = self.find_scores("old", axis=0)["x"]
        assert abs(dense) < 0.001
        assert words == 0

    def test_what_was_dropped_is_not_found(self) -> None:
        self.put(make_record("x", words="word", axis=0), make_record("y", words="word", axis=0))
        assert self.find_scores("word", axis=0).keys() == {"x", "y"}
        verbs.delete_where(self.store, Where(ids=("x",)), now=NOW)
        found = self.search("word", axis=0)
        assert self.scores(found).keys() == {"y"}
        assert (found.searched, found.kept) == (1, 1)
        assert self.pick_ids("seq") == ["y"]

    def test_many_changes_leave_no_ghosts(self) -> None:
        for n in range(60):
            self.put(*(make_record(f"{n}-{i}", words=f"many w{i}", axis=i % WIDTH) for i in range(30)))
            verbs.delete_where(self.store, Where(ids=tuple(f"{n}-{i}" for i in range(30) if i % 10)), now=NOW)
            if n % 7 == 0:
                assert self.search("many", depth=10**6).searched == 3 * (n + 1)
        assert self.index.check("a") == []
        left = set()
        for n in range(60):
            left |= {f"{n}-0", f"{n}-10", f"{n}-20"}
        assert self.find_scores("w10", depth=10**6).keys() == left

    def test_what_has_expired_is_not_found(self) -> None:
        self.put(
            make_record("brief", words="word", axis=0, expires=NOW + 10),
            make_record("lasting", words="word", axis=0),
        )
        assert self.find_scores("word", axis=0, now=NOW + 9.9).keys() == {"brief", "lasting"}
        assert self.find_scores("word", axis=0, now=NOW + 10).keys() == {"lasting"}
        assert self.pick_ids("seq", now=NOW + 9.9) == ["brief", "lasting"]
        assert self.pick_ids("seq", now=NOW + 10) == ["lasting"]

    def test_other_scopes_are_not_searched(self) -> None:
        self.put(*(make_record(path, path, words="word", axis=0) for path in ("a", "b", "a/b", "a0", "A")))
        found = self.search("word", axis=0)
        assert self.scores(found).keys() == {"a"}
        assert (found.searched, found.scopes) == (1, ["a"])
        assert self.pick_ids("seq") == ["a"]

    def test_below_a_scope_everything_is_searched(self) -> None:
        self.put(
            *(make_record(path, path, words="word", axis=0) for path in ("a/b", "a", "b", "a/b/c", "a0"))
        )
        found = self.search("word", axis=0, scope=Scope.under("a"))
        assert self.scores(found).keys() == {"a", "a/b", "a/b/c"}
        assert (found.searched, found.kept) == (3, 3)
        assert sorted(found.scopes) == ["a", "a/b", "a/b/c"]
        assert self.pick_ids("seq", scope=Scope.under("a")) == ["a/b", "a", "a/b/c"]
        assert self.pick_ids("-seq", scope=Scope.under("a"), limit=2) == ["a/b/c", "a"]

    def test_candidates_come_by_rising_seq(self) -> None:
        self.put(*(make_record(f"{n}", ("a", "a/b")[n % 2], words="word", axis=n % 5) for n in range(50)))
        for scope in (Scope("a"), Scope.under("a")):
            seqs = self.search("word", axis=1, scope=scope, depth=7).seq.tolist()
            assert seqs == sorted(set(seqs))

    # Filters.

    def test_only_what_passes_the_filter_is_found(self) -> None:
        self.put(
            make_record(
                "x", words="word", axis=0, who="ann", step=1, place=(0.0, 0.0), importance=0.9, data={"n": 1}
            ),
            make_record(
                "y",
                words="word",
                axis=0,
                who="bob",
                step=2,
                place=(9.0, 0.0),
                tier=Tier.LONG,
                meta={"t": "a"},
            ),
            make_record(
                "z", words="word", axis=0, kind=Kind.FACT, occurred=5.0, session="s", source="m", agent="g"
            ),
        )
        for where, wanted in self.filters():
            assert set(self.find_scores("word", axis=0, where=where)) == set(wanted), where
            assert set(self.find_scores("word", where=where)) == set(wanted), where
            assert self.pick_ids("seq", where) == list(wanted), where
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


class ScoringLaws(IndexLaws):
    """The laws of scores: cosines and BM25 over the living records of a scope."""

    def test_dense_scores_are_cosines(self) -> None:
        rng = np.random.default_rng(7)
        rows = rng.normal(size=(40, WIDTH)).astype(np.float32)
        self.put(*(Record(id=f"{n}", scope="a", text="", vector=row.tobytes()) for n, row in enumerate(rows)))
        for depth, error in ((400, 1e-4), (40, 2e-2)):  # only the best of `depth` must be exact
            probe = Probe(scope=Scope("a"), now=NOW, vector=rows[3] * 5, depth=depth)
            found = self.scores(self.index.search(probe))
            for n, row in enumerate(rows):
                cosine = row @ rows[3] / (np.linalg.norm(row) * np.linalg.norm(rows[3]))
                assert abs(found[f"{n}"][0] - cosine) < error
            assert abs(found["3"][0] - 1) < 1e-4

    def test_records_without_a_vector_score_nothing_but_are_found_by_words(self) -> None:
        self.put(make_record("bare", words="word"), make_record("full", words="other", axis=0))
        found = self.find_scores("word", axis=0)
        assert found["bare"][0] == 0
        assert found["bare"][1] > 0

    def test_word_scores_are_bm25_over_the_living_of_the_scope(self) -> None:
        self.put(
            make_record("one", words="cat"),
            make_record("two", words="cat cat dog"),
            make_record("none", words="bird"),
            make_record("gone", words="cat bird bird bird"),
            make_record("away", "b", words="cat cat cat cat"),
        )
        verbs.delete_where(self.store, Where(ids=("gone",)), now=NOW)
        found = self.find_scores("cat")
        mean = 5 / 3
        assert abs(found["one"][1] - bm25(1, 1, mean, 2, 3)) < 1e-5
        assert abs(found["two"][1] - bm25(2, 3, mean, 2, 3)) < 1e-5
        assert found["none"][1] == 0

    def test_scores_of_words_add_up(self) -> None:
        self.put(
            make_record("x", words="cat dog"), make_record("y", words="dog"), make_record("z", words="cat")
        )
        both, cat, dog = self.find_scores("cat dog"), self.find_scores("cat"), self.find_scores("dog")
        assert abs(both["x"][1] - cat["x"][1] - dog["x"][1]) < 1e-5

    def test_a_filter_does_not_change_scores(self) -> None:
        self.put(
            *(
                make_record(f"{n}", words="cat dog"[: 3 + n % 5], axis=n % 3, who="ab"[n % 2])
                for n in range(30)
            )
        )
        everything, some = (
            self.find_scores("cat", axis=1),
            self.find_scores("cat", axis=1, where=Where(who="a")),
        )
        for id, scores in some.items():
            assert np.allclose(scores, everything[id], atol=1e-6), id

    def test_the_best_of_each_arm_are_among_few_candidates(self) -> None:
        self.put(*(make_record(f"{n}", words="common", axis=n % 8 + 1) for n in range(200)))
        self.put(
            make_record("near", words="common filler filler filler", axis=0),
            make_record("rare", words="rare", axis=9),
        )
        found = self.search("rare common", axis=0, depth=5)
        assert {"near", "rare"} <= self.scores(found).keys()
        assert (found.searched, found.kept) == (202, 202)
