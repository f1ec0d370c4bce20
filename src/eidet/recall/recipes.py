"""Named recipes for common contents of a memory, and those from installed packages."""

from __future__ import annotations

from functools import cache
from typing import Final

from ..core.errors import BadInput, Misconfigured
from ..core.plugins import call_plugin, list_plugins, load_plugin
from ..core.recipe import WEIGHTS, Recipe

__all__ = [
    "AUTO",
    "DIALOGUE",
    "DOCUMENTS",
    "EXACT",
    "FACTS",
    "GROUP",
    "RECIPES",
    "WEIGHTS",
    "Recipe",
    "recipe_of",
]

GROUP: Final = "eidet.recipes"

DIALOGUE: Final = Recipe(
    name="dialogue",
    dense=0.5,
    words=0.45,
    context=0.8,
    speaker=0.5,
    identifier=6.0,  # above the sum of all others, so that it decides
    date=1.2,
    form=0.4,
    reply=0.33,
    question=0.13,
    asked=0.6,
    importance=0.02,
)
FACTS: Final = Recipe(
    name="facts", dense=0.5, words=0.5, speaker=0.3, date=0.6, form=0.1, asked=0.6, importance=0.05
)
DOCUMENTS: Final = Recipe(name="documents", dense=0.5, words=0.5, date=0.4, asked=0.6, importance=0.02)
EXACT: Final = Recipe(name="exact", dense=0.0, words=1.0, asked=1.0, importance=0.0)
AUTO: Final = DIALOGUE  # it adapts to long records by itself

RECIPES: Final = {"auto": AUTO, "dialogue": DIALOGUE, "facts": FACTS, "documents": DOCUMENTS, "exact": EXACT}


def recipe_of(recipe: object) -> Recipe:
    """Returns a recipe by name, also from an installed package; a `Recipe` is returned as it is."""
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str):
        kind = type(recipe).__name__
        raise BadInput(f"a recipe must be a name or a Recipe(…), not {kind}; there are {', '.join(RECIPES)}")
    return RECIPES[recipe] if recipe in RECIPES else _load_recipe(recipe)


@cache
def _load_recipe(name: str) -> Recipe:
    """Loads a registered recipe, or calls the function registered for it."""
    made = load_plugin(GROUP, name)
    if made is None:
        known = ", ".join([*RECIPES, *list_plugins(GROUP)])
        raise BadInput(f"there is no recipe named {name!r}; there are {known}, or a Recipe of your own")
    recipe = made if isinstance(made, Recipe) else call_plugin(GROUP, name, made)
    if not isinstance(recipe, Recipe):
        raise Misconfigured(f"{name!r} of {GROUP} must return a Recipe, not {recipe!r}")
    return recipe
