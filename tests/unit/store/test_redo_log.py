"""A log of transactions makes the same store again, also without its past, of which then nothing is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eidet.core.where import Where
from eidet.store import Derived, Store, Table, Transaction, verbs
from eidet.store.contract import NOW, fact
from eidet.store.model import T
from eidet.store.passthrough import PassthroughStore
from eidet.store.ram import RamStore
from eidet.store.redo_log import LoggedTransaction, Step, drop_past, replay_steps

IDS = "abc"
TABLES = ("settings", "staged", "tombstones")


class LoggedRam(PassthroughStore):
    """Keeps its log in a list, as it comes back from JSON."""

    passes = "read find match count_by head changes history values"

    def __init__(self) -> None:
        super().__init__(RamStore())
        self.steps: list[Step] = []

    def write(self, job: Callable[[Transaction], T]) -> T:
        def run(transaction: Transaction) -> T:
            logged = LoggedTransaction(transaction)
            answer = job(logged)
            self.steps += json.loads(json.dumps(logged.steps))
            return answer

        return self.inner.write(run)


def replayed(steps: list[Step]) -> RamStore:
    store = RamStore()
    store.write(lambda transaction: replay_steps(steps, transaction))
    return store


def held(store: Store) -> list[Any]:
    """All that the port tells of a store."""
    told: list[Any] = [store.head(), store.find(Where())]
    told += [store.history("a", id) for id in IDS]
    told += [store.changes("a", since, 100) for since in range(store.head().seq + 1)]
    told += [store.values(Table(name)) for name in TABLES]
    return told


def revise(store: Store, id: str, turn: int) -> None:
    verbs.put(store, [fact(id, text=f"secret {turn} of {id}")], now=NOW + turn)


def delete(store: Store, id: str, turn: int) -> None:
    verbs.delete_where(store, Where(ids=(id,)), now=NOW + turn, by="me")


def use(store: Store, id: str, turn: int) -> None:
    verbs.add_uses(store, {("a", id): (1, NOW + turn)})


def derive(store: Store, id: str, turn: int) -> None:
    (record,) = store.read("a", [id])
    if record is not None:
        verbs.replace_derived(store, [Derived(record.seq, bytes([turn]), b"12345")])


def edit(store: Store, id: str, turn: int) -> None:
    verbs.rewrite_history(store, "a", id, {2: {"text": f"edited {turn}"}, 4: {"text": "edited"}})


def stage(store: Store, id: str, turn: int) -> None:
    del id
    verbs.stage_vectors(store, "next", [(turn, b"secret staged")])


MOVES = (revise, revise, delete, use, derive, edit, stage)


@given(st.lists(st.tuples(st.sampled_from(MOVES), st.sampled_from(IDS)), max_size=25))
def test_a_log_makes_the_same_store_again(moves: list[tuple[Any, str]]) -> None:
    store = LoggedRam()
    for turn, (move, id) in enumerate(moves):
        move(store, id, turn)
    assert held(replayed(store.steps)) == held(store)
    without_past = json.loads(json.dumps(list(drop_past(store.steps, store))))
    assert held(replayed(without_past)) == held(store)


def test_nothing_is_left_of_what_is_gone() -> None:
    store = LoggedRam()
    verbs.put(store, [fact("x", text="secret one"), fact("y", text="secret two")], now=NOW)
    verbs.put(store, [fact("x", text="secret three"), fact("y", text="in plain sight")], now=NOW + 1)
    verbs.replace_derived(store, [Derived(3, b"secret vector", b"12345")])
    verbs.set_settings(store, {"motto": "secret motto"})
    verbs.set_settings(store, {"motto": "none"})
    verbs.rewrite_history(store, "a", "y", {2: {"text": "in other words"}})
    verbs.delete_where(store, Where(ids=("x",)), now=NOW + 2)
    assert json.dumps(store.steps).count("secret") == 7
    left = json.dumps(list(drop_past(store.steps, store)))
    assert "secret" not in left
    assert "in plain sight" in left
    assert "in other words" in left  # the history says so
    assert held(replayed(json.loads(left))) == held(store)
