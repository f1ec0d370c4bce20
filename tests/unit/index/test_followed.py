"""What was made for searching stays right while a scope changes: as an index that begins now."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.candidates import column
from tests.wordbook import Wordbook

from eidet import Draft, Memory
from eidet.index import Candidates
from eidet.index.embedded import shard
from eidet.store.ram import RamStore

NOW = 1_700_000_000.0
LONG = " ".join(f"The violin number {n} is old and the kitten sleeps." for n in range(60))


def found(memory: Memory) -> Candidates:
    from eidet.core.scope import Scope
    from eidet.index import Hints, Probe
    from eidet.text import term_id

    terms = ("cat", "violin", "harbour")
    ids, hints = tuple(map(term_id, terms)), Hints(spelt=terms)
    probe = Probe(scope=Scope("default"), now=NOW, terms=ids, hints=hints)
    return memory.parts.index.search(probe)


def many(memory: Memory) -> None:
    turns = [f"turn {n} kitten harbour{n} instruments" for n in range(30)]
    memory.remember(
        [
            Draft(text=text, id=f"t{n}", session=f"s{n % 3}", occurred=NOW + n, who="ann")
            for n, text in enumerate(turns)
        ]
    )


def drop(memory: Memory) -> None:
    memory.forget([f"t{n}" for n in range(0, 30, 2)])


def lengthen(memory: Memory) -> None:
    memory.remember(LONG, id="long", session="s1", occurred=NOW + 100)


def late(memory: Memory) -> None:
    memory.remember("a cat came early to the harbour", id="early", session="s2", occurred=NOW - 5)


def more(memory: Memory) -> None:
    memory.remember("and another cat", id="more", session="s1", occurred=NOW + 200)


def revise(memory: Memory) -> None:
    memory.revise("t3", text="now a dog with a violin and a harbour seal")


STEPS = (drop, lengthen, late, more, revise)


@pytest.mark.parametrize("first", STEPS)
@pytest.mark.parametrize("then", STEPS)
def test_a_followed_index_answers_as_one_that_begins_now(
    first: Callable[[Memory], None], then: Callable[[Memory], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard, "DEAD_ROWS", 2)
    store = RamStore()
    memory = Memory(store, embedder=Wordbook(), clock=lambda: NOW)
    many(memory)
    found(memory)
    for step in (first, then):
        step(memory)
        here, fresh = found(memory), found(Memory(store, embedder=Wordbook(), clock=lambda: NOW))
        for name in ("seq", "words", "aligned", "turn", "length", "days"):
            assert np.allclose(column(here, name), column(fresh, name), equal_nan=True), name
        assert here.traits.aligned is not None
        assert here.traits.aligned.max() > 0
