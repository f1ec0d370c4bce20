"""Formats a record as one line of a prompt: day, speaker, and its text or the best part of it."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from ..core.record import Record
from ..core.validate import local
from ..text import Analyzer, term_id, unpack
from ..text.analysis import decode_analysis
from ..text.sentences import MOST_UNITS, UNIT_CHARS, WHOLE_CHARS, sentences, units_of
from ..text.tokens import TokenCounter
from ..trust.privacy.quarantine import fence_text, trust_in

GAP: Final = "…"
_LEAD_CHARS: Final = 44  # most characters of a date in brackets before a speaker
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def one_line(text: str) -> str:
    """Turns white space of any kind into one space, so that no text can start a line of its own."""
    return " ".join(text.split())


def speaker_of(record: Record) -> str:
    """Returns the speaker, else the agent that stored it; empty if unknown or already in the text."""
    who = one_line(record.who or record.agent or "")
    return "" if who and f"{who}: " in record.text[: len(who) + _LEAD_CHARS] else who


def day_of(record: Record) -> str:
    """Returns the local day on which it happened, as ISO 8601."""
    return local(record.occurred).date().isoformat()


def days_of(record: Record) -> tuple[str, str]:
    """Returns the day as a heading (`Fri 8 May`), which costs fewer tokens than ISO 8601, and its year."""
    day = local(record.occurred)
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}", f"{day.year:04}"


def stamp_of(record: Record) -> str:
    """Formats day and speaker: `[2026-05-08] Ann:`."""
    who = speaker_of(record)
    return f"[{day_of(record)}]" + (f" {who}:" if who else "")


def line_of(record: Record) -> str:
    """Formats a record as `[2026-05-08] Ann: …`, on one line."""
    return f"{stamp_of(record)} {one_line(record.text)}"


def quote_text(record: Record, said: str) -> str:
    """Quotes an untrusted text with its source, on lines of its own."""
    who = speaker_of(record)
    return fence_text(f"{who}: {said}" if who else said, trust_in(record))


def quote_line(record: Record, said: str) -> str:
    """Formats an untrusted record: the day, then the quotation."""
    return f"[{day_of(record)}] {quote_text(record, said)}"


def likely_chars(record: Record) -> int:
    """Estimates the least number of characters shown of a text: at least one of its units."""
    if len(record.text) > WHOLE_CHARS:
        return max(UNIT_CHARS, len(record.text) // MOST_UNITS) * 3 // 4
    return len(record.text)


def excerpt_of(
    record: Record, terms: AbstractSet[int], analyzer: Analyzer | None, room: int, counter: TokenCounter
) -> str:
    """Returns the sentence with most of the terms and those around it, with … for omitted text.

    In a long text only the unit with most of the terms is searched. A sentence is never cut, even if it
    exceeds the room.
    """
    units = units_of(record.text)
    at = _best(record, len(units), terms)
    said = [one_line(sentence) for sentence in sentences(units[at])] or [""]
    found = [0 if analyzer is None else len(terms & set(map(term_id, analyzer.terms(one)))) for one in said]
    first, last = _fit_around(found, [counter.count(f"{one} ") for one in said], room)
    before = f"{GAP} " if at or first else ""
    after = f" {GAP}" if at < len(units) - 1 or last < len(said) - 1 else ""
    return f"{before}{' '.join(said[first : last + 1])}{after}"


def _fit_around(values: Sequence[int], costs: Sequence[int], room: int) -> tuple[int, int]:
    """Returns the first and last of a run around the best value, grown on its better side while it fits."""
    first = last = values.index(max(values))
    room -= costs[first]
    while near := [at for at in (last + 1, first - 1) if 0 <= at < len(costs) and costs[at] <= room]:
        at = max(near, key=values.__getitem__)
        room -= costs[at]
        first, last = min(first, at), max(last, at)
    return first, last


def _best(record: Record, count: int, terms: AbstractSet[int]) -> int:
    """Returns the unit with most of the terms; the first if the record's words are not stored by unit."""
    kept = decode_analysis(record.terms).units
    if len(kept) != count or not terms:
        return 0
    shared = [len(terms & unpack(unit).keys()) for unit in kept]
    return shared.index(max(shared))
