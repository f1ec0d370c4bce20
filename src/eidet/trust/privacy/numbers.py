"""Finds numbers that identify a person: cards, accounts, national ids, documents, telephones.

Each form in patterns.toml has a shape, a check and the words that usually precede it. Shapes are tried
only where a long enough number begins and have no unbounded repeats, so that time is linear in the text.
Check digits are those of `stdnum`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import cycle
from typing import Any, Final

from .findings import Found, Pii, finding_at, load_patterns, weigh_confidence

Check = Callable[[str], bool]
_NRIC: Final = {**dict.fromkeys("ST", "JZIHGFEDCBA"), **dict.fromkeys("FG", "XWUTRQPNMLK")}
_UNISSUED: Final = frozenset({"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"})  # beginnings of no NINO


# Checks that stdnum does not have. Each takes bare letters and digits, in upper case.


def _is_any(compact: str) -> bool:
    return len(set(compact)) > 2


def _is_hetu(compact: str) -> bool:
    """Checks a Finnish personal id; adds the hyphen for the century if it is missing."""
    from stdnum.fi import hetu

    return bool(hetu.is_valid(compact if len(compact) == 11 else f"{compact[:6]}-{compact[6:]}"))


def _is_nric(compact: str) -> bool:
    total = _weigh(compact[1:8], (2, 7, 6, 5, 4, 3, 2)) + 4 * (compact[0] in "TG")
    return _NRIC[compact[0]][total % 11] == compact[8]


def _is_document_field(field: str) -> bool:
    """Returns whether a passport field ends in its check digit; a filler counts as zero."""
    return str(_weigh(field[:-1].replace("<", "0"), cycle((7, 3, 1))) % 10) == field[-1]


def _weigh(text: str, weights: Iterable[int]) -> int:
    """Returns the weighted sum of the characters; letters count from 10 on."""
    return sum(int(one, 36) * weight for one, weight in zip(text, weights, strict=False))


_CHECKS: Final[dict[str, Check]] = {
    "any": _is_any,
    "nino": lambda compact: compact[:2] not in _UNISSUED,
    "hetu": _is_hetu,
    "nric": _is_nric,
    "document": _is_document_field,
    "american": lambda compact: compact[-7:-5] != "11" and _is_any(compact),
    "trunk": lambda compact: 9 <= len(compact) <= 12 and _is_any(compact),
    "grouped": lambda compact: len(compact) in (9, 10) and _is_any(compact),
}


# Forms.


@dataclass(frozen=True, slots=True)
class _Form:
    """The form of one kind of number, and the confidence of a match with and without a word that names it."""

    kind: str
    shape: re.Pattern[str]
    holds: Check
    alone: float  # 0: a match needs a word
    said: float
    words: str


@cache
def _forms(letters: bool) -> tuple[re.Pattern[str], tuple[_Form, ...]]:
    """Returns the forms with or without letters, and one pattern that matches any of their shapes."""
    patterns = load_patterns()
    rows = [row for row in patterns["numbers"] if row.get("letters", False) is letters]
    some = "|".join(row["shape"] for row in rows)
    return _compile(some), tuple(_form_of(row, patterns["calling"]) for row in rows)


def _compile(shape: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{shape})(?!\w|[.,:/-][0-9])", re.ASCII)  # not a part of a longer number


def _form_of(row: dict[str, Any], calling: str) -> _Form:
    return _Form(
        kind=row.get("kind", Pii.NATIONAL_ID),
        shape=_compile(row["shape"]),
        holds=_CHECKS.get(row["check"]) or import_module(f"stdnum.{row['check']}").is_valid,
        alone=row.get("alone", 0.0),
        said=row.get("said", 0.95),
        words=row.get("words", calling),
    )


_ODD: Final = re.compile(r"[^0-9A-Za-z]")
_SIGN: Final = re.compile(r"[0-9A-Za-z]")
_P: Final = r"[ .\u00a0/-]"  # separators people put into telephone numbers
_ABROAD: Final = re.compile(rf"(?:\+|00)[1-9](?:{_P}{{0,2}}\(?[0-9]\)?){{6,14}}(?![0-9])", re.ASCII)
# Where a number of nine digits or more begins, or one of six with letters: not in a word, and not after the
# first part of a longer number.
_BEGINS: Final = r"(?<![\w+])(?<![0-9][.,/:-])"
_DIGITS: Final = re.compile(rf"{_BEGINS}(?=\(?[0-9](?:[ .()/\t\u00a0-]{{0,3}}[0-9]){{8}})")
_LETTERS: Final = re.compile(
    rf"{_BEGINS}(?=[0-9](?:[ .-]?[0-9]){{5}})|(?<![^\W_])(?=[A-Za-z]{{1,6}}[ -]?[0-9])"
)
_PLUS: Final = re.compile(rf"{_BEGINS}(?:\+(?=[1-9])|(?=00[1-9]))")


def numbers(text: str) -> Iterator[Found]:
    yield from _ibans(text)
    yield from _machine_lines(text)
    yield from _abroad(text)
    yield from _match_forms(text, _DIGITS, letters=False)
    yield from _match_forms(text, _LETTERS, letters=True)


def _match_forms(text: str, begins: re.Pattern[str], *, letters: bool) -> Iterator[Found]:
    common, forms = _forms(letters)
    for start in (begin.start() for begin in begins.finditer(text)):
        for form in forms if common.match(text, start) else ():
            if match := form.shape.match(text, start):
                confidence = weigh_confidence(text, start, form.words, alone=form.alone, said=form.said)
                if confidence and form.holds(_compact(match[0])):
                    yield finding_at(text, form.kind, match.span(), confidence)


def _compact(text: str) -> str:
    return _ODD.sub("", text).upper()


def _abroad(text: str) -> Iterator[Found]:
    """Yields international telephone numbers: a plus or two zeros, a country code, up to fifteen digits."""
    for begin in _PLUS.finditer(text):
        match = _ABROAD.match(text, begin.start())
        if match is None:
            continue
        compact, plus = _compact(match[0]), bool(begin[0])
        if 8 <= len(compact) - 2 * (not plus) <= 15 and _is_any(compact):
            words = load_patterns()["calling"]
            confidence = 0.93 if plus else weigh_confidence(text, begin.start(), words, alone=0.6, said=0.95)
            yield finding_at(text, Pii.PHONE, match.span(), confidence)


# Account numbers.

_GAP: Final = r"[\s./\u2010-\u2015\u2212-]{0,4}"
_IBAN: Final = re.compile(rf"(?<![^\W_])[A-Za-z]{{2}}{_GAP}[0-9]{_GAP}[0-9](?:{_GAP}[0-9A-Za-z]){{11,29}}")
_IBAN_DIGITS: Final = 10  # that follow the check digits: a sentence that begins with "is 12" has fewer


def _ibans(text: str) -> Iterator[Found]:
    """Yields IBANs, written in groups of any size. The country determines the length."""
    from stdnum import iban

    at = 0
    while match := _IBAN.search(text, at):
        at = match.start() + 1
        span = (match.start(), _end_of_iban(match))
        compact = _compact(text[slice(*span)])
        digits = sum(map(str.isdigit, compact[4:]))
        if digits >= _IBAN_DIGITS and iban.is_valid(compact, check_country=False):
            yield finding_at(text, Pii.IBAN, span, 0.98)
            at = span[1]


def _end_of_iban(match: re.Match[str]) -> int:
    """Returns where an IBAN ends; the start of the match if it goes on or is too short."""
    length = _iban_length(match[0][:2].upper())
    places = [sign.start() for sign in _SIGN.finditer(match.string, *match.span())]
    if not length or len(places) < length or _SIGN.match(match.string, places[length - 1] + 1):
        return match.start()
    return places[length - 1] + 1


@cache
def _iban_length(country: str) -> int:
    """Returns the length of a country's IBANs; 0 for letters that are no such country."""
    from stdnum import numdb

    about: dict[str, str] = numdb.get("iban").info(country)[0][1]
    return 4 + sum(map(int, re.findall("[0-9]+", about["bban"]))) if "bban" in about else 0


