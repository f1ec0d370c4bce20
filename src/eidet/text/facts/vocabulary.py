"""The relations and words of the two tables beside this module, `relations.json` and `words.json`.

A relation has its number of values at a time, its inverse, and its wording.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from .. import words_in


def _load_table(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))
    return table


_ROWS: Final[dict[str, Any]] = _load_table("relations")["relations"]
FAVOURITE: Final = "favourite_"  # begins a relation that the text names: favourite_colour
ATTRIBUTE: Final = "_is"  # ends a relation that the text names: "Ann's shoe size is 38" is shoe_size_is


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation of the catalogue.

    single      it has one value at a time: a new one closes the old one
    inverse     the relation of the same fact read from its object ("parent" of "child")
    symmetric   it is its own inverse ("sibling", "married")
    transitive  it carries over ("part of", "located in")
    personal    only people have it
    object      the kind of its object: person, place, organisation, thing, event, value, or "" if open
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
_CONDITIONS: Final = words_in([one.replace("_", " ") for one in _ROWS["condition"]["states"]])
RELATIONS: Final = {
    name: Relation(name=name, **{field: value for field, value in row.items() if field in _FIELDS})
    for name, row in _ROWS.items()
}


def phrase_relation(name: str, value: str) -> str:
    """Returns the sentence of a relation with placeholders for subject and object."""
    if name == "condition" and value.lower().rpartition(" ")[2] in _CONDITIONS:
        return "{subject} is {object}"
    return relation_of(name).phrase


@lru_cache(maxsize=4096)
def relation_of(name: str) -> Relation:
    """Returns the relation of a name: that of the catalogue, or a new one.

    `favourite_…` and `…_is` have one value at a time; other unknown relations have many.
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


PRESENT: Final = "present"
_THIRD: Final = "third"  # lives, works
PAST: Final = "past"
PROGRESSIVE: Final = "progressive"

_PATTERN: Final = re.compile(r"(\S+)(?: ([^<]+))? <(\S+)>((?: \w+)*)")
_ORDER: Final = {"self": 2}  # "I'm Catholic" is no name
_BE: Final = ("am/are/'m/'re", "is/'s", "was/were/been")


class Frame(NamedTuple):
    """One form of a verb, the tie of its object, and its meaning; see `relations.json`."""

    relation: str
    verb: str
    form: str
    tie: tuple[str, ...]
    object: str
    marks: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The tables of the fact reader; all words are lower case."""

    frames: Mapping[str, Mapping[str, tuple[Frame, ...]]]  # by a verb's form, then by the tie's first word
    nouns: Mapping[str, str]  # phone number: phone
    kin: Mapping[str, str]  # sister: sibling; dog: pet
    states: Mapping[str, str]  # vegetarian: diet
    effects: Mapping[str, str]  # auxiliaries, and what they do to a statement
    hedges: Mapping[str, float]
    infinitives: Mapping[str, str]  # the word before "to": used: ended
    gerunds: Mapping[str, str]  # the word before -ing: stopped: ended
    classes: Mapping[str, frozenset[str]]  # an object of the kind has one of these words
    heads: Mapping[str, frozenset[str]]  # an object of the kind ends with one of these words
    adverbs: frozenset[str]  # between subject and verb; they change nothing
    asking: frozenset[str]  # open a question
    stops: frozenset[str]  # end an object
    ties: frozenset[str]  # prepositions
    inner: frozenset[str]  # inside of names: de, of
    common: frozenset[str]  # no names, though a sentence begins with them
    secrets: frozenset[str]
    reporting: frozenset[str]
    unreal: frozenset[str]  # if, wish
    he: frozenset[str]  # kin that are men
    she: frozenset[str]
    jobs: frozenset[str]
    vague: frozenset[str]  # objects that say nothing
    generic: frozenset[str]  # what one may like with "the": the sea
    actions: frozenset[str]  # what one asks an assistant to do
    polite: frozenset[str]
    leading: frozenset[str]  # before an instruction
    answers: frozenset[str]
    ever: frozenset[str]  # an action with one of these is an instruction
    bystanders: frozenset[str]  # subjects after an opening that make it no order
    openings: frozenset[str]  # what follows is an instruction
    before_actions: frozenset[str]  # what follows is one if it is an action
    occasions: frozenset[str]  # what follows the next comma is one if it is an action

    def kind_of_kin(self, role: str) -> str:
        """Returns the kind of somebody's kin: a person or, of pets, a thing."""
        return "thing" if self.kin[role] == "pet" else "person"


