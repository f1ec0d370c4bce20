"""The catalogue of relations: how many values each holds at a time, its inverse, and its wording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FAVOURITE: Final = "favourite_"  # begins a relation that the text names: favourite_colour
ADJECTIVES: Final = frozenset(  # conditions that one is, not has
    {
        "allergic",
        "anaemic",
        "anemic",
        "asthmatic",
        "autistic",
        "blind",
        "deaf",
        "diabetic",
        "dyslexic",
        "epileptic",
        "intolerant",
        "pregnant",
    }
)
ATTRIBUTE: Final = "_is"  # ends a relation that the text names: "Ann's shoe size is 38" is shoe_size_is


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


def phrase_relation(name: str, value: str) -> str:
    """The sentence of a relation, with places for subject and object: one has asthma, but is diabetic."""
    if name == "condition" and value.lower().rpartition(" ")[2] in ADJECTIVES:
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
    return Relation(name=name, phrase=f"{{subject}} {words} {{object}}")


# name, phrase, object, and marks: 1 for one value at a time, = symmetric, > transitive, ~NAME for its inverse
_TABLE: Final = """
lives_in            | {subject} lives in {object}                  | place        | 1
from                | {subject} is from {object}                   | place        | 1
born_in             | {subject} was born in {object}               | place        | 1
visited             | {subject} visited {object}                   | place        |
located_in          | {subject} is in {object}                     | place        | >
address             | {subject}'s address is {object}              | value        | 1
works_at            | {subject} works at {object}                  | organisation | 1
works_as            | {subject} works as {object}                  | value        | 1
works_on            | {subject} works on {object}                  | thing        |
job_status          | {subject} is {object}                        | value        | 1
runs                | {subject} runs {object}                      | organisation | ~run_by
run_by              | {subject} is run by {object}                 | person       | ~runs
teaches             | {subject} teaches {object}                   | value        |
studies_at          | {subject} studies at {object}                | organisation | 1
studies             | {subject} studies {object}                   | value        |
graduated_from      | {subject} graduated from {object}            | organisation |
learns              | {subject} is learning {object}               | value        |
member_of           | {subject} is a member of {object}            | organisation | ~has_member
has_member          | {subject} has the member {object}            | person       | ~member_of
volunteers_at       | {subject} volunteers at {object}             | organisation |
name                | {subject}'s name is {object}                 | value        | 1
nickname            | {subject}'s nickname is {object}             | value        |
age                 | {subject} is {object} years old              | value        | 1
birthday            | {subject}'s birthday is {object}             | value        | 1
phone               | {subject}'s phone number is {object}         | value        | 1
email               | {subject}'s email address is {object}        | value        | 1
website             | {subject}'s website is {object}              | value        | 1
time_zone           | {subject}'s time zone is {object}            | value        | 1
height              | {subject} is {object} tall                   | value        | 1
weight              | {subject} weighs {object}                    | value        | 1
nationality         | {subject} is {object}                        | value        |
religion            | {subject} is {object}                        | value        | 1
pronouns            | {subject}'s pronouns are {object}            | value        | 1
relationship_status | {subject} is {object}                        | value        | 1
married_to          | {subject} is married to {object}             | person       | 1 =
engaged_to          | {subject} is engaged to {object}             | person       | 1 =
partner             | {subject}'s partner is {object}              | person       | 1 =
former_partner      | {subject}'s former partner is {object}       | person       | =
child               | {subject}'s child is {object}                | person       | ~parent
parent              | {subject}'s parent is {object}               | person       | ~child
sibling             | {subject}'s sibling is {object}              | person       | =
grandparent         | {subject}'s grandparent is {object}          | person       | ~grandchild
grandchild          | {subject}'s grandchild is {object}           | person       | ~grandparent
aunt_or_uncle       | {subject}'s aunt or uncle is {object}        | person       | ~niece_or_nephew
niece_or_nephew     | {subject}'s niece or nephew is {object}      | person       | ~aunt_or_uncle
cousin              | {subject}'s cousin is {object}               | person       | =
parent_in_law       | {subject}'s parent-in-law is {object}        | person       | ~child_in_law
child_in_law        | {subject}'s child-in-law is {object}         | person       | ~parent_in_law
sibling_in_law      | {subject}'s sibling-in-law is {object}       | person       | =
godparent           | {subject}'s godparent is {object}            | person       | ~godchild
godchild            | {subject}'s godchild is {object}             | person       | ~godparent
friend              | {subject}'s friend is {object}               | person       | =
colleague           | {subject}'s colleague is {object}            | person       | =
boss                | {subject}'s boss is {object}                 | person       | 1 ~manages
manages             | {subject} manages {object}                   | person       | ~boss
flatmate            | {subject} shares a flat with {object}        | person       | =
neighbour           | {subject}'s neighbour is {object}            | person       | =
teacher             | {subject}'s teacher is {object}              | person       | ~student
student             | {subject}'s student is {object}              | person       | ~teacher
doctor              | {subject}'s doctor is {object}               | person       |
contact             | {subject} knows {object}                     | person       |
pet                 | {subject}'s pet is {object}                  | thing        | ~pet_of
pet_of              | {subject} is a pet of {object}               | person       | ~pet
likes               | {subject} likes {object}                     | thing        |
dislikes            | {subject} dislikes {object}                  | thing        |
prefers             | {subject} prefers {object}                   | thing        |
fan_of              | {subject} is a fan of {object}               | thing        |
afraid_of           | {subject} is afraid of {object}              | thing        |
hobby               | {subject}'s hobby is {object}                | value        |
plays               | {subject} plays {object}                     | thing        |
speaks              | {subject} speaks {object}                    | value        |
skill               | {subject} is good at {object}                | value        |
collects            | {subject} collects {object}                  | thing        |
reads               | {subject} reads {object}                     | thing        |
watches             | {subject} watches {object}                   | thing        |
allergic_to         | {subject} is allergic to {object}            | thing        |
does_not_eat        | {subject} does not eat or drink {object}     | thing        |
diet                | {subject} is {object}                        | value        | 1
condition           | {subject} has {object}                       | value        |
medication          | {subject} takes {object}                     | thing        |
blood_type          | {subject}'s blood type is {object}           | value        | 1
smokes              | {subject} smokes {object}                    | value        | 1
owns                | {subject} owns {object}                      | thing        |
drives              | {subject} drives {object}                    | thing        | 1
rents               | {subject} rents {object}                     | thing        | 1
goal                | {subject}'s goal is {object}                 | value        |
plan                | {subject} plans {object}                     | value        |
appointment         | {subject} has the appointment {object}       | event        |
meeting             | {subject} has the meeting {object}           | event        |
trip                | {subject} travels to {object}                | place        |
event               | {subject} has {object}                       | event        |
deadline            | {subject}'s deadline is {object}             | value        | 1
uses                | {subject} uses {object}                      | thing        | ~used_by
used_by             | {subject} is used by {object}                | thing        | ~uses
depends_on          | {subject} depends on {object}                | thing        | > ~needed_by
needed_by           | {subject} is needed by {object}              | thing        | ~depends_on
written_in          | {subject} is written in {object}             | thing        |
version             | {subject} is at version {object}             | value        | 1
status              | {subject}'s status is {object}               | value        | 1
owner               | {subject}'s owner is {object}                | person       | 1
deployed_at         | {subject} is deployed at {object}            | thing        | 1
stored_in           | {subject} is stored in {object}              | thing        | 1
replaced_by         | {subject} was replaced by {object}           | thing        | 1
budget              | {subject}'s budget is {object}               | value        | 1
costs               | {subject} costs {object}                     | value        | 1
part_of             | {subject} is part of {object}                | thing        | >
instruction         | {subject} wants: {object}                    | value        |
"""


def _read_row(row: str) -> Relation:
    name, phrase, kind, marks = map(str.strip, row.split("|"))
    inverse = ""
    for mark in marks.split():
        if mark.startswith("~"):
            inverse = mark[1:]
    return Relation(
        name=name,
        phrase=phrase,
        object=kind,
        single="1" in marks,
        symmetric="=" in marks,
        transitive=">" in marks,
        inverse=inverse,
    )


def _read_table() -> dict[str, Relation]:
    found: dict[str, Relation] = {}
    for row in _TABLE.strip().splitlines():
        relation = _read_row(row)
        found[relation.name] = relation
    return found


RELATIONS: Final = _read_table()
