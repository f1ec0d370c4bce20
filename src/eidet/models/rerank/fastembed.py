"""Scores by fastembed cross-encoders (ONNX models, no torch), in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from ...core.errors import MissingExtra
from . import numbers, sigmoid


class FastEmbedReranker:
    """Any cross-encoder that fastembed knows; loaded (and, the first time, downloaded) on first use.

    fastembed gives logits; they go through a sigmoid. Calls run one after another: the tokenizers
    inside are not safe to share between threads.
    """

    def __init__(self, model: str = "Xenova/ms-marco-MiniLM-L-6-v2") -> None:
        if find_spec("fastembed") is None:
            raise MissingExtra("FastEmbedReranker", extra="fastembed")
        self.name = f"fastembed:{model}"
        self._model_name = model
        self._lock = threading.Lock()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        with self._lock:
            answer = list(self._model.rerank(query, list(texts)))
        return [sigmoid(logit) for logit in numbers(self.name, texts, answer)]

    @cached_property
    def _model(self) -> Any:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        return TextCrossEncoder(self._model_name)
