"""A term has one vector, whoever asks for it and whenever."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.wordbook import Wordbook, vector_of

from eidet import Memory
from eidet.index import Floats
from eidet.index.embedded.lexicon import FAR, Lexicon, make_lexicon
from eidet.models.adapt import adapt_embedder
from eidet.models.embed.vector_cache import Cached
from eidet.text import analyzer_of, term_id

ENGLISH = analyzer_of("en")


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon(Wordbook(), ENGLISH)


def near(lexicon: Lexicon, term: str, *words: str) -> list[float]:
    """How near each word, spelt so, is to a term of a question."""
    ids = [term_id(word) for word in words]
    reader = lexicon.reader(lambda unknown: {id: dict(zip(ids, words, strict=True))[id] for id in unknown})
    numbers = reader.number(np.array(ids, np.uint32))
    values: list[float] = reader.table.compare((term_id(term),), (term,)).values[0].take(numbers).tolist()
    return values


def cosine(one: str, other: str) -> float:
    return float(vector_of(one) @ vector_of(other))


def test_a_term_has_the_vector_of_the_word_that_the_embedder_knows_whole(lexicon: Lexicon) -> None:
    [stem] = ENGLISH.terms("instruments")
    assert stem != "instruments"
    wanted = (cosine("instruments", "violin") - FAR) / (1 - FAR)
    assert near(lexicon, stem, "violin") == [pytest.approx(wanted, abs=0.02)]


def test_a_term_that_the_embedder_does_not_know_is_embedded_as_it_is_spelt(lexicon: Lexicon) -> None:
    wanted = max((cosine("sea", "ship") - FAR) / (1 - FAR), 0.0)
    assert near(lexicon, "sea", "sea", "ship") == [1.0, pytest.approx(wanted, abs=0.02)]


def test_words_with_digits_are_like_none_but_themselves(lexicon: Lexicon) -> None:
    assert near(lexicon, "4821", "4821", "4812", "cat") == [1.0, 0.0, 0.0]


class Reader:
    """An embedder that reads sentences, as a language model does."""

    name, width, reads_sentences = "reader", 4, True

    def embed(self, texts: Sequence[str]) -> Floats:
        return np.ones((len(texts), self.width), np.float32)


def test_an_embedder_that_reads_sentences_borrows_the_words_of_the_default() -> None:
    plain = adapt_embedder(lambda text: [1.0, 2.0], name="plain:v1", width=2)
    assert make_lexicon(plain, ENGLISH) is None
    for embedder in (Reader(), Cached(Reader())):
        lexicon = make_lexicon(embedder, ENGLISH)
        assert lexicon is not None
        instrument, violin, tax = ENGLISH.terms("instruments violin tax")
        close, far = near(lexicon, instrument, violin, tax)
        assert close > far + 0.2
    assert make_lexicon(Reader(), None) is None


def test_a_memory_whose_embedder_reads_sentences_finds_similar_words() -> None:
    with Memory(embedder=Reader()) as memory:
        memory.remember(["Ann plays the violin", "The tax office is closed", "A ship left for Oslo"])
        best = memory.recall("instruments", least=0)[0]
    assert best.text == "Ann plays the violin"
