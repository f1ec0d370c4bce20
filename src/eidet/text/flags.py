"""Detects by patterns whether a text asks, mentions a time, has a number or names; finds identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple

from . import words_in
from .analysis import ACTOR, DAYS_KEPT, NAMED, NUMBERED, QUESTION, TIMED, Days
from .dates import Dated, dates_in, has_time, split_letters
from .words import STOP_WORDS, load_forms

LONGEST: Final = 4_000  # characters of a text that are searched
SURE: Final = 0.5  # the least confidence of a time that is kept


# ends with a question mark; brackets, quotes or a caption in brackets may follow
_ASKS = re.compile(r"""[?\uff1f\u061f\u037e]["'\u201d\u2019)\]*\s]*(?:\[[^\]]*\]\s*)?\Z""")
_ASKING = re.compile(r"[?\uff1f\u061f\u037e]")
_DIGIT = re.compile(r"\d")
_NUMBERS: Final = frozenset(
    b"one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred "
    b"thousand once twice couple few dozen half both several".split()
)
_CAPITAL = re.compile("[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f][^\\W\\d_]+")
_GREETING = re.compile(r"\b(?:hey|hi|hello|dear|thanks|yeah|wow|oh) \Z", re.IGNORECASE)
_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|Miss|St)\. \Z")
_NEXT = re.compile(r" ([a-z]+(?:'t)?)\b(?! ?[.!?])")
_STARTS: Final = frozenset((". ", "! ", "? ", ", ", "; ", ": ", "\n\n"))
_VERBS: Final = words_in(
    "is isn't was wasn't has hasn't had hadn't can can't cannot could couldn't will won't would wouldn't "
    "does doesn't did didn't must should may might never always still also just only now took gave left got "
    "went came bought sold said told made met kept lost won found built broke wrote sent paid spent felt "
    "heard held led ran saw set put quit taught thought understood woke wore drove ate drank flew grew knew "
    "sang slept spoke stood swam fell chose began became brought caught fought forgot hid hit hurt lent lay "
    "let"
)
_VERB_ENDS: Final = ("s", "ed")
_NO_NAME: Final = ("ing", "ly", "tion", "ness", "ment", "ship", "ence", "ance", "ity")
_CALENDAR: Final = words_in(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays "
    "Saturdays Sundays January February March April May June July August September October November December "
    "Today Tomorrow Yesterday Tonight"
)
_CAPITAL_NOUNS: Final = frozenset({"de"})


def times_of(text: str, occurred: datetime, language: str) -> tuple[Dated, ...]:
    """Finds the time expressions in the first `LONGEST` characters of a text, relative to its time."""
    return dates_in(text[:LONGEST], occurred, language=language, past=False)


def marks_of(
    text: str, occurred: datetime, language: str, dated: Sequence[Dated] | None = None
) -> tuple[int, tuple[Days, ...]]:
    """Returns the flags of a text and the days it mentions; `dated` are its `times_of`, if known."""
    start = text[:LONGEST]
    if dated is None:
        dated = times_of(text, occurred, language)
    flags = 0
    if ("?" in text or not text.isascii()) and asks(text[-400:]):
        flags = QUESTION
    if dated or has_time(start, language):
        flags |= TIMED
    if _has_number(start):
        flags |= NUMBERED
    if language not in _CAPITAL_NOUNS:
        flags |= _find_names(start)
    if not dated:
        return flags, ()
    days = tuple((found.first, found.last) for found in dated if found.confidence >= SURE)
    return flags, days[:DAYS_KEPT]


def _has_number(text: str) -> bool:
    """Returns whether a text has a number, in digits of any script or in words."""
    words, has_digits = split_letters(text)
    return has_digits or not _NUMBERS.isdisjoint(words) or (not text.isascii() and bool(_DIGIT.search(text)))


def asks(text: str) -> bool:
    """Returns whether a text ends with a question."""
    return _ASKING.search(text) is not None and _ASKS.search(text) is not None


