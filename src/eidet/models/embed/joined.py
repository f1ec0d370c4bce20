"""Several embedders as one: their rows side by side, so that similarity is the mean of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import sqrt

import numpy as np

from ...core.errors import Misconfigured
from . import Embedder, Vectors, embed_checked, embedder_of, reads_sentences


class Joined:
    """The normalised rows of each part, side by side and of length one again.

    Parts err differently: wordllama knows words, a sentence model meanings. Costs what its parts
    cost, together; rows are as wide as theirs, together.
    """

    def __init__(self, *parts: object) -> None:
        if len(parts) < 2:
            raise Misconfigured("joining takes two embedders or more, such as 'joined:minilm+wordllama'")
        self._parts: list[Embedder] = [embedder_of(part) for part in parts]
        self.name: str = "joined:" + "+".join(part.name for part in self._parts)

    @classmethod
    def from_names(cls, parts: str = "") -> Joined:
        """From the names of embedders with a + between them."""
        return cls(*(part for part in parts.split("+") if part))

    @cached_property
    def width(self) -> int:
        return sum(part.width for part in self._parts)

    @property
    def reads_sentences(self) -> bool:
        return any(map(reads_sentences, self._parts))

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [_of_length_one(embed_checked(part, texts)) for part in self._parts]
        joined: Vectors = np.hstack(rows) / np.float32(sqrt(len(rows)))
        return joined


def _of_length_one(rows: Vectors) -> Vectors:
    """Each row by its length; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths > 0, lengths, 1), dtype=np.float32)
