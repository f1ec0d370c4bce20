"""Whatever code of the user raises comes out of the verbs as an error of ours that names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from eidet import BadInput, EidetError, Memory, Unavailable


class Quota(Exception):
    """An error that Eidet cannot know."""


class Breaking:
    """An embedder that works until it is told to break."""

    name = "breaking"
    width = 4
    broken = False

    def embed(self, texts: Sequence[str]) -> Any:
        if self.broken:
            raise Quota("no money left")
        return np.ones((len(texts), 4), np.float32)


def breaking_function() -> tuple[Any, Callable[[], None]]:
    state = Breaking()

    def embed(texts: list[str]) -> Any:
        return state.embed(texts)

    return embed, lambda: setattr(state, "broken", True)


def breaking_coroutine() -> tuple[Any, Callable[[], None]]:
    state = Breaking()

    async def embed(texts: list[str]) -> Any:
        return state.embed(texts)

    return embed, lambda: setattr(state, "broken", True)


def breaking_object() -> tuple[Any, Callable[[], None]]:
    state = Breaking()
    return state, lambda: setattr(state, "broken", True)


EMBEDDERS = {one.__name__: one for one in (breaking_function, breaking_coroutine, breaking_object)}
SAID = [{"role": "user", "content": f"we spoke about the garden for {n} hours and more"} for n in range(40)]
VERBS: dict[str, Callable[[Memory], object]] = {
    "remember": lambda memory: memory.remember("a new text"),
    "revise": lambda memory: memory.revise("one", text="a new text"),
    "recall": lambda memory: memory.recall("another text"),
    "context": lambda memory: memory.context("another text"),
    "end_session": lambda memory: memory.upkeep.end_session("s"),
    "reembed": lambda memory: memory.admin.reembed(_always_broken()),
}


def _always_broken() -> Breaking:
    other = Breaking()
    other.name, other.broken = "other", True
    return other


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", EMBEDDERS)
def test_an_embedder_that_raises_is_named(kind: str, verb: str) -> None:
    embedder, break_it = EMBEDDERS[kind]()
    with Memory(embedder=embedder) as memory:
        memory.remember("one text", id="one")
        memory.remember(SAID, session="s")
        break_it()
        with pytest.raises(Unavailable, match=r"embedder .* raised Quota: no money left") as caught:
            VERBS[verb](memory)
        assert isinstance(caught.value.__cause__, Quota)
        assert memory.get("one") is not None


def test_an_embedder_that_breaks_at_once_is_named_before_anything_is_stored() -> None:
    def embed(texts: list[str]) -> Any:
        raise Quota("no money left")

    with pytest.raises(EidetError, match="raised Quota") as caught, Memory(embedder=embed) as memory:
        memory.remember("one text")
    assert isinstance(caught.value.__cause__, Quota)


class Reranks:
    name = "reranks"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        raise Quota("no money left")


@pytest.mark.parametrize("reranker", [Reranks(), Reranks().scores], ids=["object", "function"])
def test_a_reranker_that_raises_leaves_the_hits_as_they_are(reranker: object) -> None:
    with Memory(embedder="hashing:32") as memory:
        memory.remember("Ann lives in Lisbon")
        hits = memory.recall("Where does Ann live?", rerank=reranker)
        assert [hit.text for hit in hits] == ["Ann lives in Lisbon"]


class Counts:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def count(self, text: str) -> int:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize("as_function", [False, True])
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Quota("no money left"), Unavailable),
        ("12", BadInput),
        (None, BadInput),
    ],
)
def test_a_token_counter_that_raises_or_gives_no_number_is_named(
    answer: object, error: type[EidetError], as_function: bool
) -> None:
    counter = Counts(answer)
    with Memory(embedder="hashing:32") as memory:
        memory.remember("Ann lives in Lisbon")
        with pytest.raises(error, match=r"token counter .*ount"):
            memory.context("Ann", counter=counter.count if as_function else counter)


def test_a_model_that_raises_leaves_the_wording_to_the_rules() -> None:
    def ask(prompt: str) -> str:
        raise Quota("no money left")

    with Memory(embedder="hashing:32") as memory:
        memory.remember(SAID, session="s")
        assert memory.upkeep.end_session("s", llm=ask).state.worded_by == "rules"
