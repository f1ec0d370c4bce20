"""An embedder that only hashes words, for tests and benches: no model, no files, the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import sqrt
from zlib import crc32

import numpy as np

from ...core.errors import BadInput
from . import Vectors

_word = re.compile(r"\w+")


class Hashing:
    """Hashes words and their letter trigrams into signed buckets and normalises the row.

    Texts that share words or parts of words are near each other; nothing else is understood.
    A text without words gives a zero row.
    """

    repeats = True  # the same text gives the same bytes each time

    def __init__(self, width: int | str = 256) -> None:
        self.width: int = _positive(width)
        self.name: str = f"hashing:{self.width}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            self._add(row, text)
            if length := sqrt(row.dot(row)):
                np.divide(row, length, out=row)
        return rows

    def _add(self, row: Vectors, text: str) -> None:
        for feature, weight in _features(text):
            code = crc32(feature.encode(errors="surrogatepass"))
            row[(code >> 1) % self.width] += weight if code & 1 else -weight


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _word.findall(text.lower()):
        yield word, 1.0
        framed = f"<{word}>"
        for start in range(len(framed) - 2):
            yield framed[start : start + 3], 0.3


def _positive(width: int | str) -> int:
    try:
        number = int(width)
    except ValueError:
        raise BadInput(f"the width of Hashing needs a whole number, not {width!r}") from None
    if number < 1:
        raise BadInput(f"the width of Hashing needs at least 1, not {number}")
    return number
