"""Models that run in this process: weights that come with a package, and models of optional packages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..core.errors import Corrupt, EidetError, Misconfigured, MissingExtra
from .embed import Vectors
from .rerank import check_scores

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file of a package, and the SHA-256 digest of its content in the release that Eidet depends on.

    `absent` makes the error for a package that is not installed; `mend` is the command that mends it.
    """

    package: str
    path: str
    digest: str
    mend: str
    absent: Callable[[], EidetError]

    def read(self) -> bytes:
        """The bytes of the file; `Corrupt` if they are not those of that release."""
        path = self.folder() / self.path
        if not path.is_file():
            raise Misconfigured(f"the package {self.package} lacks {self.path}; {self.mend}")
        content = path.read_bytes()
        if (found := sha256(content).hexdigest()) != self.digest:
            raise Corrupt(
                f"{path} is damaged or of an unknown version (sha256 {found}, not {self.digest}); {self.mend}"
            )
        return content

    def folder(self) -> Path:
        """Where the package is. It is not imported: only its data is wanted."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise self.absent()
        return Path(spec.submodule_search_locations[0])


def load_once(load: Callable[[], T]) -> Callable[[], T]:
    """Makes a function that loads a model once per process, for whoever asks first; the others wait."""
    lock, cached = threading.Lock(), cache(load)

    def load_locked() -> T:
        with lock:
            return cached()

    return load_locked


class _LocalModel:
    """A model of an optional package, loaded (and, the first time, downloaded) on first use.

    Calls run one after another: the tokenizers inside are not safe to share between threads.
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
        """Returns what the job makes of the model."""
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
    """Models say which function ends them: older releases call it `default_activation_function`."""
    ending = getattr(model, "activation_fn", None) or getattr(model, "default_activation_function", None)
    return type(ending).__name__ == "Identity"
