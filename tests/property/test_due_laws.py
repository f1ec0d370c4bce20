"""Planning from the records a filter lets pass is planning from all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.core.errors import BadInput
from eidet.core.record import Record, Tier, Trust
from eidet.core.scope import Scope
from eidet.core.settings import Retention, Upkeep
from eidet.core.where import Condition, Where
from eidet.store import Store, verbs
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.trust.seal.service import LocalKeys
from eidet.trust.seal.store import SealedStore
from eidet.upkeep import Change, resting_time
from eidet.upkeep.candidates import bounds_of, candidates
from eidet.upkeep.curve import DAY
from eidet.upkeep.tier_plan import PLANNERS, Bounds, plan

NOW = 1_700_000_000.0
few = settings(
    max_examples=examples(40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
ages = st.sampled_from([-3.0, 0.0, 0.5, 1.0, 4.0, 5.0, 5.000001, 9.99999, 10.0, 20.0, 40.0, 100.0])
moments = ages.map(lambda days: NOW - days * DAY)
limits = st.sampled_from([None, None, None, 0, 2, 4])


@st.composite
def records(draw: st.DrawFn) -> Record:
    uses = draw(st.sampled_from([0, 0, 2, 3]))
    created = draw(moments)
    return Record(
        id="",
        scope=draw(st.sampled_from(["s", "s", "s", "s/below"])),
        text="",
        created=created,
        occurred=draw(moments),
        tier=draw(st.sampled_from(Tier)),
        level=draw(st.integers(0, 2)),
        trust=draw(st.sampled_from([Trust.USER, Trust.USER, Trust.WEB, Trust.QUARANTINED])),
        importance=draw(st.sampled_from([0.0, 0.3, 0.5, 0.5, 0.6, 0.75, 0.95, 1.0])),
        step=draw(st.none() | st.integers(0, 12)),
        expires=draw(st.none() | moments),
        uses=uses,
        last_used=draw(moments) if uses else None,
        meta=draw(
            st.sampled_from([{}, {}, {}, {"pinned": True}, {"used_before_move": 2}, {"used_before_move": -9}])
        ),
    )


upkeeps = st.builds(
    Upkeep,
    short_entries=limits,
    middle_entries=limits,
    short_age_days=st.sampled_from([None, 0.0, 10.0, 10.0, 10.0, 1e9, 1e300, float("inf")]),
    middle_age_days=st.none() | st.sampled_from([2.0, 20.0]),
    short_steps=limits,
    middle_steps=limits,
    promote_uses=st.sampled_from([None, 2, 3, 3]),
    promote_days=st.sampled_from([1.0, 7.0, 30.0, 1e12, float("inf")]),
    forget_below=st.sampled_from([0.0] * 9 + [0.3]),
)
policies = st.builds(
    Retention,
    scope=st.sampled_from(["**", "s", "other/**"]),
    kinds=st.none() | st.just(["fact"]),
    then=st.sampled_from(["archive", "delete"]),
    days=st.sampled_from([0.0, 5.0, 10.0, 1e300]),
    since=st.sampled_from(["created", "occurred"]),
) | st.builds(Retention, scope=st.just("s"), days=st.none() | st.just(10.0))
works = st.just(["promote", "move"]) | st.lists(st.sampled_from(list(PLANNERS)), min_size=1, unique=True)


@pytest.fixture(params=["ram", "sqlite", "sealed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = RamStore() if request.param == "ram" else SqliteStore(tmp_path / "memory.db")
    if request.param == "sealed":
        made = SealedStore(made, LocalKeys(bytes(32)))
    with closing(made):
        yield made


def filled(store: Store, found: Sequence[Record]) -> None:
    verbs.delete_where(store, Where(), now=NOW)
    named = [one.but(id=f"r{n}", text=f"says {n}") for n, one in enumerate(found)]
    verbs.put(store, named, now=NOW, unique=False)


def everything_bounds(found: Sequence[Record], settings: Upkeep) -> Bounds:
    """What the whole scope says, in the plainest words."""
    crowded = {}
    for tier, limit in ((Tier.SHORT, settings.short_entries), (Tier.MIDDLE, settings.middle_entries)):
        rested = sorted((resting_time(one), one.seq) for one in found if one.tier is tier)
        if limit is not None and len(rested) > limit:
            crowded[tier] = rested[len(rested) - limit - 1]
    steps = [one.step for one in found if one.step is not None]
    return Bounds(crowded=crowded, newest_step=max(steps, default=None))


def told(changes: Iterator[Change]) -> list[Any]:
    return sorted((c.what, c.record.id, str(c.record.tier), c.record.level, c.because) for c in changes)


@few
@given(st.lists(records(), min_size=8, max_size=14), upkeeps, st.lists(policies, max_size=2), works)
def test_what_a_filter_leaves_out_would_not_have_changed(
    store: Store, found: list[Record], settings: Upkeep, retention: list[Retention], chosen: list[str]
) -> None:
    filled(store, found)
    whole = list(verbs.scan(store, Where(scope=Scope("s"))))
    bounds = bounds_of(store, "s", settings)
    expected = everything_bounds(whole, settings)
    assert bounds.crowded == expected.crowded
    assert bounds.newest_step in (None, expected.newest_step)
    bounds = Bounds(crowded=bounds.crowded, newest_step=expected.newest_step, retention=tuple(retention))
    where = candidates(chosen, NOW, settings, bounds)
    some = [] if where is None else list(verbs.scan(store, where.within(Scope("s"))))
    assert told(plan(some, NOW, settings, bounds, chosen)) == told(plan(whole, NOW, settings, bounds, chosen))


@pytest.mark.parametrize(
    ("path", "op", "value"),
    [
        ("record", "=", 1),
        ("record.text", "=", "x"),
        ("record.uses.0", "=", 1),
        ("record.uses", "=", True),
        ("record.uses", "=", "1"),
        ("record.uses", "in", [1]),
        ("record.uses", "regex", "1"),
        ("record.uses", ">", 2**63),
        ("record.last_used", "=", None),
        ("record.level", "exists", 1),
    ],
)
def test_a_number_of_a_record_is_compared_with_numbers_only(path: str, op: str, value: Any) -> None:
    with pytest.raises(BadInput):
        Condition(path, op, value)
