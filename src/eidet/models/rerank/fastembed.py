"""Scores by fastembed cross-encoders (ONNX models, no torch), in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..local import LocalModel
from . import numbers, sigmoid


class FastEmbedReranker:
    """Any cross-encoder that fastembed knows; loaded (and, the first time, downloaded) on first use.

    fastembed gives logits; they go through a sigmoid.
    """

    def __init__(self, model: str = "Xenova/ms-marco-MiniLM-L-6-v2") -> None:
        def load() -> Any:
            from fastembed.rerank.cross_encoder import TextCrossEncoder

            return TextCrossEncoder(model)

        self.name: str = f"fastembed:{model}"
        self._local = LocalModel("fastembed", load, wanted_by="FastEmbedReranker")

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        answer = self._local.run(lambda model: list(model.rerank(query, list(texts))))
        return [sigmoid(logit) for logit in numbers(self.name, texts, answer)]
