"""Statements of attributes: "my phone number is …", "Ann's favourite colour is blue"."""

from __future__ import annotations

import re
from typing import Final

from .moods import read_mood
from .relations import ATTRIBUTE, FAVOURITE
from .sentence_reading import SentenceReading
from .statement import VALUE, Mention, Nature
from .valid_times import Validity
from .whose import owner_mention, owner_name
from .word_tables import PRESENT, WordTables

_PHONE: Final = re.compile(r"\+?\(?\d[\d ().\-/]{5,20}\d")
_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")
_PATTERNS: Final = {
    "phone": _PHONE,
    "email": _EMAIL,
    "website": re.compile(r"(?:https?://)?[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}(?:/[\w./-]{0,200})?"),
    "age": re.compile(r"\d{1,3}\b"),
}
_LONGEST_TEXT: Final = 120  # characters of a value
_BEFORE: Final = frozenset(
    [
        "and",
        "but",
        "so",
        "think",
        "know",
        "said",
        "says",
        "remember",
        "btw",
        "yes",
        "yeah",
        "well",
        "also",
        "hi",
        "hello",
    ]
)
_OF: Final = frozenset({"of", "for", "von"})


def read_attribute(reading: SentenceReading, copula: int) -> bool:
    """Whether the words before a copula are an attribute of somebody, and so were dealt with here."""
    words = reading.words
    mood = read_mood(words, copula, reading.tables, PRESENT)
    if {"unreal", "will", "may", "not"} & mood.effects or words.low[copula] in ("been", "be"):
        return False
    end = mood.subject_end
    held = _find_owner(reading, end) or _of_something(reading, end)
    if held is None:
        return False
    owner, name = held
    if _names_somebody(reading, end - len(name) + 1, end):
        return False
    begin = copula + 1
    while words.low[begin] in reading.tables.adverbs:
        begin += 1
    if words.low[begin] in ("not", "n't", "called", "named"):
        return False
    begin += words.low[begin] == "in" and name[-1] in ("home", "hometown")
    past = reading.tables.copulas[words.low[copula]] == "past"
    return _say(reading, owner, name, begin, past)


def _names_somebody(reading: SentenceReading, first: int, last: int) -> bool:
    """Whether the words are somebody with a name: "my daughter Ivy" is no attribute of mine."""
    role, tables = reading.words.low[first], reading.tables
    return (
        first < last and (role in tables.kin or role in tables.pets) and reading.mentions.is_name(first + 1)
    )


def _find_owner(reading: SentenceReading, end: int) -> tuple[Mention, list[str]] | None:
    """My phone number · Ann's favourite colour: the owner and the words of the attribute."""
    low, tables, at = reading.words.low, reading.tables, end
    while end - at < 4 and at > 0:
        if low[at] in tables.possessives or low[at] == "'s":
            break
        if not low[at][0].isalpha() or low[at] in tables.stops or low[at] in tables.effects:
            return None
        at -= 1
    if at == end or not (low[at] in tables.possessives or low[at] == "'s"):
        return None
    name = low[at + 1 : end + 1]
    if low[at] in tables.possessives:
        if low[at - 1][:1].isalnum() and low[at - 1] not in tables.stops and low[at - 1] not in _BEFORE:
            return None
        owner = tables.possessives[low[at]]
        return owner_mention(owner), name
    subjects, _ = reading.mentions.subjects(at - 1, things=True)
    if len(subjects) != 1:
        return None
    return subjects[0], name


def _of_something(reading: SentenceReading, end: int) -> tuple[Mention, list[str]] | None:
    """The owner of the billing service · the deadline for Apollo · the deadline."""
    low, tables = reading.words.low, reading.tables
    for at in range(max(end - 6, 2), end + 1):
        if low[at + 1] in _OF and at + 1 < end and _is_attribute(low, at, tables):
            objects, after = reading.mentions.objects(at + 2, "thing")
            if len(objects) == 1 and after == end + 1:
                return objects[0], [low[at]]
    return None


def _is_attribute(low: list[str], at: int, tables: WordTables) -> bool:
    """The owner · the due date."""
    if low[at] in tables.attributes and low[at - 1] in tables.articles:
        return True
    return f"{low[at - 1]} {low[at]}" in tables.attributes and low[at - 2] in tables.articles


def _say(reading: SentenceReading, owner: Mention, name: list[str], begin: int, past: bool) -> bool:
    tables = reading.tables
    if name[0] in tables.favourites:
        return _say_favourite(reading, owner, name[1:], begin, past)
    if name[-1] in tables.kin or name[-1] in tables.pets:
        return _say_kin(reading, owner, name[-1], begin, past)
    if owner.role and not owner.name and name[-1] == "name":
        return _say_kin(reading, owner_mention(owner.role and owner.owner), owner.role, begin, past)
    relation = _relation(reading, name)
    value = _value(reading, relation, begin)
    if value is None:
        return False
    if relation.endswith(ATTRIBUTE) and not _is_plain_name(name, reading):
        return False
    reading.add([owner], relation, [value], ended=past, confidence=reading.confidence_at(begin))
    reading.subject = [owner]
    return True


