"""Patterns of the user: checked when they are made, so that no text can make one run away.

Every quantifier multiplies the ways in which a match can be tried again. A pattern whose ways at one
place may exceed `MOST_WAYS` is refused; text is matched in windows, so that `+` and `*` have an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...core.errors import BadInput
from .findings import Found, Pii, finding_at

WINDOW = 512  # characters seen at once; a match is found if it is at most half as long
MOST_WAYS = 20_000

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}[a-z0-9]")
_TOKEN = re.compile(
    r"(?P<escape>\\(?:[xuUN].|.))|(?P<set>\[\^?\]?(?:[^\]\\]|\\.)*\])"
    r"|(?P<open>\((?:\?(?:P<\w+>|:|<?[=!]|[aiLmsu-]+:))?)|(?P<flags>\(\?[^)]*\))|(?P<close>\))"
    r"|(?P<either>\|)"
    r"|(?P<repeat>[*+?]|\{[0-9]*(?:,[0-9]*)?\})|(?P<one>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A class of your own: `Pattern(name="employee", regex=r"E-[0-9]{6}")`. A bad one is `BadInput`.

    `action` is what happens to what is found; without one the default of the policy holds.
    """

    name: str
    regex: str
    action: str | None = None
    confidence: float = 0.9
    compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name) or self.name in (*Pii, "default"):
            raise BadInput(
                f"pattern name {self.name!r} needs small letters, digits and _, and a name not in use"
            )
        if not 0 < self.confidence <= 1:
            raise BadInput(
                f"pattern {self.name} needs a confidence above 0 and at most 1, not {self.confidence}"
            )
        object.__setattr__(self, "compiled", _compile(self.name, self.regex))

    def findings(self, text: str) -> Iterator[Found]:
        for start, end in _spans(self.compiled, text):
            yield finding_at(text, self.name, (start, end), self.confidence)


def _compile(name: str, regex: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(regex)
    except (re.error, OverflowError, RecursionError) as wrong:
        raise BadInput(f"pattern {name} is not a regular expression: {wrong}") from None
    if compiled.flags & re.VERBOSE or re.search(r"\\[1-9]|\(\?P=|\(\?\(|\(\?#", regex):
        raise BadInput(
            f"pattern {name} uses back references, comments or verbose mode, which are not supported"
        )
    if compiled.match(""):
        raise BadInput(f"pattern {name} matches the empty text, and so everywhere")
    if _ways(regex) > MOST_WAYS:
        raise BadInput(
            f"pattern {name} could take very long on some texts; bound its repeats ({{1,20}} for +) "
            "and do not repeat a group that holds repeats or alternatives"
        )
    return compiled


def _ways(regex: str) -> float:
    """How many ways of matching may be tried at one place, at most."""
    ways, _ = _branches(list(_TOKEN.finditer(regex)), 0)
    return ways


def _branches(tokens: list[re.Match[str]], at: int) -> tuple[float, int]:
    """The ways of what stands up to the closing bracket: alternatives add, a sequence multiplies."""
    total, ways, last = 0.0, 1.0, 1.0
    while at < len(tokens) and tokens[at].lastgroup != "close":
        token, at = tokens[at], at + 1
        if token.lastgroup == "either":
            total, ways, last = total + ways, 1.0, 1.0
        elif token.lastgroup == "open":
            last, at = _branches(tokens, at)
            ways, at = ways * last, at + 1
        elif token.lastgroup == "repeat":
            ways, last = ways / last * _ways_of_repeat(last, token[0]), 1.0
        else:
            last = 1.0
    return total + ways, at


def _ways_of_repeat(ways: float, quantifier: str) -> float:
    least, most = _bounds(quantifier)
    if ways > 1:
        return min(ways, 1e6) ** min(most, 40)
    return float(most - least + 1)


def _bounds(quantifier: str) -> tuple[int, int]:
    if quantifier in ("*", "+", "?"):
        return {"*": (0, WINDOW), "+": (1, WINDOW), "?": (0, 1)}[quantifier]
    least, comma, most = quantifier[1:-1].partition(",")
    low = int(least or 0)
    if most:
        return low, max(low, int(most))
    if comma:
        return low, WINDOW
    return low, low


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Matches in text order, not overlapping, window by window with half a window of overlap."""
    at = 0
    while at < len(text):
        stop = at + WINDOW // 2
        match = pattern.search(text, at, min(len(text), at + WINDOW))
        if match and match.start() < stop and match.end() > match.start():
            yield match.span()
            at = match.end()
        else:
            at = stop
