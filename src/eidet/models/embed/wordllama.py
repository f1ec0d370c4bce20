"""The default embedder: static word vectors that come with the `wordllama` wheel. Offline, no torch."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ...core.errors import EidetError, Misconfigured
from ...core.validate import clean_text
from . import Vectors
from .weights import PackagedFile

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WIDTH = 256
MEND = "reinstall it: pip install --force-reinstall 'wordllama>=0.3.9,<0.5'"
SPACE = "\u2581"  # how the tokenizer writes a space

SUM_BLOCK = 4_096  # token rows gathered at once: 4 MB
MODEL = "l2-supercat-256"
WORD_RUN = 2_000  # words tokenised at once
KNOWN_WORDS = 50_000  # remembered words: some 10 MB
KNOWN_LENGTH = 24
ENDS = ",.?!;:"


def _is_absent() -> EidetError:
    return Misconfigured(
        "the default embedder needs the wordllama package: pip install wordllama, "
        "or choose another, such as embedder='hashing'"
    )


TOKENIZER = PackagedFile(
    "wordllama",
    "tokenizers/l2_supercat_tokenizer_config.json",
    (
        "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",  # of 0.4
        "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",  # of 0.3.9
    ),
    MEND,
    _is_absent,
)
WEIGHTS = PackagedFile(
    "wordllama",
    "weights/l2_supercat_256.safetensors",
    ("64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",),
    MEND,
    _is_absent,
)


class WordLlama:
    """The normalised sum of a text's token vectors; a text without tokens gives a zero row.

    Made at once; the model is loaded by the first `embed`, once per process (about 0.2 s, 50 MB).
    Then some 20 µs for a chat turn. The vectors are those of `wordllama.WordLlama.load().embed(norm=True)`.
    """

    width = WIDTH
    repeats = True  # the same text gives the same bytes each time

    def __init__(self, model: str = MODEL) -> None:
        if model != MODEL:
            raise Misconfigured(f"the wordllama package carries the model {MODEL!r}, not {model!r}")
        self.name = f"wordllama:{model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        model = _model()
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        if len(texts) > 1:
            model.meet(texts)
        for row, text in zip(rows, texts, strict=True):
            model.sum_into(row, text)
            if length := sqrt(row.dot(row)):
                np.divide(row, length, out=row)
        return rows

    def vocabulary(self) -> Iterator[tuple[str, Vectors]]:
        model = _model()
        whole: dict[str, int] = {}
        for word, token in sorted(model.tokenizer.get_vocab().items(), key=itemgetter(1)):
            if word[0] == SPACE and len(word) > 2 and word[1:].isalpha():
                whole.setdefault(word[1:].lower(), token)
        for word, token in whole.items():
            yield word, model.vectors[token]


@dataclass(slots=True)
class _StaticModel:
    """The tokenizer, the token vectors, and the tokens of words met before.

    No token of this vocabulary has a space after its first letter, so the tokens of a text are
    those of its words. Looking words up is several times faster than tokenising the text.
    """

    tokenizer: Tokenizer
    vectors: Vectors
    starts: frozenset[int]
    ends: dict[str, int]  # signs that no token has after a letter of ASCII: they are tokens of their own
    known: dict[str, list[int]] = field(default_factory=dict)

    def sum_into(self, row: Vectors, text: str) -> None:
        tokens = self.tokens(text)
        if len(tokens) <= SUM_BLOCK:
            np.add.reduce(self.vectors.take(tokens, 0, mode="clip"), 0, out=row)
            return
        for start in range(0, len(tokens), SUM_BLOCK):
            row += np.add.reduce(self.vectors.take(tokens[start : start + SUM_BLOCK], 0, mode="clip"), 0)

    def meet(self, texts: Sequence[str]) -> None:
        """Learns the words of all texts that are new, many at once: each call of the tokenizer costs."""
        words: dict[str, None] = {}
        for text in texts:
            if _splits_at_spaces(text):
                words.update(dict.fromkeys(text.split(" ")))
        new = [word for word in words if word not in self.known and _is_ordinary(word)]
        for start in range(0, len(new), WORD_RUN):
            self.learn(new[start : start + WORD_RUN])

    def tokens(self, text: str) -> list[int]:
        if not _splits_at_spaces(text):
            return self.tokenise(text)
        words = text.split(" ")
        if len(words) <= WORD_RUN:
            return self.tokens_of(words)
        tokens: list[int] = []
        for start in range(0, len(words), WORD_RUN):
            tokens += self.tokens_of(words[start : start + WORD_RUN])
        return tokens

    def tokens_of(self, words: list[str]) -> list[int]:
        known, tokens = self.known, []
        try:
            for word in words:
                tokens += known[word]
        except KeyError:
            return self.learn(words)
        return tokens

    def learn(self, words: list[str]) -> list[int]:
        """The tokens of the words, of which some are new; new ones of an ordinary look are remembered."""
        if len(self.known) > KNOWN_WORDS:
            self.known = {}  # a new dict: other threads may be reading the old one
        known = self.known
        new = [word for word in dict.fromkeys(words) if word not in known]
        fresh = {word: [*known[word[:-1]], self.ends[word[-1]]] for word in new if self._only_ends(word)}
        rest = [word for word in new if word not in fresh]
        if rest:
            fresh.update(zip(rest, self.tokens_of_each(rest), strict=True))
        known.update((word, parts) for word, parts in fresh.items() if _is_ordinary(word))
        tokens: list[int] = []
        for word in words:
            tokens += fresh.get(word) or known[word]
        return tokens

    def _only_ends(self, word: str) -> bool:
        """Whether it is a known word at the end of a sentence or a part of it."""
        return (
            word[-1:] in self.ends
            and word[-2:-1].isascii()
            and word[-2:-1].isalnum()
            and word[:-1] in self.known
        )

    def tokens_of_each(self, words: list[str]) -> list[list[int]]:
        tokens = self.tokenise(" ".join(words))
        cuts = [at for at, token in enumerate(tokens) if token in self.starts]
        if len(cuts) != len(words):
            return [self.tokenise(word) for word in words]
        return [tokens[start:end] for start, end in pairwise([*cuts, len(tokens)])]

    def tokenise(self, text: str) -> list[int]:
        if not (isinstance(text, str) and text.isascii()):
            clean_text(text, "a text to embed")  # some tokenizers take a lone surrogate
        return self.tokenizer.encode(text, add_special_tokens=False).ids


def _splits_at_spaces(text: str) -> bool:
    """Whether single spaces part the words; '<' may begin a special token, which swallows none."""
    return (
        isinstance(text, str)
        and text != ""
        and "  " not in text
        and "<" not in text
        and SPACE not in text
        and text[0] != " "
        and text[-1] != " "
    )


def _is_ordinary(word: str) -> bool:
    return len(word) <= KNOWN_LENGTH and word.isprintable()


_loading = threading.Lock()


def _model() -> _StaticModel:
    with _loading:
        return _load()


@functools.cache
def _load() -> _StaticModel:
    # The package itself is not imported: that sets up logging for the whole process and takes 150 ms.
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(TOKENIZER.read())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    weights = load(WEIGHTS.read())["embedding.weight"]
    starts = frozenset(token for word, token in tokenizer.get_vocab().items() if word.startswith(SPACE))
    return _StaticModel(
        tokenizer, np.ascontiguousarray(weights, dtype=np.float32), starts, _ends(tokenizer.get_vocab())
    )


def _ends(vocabulary: dict[str, int]) -> dict[str, int]:
    after: set[str] = set()
    for word in vocabulary:
        after.update(sign for before, sign in pairwise(word) if before.isascii() and before.isalnum())
    return {sign: vocabulary[sign] for sign in ENDS if sign in vocabulary and sign not in after}
