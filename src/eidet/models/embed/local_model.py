"""Embedders that run a model of an optional package in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..local import LocalModel
from . import Vectors


class LocalEmbedder:
    """An embedder around a model; `encode` asks the model for one row per text."""

    costly = True

    def __init__(self, name: str, model: LocalModel, encode: Callable[[Any, list[str]], Any]) -> None:
        self.name = name
        self._local = model
        self._encode = encode

    @cached_property
    def width(self) -> int:
        return int(self._rows(["width"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        if texts:
            return self._rows(texts)
        return np.zeros((0, self.width), dtype=np.float32)

    def _rows(self, texts: Sequence[str]) -> Vectors:
        answer = self._local.run(lambda model: self._encode(model, list(texts)))
        return np.asarray(answer, dtype=np.float32)
