"""Embeddings by fastembed (ONNX models, no torch), in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...core.errors import MissingExtra
from . import Vectors


class FastEmbed:
    """Any model that fastembed knows; loaded (and, the first time, downloaded) on first use.

    Calls run one after another: the tokenizers inside are not safe to share between threads.
    """

    costly = True

    def __init__(self, model: str = "BAAI/bge-small-en-v1.5") -> None:
        if find_spec("fastembed") is None:
            raise MissingExtra("FastEmbed", extra="fastembed")
        self.name = f"fastembed:{model}"
        self._model_name = model
        self._lock = threading.Lock()

    @cached_property
    def width(self) -> int:
        return int(self._rows(["width"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._rows(texts) if texts else np.zeros((0, self.width), dtype=np.float32)

    def _rows(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            return np.array(list(self._model.embed(list(texts))), dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        from fastembed import TextEmbedding

        return TextEmbedding(self._model_name)
