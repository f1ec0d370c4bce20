"""Recipes say how much each signal counts, and refuse what cannot be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from eidet import BadInput
from eidet.recall.recipes import AUTO, RECIPES, WEIGHTS, Recipe, recipe_of


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, "1", None])
def test_a_weight_is_a_number_from_0_up(name: str, weight: Any) -> None:
    with pytest.raises(BadInput, match=f"the weight {name}"):
        Recipe(**{name: weight})


@pytest.mark.parametrize("name", ["half_life_days", "depth", "talk_terms"])
def test_lengths_are_above_0(name: str) -> None:
    wrong: dict[str, Any] = {name: 0}
    with pytest.raises(BadInput, match="above 0"):
        Recipe(**wrong)


@pytest.mark.parametrize("nothing", [-0.1, 1.1, math.nan])
def test_nothing_is_a_score(nothing: float) -> None:
    with pytest.raises(BadInput, match="nothing must be a score"):
        Recipe(nothing=nothing)


def test_recipes_are_found_by_name() -> None:
    assert {name: recipe_of(name) for name in RECIPES} == RECIPES
    assert recipe_of("auto") is AUTO
    own = Recipe(recency=1.0)
    assert recipe_of(own) is own


@pytest.mark.parametrize("name", ["", "Auto", "none", 5, None])
def test_an_unknown_name_is_refused_with_those_there_are(name: Any) -> None:
    with pytest.raises(BadInput, match="there are auto, dialogue"):
        recipe_of(name)
