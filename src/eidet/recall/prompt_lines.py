"""A record as one line of a prompt: when, who, and what was said, or the part of it that matters."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from ..core.record import Record
from ..core.validate import local
from ..text import unpack
from ..text.analysis import read_analysis
from ..text.chunks import MOST_UNITS, UNIT_CHARS, WHOLE_CHARS, units_of
from ..trust.privacy.quarantine import fence_text, trust_in

GAP: Final = "…"
_LEAD_CHARS: Final = 44  # of a date in brackets before a speaker
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def one_line(text: str) -> str:
    """White space of any kind becomes one space, so that no text can begin a line of its own."""
    return " ".join(text.split())


def speaker_of(record: Record) -> str:
    """Who said it, else the agent that stored it; empty if neither is known, or if the text says it first."""
    who = one_line(record.who or record.agent or "")
    return "" if who and f"{who}: " in record.text[: len(who) + _LEAD_CHARS] else who


def day_of(record: Record) -> str:
    """The local day on which it happened, as ISO 8601."""
    return local(record.occurred).date().isoformat()


def heading_of(record: Record) -> str:
    """`Fri 8 May 2026`: the day as a heading, which costs fewer tokens than ISO 8601."""
    day = local(record.occurred)
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year:04}"


def stamp_of(record: Record) -> str:
    """`[2026-05-08] Ann:`."""
    who = speaker_of(record)
    return f"[{day_of(record)}]" + (f" {who}:" if who else "")


def line_of(record: Record) -> str:
    """`[2026-05-08] Ann: …`, on one line."""
    return f"{stamp_of(record)} {one_line(record.text)}"


def quote_text(record: Record, said: str) -> str:
    """What is not trusted: who and what as a quotation on lines of its own."""
    who = speaker_of(record)
    return fence_text(f"{who}: {said}" if who else said, trust_in(record))


def quote_line(record: Record, said: str) -> str:
    """A line that is not trusted: the day, then the quotation."""
    return f"[{day_of(record)}] {quote_text(record, said)}"


def is_long(record: Record) -> bool:
    """Whether its text is searched in several units, and so can be told by one of them."""
    return len(record.text) > WHOLE_CHARS


def likely_chars(record: Record) -> int:
    """About how much of its text is told at least, without looking at it."""
    if is_long(record):
        return max(UNIT_CHARS, len(record.text) // MOST_UNITS) * 3 // 4
    return len(record.text)


def excerpt_of(record: Record, terms: AbstractSet[int]) -> str:
    """The unit of a long text that has most of the terms, between marks of what is not told."""
    units = units_of(record.text)
    at = _best(record, len(units), terms)
    before, after = f"{GAP} " if at else "", f" {GAP}" if at < len(units) - 1 else ""
    return f"{before}{one_line(units[at])}{after}"


def _best(record: Record, count: int, terms: AbstractSet[int]) -> int:
    """The first unit where none is better, or where the words of the record were not kept by unit."""
    kept = read_analysis(record.terms).units
    if len(kept) != count or not terms:
        return 0
    shared = [len(terms & unpack(unit).keys()) for unit in kept]
    return shared.index(max(shared))
