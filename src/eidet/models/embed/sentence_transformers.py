"""Embeddings by sentence-transformers models, in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...core.errors import MissingExtra
from . import Vectors


class SentenceTransformers:
    """Any model that sentence-transformers can load; loaded (and, the first time, downloaded) on first use.

    Calls run one after another: the tokenizers inside are not safe to share between threads.
    """

    costly = True

    def __init__(self, model: str = "all-MiniLM-L6-v2") -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("SentenceTransformers", extra="sentence-transformers")
        self.name = f"sentence-transformers:{model}"
        self._model_name = model
        self._lock = threading.Lock()

    @cached_property
    def width(self) -> int:
        return int(self._rows(["width"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._rows(texts) if texts else np.zeros((0, self.width), dtype=np.float32)

    def _rows(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            answer = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(answer, dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(self._model_name)
