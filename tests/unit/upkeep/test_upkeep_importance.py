"""How much a memory matters."""

from __future__ import annotations

import pytest

from eidet.upkeep.importance import importance, measure_information

RISING = [
    ["hi", "I like tea", "I decided to move to Lisbon on 8 May."],
    [
        "ok thanks!",
        "The invoice of the plumber is paid.",
        "The invoice INV-2291 over 1,200 euros was paid by Ann on Friday.",
    ],
    [
        "How are you?",
        "Which of the two harbours of northern Portugal is the larger one?",
        "Of the two harbours of northern Portugal, Leixões is the larger one.",
    ],
    ["lol", "We went hiking.", "I promise to send Maria the contract by June 3, don't let me forget."],
    ["哈哈", "我住在里斯本", "我和安娜在2023年5月8日搬到了里斯本，住在12号"],
    ["Привет", "Я живу в городе", "Я живу в Москве с Анной с 2019 года"],
]


@pytest.mark.parametrize("texts", RISING)
def test_the_more_a_text_tells_the_more_it_matters(texts: list[str]) -> None:
    values = [measure_information(text) for text in texts]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_what_is_pinned_matters_fully() -> None:
    assert importance("hi", pinned=True, stated=0.1) == 1.0


@pytest.mark.parametrize(("stated", "value"), [(0.3, 0.3), (-5, 0.0), (7, 1.0)])
def test_what_is_stated_is_taken_at_its_word(stated: float, value: float) -> None:
    assert importance("hi", stated=stated) == value
