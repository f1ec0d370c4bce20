"""The words of time of other languages: dateparser's locale tables, and for seven languages some more.

Only dateparser's tables are read, from their files: its parser is slow to import and to run, and answers
with points where intervals are needed. Our own arithmetic serves every language alike.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from .english_words import MONTHS, TABLE, WEEKDAYS, number_words

_FILES = {"no": "nb"}
_SHIFT = re.compile(r"(?:in )?([0-9]) (day|week|month|year)( ago)?")
_COUNTED = re.compile(r"(?:in )?\\1 (day|week|month|year)( ago)?")
_DIGITS = re.compile(r"\(\\d[^)]*\)")
_PLAIN_PATTERN = re.compile(r"[\w()|]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """What dateparser's tables lack: patterns for "last", "next", "this", their nouns, and the numbers."""

    last: str
    next: str
    this: str
    nouns: dict[str, str]
    numbers: str
    years: str  # what stands before a bare year
    months: str = ""  # forms of their names, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """The words of one language as patterns over folded text, each with what it means."""

    month_first: bool
    spaced: bool
    months: dict[str, int]
    weekdays: dict[str, int]
    relative: dict[str, tuple[int, str]]  # phrase: how many units away
    counted: dict[tuple[int, str], tuple[str, ...]]  # direction and unit: phrases with NUMBER in them
    numbers: dict[str, int] = field(default_factory=dict)
    more: More | None = None


NUMBER = "\0"


@cache
def locale_of(language: str) -> Locale | None:
    """None for a language without a table; read once a process."""
    info = _table(_FILES.get(language, language))
    if info is None:
        return None
    told = TABLE["locales"].get(language)
    more = More(**told) if told else None
    return Locale(
        month_first=str(info.get("date_order", "")).startswith("M"),
        spaced=not (info.get("no_word_spacing") or language in ("ja", "zh", "ko", "th")),
        months=_names(info, MONTHS) | _forms(more),
        weekdays=_names(info, WEEKDAYS),
        relative=_relative(info),
        counted=_count_forms(info),
        numbers=_numbers(info, more),
        more=more,
    )


def _table(name: str) -> dict[str, Any] | None:
    spec = find_spec("dateparser")
    places = spec.submodule_search_locations if spec else None
    path = Path(places[0], "data", "date_translation_data", f"{name}.py") if places else None
    return runpy.run_path(str(path))["info"] if path and path.is_file() else None


def _names(info: dict[str, Any], keys: dict[str, int]) -> dict[str, int]:
    """Names by number, without those so short that they are words of other meaning."""
    names: dict[str, int] = {}
    for key, number in keys.items():
        known = [str(name).lower() for name in info.get(key, ())]
        for name in _telling(known):
            names.setdefault(name, number)
    return names


def _forms(more: More | None) -> dict[str, int]:
    return number_words(more.months, 1) if more else {}


def _telling(names: list[str]) -> Iterable[str]:
    longest = max(map(len, names), default=0)
    tied = any("-" in name for name in names)
    for name in names:
        short = len(name) < 4 and not (len(name) > 1 and name[-1] > "\u2e80")
        if len(name) == longest or not (short or (tied and "-" not in name)):
            yield name


def _relative(info: dict[str, Any]) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = {}
    for key, phrases in sorted(
        info.get("relative-type", {}).items(), reverse=True
    ):  # "ago" has the last word
        if match := _SHIFT.fullmatch(key):
            shift = int(match[1]) * (-1 if match[3] else 1)
            found |= {str(phrase).lower(): (shift, match[2]) for phrase in phrases if _is_telling(phrase)}
    return found


def _is_telling(phrase: str) -> bool:
    return not phrase.isascii() or len(phrase) > 3


def _count_forms(info: dict[str, Any]) -> dict[tuple[int, str], tuple[str, ...]]:
    found: dict[tuple[int, str], tuple[str, ...]] = {}
    for key, patterns in info.get("relative-type-regex", {}).items():
        if match := _COUNTED.fullmatch(key):
            phrases = (_DIGITS.sub(NUMBER, str(pattern).lower(), count=1) for pattern in patterns)
            plain = {phrase for phrase in phrases if NUMBER in phrase and not set(phrase) & set(r"\()[]+*?")}
            sign = -1 if match[2] else 1
            found[sign, match[1]] = tuple(
                sorted(filter(_names_its_unit, plain | _build_phrases(info, sign, match[1])))
            )
    return found


def _build_phrases(info: dict[str, Any], sign: int, unit: str) -> set[str]:
    """Phrases made of the words for "ago" or "in" and every form of a unit: "2 tygodnie temu"."""
    forms = [str(form).lower() for form in info.get(unit, ()) if len(form) > 3]
    words = [str(word).lower() for word in info.get("ago" if sign < 0 else "in", ())]
    phrases: set[str] = set()
    for word, form in product(words, forms):
        phrases.add(f"{word} {NUMBER} {form}")
        if sign < 0:
            phrases.add(f"{NUMBER} {form} {word}")
    return phrases


def _names_its_unit(phrase: str) -> bool:
    """A unit of one or two Latin letters ("5 m") is rather something else."""
    words = phrase.replace(NUMBER, " ").split()
    return not phrase.replace(NUMBER, "").isascii() or max(map(len, words), default=0) > 3


def _numbers(info: dict[str, Any], more: More | None) -> dict[str, int]:
    """Patterns of number words."""
    own = number_words(more.numbers, 1) if more else {}
    for rule in info.get("simplifications", ()):
        for pattern, value in rule.items():
            if str(value).isdecimal() and _PLAIN_PATTERN.fullmatch(pattern) and not pattern.isdecimal():
                own.setdefault(pattern.replace("(", "(?:"), int(value))
    return own
