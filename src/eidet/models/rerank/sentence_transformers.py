"""Scores by sentence-transformers cross-encoders, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..local import LocalModel
from . import check_scores, numbers, sigmoid


class SentenceTransformersReranker:
    """Any one-label cross-encoder, by name or by the path of its folder; loaded on first use.

    A name is downloaded the first time, a path is not.
    """

    def __init__(self, model: str = "cross-encoder/ms-marco-MiniLM-L6-v2") -> None:
        def load() -> Any:
            from sentence_transformers import CrossEncoder

            return CrossEncoder(model)

        self.name: str = f"sentence-transformers:{model}"
        self._local = LocalModel("sentence_transformers", load, wanted_by="SentenceTransformersReranker")

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        pairs = [(query, text) for text in texts]
        answer = self._local.run(lambda model: model.predict(pairs, show_progress_bar=False))
        if self._local.run(_gives_logits):
            return [sigmoid(logit) for logit in numbers(self.name, texts, answer)]
        return check_scores(self.name, texts, answer)


def _gives_logits(model: Any) -> bool:
    """Models say which function ends them: older releases call it `default_activation_function`."""
    ending = getattr(model, "activation_fn", None) or getattr(model, "default_activation_function", None)
    return type(ending).__name__ == "Identity"
