"""Dates of birth: a full date that a word about birth introduces. Other dates are left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .check_digits import is_date
from .findings import Found, Pii, finding_at

_BORN = (
    r"born|date of birth|d\.?o\.?b|birth ?dates?|birthday|birth|b\.|geb|geboren|geburtsdatum|geburtstag|né"
    r"|née|date de naissance"
    r"|naissance|anniversaire|nacid[oa]|nací|nació|fecha de nacimiento|cumpleaños|nat[oa]|data di nascita"
    r"|nascita|compleanno"
    r"|nascid[oa]|nasci|nasceu|data de nascimento|aniversário|geboortedatum|verjaardag|urodzon[yaej]+"
    r"|urodzi[łl]\w*|data urodzenia"
    r"|urodziny|ur|född|födelsedatum|födelsedag|födelsetid"
)
# The first letters of the months in the ten languages.
_MONTHS = (
    r"jan|ene|gen|sty|feb|fev|fév|febr|lut|mar|mär|maa|mrt|apr|avr|abr|kwi|may|mai|maj|mag|mei|jun|juin"
    r"|giu|cze|jul|juil|lug|lip"
    r"|aug|aoû|ago|sie|sep|set|wrz|oct|okt|out|ott|paź|paz|nov|nob|lis|dec|dez|déc|dic|gru"
)
_DATE = (
    r"[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./ ] ?[0-9]{1,2}[-./ ] ?[0-9]{4}"
    r"|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{2}"
    rf"|[0-9]{{1,2}}(?:\.|st|nd|rd|th|er|º|°)?[ -](?:de |of "
    rf"|en )?(?:{_MONTHS})[^\W\d_]{{0,9}}\.?,?[ -](?:de |del )?[0-9]{{4}}"
    rf"|(?:{_MONTHS})[^\W\d_]{{0,9}}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}}"
)
_SIGNS = (
    "born",
    "birth",
    "dob",
    "d.o.b",
    "b.",
    "geb",
    "né",
    "naissance",
    "anniv",
    "nac",
    "cumple",
    "nat",
    "nasc",
    "complean",
    "anivers",
    "verjaar",
    "urodz",
    "ur.",
    "ur:",
    "föd",
)
_BIRTH = re.compile(
    rf"(?<![^\W_])(?:{_BORN})(?![^\W_])[^0-9\n!?;]{{0,30}}?(?<![^\W_])(?P<date>{_DATE})(?![^\W_])",
    re.IGNORECASE,
)


def births(text: str) -> Iterator[Found]:
    small = text.lower()
    if not any(sign in small for sign in _SIGNS):
        return
    for match in _BIRTH.finditer(text):
        if _is_calendar(match["date"]):
            yield finding_at(text, Pii.BIRTH, match.span("date"), 0.9)


def _is_calendar(date: str) -> bool:
    """Whether day, month and year can be one, in any order that the formats allow."""
    parts = [int(part) for part in re.findall("[0-9]+", date)]
    if len(parts) == 2:  # a month by name
        return 1 <= min(parts) <= 31 and 1850 <= max(parts) <= 2100
    first, second, third = parts
    if first > 31:
        return is_date(first, second, third)
    return is_date(max(third, 1), second, first) or is_date(max(third, 1), first, second)
