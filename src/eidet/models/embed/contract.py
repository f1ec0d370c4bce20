"""The laws of `Embedder` as tests. Subclass it in a test file and say how yours is made:

class TestMine(EmbedderContract):
    def make(self) -> Embedder:
        return Mine()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from . import Embedder, embed_checked

TEXTS = [
    "Ann moved to Lisbon in May.",
    "The deploy failed: the disk was full.",
    "アンはリスボンに住んでいる。",
    "Привет, мир! 👋🏽 naïve café — مرحبا",
    "def f(x):\n\treturn x  # two  spaces",
]
ODD = ["", " ", "   ", "\n", "\x00", "!?", "🙂", "<s>", "a" * 5_000, "long text " * 2_000]


class EmbedderContract:
    """Every embedder passes these; `make` gives a new one, of the same name, each time it is called."""

    closeness: float = 1e-5  # how much a row may change with the company it is embedded in

    def make(self) -> Embedder:
        raise NotImplementedError

    def test_it_has_a_name_and_a_width(self) -> None:
        embedder = self.make()
        assert isinstance(embedder.name, str)
        assert embedder.name
        assert isinstance(embedder.width, int)
        assert embedder.width > 0

    def test_name_and_width_stay(self) -> None:
        embedder = self.make()
        before = embedder.name, embedder.width
        embed_checked(embedder, TEXTS)
        assert (embedder.name, embedder.width) == before == (self.make().name, self.make().width)

    def test_it_gives_one_float32_row_per_text(self) -> None:
        embedder = self.make()
        rows = embedder.embed(TEXTS)
        assert rows.shape == (len(TEXTS), embedder.width)
        assert rows.dtype == np.float32

    def test_rows_come_in_the_order_of_the_texts(self) -> None:
        embedder = self.make()
        forward, backward = embedder.embed(TEXTS), embedder.embed(TEXTS[::-1])
        self.assert_close(forward, backward[::-1])

    def test_no_texts_give_no_rows_of_the_right_width(self) -> None:
        embedder = self.make()
        assert embedder.embed([]).shape == (0, embedder.width)

    def test_the_same_text_gives_the_same_row_alone_and_in_company(self) -> None:
        embedder = self.make()
        together = embedder.embed([*TEXTS, TEXTS[0]])
        alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
        self.assert_close(together[:-1], alone)
        self.assert_close(together[-1], together[0])

    def test_two_embedders_of_one_name_agree(self) -> None:
        self.assert_close(self.make().embed(TEXTS), self.make().embed(TEXTS))

    def test_different_texts_give_different_rows(self) -> None:
        rows = self.make().embed(TEXTS[:2])
        assert not np.allclose(rows[0], rows[1])

    def test_odd_texts_give_finite_rows(self) -> None:
        rows = embed_checked(self.make(), ODD)
        assert np.isfinite(rows).all()

    def test_it_takes_any_sequence(self) -> None:
        embedder = self.make()
        self.assert_close(embedder.embed(tuple(TEXTS)), embedder.embed(TEXTS))

    def test_the_answer_belongs_to_the_caller(self) -> None:
        embedder = self.make()
        first = embedder.embed(TEXTS)
        kept = first.copy()
        first[:] = 7.0
        self.assert_close(embedder.embed(TEXTS), kept)

    def test_many_threads_get_the_same_rows(self) -> None:
        embedder = self.make()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(embedder.embed, [TEXTS] * 32))
        for answer in answers:
            self.assert_close(answer, answers[0])

    def assert_close(self, one: np.ndarray, other: np.ndarray) -> None:
        np.testing.assert_allclose(one, other, rtol=0, atol=self.closeness)
