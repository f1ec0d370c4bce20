"""Forgetting for good: it can be looked at before, and proved afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.trust.erase.given import SECRET, TALK, talk

from eidet import BadInput, Corrupt, Memory, Misconfigured
from eidet.trust.erase.receipt import Receipt

# A look before.


def test_a_preview_names_everything_and_changes_nothing(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    episode = memory.upkeep.end_session("s1")
    note = memory.remember("a note", derived_from=[ids[1]])
    before = memory.find()
    found = memory.trust.preview_forget(ids[1])
    assert [r.id for r in found.asked] == [ids[1]]
    assert {r.id for r in found.dropped} == {episode.id, note.id}
    assert memory.find() == before
    assert memory.trust.preview_forget(everything=True, scope="default").count == 6


# Proof.


def test_a_receipt_is_true_until_anything_of_it_changes(memory: Memory, tmp_path: Path) -> None:
    receipt = memory.forget(memory.remember(SECRET).id, by="ann").receipt
    assert receipt is not None
    receipt.save(tmp_path / "r.json")
    loaded = Receipt.load(tmp_path / "r.json")
    assert loaded == receipt
    assert SECRET not in (tmp_path / "r.json").read_text()
    assert memory.trust.verify_receipt(loaded)
    changes: dict[str, Any] = {
        "store": "x", "scope": "x", "ids": ("x",), "marks": (), "counts": {"records": 2}, "by": "bob",
        "at": 1.0, "why": "x", "pending": ("x",), "signature": "00",
    }  # fmt: skip
    for name, value in changes.items():
        assert not memory.trust.verify_receipt(replace(receipt, **{name: value})), name
    with Memory(embedder="hashing:32") as elsewhere:
        assert not elsewhere.trust.verify_receipt(receipt)


def test_a_file_that_is_no_receipt_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="cannot be read"):
        Receipt.load(tmp_path / "none.json")
    for text in ("{", "[]", "{}", '{"eidet":"receipt","format":1}'):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(Corrupt):
            Receipt.load(tmp_path / "r.json")


@pytest.mark.parametrize("how", [{"for_good": "yes"}, {"for_good": 1}, {"why": 5}, {"by": "\ud800"}])
def test_bad_wishes_change_nothing(memory: Memory, how: dict[str, Any]) -> None:
    record = memory.remember(SECRET)
    with pytest.raises(BadInput):
        memory.forget(record.id, **how)
    assert memory.count() == 1
