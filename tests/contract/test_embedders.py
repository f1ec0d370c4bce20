"""Every embedder that can run here obeys the laws of `Embedder`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from eidet.models.adapt import adapt_embedder
from eidet.models.contract import EmbedderContract
from eidet.models.embed import Embedder
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.multi import EidetMulti
from eidet.models.embed.vector_cache import Cached
from eidet.models.embed.wordllama import WordLlama

_hashing = Hashing(64)


def lists(texts: list[str]) -> list[list[float]]:
    rows: list[list[float]] = _hashing.embed(texts).tolist()
    return rows


def one_text(text: str) -> list[float]:
    return lists([text])[0] if text.split(" ") else []


async def slow_lists(texts: list[str]) -> list[list[float]]:
    return lists(texts)


async def slow_one(text: str) -> list[float]:
    return one_text(text)


class Encoder:
    def encode_texts(self, texts: Sequence[str]) -> list[list[float]]:
        return lists(list(texts))


class TestWordLlama(EmbedderContract):
    def make(self) -> Embedder:
        return WordLlama()


class TestEidetMulti(EmbedderContract):
    def make(self) -> Embedder:
        return EidetMulti()


class TestHashing(EmbedderContract):
    def make(self) -> Embedder:
        return Hashing()


class TestFunctionOfLists(EmbedderContract):
    def make(self) -> Embedder:
        return adapt_embedder(lists)


class TestFunctionOfOneText(EmbedderContract):
    def make(self) -> Embedder:
        return adapt_embedder(one_text)


class TestCoroutineOfLists(EmbedderContract):
    def make(self) -> Embedder:
        return adapt_embedder(slow_lists)


class TestCoroutineOfOneText(EmbedderContract):
    def make(self) -> Embedder:
        return adapt_embedder(slow_one)


class TestObjectThatEncodes(EmbedderContract):
    def make(self) -> Embedder:
        return adapt_embedder(Encoder())


class TestCached(EmbedderContract):
    def make(self) -> Embedder:
        return Cached(Hashing(64), size=3)


@pytest.mark.needs("sentence-transformers")
class TestSentenceTransformers(EmbedderContract):
    closeness = 1e-4

    def make(self) -> Embedder:
        from eidet.models.local import SentenceTransformers

        return SentenceTransformers()


@pytest.mark.needs("fastembed")
class TestFastEmbed(EmbedderContract):
    closeness = 1e-4

    def make(self) -> Embedder:
        from eidet.models.local import FastEmbed

        return FastEmbed()
