"""What a tier shows and keeps of a record, and how it comes back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eidet.core.record import Record
from eidet.upkeep.tier_plan import Forms

WIDTH = 8


class Embedder:
    """A vector for each text, and a count of the texts it was asked for."""

    def __init__(self, factor: float = 1.0) -> None:
        self.asked = 0
        self.factor = factor

    def __call__(self, texts: Sequence[str]) -> list[bytes]:
        self.asked += len(texts)
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> bytes:
        seed = sum(text.encode())
        return (np.random.default_rng(seed).normal(size=WIDTH) * self.factor).astype("<f4").tobytes()


def forms(embedder: Embedder, *, repeats: bool = True, name: str = "one") -> Forms:
    return Forms(embed=embedder, gist=lambda text: text[:10], embedder=name, width=WIDTH, repeats=repeats)


def record(embedder: Embedder, text: str = "a text that is longer than ten") -> Record:
    data = {"x": 1.23456, "n": 7, "deep": [0.00012345, {"y": -98765.4321}]}
    return Record(id="x", scope="s", text=text, data=data, vector=embedder.vector(text))


def test_a_vector_that_can_be_made_again_is_not_kept() -> None:
    embedder = Embedder()
    full = record(embedder)
    [low] = forms(embedder).at_levels([(full, 1)])
    assert (low.level, low.original, low.text) == (1, None, full.text)
    assert forms(embedder).whole(low) == full


def test_an_embedder_that_may_answer_otherwise_is_not_asked_again() -> None:
    embedder = Embedder()
    full = record(embedder)
    made = forms(embedder, repeats=False)
    [low] = made.at_levels([(full, 2)])
    assert made.whole(low) == full
    assert embedder.asked == 0


def test_step_by_step_and_at_once_come_back_alike() -> None:
    embedder = Embedder()
    full = record(embedder)
    made = forms(embedder)
    [middle] = made.at_levels([(full, 1)])
    [low] = made.at_levels([(middle, 2)])
    [at_once] = made.at_levels([(full, 2)])
    assert (low.text, low.data, low.original) == (at_once.text, at_once.data, at_once.original)
    assert low.text == full.text[:10]
    assert low.data == {"x": 1.23, "n": 7, "deep": [0.000123, {"y": -98800.0}]}
    assert [made.whole(one) for one in (low, at_once, middle, full)] == [full] * 4


def test_a_batch_comes_out_as_one_by_one() -> None:
    embedder = Embedder()
    full, other = record(embedder), record(embedder, "another text, that is longer than ten")
    for made in (forms(embedder), forms(embedder, repeats=False)):
        middle, low = made.at_levels([(full, 1), (full, 2)])
        batch = [(low, 1), (other, 2), (full, 1), (low, 0), (middle, 0), (full, 0)]
        [lowered] = made.at_levels([(other, 2)])
        assert made.at_levels(batch) == [middle, lowered, middle, full, full, full]
