"""JSON data: every string and key of it, and whole numbers long enough to be somebody's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...core.validate import Json, clean_json

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
    for key, item in value.items():
        kept = _apart(guard(key, "", f"{path}.(key)"), entries)
        entries[kept] = _walk(item, guard, f"{name} {kept}".strip(), f"{path}.{kept}")
    return entries


def _apart(key: str, entries: Mapping[str, Json]) -> str:
    """The key, numbered if it is taken: two people must not become one entry."""
    number, free = 2, key
    while free in entries:
        number, free = number + 1, f"{key} {number}"
    return free
