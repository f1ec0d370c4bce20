"""The meaning of filters, by example."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from eidet.core.dict_filters import where_as_dict, where_of
from eidet.core.errors import BadInput
from eidet.core.record import Kind, Record, Tier
from eidet.core.scope import Scope
from eidet.core.validate import dump_json
from eidet.core.where import Box, Condition, Near, Where

ANN = Record(
    id="r1",
    scope="acme/ann",
    text="Ann lives in Lisbon",
    agent="scout",
    session="monday",
    step=7,
    place=(1.0, 2.0),
    occurred=100.0,
    created=200.0,
    expires=300.0,
    data={"health": 0.5, "items": ["map", {"name": "key"}], "9": "nine", "alive": True, "none": None},
    meta={"tags": ["home"], "n": 1},
)


def holds(path: Any, op: str, value: Any = True) -> bool:
    return Condition(path, op, value).holds(ANN)


def test_an_empty_filter_matches_everything() -> None:
    assert Where().matches(ANN)


def test_an_empty_choice_matches_nothing() -> None:
    assert not Where(ids=()).matches(ANN)
    assert not Where(kinds=()).matches(ANN)
    assert not Where(tiers=()).matches(ANN)


@pytest.mark.parametrize(
    "where",
    [
        Where(),
        Where(ids=()),
        Where(kinds=(), some=(Where(who="ann"), Where(tiers=()))),
        Where(step_from=-(10**30), importance_max=10**30),
        Where(
            ids="r1",
            kinds="fact",
            since=1.0,
            box=Box(low=(0, 0), high=(1, 1)),
            near=Near(place=(0, 0), radius=2),
            conditions=Condition(("data", "a.b", 0), "!=", {"x": [1]}),
            never=Where(session="s"),
        ),
    ],
)
def test_a_filter_that_travels_means_the_same(where: Where) -> None:
    assert where_of(json.loads(dump_json(where_as_dict(where)))) == where


def test_every_part_given_must_hold() -> None:
    assert Where(agent="scout", session="monday", kinds=(Kind.FACT,), tiers=(Tier.SHORT,)).matches(ANN)
    assert not Where(agent="scout", session="tuesday").matches(ANN)


def test_a_scope_is_exact_unless_all_below_it_is_asked_for() -> None:
    assert Where(scope=Scope("acme/ann")).matches(ANN)
    assert not Where(scope=Scope("acme")).matches(ANN)
    assert Where(scope=Scope.under("acme")).matches(ANN)
    assert not Where(scope=Scope.under("acme/an")).matches(ANN)


def test_ranges_include_both_ends() -> None:
    assert Where(since=100.0, until=100.0, created_since=200.0, created_until=200.0).matches(ANN)
    assert Where(step_from=7, step_to=7, importance_min=0.5, importance_max=0.5).matches(ANN)
    assert not Where(since=100.1).matches(ANN)
    assert not Where(step_to=6).matches(ANN)


def test_a_record_without_a_step_or_place_is_in_no_range_of_them() -> None:
    bare = replace(ANN, step=None, place=None)
    endless = Where(step_from=-(10**400))
    assert endless.matches(ANN)
    assert not endless.matches(bare)
    assert (~endless).matches(bare)
    assert not Where(near=Near(place=(0, 0), radius=1e300)).matches(bare)


def test_a_record_is_dead_from_the_moment_it_expires() -> None:
    assert Where(alive_at=299.9).matches(ANN)
    assert not Where(alive_at=300.0).matches(ANN)
    assert Where(alive_at=300.0).matches(replace(ANN, expires=None))


def test_a_box_asks_only_for_the_axes_it_has() -> None:
    high = replace(ANN, place=(1.0, 2.0, 50.0))
    assert Where(box=Box(low=(1, 2), high=(1, 2))).matches(high)
    assert not Where(box=Box(low=(0, 0, 0), high=(9, 9, 9))).matches(high)
    assert Where(box=Box(low=(0, 0, 0), high=(9, 9, 9))).matches(ANN)


def test_a_radius_counts_a_missing_height_as_zero() -> None:
    assert Where(near=Near(place=(1, 2, 3), radius=3)).matches(ANN)
    assert not Where(near=Near(place=(1, 2, 3), radius=2.9)).matches(ANN)


def test_filters_nest_with_and_or_not() -> None:
    scout, other = Where(agent="scout"), Where(agent="other")
    assert (scout | other).matches(ANN)
    assert not (scout & other).matches(ANN)
    assert (scout & ~other).matches(ANN)
    assert Where(some=()).matches(ANN)


def test_within_confines_a_filter_that_names_a_scope_of_its_own() -> None:
    assert Where(agent="scout").within(Scope("acme/ann")).matches(ANN)
    assert not Where(scope=Scope("acme/ann")).within(Scope("other")).matches(ANN)


def test_narrows_leaves_scope_and_being_alive_aside() -> None:
    assert not Where(scope=Scope("a"), alive_at=1.0).narrows
    assert Where(scope=Scope("a"), ids=()).narrows


@pytest.mark.parametrize(
    ("path", "op", "value", "expected"),
    [
        ("data.health", "<", 0.6, True),
        ("data.health", ">=", 0.5, True),
        ("data.health", "<", "z", False),
        ("data.items.1.name", "=", "key", True),
        (("data", "items", 1, "name"), "=", "key", True),
        (("data", "items", -1), "exists", True, False),
        ("data.9", "=", "nine", True),
        (("data", 9), "exists", True, False),
        ("meta.tags", "contains", "home", True),
        ("data.items.0", "contains", "ap", True),
        ("data.items.0", "regex", "^m.p$", True),
        ("data.health", "regex", "0", False),
        ("meta.n", "=", 1.0, True),
        ("data.alive", "=", 1, False),
        ("meta.n", "=", True, False),
        ("meta.n", "in", [0, 1], True),
        ("meta.n", "in", [], False),
        ("data.none", "=", None, True),
        ("data.none", "exists", True, True),
        ("meta.tags", "=", ("home",), True),
        ("data.items.1", "=", {"name": "key"}, True),
        ("data.items.0", "=", Kind.FACT, False),
        ("record.derived_from", "exists", False, True),
    ],
)
def test_a_condition_holds(path: Any, op: str, value: Any, expected: bool) -> None:
    assert holds(path, op, value) is expected


@pytest.mark.parametrize("op", ["=", "!=", "<", "in", "regex", "contains"])
def test_what_is_missing_passes_no_test_but_its_absence(op: str) -> None:
    assert not holds("data.absent", op, ["a"] if op == "in" else "a")
    assert holds("data.absent", "exists", False)
    assert holds("data.health.deeper", "exists", False)


def test_a_member_of_a_string_enum_equals_its_text() -> None:
    assert Condition("data.kind", "=", Kind.FACT).holds(replace(ANN, data={"kind": "fact"}))


def test_numbers_beyond_floats_compare_exactly() -> None:
    huge = replace(ANN, data={"n": 2**53 + 1})
    assert not Condition("data.n", "=", float(2**53)).holds(huge)
    assert Condition("data.n", ">", float(2**53)).holds(huge)
    assert Condition("data.n", "<", 10**400).holds(huge)


@pytest.mark.parametrize(
    ("path", "op", "value"),
    [
        ("data.a", "like", "x"),
        ("data.a", "regex", "("),
        ("data.a", "regex", ["a"]),
        ("data.a", "regex", 5),
        ("data.a", "in", "abc"),
        ("data.a", "in", 5),
        ("data.a", "exists", 1),
        ("data.a", "<", None),
        ("data.a", "<", True),
        ("data.a", "=", math.nan),
        ("data.a", "=", "\ud800"),
        ("data.a", "=", {1, 2}),
        ("data", "=", 1),
        ("text.a", "=", 1),
        ("", "=", 1),
        ((), "=", 1),
        (("data", 1.5), "=", 1),
        (("data", True), "=", 1),
        (("data", None), "=", 1),
        ("data.\ud800", "=", 1),
        ("record.derived_from", "=", ()),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(path: Any, op: str, value: Any) -> None:
    with pytest.raises(BadInput):
        Condition(path, op, value)


@pytest.mark.parametrize(
    "parts",
    [
        {"since": math.nan},
        {"until": "yesterday"},
        {"alive_at": math.inf},
        {"step_from": math.nan},
        {"step_to": "7"},
        {"importance_min": True},
        {"scope": "a//b"},
        {"kinds": ("dream",)},
        {"tiers": "eternal"},
        {"agent": 5},
        {"who": "\ud800"},
        {"ids": (1, 2)},
        {"conditions": ("data.a", "=", 1)},
        {"every": ("a",)},
        {"never": ({"agent": "a"},)},
    ],
    ids=str,
)
def test_a_filter_that_makes_no_sense_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Where(**parts)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ((0, 0), (1, 1, 1)),
        ((0,), (1,)),
        ((0, math.nan), (1, 1)),
        ((0, 0), (1, math.inf)),
        ((0, 0), (1, 10**400)),
        ((0, 0), "ab"),
        (None, (1, 1)),
    ],
)
def test_a_box_needs_two_corners_of_the_same_kind(low: Any, high: Any) -> None:
    with pytest.raises(BadInput):
        Box(low=low, high=high)


@pytest.mark.parametrize("radius", [-1, math.nan, math.inf, 10**400, "1", None, True])
def test_a_radius_is_a_number_from_zero_up(radius: Any) -> None:
    with pytest.raises(BadInput):
        Near(place=(0, 0), radius=radius)


def test_lists_and_single_values_are_taken_as_tuples() -> None:
    loose: dict[str, Any] = {"ids": "r1", "kinds": ["fact"], "some": (w for w in [Where(step_to=7)])}
    where = Where(**loose, conditions=[["meta.n", "=", 1]])  # type: ignore[list-item]
    assert where.matches(ANN)
    assert where.matches(ANN)
    assert hash(where) == hash(Where(**{**loose, "some": where.some}, conditions=where.conditions))


def test_chained_filters_stay_flat_and_deep_ones_are_refused() -> None:
    chain = Where(agent="a0")
    for n in range(1, 500):
        chain = chain | Where(agent=f"a{n}")
    assert len(chain.some) == 500
    deep = Where(agent="a")
    for _ in range(29):
        deep = ~deep
    with pytest.raises(BadInput, match="30 levels"):
        Where(never=(deep,))


BOB: Any = Where(who="Bob")
OLD: Any = Where(until=1.0)
HAS: Any = Condition("data.a", "exists")


@pytest.mark.parametrize(
    "use",
    [
        lambda: BOB and OLD,
        lambda: BOB or OLD,
        lambda: not BOB,
        lambda: bool(Where()),
        lambda: Where(conditions=(HAS and HAS,)),
    ],
)
def test_filters_are_joined_by_signs_not_by_words(use: Callable[[], object]) -> None:
    """`and` between two filters would silently drop one."""
    with pytest.raises(BadInput, match=r"a & b|conditions=\(a, b\)"):
        use()


@pytest.mark.parametrize("other", [["b"], None, 3, "fact", {"kind": "fact"}])
def test_a_filter_is_joined_with_a_filter_only(other: Any) -> None:
    joins: list[Callable[[], object]] = [
        lambda: BOB & other,
        lambda: BOB | other,
        lambda: other & BOB,
        lambda: other | BOB,
    ]
    for join in joins:
        with pytest.raises(BadInput, match="joined with another filter"):
            join()
