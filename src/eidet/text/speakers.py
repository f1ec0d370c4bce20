"""Detects the speaker and time that a text begins with: `[2026-05-08] Ann: I moved`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import regex

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.validate import moment

_NAME: Final = (
    r"(?:\p{Lu}\p{Ll}{0,3}\.|(?:\p{Lu}['’]|Ma?c)?\p{Lu}[\p{Ll}\p{M}]+(?:['’-]\p{L}[\p{Ll}\p{M}]*)*)"
)
_TURN: Final = regex.compile(rf"\s*(?:\[([^\]\n]{{8,40}})\]\s*)?({_NAME}(?: {_NAME}){{0,2}}):\s+\S")
# Words before a colon that are labels, not speakers.
_LABELS: Final = frozenset(Path(__file__).with_name("label_words.txt").read_text(encoding="utf-8").split())


class _Turn(NamedTuple):
    who: str
    when: float | None


def name_speakers(drafts: Sequence[Draft], has_said: Callable[[str], bool]) -> list[Draft]:
    """Fills in `who` and `occurred` where a draft lacks them and its text states them. Texts stay whole.

    A name counts if a date in brackets precedes it, if it begins several of the texts, or if a speaker of
    that name `has_said` something before. In doubt, the draft stays as it is.
    """
    turns = [_detect_turn(draft) for draft in drafts]
    times = Counter(turn.who for turn in turns if turn is not None)
    return [
        replace(draft, who=turn.who, occurred=turn.when if draft.occurred is None else draft.occurred)
        if turn is not None and (turn.when is not None or times[turn.who] > 1 or has_said(turn.who))
        else draft
        for draft, turn in zip(drafts, turns, strict=True)
    ]


def says_when(draft: Draft) -> bool:
    """Returns whether the text begins with a date and a speaker."""
    turn = _detect_turn(draft)
    return turn is not None and turn.when is not None


def _detect_turn(draft: Draft) -> _Turn | None:
    if draft.who is not None or not isinstance(draft.text, str):
        return None
    found = _TURN.match(draft.text)
    if found is None or not _LABELS.isdisjoint(found[2].lower().split()):
        return None
    try:
        return _Turn(found[2], None if found[1] is None else moment(found[1]))
    except BadInput:
        return None  # the brackets hold no date
