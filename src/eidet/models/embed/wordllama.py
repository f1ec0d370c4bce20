"""The default embedder: static word vectors that come with the `wordllama` wheel. Offline, no torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from ...core.errors import Misconfigured
from ...core.validate import clean_text
from . import Vectors

if TYPE_CHECKING:
    from .static_model import StaticModel

WIDTH: Final = 256
AT_ONCE: Final = 256  # texts whose words are held together
MODEL: Final = "l2-supercat-256"


class WordLlama:
    """The normalised sum of a text's token vectors; a text without tokens gives a zero row.

    Made at once; the model is loaded by the first `embed`, once per process (about 50 ms, 50 MB).
    Then some 20 µs for a chat turn. Case makes no difference: the vectors are those that
    `wordllama.WordLlama.load().embed(norm=True)` gives the text in small letters.
    """

    width = WIDTH
    repeats = True  # the same text gives the same bytes each time

    def __init__(self, model: str = MODEL) -> None:
        if model != MODEL:
            raise Misconfigured(f"the wordllama package carries the model {MODEL!r}, not {model!r}")
        self.name = f"wordllama:{model}"

    def __reduce__(self) -> tuple[type[WordLlama], tuple[str]]:
        """By its name: the model stays in the process that loaded it."""
        return WordLlama, (MODEL,)

    @cached_property
    def _model(self) -> StaticModel:
        from .static_model import load_model

        return load_model()

    def embed(self, texts: Sequence[str]) -> Vectors:
        model, texts = self._model, [clean_text(text, "a text to embed").lower() for text in texts]
        if len(texts) == 1:
            return _normalise(model.sum_text(texts[0])).reshape(1, WIDTH)
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(texts), AT_ONCE):
            end = start + AT_ONCE
            model.sum_each(texts[start:end], rows[start:end])
        for row in rows:
            _normalise(row)
        return rows

    def vocabulary(self) -> Iterator[tuple[str, Vectors]]:
        words, tokens = zip(*self._model.list_whole_words(), strict=True)
        yield from zip(words, self._model.read_rows(tokens), strict=True)

    def number_words(self) -> Iterator[tuple[str, int]]:
        return self._model.list_whole_words()

    def read_words(self, numbers: Sequence[int]) -> Vectors:
        return self._model.read_rows(numbers)


def _normalise(row: Vectors) -> Vectors:
    """The row itself, with length one; zeros stay."""
    length = sqrt(row.dot(row))
    if length:
        np.divide(row, length, out=row)
    return row
