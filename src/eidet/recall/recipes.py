"""Recipes: how much each signal counts. Named ones for what people keep in a memory."""

from __future__ import annotations

import math
from dataclasses import fields
from functools import cache
from typing import Final

from ..core.errors import BadInput, Misconfigured
from ..core.plugins import call_plugin, list_plugins, load_plugin
from ..core.value_classes import dataclass

GROUP: Final = "eidet.recipes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Weights are relative; a signal of weight 0 is not looked at.

    dense       nearness of the vectors, smoothed over the turns before and after
    words       how well the words align with those asked for, or BM25
    context     the best match within six turns of the same session
    speaker     said by the one who is asked about; a fact that nobody said counts if it names them
    entity      has the other names that the query has
    identifier  has the number, code, path or version that the query names
    date        happened at, or speaks of, the time that is asked about
    form        has what is asked for: a time, a number, a name
    reply       answers another speaker's matching question
    echo        says no more than the query does (counts against it)
    part        is a long document whose best part has few of the words (counts against it)
    question    is itself a question, which seldom answers one (counts against it)
    asked       is of the session, kind or place, or has the phrase, that the query names
    importance, recency, uses

    Signals of a conversation (context, smoothing, reply, question) fade out for records longer than
    `talk_terms` terms: they help among turns and hurt among long messages. When even the best score
    is below `nothing`, nothing is answered.
    """

    name: str = "own"
    dense: float = 0.4
    words: float = 0.6
    context: float = 0.0
    speaker: float = 0.0
    entity: float = 0.0
    identifier: float = 0.0
    date: float = 0.0
    form: float = 0.0
    reply: float = 0.0
    question: float = 0.0
    echo: float = 0.0
    part: float = 0.0
    asked: float = 0.0
    importance: float = 0.05
    recency: float = 0.0
    uses: float = 0.0
    half_life_days: float = 30.0
    talk_terms: int = 28
    nothing: float = 0.015
    depth: int = 400

    def __post_init__(self) -> None:
        for name in WEIGHTS:
            weight = getattr(self, name)
            if not (isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0):
                raise BadInput(f"the weight {name} must be a number from 0 up, not {weight!r}")
        if not self.half_life_days > 0 or self.depth < 1 or self.talk_terms < 1:
            raise BadInput("half_life_days, talk_terms and depth are above 0")
        if not 0 <= self.nothing <= 1:
            raise BadInput(f"nothing must be a score from 0 to 1, not {self.nothing!r}")


_SETTINGS: Final = {"name", "half_life_days", "talk_terms", "nothing", "depth"}
WEIGHTS: Final = tuple(field.name for field in fields(Recipe) if field.name not in _SETTINGS)

DIALOGUE: Final = Recipe(
    name="dialogue",
    dense=0.5,
    words=0.45,
    context=0.8,
    speaker=0.5,
    entity=0.15,
    identifier=6.0,  # above the sum of all others: it decides
    date=1.2,
    form=0.4,
    reply=0.33,
    question=0.13,
    echo=2.0,
    part=1.0,
    asked=0.6,
    importance=0.02,
)
FACTS: Final = Recipe(
    name="facts", dense=0.5, words=0.5, speaker=0.3, date=0.6, form=0.1, asked=0.6, importance=0.05
)
DOCUMENTS: Final = Recipe(name="documents", dense=0.5, words=0.5, date=0.4, asked=0.6, importance=0.02)
EXACT: Final = Recipe(name="exact", dense=0.0, words=1.0, asked=1.0, importance=0.0)
AUTO: Final = DIALOGUE  # fades into what suits long records by itself

RECIPES: Final = {"auto": AUTO, "dialogue": DIALOGUE, "facts": FACTS, "documents": DOCUMENTS, "exact": EXACT}


def recipe_of(recipe: object) -> Recipe:
    """A recipe by its name, one that an installed package offers included, or itself."""
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str):
        kind = type(recipe).__name__
        raise BadInput(f"a recipe must be a name or a Recipe(…), not {kind}; there are {', '.join(RECIPES)}")
    if recipe in RECIPES:
        return RECIPES[recipe]
    return _load_recipe(recipe)


@cache
def _load_recipe(name: str) -> Recipe:
    """What a package offers under a name: a recipe, or a function that makes one."""
    made = load_plugin(GROUP, name)
    if made is None:
        known = ", ".join([*RECIPES, *list_plugins(GROUP)])
        raise BadInput(f"there is no recipe named {name!r}; there are {known}, or a Recipe of your own")
    if isinstance(made, Recipe):
        recipe = made
    else:
        recipe = call_plugin(GROUP, name, made)
    if not isinstance(recipe, Recipe):
        raise Misconfigured(f"{name!r} of {GROUP} must return a Recipe, not {recipe!r}")
    return recipe