def _relation(reading: SentenceReading, name: list[str]) -> str:
    for size in (3, 2, 1):
        if size < len(name) and name[-1] == "number":
            break
        if found := reading.tables.attributes.get(" ".join(name[-size:])):
            return found
    return "_".join(name) + ATTRIBUTE


def _is_plain_name(name: list[str], reading: SentenceReading) -> bool:
    if name[-1] in reading.tables.vague or name[-1] in reading.tables.ties:
        return False
    return all(word not in reading.tables.articles and word not in reading.tables.lists for word in name)


def _say_favourite(reading: SentenceReading, owner: Mention, name: list[str], begin: int, past: bool) -> bool:
    if not name or past:
        return False
    objects, _ = reading.mentions.objects(begin, "activity")
    if not objects or objects[0].name.lower() in reading.tables.vague:
        return False
    relation = FAVOURITE + "_".join(name)
    sure = reading.confidence_at(begin)
    reading.add([owner], relation, objects[:3], confidence=sure, nature=Nature.PREFERENCE)
    return True


def _say_kin(reading: SentenceReading, owner: Mention, role: str, begin: int, past: bool) -> bool:
    """My sister is Maria. "My sister is a nurse" is no attribute."""
    tables = reading.tables
    low = reading.words.low
    if low[begin] in tables.naming:
        begin += 1
    objects, _ = reading.mentions.objects(begin, "name")
    if not objects or low[begin] in tables.states or low[begin] in tables.predicates:
        return False
    relation = tables.kin.get(role, "pet")
    kind = "thing" if relation == "pet" else "person"
    named = owner_name(owner)
    people: list[Mention] = []
    for item in objects:
        people.append(Mention(name=item.name, kind=kind, role=role, owner=named))
    reading.add([owner], relation, people, ended=past, confidence=reading.confidence_at(begin))
    return True


def _value(reading: SentenceReading, relation: str, begin: int) -> Mention | None:
    """What follows, if it is a value of the relation."""
    words = reading.words
    if begin > words.last:
        return None
    rest = words.text[words.starts[begin] : words.ends[words.last]]
    if relation in _PATTERNS:
        return _text_value(_PATTERNS[relation].match(rest))
    if relation in ("birthday", "deadline"):
        return _date_value(reading, begin)
    if relation in ("address", "goal"):
        return Mention(name=rest[:_LONGEST_TEXT].removeprefix("to ").strip(), kind=VALUE)
    if relation == "works_as" and reading.tables.jobs.isdisjoint(words.low[begin : begin + 5]):
        return None
    return _open_value(reading, relation, begin)


def _text_value(found: re.Match[str] | None) -> Mention | None:
    if found is None:
        return None
    return Mention(name=found[0].strip(), kind=VALUE)


def _date_value(reading: SentenceReading, begin: int) -> Mention | None:
    """A date as it is written: "3 May"; the words before it ("on") do not matter."""
    start = reading.words.starts[begin]
    for found in reading.dated:
        if start <= found.start <= start + 12:
            return Mention(name=found.text, kind=VALUE)
    return None


_NAMED: Final = frozenset({"name", "nickname", "from", "owner"})
_FREE: Final = frozenset(
    {"status", "works_as", "hobby", "studies", "nationality", "religion", "pronouns", "budget", "time_zone"}
)


def _open_value(reading: SentenceReading, relation: str, begin: int) -> Mention | None:
    """A name or a number for any attribute; other words for those that have some."""
    words = reading.words
    objects, _ = reading.mentions.objects(begin, "name")
    if objects:
        return Mention(name=objects[0].name, kind="person" if relation == "owner" else _kind(relation))
    if words.low[begin] in ("$", "€", "£") and words.low[begin + 1][:1].isdigit():
        return Mention(name=words.cut(begin, begin + 2), kind=VALUE)
    if words.low[begin][:1].isdigit() or (words.low[begin][:1] in "v$€£" and words.low[begin][1:2].isdigit()):
        after = (
            begin + 1 + (words.low[begin + 1].isalpha() and words.low[begin + 1] not in reading.tables.stops)
        )
        return Mention(name=words.cut(begin, min(after, words.last + 1)), kind=VALUE)
    if relation in _FREE:
        free, _ = reading.mentions.objects(begin, "value")
        return free[0] if free else None
    return None


def _kind(relation: str) -> str:
    if relation in ("from", "lives_in"):
        return "place"
    return VALUE


__all__ = ["Validity", "read_attribute"]
