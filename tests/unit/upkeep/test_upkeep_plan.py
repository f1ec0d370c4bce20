"""Planners say what should change and why; they change nothing themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eidet.core.record import Record
from eidet.core.settings import Upkeep
from eidet.upkeep import Maintained, Noted
from eidet.upkeep.curve import DAY
from eidet.upkeep.tier_plan import Bounds, plan

NOW = 1_700_000_000.0
ALL = ("expire", "forget", "promote", "move")
USUAL = Upkeep(forget_below=0.05, archive="somewhere")


def record(**fields: Any) -> Record:
    return Record(**{"id": "x", "scope": "s", "text": "text", "created": NOW, "occurred": NOW, **fields})


def planned(
    one: Record, days: float = 0.0, settings: Upkeep = USUAL, bounds: Bounds | None = None
) -> list[Any]:
    return list(plan([one], NOW + days * DAY, settings, bounds or Bounds(), ALL))


def test_without_an_archive_what_matters_is_only_moved() -> None:
    [change] = planned(record(importance=0.6), 100_000, replace(USUAL, archive=None))
    assert change.what == "move"


def test_a_limit_of_none_moves_nothing() -> None:
    never = Upkeep(short_age_days=None, middle_age_days=None, short_entries=None, middle_entries=None)
    assert planned(record(), 1e6, never) == []


def test_a_clock_that_went_back_moves_and_forgets_nothing() -> None:
    assert planned(record(importance=0.0), -10_000) == []


def test_what_was_done_can_be_read() -> None:
    assert str(Maintained(examined=3)) == "nothing to do (3 examined)"
    assert str(Maintained(dry_run=True, counts={"move": 1200})) == "would move 1,200 (0 examined)"
    counts = {"stays": 1, "retain": 2, "move": 3, "polish": 4}
    would = "would leave 1 alone, delete 2 by retention, move 3, polish 4 (0 examined)"
    assert str(Maintained(dry_run=True, counts=counts)) == would
    did = "left 1 alone, deleted 2 by retention, moved 3, polish 4, archived 2 (0 examined)"
    assert str(Maintained(counts=counts, archived=2)) == did
    assert str(Noted("move", "s", "x", "old")) == "move s/x: old"
