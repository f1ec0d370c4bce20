"""Embeddings by fastembed (ONNX models, no torch), in this process."""

from __future__ import annotations

from typing import Any

from ..local import LocalModel
from .local_model import LocalEmbedder


class FastEmbed(LocalEmbedder):
    """Any model that fastembed knows; loaded (and, the first time, downloaded) on first use."""

    def __init__(self, model: str = "BAAI/bge-small-en-v1.5") -> None:
        def load() -> Any:
            from fastembed import TextEmbedding

            return TextEmbedding(model)

        local = LocalModel("fastembed", load, wanted_by="FastEmbed")
        super().__init__(f"fastembed:{model}", local, _encode)


def _encode(model: Any, texts: list[str]) -> Any:
    return list(model.embed(texts))
