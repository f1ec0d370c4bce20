"""Counting tokens and cutting to a budget."""

from __future__ import annotations

from typing import cast

import pytest

from eidet.core.errors import BadInput
from eidet.text.tokens import Estimate, TokenCounter, Words, counter_of, cut


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("Hello", 1, 2),
        ("Hey Mel! Good to see you! How have you been?", 12, 15),
        ("INV-2291 was paid on 2023-05-08.", 15, 25),
        ("def area(width, height):\n    return width * height\n", 12, 20),
        ("我在里斯本住了很多年", 10, 15),
        ("Я живу в Москве и работаю", 8, 14),
        ("👍", 2, 5),
    ],
)
def test_the_estimate_is_near_what_tokenizers_count(text: str, least: int, most: int) -> None:
    assert least <= Estimate().count(text) <= most


def test_words_times_a_factor_are_rounded_up() -> None:
    assert Words().count("three short words") == 4
    assert Words(factor=2).count("three short words") == 6
    assert Words().count(" ") == 0


def test_a_counter_is_nothing_a_function_or_a_counter() -> None:
    words = Words()
    assert isinstance(counter_of(None), Estimate)
    assert counter_of(words) is words
    assert counter_of(len).count("four") == 4


def test_plain_counters_have_names() -> None:
    assert isinstance(counter_of("estimate"), Estimate)
    assert counter_of("words") == Words()


def test_anything_else_is_no_counter() -> None:
    with pytest.raises(BadInput, match="int is neither"):
        counter_of(cast("TokenCounter", 7))


def test_a_text_within_the_budget_is_not_cut() -> None:
    assert cut("Ann lives here. ", 100, Estimate()) == "Ann lives here. "


def test_a_cut_ends_with_the_last_word_that_fits() -> None:
    by_letter = counter_of(len)
    assert cut("Ann lives in Lisbon", 12, by_letter) == "Ann lives in"
    assert cut("Ann lives in Lisbon", 11, by_letter) == "Ann lives"


def test_a_cut_below_the_first_word_is_empty() -> None:
    assert cut("Lisbon", 3, counter_of(len)) == ""
    assert cut("Lisbon", 0, Estimate()) == ""
    assert cut("Lisbon", -1, Estimate()) == ""


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    assert cut("我在里斯本住", 3, counter_of(len)) == "我在里"


def test_a_cut_is_within_the_budget_of_a_counter_that_breaks_the_laws() -> None:
    odd = counter_of(lambda text: 10 - len(text) % 7)
    for budget in range(4, 10):
        assert odd.count(cut("one two three four five six", budget, odd) or " " * 6) <= budget
