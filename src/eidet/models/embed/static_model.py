"""The model behind `WordLlama`: tokens of words, and their vectors, loaded as far as they are needed."""

from __future__ import annotations

import functools
import json
import re
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import EidetError, Misconfigured
from ...core.validate import clean_text
from . import Vectors
from .weights import PackagedFile

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.models import Model

RELEASE: Final = "wordllama==0.2.2.post0"  # one wheel for every machine; later ones are compiled for a few
MEND: Final = f"reinstall it: pip install --force-reinstall {RELEASE}"
SUM_BLOCK: Final = 4_096  # token rows gathered at once: 4 MB
WORD_RUN: Final = 2_000  # words tokenised at once
KNOWN_WORDS: Final = 50_000  # remembered words: some 10 MB
KNOWN_LENGTH: Final = 24
SPACE: Final = "\u2581"  # how the tokenizer writes a space
FEW_AT_ONCE: Final = 8  # split one by one: a call of the whole tokenizer takes 50 µs
MANY_WORDS: Final = 64  # of one text: those that are new are split at once
FEW_ROWS: Final = 2_000  # token vectors widened one by one before all are
_ENDS: Final = re.compile("[0-9A-Za-z]([,.?!;:])")
_SIGNS: Final = ",.?!;:"


def _is_absent() -> EidetError:
    return Misconfigured(
        f"the default embedder needs the wordllama package: pip install {RELEASE}, "
        "or choose another, such as embedder='hashing'"
    )


TOKENIZER: Final = PackagedFile(
    "wordllama",
    "tokenizers/l2_supercat_tokenizer_config.json",
    "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",
    MEND,
    _is_absent,
)
WEIGHTS: Final = PackagedFile(
    "wordllama",
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    MEND,
    _is_absent,
)


class TokenVectors:
    """The vectors of the tokens, in float32. The file has them in half the width.

    The first rows are widened when they are asked for. A process that asks for many widens all at once.
    """

    def __init__(self, half: NDArray[np.float16]) -> None:
        self._half: NDArray[np.float16] | None = half
        self._ready = bytearray(len(half))
        self._count = 0
        self.rows: Vectors = np.zeros(half.shape, np.float32)  # takes RAM only as far as it is filled

    def prepare(self, tokens: Sequence[int]) -> None:
        """Widens the rows of tokens. Several threads may do the same: they write the same numbers."""
        half = self._half
        if half is None:
            return
        new = [token for token in dict.fromkeys(tokens) if not self._ready[token]]
        if not new:
            return
        if self._count + len(new) > FEW_ROWS:
            self.rows[:] = half
            self._half = None
            return
        self.rows[new] = half[new]
        for token in new:
            self._ready[token] = 1
        self._count += len(new)


class KnownWords(dict[str, bytes]):
    """The tokens of words met before, as numpy reads them. Looking up a new word splits it."""

    __slots__ = ("_split",)

    def __init__(self, split: Callable[[str], bytes]) -> None:
        super().__init__()
        self._split = split

    def __missing__(self, word: str) -> bytes:
        packed = self._split(word)
        if _is_ordinary(word):
            self.keep(word, packed)
        return packed

    def keep(self, word: str, packed: bytes) -> None:
        """Remembers a word of an ordinary look; forgets all words when there are too many."""
        if len(self) >= KNOWN_WORDS:
            self.clear()
        self[word] = packed


