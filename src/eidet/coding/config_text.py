"""Adds and removes our entries in configuration files of others: members in JSON, a table in TOML. Pure.

A JSON file is rewritten with its own indentation, and the members of others keep their order. A file with
comments would lose them, so it is an error.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Unreadable(ValueError):
    """A file that cannot be parsed, or has no place for our entry; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of ours in a JSON file: a member of the object at a path, or an element of the list there.

    `name` is None for an element of a list; `is_ours` distinguishes it from entries of others.
    """

    path: tuple[str, ...]
    name: str | None
    value: Any
    is_ours: Callable[[Any], bool]


def parse(text: str) -> dict[str, Any]:
    """Parses a JSON object; an empty text gives an empty one."""
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON, or has comments: {error}") from error
    if not isinstance(found, dict):
        raise Unreadable("it is not a JSON object")
    return found


def add_entries(text: str, entries: Sequence[Entry], base: Mapping[str, Any]) -> str:
    """Adds the entries and absent members of `base`; replaces earlier entries of ours."""
    members = {**base, **parse(text)}
    for entry in entries:
        _put(members, entry)
    return text if members == parse(text) else _dump(members, text)


def _put(members: dict[str, Any], entry: Entry) -> None:
    above: Any = members
    for name in entry.path[:-1]:
        above = _check(above.setdefault(name, {}), dict, entry)
    if entry.name is None:
        held = _check(above.setdefault(entry.path[-1], []), list, entry)
        held[:] = [entry.value, *(one for one in held if not entry.is_ours(one))]
        return
    held = _check(above.setdefault(entry.path[-1], {}), dict, entry)
    if entry.name in held and not entry.is_ours(held[entry.name]):
        raise Unreadable(f"{'.'.join((*entry.path, entry.name))} is not of Eidet: rename it")
    held[entry.name] = entry.value


def _check(found: Any, kind: type, entry: Entry) -> Any:
    if not isinstance(found, kind):
        raise Unreadable(f"{'.'.join(entry.path)} is not {'a list' if entry.name is None else 'an object'}")
    return found


def remove_entries(text: str, entries: Sequence[Entry], base: Mapping[str, Any]) -> str:
    """Removes our entries and what that leaves empty; returns "" if nothing but `base` is left."""
    members = parse(text)
    for entry in entries:
        _take_out(members, entry, entry.path)
    if members == parse(text):
        return text
    return "" if members == base else _dump(members, text)


def _take_out(held: Any, entry: Entry, path: Sequence[str]) -> None:
    if path and isinstance(held, dict):
        below = held.get(path[0])
        _take_out(below, entry, path[1:])
        if below in ({}, []):
            del held[path[0]]
    elif isinstance(held, list) and entry.name is None:
        held[:] = [one for one in held if not entry.is_ours(one)]
    elif isinstance(held, dict) and entry.name in held and entry.is_ours(held[entry.name]):
        del held[entry.name]


def _dump(members: Mapping[str, Any], text: str) -> str:
    indent = re.search(r"\n([ \t]+)\S", text)
    return json.dumps(members, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def add_table(text: str, name: str, values: dict[str, Any]) -> str:
    """Returns the text with the table `[name]` at its end, in place of one of that name."""
    text = remove_table(text, name)
    lines = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())
    added = f"{text}{chr(10) if text else ''}[{name}]\n{lines}"
    _check_toml(added)
    return added


def remove_table(text: str, name: str) -> str:
    """Returns the text without the table of that name and those below it."""
    _check_toml(text)
    pattern = rf"\n?^\[{re.escape(name)}(?:\.[^\]\n]+)?\][ \t]*\n(?:[\w-]+ *= [^\n]*(?:\n|\Z))*"
    text = re.sub(pattern, "", text, flags=re.MULTILINE)
    _check_toml(text)
    return text


def _check_toml(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"it is not TOML as Eidet can change it: {error}") from error
