"""JSON data: every string and key of it, and whole numbers long enough to be somebody's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ...core.validate import Json, clean_json

NAME_CHARS: Final = 60  # of the keys around a value, the last ones
PATH_CHARS: Final = 80  # of each key in a path: every value has one

Guard = Callable[[str, str, str], str]  # a text, what it is called, its path -> the text to keep


def walk_json(value: Json, guard: Guard, what: str = "data") -> Json:
    """A copy in which the guard saw every text. Keys that become the same are told apart by a number."""
    return _walk(clean_json(value, what), guard, "", what)


def _walk(value: Json, guard: Guard, name: str, path: str) -> Json:
    if isinstance(value, str):
        return guard(value, name, path)
    if isinstance(value, int) and not isinstance(value, bool):
        return _number(value, guard, name, path)
    if isinstance(value, Mapping):
        return _entries(value, guard, name, path)
    if isinstance(value, list):
        return [_walk(item, guard, name, f"{path}[{at}]") for at, item in enumerate(value)]
    return value


def _number(value: int, guard: Guard, name: str, path: str) -> Json:
    """Becomes a string where the guard changes it; a number that is left alone stays a number."""
    if value < 10_000_000 or value >= 10**40:
        return value
    kept = guard(str(value), name, path)
    if kept == str(value):
        return value
    return kept


def _entries(value: Mapping[str, Json], guard: Guard, name: str, path: str) -> dict[str, Json]:
    """What is around a key is said about its value, too: `born: {date: …}`."""
    entries: dict[str, Json] = {}
    numbers: dict[str, int] = {}  # of keys that became the same, the last one given
    for key, item in value.items():
        kept = _apart(guard(key, "", f"{path}.(key)"), entries, numbers)
        said = f"{name} {kept[-NAME_CHARS:]}".strip()[-NAME_CHARS:]
        entries[kept] = _walk(item, guard, said, f"{path}.{kept[:PATH_CHARS]}")
    return entries


def _apart(key: str, entries: Mapping[str, Json], numbers: dict[str, int]) -> str:
    """The key, numbered if it is taken: two people must not become one entry."""
    free = key
    while free in entries:
        numbers[key] = numbers.get(key, 1) + 1
        free = f"{key} {numbers[key]}"
    return free
