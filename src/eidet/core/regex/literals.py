"""What can be told of a pattern before it is searched for: a text that each match has, where it begins."""

from __future__ import annotations

import re

from .syntax import At, Either, One, Repeat, Series, Tree


def find_required(tree: Tree) -> str:
    """The longest text found that is in every value with a match; empty if there is none."""
    best = run = ""
    for part in _list_required(tree):
        if isinstance(part, str):
            run += part
        else:
            run = ""
        if len(run) >= len(best):
            best = run
    return best


def _list_required(tree: Tree) -> list[str | None]:
    """Characters that every match has in this order, and None where something else may stand between."""
    match tree:
        case One():
            return [_read_literal(tree)]
        case Series():
            parts: list[str | None] = []
            for part in tree.parts:
                parts += _list_required(part)
            return parts
        case Repeat() if tree.least > 0:
            return [None, *_list_required(tree.part), None]
        case At():
            return []
    return [None]


def _read_literal(one: One) -> str | None:
    """The character that it stands for, if it is just one."""
    if one.flags & re.IGNORECASE:
        return None
    sign = one.source.removeprefix("\\")
    escaped = sign != one.source
    if len(sign) != 1 or (escaped and sign.isalnum()) or (not escaped and sign == "."):
        return None
    return sign


def begins_at_start(tree: Tree) -> bool:
    """Whether every match begins where the value does."""
    match tree:
        case At():
            return tree.name == "\\A" or (tree.name == "^" and not tree.flags & re.MULTILINE)
        case Series():
            return bool(tree.parts) and begins_at_start(tree.parts[0])
        case Either():
            return all(map(begins_at_start, tree.parts))
    return False
