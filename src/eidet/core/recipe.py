"""Ranking recipes: how much each signal counts when a memory ranks what it found."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Final

from .errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The weights of the signals, relative to each other; a signal of weight 0 is not looked at.

    dense       nearness of the vectors, smoothed over the turns before and after
    words       how well the words align with those asked for, or BM25
    context     the best match within six turns of the same session
    speaker     said by the one who is asked about; a fact without a speaker counts if it names them
    identifier  has the number, code, path or version that the query names
    date        happened at, or speaks of, the time that is asked about
    form        has what is asked for: a time, a number, a name
    reply       answers another speaker's matching question
    question    is itself a question, which seldom answers one (counts against it)
    asked       is of the session, or has the phrase, that the query names
    importance, recency

    Signals of a conversation (context, smoothing, reply, question) fade out for records longer than
    `talk_terms` terms: they help among turns and hurt among long messages. When even the best score
    is below `nothing`, nothing is answered.

    Named recipes rank by weights that were learnt (docs/how-it-works/retrieval.md). Weights of your own say
    how much more or less than in "auto" a signal counts; 0 leaves it out.
    """

    name: str = "own"
    dense: float = 0.4
    words: float = 0.6
    context: float = 0.0
    speaker: float = 0.0
    identifier: float = 0.0
    date: float = 0.0
    form: float = 0.0
    reply: float = 0.0
    question: float = 0.0
    asked: float = 0.0
    importance: float = 0.05
    recency: float = 0.0
    half_life_days: float = 30.0
    talk_terms: int = 28
    nothing: float = 0.015
    depth: int = 400

    def __post_init__(self) -> None:
        for name in WEIGHTS:
            weight = getattr(self, name)
            if not (isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0):
                raise BadInput(f"the weight {name} must be a number from 0 up, not {weight!r}")
        if not self.half_life_days > 0 or self.depth < 1 or self.talk_terms < 1:
            raise BadInput("half_life_days, talk_terms and depth are above 0")
        if not 0 <= self.nothing <= 1:
            raise BadInput(f"nothing must be a score from 0 to 1, not {self.nothing!r}")


_SETTINGS: Final = {"name", "half_life_days", "talk_terms", "nothing", "depth"}
WEIGHTS: Final = tuple(field.name for field in fields(Recipe) if field.name not in _SETTINGS)
