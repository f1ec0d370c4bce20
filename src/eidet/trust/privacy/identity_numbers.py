"""Numbers of passports, identity cards and registers of persons, beyond those of the ten locales.

A form counts alone only where its check digits, its date or its punctuation make it certain. All others
need a word before them that says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from . import check_digits as checks
from .findings import Found, Pii, finding_at


@dataclass(frozen=True, slots=True)
class Form:
    """What one kind of number looks like, and how sure a match is without and with a word that says so."""

    kind: str
    shape: str
    holds: Callable[[str], bool]
    alone: float
    said: float
    words: str
    lettered: bool = False


ID: Final = Pii.NATIONAL_ID
SAID: Final = 0.95
WORD: Final = 0.1  # alone, such a number could be anything
CERTAIN: Final = 0.9
_DOCUMENT = (
    r"passports?(?: ?#| number| no| nr)?|(?:reise)?pass(?:-?nummer|-?nr)|reisep(?:ass|\u00e4sse)|passeport"
    r"|pasaporte|passaporto|passaporte|paspoort\w*|paszport\w*|pass?nummer|(?:personal)?ausweis\w*"
    r"|perso|identity card|id[- ]card|carte d.identit\u00e9|carta d.identit\u00e0"
    r"|\u043f\u0430\u0441\u043f\u043e\u0440\u0442"
)


def _any(compact: str) -> bool:
    return len(set(compact)) > 2


def _digits(shape: str, holds: Callable[[str], bool], alone: float, words: str) -> Form:
    return Form(ID, shape, holds, alone, SAID, words)


def _letters(shape: str, holds: Callable[[str], bool], alone: float, words: str) -> Form:
    return Form(ID, shape, holds, alone, SAID, words, lettered=True)


IDENTITY_FORMS: Final = (
    _letters(
        r"(?i:[CFGHJKLMNPRTVWXY][CFGHJKLMNPRTVWXYZ0-9]{8}[0-9])", checks.german_document, WORD, _DOCUMENT
    ),
    _letters(r"(?i:[A-Z]{1,2}[- ]?[0-9]{6,8}|[CFGHJK][CFGHJKLMNPRTVWXYZ0-9]{8})", _any, WORD, _DOCUMENT),
    _digits(r"[0-9]{9}", _any, WORD, _DOCUMENT),
    _digits(r"[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}", checks.aadhaar, WORD, r"aadhaa?r\w*|uidai|uid"),
    _digits(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", checks.brazilian_cpf, CERTAIN, r"cpf"),
    _digits(r"[0-9]{9}-?[0-9]{2}", checks.brazilian_cpf, WORD, r"cpf"),
    _digits(
        r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}[.-][0-9]{2}",
        checks.belgian_number,
        CERTAIN,
        r"rijksregister\w*|registre national|insz|niss|nrn",
    ),
    _digits(r"[0-9]{11}", checks.belgian_number, WORD, r"rijksregister\w*|registre national|insz|niss|nrn"),
    _digits(
        r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}", checks.swiss_ahv, CERTAIN, r"ahv\w*|avs|svnr|sozialvers\w*"
    ),
    _digits(r"756[0-9]{10}", checks.swiss_ahv, WORD, r"ahv\w*|avs|svnr|sozialvers\w*"),
    _digits(
        r"[0-9]{6} ?[0-9]{5}",
        checks.norwegian_number,
        0.8,
        r"f\u00f8dselsn\w+|fnr|personnummer",
    ),
    _letters(
        r"(?i:[0-3][0-9][01][0-9]{3}[-+ABCDEFYXWVU][0-9]{3}[0-9A-FHJ-NPR-Y])",
        checks.finnish_hetu,
        CERTAIN,
        r"hetu|henkil\u00f6tunnu\w*",
    ),
    _digits(r"[1-9][0-9]{16}[0-9Xx]", checks.chinese_id, CERTAIN, r"id card|\u8eab\u4efd\u8bc1\w*"),
    _letters(
        r"(?i:[A-Z][AEIOUX][A-Z]{2}[0-9]{6}[HMX][A-Z]{5}[0-9A-Z][0-9])", checks.mexican_curp, CERTAIN, r"curp"
    ),
    _letters(r"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[0-9Kk]", checks.chilean_rut, 0.85, r"rut|run"),
    _letters(r"[0-9]{7,8}-[0-9Kk]", checks.chilean_rut, WORD, r"rut|run"),
    _digits(r"2[0347][- ]?[0-9]{8}[- ]?[0-9]", checks.argentine_cuit, WORD, r"cui[tl]"),
    _digits(
        r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}",
        checks.canadian_sin,
        WORD,
        r"sin|nas|social insurance(?: number| no)?",
    ),
    _digits(r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}", checks.uk_nhs, WORD, r"nhs(?: number| no)?"),
    _letters(r"(?i:[0-9]{7}[A-W][ABHW]?)", checks.irish_pps, WORD, r"pps(?:n| number| no)?"),
    _digits(
        r"[0-9]{6}/[0-9]{4}", checks.czech_number, 0.85, r"rodn[\u00e9e] [\u010dc][\u00edi]slo|r\.? ?\u010d"
    ),
    _digits(r"[1-8][0-9]{12}", checks.romanian_cnp, WORD, r"cnp"),
    _digits(r"[1-9][0-9]{10}", checks.turkish_number, WORD, r"t\.?c\.?(?: kimlik\w*)?|kimlik\w*|tckn"),
    _digits(
        r"[0-9]{6} ?[0-9]{4} ?[0-9]{3}", checks.south_african_id, WORD, r"(?:rsa |sa )?id(?: number| no)?"
    ),
    _digits(
        r"[0-9]{6}-[1-8][0-9]{6}", checks.korean_number, CERTAIN, r"\uc8fc\ubbfc\w*|rrn|resident registration"
    ),
    _digits(r"[0-9]{11}", checks.croatian_oib, WORD, r"oib"),
    _letters(r"(?i:[STFG][0-9]{7}[A-Z])", checks.singapore_nric, 0.8, r"nric|fin"),
    _digits(r"[0-9]{3} ?[0-9]{3} ?[0-9]{3}", checks.australian_tfn, WORD, r"tfn|tax file(?: number| no)?"),
    _digits(r"[0-3][0-9][01][0-9]{3}-?[0-9]{4}", checks.danish_cpr, WORD, r"cpr\w*(?:-nummer)?"),
)

WORDS: Final = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(form.words for form in IDENTITY_FORMS if form.alone == WORD)})(?![^\W_])",
    re.IGNORECASE,
)

_MACHINE_LINE: Final = re.compile(r"(?<![A-Z0-9<])[A-Z0-9<]{30,44}(?![A-Z0-9<])")
_NAMES: Final = re.compile(r"[PVACI][A-Z<][A-Z<]{3}[A-Z]+<[A-Z<]*|[A-Z]+<[A-Z<]*<<[A-Z<]*")


def machine_lines(text: str) -> Iterator[Found]:
    """The lines that machines read on passports, visas and identity cards (ICAO 9303)."""
    if "<" not in text:
        return
    for line in _MACHINE_LINE.finditer(text):
        if len(line[0]) in (30, 36, 44) and (_is_name_line(line[0]) or _is_number_line(line[0])):
            yield finding_at(text, ID, line.span(), 0.98)


def _is_name_line(line: str) -> bool:
    return "<<" in line and _NAMES.fullmatch(line) is not None


def _is_number_line(line: str) -> bool:
    """Each field is followed by its check digit: number, birth, expiry."""
    if len(line) == 30:
        numbered = line[0] in "ACI" and checks.machine_check(line[5:14], line[14])
        return numbered or _holds(line, (0, 6), (8, 14))
    return _holds(line, (0, 9), (13, 19), (21, 27))


def _holds(line: str, *fields: tuple[int, int]) -> bool:
    return all(checks.machine_check(line[start:end], line[end]) for start, end in fields)
