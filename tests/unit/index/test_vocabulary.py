"""Alignment of words, against a plain reference in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.wordbook import Wordbook, vector_of

from eidet.index.embedded.lexicon import FAR, MOST_TERMS, Lexicon, Vocabulary
from eidet.index.embedded.postings import Postings
from eidet.text import analyzer_of, pack, term_id

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
WORDS = ("cat", "kitten", "dog", "violin", "instruments", "sea", "ship")
PLAIN = analyzer_of("none")
BY_ID = {term_id(word): word for word in WORDS}

said = st.lists(st.sampled_from(WORDS), max_size=5)
rows = st.lists(said, max_size=8)


class Scope:
    """Rows of words as a shard has them: their postings, and the vocabulary that reads these."""

    def __init__(self, texts: Sequence[Sequence[str]], lexicon: Lexicon | None = None) -> None:
        self.postings = Postings()
        self.postings.append([pack(list(words)) for words in texts])
        known = lexicon or Lexicon(Wordbook(), PLAIN)
        self.vocabulary = Vocabulary(self.postings, known.reader(spell))

    def append(self, texts: Sequence[Sequence[str]]) -> None:
        self.postings.append([pack(list(words)) for words in texts])
        self.vocabulary.append([[term_id(word) for word in words] for words in texts])


def spell(ids: Sequence[int]) -> dict[int, str]:
    return {id: BY_ID[id] for id in ids}


def aligned(made: Scope, asked: Sequence[str], weights: Sequence[float], at: Sequence[int]) -> list[float]:
    terms = [term_id(word) for word in asked]
    shares: list[float] = made.vocabulary.align(
        terms, asked, np.array(weights, np.float32), np.array(at, np.intp)
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eidet.index.embedded.lexicon.BLOCK", 2)  # so that rows take several
        weights = data.draw(
            st.lists(st.sampled_from((0.0, 0.5, 2.0)), min_size=len(asked), max_size=len(asked))
        )
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


def test_scopes_that_share_a_lexicon_align_as_each_alone() -> None:
    shared, texts = Lexicon(Wordbook(), PLAIN), ([["cat"], ["sea", "ship"]], [["dog"], ["violin"], ["ship"]])
    first, second = (Scope(rows, shared) for rows in texts)
    for asked in (["kitten"], ["ship", "cat"], ["kitten"]):
        for scope, rows in zip((first, second), texts, strict=True):
            at, weights = list(range(len(rows))), [1.0] * len(asked)
            assert aligned(scope, asked, weights, at) == aligned(Scope(rows), asked, weights, at)
        second.append([["kitten"]])
        texts[1].append(["kitten"])


def test_a_lexicon_that_is_full_begins_anew_for_the_next_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eidet.index.embedded.lexicon.MOST", 2)
    shared = Lexicon(Wordbook(), PLAIN)
    first, second = Scope([["cat"], ["dog"], ["sea"]], shared), Scope([["dog"], ["cat"]], shared)
    assert first.vocabulary.align([term_id("cat")], ["cat"], np.ones(1, np.float32), np.arange(3))[0] == 1
    assert aligned(second, ["cat"], [1.0], [0, 1])[1] == 1


def test_a_word_that_nobody_can_spell_is_found_by_itself_alone() -> None:
    postings = Postings()
    postings.append([pack(["sea"]), pack(["ship"])])
    made = Vocabulary(postings, Lexicon(Wordbook(), PLAIN).reader(lambda ids: {}))
    shares = made.align([term_id("sea")], ["sea"], np.ones(1, np.float32), np.arange(2))
    assert shares.tolist() == [1, 0]


def test_many_terms_do_not_make_it_forget_what_is_asked() -> None:
    made = Scope([["cat"], ["dog"]])
    before = aligned(made, ["cat"], [1.0], [0, 1])
    for start in range(0, 2 * MOST_TERMS, 100):
        words = [f"cat{n}" for n in range(start, start + 100)]
        aligned(made, words, [1.0] * 100, [0, 1])
    assert aligned(made, ["cat"], [1.0], [0, 1]) == before


def test_other_forms_of_a_word_are_as_near_as_it_says() -> None:
    english = analyzer_of("en")
    [bought], [buy] = english.terms("bought"), english.terms("buy")
    postings = Postings()
    postings.append([pack(["cat"]), pack([bought])])
    made = Vocabulary(postings, Lexicon(Wordbook(), english).reader(lambda ids: {}))
    for _ in range(2):  # asked again, with a new word
        shares = made.align([term_id(buy)], [buy], np.ones(1, np.float32), np.arange(2))
        assert shares[1] == pytest.approx(0.95)
        assert shares[0] < 0.5
        made.append([[term_id("dog")]])
