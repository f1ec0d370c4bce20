"""What a language's tables of words say, read once into sets and dicts that rules look words up in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

PRESENT: Final = "present"
THIRD: Final = "third"  # lives, works
PAST: Final = "past"
PROGRESSIVE: Final = "progressive"


class Frame(NamedTuple):
    """What a verb says: the relation, the words that tie its object to it, what the object is, and marks.

    change    its past tense tells what holds now ("moved to", "bought")
    end       it ends the relation ("sold", "quit")
    lived     its past tense tells what held ("lived in", "worked at")
    thing     its subject may be a thing ("the billing service uses …")
    taste     what somebody likes or not
    again     it says so of every time: its progressive form counts as a habit no more than others
    """

    relation: str
    ties: frozenset[str]
    object: str
    marks: frozenset[str]
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTables:
    """The words of one language. SentenceWords are in small letters."""

    speaker: frozenset[str]  # I, we
    pronouns: Mapping[str, str]  # he: he
    possessives: Mapping[str, str]  # my: "", his: he
    articles: frozenset[str]
    lists: frozenset[str]  # and, or
    adverbs: frozenset[str]  # words between subject and verb that change nothing
    effects: Mapping[str, str]  # auxiliaries and particles, and what they do to the statement
    hedges: Mapping[str, float]
    infinitives: Mapping[str, str]  # the word before "to": used: ended, want: planned
    gerunds: Mapping[str, str]  # the word before -ing: stopped: ended
    unreal: frozenset[str]  # if, wish, imagine
    asking: frozenset[str]  # words that open a question
    secrets: frozenset[str]  # password, PIN
    reporting: frozenset[str]  # said, told
    stops: frozenset[str]  # words that end an object
    ties: frozenset[str]  # prepositions
    inner: frozenset[str]  # small words inside of names: de, of
    common: frozenset[str]  # words that are no name though a sentence begins with them
    kin: Mapping[str, str]  # sister: sibling
    parties: frozenset[str]  # whom notes speak of: the user
    pets: frozenset[str]
    jobs: frozenset[str]
    frames: Mapping[str, tuple[Frame, ...]]  # by the form of the verb
    predicates: Mapping[str, tuple[Frame, ...]]  # after is/am/are: allergic, from, married
    copulas: Mapping[str, str]  # is: present
    attributes: Mapping[str, str]  # phone number: phone
    conditions: frozenset[str]
    events: Mapping[str, str]  # dentist: appointment
    classes: Mapping[str, frozenset[str]]  # what an object of a kind must have a word of: drug, language
    named_kinds: frozenset[str]  # kinds of `classes` that any name is, too
    states: Mapping[str, str]  # one word after "is": vegetarian: diet, retired: job_status
    vague: frozenset[str]  # objects that say nothing: idea, way, it
    generic: frozenset[str]  # what one may like with an article: the sea
    name_is: frozenset[str]  # between a relative and a name: heißt
    having: frozenset[str]  # have, has, 've
    naming: frozenset[str]  # called, named
    favourites: frozenset[str]
    job_verbs: Mapping[str, str]  # before "my job at": quit: ended, got: began
    aiming: Mapping[str, str]  # want: goal, plan: plan
    aims: frozenset[str]  # what one wants to do in life: learn, move
    actions: frozenset[str]  # what one asks an assistant to do
    triggers: frozenset[str]  # a text without any of these gives no facts
    since: frozenset[str]
    until: frozenset[str]
    inverts: bool = False  # its subject may follow the verb, and its participle the object: German


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


def read_mapping(text: str) -> dict[str, str]:
    """Lines of "value: word word, two words": each word with its value. A comma separates phrases."""
    found: dict[str, str] = {}
    for row in text.strip().splitlines():
        value, _, words = row.partition(":")
        split = words.split(",") if "," in words else words.split()
        for word in split:
            found[word.strip()] = value.strip()
    return found


def read_classes(text: str) -> dict[str, frozenset[str]]:
    """Lines of "class: word word": the words of each class."""
    found: dict[str, frozenset[str]] = {}
    for row in text.strip().splitlines():
        name, _, words = row.partition(":")
        found[name] = found.get(name, frozenset()) | words_of(words)
    return found


def read_frames(text: str) -> dict[str, tuple[Frame, ...]]:
    """Lines of "forms | ties | relation | object | marks".

    Forms are present, third person, past and progressive, alternatives divided by "/"; one form alone
    is a word that a copula goes before.
    """
    found: dict[str, tuple[Frame, ...]] = {}
    for row in text.strip().splitlines():
        forms, ties, relation, kind, marks = map(str.strip, row.split("|"))
        for word, form in _forms(forms):
            frame = Frame(relation, words_of(ties), kind, words_of(marks), form)
            found[word] = (*found.get(word, ()), frame)
    return found


_FORMS: Final = (PRESENT, THIRD, PAST, PROGRESSIVE)


def _forms(text: str) -> list[tuple[str, str]]:
    slots = text.split()
    found: list[tuple[str, str]] = []
    for slot, form in zip(slots, _FORMS, strict=False):
        for word in slot.split("/"):
            found.append((word, form))
    return found


@cache
def tables_of(language: str) -> WordTables | None:
    """None for a language that Eidet reads no facts in."""
    if language == "en":
        from .tables.english import ENGLISH

        return ENGLISH
    if language == "de":
        from .tables.german import GERMAN

        return GERMAN
    return None
