"""Parses "is" with attributes, kin and favourites: "my phone number is …", "Tom is my boss"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from .clauses import SentenceReading
from .moods import Mood, detect_mood
from .object_phrases import NAMING
from .statement import VALUE, Mention, Nature
from .subject_phrases import OWNERS, mention_owner, name_owner
from .vocabulary import ATTRIBUTE, FAVOURITE, PRESENT

_PATTERNS: Final = {
    "phone": re.compile(r"\+?\(?\d[\d ().\-/]{5,20}\d"),
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}"),
    "website": re.compile(r"(?:https?://)?[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}(?:/[\w./-]{0,200})?"),
    "age": re.compile(r"\d{1,3}\b"),
}
_NUMBER: Final = re.compile(r"[v$€£]?\s?\d[\w.,:/-]*(?:\s[A-Za-z%]+)?")
_LONGEST_TEXT: Final = 120  # characters of a value
_FAVOURITES: Final = frozenset(("favourite", "favorite", "fav", "fave"))
_NEW: Final = frozenset(("new", "current", "latest", "updated", "own"))
_OLD: Final = frozenset(("old", "former", "previous"))
_UNREAL: Final = frozenset(("unreal", "will", "may", "not", "none"))
_FREE: Final = frozenset(  # attributes whose value may be any words
    ("status", "works_as", "hobby", "studies", "nationality", "religion", "pronouns", "budget", "time_zone")
)


def parse_is(reading: SentenceReading, copula: int) -> bool:
    """Parses a form of "be" with an attribute, a favourite or kin; returns False for any other clause."""
    mood = detect_mood(reading.words, copula, reading.known, PRESENT)
    if _UNREAL & mood.effects or reading.low[copula] == "been":
        return False
    past = reading.low[copula] in ("was", "were")
    if reading.low[copula] != "'s" and _parse_attribute(reading, copula, mood.subject_end, past):
        return True
    return _parse_kin_of(reading, copula, mood, past)


def _parse_attribute(reading: SentenceReading, copula: int, end: int, past: bool) -> bool:
    """Parses "my phone number is …" or "Ann's favourite colour is …"; returns False for other clauses."""
    low = reading.low
    held = _find_owner(reading, end)
    if held is None:
        return False
    owner, name = held
    begin = copula + 1
    if low[begin] in ("not", "n't", "called", "named"):
        return False
    return _say(reading, owner, name, begin, past)


def _find_owner(reading: SentenceReading, end: int) -> tuple[Mention, list[str]] | None:
    """Parses "my phone number" or "Ann's favourite colour" into the owner and the words of the attribute."""
    low = reading.low
    at = next((at for at in range(end - 1, max(end - 6, 0), -1) if low[at] in OWNERS or low[at] == "'s"), 0)
    if not at:
        return None
    name = low[at + 1 : end + 1]
    if reading.words.capital(end) or not all(word[0].isalpha() for word in name):
        return None  # "my daughter Ivy" is a person
    if low[at] in OWNERS:
        return mention_owner(OWNERS[low[at]]), name
    subjects, _ = reading.before.subjects(at - 1)
    return (subjects[0], name) if len(subjects) == 1 else None


def _say(reading: SentenceReading, owner: Mention, name: list[str], begin: int, past: bool) -> bool:
    known = reading.known
    if name[0] in _FAVOURITES:
        return _say_favourite(reading, owner, name[1:], begin, past)
    if name[-1] in known.kin or name[-1] in known.pets:
        return _say_kin(reading, owner, name[-1], begin, past)
    if owner.role and not owner.name and name[-1] == "name":
        return _say_kin(reading, mention_owner(owner.owner), owner.role, begin, past)
    if len(name) > 1 and (name[0] in _NEW or name[0] in _OLD):
        past = past or name[0] in _OLD
        name = name[1:]
    relation = _find_relation(reading, name)
    value = _find_value(reading, relation, begin)
    if value is None:
        return False
    reading.add(begin, [owner], relation, [value], ended=past)
    reading.subject = [owner]
    return True


def _find_relation(reading: SentenceReading, name: list[str]) -> str:
    """Returns the catalogue's relation for an attribute, or one by its name ("jersey number" is no phone)."""
    sizes = [len(name)] if name[-1] == "number" else range(min(len(name), 3), 0, -1)
    found = (reading.known.nouns.get(" ".join(name[-size:])) for size in sizes)
    return next(filter(None, found), "_".join(name) + ATTRIBUTE)


def _find_value(reading: SentenceReading, relation: str, begin: int) -> Mention | None:
    """Parses the value that follows; None if it does not fit the relation."""
    words = reading.words
    if begin > words.last:
        return None
    rest = words.text[words.starts[begin] : words.end(words.last)]
    if pattern := _PATTERNS.get(relation):
        found = pattern.match(rest)
        return Mention(name=found[0].strip(), kind=VALUE) if found else None
    if relation in ("birthday", "deadline"):
        start = words.starts[begin]
        dates = (one.text for one in reading.dated if start <= one.start <= start + 12)
        return next((Mention(name=text, kind=VALUE) for text in dates), None)
    if relation == "address":
        return Mention(name=rest[:_LONGEST_TEXT].strip(), kind=VALUE)
    if relation == "works_as" and reading.known.jobs.isdisjoint(words.low[begin : begin + 5]):
        return None
    return _find_open_value(reading, relation, begin, rest)


