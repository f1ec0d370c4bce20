"""The laws of `Reranker` as tests. Subclass it in a test file and say how yours is made:

class TestMine(RerankerContract):
    def make(self) -> Reranker:
        return Mine()
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from . import Reranker, score_checked

QUERY = "Where does Ann live?"
TEXTS = [
    "Ann has lived in Lisbon since May.",
    "The deploy failed: the disk was full.",
    "アンはリスボンに住んでいる。",
    "Привет, мир! 👋🏽 naïve café — مرحبا",
    "def f(x):\n\treturn x  # two  spaces",
]
ODD = ["", " ", "\n", "\x00", "!?", "🙂", "<s>", "a" * 5_000, "long text " * 2_000]


class RerankerContract:
    """Every reranker passes these; `make` gives a new one, of the same name, each time it is called."""

    closeness: float = 1e-5  # how much a score may change with the company it is given in

    def make(self) -> Reranker:
        raise NotImplementedError

    def test_it_has_a_name_that_stays(self) -> None:
        reranker = self.make()
        name = reranker.name
        score_checked(reranker, QUERY, TEXTS)
        assert isinstance(name, str)
        assert name
        assert reranker.name == name == self.make().name

    def test_it_gives_one_score_from_0_to_1_per_text(self) -> None:
        scores = self.make().scores(QUERY, TEXTS)
        assert len(scores) == len(TEXTS)
        assert all(0 <= score <= 1 for score in scores)

    def test_no_texts_give_no_scores(self) -> None:
        assert list(self.make().scores(QUERY, [])) == []

    def test_the_text_that_answers_scores_above_one_that_does_not(self) -> None:
        scores = self.make().scores(QUERY, TEXTS)
        assert scores[0] > scores[1]

    def test_scores_come_in_the_order_of_the_texts(self) -> None:
        reranker = self.make()
        self.assert_close(reranker.scores(QUERY, TEXTS), list(reranker.scores(QUERY, TEXTS[::-1]))[::-1])

    def test_a_text_scores_the_same_alone_and_in_company(self) -> None:
        reranker = self.make()
        together = reranker.scores(QUERY, [*TEXTS, TEXTS[0]])
        alone = [reranker.scores(QUERY, [text])[0] for text in TEXTS]
        self.assert_close(together, [*alone, alone[0]])

    def test_two_rerankers_of_one_name_agree(self) -> None:
        self.assert_close(self.make().scores(QUERY, TEXTS), self.make().scores(QUERY, TEXTS))

    def test_odd_texts_are_scored(self) -> None:
        assert len(score_checked(self.make(), QUERY, ODD)) == len(ODD)

    def test_an_odd_query_is_taken(self) -> None:
        for query in ("", "?" * 3_000, "\x00"):
            assert len(score_checked(self.make(), query, TEXTS)) == len(TEXTS)

    def test_it_takes_any_sequence(self) -> None:
        reranker = self.make()
        self.assert_close(reranker.scores(QUERY, tuple(TEXTS)), reranker.scores(QUERY, TEXTS))

    def test_many_threads_get_the_same_scores(self) -> None:
        reranker = self.make()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: reranker.scores(QUERY, TEXTS), range(32)))
        for answer in answers:
            self.assert_close(answer, answers[0])

    def assert_close(self, ones: Sequence[float], others: Sequence[float]) -> None:
        assert len(ones) == len(others)
        assert all(abs(one - other) <= self.closeness for one, other in zip(ones, others, strict=True))
