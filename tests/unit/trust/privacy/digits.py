"""Valid numbers made up from a seed: drawn in a form that people use until `stdnum` finds the check right."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from typing import Final

from stdnum import iban as ibans
from stdnum import luhn

SIGNS: Final = {
    "#": string.digits,
    "?": string.ascii_uppercase,
    "*": "ABCDEFGH",
    "@": "BCDFGLMNPRST",
    "%": "ABCDEHLMPRST",  # the months of a codice fiscale
}


def fill(random: Random, shape: str, signs: dict[str, str] = SIGNS) -> str:
    """Draws a sign for each that stands for some; the others stay."""
    return "".join(random.choice(signs[one]) if one in signs else one for one in shape)


def draw(random: Random, shapes: Sequence[str], is_right: Callable[[str], bool]) -> str:
    shape = random.choice(shapes)
    while not is_right(number := fill(random, shape)):
        pass
    return number


CARDS = (
    "4###############",
    "51## #### #### ####",
    "55##-####-####-####",
    "6011############",
    "37## ###### #####",
)


def card(random: Random, *, right: bool = True) -> str:
    """A card number, or one of sixteen digits that begins like one and fails its check."""
    shapes = CARDS if right else CARDS[:1]
    return draw(random, shapes, lambda number: luhn.is_valid(number.translate(_PLAIN)) is right)


_PLAIN = str.maketrans("", "", " -")
BBANS = {
    "en-US": "GB##****##############",
    "en-GB": "GB##****##############",
    "de-DE": "DE####################",
    "fr-FR": "FR#########################",
    "es-ES": "ES######################",
    "it-IT": "IT##*######################",
    "pt-PT": "PT#######################",
    "nl-NL": "NL##****##########",
    "pl-PL": "PL##########################",
    "sv-SE": "SE######################",
}


def iban(random: Random, locale: str) -> str:
    whole = draw(random, [BBANS[locale]], lambda number: ibans.is_valid(number, check_country=False))
    return whole if random.random() < 0.4 else " ".join(whole[at : at + 4] for at in range(0, len(whole), 4))


# By locale: the check (of stdnum, if there is one), and the forms in which the number is written.
IDS: Final[dict[str, tuple[str | None, Sequence[str]]]] = {
    "en-US": ("us.ssn", ["###-##-####"]),
    "en-GB": (None, ["JK######A", "CE ## ## ## B"]),
    "de-DE": ("de.idnr", ["###########", "## ### ### ###"]),
    "fr-FR": ("fr.nir", ["1##0###########", "2 ## 0# ## ### ### ##"]),
    "es-ES": ("es.dni", ["########?", "########-?"]),
    "it-IT": ("it.codicefiscale", ["@@@@@@##%##*###?"]),
    "pt-PT": ("pt.nif", ["1########", "2## ### ###"]),
    "nl-NL": ("nl.bsn", ["1########", "2########"]),
    "pl-PL": ("pl.pesel", ["##0########", "##21#######"]),
    "sv-SE": ("se.personnummer", ["##0###-####", "19##1###-####", "19##0#######"]),
}


def national_id(random: Random, locale: str) -> str:
    check, shapes = IDS[locale]
    return draw(random, shapes, bool if check is None else import_module(f"stdnum.{check}").is_valid)
