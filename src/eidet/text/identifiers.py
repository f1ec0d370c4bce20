"""Finds identifiers: numbers, codes, versions, paths, hashes and function names that name one thing.

An identifier is matched whole or not at all: `INV-2026-0171` is not similar to `INV-2026-0117`. It has
several spellings, though: `#4821` and `4821`, `INV-2024-001` and `inv 2024 001`, `v2.3.1` and `2.3.1`,
`getUserName` and `get_user_name`. Years, prices, amounts with a unit and dates name no single thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

Span = tuple[int, int]

LONGEST: Final = 2_000  # characters of a query that are searched
MOST: Final = 8  # identifiers of a query that count
_PHONE_DIGITS: Final = 7  # least digits of a phone number; groups with fewer are an amount or a time

# words tied by signs: INV-2024-001, src/tax/rules.py, #4821
_TIED = re.compile(r"(?<![\w/.@+-])(?<!\d,)(?:[#№]\s?)?\+?\w+(?:[-./_:@\\]+\w+)*(?![\w@]|,\d{3}(?!\d))")
# groups with blanks between: a telephone number, a number plate
_SPACED = re.compile(r"(?<!\w)(?:\+?\d{1,4}|[A-Z]{1,4})(?:[ \u00a0]\d{2,6}){1,6}(?![\w.,]\d|\w)")
# one of these is in every ASCII identifier: a digit, a sign that ties words, a dot or a hump in a word;
# each begins with a character that is rare in texts, so that most need a single scan
_SIGN = re.compile(r"[0-9/@\\_:]")
_TURN = re.compile(r"[A-Z.](?<=[a-z].)(?:(?<=[A-Z])|(?=[a-z]))")
_WORDS = re.compile(r"\w+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CAMEL = re.compile(r"[a-z]{2,}(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){3,}")
_DOTTED = re.compile(r"[a-z]\.[a-z]")
_VERSION = re.compile(r"^[vV](?=\d)")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_MEASURE = re.compile(
    r"\d+-[a-z]+|(?:pre|post|mid|early|late)-\d+|(?:19|20)\d0s"
    r"|\d+(?:[.,]\d+)*(?:st|nd|rd|th|s|k|m|g|kg|km|cm|mm|ml|l|h|am|pm|x|gb|mb|kb|tb|kwh|w|v|°c|c|f)",
    re.IGNORECASE,
)
_AMOUNT_BEFORE = re.compile(
    r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|NOK|SEK|DKK|at least|at most|about|over|under))\s?$"
)
_AMOUNT_AFTER = re.compile(
    r"^\s?(?:[%€$£¥°‰]|[a-zA-Zµ²³/]{1,3}\b(?<!\bof)(?<!\bin)(?<!\bon)(?<!\bis)(?<!\bdo)(?<!\bto)(?<!\bat)"
    r"|(?:euros?|dollars?|pounds?|cents?|kronor|kroner|francs?|yen|percent|people|persons?|guests?|times"
    r"|(?:kilo|centi|milli)?(?:met(?:re|er)s?|grams?|lit(?:re|er)s?)|miles?|kilos?|degrees|watts?|volts?"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?|steps|pages|words|items|copies|records|rows"
    r"|square|cubic|million|thousand|billion|hundred)\b)"
)
_LABEL = re.compile(
    r"(?:[#№]|\b(?:no\.?|nr\.?|num(?:ber)?|id|order|ticket|issue|case|claim|invoice|bill|room|flight|pr|build"
    r"|customer|account|booking|reference|ref\.?|code|error|line|gate|version|release|article|part|serial))"
    r"\s*:?\s*[#№]?\s*$",
    re.IGNORECASE,
)


class Identifier(NamedTuple):
    """An identifier as written, and the sets of words under which a text may contain it."""

    text: str
    ways: tuple[str, ...]


def identifiers_in(text: str, taken: Sequence[Span] = ()) -> tuple[Identifier, ...]:
    """Finds the identifiers of a query in order; skips spans that are `taken`, such as dates."""
    read = text[:LONGEST]
    if read.isascii() and _SIGN.search(read) is None and _TURN.search(read) is None:
        return ()
    found: dict[str, Identifier] = {}
    used = list(taken)
    for match in (*_find_spaced(read), *_find_tied(read)):
        if not _overlaps(match.span(), used):
            used.append(match.span())
            named = match[0].strip("#№ \u00a0")
            found.setdefault(named.casefold(), Identifier(named, tuple(_list_ways(named))))
    return tuple(found.values())[:MOST]


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _find_spaced(text: str) -> Iterator[re.Match[str]]:
    for match in _SPACED.finditer(text):
        groups = match[0].split()
        digits = sum(map(str.isdigit, match[0]))
        dated = len(groups) == 2 and _YEAR.fullmatch(groups[1])
        if digits >= _PHONE_DIGITS or (groups[0].isalpha() and digits > 2 and not dated):
            yield match


def _find_tied(text: str) -> Iterator[re.Match[str]]:
    for match in _TIED.finditer(text):
        word = match[0].strip("#№ \u00a0+")
        if not any(map(str.isdigit, word)):
            named = _is_code_name(word)
        elif any(map(str.isalpha, word)):
            named = _MEASURE.fullmatch(word) is None
        else:
            named = _is_number_of_one(text, match, word)
        if named:
            yield match


def _is_number_of_one(text: str, match: re.Match[str], word: str) -> bool:
    """Returns whether digits name one thing: with a label before ("order 12") they do, with a unit not."""
    before, after = text[: match.start()], text[match.end() :]
    labelled = match[0][0] in "#№" or _LABEL.search(before) is not None
    if word.count(".") > 1 or "-" in word or word.count(":") > 2:
        return True
    if "/" in word:
        return labelled and max(map(len, word.split("/"))) > 2
    if "." in word or ":" in word:
        return False
    if labelled:
        return True
    if len(word) < 3 or _YEAR.fullmatch(word):
        return False
    return _AMOUNT_BEFORE.search(before) is None and _AMOUNT_AFTER.search(after) is None


def _is_code_name(word: str) -> bool:
    """Returns whether a word is a path, an address or a name in code, not just tied by a hyphen or slash."""
    if "/" in word:
        return word.count("/") > 1 or "." in word
    if "@" in word or "\\" in word or "::" in word or "_" in word.strip("_"):
        return True
    return _CAMEL.fullmatch(word) is not None or _DOTTED.search(word) is not None


def _list_ways(named: str) -> Iterator[str]:
    """Yields sets of words, one of which a text with the identifier contains: tied together, or its parts.

    Parts do not suffice if all are short: 2.4.13 is not 2.13.4.
    """
    for form in dict.fromkeys((named, _VERSION.sub("", named))):
        parts = _WORDS.findall(_HUMP.sub(" ", form).replace("_", " "))
        yield "".join(parts)
        if len(parts) > 1 and max(map(len, parts)) > 2:
            yield " ".join(parts)
