"""Models from optional packages that run in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..core.errors import MissingExtra
from .embed import Vectors
from .rerank import check_scores

T = TypeVar("T")


class _LocalModel:
    """A model from an optional package; loaded on first use, and downloaded if it never was.

    Calls run one at a time: the tokenizers inside cannot be shared between threads.
    """

    maker: ClassVar[str]  # module:class in the package
    default: ClassVar[str]

    def __init__(self, model: str = "") -> None:
        package = self.maker.partition(":")[0].partition(".")[0]
        extra = package.replace("_", "-")
        if find_spec(package) is None:
            raise MissingExtra(type(self).__name__, extra=extra)
        self._model_name, self._lock = model or self.default, threading.Lock()
        self.name: str = f"{extra}:{self._model_name}"

    def _run(self, job: Callable[[Any], T]) -> T:
        """Runs the job with the model under the lock and returns its result."""
        with self._lock:
            return job(self._model)

    @cached_property
    def _model(self) -> Any:
        module, _, name = self.maker.partition(":")
        return getattr(import_module(module), name)(self._model_name)


class _LocalEmbedder(_LocalModel):
    costly = True

    @cached_property
    def width(self) -> int:
        return int(self._rows(["width"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._rows(list(texts)) if texts else np.zeros((0, self.width), dtype=np.float32)

    def _rows(self, texts: list[str]) -> Vectors:
        return np.asarray(self._run(lambda model: self._encode(model, texts)), dtype=np.float32)

    def _encode(self, model: Any, texts: list[str]) -> Any:
        raise NotImplementedError


class FastEmbed(_LocalEmbedder):
    """Embeddings by any model that fastembed knows (ONNX, no torch)."""

    maker, default = "fastembed:TextEmbedding", "BAAI/bge-small-en-v1.5"

    def _encode(self, model: Any, texts: list[str]) -> Any:
        return list(model.embed(texts))


class SentenceTransformers(_LocalEmbedder):
    """Embeddings by any model that sentence-transformers can load."""

    maker, default = "sentence_transformers:SentenceTransformer", "all-MiniLM-L6-v2"

    def _encode(self, model: Any, texts: list[str]) -> Any:
        return model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


class FastEmbedReranker(_LocalModel):
    """Scores by any cross-encoder that fastembed knows; its logits go through a sigmoid."""

    maker = "fastembed.rerank.cross_encoder:TextCrossEncoder"
    default = "Xenova/ms-marco-MiniLM-L-6-v2"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        answer = self._run(lambda model: list(model.rerank(query, list(texts))))
        return check_scores(self.name, texts, answer, logits=True)


class SentenceTransformersReranker(_LocalModel):
    """Scores by any one-label cross-encoder, by name or by the path of its folder."""

    maker, default = "sentence_transformers:CrossEncoder", "cross-encoder/ms-marco-MiniLM-L6-v2"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        pairs = [(query, text) for text in texts]
        answer = self._run(lambda model: model.predict(pairs, show_progress_bar=False))
        return check_scores(self.name, texts, answer, logits=self._run(_gives_logits))


def _gives_logits(model: Any) -> bool:
    """Returns whether the model's last function is the identity; releases differ in the attribute's name."""
    ending = getattr(model, "activation_fn", None) or getattr(model, "default_activation_function", None)
    return type(ending).__name__ == "Identity"
