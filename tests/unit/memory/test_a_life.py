"""Forty sentences of five years, told in any order: a question for every year has the answer of that year."""

from __future__ import annotations

import random

import pytest
from tests.making import Clock

from eidet import Memory

NOW = 1_740_000_000.0  # in February 2025

# (when it was said, what was said)
LIFE = [
    ("2020-01-05", "My name is Ann Lee."),
    ("2020-01-05", "I live in Lisbon."),
    ("2020-01-06", "I work at Acme."),
    ("2020-01-06", "I like jazz."),
    ("2020-02-01", "My brother Tom lives in Faro."),
    ("2020-02-11", "I speak Portuguese."),
    ("2020-03-03", "I drive a Fiat."),
    ("2020-05-20", "My favourite colour is green."),
    ("2020-06-01", "Tom works at Beta."),
    ("2020-09-09", "I am allergic to peanuts."),
    ("2021-01-10", "I moved to Porto."),
    ("2021-01-20", "Tom likes chess."),
    ("2021-02-02", "I speak German."),
    ("2021-03-15", "I quit Acme."),
    ("2021-04-01", "I work at Core."),
    ("2021-05-05", "My favourite colour is blue."),
    ("2021-06-06", "My sister Maria lives in Braga."),
    ("2021-07-07", "I like chess."),
    ("2021-08-08", "I like jazz."),
    ("2021-11-11", "Tom moved to Madrid."),
    ("2022-01-15", "I married Bob."),
    ("2022-02-15", "I own a boat."),
    ("2022-03-20", "Bob works at Delta."),
    ("2022-05-01", "I moved to Rome."),
    ("2022-06-10", "Maria works at Acme."),
    ("2022-07-01", "I no longer like jazz."),
    ("2022-08-30", "My favourite colour is red."),
    ("2022-10-10", "Tom works at Gamma."),
    ("2022-12-24", "I speak Italian."),
    ("2023-01-31", "I moved to Oslo."),
    ("2023-02-14", "I work at Epsilon."),
    ("2023-03-03", "I drive a Volvo."),
    ("2023-04-04", "I sold the boat."),
    ("2023-06-21", "Maria moved to Porto."),
    ("2023-09-01", "Tom moved to Lisbon."),
    ("2023-12-12", "I like skiing."),
    ("2024-02-02", "I moved to Bergen."),
    ("2024-04-14", "Bob works at Zeta."),
    ("2024-08-08", "I like tea."),
    ("2024-10-10", "My favourite colour is yellow."),
]
YEARS = ("2020-12-31", "2021-12-31", "2022-12-31", "2023-12-31", "2024-12-31")
# who, relation -> what holds at the end of each year
ANSWERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("Ann", "lives_in"): ("Lisbon", "Porto", "Rome", "Oslo", "Bergen"),
    ("Ann", "works_at"): ("Acme", "Core", "Core", "Epsilon", "Epsilon"),
    ("Ann", "favourite_colour"): ("green", "blue", "red", "red", "yellow"),
    ("Ann", "drives"): ("Fiat", "Fiat", "Fiat", "Volvo", "Volvo"),
    ("Ann", "married_to"): ("", "", "Bob", "Bob", "Bob"),
    ("Ann", "owns"): ("", "", "boat", "", ""),
    ("Ann", "likes"): ("jazz", "chess jazz", "chess", "chess skiing", "chess skiing tea"),
    ("Ann", "speaks"): ("Portuguese", *["German Portuguese"], *["German Italian Portuguese"] * 3),
    ("Tom", "lives_in"): ("Faro", "Madrid", "Madrid", "Lisbon", "Lisbon"),
    ("Tom", "works_at"): ("Beta", "Beta", "Gamma", "Gamma", "Gamma"),
    ("Maria", "lives_in"): ("", "Braga", "Braga", "Porto", "Porto"),
    ("Bob", "works_at"): ("", "", "Delta", "Delta", "Zeta"),
}


@pytest.mark.parametrize("order", range(3))
def test_every_year_has_its_answer_whatever_order_it_was_told_in(order: int) -> None:
    told = list(LIFE)
    if order:
        random.Random(order).shuffle(told)
    with Memory(embedder="hashing", clock=Clock(NOW, tick=0.001)) as memory:
        for day, text in told:
            memory.remember(text, occurred=day, session="life")
        for (who, relation), answers in ANSWERS.items():
            for year, expected in zip(YEARS, answers, strict=True):
                found = memory.facts.match(
                    subject=who, relation=relation, object="?x", as_of=year, infer=False
                )
                assert " ".join(sorted(one["x"] for one in found)) == expected, (who, relation, year)
        assert memory.facts.contradictions() == []
