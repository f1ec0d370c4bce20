"""The catalogue of relations: how many values each holds at a time, its inverse, and its wording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One relation.

    single      it holds one value at a time: a new one closes the old one
    inverse     the relation of the same fact read from its object ("parent" of "child")
    symmetric   it is its own inverse ("sibling", "married")
    transitive  it carries on ("part of", "located in")
    object      what its object is: person, place, organisation, thing, event or value
    phrase      a short sentence, for profiles and explanations
    """

    name: str
    phrase: str
    single: bool = False
    inverse: str = ""
    symmetric: bool = False
    transitive: bool = False
    object: str = "thing"


def relation_of(name: str) -> Relation:
    """A relation of the catalogue, or one of your own: many-valued, with its name for its wording."""
    if known := RELATIONS.get(name):
        return known
    return Relation(name=name, phrase=f"{{subject}} {name.replace('_', ' ')} {{object}}")


_TABLE: Final = (
    Relation(name="lives_in", phrase="{subject} lives in {object}", single=True, object="place"),
    Relation(name="works_at", phrase="{subject} works at {object}", single=True, object="organisation"),
    Relation(name="likes", phrase="{subject} likes {object}"),
    Relation(name="child", phrase="{subject}'s child is {object}", inverse="parent", object="person"),
    Relation(name="parent", phrase="{subject}'s parent is {object}", inverse="child", object="person"),
    Relation(name="sibling", phrase="{subject}'s sibling is {object}", symmetric=True, object="person"),
    Relation(name="part_of", phrase="{subject} is part of {object}", transitive=True),
)
RELATIONS: Final = {relation.name: relation for relation in _TABLE}
