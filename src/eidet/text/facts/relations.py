"""The catalogue of relations: how many values each holds at a time, its inverse, and its wording."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from .vocabulary import load_table, split_list

FAVOURITE: Final = "favourite_"  # begins a relation that the text names: favourite_colour
ATTRIBUTE: Final = "_is"  # ends a relation that the text names: "Ann's shoe size is 38" is shoe_size_is


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One relation.

    single      it holds one value at a time: a new one closes the old one
    inverse     the relation of the same fact read from its object ("parent" of "child")
    symmetric   it is its own inverse ("sibling", "married")
    transitive  it carries on ("part of", "located in")
    personal    only people have it
    object      what its object is: person, place, organisation, thing, event or value; "" where nobody says
    phrase      a short sentence, for profiles and explanations
    """

    name: str
    phrase: str
    single: bool = False
    inverse: str = ""
    symmetric: bool = False
    transitive: bool = False
    personal: bool = False
    object: str = "thing"


_FIELDS: Final = frozenset(field.name for field in fields(Relation))
_TABLE: Final = load_table("relations")["relations"]
_CONDITIONS: Final = frozenset(" ".join(split_list(_TABLE["condition"]["states"])).replace("_", " ").split())
RELATIONS: Final = {
    name: Relation(name=name, **{field: value for field, value in row.items() if field in _FIELDS})
    for name, row in _TABLE.items()
}


def phrase_relation(name: str, value: str) -> str:
    """The sentence of a relation, with places for subject and object: one has asthma, but is diabetic."""
    if name == "condition" and value.lower().rpartition(" ")[2] in _CONDITIONS:
        return "{subject} is {object}"
    return relation_of(name).phrase


def relation_of(name: str) -> Relation:
    """A relation of the catalogue, or one that a text or a caller names.

    `favourite_…` and `…_is` hold one value at a time; other unknown relations hold many.
    """
    if known := RELATIONS.get(name):
        return known
    words = name.replace("_", " ")
    if name.startswith(FAVOURITE):
        return Relation(name=name, phrase=f"{{subject}}'s {words} is {{object}}", single=True)
    if name.endswith(ATTRIBUTE):
        phrase = f"{{subject}}'s {words.removesuffix(' is')} is {{object}}"
        return Relation(name=name, phrase=phrase, single=True, object="value")
    return Relation(name=name, phrase=f"{{subject}} {words} {{object}}", object="")
