from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from eidet.core.errors import Misconfigured, Unavailable
from eidet.models.adapt import adapt_embedder
from eidet.models.embed import embed_checked, embedder_of
from eidet.models.embed.vector_cache import Cached
from eidet.net.hop import lend_loop


def length(text: str) -> list[float]:
    return [float(len(text)), 1.0]


def of_one(text: str) -> list[float]:
    return [float(len(text.strip())), 1.0]


def of_many(texts: list[str]) -> list[list[float]]:
    return [length(text) for text in texts]


async def slow_many(texts: list[str]) -> list[list[float]]:
    await asyncio.sleep(0)
    return of_many(texts)


async def slow_one(text: str) -> list[float]:
    await asyncio.sleep(0)
    return of_one(text)


def arrays(texts: list[str]) -> Any:
    return np.array(of_many(texts), dtype=np.float64)


def rows_one_by_one(texts: list[str]) -> Iterator[Any]:
    return (np.array(length(text)) for text in texts)


def of_one_without_complaint(text: str) -> list[float]:
    return [float(len(text)), 1.0]  # a list has a length too: the answer is 1-d, whatever is asked


def one_row_in_a_matrix(text: str) -> Any:
    return np.array([of_one(text)])


def later(texts: list[str]) -> Any:
    return slow_many(texts)


class Embeds:
    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return of_many(list(texts))


class Encodes:
    def __call__(self, anything: object) -> object:
        raise AssertionError("the method is meant")

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        return of_many(list(texts))


class EncodesQueries:
    def encode_queries(self, texts: Sequence[str]) -> list[list[float]]:
        return of_many(list(texts))


class LangChain:
    model = "voyage-3"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return of_many(texts)


class AsyncCall:
    async def __call__(self, texts: list[str]) -> list[list[float]]:
        return await slow_many(texts)


ALL = [
    of_one,
    of_many,
    slow_many,
    slow_one,
    arrays,
    rows_one_by_one,
    of_one_without_complaint,
    one_row_in_a_matrix,
    later,
    Embeds(),
    Encodes(),
    EncodesQueries(),
    LangChain(),
    AsyncCall(),
    functools.partial(of_many),
    functools.partial(slow_many),
]


@pytest.mark.parametrize("thing", ALL, ids=lambda thing: adapt_embedder(thing).name)
def test_anything_callable_becomes_an_embedder(thing: Any) -> None:
    embedder = adapt_embedder(thing)
    assert embed_checked(embedder, ["a", "abc", "ab"]).tolist() == [[1, 1], [3, 1], [2, 1]]
    assert embed_checked(embedder, ["one"]).tolist() == [[3, 1]]
    assert embedder.embed([]).shape == (0, 2)
    assert adapt_embedder(thing).width == 2


@pytest.mark.parametrize("thing", ALL, ids=lambda thing: adapt_embedder(thing).name)
def test_it_works_the_same_inside_a_running_loop(thing: Any) -> None:
    async def inside() -> Any:
        return adapt_embedder(thing).embed(["a", "abc"]).tolist()

    assert asyncio.run(inside()) == [[1, 1], [3, 1]]


def test_it_runs_in_the_loop_that_was_lent_or_in_the_background() -> None:
    seen: list[threading.Thread] = []

    async def where(texts: list[str]) -> list[list[float]]:
        seen.append(threading.current_thread())
        return of_many(texts)

    embedder = adapt_embedder(where, width=2, batch=True)

    async def ask() -> Any:
        return await asyncio.to_thread(lend_loop(lambda: embedder.embed(["a", "abc"])))

    rows = asyncio.run(ask())
    assert rows.tolist() == embedder.embed(["a", "abc"]).tolist() == [[1, 1], [3, 1]]
    assert seen[0] is threading.current_thread()
    assert seen[1].name == "eidet-models"


def test_calls_of_one_text_run_concurrently_when_asynchronous() -> None:
    running, most = 0, 0

    async def slow(text: str) -> list[float]:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(0.001)
        running -= 1
        return of_one(text)

    assert len(adapt_embedder(slow).embed([str(number) for number in range(100)])) == 100
    assert 1 < most <= 16


def test_it_is_probed_once() -> None:
    asked: list[Any] = []

    def function(texts: list[str]) -> list[list[float]]:
        asked.append(texts)
        return of_many(texts)

    embedder = adapt_embedder(function)
    for _ in range(3):
        embedder.embed(["x"])
    assert embedder.width == 2
    assert len(asked) == 4


def test_long_lists_are_passed_on_in_blocks() -> None:
    sizes: list[int] = []

    def function(texts: list[str]) -> list[list[float]]:
        sizes.append(len(texts))
        return of_many(texts)

    rows = adapt_embedder(function, batch=True, width=2).embed(
        ["x" * (number % 7) for number in range(10_000)]
    )
    assert [row[0] for row in rows[:8].tolist()] == [0, 1, 2, 3, 4, 5, 6, 0]
    assert (sum(sizes), max(sizes)) == (10_000, 256)


def test_names_are_qualified_and_stable() -> None:
    assert adapt_embedder(of_many).name == f"{__name__}.of_many"
    assert adapt_embedder(functools.partial(of_many)).name == f"{__name__}.of_many"
    assert adapt_embedder(Embeds()).name == f"{__name__}.Embeds"
    assert adapt_embedder(LangChain()).name == f"{__name__}.LangChain:voyage-3"
    assert adapt_embedder(Embeds().embed).name == f"{__name__}.Embeds.embed"


def test_an_error_of_the_callable_names_the_embedder_and_its_cause() -> None:
    class Quota(Exception):
        pass

    def broke(texts: list[str]) -> list[list[float]]:
        raise Quota("no money left")

    async def slow_broke(texts: list[str]) -> list[list[float]]:
        raise Quota("no money left")

    for function in (broke, slow_broke):
        with pytest.raises(Unavailable, match=f"{function.__name__}' raised Quota: no money left") as caught:
            adapt_embedder(function).embed(["a"])
        assert isinstance(caught.value.__cause__, Quota)


def test_a_callable_that_takes_neither_a_list_nor_a_text_is_told() -> None:
    def strange(one: str, two: str) -> list[float]:
        return [1.0]

    with pytest.raises(Unavailable, match=r"strange' raised TypeError: .*two"):
        adapt_embedder(strange).embed(["a"])


@pytest.mark.parametrize("answer", [None, "text", [], [[1.0], [1.0, 2.0]], {"a": 1}, 5.0])
def test_an_answer_without_rows_is_refused_with_what_to_do(answer: object) -> None:
    with pytest.raises(Misconfigured, match=r"one row of numbers per text"):
        adapt_embedder(lambda texts: answer).embed(["a"])


def test_a_list_function_that_loses_a_row_is_refused() -> None:
    with pytest.raises(Misconfigured, match=r"shape \(2, 2\) for 3 text"):
        adapt_embedder(lambda texts: of_many(texts)[:2]).embed(["a", "b", "c"])


def test_an_asynchronous_embedder_that_waits_for_itself_is_refused_instead_of_hanging() -> None:
    inner = adapt_embedder(slow_many)

    async def outer(texts: list[str]) -> Any:
        return inner.embed(texts)

    with pytest.raises(Misconfigured, match="await that one there"):
        adapt_embedder(outer, batch=True, width=2).embed(["a"])


def test_an_embedder_of_a_coroutine_has_a_cache() -> None:
    assert isinstance(embedder_of(slow_many), Cached)
    assert not isinstance(embedder_of(of_many), Cached)
