"""The laws of `Embedder` and `Reranker` as tests. Subclass one and make yours in `make`:

class TestMine(EmbedderContract):
    def make(self) -> Embedder:
        return Mine()
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .embed import Embedder, Vectors, embed_checked
from .rerank import Reranker, score_checked

TEXTS = [
    "Ann has lived in Lisbon since May.",
    "The deploy failed: the disk was full.",
    "アンはリスボンに住んでいる。",
    "Привет, мир! 👋🏽 naïve café — مرحبا",
    "def f(x):\n\treturn x  # two  spaces",
]
ODD = ["", " ", "   ", "\n", "\x00", "!?", "🙂", "<s>", "a" * 5_000, "long text " * 2_000]
_QUERY = "Where does Ann live?"


class _PerTextContract:
    """The laws that embedders and rerankers share: each text is answered by itself, in the order given."""

    closeness: float = 1e-5  # how much an answer may change with the other texts of the call

    def make(self) -> Any:
        raise NotImplementedError

    def answer(self, model: Any, texts: Sequence[str]) -> Any:
        raise NotImplementedError

    def test_it_has_a_name_that_stays(self) -> None:
        model = self.make()
        name = model.name
        self.answer(model, TEXTS)
        assert isinstance(name, str)
        assert name
        assert model.name == name == self.make().name

    def test_answers_come_in_the_order_of_the_texts(self) -> None:
        model = self.make()
        self.assert_close(self.answer(model, TEXTS), self.answer(model, TEXTS[::-1])[::-1])

    def test_the_same_text_is_answered_the_same_alone_and_in_company(self) -> None:
        model = self.make()
        together = self.answer(model, [*TEXTS, TEXTS[0]])
        alone = [self.answer(model, [text])[0] for text in TEXTS]
        self.assert_close(together, [*alone, alone[0]])

    def test_two_of_one_name_agree(self) -> None:
        self.assert_close(self.answer(self.make(), TEXTS), self.answer(self.make(), TEXTS))

    def test_it_takes_any_sequence(self) -> None:
        model = self.make()
        self.assert_close(self.answer(model, tuple(TEXTS)), self.answer(model, TEXTS))

    def test_many_threads_get_the_same_answers(self) -> None:
        model = self.make()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.answer(model, TEXTS), range(32)))
        for answer in answers:
            self.assert_close(answer, answers[0])

    def assert_close(self, one: Any, other: Any) -> None:
        np.testing.assert_allclose(one, other, rtol=0, atol=self.closeness)


class EmbedderContract(_PerTextContract):
    """The laws of every embedder; each call of `make` returns a new one of the same name."""

    def make(self) -> Embedder:
        raise NotImplementedError

    def answer(self, model: Embedder, texts: Sequence[str]) -> Vectors:
        return model.embed(texts)

    def test_its_width_stays(self) -> None:
        embedder = self.make()
        width = embedder.width
        assert isinstance(width, int)
        assert width > 0
        embed_checked(embedder, TEXTS)
        assert embedder.width == width == self.make().width

    def test_it_gives_one_float32_row_per_text(self) -> None:
        embedder = self.make()
        rows = embedder.embed(TEXTS)
        assert rows.shape == (len(TEXTS), embedder.width)
        assert rows.dtype == np.float32

    def test_no_texts_give_no_rows_of_the_right_width(self) -> None:
        embedder = self.make()
        assert embedder.embed([]).shape == (0, embedder.width)

    def test_different_texts_give_different_rows(self) -> None:
        rows = self.make().embed(TEXTS[:2])
        assert not np.allclose(rows[0], rows[1])

    def test_odd_texts_give_finite_rows(self) -> None:
        assert np.isfinite(embed_checked(self.make(), ODD)).all()

    def test_the_answer_belongs_to_the_caller(self) -> None:
        embedder = self.make()
        first = embedder.embed(TEXTS)
        kept = first.copy()
        first[:] = 7.0
        self.assert_close(embedder.embed(TEXTS), kept)


class RerankerContract(_PerTextContract):
    """The laws of every reranker; each call of `make` returns a new one of the same name."""

    def make(self) -> Reranker:
        raise NotImplementedError

    def answer(self, model: Reranker, texts: Sequence[str]) -> Sequence[float]:
        return model.scores(_QUERY, texts)

    def test_it_gives_one_score_from_0_to_1_per_text(self) -> None:
        scores = self.make().scores(_QUERY, TEXTS)
        assert len(scores) == len(TEXTS)
        assert all(0 <= score <= 1 for score in scores)

    def test_no_texts_give_no_scores(self) -> None:
        assert list(self.make().scores(_QUERY, [])) == []

    def test_the_text_that_answers_scores_above_one_that_does_not(self) -> None:
        scores = self.make().scores(_QUERY, TEXTS)
        assert scores[0] > scores[1]

    def test_odd_texts_and_queries_are_taken(self) -> None:
        assert len(score_checked(self.make(), _QUERY, ODD)) == len(ODD)
        for query in ("", "?" * 3_000, "\x00"):
            assert len(score_checked(self.make(), query, TEXTS)) == len(TEXTS)
