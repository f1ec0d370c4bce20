"""A small embedder that knows the vectors of words, for tests of alignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np

from eidet.models.embed import Vectors

WIDTH = 8
KNOWN = ("cat", "kitten", "dog", "violin", "instruments", "the")
ALIKE = {"kitten": "cat", "instruments": "violin"}


class Wordbook:
    """The sum of its words' vectors; "kitten" is near "cat", any other two words are as chance has it."""

    name, width, repeats = "tests:wordbook", WIDTH, True

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = sum((vector_of(word) for word in text.lower().split()), np.zeros(WIDTH))
        return rows

    def vocabulary(self) -> Iterator[tuple[str, Vectors]]:
        for word in KNOWN:
            yield word, vector_of(word)


def vector_of(word: str) -> Vectors:
    own = np.random.default_rng(crc32(word.encode())).normal(size=WIDTH)
    if word in ALIKE:
        own = 0.2 * own + vector_of(ALIKE[word])
    unit: Vectors = (own / np.linalg.norm(own)).astype(np.float32)
    return unit
