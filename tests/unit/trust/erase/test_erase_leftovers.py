"""What forgetting could leave behind: receipts tell the truth about each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.forked import run_program
from tests.making import Clock, make_store, wrapping
from tests.unit.trust.erase.given import OTHER, SECRET, left_of

from eidet import Memory, Settings, Unavailable, Where
from eidet.compat.opening import next_number
from eidet.models.embed.hashing import Hashing
from eidet.store import SETTINGS, STAGED, verbs
from eidet.trust.erase import Forgotten, elsewhere
from eidet.trust.erase.receipt import Receipt

BACKENDS = ("ram", "sqlite", "postgres", "redis", "tiered", "sealed", "audited")


@pytest.fixture(params=BACKENDS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    store, how = make_store(request.param, tmp_path, request), wrapping(request.param, tmp_path)
    with closing(Memory(store, embedder="hashing:32", clock=Clock(tick=1.0), **how)) as memory:
        yield memory


def receipt_of(memory: Memory, id: str, **how: Any) -> Receipt:
    receipt = memory.forget(id, **how).receipt
    assert receipt is not None
    return receipt


# Vectors that an interrupted `reembed` has staged.


class Stops(Hashing):
    """An embedder whose line breaks after the first batch."""

    def __init__(self) -> None:
        super().__init__(16)
        self.calls = 0

    def embed(self, texts: Any) -> Any:
        self.calls += 1
        if self.calls > 1:
            raise ConnectionError("the line is down")
        return super().embed(texts)


def let_expire(memory: Memory) -> None:
    memory.parts.clock.now += 10_000.0  # type: ignore[attr-defined]
    memory.upkeep.maintain(only="expire")


def revise_and_forget(memory: Memory) -> None:
    memory.revise("x", text="I would rather not say", scope="a")
    memory.forget("x", scope="a")


def overwrite_and_forget(memory: Memory) -> None:
    memory.remember("I would rather not say", id="x", scope="a")
    memory.forget("x", scope="a")


WAYS: dict[str, Callable[[Memory], object]] = {
    "forget": lambda memory: memory.forget("x", scope="a"),
    "forget a scope": lambda memory: memory.forget(everything=True, scope="a"),
    "forget a scope for good": lambda memory: memory.forget(everything=True, scope="a", for_good=True),
    "delete": lambda memory: memory.forget("x", scope="a", for_good=False),
    "delete a scope": lambda memory: memory.forget(everything=True, scope="a", for_good=False),
    "expire": let_expire,
    "revise": lambda memory: memory.revise("x", text="I would rather not say", scope="a"),
    "revise and forget": revise_and_forget,
    "overwrite and forget": overwrite_and_forget,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_vector_stays_staged_for_what_is_gone(memory: Memory, way: str) -> None:
    memory.remember(SECRET, id="x", scope="a", ttl=5_000)
    memory.remember([f"{OTHER} {number}" for number in range(300)], scope="b")
    with pytest.raises(Unavailable, match="the line is down"):
        memory.admin.reembed(Stops())
    staged = memory.parts.store.values(STAGED)
    (record,) = memory.parts.store.read("a", ["x"])
    assert record is not None
    assert record.seq in staged
    gone = WAYS[way](memory)
    assert memory.parts.store.values(STAGED).keys() == staged.keys() - {record.seq}
    if isinstance(gone, Forgotten) and gone.receipt is not None:
        assert gone.receipt.counts["staged_vectors"] == 1
    assert memory.admin.reembed(Hashing(16)) >= 300, "and the change goes on"


def test_nothing_is_staged_for_what_was_forgotten_meanwhile(memory: Memory) -> None:
    memory.remember(SECRET, id="x")
    memory.remember(OTHER, id="y")
    store = memory.parts.store
    batch = store.find(Where())
    memory.forget("x")
    vectors = [(record.seq, np.zeros(16, np.float16).tobytes()) for record in batch]
    verbs.stage_vectors(store, "next", vectors, of=batch)
    living = {record.seq for record in store.find(Where())}
    assert set(store.values(STAGED)) == living


# The cache of an index that another process has open.

OPEN_ELSEWHERE = """
import sys
from pathlib import Path
from eidet import Memory, Settings

folder = Path(sys.argv[1])
memory = Memory(folder / "memory.db", embedder="hashing:32", settings=Settings(sidecar_from=1))
assert memory.recall("safe in the cellar")
with Memory(folder / "memory.db", embedder="hashing:32", settings=Settings(sidecar_from=1)) as other:
    other.forget("x").receipt.save(folder / "receipt.json")
    assert not list((folder / "memory.db-index").glob("*.eix"))
