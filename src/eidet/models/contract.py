"""The laws of `Embedder`, `Reranker` and `LLM` as tests. Subclass one and say how yours is made:

class TestMine(EmbedderContract):
    def make(self) -> Embedder:
        return Mine()
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import numpy as np

from .embed import Embedder, embed_checked
from .llm import LLM, Answer, Request, Stop, Turn
from .llm.consult import consult, find_misfit
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
_PLAIN = Request(prompt="Say hello.", system="Be brief.", max_tokens=200)
_CITY = Request(
    prompt='Ann moved to Lisbon. Which city is that? Answer as {"city": "…"}.',
    max_tokens=200,
    schema={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
_ODD_PROMPTS = ["?", "x" * 20_000, "Привет, мир! 👋🏽\n\t\x00", '{"city": ', "</think>```json"]


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


class RerankerContract:
    """Every reranker passes these; `make` gives a new one, of the same name, each time it is called."""

    closeness: float = 1e-5  # how much a score may change with the company it is given in

    def make(self) -> Reranker:
        raise NotImplementedError

    def test_it_has_a_name_that_stays(self) -> None:
        reranker = self.make()
        name = reranker.name
        score_checked(reranker, _QUERY, TEXTS)
        assert isinstance(name, str)
        assert name
        assert reranker.name == name == self.make().name

    def test_it_gives_one_score_from_0_to_1_per_text(self) -> None:
        scores = self.make().scores(_QUERY, TEXTS)
        assert len(scores) == len(TEXTS)
        assert all(0 <= score <= 1 for score in scores)

    def test_no_texts_give_no_scores(self) -> None:
        assert list(self.make().scores(_QUERY, [])) == []

    def test_the_text_that_answers_scores_above_one_that_does_not(self) -> None:
        scores = self.make().scores(_QUERY, TEXTS)
        assert scores[0] > scores[1]

    def test_scores_come_in_the_order_of_the_texts(self) -> None:
        reranker = self.make()
        self.assert_close(reranker.scores(_QUERY, TEXTS), list(reranker.scores(_QUERY, TEXTS[::-1]))[::-1])

    def test_a_text_scores_the_same_alone_and_in_company(self) -> None:
        reranker = self.make()
        together = reranker.scores(_QUERY, [*TEXTS, TEXTS[0]])
        alone = [reranker.scores(_QUERY, [text])[0] for text in TEXTS]
        self.assert_close(together, [*alone, alone[0]])

    def test_two_rerankers_of_one_name_agree(self) -> None:
        self.assert_close(self.make().scores(_QUERY, TEXTS), self.make().scores(_QUERY, TEXTS))

    def test_odd_texts_are_scored(self) -> None:
        assert len(score_checked(self.make(), _QUERY, ODD)) == len(ODD)

    def test_an_odd_query_is_taken(self) -> None:
        for query in ("", "?" * 3_000, "\x00"):
            assert len(score_checked(self.make(), query, TEXTS)) == len(TEXTS)

    def test_it_takes_any_sequence(self) -> None:
        reranker = self.make()
        self.assert_close(reranker.scores(_QUERY, tuple(TEXTS)), reranker.scores(_QUERY, TEXTS))

    def test_many_threads_get_the_same_scores(self) -> None:
        reranker = self.make()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: reranker.scores(_QUERY, TEXTS), range(32)))
        for answer in answers:
            self.assert_close(answer, answers[0])

    def assert_close(self, ones: Sequence[float], others: Sequence[float]) -> None:
        assert len(ones) == len(others)
        assert all(abs(one - other) <= self.closeness for one, other in zip(ones, others, strict=True))


class LLMContract:
    """Every LLM passes these. `make` gives one that answers any prompt, and a schema by what fits it."""

    def make(self) -> LLM:
        raise NotImplementedError

    def test_it_has_a_name(self) -> None:
        name = self.make().name
        assert isinstance(name, str)
        assert name

    def test_it_answers_a_prompt(self) -> None:
        _check(self.make().ask(_PLAIN))

    def test_it_takes_earlier_turns(self) -> None:
        before = (Turn("user", "I am Ann."), Turn("assistant", "Hello, Ann."))
        _check(self.make().ask(Request(prompt="Who am I?", before=before, temperature=None)))

    def test_it_takes_odd_prompts(self) -> None:
        llm = self.make()
        for prompt in _ODD_PROMPTS:
            _check(llm.ask(Request(prompt=prompt, max_tokens=50)))

    def test_it_leaves_the_value_to_those_who_judge(self) -> None:
        assert self.make().ask(_CITY).value is None

    def test_a_schema_is_answered_by_what_fits_it(self) -> None:
        value = consult(self.make(), _CITY).value
        assert _CITY.schema is not None
        assert find_misfit(value, _CITY.schema) == ""

    def test_it_may_be_asked_by_many_threads_at_once(self) -> None:
        llm = self.make()
        with ThreadPoolExecutor(4) as pool:
            for answer in pool.map(lambda _: consult(llm, _CITY), range(8)):
                _check(answer)


def _check(answer: Answer) -> None:
    assert isinstance(answer.text, str)
    assert answer.stop in get_args(Stop)
    for tokens in (answer.tokens_in, answer.tokens_out):
        assert tokens is None or tokens >= 0
