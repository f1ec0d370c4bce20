"""What the texts of the best hits are read for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..text import Analyzer
from .answer_forms import Wants

NO_WANTS: Final = Wants()


@dataclass(frozen=True, slots=True)
class Clues:
    """What hits are read for.

    moment    which of several statements is asked for
    terms     the ids of the query's terms, and `names` those of its names
    analyzer  of the memory, whose language has lists of related words or not
    wants     what the text of an answer has
    ended     when the time that is asked for was over, if one is
    speakers  the ids of the terms of the participants that the query names
    asks      whether the query is a question: what is none is found in stored questions, too
    expects   flags of what an answer has: a time, a number, a name
    """

    moment: str
    terms: frozenset[int]
    names: frozenset[int]
    analyzer: Analyzer
    wants: Wants = NO_WANTS
    ended: float | None = None
    speakers: frozenset[int] = frozenset()
    expects: int = 0
    asks: bool = False