memory.close()  # it has the scope open as it was before
"""


def test_a_process_that_had_the_scope_open_does_not_write_it_back(tmp_path: Path) -> None:
    how = Settings(sidecar_from=1)
    with Memory(tmp_path / "memory.db", embedder="hashing:32", settings=how) as memory:
        memory.remember(SECRET, id="x")
        memory.remember([f"{OTHER} {number}" for number in range(40)])
        memory.recall("cellar")
    assert list((tmp_path / "memory.db-index").glob("*.eix"))
    (tmp_path / "elsewhere.py").write_text(OPEN_ELSEWHERE, encoding="utf-8")
    done = run_program(["elsewhere.py", str(tmp_path)], folder=tmp_path, environment=dict(os.environ))
    assert done.code == 0, done.err
    with Memory(tmp_path / "memory.db", embedder="hashing:32", settings=how) as memory:
        assert left_of(memory, SECRET) == []


LABELS: dict[str, Any] = {
    "who": "moneypenny",
    "session": "the bond session",
    "source": "from vesper",
    "agent": "agent 007",
}


def test_labels_of_what_is_gone_leave_the_cache_of_another_process(tmp_path: Path) -> None:
    """The other one has the scope open, follows the deletion, and writes its cache when it closes."""
    file, how = tmp_path / "memory.db", Settings(sidecar_from=1)
    with Memory(file, embedder="hashing:32", settings=how) as other:
        other.remember(SECRET, id="x", **LABELS)
        other.remember([f"{OTHER} {number}" for number in range(40)], who="ann")
        other.recall("cellar")
        with Memory(file, embedder="hashing:32", settings=how) as memory:
            memory.forget("x")
        other.recall("cellar")
    (cache,) = (tmp_path / "memory.db-index").glob("*.eix")
    kept = cache.read_bytes()
    assert b"ann" in kept
    assert [label for label in LABELS.values() if label.encode() in kept] == []
    with Memory(file, embedder="hashing:32", settings=how) as memory:
        assert {hit.record.who for hit in memory.recall("cellar", where=Where(who="ann"))} <= {"ann"}


# The histories of other records.


def test_what_another_record_said_before_goes_from_its_history(memory: Memory) -> None:
    memory.remember(OTHER, id="other", data={"sort": 1})
    memory.remember(SECRET, id="mind")
    memory.revise("mind", text="I would rather not say", meta={"seen": True})
    memory.remember(SECRET, id="x", keep_duplicates=True)
    receipt = receipt_of(memory, "x")
    assert receipt.counts["other_histories"] == 1
    assert receipt.pending == ()
    told = [event.before for event in memory.history("mind") if event.before]
    assert all(SECRET not in str(before) for before in told)
    assert {"meta"} <= set().union(*told), "what else it tells stays"
    assert left_of(memory, SECRET) == []
    assert memory.get("mind") is not None


def test_a_held_record_keeps_its_history_and_the_receipt_says_so(memory: Memory) -> None:
    memory.remember(SECRET, id="mind")
    memory.revise("mind", text="I would rather not say")
    memory.remember(SECRET, id="x", keep_duplicates=True)
    memory.upkeep.hold("mind")
    before = memory.history("mind")
    receipt = receipt_of(memory, "x")
    assert "'mind' is under a legal hold" in receipt.pending[0]
    assert memory.history("mind") == before


def test_too_many_histories_are_named_instead(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "MOST", 1)
    for name in ("a", "b"):
        memory.remember(f"{OTHER} of {name}", id=name)
        memory.revise(name, text=f"something else of {name}")
    memory.remember(SECRET, id="x")
    assert "histories of other records were not searched" in receipt_of(memory, "x").pending[0]


def test_histories_are_cleaned_after_an_interruption(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.remember(SECRET, id="mind")
    memory.revise("mind", text="I would rather not say")
    memory.remember(SECRET, id="x", keep_duplicates=True)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("eidet.trust.erase.cleaning.Cleaning.after", stop)
        with pytest.raises(KeyboardInterrupt):
            memory.forget("x")
    assert "history of mind" in left_of(memory, SECRET)
    memory.upkeep.maintain(only="expire")
    assert left_of(memory, SECRET) == []


# Names of sessions and agents.


def test_a_door_that_counts_leaves_no_name_in_settings() -> None:
    with closing(Memory(embedder="hashing:32")) as memory:
        assert [next_number(memory, "items of the bond session") for _ in range(3)] == [0, 1, 2]
        assert next_number(memory, "items of another session") == 0
        assert "bond" not in str(memory.parts.store.values(SETTINGS))


def test_a_receipt_says_that_history_keeps_who_acted(memory: Memory) -> None:
    memory.remember(SECRET, id="x", agent="agent 007")
    memory.remember(OTHER, id="y")
    receipt = receipt_of(memory, "x", by="ann")
    assert "history keeps by whom" in receipt.kept[0]
    assert "(1 agents)" in receipt.kept[0]
    assert "agent 007" not in str(receipt), "a receipt names nobody whom it forgets"
    assert receipt_of(memory, "y").kept == ()
    assert memory.trust.verify_receipt(receipt)


# Episodes that somebody changes all the time.
