"""Writes `src/eidet/text/dates/locales.json`: words of time of other languages, from dateparser's tables.

    pip install dateparser && python train/dates/locales.py

Only the languages that Eidet knows, and of each what `eidet.text.dates.foreign` reads: names of months and
weekdays, phrases for days and weeks near today, phrases that count, and words for numbers. `words.json` adds
some of seven languages.
"""

from __future__ import annotations

import json
import re
import runpy
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from eidet.text.dates.scanner import MONTHS, TABLE, WEEKDAYS, number_words
from eidet.text.words import LANGUAGES

FILES = {"no": "nb"}
TARGET = Path(__file__).parents[2] / "src/eidet/text/dates/locales.json"
UNSPACED = ("ja", "zh", "ko", "th")
NUMBER = "#"  # stands for the number in a phrase
SHIFT = re.compile(r"(?:in )?([0-9]) (day|week|month|year)( ago)?")
COUNTED = re.compile(r"(?:in )?\\1 (day|week|month|year)( ago)?")
DIGITS = re.compile(r"\(\\d[^)]*\)")
PLAIN_PATTERN = re.compile(r"[\w()|]+")


def main() -> None:
    spec = find_spec("dateparser")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pip install dateparser")
    folder = Path(spec.submodule_search_locations[0], "data", "date_translation_data")
    tables = {}
    for code in sorted(LANGUAGES):
        path = folder / f"{FILES.get(code, code)}.py"
        if code != "en" and path.is_file():
            tables[code] = runpy.run_path(str(path))["info"]
    write(tables)


def write(tables: dict[str, dict[str, Any]]) -> None:
    made = {code: convert(code, info) for code, info in tables.items()}
    known = {code: one for code, one in made.items() if one["months"]}
    lines = (f"{json.dumps(code)}: {json.dumps(one, ensure_ascii=False)}" for code, one in known.items())
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def convert(code: str, info: dict[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = TABLE["locales"].get(code, {})
    return {
        "month_first": str(info.get("date_order", "")).startswith("M"),
        "spaced": not (info.get("no_word_spacing") or code in UNSPACED),
        "months": list_names(info, MONTHS) | number_words(more.get("months", ""), 1),
        "weekdays": list_names(info, WEEKDAYS),
        "relative": list_relative(info),
        "counted": list_counted(info),
        "numbers": list_numbers(info, more),
    }


def list_names(info: dict[str, Any], keys: dict[str, int]) -> dict[str, int]:
    """Maps names to numbers, without names so short that they are likely other words."""
    names: dict[str, int] = {}
    for key, number in keys.items():
        known = [str(name).lower() for name in info.get(key, ())]
        longest, tied = max(map(len, known), default=0), any("-" in name for name in known)
        for name in known:
            short = len(name) < 4 and not (len(name) > 1 and name[-1] > "\u2e80")
            if len(name) == longest or not (short or (tied and "-" not in name)):
                names.setdefault(name, number)
    return names


def list_relative(info: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """Maps phrases to a shift and its unit; for ambiguous phrases, the past wins."""
    found: dict[str, tuple[int, str]] = {}
    for key, phrases in sorted(info.get("relative-type", {}).items(), reverse=True):
        if match := SHIFT.fullmatch(key):
            shift = int(match[1]) * (-1 if match[3] else 1)
            telling = (str(one).lower() for one in phrases if not one.isascii() or len(one) > 3)
            found |= dict.fromkeys(telling, (shift, match[2]))
    return found


def list_counted(info: dict[str, Any]) -> list[tuple[int, str, list[str]]]:
    """Lists direction and unit with phrases that have a place for the number."""
    found = []
    for key, patterns in info.get("relative-type-regex", {}).items():
        if match := COUNTED.fullmatch(key):
            phrases = (DIGITS.sub(NUMBER, str(pattern).lower(), count=1) for pattern in patterns)
            plain = {phrase for phrase in phrases if NUMBER in phrase and not set(phrase) & set(r"\()[]+*?")}
            sign = -1 if match[2] else 1
            telling = sorted(filter(names_its_unit, plain | build_phrases(info, sign, match[1])))
            if telling:
                found.append((sign, match[1], telling))
    return found


def build_phrases(info: dict[str, Any], sign: int, unit: str) -> set[str]:
    """Builds phrases from the words for "ago" or "in" and every form of a unit: "2 tygodnie temu"."""
    forms = [str(form).lower() for form in info.get(unit, ()) if len(form) > 3]
    words = [str(word).lower() for word in info.get("ago" if sign < 0 else "in", ())]
    phrases = {f"{word} {NUMBER} {form}" for word, form in product(words, forms)}
    return phrases | {f"{NUMBER} {form} {word}" for word, form in product(words, forms) if sign < 0}


def names_its_unit(phrase: str) -> bool:
    """Returns whether a phrase names its unit clearly; one of up to three Latin letters ("5 m") does not."""
    words = phrase.replace(NUMBER, " ").split()
    return not phrase.replace(NUMBER, "").isascii() or max(map(len, words), default=0) > 3


def list_numbers(info: dict[str, Any], more: dict[str, Any]) -> dict[str, int]:
    """Maps patterns of number words to numbers."""
    own = number_words(more.get("numbers", ""), 1)
    for rule in info.get("simplifications", ()):
        for pattern, value in rule.items():
            if str(value).isdecimal() and PLAIN_PATTERN.fullmatch(pattern) and not pattern.isdecimal():
                own.setdefault(pattern.replace("(", "(?:"), int(value))
    return own


if __name__ == "__main__":
    main()
