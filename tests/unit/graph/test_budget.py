"""Questions to the graph end: after so many steps, after so many seconds, or when nobody waits any more."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from eidet import AsyncMemory, BadInput, Memory, Settings

SIDE = 11
ODD_RING = [(f"?v{n}", "knows", f"?v{(n + 1) % 7}") for n in range(7)]  # in a graph that has none
UNBOUNDED = Settings(fact_steps=10**12, fact_seconds=math.inf)


def fill(memory: Memory) -> None:
    """Two groups of people: everybody knows all of the other group, and nobody of their own."""
    for one in range(SIDE):
        for other in range(SIDE):
            memory.facts.add(f"Ann{one}", "knows", f"Bob{other}")
            memory.facts.add(f"Bob{other}", "knows", f"Ann{one}")


def opened(**settings: Any) -> Memory:
    memory = Memory(embedder="hashing:64", settings=Settings(**settings))
    fill(memory)
    return memory


VERBS: dict[str, Callable[[Memory], object]] = {
    "match": lambda memory: memory.facts.match(*ODD_RING),
    "match one": lambda memory: memory.facts.match((None, None, None)),
    "match inferred": lambda memory: memory.facts.match(("?x", "grandparent", "?y"), ("?x", "knows", "?y")),
    "match at a time": lambda memory: memory.facts.match(*ODD_RING, known_at=1e10),
    "paths": lambda memory: memory.facts.paths("Ann0", "Ann1"),
    "neighbours": lambda memory: memory.facts.neighbours("Ann0"),
    "about": lambda memory: memory.facts.about("Ann0"),
    "timeline": lambda memory: memory.facts.timeline("Ann0"),
    "profile": lambda memory: memory.facts.profile("Ann0"),
    "contradictions": lambda memory: memory.facts.contradictions(),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("limit", ["fact_steps", "fact_seconds"])
def test_every_question_ends_when_its_budget_is_spent(verb: str, limit: str) -> None:
    with opened(**{limit: 1 if limit == "fact_steps" else 0.0}) as memory:
        with pytest.raises(BadInput, match=rf"\({limit}\); name entities .* or raise that setting"):
            VERBS[verb](memory)
        assert memory.facts.export()  # reads everything once, whatever that takes


def test_eight_patterns_over_some_hundred_facts_end() -> None:
    usual = opened(fact_seconds=math.inf)  # a slow machine would run out of time first
    with usual as memory, pytest.raises(BadInput, match="more than 1,000,000 steps"):
        memory.facts.match(*ODD_RING, ("?v0", "knows", "?w"))


def test_the_most_selective_pattern_goes_first() -> None:
    """Whatever the order they are given in; each costs less than looking at all facts."""
    patterns = [
        ("?a", "knows", "?b"),
        ("?b", "knows", "?c"),
        ("?c", "lives_in", "?d"),
        ("?d", None, "Narnia"),
    ]
    with opened(fact_steps=2 * SIDE * SIDE) as memory:
        assert all(memory.facts.match(*order) == [] for order in permutations(patterns))


def test_what_fits_into_a_budget_is_answered_in_full() -> None:
    with opened() as memory:
        assert len(memory.facts.match(("Ann0", "knows", "?b"), ("?b", "knows", "?c"), limit=1_000)) == SIDE**2
        assert len(memory.facts.paths("Ann0", "Ann1")) == 4 * SIDE
        assert len(memory.facts.neighbours("Ann0")) == 2 * SIDE


def test_work_ends_when_nobody_waits_for_it() -> None:
    async def ask() -> None:
        memory = AsyncMemory(embedder="hashing:64", settings=UNBOUNDED)
        memory.threads.hop_always()
        fill(memory.core)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(memory.facts.match(*ODD_RING, *ODD_RING[:1] * 20), 0.3)
        await memory.close()  # waits for its threads

    asyncio.run(asyncio.wait_for(ask(), 60))
