"""A term has one vector, whoever asks for it and whenever."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.wordbook import WIDTH, Wordbook, vector_of

from eidet.index.embedded import lexicon as module
from eidet.index.embedded.lexicon import Lexicon
from eidet.text import analyzer_of, term_id

ENGLISH = analyzer_of("en")


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon(Wordbook(), ENGLISH)


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
    high, scale = lexicon.rows([term_id("ship")], lambda ids: {term_id("ship"): "ship"})
    assert_near(high[0] * scale[0], "ship")


def test_a_term_that_nobody_can_spell_has_no_vector_until_somebody_can(lexicon: Lexicon) -> None:
    id = term_id("ship")
    high, scale = lexicon.rows([id], nobody)
    assert not high.any()
    assert scale.tolist() == [0.0]
    lexicon.vectors(["ship"])
    high, scale = lexicon.rows([id], nobody)
    assert_near(high[0] * scale[0], "ship")


def test_only_what_is_not_known_is_asked_for(lexicon: Lexicon) -> None:
    asked: list[list[int]] = []

    def spell(ids: Sequence[int]) -> dict[int, str]:
        asked.append(list(ids))
        return {id: word for word in ("sea", "ship") if (id := term_id(word)) in ids}

    ids = [term_id(word) for word in ("cat", "sea", "ship", "sea")]
    lexicon.rows(ids[:2], spell)
    high, scale = lexicon.rows(ids, spell)
    assert asked == [[ids[1]], [ids[2]]]
    for at, word in enumerate(("cat", "sea", "ship", "sea")):
        assert_near(high[at] * scale[at], word)


def test_no_terms_have_no_rows(lexicon: Lexicon) -> None:
    high, scale = lexicon.rows([], nobody)
    assert (high.shape, scale.shape) == ((0, WIDTH), (0,))
    assert lexicon.vectors([]).shape == (0, WIDTH)


def test_too_many_words_are_forgotten_and_learnt_again(
    monkeypatch: pytest.MonkeyPatch, lexicon: Lexicon
) -> None:
    monkeypatch.setattr(module, "MOST", 20)
    for n in range(100):
        assert_near(lexicon.vectors([_word(n)])[0], _word(n))
        assert len(lexicon._place) <= 22
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
