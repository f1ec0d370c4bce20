"""How much a memory matters."""

from __future__ import annotations

import math

import pytest

from eidet.core.errors import BadInput
from eidet.upkeep.importance import (
    Weights,
    action_importance,
    importance,
    move_score,
    state_importance,
    surprise,
)
from eidet.upkeep.informativeness import telling

NAN = math.nan


@pytest.mark.parametrize(
    ("reward", "change", "value"),
    [
        (0, 0, 0),
        (1, 0, 0.5),
        (-1, 0, 0.5),
        (0.5, 0.5, 0.5),
        (2, 1, 1),
        (None, 0.4, 0.2),
        (NAN, NAN, 0),
        (0, -1, 0),
    ],
)
def test_an_action_matters_by_reward_and_change(
    reward: float | None, change: float | None, value: float
) -> None:
    assert action_importance(reward, change) == pytest.approx(value)


@pytest.mark.parametrize(
    ("health", "reward", "value"),
    [
        (1, 0, 0.5),
        (0.1, 0, 0.9),
        (1, 4, 0.8),
        (1, -4, 0.8),
        (1, 100, 1),
        (-3, 0, 1),
        (None, None, 0.5),
        (NAN, NAN, 0.5),
        (80, 0, 0.5),
    ],
)
def test_a_state_matters_by_danger_and_reward(
    health: float | None, reward: float | None, value: float
) -> None:
    assert state_importance(health, reward) == pytest.approx(value)


@pytest.mark.parametrize(
    ("age", "ttl", "known", "score"),
    [
        (50, 100, 0.0, 0.5),
        (50, 100, 0.5, 0.25),
        (300, 100, 0.5, 1.5),
        (300, 100, 1.0, 0.0),
        (math.inf, 100, 1.0, 0.0),
        (50, 0, 0.0, 0.0),
        (50, None, 0.0, 0.0),
        (50, math.inf, 0.0, 0.0),
        (-50, 100, 0.0, 0.0),
        (NAN, 100, 0.0, 0.0),
        (50, 100, None, 0.25),
        (50, 100, 7.0, 0.0),
    ],
)
def test_old_and_unimportant_things_move_first(
    age: float, ttl: float | None, known: float | None, score: float
) -> None:
    assert move_score(age, ttl, known) == pytest.approx(score)


@pytest.mark.parametrize(("cosine", "value"), [(1.0, 0.0), (0.25, 0.75), (-1.0, 1.0), (1.1, 0.0)])
def test_what_is_far_from_all_that_is_known_surprises(cosine: float, value: float) -> None:
    assert surprise(cosine) == pytest.approx(value)


def test_nothing_surprises_where_nothing_is_known() -> None:
    assert surprise(None) is surprise(NAN) is None


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
    values = [telling(text).value for text in texts]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("My name is Ann.", "says who they are"),
        ("I'm allergic to nuts", "says who they are"),
        ("I’m from Porto", "says who they are"),
        ("She loves hiking", "states a preference"),
        ("We agreed on Postgres", "states a decision"),
        ("I'll call Bob", "makes a commitment"),
        ("We went to Rome", "tells what happened"),
        ("Where is Ann?", "only asks"),
        ("Thanks, see you later!", "small talk"),
        ("Ann paid 30 euros", "1 numbers, dates or names"),
        ("...", "says nothing"),
    ],
)
def test_what_was_noticed_is_noted(text: str, note: str) -> None:
    assert note in telling(text).notes


def test_shouting_makes_no_names() -> None:
    assert telling("WHY DOES IT NOT WORK AGAIN").notes == ()


def test_what_is_pinned_matters_fully() -> None:
    assert importance("hi", pinned=True, stated=0.1).value == 1.0


@pytest.mark.parametrize(("stated", "value"), [(0.3, 0.3), (-5, 0.0), (7, 1.0)])
def test_what_is_stated_is_taken_at_its_word(stated: float, value: float) -> None:
    assert importance("hi", stated=stated).value == value


def test_a_stated_importance_that_is_no_number_was_not_stated() -> None:
    assert importance("I like tea", stated=NAN) == importance("I like tea")


def test_what_is_not_known_leaves_its_weight_to_the_rest() -> None:
    alone = importance("I like tea")
    assert alone.parts == {"content": telling("I like tea").value}
    assert alone.value == pytest.approx(telling("I like tea").value)
    assert importance("I like tea", reward=NAN, surprise=NAN, age_days=NAN) == alone


def test_each_part_raises_what_matters() -> None:
    low = importance("tea", reward=0, surprise=0, uses=0, age_days=900)
    assert importance("tea", reward=-5, surprise=0, uses=0, age_days=900).value > low.value
    assert importance("tea", reward=0, surprise=1, uses=0, age_days=900).value > low.value
    assert importance("tea", reward=0, surprise=0, uses=9, age_days=900).value > low.value
    assert importance("tea", reward=0, surprise=0, uses=0, age_days=0).value > low.value


def test_of_several_tags_the_highest_counts_and_unknown_ones_say_nothing() -> None:
    assert importance("tea", tags=["Noise", "Decision", "green"]).parts["tagged"] == 0.9
    assert "tagged" not in importance("tea", tags=["green"]).parts


def test_without_any_weight_a_memory_is_in_the_middle() -> None:
    none = Weights(content=0, tagged=0, reward=0, surprise=0, uses=0, age=0)
    assert importance("I like tea", uses=3, weights=none).value == 0.5


@pytest.mark.parametrize(
    "wrong", [{"content": -1.0}, {"uses": NAN}, {"reward_scale": 0.0}, {"uses_scale": NAN}]
)
def test_weights_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput, match=next(iter(wrong))):
        Weights(**wrong)  # type: ignore[arg-type]
