"""What a detector reports, and which of several reports about the same characters stands."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache


class Pii(StrEnum):
    """The classes that are looked for; user patterns add classes of their own."""

    EMAIL = "email"
    PHONE = "phone"
    CARD = "card"
    IBAN = "iban"
    NATIONAL_ID = "national_id"
    IP = "ip"
    MAC = "mac"
    SECRET = "secret"  # noqa: S105 - the name of a class
    BIRTH = "birth"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A stretch of text of one class. The text itself is left out of `repr`, so that logs stay clean."""

    kind: str
    start: int
    end: int
    text: str = field(repr=False)
    confidence: float

    @property
    def weight(self) -> float:
        """Long and certain wins over short or doubtful."""
        return (self.end - self.start) * self.confidence


Detector = Callable[[str], Iterator[Found]]


def finding_at(text: str, kind: str, span: tuple[int, int], confidence: float) -> Found:
    start, end = span
    return Found(kind=str(kind), start=start, end=end, text=text[start:end], confidence=confidence)


def resolve_overlaps(found: Iterable[Found]) -> list[Found]:
    """Findings that do not overlap, in text order: the weightiest first takes its place."""
    starts: list[int] = []
    taken: list[Found] = []
    for one in sorted(found, key=lambda one: (-one.weight, one.start, one.kind)):
        at = bisect_left(starts, one.start)
        if (at and taken[at - 1].end > one.start) or (at < len(taken) and taken[at].start < one.end):
            continue
        starts.insert(at, one.start)
        taken.insert(at, one)
    return taken


REACH = 40  # characters before a number in which a word about it counts

# Words after which a number is no personal one: it counts, versions, prices or refers to something.
OTHERWISE = (
    r"order|invoice|ticket|tracking|track|parcel|version|release|build|isbn|issn|sku|part|ref|refs"
    r"|reference|serial"
    r"|section|timestamp|unix|epoch|article|item|model|commit|price|total|sum|cost|amount|case|batch|build"
    r"|chapter"
    r"|bestell\w*|rechnung\w*|sendung\w*|artikel\w*|vorgang\w*|aktenzeichen|preis|commande|facture|suivi"
    r"|colis|prix"
    r"|pedido|factura|seguimiento|env[ií]o|precio|ordine|fattura|spedizione|prezzo|encomenda|fatura"
    r"|pre[cç]o"
    r"|bestelling|factuur|zending|prijs|zam[oó]wieni\w*|faktur\w*|przesy[lł]k\w*|cena|best[aä]llning\w*"
    r"|paket\w*|kolli\w*"
    r"|pris|ordre|ean|gtin|upc|imei|doi|pmid|ean-?13|v|ver|€|\$|£|eur|usd|pln|sek|kr|#"
)


@cache
def _signs(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:(?P<yes>{words})|(?:{OTHERWISE}))(?![^\W_])", re.IGNORECASE)


def leaning(text: str, start: int, words: str) -> int:
    """1 where one of the words stands closest before, -1 where a word about other numbers does, else 0."""
    last = 0
    for sign in _signs(words).finditer(text, max(0, start - REACH), start):
        last = -1
        if sign["yes"]:
            last = 1
    return last


def weigh_confidence(leaning: int, *, alone: float, said: float) -> float:
    """Confidence with a word that says so, without any, and against one that says otherwise."""
    if leaning > 0:
        return said
    if leaning == 0:
        return alone
    return alone / 2
