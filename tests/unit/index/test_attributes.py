"""Columns of what stands at a path of data answer as the condition itself does, whatever happened before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.strategies import conditions, records

from eidet import Condition, Draft, Memory, Where
from eidet.core.errors import Corrupt
from eidet.core.record import Record
from eidet.index.contract import IndexContract
from eidet.index.embedded import EmbeddedIndex, attributes, shard
from eidet.index.embedded.attributes import Attributes
from eidet.store import Store
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore

NOW = 1_700_000_000.0
CALM = Where(conditions=(Condition("data.mood", "=", "calm"),))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "ASKED", 1)
    monkeypatch.setattr(shard, "DEAD_ROWS", 2)


class Asked(RamStore):
    """Counts how often the store itself is asked for matches, and how many records are read."""

    def __init__(self) -> None:
        super().__init__()
        self.matched = 0
        self.rows_read = 0

    def match(self, where: Where) -> list[int]:
        self.matched += 1
        return super().match(where)

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        self.rows_read += len(keys)
        return super().read(scope, keys)


def memory_of(store: Store) -> Memory:
    return Memory(store, embedder="hashing", clock=lambda: NOW)


def moods(memory: Memory, *said: str, **more: Any) -> None:
    memory.remember([Draft(data={"mood": mood, **more}, kind="state", id=None) for mood in said])


def held(
    table: Attributes, condition: Condition, rows: Sequence[Record | None], copies: int = 1
) -> list[bool]:
    seq = np.repeat(np.arange(1, len(rows) + 1), copies)
    found = table.holding([condition], seq, lambda seqs: [rows[at - 1] for at in seqs])
    assert found is not None
    return [bool(value) for value in found]


@settings(derandomize=True, deadline=None, max_examples=examples(300))
@given(st.lists(records(), max_size=8), st.lists(conditions(), min_size=1, max_size=4))
def test_a_column_says_what_the_condition_says(rows: list[Record], asked: list[Condition]) -> None:
    table = Attributes()
    for condition in asked:
        assert held(table, condition, rows) == [condition.holds(row) for row in rows]


@settings(derandomize=True, deadline=None, max_examples=examples(100))
@given(st.lists(records(), max_size=4), st.lists(records(), max_size=4), conditions(), conditions())
def test_rows_that_come_later_and_rows_in_units_are_told_too(
    first: list[Record], later: list[Record], one: Condition, other: Condition
) -> None:
    table = Attributes()
    held(table, one, first, copies=2)
    rows = first + later
    for condition in (one, other):
        told = [condition.holds(row) for row in rows for _ in range(2)]
        assert held(table, condition, rows, copies=2) == told


def test_numbers_that_no_float_can_tell_apart_are_told_apart() -> None:
    rows = [_record({"a": value}) for value in (2**53, 2**53 + 1, 2**53 + 2, 10**400, -(10**400), "x", 5)]
    table = Attributes()
    for op, operand in ((">", 2**53), ("<=", 2**53), (">=", 5), ("<", float(2**53)), (">", 2**53 + 1)):
        condition = Condition("data.a", op, operand)
        assert held(table, condition, rows) == [condition.holds(row) for row in rows]


def test_the_store_is_not_asked_for_what_a_column_knows() -> None:
    store = Asked()
    memory = memory_of(store)
    moods(memory, *["calm", "angry"] * 10)
    memory.find(CALM)
    before = store.rows_read
    assert len(memory.find(CALM, limit=3)) == 3
    assert (store.matched, store.rows_read - before) == (0, 4)  # one more tells whether there are more


@pytest.mark.parametrize("kind", ["ram", "file"])
def test_columns_follow_what_is_written_revised_and_forgotten(kind: str, tmp_path: Path) -> None:
    with memory_of(RamStore() if kind == "ram" else SqliteStore(tmp_path / "a.db")) as memory:
        moods(memory, *["calm", "angry", "sad"] * 4)
        for act in (0, 1, 2, 3):
            found = memory.find(CALM, order="seq")
            assert found == [r for r in memory.find(order="seq") if CALM.matches(r)]
            match act:
                case 0:
                    memory.forget([r.id for r in memory.find()[::2]], for_good=False)  # enough to compact
                case 1:
                    memory.revise(memory.find(~CALM)[0].id, data={"mood": "calm"}, text="calm now")
                case 2:
                    moods(memory, "calm", "new")


def test_a_damaged_record_leaves_the_question_to_the_store() -> None:
    class Damaged(Asked):
        def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
            if len(keys) > 1 and isinstance(keys[0], int):
                raise Corrupt("a row is damaged")
            return super().read(scope, keys)

    store = Damaged()
    memory = memory_of(store)
    moods(memory, "calm", "angry", "sad")
    assert len(memory.find(CALM)) == 1
    assert store.matched == 1


def _record(data: dict[str, Any]) -> Record:
    return Record(id="x", scope="a", text="", data=data)


class TestTheIndexAnswersAsEverWithColumns(IndexContract):
    @pytest.fixture(autouse=True)
    def _eager(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(attributes, "ASKED", 1)

    def make(self, store: Store, width: int) -> EmbeddedIndex:
        return EmbeddedIndex(store, width)
