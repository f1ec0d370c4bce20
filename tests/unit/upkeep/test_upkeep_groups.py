"""Repetitions, episodes of sessions, facts of episodes: planned, not made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from eidet.core.record import Kind, Record
from eidet.core.settings import Upkeep
from eidet.models.embed import Vectors
from eidet.models.embed.hashing import Hashing
from eidet.upkeep import Change
from eidet.upkeep.consolidate import consolidate, merge

NOW = 1_700_000_000.0
WIDTH = 64
EMBEDDER = Hashing(WIDTH)


def fact(text: str, at: float = 0.0, **fields: Any) -> Record:
    vector = EMBEDDER.embed([text])[0].astype("<f4").tobytes()
    said = {"created": NOW + at, "occurred": NOW + at, "vector": vector, **fields}
    return Record(**{"id": f"{text}/{at}", "scope": "s", "text": text, **said})


def merged(*records: Record) -> list[Change]:
    return list(merge(lambda: records, WIDTH))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("note number 1", "note number 2"),
        ("It is -5 degrees in Oslo.", "It is 5 degrees in Oslo."),
        ("It costs 1,5 euros", "It costs 15 euros"),
        ("The fee is 5%.", "The fee is 5."),
        ("Ann likes tea?", "Ann likes tea."),
        ("Ann likes tea", "Ann does not like tea"),
        ("Ann saw Bob", "Bob saw Ann"),
        ("I know C.", "I know C++."),
        ("The US won", "The us won"),
        ("The password is Swordfish.", "The password is swordfish."),
        ("Nice 👍", "Nice 👎"),
        ("...", "!!!"),
    ],
)
def test_other_words_numbers_and_signs_are_other_facts(one: str, other: str) -> None:
    vector = fact("the same").vector
    assert merged(fact(one, vector=vector), fact(other, 1, vector=vector)) == []


def test_equal_words_with_vectors_of_the_caller_stay_apart() -> None:
    assert merged(fact("photo", vector=fact("sea").vector), fact("photo.", 1)) == []


def embed(texts: Sequence[str]) -> Vectors:
    return EMBEDDER.embed(texts)


def told(text: str, at: int) -> Record:
    return fact(text, at * 86400.0, kind=Kind.EPISODE, id=f"e{at}")


def test_what_one_episode_says_twice_is_no_fact() -> None:
    text = "Ann: I moved to Lisbon in May 2024.\nAnn: I moved to Lisbon in May 2024."
    assert list(consolidate([told(text, 1)], Upkeep(), embed, NOW)) == []
    assert list(consolidate([], Upkeep(), embed, NOW)) == []
    assert list(consolidate([told("ok?", 1), told("ok?", 2)], Upkeep(), embed, NOW)) == []
