"""What was just recalled and is said again is told from what is new."""

from __future__ import annotations

import pytest

from eidet.write.echoes import Echoes

ANN = "Ann lives in Lisbon with two cats."
BOB = "Bob works at Acme since 2019."
RENT = "The rent is not 900 euros but 950 euros."


@pytest.fixture
def echoes() -> Echoes:
    heard = Echoes()
    for id, text in (("ann", ANN), ("bob", BOB), ("rent", RENT)):
        heard.note(id, text, 0.0)
    return heard


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (ANN, "ann"),
        ("ann lives in lisbon, with two cats", "ann"),
        ("As I remember, Ann lives in Lisbon with two cats.", "ann"),
        ("You told me that Ann lives in Lisbon with two cats!", "ann"),
        ("According to my memory: Bob works at Acme since 2019. Thanks.", "bob"),
        ("Bob works at Acme since 2019. Ann lives in Lisbon with two cats.", "ann"),
        (RENT, "rent"),
    ],
)
def test_what_is_said_again_is_an_echo(echoes: Echoes, text: str, id: str) -> None:
    assert echoes.is_echo(text, 1.0) == id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "Ann",
        "in Lisbon",
        "Ann lives in Porto",
        "Ann lives in Porto with two cats.",
        "Ann lives in Lisbon with three cats.",
        "Ann lives in Lisbon with 3 cats.",
        "Carla lives in Lisbon with two cats.",
        "She lives in Lisbon with two cats.",
        "It is not true that Ann lives in Lisbon with two cats.",
        "Ann lives in Lisbon with two cats no more.",
        "I don't think Ann lives in Lisbon with two cats.",
        "Ann lives in Lisbon with two cats, but Bob moved out.",
        "As I remember, Ann lives in Lisbon with two cats. She is looking for a flat in Porto now.",
        "Bob works at Acme since 2021.",
        "Ann lives in Lisbon without two cats.",
        "The rent is 950 euros.",
        "Ann lives in Lisbon",
        "Ann lives in Lisbon with two cats and Bob works at Acme since 2019",
    ],
)
def test_what_says_something_new_is_no_echo(echoes: Echoes, text: str) -> None:
    assert echoes.is_echo(text, 1.0) is None


def test_a_short_text_echoes_only_the_very_same() -> None:
    heard = Echoes()
    heard.note("yes", "Yes, please", 0.0)
    assert heard.is_echo("yes please", 1.0) == "yes"
    assert heard.is_echo("yes", 1.0) is None


def test_after_a_while_it_is_no_echo_any_more() -> None:
    heard = Echoes(seconds=60)
    heard.note("ann", ANN, 0.0)
    assert heard.is_echo(ANN, 60.0) == "ann"
    assert heard.is_echo(ANN, 60.1) is None
    assert len(heard) == 0


def test_other_scripts_echo_too() -> None:
    heard = Echoes()
    heard.note("li", "我和两只猫住在里斯本", 0.0)
    assert heard.is_echo("我和两只猫住在里斯本", 1.0) == "li"
    assert heard.is_echo("我和两只猫住在波尔图", 1.0) is None


def test_a_sign_can_be_what_is_new() -> None:
    heard = Echoes()
    heard.note("cold", "It is -5 degrees in Oslo today", 0.0)
    assert heard.is_echo("It is 5 degrees in Oslo today", 1.0) is None
    assert heard.is_echo("It is -5 degrees in Oslo today!", 1.0) == "cold"
