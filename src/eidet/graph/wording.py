"""Facts in words: a profile of an entity, and lines of a timeline."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from .fact import Fact


def phrase_fact(fact: Fact) -> str:
    """A fact with its times, as one line."""
    sentence = fact.text
    if fact.confidence < 0.5:
        sentence = f"perhaps: {sentence}"
    when = phrase_span(fact)
    if when:
        return f"{sentence} ({when})"
    return sentence


def phrase_span(fact: Fact) -> str:
    """From when to when, by days."""
    if fact.valid_to is None:
        if fact.valid_from is None:
            return ""
        return f"since {day_of(fact.valid_from)}"
    if fact.valid_from is None:
        return f"until {day_of(fact.valid_to)}"
    return f"{day_of(fact.valid_from)} to {day_of(fact.valid_to)}"


def day_of(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def phrase_profile(name: str, aliases: Iterable[str], now: Iterable[Fact], later: Iterable[Fact]) -> str:
    """A short text of what holds, and of what is to come."""
    lines = [name]
    others = [alias for alias in aliases if alias != name]
    if others:
        lines[0] = f"{name} (also {', '.join(others)})"
    for fact in now:
        lines.append(f"- {phrase_fact(fact)}")
    for fact in later:
        lines.append(f"- from {day_of(fact.valid_from or 0.0)}: {fact.text}")
    return "\n".join(lines)
