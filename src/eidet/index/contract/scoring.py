"""What the scores of both arms mean."""

from __future__ import annotations

import numpy as np

from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ...store import verbs
from .. import Probe
from .index_laws import NOW, WIDTH, IndexLaws, bm25, make_record


class ScoringLaws(IndexLaws):
    """Cosines and BM25, over the living of a scope."""

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

    def test_spans_hold_all_that_passed_and_nothing_else(self) -> None:
        self.put(
            make_record("best", words="cat", axis=0),
            make_record("worse", words="cat dog bird", axis=1),
            make_record("gone", words="dog", axis=0),
            make_record("other", words="dog", axis=2, who="bob"),
        )
        verbs.delete_where(self.store, Where(ids=("gone",)), now=NOW)
        found = self.search("cat", axis=0, where=~Where(who="bob"))
        words = sorted(scores[1] for scores in self.scores(found).values())
        assert np.allclose((found.spans["words"].low, found.spans["words"].high), words, atol=1e-6)
        assert abs(found.spans["dense"].high - 1) < 1e-3
        assert abs(found.spans["dense"].low) < 1e-2

    def test_the_best_of_each_arm_are_among_few_candidates(self) -> None:
        self.put(*(make_record(f"{n}", words="common", axis=n % 8 + 1) for n in range(200)))
        self.put(
            make_record("near", words="common filler filler filler", axis=0),
            make_record("rare", words="rare", axis=9),
        )
        found = self.search("rare common", axis=0, depth=5)
        assert {"near", "rare"} <= self.scores(found).keys()
        assert (found.searched, found.kept) == (202, 202)
