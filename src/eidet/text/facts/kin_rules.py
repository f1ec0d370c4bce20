"""Statements of who is who: "my sister Maria", "Ann's husband, Tom,", "we have two cats, Milo and Otis"."""

from __future__ import annotations

from .moods import read_mood
from .sentence_reading import SentenceReading
from .statement import VALUE, Mention
from .whose import owner_mention, owner_name
from .word_tables import PRESENT


def read_kin(reading: SentenceReading, at: int) -> None:
    """The statements of a word such as "sister" or "dog": whose, and who it is."""
    owner = reading.mentions.owner_before(at - 1)
    if owner is None or (reading.words.capital(at) and not reading.tables.inverts):
        return
    names = _names_after(reading, at) or _name_before(reading, owner[1], at)
    if names:
        _say(reading, [owner_mention(owner[0])], reading.words.low[at], owner[0], names, at)


def _say(
    reading: SentenceReading, owners: list[Mention], role: str, owner: str, names: list[Mention], at: int
) -> None:
    relation = reading.tables.kin.get(role, "pet")
    kind = "thing" if relation == "pet" else "person"
    people: list[Mention] = []
    for item in names:
        people.append(Mention(name=item.name, kind=kind, role=role, owner=owner))
    reading.add(owners, relation, people, confidence=max(reading.confidence_at(at), 0.7))


def _names_after(reading: SentenceReading, at: int) -> list[Mention]:
    """Sister Maria · sister, Maria, · sister (Maria) · cats named Milo and Otis."""
    low, tables = reading.words.low, reading.tables
    begin = at + 1
    if low[begin] in ("is", "'s", "are", "was") and low[begin + 1] in tables.naming:
        begin += 2
    elif low[begin] in tables.naming:
        begin += 1
    elif low[begin] in (",", "("):
        return _names_aside(reading, at, begin + 1)
    elif low[begin] in tables.name_is:
        begin += 1
    return _names(reading, begin, low[at])


def _names(reading: SentenceReading, begin: int, role: str) -> list[Mention]:
    plural = role.endswith("s") or role == "children"
    objects, _ = reading.mentions.objects(begin, "name", listed=plural)
    if plural:
        return objects
    return objects[:1]


def _names_aside(reading: SentenceReading, at: int, begin: int) -> list[Mention]:
    """A name in commas or brackets: what follows it tells that it is no other clause."""
    low = reading.words.low
    if low[begin] in reading.tables.naming:
        begin += 1
    names, after = reading.mentions.objects(begin, "name")
    if names and (low[after] in (",", ")") or after > reading.words.last):
        return names
    plural = low[at].endswith("s") or low[at] == "children"
    return names if plural and len(names) > 1 else []


def _name_before(reading: SentenceReading, first: int, at: int) -> list[Mention]:
    """Maria, my sister, … · Maria (my sister) …"""
    low = reading.words.low
    if low[first - 1] not in (",", "(") or not (low[at + 1] in (",", ")", "") or at == reading.words.last):
        return []
    names, begin = reading.mentions.subjects(first - 2)
    if len(names) == 1 and names[0].name and low[begin - 1] not in ("hey", "hi", "hello", "thanks", "dear"):
        return names
    return []


def read_having(reading: SentenceReading, at: int) -> None:
    """I have a sister called Maria · we've got two cats · she has asthma."""
    words, tables = reading.words, reading.tables
    if words.low[at] in ("own", "owns", "got") and words.low[at - 1] not in tables.having:
        return
    mood = read_mood(words, at, tables, PRESENT)
    if {"unreal", "will", "none", "planned", "past", "may"} & mood.effects:
        return
    begin = at + 1 + (words.low[at + 1] == "got")
    found = _head(reading, begin)
    if found is None:
        return
    subjects = reading.subjects_before(mood.subject_end)
    if not subjects:
        return
    past = words.low[at] == "had" or "ended" in mood
    if words.low[found] in tables.conditions:
        _say_condition(reading, subjects, _thing(reading, begin, found), "not" in mood, past)
    elif "not" not in mood and not _is_part(reading, found):
        _say_relative(reading, subjects, begin, found, past)


def _head(reading: SentenceReading, begin: int) -> int | None:
    """Where among the next words a relative, an animal or a condition stands."""
    low, tables = reading.words.low, reading.tables
    for at in range(begin, min(begin + 6, reading.words.last + 1)):
        word = low[at]
        if word in tables.kin or word in tables.pets or word in tables.conditions:
            return at if low[at - 1] != "hot" else None
        if word in tables.stops or word in tables.ties or not word[0].isalnum():
            return None
    return None


def _say_condition(
    reading: SentenceReading, subjects: list[Mention], condition: list[Mention], denied: bool, past: bool
) -> None:
    ended = past and not denied
    reading.add(subjects, "condition", condition, span=reading.span(1, 0), ended=ended, negated=denied)


def _say_relative(
    reading: SentenceReading, subjects: list[Mention], begin: int, head: int, past: bool
) -> None:
    word, names = reading.words.low[head], _names_after(reading, head)
    if names and len(subjects) == 1:
        _say(reading, subjects, word, owner_name(subjects[0]), names, head)
    elif word in reading.tables.pets:
        sure = reading.confidence_at(head)
        reading.add(subjects, "pet", _thing(reading, begin, head), ended=past, confidence=sure)


def _is_part(reading: SentenceReading, head: int) -> bool:
    """Whether another noun follows: a "pet system" is no pet."""
    after, tables = reading.words.low[head + 1], reading.tables
    if after == "'s":
        return True
    if reading.mentions.ends_clause(head + 1) or reading.mentions.is_name(head + 1):
        return False
    return after not in tables.ties and after not in tables.naming and after not in tables.lists


def _thing(reading: SentenceReading, begin: int, head: int) -> list[Mention]:
    while begin < head and reading.words.low[begin] in reading.tables.articles:
        begin += 1
    kind = VALUE if reading.words.low[head] in reading.tables.conditions else "thing"
    return [Mention(name=reading.words.cut(begin, head + 1), kind=kind)]
