"""Extractive summaries: sentences of the text, chosen by vectors within a token budget, never invented.

The gain of a sentence is its similarity to the whole text, beyond what the sentences chosen before
cover. So the first one is central, the next ones open other topics, and a repetition gains nothing.
Informative sentences (`measure_information`) count more than pleasantries. Sentences are chosen greedily
by gain per token and written in their original order.

A model may write a text about the passages instead (`ask_or_fall_back`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core.record import Record
from ..models.embed import Vectors
from ..models.llm import LLM, Answer, Request
from ..models.llm.consult import Outcome, consult_or_fall_back
from ..text.sentences import sentences
from ..text.tokens import counter_of, cut
from .importance import measure_information

_Embed = Callable[[Sequence[str]], Vectors]

_CANDIDATES: Final = 1_024  # sentences to choose from; of a longer text, the best of each stretch
_TARGETS: Final = 4_096  # sentences to cover; of a longer text, every k-th
_LONGEST: Final = 2_000  # characters of a "sentence"; longer ones (tables, logs) are split into pieces
_PROMPT_CHARS: Final = 24_000
_ANSWER_CHARS: Final = 20_000
SUM_UP: Final = (
    "Sum up this conversation in at most {} tokens: who said, decided or did what, with names, dates and "
    "numbers. Only the summary, no preamble."
)
_THRIFT: Final = 0.7  # exponent of the cost of length: at 1, two-word sentences fill the summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage of text, with its speaker and day if known."""

    text: str
    who: str | None = None
    day: str | None = None


def passage_of(record: Record) -> Passage:
    return Passage(text=record.whole.text, who=record.who, day=f"{record.when:%Y-%m-%d}")


def ask_or_fall_back(
    llm: LLM | None,
    wish: str,
    passages: Iterable[Passage],
    tokens: int,
    otherwise: Callable[[], str],
    purpose: str = "summarise",
) -> Outcome[str]:
    """Lets a model write a text about the passages; calls `otherwise` without a usable answer."""
    lines = "\n".join(f"[{one.day}] {_line(one.text, one)}" if one.day else one.text for one in passages)
    request = Request(
        prompt=f"{wish}\n\n{lines[-_PROMPT_CHARS:]}",
        system="You keep the memory of an agent. You add nothing that was not said.",
        max_tokens=3 * tokens,
        purpose=purpose,
    )
    return consult_or_fall_back(llm, request, read=_parse_text, otherwise=otherwise)


def _parse_text(answer: Answer) -> str:
    text = answer.text.strip()
    if not text or len(text) > _ANSWER_CHARS:
        raise ValueError("no text of a usable length")
    return text


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence and the number of its passage."""

    text: str
    source: int


def summarise(passages: Sequence[Passage], embed: _Embed, budget: int) -> str:
    """Summarises in at most `budget` tokens, one line per passage: `[2026-05-08] Ann: …`.

    Writes a day only where it changes. Returns the whole text if that fits. If not even one sentence
    fits, returns the beginning of the best one; a budget of 0 gives the empty text.
    """
    said = [_Said(text, source) for source, one in enumerate(passages) for text in _pieces(one.text)]
    if not said or budget <= 0:
        return ""
    if counter_of(None).count(everything := _lines(said, passages)) <= budget:
        return everything
    return _within(_by_gain(said, passages, embed, budget), said, passages, budget)


def gist(text: str, embed: _Embed, tokens: int) -> str:
    """Shortens a text to at most `tokens`: its main sentences in order, or all of it if that fits."""
    fits = counter_of(None).count(text) <= tokens
    return text if fits else summarise([Passage(text=text)], embed, tokens)


def _pieces(text: str) -> list[str]:
    found = (" ".join(sentence.split()) for sentence in sentences(text))
    return [
        piece.strip()
        for sentence in found
        for piece in (sentence[at : at + _LONGEST] for at in range(0, len(sentence), _LONGEST))
        if piece.strip()
    ]


def _by_gain(said: Sequence[_Said], told: Sequence[Passage], embed: _Embed, budget: int) -> list[int]:
    """Returns the numbers of the sentences that a greedy choice takes within the budget, best first."""
    vectors = unit_rows(embed([sentence.text for sentence in said]))
    worth = np.array([measure_information(sentence.text) for sentence in said], np.float32)
    candidates = _candidates(vectors, worth)
    targets = np.linspace(0, len(said) - 1, min(len(said), _TARGETS)).astype(np.intp)
    # squared, because sentences of static vectors are all slightly similar, which means nothing
    alike = np.maximum(vectors[candidates] @ vectors[targets].T, 0.0) ** 2 * worth[targets]
    alike *= worth[candidates][:, None]
    lines = [_line(said[at].text, told[said[at].source]) for at in candidates]
    costs = [counter_of(None).count(line) + 1 for line in lines]
    return [int(candidates[at]) for at in _greedy(alike, np.array(costs, np.float32), budget)]


def _greedy(alike: NDArray[np.float32], costs: NDArray[np.float32], budget: int) -> list[int]:
    """Picks rows that fit in the budget, the largest gain per length first; else the best row."""
    covered, chosen = np.zeros(alike.shape[1], np.float32), list[int]()
    left = np.ones(len(costs), bool)
    while not chosen or (left & (costs <= budget)).any():
        gains = np.maximum(alike - covered, 0.0).sum(axis=1) / costs**_THRIFT
        fits = left & (costs <= budget)
        row = int(np.where(fits, gains, -1.0).argmax() if fits.any() else gains.argmax())
        chosen.append(row)
        left[row] = False
        budget -= int(costs[row])
        covered = np.maximum(covered, alike[row])
    return chosen


def _candidates(vectors: Vectors, worth: NDArray[np.float32]) -> NDArray[np.intp]:
    """Returns all sentences or, if there are many, the most central and informative of each stretch."""
    if len(vectors) <= _CANDIDATES:
        return np.arange(len(vectors))
    central = vectors @ vectors.mean(0) * worth
    stretches = np.array_split(np.arange(len(vectors)), _CANDIDATES)
    return np.array([stretch[int(central[stretch].argmax())] for stretch in stretches])


def _within(ranked: Sequence[int], said: Sequence[_Said], told: Sequence[Passage], budget: int) -> str:
    """Drops the last chosen sentences until the text fits: days cost too, and token counts may not add up."""
    kept, counter = len(ranked), counter_of(None)
    while kept > 0:
        text = _lines([said[at] for at in sorted(ranked[:kept])], told)
        if counter.count(text) <= budget:
            return text
        kept -= 1 + kept // 16
    return cut(_lines([said[ranked[0]]], told), budget, counter)


def _lines(chosen: Iterable[_Said], told: Sequence[Passage]) -> str:
    lines, day = [], None
    for source, group in groupby(chosen, key=lambda sentence: sentence.source):
        passage = told[source]
        line = _line(" ".join(sentence.text for sentence in group), passage)
        if passage.day and passage.day != day:
            line, day = f"[{passage.day}] {line}", passage.day
        lines.append(line)
    return "\n".join(lines)


def _line(text: str, passage: Passage) -> str:
    return f"{passage.who}: {text}" if passage.who else text


def unit_rows(rows: Vectors) -> Vectors:
    """Scales rows to length one; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit
