"""Embeddings by the name of who makes them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Final

from ...core.errors import BadInput, Misconfigured
from ...models.embed import Embedder, embed_checked, embedder_of
from ...models.embed.http import OPENAI, HttpEmbedder

VOYAGE: Final = "https://api.voyageai.com/v1"
LOCAL: Final = ("local", "wordllama")
_SERVICES: Final = {  # provider: address, model, prefix of its variables
    "voyage": (VOYAGE, "voyage-2", "VOYAGE"),
    "openai": (OPENAI, "text-embedding-3-small", "OPENAI"),
}


class EmbeddingService:
    """Vectors from "voyage", "openai", or "local" (offline, comes with Eidet).

    Keys are those of VOYAGE_API_KEY or OPENAI_API_KEY, addresses those of VOYAGE_BASE_URL or
    OPENAI_BASE_URL, where none is given. Nothing is asked before the first text.
    """

    def __init__(
        self,
        provider: str = "voyage",
        *,
        model: str | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.provider = provider
        self._given = (model, api_key, base_url)
        self._environment = environment
        self._client: Embedder | None = None

    @property
    def client(self) -> Embedder:
        """What makes the vectors."""
        if self._client is None:
            self._client = self._make_embedder()
        return self._client

    async def embed(self, text: str) -> list[float]:
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in their order."""
        client = self.client
        rows = await asyncio.to_thread(embed_checked, client, list(texts))
        return [[float(number) for number in row] for row in rows]

    def _make_embedder(self) -> Embedder:
        if self.provider in LOCAL:
            return embedder_of("wordllama")
        if self.provider not in _SERVICES:
            raise BadInput(f"Unknown provider: {self.provider}")
        home, usual, prefix = _SERVICES[self.provider]
        model, key, url = self._given
        if url is None:
            url = self._environment.get(f"{prefix}_BASE_URL", "").strip() or None
            key = key or self._environment.get(f"{prefix}_API_KEY", "").strip() or None
        if not key and url is None:
            raise Misconfigured(
                f"{self.provider} needs a key: pass api_key=… or set {prefix}_API_KEY; "
                'EmbeddingService("local") needs none'
            )
        embedder = HttpEmbedder(model or usual, url=url or home, key=key)
        embedder.name = f"{self.provider}:{model or usual}"
        return embedder_of(embedder)
