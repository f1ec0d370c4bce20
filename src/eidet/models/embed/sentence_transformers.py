"""Embeddings by sentence-transformers models, in this process."""

from __future__ import annotations

from typing import Any

from ..local import LocalModel
from .local_model import LocalEmbedder


class SentenceTransformers(LocalEmbedder):
    """Any model that sentence-transformers can load; read (the first time, downloaded) on first use."""

    def __init__(self, model: str = "all-MiniLM-L6-v2") -> None:
        def load() -> Any:
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(model)

        local = LocalModel("sentence_transformers", load, wanted_by="SentenceTransformers")
        super().__init__(f"sentence-transformers:{model}", local, _encode)


def _encode(model: Any, texts: list[str]) -> Any:
    return model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
