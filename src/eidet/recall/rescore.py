"""Hits with another score or further reasons. What a stage adds to a score is a signal of its own."""

from __future__ import annotations

from typing import Final

from ..core.hit import Hit, Reasons, Signal

TEXT: Final = "text"  # what the text itself tells of how well it answers
TIME: Final = "time"  # what later records say of the same
_SAME: Final = 1e-12


def rescore(hit: Hit, score: float, stage: str) -> Hit:
    """Returns the hit with a stage's score; the difference becomes a signal of that stage."""
    share = score - hit.score
    if abs(share) <= _SAME:
        return hit
    reasons = hit.reasons

    def explain() -> Reasons:
        own = reasons()
        return Reasons(signals=_add(own.signals, stage, share), matched=own.matched, words=own.words)

    return Hit(record=hit.record, score=score, reasons=explain, superseded_by=hit.superseded_by)


def _add(signals: tuple[Signal, ...], stage: str, share: float) -> tuple[Signal, ...]:
    """Adds a signal, or adds to it."""
    others = [signal for signal in signals if signal.name != stage]
    before = sum(signal.share for signal in signals if signal.name == stage)
    own = Signal(name=stage, value=min(1.0, abs(before + share)), share=before + share)
    return tuple(sorted([*others, own], key=lambda signal: -abs(signal.share)))


def add_words(hit: Hit, words: str, *, first: bool = False) -> Hit:
    """Returns the hit with one more reason in words."""
    reasons = hit.reasons

    def explain() -> Reasons:
        own = reasons()
        all_words = (words, *own.words) if first else (*own.words, words)
        return Reasons(signals=own.signals, matched=own.matched, words=all_words)

    return Hit(record=hit.record, score=hit.score, reasons=explain, superseded_by=hit.superseded_by)
