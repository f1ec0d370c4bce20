"""What is slow once, done before the first request: models, modules and patterns.

Loading a tokenizer alone holds the interpreter for a tenth of a second: a request that came upon it would
delay all others.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from ..aio import AsyncMemory
from ..core.settings import Settings
from ..memory import Memory
from ..models.embed import Embedder, WordEmbedder
from ..store.ram import RamStore

MANY_WORDS: Final = 1_500  # models split a few words in Python, and load their tokenizer when more come
TALK: Final = (
    {"role": "user", "content": "I moved from Lisbon to Porto in May, and I work at Acme now."},
    {"role": "assistant", "content": "Noted: you live in Porto."},
)


def load_model(embedder: Embedder) -> None:
    """Loads a model that runs here and costs nothing, with its tokenizer, so that no request waits for it."""
    if isinstance(embedder, WordEmbedder):
        words = [f"word{number}" for number in range(MANY_WORDS)]
        embedder.embed(["ready", " ".join(words)])


@asynccontextmanager
async def rehearse_verbs(memory: AsyncMemory) -> AsyncIterator[None]:
    """Stores and asks once, in RAM, before the server answers. The memory that is served is left alone."""
    settings, embedder = memory.parts.settings, memory.parts.embedder
    await memory.threads.run(lambda: rehearse(embedder, settings.language))
    yield


def rehearse(embedder: Embedder, language: str | None) -> None:
    """A model that may cost something is not asked."""
    model: object = "hashing:64"
    if isinstance(embedder, WordEmbedder):
        model = embedder
    settings = replace(Settings(), language=language)
    with Memory(RamStore(), embedder=model, settings=settings, audit=False) as memory:
        memory.remember(list(TALK), session="rehearsal")
        memory.recall("where did I live in May?", explain=True)
        memory.context("where do I work?", budget=200)
        memory.facts.entities()
        memory.forget(where={"session": "rehearsal"})