def _find_open_value(reading: SentenceReading, relation: str, begin: int, rest: str) -> Mention | None:
    """Parses a name or a number for any attribute; other words only for attributes that allow them."""
    objects, _ = reading.after.objects(begin, "name")
    if objects:
        kind = {"owner": "person", "from": "place", "lives_in": "place"}.get(relation, VALUE)
        return Mention(name=objects[0].name, kind=kind)
    if number := _NUMBER.match(rest):
        return Mention(name=number[0], kind=VALUE)
    if relation in _FREE:
        free, _ = reading.after.objects(begin, "value")
        return free[0] if free else None
    return None


# --- favourites


def _say_favourite(reading: SentenceReading, owner: Mention, name: list[str], begin: int, past: bool) -> bool:
    """Adds the preference of "my favourite colour is blue"; returns whether there is one."""
    objects, _ = reading.after.objects(begin, "activity")
    if not name or past or not objects:
        return False
    reading.add(begin, [owner], FAVOURITE + "_".join(name), objects[:3], nature=Nature.PREFERENCE)
    return True


# --- kin


def _say_kin(reading: SentenceReading, owner: Mention, role: str, begin: int, past: bool) -> bool:
    """Adds the names of "my sister is Maria"; returns False without one, as for "my sister is a nurse"."""
    names, _ = reading.after.objects(begin, "name")
    _add_kin(reading, owner, role, names, begin, ended=past)
    return bool(names)


def _add_kin(
    reading: SentenceReading, owner: Mention, role: str, names: list[Mention], at: int, ended: bool = False
) -> None:
    relation = reading.known.kin.get(role, "pet")
    kind, named = "thing" if relation == "pet" else "person", name_owner(owner)
    people = [Mention(name=one.name, kind=kind, role=role, owner=named) for one in names]
    reading.add(at, [owner], relation, people, ended=ended)


def _parse_kin_of(reading: SentenceReading, copula: int, mood: Mood, past: bool) -> bool:
    """Parses "Tom is my boss" or "Maria is Ann's sister"; returns False for other clauses."""
    low, known, at = reading.low, reading.known, copula + 1
    end = next((at + far for far in range(6) if low[at + far] in known.kin or low[at + far] in known.pets), 0)
    owner = reading.before.owner_before(end - 1)
    if owner is None or owner[1] != at:
        return False
    subjects = reading.subjects_before(mood.subject_end)
    kind = "person" if low[end] in known.kin else "thing"
    people = [replace(one, kind=kind, role=low[end], owner=owner[0]) for one in subjects]
    relation = known.kin.get(low[end], "pet")
    reading.add(copula, [mention_owner(owner[0])], relation, people, sure=mood.confidence, ended=past)
    return bool(people)


def parse_kin(reading: SentenceReading, at: int) -> None:
    """Parses kin outside a clause with "be": "my sister Maria", "Ann's husband, Tom,"."""
    owner = reading.before.owner_before(at - 1)
    if owner is None or reading.words.capital(at):
        return
    _add_kin(reading, mention_owner(owner[0]), reading.low[at], _names_after(reading, at), at)


def parse_having(reading: SentenceReading, at: int) -> bool:
    """Parses "I have a sister called Maria" or "Tom adopted a kitten called Nemo"; else False."""
    low, known = reading.low, reading.known
    mood = detect_mood(reading.words, at, known, PRESENT)
    if (_UNREAL | {"past"}) & mood.effects:
        return False
    begin = at + 1 + (low[at + 1] == "got")
    for head in range(begin, min(begin + 6, reading.words.last + 1)):
        if low[head] in known.kin or low[head] in known.pets:
            names = _names_after(reading, head)
            subjects = reading.subjects_before(mood.subject_end) if names else []
            if len(subjects) == 1:
                _add_kin(reading, subjects[0], low[head], names, head, ended=low[at] == "had")
            return bool(names)
        if low[head] in known.stops or low[head] in known.ties or not low[head][0].isalnum():
            return False
    return False


def _names_after(reading: SentenceReading, at: int) -> list[Mention]:
    """Parses the names of "sister Maria", "sister, Maria,", "sister (Maria)", "cats named Milo and Otis"."""
    low, begin = reading.low, at + 1
    plural = low[at].endswith("s") or low[at] == "children"
    if low[begin] in (",", "("):
        begin += 1 + (low[begin + 1] in NAMING)
        names, after = reading.after.objects(begin, "name")
        is_aside = low[after] in (",", ")") or after > reading.words.last
        return names if names and (is_aside or (plural and len(names) > 1)) else []
    begin += low[begin] in ("is", "'s", "are", "was") and low[begin + 1] in NAMING
    begin += low[begin] in NAMING
    names, _ = reading.after.objects(begin, "name", listed=plural)
    return names if plural else names[:1]
