"""Insertions into configuration files that keep every other byte: comments, order and indentation stay. Pure.

JSON may have comments and trailing commas. What is added goes first into its object or list, so that taking
it out again deletes the same characters.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

_COMMENT: Final = r"//[^\n]*(?=\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/"
_ASIDE: Final = re.compile(rf'("(?:[^"\\\n]|\\.)*")|{_COMMENT}|,(?=(?:\s|{_COMMENT})*[}}\]])')
_DECODER: Final = json.JSONDecoder()


class Unreadable(ValueError):
    """A text that is not what its name promises; the message says where."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of ours in a JSON file: a member of the object at a path, or an element of the list there.

    `name` is None for an element of a list; `is_ours` tells it from those of others.
    """

    path: tuple[str, ...]
    name: str | None
    value: Any
    is_ours: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object or list: its name or number, and where its name, its value and its end are."""

    name: str
    begin: int
    start: int
    end: int
    value: Any


def parse(text: str) -> dict[str, Any]:
    """The object that a text holds; an empty text holds none."""
    try:
        found = json.loads(_blank(text)) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Unreadable("it is not a JSON object")
    return found


def _blank(text: str) -> str:
    """The text with spaces in place of comments and trailing commas: every character keeps its place."""
    return _ASIDE.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)


def _skip(plain: str, at: int) -> int:
    while plain[at] in " \t\r\n":
        at += 1
    return at


def _members(plain: str, start: int) -> list[_Member]:
    """The members of the object or list that starts there."""
    found: list[_Member] = []
    at = _skip(plain, start + 1)
    while plain[at] not in "}]":
        begin, name = at, str(len(found))
        if plain[start] == "{":
            name, at = _DECODER.raw_decode(plain, at)
            at = _skip(plain, _skip(plain, at) + 1)
        value, end = _DECODER.raw_decode(plain, at)
        found.append(_Member(name, begin, at, end, value))
        at = _skip(plain, end)
        at = _skip(plain, at + 1) if plain[at] == "," else at
    return found


def _walk(text: str, path: Sequence[str]) -> list[_Member]:
    """The root and what lies on a path, as far as it goes."""
    plain = _blank(text)
    start = _skip(plain, 0)
    walked = [_Member("", start, start, plain.rindex("}") + 1, parse(text))]
    for name in path:
        held = {one.name: one for one in _members(plain, walked[-1].start)}
        if name not in held or not isinstance(held[name].value, dict | list):
            break
        walked.append(held[name])
    return walked


def add_entries(text: str, entries: Sequence[Entry]) -> str:
    """Adds the entries to the text; replaces ours unless they are the same."""
    for entry in reversed(entries):
        found = _find_ours(text, entry)
        if found is None or found[1].value != entry.value:
            text = _add(remove_entries(text, [entry]), entry)
    return text


def _add(text: str, entry: Entry) -> str:
    names = [*entry.path, entry.name]
    if not text.strip():
        return json.dumps(_nest(names, entry.value), indent=2) + "\n"
    walked = _walk(text, entry.path)
    node, (name, *rest) = walked[-1], names[len(walked) - 1 :]
    if (rest and name in node.value) or not isinstance(node.value, list if name is None else dict):
        raise Unreadable(f"{'.'.join(entry.path)} is not {'a list' if entry.name is None else 'an object'}")
    if name in node.value:
        raise Unreadable(f"{'.'.join((*entry.path, str(name)))} is not of Eidet: rename it")
    return _insert(text, node, len(walked), name, _nest(rest, entry.value))


def _nest(names: Sequence[str | None], value: Any) -> Any:
    for name in reversed(names):
        value = [value] if name is None else {name: value}
    return value


def _insert(text: str, node: _Member, depth: int, name: str | None, value: Any) -> str:
    """Puts a member first into an object or a list, indented like the file; an empty one stays tight.

    That tells an object that was there from one that came with a member, when it is taken out again.
    """
    found = re.search(r"\n([ \t]+)\S", text)
    indent = found[1] if found else "  "
    dumped = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", "\n" + indent * depth)
    said = dumped if name is None else f"{json.dumps(name)}: {dumped}"
    if not node.value:
        return f"{text[: node.end - 1]}{said}{text[node.end - 1 :]}"
    return f"{text[: node.start + 1]}\n{indent * depth}{said},{text[node.start + 1 :]}"


def remove_entries(text: str, entries: Sequence[Entry]) -> str:
    """Removes our entries and the objects that came with them; "" if nothing else was there."""
    for entry in entries:
        while (found := _find_ours(text, entry)) is not None:
            text = _delete(text, *found)
    return text


def _find_ours(text: str, entry: Entry) -> tuple[list[_Member], _Member] | None:
    """The member that is ours, with all that it stands in."""
    if not parse(text) or len(walked := _walk(text, entry.path)) <= len(entry.path):
        return None
    members = _members(_blank(text), walked[-1].start)
    ours = [one for one in members if entry.name in (None, one.name) and entry.is_ours(one.value)]
    return (walked, ours[0]) if ours else None


def _delete(text: str, walked: list[_Member], member: _Member) -> str:
    """Removes a member and the objects that came with it, which are those written tight."""
    while len(walked[-1].value) == 1 and text[member.end : walked[-1].end - 1]:
        member = walked.pop()
        if not walked:
            return ""
    plain = _blank(text)
    siblings = _members(plain, walked[-1].start)
    at = [one.begin for one in siblings].index(member.begin)
    if len(siblings) == 1:
        return text[: member.begin] + text[member.end :]
    if at:
        return text[: siblings[at - 1].end] + text[member.end :]
    return text[: walked[-1].start + 1] + text[_skip(plain, member.end) + 1 :]


def add_table(text: str, name: str, values: dict[str, Any]) -> str:
    """The text with `[name]` at its end; one of that name is replaced."""
    text = remove_table(text, name)
    lines = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())
    added = f"{text}{chr(10) if text else ''}[{name}]\n{lines}"
    _check_toml(added)
    return added


def remove_table(text: str, name: str) -> str:
    """The text without the table of that name and those below it."""
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
