"""What many statements about one subject cost grows with their number, not with its square."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from eidet import Memory

FEW, TIMES = 250, 8
SAYINGS: dict[str, Callable[[int], str]] = {
    "other places at one moment": lambda n: f"Ann lives in City{n}.",
    "guesses": lambda n: f"Maybe Ann lives in City{n}.",
    "what is over": lambda n: f"Ann no longer lives in City{n}.",
    "the same": lambda n: "Ann lives in Porto.",
    "names of one person": lambda n: f"My name is Bob{n}.",
    "what is denied": lambda n: f"Ann likes tea{n}. Ann does not like tea{n}.",
    "spouses": lambda n: f"Ann is married to Bob{n}.",
}
VERBS: dict[str, Callable[[Memory, list[str]], object]] = {
    "recall": lambda memory, _: memory.recall("Where does Ann live?"),
    "contradictions": lambda memory, _: memory.facts.contradictions(),
    "about": lambda memory, _: memory.facts.about("Ann"),
    "timeline": lambda memory, _: memory.facts.timeline("Ann"),
    "remember again": lambda memory, texts: memory.remember(texts),
}


def cpu_seconds(say: Callable[[int], str], count: int) -> dict[str, float]:
    """What each verb costs after so many statements."""
    texts, taken = [say(n) for n in range(count)], dict[str, float]()
    with Memory(embedder="hashing:64") as memory:
        memory.remember(texts)
        for name, verb in VERBS.items():
            gc.disable()  # a collection would look through what other tests left
            begun = time.process_time()
            verb(memory, texts)
            taken[name] = time.process_time() - begun
            gc.enable()
    return taken


@pytest.mark.parametrize("sort", SAYINGS)
def test_eight_times_as_many_statements_cost_no_more_than_some_twenty_times(sort: str) -> None:
    cpu_seconds(SAYINGS[sort], 20)  # loads what is loaded once
    few, many = (cpu_seconds(SAYINGS[sort], count) for count in (FEW, FEW * TIMES))
    slow = {verb: (few[verb], many[verb]) for verb in VERBS if many[verb] > 20 * few[verb] + 0.3}
    assert not slow


def test_rivals_of_one_moment_are_all_told() -> None:
    with Memory(embedder="hashing:64") as memory:
        memory.remember([f"Ann lives in City{n}." for n in range(300)])
        (dispute,) = memory.facts.contradictions()
        assert len(dispute.facts) == 300
        memory.facts.resolve(dispute.facts[7])
        assert memory.facts.contradictions() == []
        assert [fact.object for fact in memory.facts.about("Ann")] == [dispute.facts[7].object]
