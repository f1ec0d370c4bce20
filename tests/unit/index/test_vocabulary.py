"""Alignment of words, against a plain reference in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.making import examples
from tests.wordbook import WIDTH, vector_of

from eidet.index import Floats
from eidet.index.embedded.postings import Postings, Terms
from eidet.index.embedded.vectors import VectorPlanes
from eidet.index.embedded.vocabulary import FAR, KEPT_BYTES, MOST_TERMS, Learn, Vocabulary
from eidet.text import pack, term_id

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
WORDS = ("cat", "kitten", "dog", "violin", "instruments", "sea", "ship")
BY_ID = {term_id(word): word for word in WORDS}

said = st.lists(st.sampled_from(WORDS), max_size=5)
rows = st.lists(said, max_size=8)


def learn(ids: Terms) -> tuple[NDArray[np.int8], Floats]:
    vectors = VectorPlanes(WIDTH)
    vectors.append([vector_of(BY_ID[id]).tobytes() for id in ids.tolist()])
    return vectors.high[: len(ids)], vectors.scale[: len(ids)]


class Scope:
    """Rows of words as a shard has them: their postings, and the vocabulary that reads these."""

    def __init__(self, texts: Sequence[Sequence[str]], learn: Learn = learn) -> None:
        self.postings = Postings()
        self.postings.append([pack(list(words)) for words in texts])
        self.vocabulary = Vocabulary(self.postings, learn)

    def append(self, texts: Sequence[Sequence[str]]) -> None:
        self.postings.append([pack(list(words)) for words in texts])
        self.vocabulary.append([[term_id(word) for word in words] for words in texts])


def vectors_of_record(asked: Sequence[str]) -> Floats:
    return np.array([vector_of(word) for word in asked], np.float32).reshape(-1, WIDTH)


class Knowledge(NamedTuple):
    """What is known of words: vectors, and other forms."""

    vectors: Callable[[Sequence[str]], Floats] = vectors_of_record
    related: Mapping[int, dict[int, float]] = {}


def aligned(made: Scope, asked: Sequence[str], weights: Sequence[float], at: Sequence[int]) -> list[float]:
    terms = [term_id(word) for word in asked]
    shares: list[float] = made.vocabulary.align(
        terms, asked, Knowledge(), np.array(weights, np.float32), np.array(at, np.intp)
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
    made = Scope(first)
    if data.draw(st.booleans()):  # asked before, it compares only new words
        aligned(made, asked, weights, list(range(len(first))))
    made.append(more)
    some = (
        sorted(data.draw(st.sets(st.integers(0, max(0, len(texts) - 1)), max_size=len(texts))))
        if texts
        else []
    )
    for at in (list(range(len(texts))), some):
        wanted = [plain(asked, weights, texts[row]) for row in at]
        assert np.allclose(aligned(made, asked, weights, at), wanted, atol=0.03)
        assert aligned(made, asked, weights, at) == aligned(Scope(texts), asked, weights, at)


def test_a_word_without_a_vector_is_found_by_itself_alone() -> None:
    def nobody(ids: Terms) -> tuple[NDArray[np.int8], Floats]:
        return np.zeros((len(ids), WIDTH), np.int8), np.zeros(len(ids), np.float32)

    assert aligned(Scope([["cat"], ["kitten"]], nobody), ["cat"], [1.0], [0, 1]) == [1, 0]


def test_many_terms_do_not_make_it_grow_for_ever() -> None:
    made = Scope([["cat"], ["dog"]])
    aligned(made, ["cat"], [1.0], [0, 1])
    first = made.vocabulary.nbytes
    for start in range(0, 3 * MOST_TERMS, 100):
        words = [f"{WORDS[0]}{n}" for n in range(start, start + 100)]
        made.vocabulary.align(
            [term_id(word) for word in words],
            words,
            Knowledge(lambda asked: np.zeros((len(asked), WIDTH), np.float32)),
            np.ones(100, np.float32),
            np.arange(2),
        )
    assert made.vocabulary.nbytes - first <= (MOST_TERMS + 100) * KEPT_BYTES
    assert aligned(made, ["cat"], [1.0], [0, 1]) == [1, aligned(Scope([["dog"]]), ["cat"], [1.0], [0])[0]]


def test_other_forms_of_a_word_are_as_near_as_it_says() -> None:
    made = Scope([["cat"], ["sea"]])
    told = Knowledge(related={term_id("dog"): {term_id("sea"): 0.9}})
    asked = [term_id("dog")], ["dog"]
    shares = made.vocabulary.align(*asked, told, np.ones(1, np.float32), np.arange(2))
    assert shares[1] == pytest.approx(0.9)
    assert shares[0] == pytest.approx(aligned(made, ["dog"], [1.0], [0])[0])
    made.append([["dog"]])
    again = made.vocabulary.align(*asked, told, np.ones(1, np.float32), np.arange(3))
    assert again[1] == pytest.approx(0.9)