def _find_names(text: str) -> int:
    """Returns `NAMED` for a capitalised word inside a sentence, `ACTOR` if one begins with a name, else 0."""
    actor = 0
    if text.isascii() and text.lower() == text:
        return actor
    for found in _CAPITAL.finditer(text):
        at, end = found.span()
        if _inside(text, at) and found[0] not in _CALENDAR:
            return NAMED
        if not actor and _acts(text, at, end):
            actor = ACTOR
    return actor


def list_names(text: str) -> list[str]:
    """Lists the capitalised words inside sentences, and those that begin one as its actor."""
    return [
        found[0]
        for found in _CAPITAL.finditer(text)
        if found[0] not in _CALENDAR and (_inside(text, found.start()) or _acts(text, *found.span()))
    ]


def _acts(text: str, at: int, end: int) -> bool:
    """Returns whether the word is an actor: "Hugo can't come", "…, Deniz has it now"."""
    after = _NEXT.match(text, end)
    if after is None or not (at == 0 or text[at - 2 : at] in _STARTS):
        return False
    low, verb = text[at:end].lower(), after[1]
    if text[at:end] in _CALENDAR or low in _list_common() or low.endswith(_NO_NAME):
        return False
    return verb in _VERBS or verb.endswith(_VERB_ENDS)


@cache
def _list_common() -> frozenset[str]:
    """Returns words that begin sentences but are no names."""
    return STOP_WORDS["en"].union(*load_forms())


def _inside(text: str, at: int) -> bool:
    """Returns whether a word is inside a sentence; after a comma or a greeting it is an address."""
    if at < 2 or text[at - 1] not in " -":
        return False
    if not text[at - 2].isalpha():
        return text[at - 2] == "." and _TITLE.search(text[max(0, at - 6) : at]) is not None
    return _GREETING.search(text[max(0, at - 8) : at]) is None


# --- identifiers: numbers, codes, versions, paths, hashes and function names that name one thing
#
# An identifier is matched whole or not at all: `INV-2026-0171` is not similar to `INV-2026-0117`. It has
# several spellings, though: `#4821` and `4821`, `INV-2024-001` and `inv 2024 001`, `v2.3.1` and `2.3.1`,
# `getUserName` and `get_user_name`. Years, prices, amounts with a unit and dates name no single thing.

Span = tuple[int, int]

_ASKED: Final = 2_000  # characters of a query that are searched for identifiers
MOST_IDENTIFIERS: Final = 8  # identifiers of a query that count
_PHONE_DIGITS: Final = 7  # least digits of a phone number; groups with fewer are an amount or a time

# words tied by signs: INV-2024-001, src/tax/rules.py, #4821
_TIED = re.compile(r"(?<![\w/.@+-])(?<!\d,)(?:[#№]\s?)?\+?\w+(?:[-./_:@\\]+\w+)*(?![\w@]|,\d{3}(?!\d))")
# groups with blanks between: a telephone number, a number plate
_SPACED = re.compile(r"(?<!\w)(?:\+?\d{1,4}|[A-Z]{1,4})(?:[ \u00a0]\d{2,6}){1,6}(?![\w.,]\d|\w)")
# one of these is in every ASCII identifier: a digit, a sign that ties words, a dot or a hump in a word;
# each begins with a character that is rare in texts, so that most need a single scan
_SIGN = re.compile(r"[0-9/@\\_:]")
_TURN = re.compile(r"[A-Z.](?<=[a-z].)(?:(?<=[A-Z])|(?=[a-z]))")
_PARTS = re.compile(r"\w+")
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
    read = text[:_ASKED]
    if read.isascii() and _SIGN.search(read) is None and _TURN.search(read) is None:
        return ()
    found: dict[str, Identifier] = {}
    used = list(taken)
    for match in (*_find_spaced(read), *_find_tied(read)):
        start, end = match.span()
        if not any(start < other[1] and other[0] < end for other in used):
            used.append((start, end))
            named = match[0].strip("#№ \u00a0")
            found.setdefault(named.casefold(), Identifier(named, tuple(_list_ways(named))))
    return tuple(found.values())[:MOST_IDENTIFIERS]


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
        parts = _PARTS.findall(_HUMP.sub(" ", form).replace("_", " "))
        yield "".join(parts)
        if len(parts) > 1 and max(map(len, parts)) > 2:
            yield " ".join(parts)
