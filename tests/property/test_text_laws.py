"""What holds for any text."""

from __future__ import annotations

import re
from collections import Counter
from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from eidet.text import analyzer_of, pack, term_id, unpack
from eidet.text.sentences import sentences
from eidet.text.tokens import Estimate, TokenCounter, Words, cut

ANYTHING = st.text()
WITH_SURROGATES = st.text(st.characters(exclude_categories=[]))
WORDS = [
    "Ann",
    "Ann's",
    "don't",
    "the",
    "INV-2291",
    "1,200",
    "café",
    "我在住",
    "서울",
    "👍🏽",
    "Dr.",
    "no.",
    "p.m.",
    "...",
    "U.S.",
]
DIALOGUE = st.lists(st.sampled_from(WORDS) | st.text(max_size=8)).map(" ".join)
SIGNS = st.text("aB1.,' \n\té猫👍_-!", max_size=40)
TEXTS = ANYTHING | DIALOGUE | SIGNS
LANGUAGES = st.sampled_from(["en", "de", "fr", "ru", "zh", "none"])
COUNTERS: st.SearchStrategy[TokenCounter] = st.sampled_from([Estimate(), Words(), Words(factor=0.7)])


@given(TEXTS | WITH_SURROGATES, LANGUAGES)
def test_packed_is_the_packing_of_the_terms_of_any_text(text: str, language: str) -> None:
    analyzer = analyzer_of(language)
    terms = analyzer.terms(text)
    assert analyzer.pack_text(text) == pack(terms)
    assert all(terms)


@given(TEXTS, LANGUAGES)
def test_normalised_text_has_the_same_terms(text: str, language: str) -> None:
    analyzer = analyzer_of(language)
    assert analyzer.terms(normalize("NFD", text)) == analyzer.terms(normalize("NFC", text))


@given(st.text(st.characters(max_codepoint=127)), LANGUAGES)
def test_case_does_not_matter(text: str, language: str) -> None:
    analyzer = analyzer_of(language)
    assert analyzer.terms(text.upper()) == analyzer.terms(text.lower())


@given(st.text(st.characters(max_codepoint=127)))
def test_the_fast_path_for_ascii_agrees_with_the_long_one(text: str) -> None:
    plain = analyzer_of("none")
    assert plain.terms(text + " 👍") == [*plain.terms(text), "👍"]


@given(st.lists(st.text()))
def test_unpack_gives_back_the_counts(terms: list[str]) -> None:
    packed = pack(terms)
    counts = Counter(map(term_id, terms))
    assert unpack(packed) == {id: min(count, 255) for id, count in counts.items()}
    assert list(unpack(packed)) == sorted(counts)
    assert len(packed) == 5 * len(counts)


@given(TEXTS, TEXTS, COUNTERS)
def test_more_text_never_costs_less(text: str, more: str, counter: TokenCounter) -> None:
    assert counter.count(text) <= counter.count(text + more)


@given(TEXTS, TEXTS, COUNTERS)
def test_two_texts_joined_cost_at_most_one_more_than_apart(
    one: str, other: str, counter: TokenCounter
) -> None:
    assert counter.count(one + other) <= counter.count(one) + counter.count(other) + 1


@given(TEXTS, st.integers(-1, 40), COUNTERS)
def test_a_cut_is_the_longest_prefix_of_whole_words_within_the_budget(
    text: str, budget: int, counter: TokenCounter
) -> None:
    kept = cut(text, budget, counter)
    assert text.startswith(kept)
    assert counter.count(kept) <= max(budget, 0)
    if kept != text:
        word = re.match(r"\s*\S*", text[len(kept) :])
        assert word
        assert counter.count(kept + word[0]) > budget


@given(TEXTS)
def test_sentences_lose_only_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(TEXTS)
def test_a_sentence_has_no_white_space_around_it_and_is_never_empty(text: str) -> None:
    for sentence in sentences(text):
        assert sentence
        assert sentence == sentence.strip()
