"""Two embedders side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from eidet.core.errors import Misconfigured
from eidet.models.contract import EmbedderContract
from eidet.models.embed import Embedder, Joined, embedder_of
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.wordllama import WordLlama


class TestJoined(EmbedderContract):
    def make(self) -> Embedder:
        return Joined(WordLlama(), Hashing(64))


async def lengths(texts: Sequence[str]) -> list[list[float]]:
    return [[3.0 * len(text), 4.0 * len(text)] for text in texts]


def test_similarity_is_the_mean_of_the_parts() -> None:
    texts = ["Ann lives in Lisbon", "Ann moved to Lisbon", "the disk is full"]
    parts = [WordLlama().embed(texts), Hashing(64).embed(texts)]
    joined = embedder_of("joined:wordllama+hashing:64").embed(texts)
    np.testing.assert_allclose(joined @ joined.T, sum(part @ part.T for part in parts) / 2, atol=1e-5)


def test_parts_count_the_same_whatever_their_length() -> None:
    rows = Joined(lengths, Hashing(64)).embed(["a", "abc"])
    np.testing.assert_allclose(rows[:, :2], [[0.6 / 2**0.5, 0.8 / 2**0.5]] * 2, rtol=1e-6)


def test_its_name_is_one_that_finds_it_again() -> None:
    joined = embedder_of("joined:wordllama+hashing:64")
    assert joined.name == "joined:wordllama:l2-supercat-256+hashing:64"
    assert embedder_of(joined.name).name == joined.name
    assert joined.width == 256 + 64


@pytest.mark.parametrize("spec", ["joined", "joined:", "joined:wordllama", "joined:+wordllama"])
def test_one_part_is_too_few(spec: str) -> None:
    with pytest.raises(Misconfigured, match="two embedders or more"):
        embedder_of(spec)


def test_an_unknown_part_is_refused_by_its_name() -> None:
    with pytest.raises(Misconfigured, match="no embedder is called 'nope'"):
        embedder_of("joined:wordllama+nope")
