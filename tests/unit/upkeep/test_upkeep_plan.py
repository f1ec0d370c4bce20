"""What upkeep did, or would do, can be read."""

from __future__ import annotations

from eidet.upkeep import Maintained, Noted


def test_what_was_done_can_be_read() -> None:
    assert str(Maintained(examined=3)) == "nothing to do (3 examined)"
    assert str(Maintained(dry_run=True, counts={"move": 1200})) == "would move 1,200 (0 examined)"
    counts = {"stays": 1, "retain": 2, "move": 3, "polish": 4}
    would = "would leave 1 alone, delete 2 by retention, move 3, polish 4 (0 examined)"
    assert str(Maintained(dry_run=True, counts=counts)) == would
    did = "left 1 alone, deleted 2 by retention, moved 3, polish 4, archived 2 (0 examined)"
    assert str(Maintained(counts=counts, archived=2)) == did
    assert str(Noted("move", "s", "x", "old")) == "move s/x: old"
