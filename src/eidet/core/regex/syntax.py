"""The tree of a pattern. `re` has checked the notation before; here it is only taken apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import BadInput

DEEPEST: Final = 50  # groups inside of each other
MOST: Final = 1e9  # ways of matching; more need not be told apart

_TOKEN: Final = re.compile(
    r"(?P<reference>\\[1-9](?![0-7]{2})[0-9]?|\(\?P=)"
    r"|(?P<unsupported>\(\?(?:<?[=!]|>|\(|\#))"
    r"|(?P<at>\\[AZzbB]|[\^$])"
    r"|(?P<one>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)|\."
    r"|\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<flags>\(\?[a-zA-Z]+\))"
    r"|(?P<open>\((?:\?(?:P<[^>]*>|[a-zA-Z]*(?:-[a-zA-Z]+)?:))?)"
    r"|(?P<close>\))|(?P<either>\|)"
    r"|(?P<repeat>(?:[*+?]|\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]*)\})[?+]?)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_GROUP_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?:")
_MEANS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "a": re.ASCII}
_KEPT: Final = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII


@dataclass(frozen=True, slots=True)
class One:
    """One character, such as `a`, `\\w` or `[^x]`, in the notation of `re`."""

    source: str
    flags: int

    def count_ways(self, *, endless: int) -> float:
        del endless
        return 1.0


@dataclass(frozen=True, slots=True)
class At:
    """A place between characters, such as `^` or `\\b`."""

    name: str
    flags: int

    def count_ways(self, *, endless: int) -> float:
        del endless
        return 1.0


@dataclass(frozen=True, slots=True)
class Series:
    """One part after the other."""

    parts: tuple[Tree, ...]

    def count_ways(self, *, endless: int) -> float:
        ways = 1.0
        for part in self.parts:
            ways = min(MOST, ways * part.count_ways(endless=endless))
        return ways


@dataclass(frozen=True, slots=True)
class Either:
    """One of several parts."""

    parts: tuple[Tree, ...]

    def count_ways(self, *, endless: int) -> float:
        return min(MOST, sum(part.count_ways(endless=endless) for part in self.parts))


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part several times; `most` is None where there is no end."""

    part: Tree
    least: int
    most: int | None

    def count_ways(self, *, endless: int) -> float:
        """The ways at one place of a value, if a repeat without an end takes at most `endless` turns."""
        most = max(self.least, endless) if self.most is None else self.most
        ways = self.part.count_ways(endless=endless)
        if ways == 1:
            return min(MOST, most - self.least + 1)
        return float(min(MOST, min(ways, MOST) ** min(most, 30) * (min(most, 30) - min(self.least, 29) + 1)))


Tree = One | At | Series | Either | Repeat


def parse_pattern(pattern: str, flags: int) -> Tree:
    """The tree of a pattern that `re` has compiled with these flags; `BadInput` for what is not supported."""
    if flags & re.VERBOSE:
        raise _make_refusal(pattern, "verbose mode")
    tokens = list(_TOKEN.finditer(pattern))
    for token in tokens:
        _check_supported(pattern, token)
    return _Parser(pattern, tokens).parse(flags & _KEPT, 0)


def _check_supported(pattern: str, token: re.Match[str]) -> None:
    text = token[0]
    if token.lastgroup == "reference":
        raise _make_refusal(pattern, f"the back reference {text}")
    if token.lastgroup == "unsupported":
        raise _make_refusal(pattern, f"{text} (look-around, atomic groups, conditions and comments)")
    if token.lastgroup == "repeat" and len(text) > 1 and text.endswith("+"):
        raise _make_refusal(pattern, f"the possessive repeat {text}")
    flags = _GROUP_FLAGS.match(text)
    if flags and not _MEANS.keys() >= set(flags[1] + (flags[2] or "")):
        raise _make_refusal(pattern, f"{text} (verbose mode, or Unicode for a part)")


def _make_refusal(pattern: str, what: str) -> BadInput:
    return BadInput(
        f"the regular expression {pattern!r:.200} uses {what}, which filters do not support; "
        "write it without, or combine several conditions"
    )


class _Parser:
    """Walks the tokens of one pattern."""

    def __init__(self, pattern: str, tokens: Sequence[re.Match[str]]) -> None:
        self._pattern, self._tokens, self._at = pattern, tokens, 0

    def parse(self, flags: int, depth: int) -> Tree:
        """What stands up to the closing bracket or the end."""
        if depth > DEEPEST:
            raise BadInput(f"a regular expression nests at most {DEEPEST} groups: {self._pattern!r:.200}")
        branches: list[Tree] = []
        parts: list[Tree] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.lastgroup == "close":
                break
            if token.lastgroup == "either":
                branches.append(Series(tuple(parts)))
                parts = []
            else:
                self._add(parts, token, flags, depth)
        branches.append(Series(tuple(parts)))
        if len(branches) == 1:
            return branches[0]
        return Either(tuple(branches))

    def _add(self, parts: list[Tree], token: re.Match[str], flags: int, depth: int) -> None:
        match token.lastgroup:
            case "open":
                parts.append(self.parse(_flags_inside(token[0], flags), depth + 1))
            case "repeat" if parts:
                least, most = _bounds(token[0].rstrip("?") or "?")
                parts.append(Repeat(parts.pop(), least, most))
            case "at":
                parts.append(At(token[0], flags))
            case "one":
                parts.append(One(token[0], flags))
            case "sign" | "repeat":
                parts.append(One(re.escape(token[0]), flags))


def _flags_inside(opening: str, flags: int) -> int:
    found = _GROUP_FLAGS.match(opening)
    if found is None:
        return flags
    for letter in found[1] or "":
        flags |= _MEANS[letter]
    for letter in found[2] or "":
        flags &= ~_MEANS[letter]
    return int(flags)


def _bounds(quantifier: str) -> tuple[int, int | None]:
    match quantifier:
        case "*":
            return 0, None
        case "+":
            return 1, None
        case "?":
            return 0, 1
    least, comma, most = quantifier[1:-1].partition(",")
    low = int(least or 0)
    if most:
        return low, int(most)
    if comma:
        return low, None
    return low, low
