"""From hits to a block of text for a prompt that never exceeds its token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..model import Hit, Record
from ..text.tokens import TokenCounter, cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A prompt-ready block: `str(context)` is its text."""

    text: str
    tokens: int
    budget: int
    hits: tuple[Hit, ...] = ()
    left_out: tuple[Hit, ...] = ()

    def __str__(self) -> str:
        return self.text


def line_of(record: Record) -> str:
    """`[2026-05-08] Ann: …`, on one line; the day is the local one."""
    said = " ".join(record.text.split())
    return f"[{_day(record.when)}] " + (f"{record.who}: {said}" if record.who else said)


def _day(when: datetime) -> str:
    try:
        return f"{when.astimezone():%Y-%m-%d}"
    except OverflowError:  # the first and the last day that there is have no other zone
        return f"{when:%Y-%m-%d}"


def pack(hits: Sequence[Hit], budget: int, counter: TokenCounter) -> Context:
    """Takes the best hits that fit, best first, and tells them in the order they happened.

    When not even the best one fits whole, its beginning is given.
    """
    chosen = _fitting(hits, budget, counter)
    while chosen and counter.count(_told(chosen)) > budget:  # a counter whose counts do not add up
        chosen.pop()
    text = _told(chosen) if chosen or not hits else cut(line_of(hits[0].record), budget, counter)
    used = chosen or list(hits[:1] if text else ())
    return Context(
        text=text,
        tokens=counter.count(text),
        budget=budget,
        hits=tuple(used),
        left_out=tuple(hit for hit in hits if hit not in used),
    )


def _fitting(hits: Sequence[Hit], budget: int, counter: TokenCounter) -> list[Hit]:
    """A joined text has at most one token more than its parts, so a sum is on the safe side."""
    chosen, spent = [], 0
    for hit in hits:
        cost = counter.count(line_of(hit.record)) + counter.count("\n") + 1
        if spent + cost <= budget + 1:
            chosen.append(hit)
            spent += cost
    return chosen


def _told(hits: Sequence[Hit]) -> str:
    ordered = sorted(hits, key=lambda hit: (hit.record.occurred, hit.record.seq))
    return "\n".join(line_of(hit.record) for hit in ordered)