# The lines that machines read on passports, visas and identity cards (ICAO 9303).

_MACHINE_LINE: Final = re.compile(r"(?<![A-Z0-9<])[A-Z0-9<]{30,44}(?![A-Z0-9<])")
_NAMES: Final = re.compile(r"[PVACI][A-Z<][A-Z<]{3}[A-Z]+<[A-Z<]*|[A-Z]+<[A-Z<]*<<[A-Z<]*")


def _machine_lines(text: str) -> Iterator[Found]:
    if "<" not in text:
        return
    for line in _MACHINE_LINE.finditer(text):
        if len(line[0]) in (30, 36, 44) and (_is_name_line(line[0]) or _is_number_line(line[0])):
            yield finding_at(text, Pii.NATIONAL_ID, line.span(), 0.98)


def _is_name_line(line: str) -> bool:
    return "<<" in line and _NAMES.fullmatch(line) is not None


def _is_number_line(line: str) -> bool:
    """Returns whether each field (number, birth, expiry) ends in its check digit."""
    if len(line) == 30:
        numbered = line[0] in "ACI" and _is_document_field(line[5:15])
        return numbered or all(map(_is_document_field, (line[0:7], line[8:15])))
    return all(map(_is_document_field, (line[0:10], line[13:20], line[21:28])))
