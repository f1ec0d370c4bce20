"""Long texts in units: nothing but white space is lost, and there are never too many."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.text.sentences import MOST_UNITS, UNIT_CHARS, WHOLE_CHARS, units_of

often = settings(derandomize=True, deadline=None, max_examples=examples(60))
PIECES = ("It rained. ", "Ann went home\n", "no", " ", "。", "Mr. Lee left! ", "\u2028")
sentence = st.sampled_from((*PIECES, "x" * 900, "word " * 150 + ". "))
texts = st.lists(sentence, max_size=40).map("".join) | st.text(max_size=2_000)


def ink(text: str) -> str:
    return "".join(text.split())


@often
@given(texts, st.integers(1, 12))
def test_units_lose_only_white_space_and_are_never_too_many(text: str, times: int) -> None:
    units = units_of(text * times)
    assert ink("".join(units)) == ink(text * times)
    assert 1 <= len(units) <= MOST_UNITS
    assert all(units) or units == [text * times]


@pytest.mark.parametrize("text", ["", " ", "a", "word " * 100, "x" * WHOLE_CHARS, " " * WHOLE_CHARS])
def test_a_short_text_is_left_alone(text: str) -> None:
    assert units_of(text) == [text]


def test_a_long_text_without_anything_in_it_is_one_unit() -> None:
    assert units_of(" \n" * 2_000) == [" \n" * 2_000]


def test_units_end_where_sentences_end() -> None:
    text = " ".join(f"Sentence number {n} says that it is the one with the number {n}." for n in range(100))
    units = units_of(text)
    assert all(unit.startswith("Sentence") and unit.endswith(".") for unit in units)
    assert all(UNIT_CHARS // 2 < len(unit) <= UNIT_CHARS for unit in units[:-1])
    assert " ".join(units) == text


def test_a_sentence_without_end_is_cut_between_words() -> None:
    words = [f"word{n}" for n in range(1_000)]
    assert [word for unit in units_of(" ".join(words)) for word in unit.split()] == words


def test_a_word_without_end_is_cut_anywhere() -> None:
    units = units_of("x" * 5_000)
    assert len(units) > 5
    assert sum(unit.count("x") for unit in units) == 5_000


def test_a_short_rest_belongs_to_the_unit_before() -> None:
    text = "a" * 470 + ". " + "b" * 475 + ". The end."
    assert units_of(text) == ["a" * 470 + ".", "b" * 475 + ". The end."]


def test_many_small_sentences_fill_a_unit_and_no_more() -> None:
    *full, _ = units_of("Ab. " * 1_000)
    assert len(full) >= 4_000 // UNIT_CHARS - 1
    assert all(UNIT_CHARS // 2 < len(unit) <= UNIT_CHARS for unit in full)


@pytest.mark.parametrize("length", [100, 700, 900, 1_690, 3_000])
def test_units_of_a_very_long_text_grow_alike(length: int) -> None:
    text = " ".join("y" * (length - 1) + "." for _ in range(200_000 // length))
    sizes = [len(unit) for unit in units_of(text)]
    assert MOST_UNITS // 4 < len(sizes) <= MOST_UNITS
    assert max(sizes) < 3 * len(text) / len(sizes)


def test_sentences_of_changing_length_do_not_pile_up_at_the_end() -> None:
    text = " ".join("y" * (1_680 if n % 2 else 10) + "." for n in range(120))
    sizes = [len(unit) for unit in units_of(text)]
    assert max(sizes) < 3 * len(text) / len(sizes)


def test_more_text_is_never_cut_into_smaller_units() -> None:
    text = "It rained all day long. " * 10_000
    mean = [len(text[:n]) / len(units_of(text[:n])) for n in (10_000, 50_000, 100_000, 240_000)]
    assert all(one <= other * 1.1 for one, other in pairwise(mean))


def test_a_million_characters_take_no_time_to_speak_of() -> None:
    start = time.thread_time()
    for text in ("x" * 1_000_000, "A b. " * 200_000, "\n" * 1_000_000, "。" * 1_000_000):
        assert len(units_of(text)) <= MOST_UNITS
    assert time.thread_time() - start < 10
