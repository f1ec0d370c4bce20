"""An embedder that counts pairs of letters: near is what is spelt alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np

from eidet.core.errors import BadInput
from eidet.models.embed import Vectors


class Letters:
    """Rows of `width` numbers. The name says all that two such embedders could differ in."""

    def __init__(self, width: int | str = 64) -> None:
        if not str(width).isdigit() or not 1 <= int(width) <= 4096:
            raise BadInput(f"letters takes a width from 1 to 4096, not {width!r}")
        self.width = int(width)
        self.name = f"letters:{self.width}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.width), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for pair in pairwise(text.casefold()):
                row[crc32("".join(pair).encode("utf-8", "surrogatepass")) % self.width] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1)
        return rows
