"""How many tokens a text costs: a port, an offline estimate, and cutting a text to a budget."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..errors import BadInput
from .words import SPACELESS, Memo


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a text, as some language model would or nearly so."""

    def count(self, text: str) -> int:
        """0 for the empty text; more text never costs less; safe in many threads.

        Two texts joined cost at most one more than apart: what a budget relies on when it adds up.
        """


class Estimate:
    """A guess without any vocabulary, from the lengths of words, numbers and signs.

    Measured on 2,760 turns of English dialogue: 3.8 % above the count of Llama 2 in all, and 6 % off on
    a single turn (mean, either way); on long chat messages 1 % below and 5 % off. Larger vocabularies
    (GPT-4, Llama 3) need fewer tokens than Llama 2 for the same text: for them it leans high.
    """

    def count(self, text: str) -> int:
        return math.ceil(sum(map(_costs.__getitem__, _PIECE.findall(text))) / 100)


@dataclass(frozen=True, slots=True)
class Words:
    """White-space separated words times a factor, rounded up."""

    factor: float = 1.3

    def count(self, text: str) -> int:
        return math.ceil(len(text.split()) * self.factor)


@dataclass(frozen=True, slots=True)
class _Called:
    count: Callable[[str], int]


def counter_of(spec: TokenCounter | Callable[[str], int] | None = None) -> TokenCounter:
    """The counter meant: None is `Estimate`, an object with `count` itself, a function is wrapped."""
    if spec is None:
        return Estimate()
    if isinstance(spec, TokenCounter):
        return spec
    if callable(spec):
        return _Called(spec)
    raise BadInput(f"a token counter has a count method or is a function, {type(spec).__name__} is neither")


def cut(text: str, budget: int, counter: TokenCounter) -> str:
    """The longest prefix that ends with a word and costs at most the budget; "" where none does.

    Counts about log2(words) prefixes. The answer is within the budget even if the counter is not
    monotone; it may then be shorter than possible.
    """
    if counter.count(text) <= budget:
        return text
    ends = [word.end() for word in _UNIT.finditer(text)]
    fitting = bisect_right(ends, budget, key=lambda end: counter.count(text[:end]))
    return text[: ends[fitting - 1]] if fitting else ""


# a word for `cut`: the characters of scripts without spaces can be parted anywhere
_UNIT = re.compile(rf"[{SPACELESS}]|[^\s{SPACELESS}]+")

# Each kind of run is found by its characters alone, and the cost of a run grows with its length but
# not faster than by parts: the laws of `TokenCounter` follow.
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[!-/:-@\[-`{-~]+| {2,}|[\t-\r]+|[^\t-\r -~]")


def _cost(piece: str) -> int:
    """Hundredths of a token, fitted to Llama 2; digits and other scripts between it and GPT-4."""
    first, last, size = piece[0], piece[-1], len(piece)
    if not first.isascii():
        return _cost_of_sign(first)
    if last.islower():
        return 103 + 14 * max(0, size - 4)
    if last.isalnum():
        return 50 + 50 * size
    if last == " ":
        return 20 * (size - 1)
    return 60 + 40 * size


def _cost_of_sign(sign: str) -> int:
    """Alphabets share tokens between letters, Chinese and Indic hardly, emoji are several tokens each."""
    if sign < "\u0900":
        return 60
    if "\u2000" <= sign < "\u2c00":
        return 100
    return 130 if sign < "\U00010000" else 300


_costs = Memo(_cost)
