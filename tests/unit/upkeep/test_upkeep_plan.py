"""Planners say what should change and why; they change nothing themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from eidet.core.record import Record, Tier
from eidet.core.settings import Upkeep
from eidet.core.state import NO_STATE, Protection, State
from eidet.upkeep import Drop, Maintained, Noted, Write, is_protected, works_of
from eidet.upkeep.curve import DAY
from eidet.upkeep.tier_plan import Bounds, crowd_bound, plan

NOW = 1_700_000_000.0
ALL = ("expire", "forget", "promote", "move")
USUAL = Upkeep(forget_below=0.05, archive="somewhere")


def record(**fields: Any) -> Record:
    return Record(**{"id": "x", "scope": "s", "text": "text", "created": NOW, "occurred": NOW, **fields})


def planned(
    one: Record, days: float = 0.0, settings: Upkeep = USUAL, bounds: Bounds | None = None
) -> list[Any]:
    return list(plan([one], NOW + days * DAY, settings, bounds or Bounds(), ALL))


def test_a_fresh_record_is_left_alone() -> None:
    assert planned(record()) == []


@pytest.mark.parametrize("mark", ["pinned", "hold"])
@pytest.mark.parametrize("by", [None, "Ann"])
def test_a_protected_record_is_left_alone_whatever_it_is(mark: str, by: str | None) -> None:
    state = NO_STATE.but(**{mark: Protection(at=NOW, by=by)})
    for one in (
        record(expires=NOW),
        record(tier=Tier.LONG),
        record(uses=99, last_used=NOW, tier=Tier.MIDDLE),
    ):
        assert planned(one.but(state=state), 100_000) == []
    assert is_protected(record(state=state))
    assert not is_protected(record(meta={mark: {"at": NOW}}))


def test_what_expired_is_dropped_before_anything_else_is_thought_of() -> None:
    [change] = planned(record(expires=NOW + DAY), 10_000)
    assert isinstance(change, Drop)
    assert (change.what, change.archive) == ("expire", False)


def test_what_faded_is_forgotten_and_what_matters_is_archived() -> None:
    [dull] = planned(record(importance=0.1), 10_000)
    [grave] = planned(record(importance=0.9), 100_000)
    assert (dull.what, dull.archive, grave.what, grave.archive) == ("forget", False, "forget", True)
    assert "never used, idle 10000 days" in dull.because


def test_without_an_archive_what_matters_is_only_moved() -> None:
    [change] = planned(record(importance=0.6), 100_000, replace(USUAL, archive=None))
    assert change.what == "move"


@pytest.mark.parametrize(
    ("importance", "days", "tier"),
    [
        (0.5, 29, None),
        (0.5, 31, Tier.MIDDLE),
        (0.0, 16, Tier.MIDDLE),
        (0.9, 100, None),
        (0.5, 181, Tier.LONG),
    ],
)
def test_age_moves_the_less_important_first(importance: float, days: float, tier: Tier | None) -> None:
    changes = planned(record(importance=importance), days, Upkeep())
    assert [change.record.tier for change in changes] == ([tier] if tier else [])


def test_a_limit_of_none_moves_nothing() -> None:
    never = Upkeep(short_age_days=None, middle_age_days=None, short_entries=None, middle_entries=None)
    assert planned(record(), 1e6, never) == []


def test_a_move_says_which_level_and_remembers_the_uses() -> None:
    one = record(uses=3, last_used=NOW, meta={"a": 1})
    [change] = planned(one, 40, Upkeep())
    assert isinstance(change, Write)
    assert change.instead == one
    assert change.recast
    assert (change.record.tier, change.record.level) == (Tier.MIDDLE, 1)
    assert (change.record.meta, change.record.state) == ({"a": 1}, State(used_before_move=3))


def test_steps_count_from_the_newest() -> None:
    settings, bounds = Upkeep(short_steps=10, middle_steps=50), Bounds(newest_step=100)
    assert planned(record(step=90), 0, settings, bounds) == []
    assert planned(record(step=89), 0, settings, bounds)[0].record.tier is Tier.MIDDLE
    assert planned(record(step=49), 0, settings, bounds)[0].record.tier is Tier.LONG
    assert planned(record(), 0, settings, bounds) == []


def test_a_clock_that_went_back_moves_and_forgets_nothing() -> None:
    assert planned(record(importance=0.0), -10_000) == []


def test_the_bound_of_a_crowd_is_the_last_that_is_too_many() -> None:
    made = [record(created=1.0, seq=1), record(created=1.0, seq=2), record(created=2.0, seq=3)]
    made.append(record(created=2.0, seq=4).but(last_used=5.0, uses=1))
    assert crowd_bound(made, 0) is None
    assert crowd_bound(made, 1) == (1.0, 1)
    assert crowd_bound(made, 3) == (2.0, 3)
    assert crowd_bound(made, 4) == crowd_bound(made, 9) == (5.0, 4)
    tied = [record(created=1.0, seq=9).but(last_used=5.0, uses=1), record(created=5.0, seq=3)]
    assert crowd_bound(tied, 1) == (5.0, 3)


def test_the_bound_of_a_crowd_is_found_without_reading_all() -> None:
    def made() -> Iterator[Record]:
        yield record(created=1.0, seq=1).but(last_used=9.0, uses=1)
        yield record(created=2.0, seq=2)
        yield record(created=2.0, seq=3)
        raise AssertionError("what was made later cannot have rested longer")

    assert crowd_bound(made(), 1) == (2.0, 2)


def test_works_are_told_in_the_order_they_are_done() -> None:
    assert works_of(["move", "expire"]) == ("expire", "move")
    assert works_of("merge") == ("merge",)


def test_what_was_done_can_be_read() -> None:
    assert str(Maintained(examined=3)) == "nothing to do (3 examined)"
    assert str(Maintained(dry_run=True, counts={"move": 1200})) == "would move 1,200 (0 examined)"
    counts = {"stays": 1, "retain": 2, "move": 3, "polish": 4}
    would = "would leave 1 alone, delete 2 by retention, move 3, polish 4 (0 examined)"
    assert str(Maintained(dry_run=True, counts=counts)) == would
    did = "left 1 alone, deleted 2 by retention, moved 3, polish 4, archived 2 (0 examined)"
    assert str(Maintained(counts=counts, archived=2)) == did
    assert str(Noted("move", "s", "x", "old")) == "move s/x: old"
