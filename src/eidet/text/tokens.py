"""How many tokens a text costs: a port, an offline estimate, and cutting a text to a budget."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sized
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from ..core.errors import BadInput, Misconfigured, translate_errors
from ..core.validate import plain_value
from .words import SPACELESS, Memo


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a text, as some language model would or nearly so."""

    def count(self, text: str) -> int:
        """0 for the empty text; more text never costs less; safe in many threads.

        Two texts joined cost at most one more than apart: what a budget relies on when it adds up.
        Exact counters follow their model, which may break the last two by a token or two; `cut` and
        `pack` keep to the budget with them too.
        """


class Estimate:
    """A guess without any vocabulary, from the lengths of words, numbers and signs; 15 MB of text a second.

    Fitted to be little below what any model in wide use counts, and measured on the same 4 MB of text.
    How far it is above (+) or below the exact count of a whole corpus, in percent:

    ====================  =======  =====  ======  =======  ======  =======
    text                  Llama 2  GPT-4  GPT-4o  Llama 3  Qwen 3  Gemma 3
    ====================  =======  =====  ======  =======  ======  =======
    English, chat              -1    +11     +16      +11     +11       +8
    English, long answers      -6    +16     +18      +16     +15      +12
    German                     -1     +4     +28       +4      +5      +25
    French                     +2    +15     +33      +15     +16      +26
    Polish                     -7     -3     +17       -2      +3      +28
    Finnish                   -16     -7     +22       -7      -7      +12
    Russian                   +32    +12     +80      +58     +43      +71
    Hebrew                    -16     -7     +71       -7     +53      +36
    Chinese                   -11    +10     +57      +50     +71      +64
    Japanese                  -12      0     +34      +43     +46      +66
    Korean                    -35     -3     +51      +48     +34      +58
    Python                     -6    +19     +18      +19     +17       +3
    JSON                      -10    +13     +14      +13      +9       +1
    ====================  =======  =====  ======  =======  ======  =======

    Where that matters count exactly: `counter_of("file:tokenizer.json")`, or a function of yours.
    """

    def count(self, text: str) -> int:
        if not text:
            return 0
        around = (text[0] == " ") + (text[-1] == " ")  # splitting finds a word that is empty there
        return math.ceil((sum(map(_costs.__getitem__, text.split(" "))) - around * _SPACE) / 100)


@dataclass(frozen=True, slots=True)
class Words:
    """White-space separated words times a factor, rounded up."""

    factor: float = 1.3

    def count(self, text: str) -> int:
        return math.ceil(len(text.split()) * self.factor)


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """The number of tokens that a tokenizer in Hugging Face's format makes."""

    path: str
    tokenize: Callable[[str], Sized]

    def count(self, text: str) -> int:
        return len(self.tokenize(text.encode(errors="replace").decode()))  # half a surrogate pair is no text


class _Foreign:
    """A counter of the user, named where it raises or gives no number. Rounds up: many divide by four."""

    def __init__(self, count: Callable[[str], float], name: str) -> None:
        self._count = count
        self._name = name

    def count(self, text: str) -> int:
        with translate_errors(self._name):
            tokens = plain_value(self._count(text))
        if isinstance(tokens, bool) or not isinstance(tokens, int | float) or not 0 <= tokens < math.inf:
            raise BadInput(f"{self._name} gave {tokens!r:.80} for a text; it has to give a number from 0 up")
        return math.ceil(tokens)


def counter_of(spec: TokenCounter | Callable[[str], float] | str | None = None) -> TokenCounter:
    """The counter meant: None is `Estimate`, an object with `count` itself, a function is wrapped.

    Strings are "estimate", "words", and "file:tokenizer.json" for a file of Hugging Face's format.
    """
    if spec is None:
        return Estimate()
    if isinstance(spec, str):
        return _counter_named(spec)
    if isinstance(spec, Estimate | Words | TokenizerFile | _Foreign):
        return spec
    count = spec.count if isinstance(spec, TokenCounter) else spec
    if callable(count):
        return _Foreign(count, f"token counter {getattr(spec, '__qualname__', type(spec).__qualname__)!r}")
    raise BadInput(f"a token counter has a count method or is a function, {type(spec).__name__} is neither")


def _counter_named(spec: str) -> TokenCounter:
    if spec in ("estimate", "words"):
        return Estimate() if spec == "estimate" else Words()
    name, _, path = spec.partition(":")
    if name != "file" or not path:
        raise Misconfigured(
            f"there is no token counter named {spec!r}; there are estimate, words and file:PATH, "
            "or give a function"
        )
    return _load_tokenizer(path)


@cache
def _load_tokenizer(path: str) -> TokenizerFile:
    """Loads a tokenizer once per process, in 0.05 to 0.5 s."""
    if not Path(path).is_file():
        raise Misconfigured(f"there is no tokenizer file {path!r}; it is usually named tokenizer.json")
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as bad:  # the package raises bare Exception for files it cannot read
        raise Misconfigured(f"{path} is not a tokenizer in Hugging Face format: {bad}") from bad
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return TokenizerFile(path, partial(tokenizer.encode, add_special_tokens=False))


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
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[!-/:-@\[-`{-~]+|[\t-\r]+|[^\t-\r -~]")
_SPACE = 23  # of each further space in a row


def _cost_word(word: str) -> int:
    """Hundredths of a token, of what stands between two spaces."""
    return sum(map(_cost, _PIECE.findall(word))) if word else _SPACE


def _cost(piece: str) -> int:
    first, last, size = piece[0], piece[-1], len(piece)
    if not first.isascii():
        return _cost_of_sign(first)
    if last.islower():
        return 95 + 23 * max(0, size - 4)
    if last.isdigit():
        return 20 + 100 * size
    if last.isalpha():
        return 45 + 40 * size
    return 45 + 20 * size


# The letters of French, Spanish and Portuguese, which vocabularies know nearly as well as English. Other
# Latin letters with marks cost more than they are: they tell that the words around them are split finely.
_KNOWN = frozenset("àáâãçèéêëìíîïñòóôõùúûýœæÀÁÂÃÇÈÉÊËÌÍÎÏÑÒÓÔÕÙÚÛÝŒÆ")
_BLOCKS = (  # where a block of signs begins, and what one of them costs
    ("\x7f", 100),  # signs of the Latin-1 page
    ("À", 220),
    ("Ā", 190),
    ("\u0300", 95),  # Greek
    ("\u0400", 60),  # Cyrillic
    ("\u0590", 100),  # Hebrew
    ("\u0600", 82),  # Arabic
    ("\u0900", 130),  # Indic and other scripts
    ("\u2000", 100),  # dashes, quotes, arrows
    ("\u2c00", 130),
    ("\u3040", 95),  # kana
    ("\u3100", 130),  # Chinese, Hangul
    ("\U00010000", 300),  # emoji
)
_STARTS = tuple(start for start, _ in _BLOCKS)


def _cost_of_sign(sign: str) -> int:
    return 110 if sign in _KNOWN else _BLOCKS[bisect_right(_STARTS, sign) - 1][1]


_costs = Memo(_cost_word)