class StaticModel:
    """The pieces of words, the token vectors, and the tokens of words met before.

    No token of this vocabulary has a space after its first letter, so the tokens of a text are
    those of its words. Looking words up is several times faster than tokenising the text.
    """

    def __init__(self, content: bytes, vectors: TokenVectors) -> None:
        self._content = content
        self._vectors = vectors
        self.pieces: dict[str, int] = read_pieces(content)
        self.vectors: Vectors = vectors.rows
        self.known: KnownWords = KnownWords(self._split)

    @functools.cached_property
    def tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_buffer(self._content)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @functools.cached_property
    def merges(self) -> Model:
        """The part of the tokenizer that splits a single word: without the rest it takes 3 µs."""
        merges: Model = self.tokenizer.model
        return merges

    @functools.cached_property
    def starts(self) -> frozenset[int]:
        """The tokens that begin a word."""
        return frozenset(token for piece, token in self.pieces.items() if piece.startswith(SPACE))

    @functools.cached_property
    def ends(self) -> dict[str, bytes]:
        """Signs that no token has after a letter of ASCII: they are tokens of their own."""
        inside = set(_ENDS.findall("\n".join(self.pieces)))
        ends: dict[str, bytes] = {}
        for sign in _SIGNS:
            if sign in self.pieces and sign not in inside:
                self._vectors.prepare([self.pieces[sign]])
                ends[sign] = _pack([self.pieces[sign]])
        return ends

    def list_whole_words(self) -> Iterator[tuple[str, int]]:
        """The words that are one token, in small letters, each with its first token; common ones first."""
        listed = set()
        for piece, token in self.pieces.items():
            word = piece[1:].lower()
            if piece[0] == SPACE and len(piece) > 2 and piece[1:].isalpha() and word not in listed:
                listed.add(word)
                yield word, token

    def read_rows(self, tokens: Sequence[int]) -> Vectors:
        """The vectors of tokens as the model has them, one row each."""
        self._vectors.prepare(tokens)
        return self.vectors.take(tokens, 0)

    def sum_text(self, text: str) -> Vectors:
        """The sum of the vectors of a text's tokens."""
        return self._sum_tokens(self.tokens(text))

    def sum_each(self, texts: Sequence[str], rows: Vectors) -> None:
        """The sums of many texts in the rows. Learns new words first, many at once: each call costs."""
        split: list[list[str] | None] = []
        words: set[str] = set()
        for text in texts:
            parts = text.split(" ") if splits_at_spaces(text) else None
            split.append(parts)
            words.update(parts or ())
        self.learn(words)
        for row, text, parts in zip(rows, texts, split, strict=True):
            tokens = self.tokens(text) if parts is None else self._look_up(parts)
            self._sum_tokens(tokens, row)

    def _sum_tokens(self, tokens: NDArray[np.intp], row: Vectors | None = None) -> Vectors:
        """In `row`, if there is one."""
        if len(tokens) <= SUM_BLOCK:
            total: Vectors = np.add.reduce(self.vectors.take(tokens, 0, mode="clip"), 0, out=row)
            return total
        total = self._sum_tokens(tokens[:SUM_BLOCK], row)
        for start in range(SUM_BLOCK, len(tokens), SUM_BLOCK):
            total += self._sum_tokens(tokens[start : start + SUM_BLOCK])
        return total

    def learn(self, words: set[str]) -> None:
        """Splits the new words of an ordinary look; one that ends with a sign only without it."""
        new: set[str] = set()
        for word in words:
            if word not in self.known and _is_ordinary(word):
                new.add(word[:-1] if self._has_end(word) else word)
        rest = sorted(word for word in new if word not in self.known)
        for start in range(0, len(rest), WORD_RUN):
            run = rest[start : start + WORD_RUN]
            for word, tokens in zip(run, self.tokens_of_each(run), strict=True):
                self.known.keep(word, _pack(tokens))

    def tokens(self, text: str) -> NDArray[np.intp]:
        if not splits_at_spaces(text):
            return np.array(self.tokenise(text), np.intp)
        words = text.split(" ")
        if len(words) > MANY_WORDS:
            self.learn(set(words))
        return self._look_up(words)

    def _look_up(self, words: Sequence[str]) -> NDArray[np.intp]:
        return np.frombuffer(b"".join(map(self.known.__getitem__, words)), np.intp)

    def _split(self, word: str) -> bytes:
        """The tokens of a word that is new."""
        if self._has_end(word):
            return self.known[word[:-1]] + self.ends[word[-1]]
        return _pack(self._split_one(word))

    def _has_end(self, word: str) -> bool:
        """Whether it ends a sentence or a part of it by a sign, which is a token of its own there."""
        return word[-1:] in self.ends and word[-2:-1].isascii() and word[-2:-1].isalnum()

    def tokens_of_each(self, words: list[str]) -> list[list[int]]:
        if len(words) <= FEW_AT_ONCE:
            return [self._split_one(word) for word in words]
        tokens = self.tokenise(" ".join(words))
        cuts = [at for at, token in enumerate(tokens) if token in self.starts]
        if len(cuts) != len(words):
            return [self.tokenise(word) for word in words]
        return [tokens[start:end] for start, end in pairwise([*cuts, len(tokens)])]

    def _split_one(self, word: str) -> list[int]:
        if not _is_ordinary(word):
            return self.tokenise(word)
        tokens = [token.id for token in self.merges.tokenize(SPACE + word)]
        self._vectors.prepare(tokens)
        return tokens

    def tokenise(self, text: str) -> list[int]:
        if not (isinstance(text, str) and text.isascii()):
            clean_text(text, "a text to embed")  # some tokenizers take a lone surrogate
        tokens: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        self._vectors.prepare(tokens)
        return tokens


def splits_at_spaces(text: str) -> bool:
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


def _pack(tokens: Sequence[int]) -> bytes:
    """Tokens as numpy reads them: joining bytes is faster than making an array of a list."""
    return struct.pack(f"{len(tokens)}n", *tokens)  # n is numpy's intp


def _is_ordinary(word: str) -> bool:
    return len(word) <= KNOWN_LENGTH and word.isprintable()


_loading = threading.Lock()


def load_model() -> StaticModel:
    """The model of this process, loaded by whoever asks first."""
    with _loading:
        return _load()


@functools.cache
def _load() -> StaticModel:
    # The package itself is not imported: that sets up logging for the whole process and takes 150 ms.
    return StaticModel(TOKENIZER.read(), TokenVectors(_read_weights(WEIGHTS.read())))


def read_pieces(content: bytes) -> dict[str, int]:
    """The numbers of the pieces, from the file of a known version: only this part of it is parsed."""
    start = content.index(b'"vocab"')
    end = content.index(b'"merges"', start)
    pieces: dict[str, int] = json.loads(content[content.index(b"{", start) : end].rstrip(b", \r\n\t"))
    return pieces


def _read_weights(content: bytes) -> NDArray[np.float16]:
    """The one table of the file: eight bytes of length, a description in JSON, then the numbers."""
    size = int.from_bytes(content[:8], "little")
    table = json.loads(content[8 : 8 + size])["embedding.weight"]
    start, end = table["data_offsets"]
    numbers = np.frombuffer(content, "<f2", (end - start) // 2, 8 + size + start)
    return numbers.reshape(table["shape"])
