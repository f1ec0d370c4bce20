"""Postal addresses: street and number, with postcode and city where they follow. Best effort.

Streets are known by their words (Street, rue, -straße, ul. …). A street without such a word ("Unter den
Linden 5") is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .findings import Found, Pii, finding_at

_U = "A-ZÀ-ÖØ-ÞĄĆĘŁŃŚŹŻČŠŽ"
_WORD = rf"[{_U}][\w'’-]{{0,30}}\.?"  # a name begins with a capital
_SMALL = (
    r"(?:de la|de los|de las|de l'|de|del|della|dei|delle|degli|di|d'|da|das|do|dos|du|des|la|le|les|l'"
    r"|van|van de|van der|den|der|y|e|i|of|the|och)"
)
_NAMES = rf"(?:{_SMALL}[ ']?){{0,2}}{_WORD}(?: (?:{_SMALL}[ ']?){{0,2}}{_WORD}){{0,3}}"
_NUMBER = r"(?:n[.º°o]{1,2} ?)?[0-9]{1,4}(?: ?[a-zA-Z](?![\w]))?(?:[/-][0-9]{1,4}[a-z]?)?"

_EN = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Pl|Square|Sq"
    r"|Terrace|Close|Crescent"
    r"|Gardens|Grove|Row|Mews|Circle|Parkway|Pkwy|Highway|Hwy|Trail|Hill)"
)
_FR = r"(?:rue|avenue|av\.|boulevard|bd|place|chemin|impasse|allée|quai|route|cours|square|passage)"
_TAILED = (
    r"(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|damm|ufer|chaussee|steig|straat|laan|plein|gracht"
    r"|kade|singel|dijk"
    r"|gatan|vägen|gränd|torget|stigen|allén|backen|gata|väg)"
)
_APART = (
    r"(?:Straße|Strasse|Str\.|Weg|Platz|Allee|Gasse|Ring|Damm|Ufer|gatan|vägen|gata|väg|torg|straat|laan"
    r"|plein|gracht)"
)
_LED = (
    r"(?:Calle|C/|Avda\.|Av\.|Avenida|Plaza|Paseo|Camino|Ronda|Carrer|Via|Viale|Piazza|Corso|Vicolo|Largo"
    r"|Strada|Rua|Praça"
    r"|Travessa|Alameda|Estrada|[Uu]l\.|[Uu]lica|[Uu]licy|[Aa]l\.|[Aa]leja|[Aa]lei|[Pp]l\.|[Pp]lac|[Oo]s\."
    r"|[Oo]siedle)"
)

_POST = (
    r"(?:[A-Z]{1,2}-)?(?:[0-9]{5}|[0-9]{4} ?[A-Z]{2}|[0-9]{2}-[0-9]{3}|[0-9]{4}-[0-9]{3}|[0-9]{3} [0-9]{2})"
)
_UK_POST = r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"
_TOWN = rf"[{_U}][\w'’-]{{0,30}}"
_CITY = rf"{_TOWN}(?:[ -]{_TOWN}){{0,2}}"
_FLAT = r"(?:,? (?:Apt|Apartment|Flat|Unit|Suite|Apto|piso|interno|m\.)\.? ?#?[0-9]{1,4}[A-Za-z]?)?"
_TAIL = (
    rf"{_FLAT}(?:,?[ \n]{{1,2}}{_POST},?[ ]{_CITY}|,[ \n]{_CITY}, [A-Z]{{2}} [0-9]{{5}}(?:-[0-9]{{4}})?"
    rf"|,[ \n]{_CITY},? {_UK_POST})?"
)


@cache
def _whole(form: str) -> re.Pattern[str]:
    """Made when a text first has a word of the form: patterns as long as these take their time."""
    return re.compile(rf"(?<![\w.,-])(?:{form})(?!\w){_TAIL}(?!\w)")


def _words(alternatives: str) -> frozenset[str]:
    """The bare words of a pattern of alternatives, as a sentence would hold them."""
    plain = re.sub(r"\[(\w)(\w)\]", r"\2", alternatives).replace("\\", "").strip("(?:)")
    return frozenset(word.strip(".").lower() for word in plain.split("|"))


# Each form with the words of which it needs one.
_FORMS = (
    (
        rf"[0-9]{{1,5}}[A-Za-z]? (?:[NSEW]\.? )?(?:{_WORD} |[0-9]{{1,3}}(?:st|nd|rd|th) ){{1,3}}{_EN}\.?",
        _words(_EN),
    ),
    (rf"[0-9]{{1,4}}(?: ?(?:bis|ter))?,? (?i:{_FR}) {_NAMES}", _words(_FR)),
    (rf"(?:{_WORD}[ -]){{1,3}}{_APART} {_NUMBER}", _words(_APART)),
    (rf"{_LED} {_NAMES},? {_NUMBER}", _words(_LED)),
)
_COMPOUND = rf"[{_U}][\w-]{{1,30}}?{_TAILED} {_NUMBER}"
_ENDINGS = tuple(_words(_TAILED.replace("stra(?:ß|ss)e", "straße|strasse")))


def addresses(text: str) -> Iterator[Found]:
    words = {word.strip(".,;:()") for word in text.lower().split()}
    forms = [form for form, needed in _FORMS if not needed.isdisjoint(words)]
    if any(word.endswith(_ENDINGS) for word in words):
        forms.append(_COMPOUND)
    for form in forms:
        for match in _whole(form).finditer(text):
            yield finding_at(text, Pii.ADDRESS, match.span(), _certainty(match[0]))


def _certainty(address: str) -> float:
    """A postcode makes it sure; street and number alone are likely."""
    if re.search(rf"{_POST}|{_UK_POST}", address):
        return 0.95
    return 0.65
