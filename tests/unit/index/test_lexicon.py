"""A term has one vector, whoever asks for it and whenever."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.wordbook import Wordbook, vector_of

from eidet import Memory
from eidet.index import Floats
from eidet.index.embedded.lexicon import Lexicon, make_lexicon
from eidet.index.embedded.postings import Terms
from eidet.models.adapt import adapt_embedder
from eidet.models.embed.vector_cache import Cached
from eidet.text import analyzer_of, term_id

ENGLISH = analyzer_of("en")


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon(Wordbook(), ENGLISH)


def ids_of(*words: str) -> Terms:
    return np.array([term_id(word) for word in words], np.uint32)


def nobody(ids: Sequence[int]) -> dict[int, str]:
    return {}


def assert_near(found: object, word: str) -> None:
    assert np.allclose(np.asarray(found), vector_of(word), atol=0.01)


def test_a_term_has_the_vector_of_the_word_that_the_embedder_knows_whole(lexicon: Lexicon) -> None:
    [stem] = ENGLISH.terms("instruments")
    assert stem != "instruments"
    assert_near(lexicon.vectors([stem])[0], "instruments")


def test_a_term_that_the_embedder_does_not_know_is_embedded_as_it_is_spelt(lexicon: Lexicon) -> None:
    assert_near(lexicon.vectors(["sea"])[0], "sea")
    high, scale = lexicon.rows(ids_of("ship"), lambda ids: {term_id("ship"): "ship"})
    assert_near(high[0] * scale[0], "ship")


def test_a_term_that_nobody_can_spell_has_no_vector_until_somebody_can(lexicon: Lexicon) -> None:
    high, scale = lexicon.rows(ids_of("ship"), nobody)
    assert not high.any()
    assert scale.tolist() == [0.0]
    lexicon.vectors(["ship"])
    high, scale = lexicon.rows(ids_of("ship"), nobody)
    assert_near(high[0] * scale[0], "ship")


def test_words_with_digits_are_like_none_but_themselves(lexicon: Lexicon) -> None:
    assert not lexicon.vectors(["ref302", "4821"]).any()
    assert lexicon.vectors(["cat"]).any()


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
        instrument, violin, tax = lexicon.vectors(ENGLISH.terms("instruments violin tax"))
        assert instrument @ violin > instrument @ tax + 0.2
    assert make_lexicon(Reader(), None) is None


def test_a_memory_whose_embedder_reads_sentences_finds_similar_words() -> None:
    with Memory(embedder=Reader()) as memory:
        memory.remember(["Ann plays the violin", "The tax office is closed", "A ship left for Oslo"])
        best = memory.recall("instruments", least=0)[0]
    assert best.text == "Ann plays the violin"