@cache
def load_vocabulary() -> Vocabulary:
    relations, words = _ROWS, _load_table("words")
    mapped: dict[str, Any] = {name: _invert(words[name]) for name in ("effects", "infinitives", "gerunds")}
    by_relation: dict[str, Any] = {name: _by_word(relations, name) for name in ("nouns", "states")}
    classes = {name: words_in(text) for name, text in words["classes"].items()}
    sets: dict[str, Any] = {name: words_in(text) for name, text in words["words"].items()}
    orders: dict[str, Any] = {name: frozenset(phrases) for name, phrases in words["instructions"].items()}
    pets, conditions = sets.pop("pets"), sets.pop("conditions")
    return Vocabulary(
        frames=_load_frames(relations, words["verbs"], classes),
        hedges={word: float(sure) for word, sure in _invert(words["hedges"]).items()},
        classes=classes,
        heads={"animal": pets, "condition": conditions, "profession": sets["jobs"]},
        kin=dict.fromkeys(pets, "pet") | _by_word(relations, "kin"),
        **orders,
        **mapped,
        **by_relation,
        **sets,
    )


def _invert(table: Mapping[str, str]) -> dict[str, str]:
    return {word: value for value, words in table.items() for word in words_in(words)}


def _by_word(relations: Mapping[str, Any], field: str) -> dict[str, str]:
    """Maps each word (or noun phrase) in a field of the relations to its relation."""
    found = {}
    for name, relation in relations.items():
        words = relation.get(field, "")
        for word in words if field == "nouns" else words_in(words):
            found[word] = name
    return found


def _load_frames(
    relations: Mapping[str, Any], verbs: Mapping[str, str], classes: Mapping[str, frozenset[str]]
) -> dict[str, dict[str, tuple[Frame, ...]]]:
    """Loads the frames; those whose object is of a word class come before those that take any."""
    rows = [frame for name, relation in relations.items() for frame in _list_frames(name, relation, verbs)]
    found: dict[str, dict[str, tuple[Frame, ...]]] = {}
    for word, frame in sorted(rows, key=lambda row: _ORDER.get(row[1].object, row[1].object not in classes)):
        by_tie = found.setdefault(word, {})
        first = frame.tie[0] if frame.tie else ""
        by_tie[first] = (*by_tie.get(first, ()), frame)
    return found


def _list_frames(
    name: str, relation: Mapping[str, Any], verbs: Mapping[str, str]
) -> Iterable[tuple[str, Frame]]:
    for pattern in relation.get("patterns", ()):
        parsed = _PATTERN.fullmatch(pattern)
        if parsed is None:
            raise ValueError(f"{name}: {pattern!r} is no pattern")
        ties = [tuple(tie.split()) for tie in (parsed[2] or "").split("|")]
        marks = frozenset(parsed[4].split())
        turns = not marks.isdisjoint(("begins", "ends"))  # "I quit" is then rather the past
        for verb, tie in product(parsed[1].split("|"), ties):
            for word, form in sorted(_list_forms(verb, verbs), key=lambda one: one[1] == PRESENT and turns):
                yield word, Frame(name, verb, form, tie, parsed[3], marks)


def _list_forms(verb: str, verbs: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    slots = _BE if verb == "be" else (verb, *verbs.get(verb, _inflect(verb)).split())
    for slot, form in zip(slots, (PRESENT, _THIRD, PAST, PROGRESSIVE), strict=False):
        yield from ((word, form) for word in slot.split("/"))


def _inflect(verb: str) -> str:
    """Returns the third person, past and progressive of a regular verb."""
    is_vowel_y = verb[-2:-1] in "aeiou" or verb[-1] != "y"
    stem = verb if is_vowel_y else verb[:-1] + "i"
    third = stem + ("es" if stem.endswith(("s", "sh", "ch", "x", "o", "i")) else "s")
    bare = verb.removesuffix("e")
    return f"{third} {stem.removesuffix('e')}ed {bare}ing"
