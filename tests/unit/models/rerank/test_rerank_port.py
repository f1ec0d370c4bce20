"""Finding a reranker, adapting callables, and what is refused."""

from __future__ import annotations

import asyncio
import math
import sys
import types
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eidet.core.errors import BadInput, Misconfigured, Unavailable
from eidet.models.adapt import adapt_reranker
from eidet.models.contract import RerankerContract
from eidet.models.rerank import Reranker, reranker_of, score_checked, sigmoid


def overlap(query: str, texts: Sequence[str]) -> list[float]:
    asked = set(query.lower().split())
    return [len(asked & set(text.lower().split())) / (len(asked) or 1) for text in texts]


async def slow_overlap(query: str, texts: Sequence[str]) -> list[float]:
    await asyncio.sleep(0)
    return overlap(query, texts)


def logits(query: str, texts: Sequence[str]) -> list[float]:
    return [20 * score - 10 for score in overlap(query, texts)]


class Plain:
    name = "plain"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return overlap(query, texts)


class Client:
    async def rerank(self, query: str, texts: list[str]) -> list[float]:
        return overlap(query, texts)


class AsyncScores(Client):
    name = "client:small"
    scores = Client.rerank


class TestPlain(RerankerContract):
    def make(self) -> Reranker:
        return reranker_of(Plain())


class TestFunction(RerankerContract):
    def make(self) -> Reranker:
        return reranker_of(overlap)


class TestCoroutine(RerankerContract):
    def make(self) -> Reranker:
        return reranker_of(slow_overlap)


class TestLogits(RerankerContract):
    def make(self) -> Reranker:
        return adapt_reranker(logits, logits=True)


def test_a_reranker_is_itself() -> None:
    plain = Plain()
    assert reranker_of(plain) is plain


def test_objects_with_an_asynchronous_method_are_adapted() -> None:
    for thing in (Client(), AsyncScores()):
        assert reranker_of(thing).scores("a b", ["a", "b a"]) == [0.5, 1.0]
    assert reranker_of(AsyncScores()).name == "client:small"
    assert reranker_of(Client()).name.endswith(".Client")


def test_a_coroutine_is_awaited_from_inside_a_running_loop_too() -> None:
    async def ask() -> Sequence[float]:
        return reranker_of(slow_overlap).scores("a", ["a"])

    assert asyncio.run(ask()) == [1.0]


def test_a_function_is_named_by_its_module_and_name() -> None:
    assert reranker_of(overlap).name.endswith(".overlap")
    assert reranker_of(partial(overlap)).name.endswith(".overlap")
    assert adapt_reranker(overlap, name="mine").name == "mine"


@pytest.mark.parametrize("thing", [7, None, object()])
def test_what_cannot_be_called_is_no_reranker(thing: object) -> None:
    with pytest.raises(Misconfigured, match="cannot rerank: give a callable"):
        reranker_of(thing)


def test_a_class_is_refused_with_what_to_do() -> None:
    with pytest.raises(Misconfigured, match=r"give an instance: Plain\(\)"):
        reranker_of(Plain)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(Misconfigured, match="fastembed, sentence-transformers"):
        reranker_of("nope:model")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0.5], "gave 1 scores for 2 texts"),
        ([0.5, 0.5, 0.5], "gave 3 scores for 2 texts"),
        ([0.5, math.nan], "gave nan for the text 'two'"),
        ([math.inf, 0.5], "gave inf for the text 'one'"),
        ([0.5, 1.5], r"gave 1.5 for the text 'two'; scores are from 0 to 1.*logits=True"),
        ([-0.5, 0.5], "gave -0.5 for the text 'one'"),
        ([[0.1, 0.9], [0.2, 0.8]], "not a list of numbers"),
        (None, "not a list of numbers"),
        (0.5, "not a list of numbers"),
        (["high", "low"], "not a list of numbers"),
    ],
)
def test_answers_that_break_the_laws_are_refused(answer: Any, message: str) -> None:
    with pytest.raises(Misconfigured, match=message):
        reranker_of(lambda query, texts: answer).scores("q", ["one", "two"])

    class Raw(Plain):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            return answer  # type: ignore[no-any-return]

    with pytest.raises(Misconfigured, match=message):
        score_checked(Raw(), "q", ["one", "two"])


