"""What only the texts of the best hits tell: who says that they do not know, and who tells of a change.

The search ranks by columns. The few texts that are read anyway are looked at once more:

- a reply that knows nothing goes behind the others
- where the present is asked for, a newer statement that tells of a change goes before the one it changes
- where the first or the last is asked for, hits that tell of the same come in the order of time
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from ..core.hit import Hit, Reasons
from ..core.record import Record
from ..text.analysis import QUESTION, read_analysis, terms_in
from .understand import FIRST, LAST, NOW

LOOKED_AT: Final = 10  # hits whose texts are read
UPDATES: Final = 6  # hits among which a change is looked for
STATEMENT: Final = 160  # characters of a statement about one thing
SHORT: Final = 120  # characters of a reply that may say that it knows nothing
DAY: Final = 86_400.0

_KNOWS_NOTHING = re.compile(
    r"\b(?:no idea|not (?:sure|told me|know|found|aware)|don'?t know|haven'?t (?:told|heard|found)"
    r"|(?:have|know|found|remember|recall|say) nothing|nothing (?:about|on) that"
    r"|can(?:no|')?t (?:say|tell|find|remember)"
    r"|keine ahnung|wei(?:ß|ss) (?:ich )?(?:es |das )?(?:noch )?nicht|nichts (?:dazu|darüber))\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:now|instead|these days|nowadays|any ?more|any longer|no longer|no more|lately|renamed?"
    r"|swapp?(?:ed)?"
    r"|switch(?:ed|es)?|chang(?:ed|es)|mov(?:ed|es)|(?:has|have|got|get|the|a|with|her|his|our|my) new"
    r"|new \w+:|new \w+,|turned|got rid|gave (?:up|away)|given (?:up|away)|took over|taken over"
    r"|replac(?:ed|es)"
    r"|lower(?:ed|s)|rais(?:ed|es)|increas(?:ed|es)|put (?:\w+ ){0,3}up|push(?:ed)? (?:\w+ ){0,3}back"
    r"|postpon(?:ed|es)|bring forward|brought forward|cancel+ed|dropp(?:ed|s)|quit|split up|broke up|retired"
    r"|stopp(?:ed|s)|sold|lost|is late|are over|is over|has ended|became|since (?:this|last)|from \w+ on\b"
    r"|from (?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|jetzt|inzwischen|neuerdings|nicht mehr|statt(?:dessen)?|umgezogen|gewechselt|geändert)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clues:
    """What hits are read for: the moment that is asked for, and the ids of the query's terms and names."""

    moment: str
    terms: frozenset[int]
    names: frozenset[int]


def look_again(hits: list[Hit], clues: Clues) -> list[Hit]:
    """The hits in the order that their texts suggest; the scores stay where they are, best first."""
    head, rest = hits[:LOOKED_AT], hits[LOOKED_AT:]
    order = _put_knowing_first(head)
    if clues.moment == NOW:
        order = _put_change_first(order, clues)
    elif clues.moment in (FIRST, LAST):
        order = _put_in_time(order, clues)
    if order == head:
        return hits
    scores = [hit.score for hit in head]
    return [replace(hit, score=score) for hit, score in zip(order, scores, strict=True)] + rest


def _put_knowing_first(hits: list[Hit]) -> list[Hit]:
    knowing: list[Hit] = []
    others: list[Hit] = []
    for hit in hits:
        if _knows_nothing(hit.record):
            others.append(_add_words(hit, "says that it does not know"))
        else:
            knowing.append(hit)
    return knowing + others


def _knows_nothing(record: Record) -> bool:
    if record.who is None or len(record.text) > SHORT:
        return False
    return _KNOWS_NOTHING.search(record.text) is not None


def _put_change_first(hits: list[Hit], clues: Clues) -> list[Hit]:
    """The newest statement among the first few that tells of a change, before the one it changes."""
    if len(hits) < 2:
        return hits
    first = hits[0]
    subject = terms_in(first.record.terms) & clues.terms
    for hit in sorted(hits[1:UPDATES], key=_when, reverse=True):
        if _when(hit) > _when(first) + DAY and _changes(hit.record, subject, clues.names):
            rest = [other for other in hits if other is not hit]
            return [_add_words(hit, "tells of a change since"), *rest]
    return hits


def _changes(record: Record, subject: set[int], names: frozenset[int]) -> bool:
    if len(record.text) > STATEMENT or _asks(record):
        return False
    has = terms_in(record.terms)
    shared = has & subject
    same = names <= has
    if not names:
        same = 2 * len(shared) >= len(subject) and bool(shared)
    return same and _CHANGED.search(record.text) is not None


def _put_in_time(hits: list[Hit], clues: Clues) -> list[Hit]:
    """Of the hits that tell of the same as the best one, the first or the last in time goes first."""
    if len(hits) < 2:
        return hits
    subject = terms_in(hits[0].record.terms) & clues.terms
    same = [hit for hit in hits if _tells_of(hit.record, subject)]
    if len(same) < 2:
        return hits
    same.sort(key=_when, reverse=clues.moment == LAST)
    same[0] = _add_words(same[0], f"is the {clues.moment} of those")
    told = {hit.id for hit in same}
    return same + [hit for hit in hits if hit.id not in told]


def _tells_of(record: Record, subject: set[int]) -> bool:
    return (
        bool(subject)
        and len(record.text) <= STATEMENT
        and subject <= terms_in(record.terms)
        and not _asks(record)
    )


def _asks(record: Record) -> bool:
    return bool(read_analysis(record.terms).flags & QUESTION)


def _when(hit: Hit) -> float:
    return hit.record.occurred


def _add_words(hit: Hit, words: str) -> Hit:
    def reasons() -> Reasons:
        own = hit.reasons()
        return replace(own, words=(*own.words, words))

    return replace(hit, reasons=reasons)
