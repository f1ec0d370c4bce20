"""Finds the participants that a text names, by their whole name or its first word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ..text.words import STOP_WORDS

KEPT_NAMES: Final = 2_048  # participants whose parsed names are cached
PEOPLE_ROLES: Final = frozenset({"user", "human"})
AGENT_ROLES: Final = frozenset({"assistant", "ai", "agent", "bot", "model"})
_ROLES: Final = PEOPLE_ROLES | AGENT_ROLES | {"system", "tool"}
_COMMON: Final = STOP_WORDS["en"] | frozenset(
    ["may", "mark", "grace", "art", "bill", "hope", "joy", "rose", "faith", "april"]
)
# after these words, an ambiguous word such as "Will" is a name
_BEFORE_NAME: Final = (
    r"(?:(?<=\bdid )|(?<=\bdoes )|(?<=\bis )|(?<=\bwas )|(?<=\bhas )|(?<=\bwith )|(?<=\bto )|(?<=\babout )"
    r"|(?<=\bby )|(?<=\bfrom )|(?<=\bfor )|(?<=\bof ))"
)
# first words that are no name by themselves
_NO_FIRST: Final = (
    frozenset(["the", "a", "an", "my", "our", "your", "dr", "mr", "mrs", "ms", "mx", "prof", "sir", "st"])
    | _ROLES
)
_SPACES: Final = re.compile(r"\s+")


def find_names(text: str, voices: Sequence[str]) -> tuple[str, ...]:
    """Finds the participants that a text names, by their whole name or its first word, in order.

    If two share a first name, a whole name means only one of them.
    """
    low = text.casefold()
    found: dict[str, tuple[int, int]] = {}
    for voice in voices:
        if _is_name(voice) and (at := _find_name(text, low, voice)):
            found[voice] = at
    order = sorted(found, key=lambda who: (found[who][0], -found[who][1], len(who)))
    return tuple(who for who in order if not any(_within(found[who], other) for other in found.values()))


def _within(part: tuple[int, int], whole: tuple[int, int]) -> bool:
    return part != whole and whole[0] <= part[0] and part[1] <= whole[1]


@lru_cache(maxsize=KEPT_NAMES)
def _is_name(who: str) -> bool:
    return bool(who.strip()) and who.casefold() not in _ROLES


def _find_name(text: str, low: str, who: str) -> tuple[int, int] | None:
    """Returns the span in which a text first names a participant; None if it does not."""
    for part in _calls(who):
        if part.casefold() in low and (found := _pattern(part).search(text)):
            return found.span()
    return None


@lru_cache(maxsize=KEPT_NAMES)
def _pattern(name: str) -> re.Pattern[str]:
    """Makes a pattern for a name in any case; one that is also a word (Will, May) needs a clue beside it."""
    own = re.escape(name)
    if name.casefold() in _COMMON:
        return re.compile(rf"(?<=\w )(?:{own}['\u2019]s|{_BEFORE_NAME}{own})(?!\w)", re.IGNORECASE)
    return re.compile(rf"(?<!\w){own}(?:['\u2019]s)?(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=KEPT_NAMES)
def _calls(who: str) -> tuple[str, ...]:
    """Lists the forms of a person's name: the whole, and its first word if that is a name."""
    first = who.split(maxsplit=1)[0]
    short = len(first) < 2 or first.casefold().rstrip(".") in _NO_FIRST
    return (who,) if short else tuple(dict.fromkeys((who, first)))


def without(text: str, names: Sequence[str]) -> str:
    """Removes the names and their possessive endings from a text."""
    low = text.lower()
    for who in names:
        for part in (*_calls(who), *who.split()[1:]):
            if part.lower() in low or not (part.isascii() and low.isascii()):
                text = _pattern(part).sub(" ", text)
    return _SPACES.sub(" ", text).strip()
