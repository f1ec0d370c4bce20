"""Alignment of words, against a plain reference in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.making import examples
from tests.wordbook import WIDTH, vector_of

from eidet.index import Floats
from eidet.index.embedded.forward import FAR, Forward
from eidet.index.embedded.postings import Postings
from eidet.index.embedded.vectors import VectorPlanes
from eidet.text import pack, term_id

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
WORDS = ("cat", "kitten", "dog", "violin", "instruments", "sea", "ship")
BY_ID = {term_id(word): word for word in WORDS}

said = st.lists(st.sampled_from(WORDS), max_size=5)
rows = st.lists(said, max_size=8)


def learn(ids: Sequence[int]) -> tuple[NDArray[np.int8], Floats]:
    vectors = VectorPlanes(WIDTH)
    vectors.append([vector_of(BY_ID[id]).tobytes() for id in ids])
    return vectors.high[: len(ids)], vectors.scale[: len(ids)]


def forward(texts: Sequence[Sequence[str]]) -> Forward:
    postings = Postings()
    postings.append([pack(list(words)) for words in texts])
    return Forward(postings, learn)


def aligned(made: Forward, asked: Sequence[str], weights: Sequence[float], at: Sequence[int]) -> list[float]:
    vectors = np.array([vector_of(word) for word in asked], np.float32).reshape(-1, WIDTH)
    terms = [term_id(word) for word in asked]
    shares: list[float] = made.align(
        terms, vectors, np.array(weights, np.float32), np.array(at, np.intp)
    ).tolist()
    return shares


def plain(asked: Sequence[str], weights: Sequence[float], words: Sequence[str]) -> float:
    """The weighted mean of how near the nearest word is to each that is asked for."""
    if not words or not sum(weights):
        return 0.0
    best = [max(nearness(one, word) for word in words) for one in asked]
    return sum(weight * near for weight, near in zip(weights, best, strict=True)) / sum(weights)


def nearness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    return max(0.0, (float(vector_of(one) @ vector_of(other)) - FAR) / (1 - FAR))


@often
@given(rows, rows, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True), st.data())
def test_alignment_is_the_weighted_share_of_what_is_covered(
    first: list[list[str]], more: list[list[str]], asked: list[str], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(st.sampled_from((0.0, 0.5, 2.0)), min_size=len(asked), max_size=len(asked)))
    texts = first + more
    made = forward(first)
    made.append([[term_id(word) for word in dict.fromkeys(words)] for words in more])
    assert made.count == len(texts)
    some = (
        sorted(data.draw(st.sets(st.integers(0, max(0, len(texts) - 1)), max_size=len(texts))))
        if texts
        else []
    )
    for at in (list(range(len(texts))), some):
        wanted = [plain(asked, weights, texts[row]) for row in at]
        assert np.allclose(aligned(made, asked, weights, at), wanted, atol=0.03)
        assert aligned(made, asked, weights, at) == aligned(forward(texts), asked, weights, at)


def test_a_word_that_is_there_counts_fully_and_a_similar_one_by_its_nearness() -> None:
    made = forward([["cat"], ["kitten"], ["ship"], [], ["cat", "violin"]])
    cat, kitten, ship, nothing, both = aligned(made, ["cat", "violin"], [1.0, 1.0], range(5))
    assert cat >= 0.5 > kitten > 0.3
    assert ship < kitten
    assert nothing == 0
    assert both == 1


def test_a_word_without_a_vector_is_found_by_itself_alone() -> None:
    def nobody(ids: Sequence[int]) -> tuple[NDArray[np.int8], Floats]:
        return np.zeros((len(ids), WIDTH), np.int8), np.zeros(len(ids), np.float32)

    postings = Postings()
    postings.append([pack(["cat"]), pack(["kitten"])])
    assert aligned(Forward(postings, nobody), ["cat"], [1.0], [0, 1]) == [1, 0]


def test_weights_say_which_word_matters() -> None:
    made = forward([["sea"], ["ship"]])
    sea, ship = aligned(made, ["sea", "ship"], [9.0, 1.0], [0, 1])
    assert sea > 0.89 > ship


def test_its_size_grows_with_its_words() -> None:
    made = forward([["cat"]])
    before = made.nbytes
    made.append([[term_id("dog"), term_id("sea")]] * 100)
    assert made.nbytes > before
