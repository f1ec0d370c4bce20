"""Verbs that fit whatever a record says are made again where somebody else was faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from eidet import Memory
from eidet.core.errors import Conflict, NotFound
from eidet.core.record import Record, Tier
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.store.verbs.changing import delete_records

VERBS: dict[str, Callable[[Memory], Record]] = {
    "pin": lambda memory: memory.upkeep.pin("x"),
    "unpin": lambda memory: memory.upkeep.unpin("x"),
    "hold": lambda memory: memory.upkeep.hold("x"),
    "release": lambda memory: memory.upkeep.release("x"),
    "quarantine": lambda memory: memory.trust.quarantine("x"),
    "approve": lambda memory: memory.trust.approve("x"),
    "restore": lambda memory: memory.upkeep.restore("x"),
    "revise": lambda memory: memory.revise("x", meta={"seen": True}),
}
BEFORE: dict[str, Callable[[Memory], object]] = {
    "unpin": VERBS["pin"],
    "release": VERBS["hold"],
    "approve": VERBS["quarantine"],
}


class Rival(RamStore):
    """Somebody else changes a record each time after it was read, so many times."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0
        self.change: Callable[[Record], Sequence[Record]] = lambda record: [
            record.but(importance=record.importance / 2)
        ]

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        found = super().read(scope, keys)
        if self.times and found and (record := found[0]) is not None:
            left, self.times = self.times - 1, 0
            if news := self.change(record):
                verbs.put(self, news, now=1.0, unique=False, follows=True)
            else:
                self.write(lambda job: delete_records(job, [record], 1.0, None, held=()))
            self.times = left
        return found


def remembered(verb: str) -> tuple[Memory, Rival]:
    store = Rival()
    memory = Memory(store, embedder="hashing:16")
    memory.remember("a note", id="x", importance=0.8, tier=Tier.LONG)
    if verb in BEFORE:
        BEFORE[verb](memory)
    return memory, store


@pytest.mark.parametrize("verb", VERBS)
def test_both_changes_are_there(verb: str) -> None:
    memory, store = remembered(verb)
    alone, _ = remembered(verb)
    store.times = 3
    made, expected = VERBS[verb](memory), VERBS[verb](alone)
    assert store.times == 0
    assert made.importance == 0.1
    assert (made.tier, made.trust, made.meta.keys()) == (expected.tier, expected.trust, expected.meta.keys())
    assert memory.get("x") == made


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_changed_all_the_time_is_given_up(verb: str) -> None:
    memory, store = remembered(verb)
    store.times = 10**9
    with pytest.raises(Conflict, match="kept changing; gave up after 100 attempts"):
        VERBS[verb](memory)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_gone_meanwhile_is_told(verb: str) -> None:
    memory, store = remembered(verb)
    store.change, store.times = lambda _: [], 1
    with pytest.raises(NotFound):
        VERBS[verb](memory)
