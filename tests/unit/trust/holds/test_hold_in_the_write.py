"""A legal hold that comes while something is destroyed: either it is in time, or the thing is gone before.

Holds are looked for in the write itself, so there is no moment in between in which one is overlooked.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from eidet import Memory, Refused, Where
from eidet.core.errors import Corrupt
from eidet.trust.seal.key_changes import Shred
from eidet.trust.seal.store import SealedStore

KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"


def test_a_scope_is_not_shredded_if_a_hold_came_just_before_the_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path / "m.db", key=KEY, embedder="hashing:16") as memory:
        record = memory.remember("Ann signed the contract", scope="ann")
        write = SealedStore.write

        def hold_first(store: SealedStore, job: object) -> object:
            if isinstance(job, Shred):
                monkeypatch.setattr(SealedStore, "write", write)
                memory.upkeep.hold(record.id, scope="ann")
            return write(store, job)  # type: ignore[arg-type]

        monkeypatch.setattr(SealedStore, "write", hold_first)
        with pytest.raises(Refused, match="legal hold and cannot be shredded"):
            memory.keys.shred("ann")
        assert [found.text for found in memory.find(scope="ann")] == ["Ann signed the contract"]
        memory.upkeep.release(record.id, scope="ann")
        assert memory.keys.shred("ann") == 1


@pytest.mark.parametrize("how", ["everything", "where", "not for good"])
def test_a_damaged_sealed_record_is_erased_by_a_filter_and_a_held_one_beside_it_is_not(
    tmp_path: Path, how: str
) -> None:
    file = tmp_path / "m.db"
    with Memory(file, key=KEY, embedder="hashing:16") as memory:
        damaged = memory.remember("Ann lives in Lisbon", scope="ann", session="s")
        held = memory.remember("Ann signed the contract", scope="ann", session="s")
        memory.upkeep.hold(held.id, scope="ann")
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE records SET sealed = CAST(zeroblob(40) AS BLOB) WHERE id = ?", (damaged.id,))
    raw.close()

    def forget(memory: Memory) -> int:
        if how == "where":
            return memory.forget(where=Where(kinds="fact"), scope="ann", for_good=False)
        return memory.forget(everything=True, scope="ann", for_good=None if how == "everything" else False)

    with Memory(file, key=KEY, embedder="hashing:16") as memory:
        with pytest.raises(Corrupt):
            memory.get(damaged.id, scope="ann")
        with pytest.raises(Refused, match="legal hold"):
            forget(memory)
        memory.upkeep.release(held.id, scope="ann")
        assert forget(memory) == 2
        assert memory.find(scope="ann") == []
