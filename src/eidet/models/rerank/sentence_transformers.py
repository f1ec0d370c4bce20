"""Scores by sentence-transformers cross-encoders, in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from ...core.errors import MissingExtra
from . import numbers, sigmoid, verified


class SentenceTransformersReranker:
    """Any one-label cross-encoder, by name or by the path of its folder; loaded on first use.

    A name is downloaded the first time, a path is not. Calls run one after another: the tokenizers
    inside are not safe to share between threads.
    """

    def __init__(self, model: str = "cross-encoder/ms-marco-MiniLM-L6-v2") -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("SentenceTransformersReranker", extra="sentence-transformers")
        self.name = f"sentence-transformers:{model}"
        self._model_name = model
        self._lock = threading.Lock()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        with self._lock:
            answer = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
            logits = _gives_logits(self._model)
        if logits:
            return [sigmoid(logit) for logit in numbers(self.name, texts, answer)]
        return verified(self.name, texts, answer)

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import CrossEncoder

        return CrossEncoder(self._model_name)


def _gives_logits(model: Any) -> bool:
    """Models say which function ends them: older releases call it `default_activation_function`."""
    ending = getattr(model, "activation_fn", None) or getattr(model, "default_activation_function", None)
    return type(ending).__name__ == "Identity"
