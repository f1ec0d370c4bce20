"""A term has one vector, whoever asks for it and whenever."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.wordbook import WIDTH, Wordbook, vector_of

from eidet import Memory
from eidet.index import Floats
from eidet.index.embedded import lexicon as module
from eidet.index.embedded.lexicon import Lexicon, make_lexicon
from eidet.index.embedded.postings import Terms
from eidet.models.adapt import adapt_embedder
from eidet.models.embed import Joined
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


def _word(number: int) -> str:
    """A word without digits: those are never nearly the same."""
    return "w" + "".join(chr(ord(digit) + 49) for digit in str(number))


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


def test_only_what_is_not_known_is_asked_for(lexicon: Lexicon) -> None:
    asked: list[list[int]] = []

    def spell(ids: Sequence[int]) -> dict[int, str]:
        asked.append(list(ids))
        return {id: word for word in ("sea", "ship") if (id := term_id(word)) in ids}

    ids = [term_id(word) for word in ("cat", "sea", "ship", "sea")]
    lexicon.rows(ids_of("cat", "sea"), spell)
    high, scale = lexicon.rows(ids_of("cat", "sea", "ship", "sea"), spell)
    assert asked == [[ids[1]], [ids[2]]]
    for at, word in enumerate(("cat", "sea", "ship", "sea")):
        assert_near(high[at] * scale[at], word)


def test_no_terms_have_no_rows(lexicon: Lexicon) -> None:
    high, scale = lexicon.rows(ids_of(), nobody)
    assert (high.shape, scale.shape) == ((0, WIDTH), (0,))
    assert lexicon.vectors([]).shape == (0, WIDTH)


def test_too_many_words_are_forgotten_and_learnt_again(
    monkeypatch: pytest.MonkeyPatch, lexicon: Lexicon
) -> None:
    monkeypatch.setattr(module, "MOST", 20)
    for n in range(100):
        assert_near(lexicon.vectors([_word(n)])[0], _word(n))
        assert len(lexicon._places) <= 22
    assert_near(lexicon.vectors([_word(0), "cat"])[0], _word(0))


def test_many_threads_learn_the_same(lexicon: Lexicon) -> None:
    words = [_word(n) for n in range(60)]

    def ask(start: int) -> bool:
        chosen = [words[(start + n) % 60] for n in range(30)]
        made = lexicon.vectors(chosen)
        return all(
            np.allclose(row, vector_of(word), atol=0.01) for row, word in zip(made, chosen, strict=True)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(60)))


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
    for embedder in (Reader(), Cached(Reader()), Joined(Reader(), "hashing:16")):
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


def test_a_question_does_not_change_the_vector_of_a_word_that_the_embedder_knows(lexicon: Lexicon) -> None:
    [stem] = ENGLISH.terms("instruments")
    before = lexicon.vectors([stem])[0]
    lexicon.vectors([stem, "sea"])  # one of them is new
    assert np.array_equal(lexicon.vectors([stem])[0], before)
