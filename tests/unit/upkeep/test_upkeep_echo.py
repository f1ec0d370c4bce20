"""What was just recalled and is said again is told from what is new."""

from __future__ import annotations

import pytest

from eidet.core.errors import BadInput
from eidet.upkeep.echo import Echoes, EchoLimits

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


def test_of_the_same_text_twice_the_latest_is_named(echoes: Echoes) -> None:
    echoes.note("ann again", ANN, 1.0)
    assert echoes.is_echo(ANN, 2.0) == "ann again"


def test_after_a_while_it_is_no_echo_any_more() -> None:
    heard = Echoes(EchoLimits(seconds=60))
    heard.note("ann", ANN, 0.0)
    assert heard.is_echo(ANN, 60.0) == "ann"
    assert heard.is_echo(ANN, 60.1) is None
    assert len(heard) == 0


def test_noted_again_it_counts_from_then() -> None:
    heard = Echoes(EchoLimits(seconds=60))
    heard.note("ann", ANN, 0.0)
    heard.note("ann", ANN, 50.0)
    assert heard.is_echo(ANN, 100.0) == "ann"
    assert len(heard) == 1


def test_only_so_many_are_kept_in_mind() -> None:
    heard = Echoes(EchoLimits(texts=2))
    for n in range(5):
        heard.note(str(n), f"Ann has {n} cats in Lisbon", float(n))
    assert len(heard) == 2
    assert heard.is_echo("Ann has 2 cats in Lisbon", 5.0) is None
    assert heard.is_echo("Ann has 4 cats in Lisbon", 5.0) == "4"


def test_noted_again_it_is_the_last_to_go() -> None:
    heard = Echoes(EchoLimits(texts=2))
    for id, text in (("ann", ANN), ("bob", BOB), ("ann", ANN), ("rent", RENT)):
        heard.note(id, text, 0.0)
    assert heard.is_echo(ANN, 1.0) == "ann"
    assert heard.is_echo(BOB, 1.0) is None


def test_a_clock_set_back_forgets_nothing(echoes: Echoes) -> None:
    assert echoes.is_echo(ANN, -1e9) == "ann"


def test_a_text_without_words_is_not_kept() -> None:
    heard = Echoes()
    heard.note("dots", "...", 0.0)
    assert len(heard) == 0
    assert heard.is_echo("...", 0.0) is None


def test_other_scripts_echo_too() -> None:
    heard = Echoes()
    heard.note("li", "我和两只猫住在里斯本", 0.0)
    assert heard.is_echo("我和两只猫住在里斯本", 1.0) == "li"
    assert heard.is_echo("我和两只猫住在波尔图", 1.0) is None


@pytest.mark.parametrize("noted", ["I do not live in Lisbon with Ann.", "I don't live in Lisbon with Ann."])
def test_what_leaves_out_a_negation_is_no_echo(noted: str) -> None:
    heard = Echoes()
    heard.note("not", noted, 0.0)
    assert heard.is_echo("I live in Lisbon with Ann.", 1.0) is None


def test_a_sign_can_be_what_is_new() -> None:
    heard = Echoes()
    heard.note("cold", "It is -5 degrees in Oslo today", 0.0)
    assert heard.is_echo("It is 5 degrees in Oslo today", 1.0) is None
    assert heard.is_echo("It is -5 degrees in Oslo today!", 1.0) == "cold"


def test_limits_that_keep_nothing_are_refused() -> None:
    with pytest.raises(BadInput, match="above 0"):
        EchoLimits(seconds=0)
    with pytest.raises(BadInput, match="above 0"):
        EchoLimits(texts=0)
