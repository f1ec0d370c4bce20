"""Embeddings from any OpenAI-compatible endpoint: OpenAI, Ollama, vLLM, LM Studio and others."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import Misconfigured
from ...net.http import HttpClient, join_endpoint
from . import Vectors

OPENAI = "https://api.openai.com/v1"


class HttpEmbedder:
    """POSTs texts to `{url}/embeddings`, `batch` at a time, and tries again until `timeout` seconds are over.

    `width` asks the server for that many dimensions; without it the server's own width is learned
    from the first answer. `timeout` bounds a whole `embed` call. The key appears in no error.
    """

    costly = True

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        url: str | None = None,
        key: str | None = None,
        width: int | None = None,
        batch: int = 128,
        timeout: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name: str = f"openai:{model}" if width is None else f"openai:{model}@{width}"
        self._model = model
        self._asked_width = self._width = width
        self._batch = batch
        self._http = HttpClient(
            endpoint=join_endpoint(url or OPENAI, "/embeddings", "an embedder"),
            headers=({"Authorization": f"Bearer {key}"} if key else {}) | dict(headers or {}),
            secret=key,
            timeout=timeout,
        )

    @classmethod
    def from_env(cls, model: str = "text-embedding-3-small") -> HttpEmbedder:
        """With the key and address of OPENAI_API_KEY and OPENAI_BASE_URL; `model@256` asks for a width."""
        url, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
        if not url and not key:
            raise Misconfigured(
                "the openai embedder needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own "
                "(Ollama: http://localhost:11434/v1)"
            )
        name, _, width = model.partition("@")
        return cls(name, url=url, key=key, width=int(width) if width.isdigit() else None)

    def health(self) -> dict[str, Any]:
        """How the line to the service does."""
        return self._http.retrier.health().as_dict()

    @property
    def width(self) -> int:
        if self._width is None:
            self.embed(["width"])
        return self._width or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        deadline = self._http.deadline()
        starts = range(0, len(texts), self._batch)
        rows = np.concatenate([self._ask(texts[start : start + self._batch], deadline) for start in starts])
        self._width = self._width or rows.shape[1]
        return rows

    def _ask(self, texts: Sequence[str], deadline: float) -> Vectors:
        return self._rows(self._http.post(self._body(texts), deadline), len(texts))

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        # OpenAI refuses empty texts; a space means as little.
        asked: dict[str, Any] = {"model": self._model, "input": [text or " " for text in texts]}
        if self._asked_width is not None:
            asked["dimensions"] = self._asked_width
        return asked

    def _rows(self, answer: Any, count: int) -> Vectors:
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            rows: Vectors = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (TypeError, KeyError, ValueError) as bad:
            raise Misconfigured(
                f"{self._http.endpoint} answered JSON that holds no embeddings ({bad!r}); "
                "is it OpenAI-compatible?"
            ) from bad
        if rows.ndim != 2 or [item["index"] for item in items] != list(range(count)):
            raise Misconfigured(
                f"{self._http.endpoint} gave {len(rows)} rows for {count} texts, "
                "or did not say which row is whose"
            )
        return rows