def test_a_rounding_error_is_forgiven_and_cut_off() -> None:
    assert reranker_of(lambda query, texts: [1.0000001, -1e-9]).scores("q", ["a", "b"]) == [1.0, 0.0]


def test_a_single_text_is_no_list_of_texts() -> None:
    with pytest.raises(BadInput, match="wrap a single text"):
        score_checked(Plain(), "q", "text")


def test_what_a_callable_raises_is_unavailable_with_its_cause() -> None:
    def broken(query: str, texts: Sequence[str]) -> list[float]:
        raise RuntimeError("no quota")

    with pytest.raises(Unavailable, match="broken raised RuntimeError: no quota") as caught:
        reranker_of(broken).scores("q", ["a"])
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_coroutine_that_never_ends_is_left_at_the_deadline() -> None:
    async def hangs(query: str, texts: Sequence[str]) -> list[float]:
        await asyncio.sleep(60)
        return [0.0]

    with pytest.raises(Unavailable, match=r"did not answer within 0\.05 s"):
        reranker_of(hangs, timeout=0.05).scores("q", ["a"])


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_sigmoid_keeps_the_order_within_0_and_1(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= sigmoid(low) <= sigmoid(high) <= 1
    assert sigmoid(-low) == pytest.approx(1 - sigmoid(low), abs=1e-12)


class Identity:
    """Called as torch calls its function that changes nothing."""


class Sigmoid: ...


class CrossEncoder:
    """As the package's own: pairs in, numbers out, and it says which function ended them."""

    ends: ClassVar[dict[str, object]] = {}

    def __init__(self, model: str) -> None:
        self.__dict__ |= self.ends | {"model": model}

    def predict(self, pairs: list[tuple[str, str]], *, show_progress_bar: bool) -> list[float]:
        found = [score for query, text in pairs for score in logits(query, [text])]
        ends = any(isinstance(end, Identity) for end in self.ends.values())
        return found if ends else [sigmoid(logit) for logit in found]


@pytest.mark.parametrize(
    "ends",
    [
        {"activation_fn": Identity()},
        {"activation_fn": Sigmoid()},
        {"default_activation_function": Identity()},
        {"default_activation_function": Sigmoid()},
    ],
)
def test_cross_encoders_give_scores_whether_or_not_they_end_in_a_sigmoid(
    ends: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = types.ModuleType("sentence_transformers")
    package.__dict__["CrossEncoder"] = type("CrossEncoder", (CrossEncoder,), {"ends": ends})
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setattr("eidet.models.local.find_spec", lambda _: object())
    reranker = reranker_of("sentence-transformers:/models/small")
    assert reranker.name == "sentence-transformers:/models/small"
    assert score_checked(reranker, "a b", ["a b", "a", "x"]) == pytest.approx(
        [sigmoid(10), 0.5, sigmoid(-10)]
    )


def test_the_logits_of_fastembed_become_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    class TextCrossEncoder:
        def __init__(self, model: str) -> None:
            assert model == "m"

        def rerank(self, query: str, documents: Iterable[str]) -> Iterable[float]:
            yield from logits(query, list(documents))

    module = types.ModuleType("fastembed.rerank.cross_encoder")
    module.__dict__["TextCrossEncoder"] = TextCrossEncoder
    for name in ("fastembed", "fastembed.rerank"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("eidet.models.local.find_spec", lambda _: object())
    scores = score_checked(reranker_of("fastembed:m"), "a b", ["a b", "a", "x"])
    assert scores == pytest.approx([sigmoid(10), 0.5, sigmoid(-10)])
